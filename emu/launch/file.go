// Package launch reads launch files: YAML that says which buffers a device holds and which kernels to launch over them,
// in which order. [Parse] turns a file into plain data, [NewSession] prepares an emulated GPU with it, and
// [Session.Run] and [Session.Check] launch the kernels and compare what they left in memory with what was expected.
//
// Every error in a file names the file, the line and the key.
package launch

import (
	"strconv"

	"gpa/emu"
)

// Defaults of the keys that a launch file may leave out.
const (
	DefaultStack = 16384   // bytes of call stack a thread
	DefaultHeap  = 8 << 20 // bytes for device-side malloc
)

// A File is a parsed launch file. Slices keep the order of the file.
type File struct {
	Name     string // for messages
	Module   string // path of the cubin, relative to the launch file
	Stack    int    // call stack, bytes a thread
	Heap     int64  // for device-side malloc, bytes
	Caches   CacheState
	Buffers  []Buffer
	Symbols  []Buffer // initial contents of module variables; Type and Shape only where given
	Launches []Launch
	Expect   []Expectation

	dir Dir
}

// CacheState is the state of the caches before every launch.
type CacheState string

// The states of the caches.
const (
	Cold CacheState = "cold" // emptied, as Nsight Compute does
	Warm CacheState = "warm"
)

// A Dir reads the files that a launch file refers to, by their paths relative to it.
type Dir interface {
	ReadFile(name string) ([]byte, error)
}

// A Buffer is device memory under a name, with its initial content.
type Buffer struct {
	Name        string
	Type        Elem
	HasType     bool
	Shape       []int // nil where it comes from the initial content's file
	Init        Init
	Pointers    []Pointer
	PointerFile string // a .tsv with the columns of Pointer, instead of Pointers
	at          position
}

// An Init is how the elements of a buffer start out: by one of the generators of generate.go or from a file.
type Init struct {
	Kind InitKind
	A, B number // fill: A is the value; iota: start, step; uniform: low, high; normal: mean, standard deviation
	Seed uint64
	File string
	at   position
}

// InitKind is a way to fill a buffer.
type InitKind uint8

// The ways to fill a buffer.
const (
	InitZero InitKind = iota
	InitNone          // memory that nobody has written, as cudaMalloc returns it; here it holds zeros
	InitFill
	InitIota
	InitUniform
	InitNormal
	InitPermutation
	InitFile
)

// A Pointer is a device address to be stored in a buffer: the address of Buffer plus Offset, at byte At.
type Pointer struct {
	At     int64
	Buffer string
	Offset int64
}

// A Launch is one entry of the launches list.
type Launch struct {
	Kernel      string
	Grid, Block [3]int
	Shared      int // dynamic shared memory, bytes a block
	Cluster     [3]int
	Cooperative bool
	Repeat      int
	Args        []Arg
	at          position
}

// An Arg is one kernel argument: a scalar, the address of a buffer, the bytes of a structure, a tensor map, or the handle of a texture or a
// surface object.
type Arg struct {
	Type   Elem // of Value, for scalars
	Value  number
	Buffer string // with Offset, for addresses
	Offset int64
	Bytes  []byte     // for structures
	Map    *TensorMap // of the tensor that begins at Offset of Buffer

	// Of the image that begins at Offset of Buffer.
	Texture *Texture
	Surface *emu.Image
	at      position
}

// Unsigned returns an argument that is an unsigned number of a type, U8 to U64.
func Unsigned(e Elem, v uint64) Arg { return Arg{Type: e, Value: uintNumber(v)} }

// A TensorMap describes the tensor of an argument (CUDA driver API, cuTensorMapEncodeTiled): its element type by the name in PTX, and the other
// fields as [emu.TensorMap] has them.
type TensorMap = emu.TensorMap

// An Expectation is what a buffer or symbol should hold after the last launch. A value matches if
// |got - want| <= Atol + Rtol·|want|.
type Expectation struct {
	Name       string
	File       string
	Rtol, Atol float64
	at         position
}

// An Error is a mistake in a launch file.
type Error struct {
	File string
	Line int    // 0 where no line is to blame
	Key  string // the path of the key, as in buffers.x.init
	Err  error
}

func (e *Error) Error() string {
	s := e.File
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// A position is a place in a launch file that an error can point to.
type position struct {
	line int
	key  string
}

// errorAt is an Error at a position of the file.
func (f *File) errorAt(at position, err error) error {
	return &Error{File: f.Name, Line: at.line, Key: at.key, Err: err}
}
