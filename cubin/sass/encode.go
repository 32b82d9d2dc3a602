package sass

import "fmt"

// Encode returns the word of an instruction: for a decoded one, the word it was decoded from. A caller that changes
// modifiers, operands, guard or control fields gets the changed word; the Form must fit. Bits of i.Word that mean
// nothing in the form are kept.
func Encode(i *Inst) (Word, error) {
	f := i.Form
	if f == nil {
		return Word{}, fmt.Errorf("encode %s: no form", i.Op)
	}
	if len(i.Mods) != len(f.Mods) || len(i.Operands) != len(f.Operands) {
		return Word{}, fmt.Errorf("encode %s: %d modifiers and %d operands, the form has %d and %d",
			i.Op, len(i.Mods), len(i.Operands), len(f.Mods), len(f.Operands))
	}
	w := i.Word.andNot(f.mask).with(opcodeAt, uint64(f.Opcode)).with(guardAt, i.Guard.code())
	for k := range f.Mods {
		m := &f.Mods[k]
		code, ok := m.names.code(i.Mods[k].Value)
		if !ok {
			return Word{}, fmt.Errorf("encode %s: modifier %d has no value %d", i.Op, k, i.Mods[k].Value)
		}
		w = m.put(w, code)
	}
	for k := range f.Operands {
		var err error
		if w, err = i.encodeOperand(w, &i.Operands[k], &f.Operands[k]); err != nil {
			return Word{}, &operandError{i.Op, &f.Operands[k], k, err}
		}
	}
	w, err := i.Control.encode(w)
	if err != nil {
		return Word{}, fmt.Errorf("encode %s: %w", i.Op, err)
	}
	return w, nil
}

// An operandError is an operand that has no code.
type operandError struct {
	op    Op
	slot  *Slot
	index int
	err   error
}

func (e *operandError) Error() string {
	return fmt.Sprintf("encode %s: operand %s: %v", e.op, e.slot.Name, e.err)
}

func (e *operandError) Unwrap() error { return e.err }

// want says what the operand could be.
func (e *operandError) want() string {
	n := e.slot.Bits.N + e.slot.Bits2.N
	switch e.slot.Kind {
	case KindMem:
		return fmt.Sprintf("an address with an offset of %d bits", n)
	case KindTarget:
		return fmt.Sprintf("a code address that %d bits reach", n)
	}
	return fmt.Sprintf("another %s (%v)", e.slot.Name, e.err)
}

func (g Guard) code() uint64 {
	if g.Neg {
		return uint64(g.Reg&7) | 8
	}
	return uint64(g.Reg & 7)
}

// encodeOperand puts one operand into w.
func (i *Inst) encodeOperand(w Word, o *Operand, s *Slot) (Word, error) {
	raw, fits := uint64(o.Reg), o.Reg <= uint8(min(s.register().max(), 255))
	if s.Inverted {
		raw ^= s.Bits.max()
	}
	switch s.Kind {
	case KindMem:
		unit := s.Format.offsetUnit()
		if o.Offset%unit != 0 {
			return w, fmt.Errorf("offset %#x is no multiple of %d", o.Offset, unit)
		}
		n := int64(o.Offset / unit)
		raw, fits = offsetBits(n, s.Bits.N, s.unsignedOffset(o))
		uniform, named := s.URegAt.uniformCode(o.UReg)
		if w = w.with(s.Base, uint64(o.Reg)); s.next == 0 {
			fits = fits && named
			w = w.with(s.URegAt, uniform)
		} else if o.UReg != URZ && uint64(o.UReg) != w.bits(s.URegAt)+uint64(s.next) {
			return w, fmt.Errorf("UR%d is not %d behind the other uniform register", o.UReg, s.next)
		}
	case KindConst:
		n := int64(o.Offset)
		if s.Format != bytes {
			if n%4 != 0 {
				return w, fmt.Errorf("constant offset %#x is no multiple of 4", o.Offset)
			}
			n /= 4
		}
		raw, fits = offsetBits(n, s.Bits.N, s.Descriptor && o.Reg == RZ)
		uniform, named := s.URegAt.uniformCode(o.UReg)
		fits = fits && named && uint64(o.Bank) <= s.Bank.max()
		w = w.with(s.Base, uint64(o.Reg)).with(s.Bank, uint64(o.Bank)).with(s.URegAt, uniform)
	case KindImm, KindSReg:
		raw, fits = s.Format.encode(o.Imm)
		if s.Format == signed64 {
			raw, fits = offsetBits(int64(o.Imm), s.Bits.N, false)
		}
		fits = fits && raw <= Bits{N: s.Bits.N + s.Bits2.N + s.Bits3.N}.max()
	case KindTarget:
		n, aligned := s.Format.words(i.PC, o.Imm)
		raw = uint64(n)
		fits = aligned && s.targetWords(raw&Bits{N: s.Bits.N + s.Bits2.N}.max()) == n
	case KindPredSet, KindUPredSet:
		fits = true
	case KindTMem:
		var named, within bool
		raw, within = offsetBits(int64(o.Offset), s.Bits.N+s.Bits2.N, false)
		var uniform uint64
		uniform, named = s.URegAt.uniformCode(o.Reg)
		w, fits = w.with(s.URegAt, uniform), within && named
	case KindUReg, KindDesc, KindGDesc, KindIDesc:
		if s.next != 0 {
			if none := s.Kind == KindIDesc && o.Reg == URZ && w.bits(s.Bits) == s.Bits.max(); !none && uint64(o.Reg) != w.bits(s.Bits)+uint64(s.next) {
				return w, fmt.Errorf("UR%d is not %d behind the other uniform register", o.Reg, s.next)
			}
			return w, nil
		}
		raw, fits = s.register().uniformCode(o.Reg)
	}
	if !fits {
		return w, fmt.Errorf("value out of range")
	}
	w = w.with(s.Bits, raw).with(s.Bits2, raw>>s.Bits.N).with(s.Bits3, raw>>(s.Bits.N+s.Bits2.N)).
		withBit(s.Neg, o.Neg).withBit(s.Abs, o.Abs).withBit(s.Not, o.Not)
	if s.Neg == 0 && o.Neg || s.Abs == 0 && o.Abs || s.Not == 0 && o.Not {
		return w, fmt.Errorf("no such unary operator")
	}
	return encodeSel(w, o, s)
}

func encodeSel(w Word, o *Operand, s *Slot) (Word, error) {
	if s.Sel == nil {
		return w, nil
	}
	code, ok := s.Sel.names.code(uint16(o.Swz))
	if !ok {
		return w, fmt.Errorf("no selector %d", o.Swz)
	}
	return s.Sel.put(w, code), nil
}

// offsetBits returns the two's complement of n in bits bits, or n itself where it must be an absolute address.
func offsetBits(n int64, bits uint8, absolute bool) (uint64, bool) {
	raw := uint64(n) & Bits{N: bits}.max()
	if absolute {
		return raw, n == int64(int32(raw))
	}
	return raw, signExtend(raw, bits) == n
}
