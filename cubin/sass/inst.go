// Package sass is the instruction set of NVIDIA GPUs from Volta (sm_70) on: 128-bit instruction words, their text as
// nvdisasm prints it, and what each instruction reads and writes.
//
// One table drives everything. A row of it, a [Form], says where the operands and modifiers of one instruction form
// lie in the word, how they print, what the instruction reads and writes and which pipe executes it; [Decode],
// [Encode], [Inst.Text], [Parse], [Inst.Uses] and [Inst.Defs] are small functions over that table. Begin with this
// file, then form.go, then one of the table_*.go files; parts.go explains what rows are put together from.
//
// The rows are facts about the hardware found by black-box measurement: bits of words were changed one by one and the
// text of NVIDIA's disassembler read. Mesa's encoder (src/nouveau/compiler/nak/sm70_encode.rs) is the second source.
package sass

// An Arch is a compute capability times ten, as in 70 for sm_70.
type Arch int

// The architectures whose machine code is known.
const (
	SM70 Arch = 70
	SM75 Arch = 75
	SM80 Arch = 80
	SM86 Arch = 86
	SM89 Arch = 89
	SM90 Arch = 90

	SM100 Arch = 100
	SM103 Arch = 103
	SM120 Arch = 120
)

// Archs returns the architectures whose machine code is known, the oldest first.
func Archs() []Arch { return []Arch{SM70, SM75, SM80, SM86, SM89, SM90, SM100, SM103, SM120} }

// Known reports whether the machine code of an architecture is known.
func (a Arch) Known() bool { return a.bit() != 0 }

// uniformRegisters is the number of uniform registers that instructions of the architecture can name, without URZ.
func (a Arch) uniformRegisters() uint8 {
	if a >= SM100 {
		return URZ
	}
	return 63
}

// InstSize is the size of an instruction word in bytes.
const InstSize = 16

// Numbers of the registers that are constants: RZ and URZ read zero, PT and UPT read true.
const (
	RZ  = 255
	URZ = 255 // up to sm_90 the word has 63 in its place
	PT  = 7
	UPT = 7
)

// A Word is one 128-bit instruction word; Lo holds bits 0 to 63.
type Word struct{ Lo, Hi uint64 }

// An Inst is one decoded instruction. It is immutable once decoded and safe to share.
//
// The operands of an opcode have fixed positions, the same in all of its forms, listed beside the opcodes in op.go. An
// operand that the text leaves out is present all the same. One that means nothing in this form, as a carry in without
// .X, is neither Dest nor Source.
type Inst struct {
	Op       Op     // base opcode, as in FFMA
	Form     *Form  // the table row that matched; one of its own, without operands, where none did
	Arch     Arch   // the architecture it was decoded for
	PC       uint64 // byte offset in its section, to which branch targets are relative
	Word     Word
	Guard    Guard
	Mods     []Mod     // one for each modifier field of the row, default values included, in row order
	Operands []Operand // in printing order
	Control  Control
}

// A Guard is the predicate that an instruction is executed under: @P0, @!P3, @UP1. The zero Guard is not valid; an
// unguarded instruction has Reg PT.
type Guard struct {
	Reg     uint8
	Neg     bool
	Uniform bool // a uniform predicate
}

// Always reports whether the guard is always true.
func (g Guard) Always() bool { return g.Reg == PT && !g.Neg }

// Resource returns the predicate of the guard, that of PT where there is none.
func (g Guard) Resource() Resource {
	if g.Uniform {
		return ResUPred + Resource(g.Reg)
	}
	return ResPred + Resource(g.Reg)
}

// Never reports whether the guard is always false (@!PT).
func (g Guard) Never() bool { return g.Reg == PT && g.Neg }

// A Mod is the value of one modifier field, as in {Round, RoundRZ}.
type Mod struct {
	Kind  ModKind
	Value uint16
}

// Mod returns the value of the modifier field of that kind, 0 where the form has none.
func (i *Inst) Mod(kind ModKind) uint16 {
	for _, m := range i.Mods {
		if m.Kind == kind {
			return m.Value
		}
	}
	return 0
}

// A Kind says what an operand is.
type Kind uint8

// The kinds of operands.
const (
	KindNone       Kind = iota
	KindReg             // R0 … R254, RZ
	KindPred            // P0 … P6, PT
	KindUReg            // UR0 … UR62, from sm_100 on UR254, URZ
	KindUPred           // UP0 … UP6, UPT
	KindImm             // an integer or floating-point immediate in Imm
	KindConst           // c[Bank][Offset], or c[Bank][Reg+Offset] of LDC
	KindMem             // [Reg + UReg + Offset]
	KindSReg            // a special register; Imm is its index
	KindConvBar         // a convergence barrier register B0 … B15; BMOV reaches others behind them
	KindScoreboard      // SB0 … SB5, as DEPBAR names them
	KindTarget          // a code address in Imm
	KindPredSet         // PR, all predicates as a bit set
	KindUPredSet        // UPR, all uniform predicates as a bit set
	KindDesc            // desc[UR4]: a descriptor in a pair of uniform registers
	KindGDesc           // gdesc[UR4]: the descriptors of matrices in pairs of uniform registers
	KindTMem            // tmem[Reg + Offset]: an address in tensor memory in a uniform register
	KindIDesc           // idesc[UR5]: the descriptor of a product in a uniform register
	KindLabelReg        // a register pair holding a code address (BRX, JMX, RET, CALL)
)

// An Operand is one operand as it is printed. Which of the fields mean something depends on Kind.
//
// The unary operators apply to the value in the order Abs, then Neg or Not. Imm holds an immediate as the executing unit
// sees it: 32 bits for integers (an integer that prints with a minus sign is its two's complement) and single
// precision, two halves with the high one above for packed half precision, and 64 bits for double precision, of which
// the word encodes the upper 32.
//
// The Imm of a KindTarget is a byte offset in the section, already added to the instruction's own. Behind a
// KindLabelReg the address is the sum of both: the register holds the offset from Imm. Two exceptions: with .ABS Imm and
// register are addresses, not offsets in the section, and the Imm of BRX is the distance from the next instruction.
type Operand struct {
	Kind   Kind
	Dest   bool  // written by the instruction
	Source bool  // read by the instruction; the registers of a memory address always are
	Reg    uint8 // number of the register, predicate, uniform register or barrier; base or index register of Mem and Const
	UReg   uint8 // uniform register of a KindMem address or descriptor, URZ where there is none
	Width  uint8 // 32-bit registers that the operand spans: 1, 2, 4; of a KindMem its base register; of a KindConst the words read
	Neg    bool  // -x
	Abs    bool  // |x|
	Not    bool  // ~x of an integer, !p of a predicate
	Reuse  bool  // .reuse: the register-file cache keeps it
	Swz    uint8 // which part of a register is read: SwzH1H0 …, SelB0 … or LayoutROW …, by opcode; AddrX1 … of a KindMem
	Bank   uint8 // constant bank
	Offset int32 // byte offset of KindMem and KindConst; that of a KindConst that stands alone counts modulo 64 KiB
	Imm    uint64
}

// A Resource is something that an instruction can read or write and so depend on: a register, a predicate, a
// dependence counter. Resources are small integers so that sets of them can be bitmaps.
type Resource uint16

// Where each register file begins in the numbering of resources. Constants (RZ, PT, …) are not resources.
const (
	ResReg     Resource = 0               // R0 …
	ResUReg    Resource = 256             // UR0 …
	ResPred    Resource = 512             // P0 …
	ResUPred   Resource = 520             // UP0 …
	ResSB      Resource = 528             // dependence counters SB0 … SB5: the paper's virtual barrier registers
	ResConvBar Resource = 536             // convergence barriers B0 … B15
	NumRes     Resource = ResConvBar + 16 // number of resources
)

// Target returns the code address among the operands, nil where there is none.
func (i *Inst) Target() *Operand { return i.first(KindTarget) }

// Address returns the first operand that is an address in memory, nil where there is none.
func (i *Inst) Address() *Operand { return i.first(KindMem) }

// ConvBar returns the first operand that is a convergence barrier, nil where there is none.
func (i *Inst) ConvBar() *Operand { return i.first(KindConvBar) }

// first returns the first operand of a kind, nil where there is none.
func (i *Inst) first(kind Kind) *Operand {
	for k := range i.Operands {
		if i.Operands[k].Kind == kind {
			return &i.Operands[k]
		}
	}
	return nil
}

// Conditional reports whether an instruction has a guard, or a condition beside it as in @P0 BRA P1, label.
func (i *Inst) Conditional() bool {
	if !i.Guard.Always() {
		return true
	}
	for k := range i.Operands {
		if o := &i.Operands[k]; o.Kind == KindPred && o.Source {
			return o.Reg != PT || o.Not
		}
	}
	return false
}

// AccessBytes returns the bytes that a thread accesses by a memory instruction with a size.
func (i *Inst) AccessBytes() int {
	switch i.Mod(Size) {
	case SizeU8, SizeS8:
		return 1
	case SizeU16, SizeS16:
		return 2
	case Size64:
		return 8
	case Size128, SizeU128:
		return 16
	case Size256:
		return 32
	}
	return 4
}

// HasMod reports whether the form has a modifier field of that kind.
func (i *Inst) HasMod(kind ModKind) bool {
	for _, m := range i.Mods {
		if m.Kind == kind {
			return true
		}
	}
	return false
}
