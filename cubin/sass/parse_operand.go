package sass

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// operand reads one operand into o.
func (p *parser) operand(s *Slot, o *Operand) *SyntaxError {
	switch s.Kind {
	case KindImm:
		if err := p.immediate(s, o); err != nil {
			return err
		}
		if s.Sel != nil {
			p.spaces()
			p.selector(s, o)
		}
		return nil
	case KindTarget:
		return p.target(o)
	case KindMem:
		return p.address(s, o)
	case KindUPred:
		o.Not = s.Not != 0 && p.accept("!")
		if !p.accept("U") {
			return p.fail(p.pos, "a uniform predicate UP0 to UP6 or UPT")
		}
		return p.register(o, 'P', UPT, "T", "a uniform predicate UP0 to UP6 or UPT")
	case KindPred:
		o.Not = s.Not != 0 && p.accept("!")
		return p.register(o, 'P', PT, "T", "a predicate P0 to P6 or PT")
	case KindSReg:
		return p.specialRegister(p.arch, o)
	case KindConvBar:
		return p.barrier(s, o)
	case KindScoreboard:
		if !p.accept("S") {
			return p.fail(p.pos, "a dependence counter SB0 to SB5")
		}
		return p.register(o, 'B', numScoreboards, "", "a dependence counter SB0 to SB5")
	case KindPredSet:
		return p.literal("PR")
	case KindUPredSet:
		return p.literal("UPR")
	case KindDesc:
		return p.descriptor("desc[", o)
	case KindIDesc:
		return p.descriptor("idesc[", o)
	case KindTMem:
		return p.tensorMemory(s, o)
	case KindGDesc:
		if err := p.descriptor("gdesc[", o); err != nil {
			return err
		}
		p.selector(s, o)
		return nil
	}
	return p.source(s, o)
}

// literal reads a word that is always there.
func (p *parser) literal(word string) *SyntaxError {
	if !p.accept(word) {
		return p.fail(p.pos, word)
	}
	return nil
}

// tensorMemory reads a uniform register, an offset or both, in brackets.
func (p *parser) tensorMemory(s *Slot, o *Operand) *SyntaxError {
	if err := p.literal("tmem["); err != nil {
		return err
	}
	if o.Reg = URZ; !strings.HasPrefix(p.rest(), "U") {
		return p.offset(o)
	}
	if err := p.uniformRegister(&o.Reg); err != nil {
		return err
	}
	if err := p.restOfAddress(o); err != nil {
		return err
	}
	p.selector(s, o)
	return nil
}

// descriptor reads a uniform register in brackets.
func (p *parser) descriptor(open string, o *Operand) *SyntaxError {
	if err := p.literal(open); err != nil {
		return err
	}
	if err := p.uniformRegister(&o.Reg); err != nil {
		return err
	}
	return p.literal("]")
}

// numbered reads a letter and a number below limit, or the letters of the register limit, which is constant.
func (p *parser) numbered(letter byte, limit uint8, constant string) (uint8, bool) {
	rest := p.rest()
	if rest == "" || rest[0] != letter {
		return 0, false
	}
	if constant != "" && strings.HasPrefix(rest[1:], constant) {
		p.pos += 1 + len(constant)
		return limit, true
	}
	end := 1
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(rest[1:end], 10, 8)
	if err != nil || n >= uint64(limit) {
		return 0, false
	}
	p.pos += end
	return uint8(n), true
}

func (p *parser) register(o *Operand, letter byte, limit uint8, constant, want string) *SyntaxError {
	n, ok := p.numbered(letter, limit, constant)
	if !ok {
		return p.fail(p.pos, want)
	}
	o.Reg = n
	return nil
}

// source reads a register or a constant with its unary operators, selector and .reuse.
func (p *parser) source(s *Slot, o *Operand) *SyntaxError {
	o.Neg = s.Neg != 0 && p.accept("-")
	o.Not = s.Not != 0 && p.accept("~")
	o.Abs = s.Abs != 0 && p.accept("|")
	var err *SyntaxError
	switch s.Kind {
	case KindConst:
		err = p.constant(s, o)
	case KindUReg:
		err = p.uniformRegister(&o.Reg)
	default:
		err = p.register(o, 'R', RZ, "Z", "a register R0 to R254 or RZ")
	}
	if err != nil {
		return err
	}
	p.selector(s, o)
	if o.Abs && !p.accept("|") {
		return p.fail(p.pos, "|")
	}
	o.Reuse = s.Reuse != 0 && p.accept(".reuse")
	p.selector(s, o)
	if s.Sel != nil && s.selText(o) == bad {
		return p.fail(p.pos, s.Sel.names.list())
	}
	return nil
}

// selector reads the selector of an operand, if one comes next. Those that are always there keep their one value.
func (p *parser) selector(s *Slot, o *Operand) {
	if s.Sel == nil {
		return
	}
	best := ""
	for c, t := range s.Sel.names.text {
		if v, ok := s.Sel.names.lookup(uint64(c)); ok && len(t) > len(best) && strings.HasPrefix(p.rest(), t) {
			best, o.Swz = t, uint8(v)
		}
	}
	p.accept(best)
}

// constant reads c[bank][offset] or c[bank][register+offset].
func (p *parser) constant(s *Slot, o *Operand) *SyntaxError {
	if s.Descriptor {
		return p.bindless(s, o)
	}
	if !p.accept("c[") {
		return p.fail(p.pos, "a constant c[bank][offset]")
	}
	bank, ok := p.integer()
	if !ok || bank < 0 || bank > math.MaxUint8 {
		return p.fail(p.pos, "a constant bank")
	}
	o.Bank = uint8(bank)
	if !p.accept("]") {
		return p.fail(p.pos, "]")
	}
	p.spaces()
	o.Reg = RZ
	if s.Base.N != 0 {
		return p.memory(s, o)
	}
	if !p.accept("[") {
		return p.fail(p.pos, "[")
	}
	if s.URegAt.N != 0 && !(s.optional && !strings.HasPrefix(p.rest(), "U")) {
		if err := p.uniformRegister(&o.UReg); err != nil {
			return err
		}
		return p.restOfAddress(o)
	}
	return p.offset(o)
}

// bindless reads cx[uniform register][offset].
func (p *parser) bindless(s *Slot, o *Operand) *SyntaxError {
	if err := p.literal("cx["); err != nil {
		return err
	}
	if err := p.uniformRegister(&o.UReg); err != nil {
		return err
	}
	if err := p.literal("]"); err != nil {
		return err
	}
	p.spaces()
	if s.Base.N != 0 {
		return p.memory(s, o)
	}
	if err := p.literal("["); err != nil {
		return err
	}
	o.Reg = RZ
	return p.offset(o)
}

// uniformRegister reads UR0 to UR62, from sm_100 on UR254, or URZ.
func (p *parser) uniformRegister(reg *uint8) *SyntaxError {
	count := p.arch.uniformRegisters()
	want := fmt.Sprintf("a uniform register UR0 to UR%d or URZ", count-1)
	q := *p
	if !q.accept("U") {
		return p.fail(p.pos, want)
	}
	n, ok := q.numbered('R', URZ, "Z")
	if !ok || n != URZ && n >= count {
		return p.fail(p.pos, want)
	}
	*p, *reg = q, n
	return nil
}

// address reads the address of a memory access as [Inst.Text] prints those of the slot.
func (p *parser) address(s *Slot, o *Operand) *SyntaxError {
	switch {
	case s.style.own():
		return p.styled(s, o)
	case s.URegAt.N == 0:
		return p.memory(s, o)
	case s.Descriptor:
		return p.described(s, o)
	case !p.accept("["):
		return p.fail(p.pos, "an address [register+uniform register+offset]")
	}
	o.Reg = RZ
	if strings.HasPrefix(p.rest(), "R") {
		if err := p.register(o, 'R', RZ, "Z", "a register R0 to R254 or RZ"); err != nil {
			return err
		}
		p.selector(s, o)
		if s.summandText(o) != "" && p.accept("]") {
			o.UReg = URZ
			return nil
		}
		if !p.accept("+") {
			return p.fail(p.pos, "+ and a uniform register")
		}
		if s.summandText(o) != "" && !strings.HasPrefix(p.rest(), "U") {
			o.UReg = URZ
			return p.offset(o)
		}
	}
	if err := p.uniformRegister(&o.UReg); err != nil {
		return err
	}
	return p.restOfAddress(o)
}

// described reads desc[uniform register][register.64+offset], the descriptor being optional but where it is all that tells rows
// apart.
func (p *parser) described(s *Slot, o *Operand) *SyntaxError {
	if p.accept("desc") {
		p.selector(s, o)
		if err := p.literal("["); err != nil {
			return err
		}
		if err := p.uniformRegister(&o.UReg); err != nil {
			return err
		}
		if !p.accept("]") {
			return p.fail(p.pos, "]")
		}
	} else if s.next != 0 {
		return p.fail(p.pos, "desc")
	}
	if !p.accept("[") {
		return p.fail(p.pos, "an address [register.64+offset]")
	}
	if err := p.register(o, 'R', RZ, "Z", "a register R0 to R254 or RZ"); err != nil {
		return err
	}
	if s.Width != w1 && !p.accept(".64") {
		return p.fail(p.pos, ".64")
	}
	return p.restOfAddress(o)
}

// restOfAddress reads the offset, if there is one, and the closing bracket.
func (p *parser) restOfAddress(o *Operand) *SyntaxError {
	if p.accept("]") {
		return nil
	}
	if !p.accept("+") {
		return p.fail(p.pos, "+ or ]")
	}
	return p.offset(o)
}

// memory reads [register+offset], [register] or [offset].
func (p *parser) memory(s *Slot, o *Operand) *SyntaxError {
	if !p.accept("[") {
		return p.fail(p.pos, "an address [register+offset]")
	}
	o.Reg = RZ
	if strings.HasPrefix(p.rest(), "R") {
		if err := p.register(o, 'R', RZ, "Z", "a register R0 to R254 or RZ"); err != nil {
			return err
		}
		p.selector(s, o)
		if p.accept("]") {
			return nil
		}
		if !p.accept("+") {
			return p.fail(p.pos, "+ or ]")
		}
	}
	return p.offset(o)
}

// offset reads an offset and the closing bracket.
func (p *parser) offset(o *Operand) *SyntaxError {
	n, ok := p.integer()
	if !ok || n < math.MinInt32 || n > math.MaxUint32 {
		return p.fail(p.pos, "an offset")
	}
	o.Offset = int32(uint32(n))
	if !p.accept("]") {
		return p.fail(p.pos, "]")
	}
	return nil
}

// bitSet reads {3,1,0}.
func (p *parser) bitSet(o *Operand) *SyntaxError {
	if !p.accept("{") {
		return p.fail(p.pos, "a set of numbers {5,0}")
	}
	for {
		n, ok := p.integer()
		if !ok || n < 0 || n >= numScoreboards {
			return p.fail(p.pos, "a number from 0 to 5")
		}
		o.Imm |= 1 << n
		if p.accept("}") {
			return nil
		}
		if !p.accept(",") {
			return p.fail(p.pos, ", or }")
		}
		p.spaces()
	}
}

// name reads an immediate that prints as a name.
func (p *parser) name(s *Slot, o *Operand) *SyntaxError {
	best := ""
	for c, t := range s.names.text {
		if t != bad && len(t) > len(best) && strings.HasPrefix(p.rest(), t) {
			best, o.Imm = t, uint64(c)
		}
	}
	if best == "" {
		return p.fail(p.pos, s.names.list())
	}
	p.pos += len(best)
	return nil
}

// word returns the letters, digits, underscores and dots that come next.
func (p *parser) word() string {
	rest := p.rest()
	for k := range len(rest) {
		c := rest[k]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '.' {
			continue
		}
		return rest[:k]
	}
	return rest
}

// specialRegister reads the name of a special register.
func (p *parser) specialRegister(arch Arch, o *Operand) *SyntaxError {
	w := p.word()
	for n := range uint64(256) {
		if arch.specialRegister(n) == w {
			o.Imm = n
			p.pos += len(w)
			return nil
		}
	}
	return p.fail(p.pos, "a special register")
}

// barrier reads a register of the barrier file.
func (p *parser) barrier(s *Slot, o *Operand) *SyntaxError {
	w := p.word()
	for n := uint8(0); p.arch.barrierRegister(n) && uint64(n) <= s.Bits.max(); n++ {
		if barrierName(n) == w {
			o.Reg = n
			p.pos += len(w)
			return nil
		}
	}
	return p.fail(p.pos, "a convergence barrier B0 to B15")
}
