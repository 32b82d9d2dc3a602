package sass

// A Pipe is the execution unit that an instruction is issued to, by the names that Nsight Compute gives them.
type Pipe uint8

// The pipes of a streaming multiprocessor.
const (
	PipeNone    Pipe = iota
	PipeALU          // integer, logic, comparisons, selection, moves
	PipeFMA          // single-precision and integer multiply-add
	PipeFP16         // packed half precision
	PipeFP64         // double precision
	PipeTensor       // matrix multiply-accumulate
	PipeXU           // transcendental functions and conversions
	PipeLSU          // memory, shuffles, special registers
	PipeTEX          // textures and surfaces
	PipeADU          // address divergence: indexed constants, block barriers
	PipeCBU          // convergence barriers and branches
	PipeUniform      // the uniform datapath (sm_75 and later)
	NumPipes
)

var pipeNames = [NumPipes]string{
	"none", "ALU", "FMA", "FP16", "FP64", "Tensor", "XU", "LSU", "TEX", "ADU", "CBU", "Uniform",
}

// String returns Nsight Compute's name of the pipe.
func (p Pipe) String() string {
	if p < NumPipes {
		return pipeNames[p]
	}
	return "invalid"
}

// An ArchSet is a set of architectures, one bit each.
type ArchSet uint16

// The architectures as sets. Rows are written for those up to sm_90; those of later ones follow from sm_90's (table_blackwell.go).
const (
	in70 ArchSet = 1 << iota
	in75
	in80
	in86
	in89
	in90
	in100
	in103
	in120

	inAll    = from75 | in70
	from75   = from80 | in75
	from80   = from86 | in80
	from86   = in86 | in89 | in90
	before86 = in70 | in75 | in80
	before90 = inAll &^ in90

	datacenterBlackwell = in100 | in103
	inBlackwell         = datacenterBlackwell | in120
)

// bit returns the set with this architecture alone, the empty set for an unknown one.
func (a Arch) bit() ArchSet {
	switch a {
	case SM70:
		return in70
	case SM75:
		return in75
	case SM80:
		return in80
	case SM86:
		return in86
	case SM89:
		return in89
	case SM90:
		return in90
	case SM100:
		return in100
	case SM103:
		return in103
	case SM120:
		return in120
	}
	return 0
}

// Has reports whether an architecture is in the set.
func (s ArchSet) Has(a Arch) bool { return s&a.bit() != 0 }

// A Form is one row of the table: one operand form of one instruction on the architectures of Archs. A word has the
// form when its low 12 bits are Opcode and every modifier field holds a value that the row names; no word has two.
type Form struct {
	Op       Op
	Opcode   uint16 // bits 0 to 11
	Archs    ArchSet
	Suffix   string     // part of the mnemonic that never changes, as .LUT
	Mods     []ModField // in the order of the mnemonic's suffixes
	Operands []Slot     // in printing order
	Pipe     Pipe
	Variable bool // the latency varies: consumers wait for a dependence counter, not for a stall count

	opaque  bool               // see Inst.Opaque
	purpose string             // see Inst.Purpose
	alias   func(*Inst) string // other spelling of the first suffix, for some operands (IMAD.MOV)
	mask    Word               // bits that the opcode, guard, modifiers, operands and control fields cover
	fixed   Word               // bits of the modifier fields that have only one value, and
	value   Word               // that value
	bound   bool               // on sm_75 and later bit 91 must be clear: set, it moves an operand to a uniform register
	reuse   []uint8            // indices of the operands that the register-file cache can keep
}

// A ModField is a modifier's place in the word and the spelling of its values.
type ModField struct {
	Kind  ModKind
	Bits  Bits
	Bits2 Bits // more significant bits of a split field
	names *enum
}

// An enum spells the values of a field. Codes that are missing or named bad are no legal values.
type enum struct {
	text  []string // by code; with the dot; "" where nothing is printed
	value []uint16 // by code; the code itself where nil
}

// bad marks a code that no instruction may have.
const bad = "?"

// lookup returns the value of a code.
func (e *enum) lookup(code uint64) (value uint16, ok bool) {
	if code >= uint64(len(e.text)) || e.text[code] == bad {
		return 0, false
	}
	if e.value != nil {
		return e.value[code], true
	}
	return uint16(code), true
}

// code returns the code of a value.
func (e *enum) code(value uint16) (code uint64, ok bool) {
	for c, t := range e.text {
		if v, ok := e.lookup(uint64(c)); ok && t != bad && v == value {
			return uint64(c), true
		}
	}
	return 0, false
}

// Access says what an instruction does with an operand.
type Access uint8

// What an instruction does with an operand: nothing, where the operand means nothing in this form.
const (
	NoAccess Access = 0
	Reads    Access = 1
	Writes   Access = 2
)

// A Slot is an operand's place in the word and in the text.
type Slot struct {
	Name       string // as in the comments of the opcodes: Rd, A, B, …
	Kind       Kind
	Bits       Bits // register number, immediate, offset of an address or a constant
	Bits2      Bits // more significant bits of a split immediate or uniform register
	Bits3      Bits // still more significant bits
	Base       Bits // register of an address or an indexed constant; bank of a constant in Bank
	Bank       Bits
	Access     Access
	Width      widthRule
	Neg        uint8 // number of the bit that negates, 0 for none; of Abs and Not likewise
	Abs        uint8
	Not        uint8
	sign       sign // of the offset of an address without a register
	URegAt     Bits // uniform register of an address: a summand, or a descriptor where Descriptor is set
	Descriptor bool
	style      addressStyle
	next       uint8 // the uniform register at URegAt, or of a KindUReg at Bits, is another operand's: this one is that many behind
	Reuse      uint8 // number of the source slot in the register-file cache: 1 A, 2 B, 3 C, 0 for none
	Inverted   bool  // the number of the register is stored with all bits inverted
	Sel        *ModField
	Show       show
	Format     format
	// Default is the register number or immediate that an unprinted operand has; DefaultNot that its Not is set.
	Default    uint64
	DefaultNot bool
	names      *enum  // spelling of an immediate that is a name
	behind     bool   // printed where the operand before is
	optional   bool   // a constant need not have the uniform register that it may have
	ofUniform  bool   // printed where the address before it has a uniform register
	opaque     bool   // see Inst.Opaque: the operand, unless it has its default
	join       string // what separates the operand from the one before; ", " where empty
}

// sign says whether the offset of an address without a register has a sign. It does where a uniform register may be added to
// it, unless the rule says otherwise.
type sign uint8

const (
	signByUniform sign = iota
	signAlways
	signNever
)

// addressStyle says how the addresses of what is no memory of compute kernels print.
type addressStyle uint8

const (
	memoryAddress      addressStyle = iota // [R4+0x10]
	attributeAddress                       // a[0x10], a[R4+0x10], a[UR4+0x10], a[URZ+0x10]
	coefficientAddress                     // a[0x10], a[UR4+0x10], a[URZ]
	bareAddress                            // R4, 0x10
	headerAddress                          // [0x10], [UR4+0x10]
	lineAddress                            // [-0x10], [UR4+0x10], [URZ]
	bufferAddress                          // [R4+0x8000]: as in memory, but the offset has no sign
)

// own reports whether the style prints in a way of its own.
func (a addressStyle) own() bool { return a != memoryAddress && a != bufferAddress }

// show says when an operand is printed.
type show uint8

const (
	always      show = iota
	unlessPlain      // not when it has its default value
	never
)

// format says how an immediate reads and prints.
type format uint8

const (
	hex           format = iota // 0x1f
	signed                      // -0x1f
	float32s                    // 0.5
	float64s                    // 0.5, high word of a double
	float16                     // 0.5
	float16s                    // 0.5, 0.25: two halves, high half first
	bfloat16                    // 0.5
	bfloat16s                   // 0.5, 0.25: two bfloat16, high half first
	relative                    // a code address, stored as its distance from the next instruction in units of 4 bytes
	near                        // a code address, stored as its distance from the next instruction in bytes
	absolute                    // a code address in units of 4 bytes, unsigned
	signedAddress               // a code address in units of 4 bytes, behind a register
	distance                    // a distance in units of 4 bytes
	bitSet                      // {3,1,0}
	signed64                    // -0x1f, extended to 64 bits by its sign
	bytes                       // of a constant: its offset counts bytes, not words
	words                       // of an address: its offset counts words, not bytes
	sectors                     // of an address: its offset counts 32 bytes
)

// widthRule says how many 32-bit registers an operand spans.
type widthRule uint8

const (
	w1        widthRule = iota
	w2                  // 64 bits
	w4                  // 128 bits
	w8                  // 256 bits
	w16                 // 512 bits
	wSize               // by the Size modifier
	wAtom               // by the AtomType modifier
	wDst                // by the DstType modifier
	wSrc                // by the SrcType modifier
	wE                  // 64 bits with .E
	wMatch              // 64 bits with .U64 of MATCH
	wTexLower           // the first two components that a texture instruction names
	wTexUpper           // its other components
	wFetchA             // the words of a texture instruction's first operand
	wFetchB             // and of its second
	wSurface            // the coordinates of a surface
	wGroup              // D of HGMMA: by its columns and type
	wLower              // the words of the lower half of 256 bits that the mask of a load names
	wUpper              // those of the upper half
	wTensor             // what a warp accesses of tensor memory, by shape and times
	wPair               // a pair of numbers: 64 bits, 32 where the selector takes one for both
)
