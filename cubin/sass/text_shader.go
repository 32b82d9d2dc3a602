package sass

import "strings"

// appendStyled appends an address of a style of its own.
func (s *Slot) appendStyled(dst []byte, o *Operand) []byte {
	if s.style == bareAddress {
		if o.Reg != RZ {
			dst = append(appendNumbered(dst, 'R', o.Reg, RZ, 'Z'), ", "...)
		}
		return appendSigned(dst, int64(o.Offset))
	}
	if s.ofAttribute() {
		dst = append(dst, 'a')
	}
	dst = append(dst, '[')
	switch {
	case s.namesUniform(o):
		dst = appendNumbered(append(dst, 'U'), 'R', o.UReg, URZ, 'Z')
	case o.Reg != RZ:
		dst = appendNumbered(dst, 'R', o.Reg, RZ, 'Z')
	case s.Base.N != 0 && s.Bits.N == 0:
		dst = append(dst, "RZ"...)
	case s.style == lineAddress:
		return append(appendSigned(dst, int64(o.Offset)), ']')
	default:
		return append(appendHex(dst, uint64(uint32(o.Offset))), ']')
	}
	if o.Offset != 0 {
		dst = appendSigned(append(dst, '+'), int64(o.Offset))
	}
	return append(dst, ']')
}

// ofAttribute reports whether an address is one of attributes, which have a letter before the bracket.
func (s *Slot) ofAttribute() bool {
	return s.style == attributeAddress || s.style == coefficientAddress
}

// namesUniform reports whether the uniform register of an address is printed.
func (s *Slot) namesUniform(o *Operand) bool {
	switch {
	case s.URegAt.N == 0:
		return false
	case s.style == coefficientAddress, s.style == lineAddress:
		return o.UReg != URZ || o.Offset == 0
	case s.style == headerAddress:
		return o.UReg != URZ
	}
	return true
}

// styled reads what [Slot.appendStyled] appends.
func (p *parser) styled(s *Slot, o *Operand) *SyntaxError {
	o.Reg = RZ
	if s.style == bareAddress {
		return p.bare(o)
	}
	if s.ofAttribute() {
		if err := p.literal("a"); err != nil {
			return err
		}
	}
	if s.URegAt.N == 0 {
		return p.memory(s, o)
	}
	if err := p.literal("["); err != nil {
		return err
	}
	if strings.HasPrefix(p.rest(), "U") || s.style == attributeAddress {
		if err := p.uniformRegister(&o.UReg); err != nil {
			return err
		}
		return p.restOfAddress(o)
	}
	o.UReg = URZ
	return p.offset(o)
}

// bare reads a register, if there is one, and an offset.
func (p *parser) bare(o *Operand) *SyntaxError {
	if strings.HasPrefix(p.rest(), "R") {
		if err := p.register(o, 'R', RZ, "Z", "a register R0 to R254"); err != nil {
			return err
		}
		if err := p.literal(","); err != nil {
			return err
		}
		p.spaces()
	}
	n, ok := p.integer()
	if !ok || int64(int32(n)) != int64(n) {
		return p.fail(p.pos, "an offset")
	}
	o.Offset = int32(n)
	return nil
}
