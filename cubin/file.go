// Package cubin reads the container that NVIDIA's compilers write: an ELF file with one .text section a kernel, its
// constant banks, parameters, relocations, symbols and line table. [Open] and [NewFile] are where to begin.
//
// A hostile file gives an error that names the file and what is wrong with it; it never makes the package panic, hang
// or take memory out of proportion to the file's size.
package cubin

import (
	"debug/elf"
	"fmt"

	"gpa/cubin/sass"
)

// A File is one cubin, decoded. It is immutable and safe to share.
type File struct {
	Name string // as it was opened; for messages and profiles
	// Relocatable says that the file is device code to be linked yet (nvcc -rdc=true): its code can be read, but calls and
	// addresses that relocations fill in are not there.
	Relocatable bool
	Raw         []byte              // the bytes of the file
	Sections    []elf.SectionHeader // by section index; [File.SectionData] has the contents
	Arch        sass.Arch
	Codes       []*Code     // the .text sections, in file order
	Kernels     []*Kernel   // the entry functions, in symbol order
	Variables   []*Variable // __device__ and __constant__ variables, in symbol order
	Banks       []Bank      // constant banks with contents: 3 of the module, 2 of kernels, 4 (addresses)
	Global      Segment     // .nv.global.init followed by .nv.global
	Relocs      []Reloc     // to be applied by a loader, in file order
	Externs     []string    // undefined functions that the code calls: vprintf, malloc, free, __assertfail
	CallGraph   []CallEdge  // calls between symbols that .nv.callgraph names, in file order
}

// A Code is one .text section: the space that pcs and branch targets are offsets in.
type Code struct {
	Index   int    // in File.Codes
	Section int    // in File.Sections
	Name    string // the section's name without ".text.": the mangled name of its kernel or function
	Insts   []sass.Inst
	// Err is the error of the first instruction word that did not decode, nil where all did. The Inst of such a word
	// has Op sass.OpNone, its PC and its Word.
	Err error
	// Address is where the section lay in a GPU's memory, of a cubin that a debugger or a profiler took from there; 0 of others.
	Address         uint64
	Functions       []Function          // by offset; together they cover the section
	IndirectTargets map[uint64][]uint64 // pc of an indirect branch → its possible targets, where the file tells
	lines           lineTable
}

// FunctionKind says what a function is to its user.
type FunctionKind uint8

// The kinds of functions.
const (
	KernelFunction   FunctionKind = iota // __global__
	DeviceFunction                       // __device__, written by the user (or a library) and not inlined
	InternalFunction                     // a helper that the compiler added: $__internal_*, __cuda_sm*
)

// A Function is a run of instructions of a section under one symbol.
type Function struct {
	Name      string // mangled, as the symbol table has it
	Demangled string // without parameters where that is unambiguous to a reader
	Kind      FunctionKind
	Code      int    // index in File.Codes
	Offset    uint64 // of its first instruction in the section
	Size      uint64 // bytes
	Frame     int    // bytes of its stack frame (EIATTR_FRAME_SIZE)
}

// A Kernel is an entry function and what a launch needs to know of it.
type Kernel struct {
	Name            string // mangled
	Demangled       string // with template arguments, without parameters
	Code            *Code
	Entry           uint64 // offset of the first instruction in Code
	Params          []Param
	ParamBase       int // offset of the parameters in constant bank 0
	ParamSize       int // bytes
	Registers       int // 32-bit registers a thread
	SharedStatic    int // bytes
	SharedReserved  int // bytes of shared memory before that, which belong to the system (sm_90)
	ConstBank0Size  int // bytes: the launch's own words, then the parameters
	ConstBank2      []byte
	LocalFrame      int                 // local memory that its call chains take without recursion, an upper bound, bytes a thread
	MinStack        int                 // the same exactly (EIATTR_MIN_STACK_SIZE), 0 where the compiler could not follow the calls
	Barriers        int                 // named barriers used
	MaxThreads      [3]int              // __launch_bounds__ of EIATTR_MAX_THREADS, zero where absent
	ReqThreads      [3]int              // required block size, zero where absent
	Cluster         [3]int              // blocks of a cluster (__cluster_dims__), zero where absent
	IndirectTargets map[uint64][]uint64 // those of Code
	Externs         []string            // undefined functions that it calls
	Syscalls        []uint64            // pcs of the calls of Externs
	Tile            *Tile               // nil but for tile kernels
}

// A Param is one kernel parameter.
type Param struct {
	Ordinal int
	Offset  int // from ParamBase
	Size    int // bytes
}

// Space is where a variable lives.
type Space uint8

// The spaces of module variables.
const (
	GlobalSpace Space = iota
	ConstantSpace
	SharedSpace
)

// A Variable is a module-level variable that a launch file can name.
type Variable struct {
	Name   string
	Space  Space
	Kernel string // whose static shared memory it lies in, empty for the other spaces
	Offset uint64 // in File.Global, in constant bank 3, or in the kernel's static shared memory
	Size   uint64
}

// A Bank is the initial content of a constant bank; Kernel is empty for the banks of the whole module.
type Bank struct {
	Number int
	Kernel string
	Data   []byte
}

// A Segment is memory to allocate at load time: Init, then zeros up to Size.
type Segment struct {
	Init  []byte
	Size  uint64
	Align uint64
}

// A Frame is one level of the inline stack of an instruction.
type Frame struct {
	Function string // demangled name of the (inlined) function that the line belongs to
	Symbol   string // its mangled name
	File     string // cleaned path, as the line table has it; empty where the file does not tell
	Line     int    // 1-based; 0 where the file does not tell
}

// maxFileSize bounds what Open reads into memory.
const maxFileSize = 1 << 31

// Open reads the cubin in a file, or the only one for an architecture that gpa knows in a file that holds several (see
// [Pick]).
func Open(path string) (*File, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	label, code, err := Pick(path, data, 0)
	if err != nil {
		return nil, err
	}
	return NewFile(label, code)
}

// NewFile decodes the cubin in data, which must not change afterwards. The name is for messages.
//
// The error wraps [ErrNotCubin] where data is something else than a linked cubin, and [ErrArch] where it is one for an
// architecture that gpa does not know. An instruction word that does not decode is not an error of the file, see
// [Code].
func NewFile(name string, data []byte) (*File, error) {
	r := reader{file: &File{Name: name, Raw: data}}
	steps := []func() error{
		r.readHeader, r.readSections, r.readSymbols, r.rebaseSymbols, // the ELF container
		r.readBanks, r.readGlobal, r.readVariables, // data
		r.readCodes, r.readKernels, r.readTiles, // code
		r.readRelocs, r.readCallGraph, r.readLines, // what refers to both
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return r.file, nil
}

// SectionData returns the contents of a section, none for a section without bytes in the file.
func (f *File) SectionData(index int) []byte {
	s := &f.Sections[index]
	return f.Raw[s.Offset : s.Offset+s.FileSize]
}

// KernelOf returns the kernel whose entry lies in code, nil for a section of device functions.
func (f *File) KernelOf(code *Code) *Kernel {
	for _, k := range f.Kernels {
		if k.Code == code {
			return k
		}
	}
	return nil
}

// Variable returns the variable of that name in global or constant memory, nil where there is none.
func (f *File) Variable(name string) *Variable {
	for _, v := range f.Variables {
		if v.Name == name && v.Space != SharedSpace {
			return v
		}
	}
	return nil
}

var functionKinds = [...]string{KernelFunction: "kernel", DeviceFunction: "device function", InternalFunction: "compiler helper"}

// String says it in the words of reports.
func (k FunctionKind) String() string {
	if int(k) < len(functionKinds) {
		return functionKinds[k]
	}
	return "function"
}
