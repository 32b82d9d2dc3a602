// Package cubin reads the container that NVIDIA's compilers write: an ELF file with one .text section a kernel, its
// constant banks, parameters, relocations, symbols and line table. [Open] and [NewFile] are where to begin.
//
// A hostile file gives an error that names the file and what is wrong with it; it never makes the package panic, hang
// or take memory out of proportion to the file's size.
package cubin

import "gpa/cubin/sass"

// A File is one cubin, decoded. It is immutable and safe to share.
type File struct {
	Name      string // as it was opened; for messages and profiles
	Raw       []byte // the bytes of the file
	Arch      sass.Arch
	Codes     []*Code     // the .text sections, in file order
	Kernels   []*Kernel   // the entry functions, in symbol order
	Variables []*Variable // __device__ and __constant__ variables, in symbol order
	Banks     []Bank      // constant banks with contents: 3 of the module, 2 of kernels, 4 (addresses)
	Global    Segment     // .nv.global.init followed by .nv.global
	Relocs    []Reloc     // to be applied by a loader
	Externs   []string    // undefined functions that the code calls: vprintf, malloc, free, __assertfail
}

// A Code is one .text section: the space that pcs and branch targets are offsets in.
type Code struct {
	Index     int    // in File.Codes
	Name      string // the section's name without ".text.": the mangled name of its kernel or function
	Insts     []sass.Inst
	Functions []Function // by offset; together they cover the section
	lines     lineTable
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
	Offset    uint64 // of its first instruction in the section
	Size      uint64 // bytes
}

// A Kernel is an entry function and what a launch needs to know of it.
type Kernel struct {
	Name            string // mangled
	Demangled       string // with template arguments, without parameters
	Code            *Code
	Entry           uint64 // offset of the first instruction in Code
	Params          []Param
	ParamBase       int                 // offset of the parameters in constant bank 0
	ParamSize       int                 // bytes
	Registers       int                 // 32-bit registers a thread
	SharedStatic    int                 // bytes
	LocalFrame      int                 // local memory that the deepest known call chain takes, bytes a thread (frames; recursion excluded)
	Barriers        int                 // named barriers used
	MaxThreads      [3]int              // __launch_bounds__ of EIATTR_MAX_THREADS, zero where absent
	ReqThreads      [3]int              // required block size, zero where absent
	ConstBank2      []byte              // literals and jump tables
	IndirectTargets map[uint64][]uint64 // pc of an indirect branch → its possible targets, where the file tells
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
	Offset uint64 // in File.Global, or in constant bank 3
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

// RelocKind is how a relocation changes the place it names.
type RelocKind uint8

// The relocations that a loader meets in linked cubins.
const (
	Abs64         RelocKind = iota // 64-bit address
	Abs32Lo                        // low 32 bits into an instruction's immediate (bits 32 to 63)
	Abs32Hi                        // high 32 bits into an instruction's immediate
	AbsCall                        // absolute code address of a CALL.ABS or of the like
	ConstField22                   // offset in a constant bank
	UnusedClear64                  // nothing to do
)

// A Reloc is a place in code, data or a constant bank that needs an address known only when the module is loaded.
type Reloc struct {
	Kind    RelocKind
	Section string // section name of the place, as in .nv.constant4 or .text.k
	Offset  uint64 // of the place in its section
	Symbol  string
	Target  Target // what the symbol is
	Addend  int64
}

// A Target is what a relocation points to: a code offset, a variable or an external function.
type Target struct {
	Code   *Code  // of a function
	Global bool   // an offset in File.Global
	Extern string // the name of an undefined function
	Offset uint64
}

// A Frame is one level of the inline stack of an instruction.
type Frame struct {
	Function string // demangled name of the (inlined) function that the line belongs to
	File     string // as the line table has it
	Line     int    // 1-based
}
