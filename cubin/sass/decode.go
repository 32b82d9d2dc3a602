package sass

import (
	"fmt"
	"math/bits"
)

// An UnknownError says that a word is no instruction of the table.
type UnknownError struct {
	PC   uint64 // byte offset in its section
	Word Word
	Arch Arch
}

// Error names the address and the word.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown instruction at 0x%04x: 0x%016x%016x for sm_%d", e.PC, e.Word.Hi, e.Word.Lo, e.Arch)
}

// Decode returns the instruction that w is on arch; pc is its byte offset in its section, to which branch targets are
// relative. The error is an [*UnknownError].
func Decode(arch Arch, pc uint64, w Word) (Inst, error) {
	control, ok := decodeControl(w)
	if ok {
		for _, f := range theTable().byOpcode[w.bits(opcodeAt)] {
			if f.Archs&arch.bit() == 0 || !f.match(arch, w) {
				continue
			}
			i := Inst{Op: f.Op, Form: f, Arch: arch, PC: pc, Word: w, Guard: f.decodeGuard(w), Control: control}
			if i.decode(w) {
				return i, nil
			}
		}
	}
	return Inst{}, &UnknownError{PC: pc, Word: w, Arch: arch}
}

// Undecoded is the instruction that stands for a word that Decode refuses: of [OpNone], without operands or modifiers, of a form
// without a pipe, with nothing to wait for.
func Undecoded(arch Arch, pc uint64, w Word) Inst {
	return Inst{Form: undecoded, Arch: arch, PC: pc, Word: w, Guard: Guard{Reg: PT},
		Control: Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}}
}

// undecoded is the form of words that are no instruction of the table.
var undecoded = &Form{Op: OpNone}

// Known reports whether the word is an instruction of the table.
func (i *Inst) Known() bool { return i.Op != OpNone }

// decodeGuard reads the guard: a uniform predicate on the uniform datapath, but for what reads the lanes' predicates.
func (f *Form) decodeGuard(w Word) Guard {
	g := w.bits(guardAt)
	return Guard{Reg: uint8(g & 7), Neg: g&8 != 0, Uniform: f.Pipe == PipeUniform && f.Op != VOTEU && g != PT}
}

// decode fills in the modifiers and operands; it reports false when a field holds no legal value.
func (i *Inst) decode(w Word) bool {
	f := i.Form
	i.Mods = make([]Mod, len(f.Mods))
	for k := range f.Mods {
		m := &f.Mods[k]
		v, ok := m.names.lookup(m.get(w))
		if !ok {
			return false
		}
		i.Mods[k] = Mod{m.Kind, v}
	}
	i.Operands = make([]Operand, len(f.Operands))
	for k := range f.Operands {
		if !i.decodeOperand(&i.Operands[k], &f.Operands[k], w) {
			return false
		}
	}
	i.decodeReuse()
	return true
}

// decodeOperand reads one operand; it reports false when a field holds no legal value.
func (i *Inst) decodeOperand(o *Operand, s *Slot, w Word) bool {
	*o = Operand{Kind: s.Kind, Dest: s.Access&Writes != 0, Source: s.Access&Reads != 0, UReg: URZ,
		Neg: w.bit(s.Neg), Abs: w.bit(s.Abs), Not: w.bit(s.Not)}
	raw := s.raw(w)
	switch s.Kind {
	case KindMem:
		if o.Reg = uint8(w.bits(s.Base)); s.Base.N == 0 {
			o.Reg = RZ
		}
		o.Offset = int32(signExtend(raw, s.Bits.N))
		if s.URegAt.N != 0 {
			o.UReg = s.URegAt.uniform(w.bits(s.URegAt))
		}
		if o.UReg != URZ {
			if o.UReg += s.next; o.UReg == i.Arch.uniformRegisters() {
				o.UReg = URZ
			}
		}
		if s.unsignedOffset(o) { // an absolute address
			o.Offset = int32(raw)
		}
		o.Offset *= s.Format.offsetUnit()
	case KindConst:
		if s.URegAt.N != 0 {
			o.UReg = s.URegAt.uniform(w.bits(s.URegAt))
		}
		o.Reg, o.Bank = RZ, uint8(w.bits(s.Bank))
		if s.Base.N != 0 {
			o.Reg = uint8(w.bits(s.Base))
		}
		if o.Offset = int32(signExtend(raw, s.Bits.N)); s.Descriptor && o.Reg == RZ {
			o.Offset = int32(raw)
		}
		if s.Format != bytes {
			o.Offset *= 4
		}
	case KindImm, KindSReg:
		if o.Imm = s.Format.decode(raw); s.Format == signed64 {
			o.Imm = uint64(signExtend(raw, s.Bits.N))
		}
	case KindTarget:
		o.Imm = s.Format.address(i.PC, s.targetWords(raw))
	case KindTMem:
		o.Reg, o.Offset = s.URegAt.uniform(w.bits(s.URegAt)), int32(signExtend(raw, s.Bits.N+s.Bits2.N))
	case KindUReg, KindDesc, KindGDesc, KindIDesc:
		if o.Reg = s.register().uniform(raw); o.Reg != URZ || s.next != 0 && s.Kind != KindIDesc {
			o.Reg += s.next
		}
	default:
		if o.Reg = uint8(raw); s.Inverted {
			o.Reg ^= uint8(s.Bits.max())
		}
	}
	if s.Sel != nil {
		v, ok := s.Sel.names.lookup(s.Sel.get(w))
		if !ok {
			return false
		}
		o.Swz = uint8(v)
	}
	o.Width = i.width(s.Width)
	if s.Width == wPair && o.Swz&^PairNegHigh != PairOne {
		o.Width = 2
	}
	return s.legal(i.Arch, o)
}

// raw returns the number, immediate or offset of an operand as it stands in the word.
func (s *Slot) raw(w Word) uint64 {
	raw := w.bits(s.Bits) | w.bits(s.Bits2)<<s.Bits.N
	if s.Bits3.N != 0 {
		raw |= w.bits(s.Bits3) << (s.Bits.N + s.Bits2.N)
	}
	return raw
}

// legal reports whether an operand whose values are not all legal has one that is.
func (s *Slot) legal(arch Arch, o *Operand) bool {
	if s.names != nil {
		_, ok := s.names.lookup(o.Imm)
		return ok
	}
	switch s.Kind {
	case KindMem:
		if s.style.own() && s.Base.N != 0 && o.Reg == RZ { // the sign of an attribute's address means nothing
			return s.Bits.N > 0 && o.Offset>>10 == 0
		}
		return s.Show != never || o.Reg == RZ
	case KindScoreboard:
		return s.Show == never || o.Reg < numScoreboards
	case KindConvBar:
		return arch.barrierRegister(o.Reg)
	case KindUReg:
		return s.next == 0 || o.Reg >= s.next && o.Reg < arch.uniformRegisters()
	}
	return true
}

// uniform returns the uniform register that a field names: all ones stand for URZ.
func (b Bits) uniform(code uint64) uint8 {
	if b.N != 0 && code == b.max() {
		return URZ
	}
	return uint8(code)
}

// uniformCode is the inverse of uniform; it reports false where the field cannot name the register.
func (b Bits) uniformCode(reg uint8) (code uint64, ok bool) {
	if reg == URZ {
		return b.max(), true
	}
	return uint64(reg), reg == 0 || uint64(reg) < b.max()
}

// register is the field of a register as if it were not split.
func (s *Slot) register() Bits { return Bits{s.Bits.Lo, s.Bits.N + s.Bits2.N} }

// numScoreboards is the number of dependence counters.
const numScoreboards = 6

// decode turns the bits of an immediate into those that the executing unit sees.
func (f format) decode(raw uint64) uint64 {
	if f == float64s {
		return raw << 32
	}
	return raw
}

// encode is the inverse of decode; it reports false when bits are lost.
func (f format) encode(imm uint64) (uint64, bool) {
	if f == float64s {
		return imm >> 32, imm<<32 == 0
	}
	return imm, true
}

// targetWords returns the signed or unsigned value of the field of a code address.
func (s *Slot) targetWords(raw uint64) int64 {
	if s.Format == absolute {
		return int64(raw)
	}
	return signExtend(raw, s.Bits.N+s.Bits2.N)
}

// offsetUnit returns the bytes that the offset of an address counts.
func (f format) offsetUnit() int32 {
	switch f {
	case words:
		return 4
	case sectors:
		return 32
	}
	return 1
}

// unsignedOffset reports whether the offset of an address has no sign: that of an absolute address, to which no uniform
// register may be added, has none.
func (s *Slot) unsignedOffset(o *Operand) bool {
	if s.style == bufferAddress {
		return true
	}
	signed := s.sign == signAlways || s.sign == signByUniform && s.URegAt.N != 0
	return o.Reg == RZ && !signed
}

// address turns the field of a code address into the address, or the distance where the format is one.
func (f format) address(pc uint64, words int64) uint64 {
	switch f {
	case relative:
		return pc + InstSize + uint64(words*4)
	case near:
		return pc + InstSize + uint64(words)
	}
	return uint64(words * 4)
}

// words is the inverse of address; it reports false where the address is not a multiple of 4.
func (f format) words(pc, address uint64) (int64, bool) {
	switch f {
	case relative:
		address -= pc + InstSize
	case near:
		return int64(address - (pc + InstSize)), true
	}
	return int64(address) / 4, address%4 == 0
}

// decodeReuse marks the operands that the register-file cache keeps. Instructions with two such operands are lenient:
// the bit of a slot that they do not have counts for the second. Other bits without an operand are kept aside.
func (i *Inst) decodeReuse() {
	f, raw := i.Form, i.Control.Reuse
	if raw == 0 {
		return
	}
	i.Control.Reuse = 0
	for k, n := range f.reuse {
		bit := f.slotBit(k)
		bits := bit
		if k == 1 && len(f.reuse) == 2 {
			bits = 7 &^ f.slotBit(0)
		}
		if raw&bits != 0 {
			i.Operands[n].Reuse = true
			i.Control.Reuse |= bit
		}
	}
	i.Control.batch ^= raw ^ i.Control.Reuse
}

// slotBit returns the bit in Control.Reuse of the k-th operand that the cache can keep.
func (f *Form) slotBit(k int) uint8 { return 1 << (f.Operands[f.reuse[k]].Reuse - 1) }

// width returns the number of registers that the rule names for this instruction.
func (i *Inst) width(r widthRule) uint8 {
	switch r {
	case w2:
		return 2
	case w4:
		return 4
	case w8:
		return 8
	case w16:
		return 16
	case wGroup: // 64 rows over the 128 threads of a warpgroup
		if i.Mod(DstType) == TypeF16 {
			return uint8(i.Mod(GmmaN) / 4)
		}
		return uint8(i.Mod(GmmaN) / 2)
	case wTensor:
		return uint8(i.Mod(TensorTimes) * tensorRegs[i.Mod(TensorShape)])
	case wSize:
		return sizeRegs[i.Mod(Size)]
	case wAtom:
		return typeRegs[i.Mod(AtomType)]
	case wDst:
		return typeRegs[i.Mod(DstType)]
	case wSrc:
		return typeRegs[i.Mod(SrcType)]
	case wE:
		return uint8(1 + i.Mod(E))
	case wMatch:
		return uint8(1 + i.Mod(MatchU64))
	case wTexLower:
		return uint8(max(1, min(2, bits.OnesCount64(i.Word.bits(componentsAt)))))
	case wLower:
		return uint8(bits.OnesCount64(i.loadMask() & 0xf))
	case wUpper:
		return uint8(bits.OnesCount64(i.loadMask() >> 4))
	case wFetchA:
		_, inA := i.FetchWords()
		return uint8(inA)
	case wFetchB:
		words, inA := i.FetchWords()
		return uint8(max(1, len(words)-inA))
	case wSurface:
		return surfaceWords(i.Mod(SurfDim))
	case wTexUpper:
		return uint8(max(1, bits.OnesCount64(i.Word.bits(componentsAt))-2))
	}
	return 1
}

// tensorRegs are the registers of a thread for a TensorShape.
var tensorRegs = [...]uint16{Tensor32x32: 1, Tensor16x64: 1, Tensor16x128: 2, Tensor16x256: 4, TensorLowerHalf: 1, TensorUpperHalf: 1}

// loadMask returns the words that a load of 256 bits takes, in the order of their addresses from the lowest bit on.
func (i *Inst) loadMask() uint64 {
	const position = 3 // of the mask among the operands
	return i.Form.Operands[position].raw(i.Word)
}

// Registers that a value of a size or a type takes.
var (
	sizeRegs = [...]uint8{SizeU8: 1, SizeS8: 1, SizeU16: 1, SizeS16: 1, Size32: 1, Size64: 2, Size128: 4, SizeU128: 4, Size256: 8}
	typeRegs = [...]uint8{TypeNone: 1, TypeU8: 1, TypeS8: 1, TypeU16: 1, TypeS16: 1, TypeU32: 1, TypeS32: 1, TypeU64: 2,
		TypeS64: 2, TypeF16: 1, TypeF32: 1, TypeF64: 2, TypeF16x2: 1, TypeBF16: 1, TypeTF32: 1, TypeU4: 1, TypeS4: 1, TypeS16x2: 1,
		TypeU16x2: 1, TypeE4M3: 1, TypeE5M2: 1, TypeF16x4: 2, TypeF16x8: 4, TypeBF16x2: 1, TypeBF16x4: 2, TypeBF16x8: 4,
		TypeF32x2: 2, TypeF32x4: 4, TypeF32RN: 1, TypeF32x2RN: 2, TypeF32x4RN: 4, TypeU2: 1, TypeS2: 1, TypeU8x4: 1, TypeS8x4: 1,
		TypeE3M2: 1, TypeE2M3: 1, TypeE2M1: 1, TypeE8M0: 1, TypeUE4M3: 1}
)
