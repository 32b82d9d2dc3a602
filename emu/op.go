package emu

import (
	"fmt"

	"gpa/cubin/sass"
)

// lanes is a register of a warp: the 32-bit value of each of its threads.
type lanes = [32]uint32

// An execFunc executes one instruction for the lanes in w.mask.
type execFunc func(w *warp, o *op) error

// An op is an instruction made ready for one launch: operands are resolved to registers or to values, and modifiers
// that the executor looks at every time are at hand.
type op struct {
	run   execFunc
	inst  *sass.Inst
	index int32 // in the program
	code  int32 // index in the module's Codes

	following uint64 // pc of the instruction behind, its own where there is none

	guard    uint8 // predicate register
	guardNot bool
	ordered  bool // must see what all others have stored, see crew.go
	peer     bool // its addresses in shared memory are those of the cluster
	generic  bool // each lane's address says which space it is of
	shows    bool // writes memory that other warps may read
	asks     bool // for what may not be there yet: code asks again until it is
	gathers  bool // waits until at most n groups of products of its warpgroup are outstanding

	dst     uint16 // first destination register
	pd, pe  uint8  // destination predicates, PT for none
	pp, pq  predicate
	a, b, c source
	u       source // uniform part of an address; not says that there is one

	target int32  // of a branch: index in the program
	n      uint32 // what the executor's comment says
	space  space  // of memory instructions
	mode   uint16 // a modifier that the executor's comment names
	f32    f32Mode
	f16    f16Mode
	lut    *truthTable // of LOP3; of PRMT with a constant selector its byteSelectors

	t timing
}

// A predicate is a source predicate.
type predicate struct {
	reg uint8
	not bool
}

// A source is an operand that is read: a register, or values that are the same in every launch of the program. A
// modifier such as a negation is applied as ((v & and) ^ xor) + add; it is applied already to values.
type source struct {
	reg           uint16
	value, high   *lanes // of immediates, constants and RZ; high is the second word of 64-bit operands
	modified      bool
	and, xor, add uint32
	swz           uint8 // see sass.Operand.Swz
	neg, not      bool  // for the few instructions that need to know
}

// zeroLanes is the zero register.
var zeroLanes lanes

// valueKind says what a modifier of an operand means.
type valueKind uint8

const (
	intValue    valueKind = iota
	floatValue            // f32
	doubleValue           // f64: modifiers work on the high word
	halfValue             // two f16
	rawValue              // the executor applies the modifiers
)

// modifiers sets what is to be done to the value of an operand.
func (s *source) modifiers(o *sass.Operand, kind valueKind) {
	s.neg, s.not, s.swz = o.Neg, o.Not, o.Swz
	s.and = 0xffffffff
	sign := uint32(0x80000000)
	if kind == halfValue && o.Swz != sass.SwzF32 {
		sign = 0x80008000
	}
	switch {
	case kind == rawValue:
	case kind == intValue:
		if o.Neg || o.Not {
			s.xor = 0xffffffff
		}
		if o.Neg {
			s.add = 1
		}
	default:
		if o.Abs {
			s.and = ^sign
		}
		if o.Neg {
			s.xor = sign
		}
	}
	s.modified = s.and != 0xffffffff || s.xor != 0 || s.add != 0
}

func (s *source) apply(v uint32) uint32 { return (v&s.and ^ s.xor) + s.add }

// constant makes the source a value that is the same in all lanes.
func (s *source) constant(low, high uint32, double bool) {
	if double {
		high = s.apply(high)
	} else {
		low = s.apply(low)
	}
	s.value, s.high, s.modified = broadcast(low), broadcast(high), false
}

func broadcast(v uint32) *lanes {
	if v == 0 {
		return &zeroLanes
	}
	var l lanes
	for i := range l {
		l[i] = v
	}
	return &l
}

// source resolves an operand. Constants come from the banks of the launch.
func (p *program) source(o *sass.Operand, kind valueKind) (source, error) {
	var s source
	s.modifiers(o, kind)
	double := kind == doubleValue
	switch o.Kind {
	case sass.KindNone:
		s.value, s.high = &zeroLanes, &zeroLanes
	case sass.KindReg, sass.KindLabelReg:
		if o.Reg == sass.RZ {
			s.constant(0, 0, double)
		} else {
			s.reg = uint16(o.Reg)
			p.use(int(o.Reg) + max(int(o.Width), 1))
		}
	case sass.KindUReg:
		if o.Reg == sass.URZ {
			s.constant(0, 0, double)
		} else {
			s.reg = p.uniform(o)
		}
	case sass.KindImm:
		low, high := uint32(o.Imm), uint32(o.Imm>>32)
		if addr, ok := p.relocated[p.at]; ok {
			low = uint32(addr)
		}
		s.constant(low, high, double)
	case sass.KindConst:
		if o.Reg != sass.RZ {
			return s, fmt.Errorf("an indexed constant operand")
		}
		low, high, err := p.bankWords(o.Bank, constantOffset(o))
		if err != nil {
			return s, err
		}
		s.constant(low, high, double)
	default:
		return s, fmt.Errorf("operand kind %d", o.Kind)
	}
	return s, nil
}

// bankWords reads two words of a constant bank; the second is 0 at the bank's end.
func (p *program) bankWords(bank uint8, offset uint32) (low, high uint32, err error) {
	data := p.banks[bank&31]
	if int(offset)+4 > len(data) {
		return 0, 0, fmt.Errorf("c[%#x][%#x] is outside the bank's %d bytes", bank, offset, len(data))
	}
	low = load(data[offset : offset+4])
	if int(offset)+8 <= len(data) {
		high = load(data[offset+4 : offset+8])
	}
	return low, high, nil
}

// dest resolves a destination register.
func (p *program) dest(o *sass.Operand) uint16 {
	switch {
	case o.Kind == sass.KindReg && o.Reg != sass.RZ:
		p.use(int(o.Reg) + max(int(o.Width), 1))
		return uint16(o.Reg)
	case o.Kind == sass.KindUReg && o.Reg != sass.URZ:
		return p.uniform(o)
	}
	return sinkRegister
}

// uniform resolves a uniform register. Its row holds the one value in all lanes, so that executors read it like any other.
func (p *program) uniform(o *sass.Operand) uint16 {
	p.uniforms = max(p.uniforms, int(o.Reg)+max(int(o.Width), 1))
	return uniformRow + uint16(o.Reg)
}

// Rows of registers that are put in their place when the whole program is known, see place. sinkRegister stands for RZ
// as a destination: rows behind all registers that nobody reads.
const (
	sinkRegister = 256
	sinkRows     = 4
	uniformRow   = 512
)

// use makes sure that warps have n registers.
func (p *program) use(n int) { p.registers = max(p.registers, n) }

func predicateOf(o *sass.Operand) predicate {
	switch o.Kind {
	case sass.KindPred:
		return predicate{o.Reg, o.Not}
	case sass.KindUPred:
		return predicate{uniformPredicate(o.Reg), o.Not}
	}
	return predicate{reg: sass.PT}
}
