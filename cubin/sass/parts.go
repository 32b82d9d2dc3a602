package sass

import "slices"

// The parts that rows are put together from: operand slots at their usual places in the word. The places are those of
// all architectures from sm_70 on; they were found by changing single bits of words and reading nvdisasm's text, and
// agree with Mesa's encoder (src/nouveau/compiler/nak/sm70_encode.rs).

// A traits says what a source operand of arithmetic may carry and how its immediates read.
type traits struct {
	neg, abs, not bool // unary operators
	packed        bool // two halves without a selector
	half          bool // a half selector follows: .H0_H0
	negHigh       bool // it can be .H0_NH1 too
	width         widthRule
	imm           format
}

// The traits of the sources of most instructions.
var (
	plain    = traits{}
	signedIn = traits{imm: signed}
	negInt   = traits{neg: true, imm: signed}
	notInt   = traits{not: true, imm: signed}
	float    = traits{neg: true, abs: true, imm: float32s}
	double   = traits{neg: true, abs: true, imm: float64s, width: w2}
	half     = traits{neg: true, abs: true, half: true, imm: float16s}
	pair     = traits{width: w2}
)

// unary sets the bits of the unary operators that t allows.
func (t traits) unary(s Slot, abs, neg uint8) Slot {
	if t.abs {
		s.Abs = abs
	}
	if t.neg {
		s.Neg = neg
	}
	if t.not {
		s.Not = neg
	}
	s.Width = t.width
	return s
}

// swizzle adds a half selector at bit lo.
func (t traits) swizzle(s Slot, lo uint8, names *enum) Slot {
	if t.half {
		s.Sel = &ModField{Bits: Bits{lo, 2}, names: names}
	}
	if t.negHigh {
		s.Sel.Bits2, s.Sel.names = Bits{86, 1}, &negHighNames
	}
	return s
}

// regA is the register at bit 24, the first source.
func regA(t traits) Slot {
	s := Slot{Name: "A", Kind: KindReg, Bits: Bits{24, 8}, Access: Reads, Reuse: 1, Default: RZ}
	return t.swizzle(t.unary(s, 73, 72), 74, &swizzleNames)
}

// regB is the register at bit 32.
func regB(name string, t traits) Slot {
	s := Slot{Name: name, Kind: KindReg, Bits: Bits{32, 8}, Access: Reads, Reuse: 2, Default: RZ}
	return t.swizzle(t.unary(s, 62, 63), 60, &swizzleNames)
}

// regC is the register at bit 64.
func regC(name string, t traits) Slot {
	s := Slot{Name: name, Kind: KindReg, Bits: Bits{64, 8}, Access: Reads, Reuse: 3, Default: RZ}
	if t.half || t.packed {
		return t.swizzle(t.unary(s, 83, 84), 81, &swizzleNames)
	}
	return t.unary(s, 74, 75)
}

// imm32 is the immediate at bit 32.
func imm32(name string, f format) Slot {
	s := Slot{Name: name, Kind: KindImm, Bits: Bits{32, 32}, Access: Reads, Format: f}
	if f == float16 || f == bfloat16 {
		s.Bits.N = 16
	}
	return s
}

// constant is the operand c[bank][offset] at bit 40. Its offset counts words.
func constant(name string, t traits) Slot {
	s := Slot{Name: name, Kind: KindConst, Bits: Bits{40, 14}, Bank: Bits{54, 5}, Access: Reads}
	return t.swizzle(t.unary(s, 62, 63), 60, &swizzleNames)
}

// b returns the operand at bit 32 in one of its shapes: R for a register, I for an immediate, C for a constant.
func b(name string, shape byte, t traits) Slot {
	switch shape {
	case 'I':
		return imm32(name, t.imm)
	case 'C':
		return constant(name, t)
	}
	return regB(name, t)
}

// rd is the destination register.
func rd(w widthRule) Slot {
	return Slot{Name: "Rd", Kind: KindReg, Bits: Bits{16, 8}, Access: Writes, Width: w, Default: RZ}
}

// pd and pe are the destination predicates.
func pd(s show) Slot { return predDest("Pd", 81, s) }
func pe(s show) Slot { return predDest("Pe", 84, s) }

func predDest(name string, lo uint8, s show) Slot {
	p := Slot{Name: name, Kind: KindPred, Bits: Bits{lo, 3}, Access: Writes, Show: s, Default: PT}
	if s == never {
		p.Access = NoAccess
	}
	return p
}

// pp is the source predicate at bit 87, printed always.
func pp() Slot { return predSource("Pp", Bits{87, 3}, 90) }

func predSource(name string, at Bits, not uint8) Slot {
	return Slot{Name: name, Kind: KindPred, Bits: at, Not: not, Access: Reads, Default: PT}
}

// pq is the second source predicate, at bit 77.
func pq() Slot { return predSource("Pq", Bits{77, 3}, 80) }

// hidden returns an operand that the form has no use for. Compilers leave the default in its place: !PT for a carry.
func hidden(s Slot, not bool) Slot {
	s.Show, s.Access, s.DefaultNot = never, NoAccess, not
	return s
}

// cond is the condition of a control instruction, not printed when PT.
func cond() Slot {
	p := pp()
	p.Show = unlessPlain
	return p
}

// address is [register + offset] with the register at bit 24 and a 24-bit offset.
func address(w widthRule) Slot {
	return Slot{Name: "address", Kind: KindMem, Base: Bits{24, 8}, Bits: Bits{40, 24}, Access: Reads, Width: w,
		Default: RZ}
}

// longAddress is the address of generic loads and stores, whose offset has 32 bits.
func longAddress(w widthRule) Slot {
	a := address(w)
	a.Bits = Bits{32, 32}
	return a
}

// described gives an address a descriptor in the uniform registers at a place. The selector is a bit of unknown meaning:
// where it is set, nvdisasm names the descriptor before sm_90 too.
func described(address Slot, at Bits) Slot {
	address.Descriptor, address.URegAt = true, at
	address.Sel = &ModField{Bits: Bits{101, 1}, names: &descriptorNames}
	return address
}

// noReuse takes an operand of a unit that has no register-file cache.
func noReuse(s Slot) Slot {
	s.Reuse = 0
	return s
}

// joined makes a space separate the operand from the one before.
func joined(s Slot) Slot {
	s.join = " "
	return s
}

// flag is a one-bit modifier.
func flag(kind ModKind, bit uint8, text string) ModField {
	return ModField{Kind: kind, Bits: Bits{bit, 1}, names: &enum{text: []string{"", text}}}
}

// only is a field that must have one code, spelled text.
func only(kind ModKind, at Bits, code int, value uint16, text string) ModField {
	e := &enum{text: make([]string, code+1), value: make([]uint16, code+1)}
	for i := range code {
		e.text[i] = bad
	}
	e.text[code], e.value[code] = text, value
	return ModField{Kind: kind, Bits: at, names: e}
}

// off is a flag that must be clear, on is one that must be set.
func off(kind ModKind, bit uint8) ModField { return only(kind, Bits{bit, 1}, 0, 0, "") }
func on(kind ModKind, bit uint8, text string) ModField {
	return only(kind, Bits{bit, 1}, 1, 1, text)
}

// mod is a field of lo and n with the spellings of names.
func mod(kind ModKind, lo, n uint8, names *enum) ModField {
	return ModField{Kind: kind, Bits: Bits{lo, n}, names: names}
}

// split is a field in two runs of one bit each.
func split(kind ModKind, lo, hi uint8, names *enum) ModField {
	return ModField{Kind: kind, Bits: Bits{lo, 1}, Bits2: Bits{hi, 1}, names: names}
}

// Forms of arithmetic: bits 9 to 11 say which of the sources at bits 32 and 64 is what.
const (
	formRRR = 1 << 9
	formRRI = 2 << 9
	formRRC = 3 << 9
	formRIR = 4 << 9
	formRCR = 5 << 9
	formRUR = 6 << 9 // a uniform register as the second source
	formRRU = 7 << 9 // as the third
)

// uregB is the uniform register at bit 32. Words that have one set bit 91.
func uregB(name string, t traits) Slot {
	s := regB(name, t)
	s.Kind, s.Bits.N, s.Reuse, s.Default = KindUReg, 6, 0, URZ
	return s
}

// withUniform returns forms and, for sm_75 and later, each of those with a register as its second source with a
// uniform register there. The form bits are formRUR, or formRRU where the operand counts as the third source.
func withUniform(forms []Form, form uint16) []Form {
	all := slices.Clone(forms)
	for _, f := range forms {
		if f.Archs&from75 == 0 || f.Opcode&0xe00 != formRRR {
			continue
		}
		k := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Kind == KindReg && s.Name == "B" })
		if k < 0 {
			continue
		}
		u := f.with(f.Opcode&^0xe00|form, slices.Clone(f.Operands))
		u.Operands[k] = toUniform(u.Operands[k])
		if o := &u.Operands[k]; o.Bits.Lo != 32 { // with the operators of the place it moves to
			o.Bits.Lo = 32
			if o.Neg != 0 {
				o.Neg = 63
			}
			if o.Abs != 0 {
				o.Abs = 62
			}
		}
		u.Archs &= from75
		u.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""))
		all = append(all, u)
	}
	return all
}

// toUniform turns a register or predicate of an operand into a uniform one.
func toUniform(s Slot) Slot {
	switch s.Kind {
	case KindReg:
		s.Kind, s.Bits.N, s.Reuse = KindUReg, 6, 0
		if s.Default == RZ {
			s.Default = URZ
		}
	case KindPred:
		s.Kind = KindUPred
	}
	return s
}

// ternary expands f, whose Opcode is the base opcode, into the five forms of an instruction with three sources. The
// operands of f are those before the sources, tail those behind.
func ternary(f Form, ta, tb, tc traits, tail ...Slot) []Form {
	return slices.Concat(ternaryB(f, ta, tb, tc, tail...), ternaryC(f, ta, tb, tc, tail...))
}

// ternaryB expands the three forms whose second source is a register, an immediate or a constant.
func ternaryB(f Form, ta, tb, tc traits, tail ...Slot) []Form {
	var forms []Form
	for _, v := range []struct {
		form  uint16
		shape byte
	}{{formRRR, 'R'}, {formRIR, 'I'}, {formRCR, 'C'}} {
		forms = append(forms, f.with(f.Opcode|v.form, slices.Concat(
			f.Operands, []Slot{regA(ta), b("B", v.shape, tb), regC("C", tc)}, tail)))
	}
	return withUniform(forms, formRUR)
}

// ternaryC expands the two forms whose third source is an immediate or a constant; the second register lies at bit 64.
func ternaryC(f Form, ta, tb, tc traits, tail ...Slot) []Form {
	var forms []Form
	for _, v := range []struct {
		form  uint16
		shape byte
	}{{formRRI, 'I'}, {formRRC, 'C'}} {
		second := regC("B", tb)
		second.Reuse = 2
		forms = append(forms, f.with(f.Opcode|v.form, slices.Concat(
			f.Operands, []Slot{regA(ta), second, b("C", v.shape, tc)}, tail)))
	}
	if f.Archs&from75 != 0 {
		second := regC("B", tb)
		second.Reuse = 2
		u := f.with(f.Opcode|formRRU, slices.Concat(f.Operands, []Slot{regA(ta), second, uregB("C", tc)}, tail))
		u.Archs &= from75
		u.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""))
		forms = append(forms, u)
	}
	return forms
}

// binary expands f into the three forms of an instruction with two sources. imm and con are the form bits of the
// immediate and of the constant form. Where they are those of a third source, the second source counts as the third in
// the register-file cache.
func binary(f Form, imm, con uint16, ta, tb traits, tail ...Slot) []Form {
	var forms []Form
	for _, v := range []struct {
		form  uint16
		shape byte
	}{{formRRR, 'R'}, {imm, 'I'}, {con, 'C'}} {
		second := b("B", v.shape, tb)
		if imm == formRRI && second.Reuse != 0 {
			second.Reuse = 3
		}
		forms = append(forms, f.with(f.Opcode|v.form, slices.Concat(f.Operands, []Slot{regA(ta), second}, tail)))
	}
	if imm == formRRI {
		return withUniform(forms, formRRU)
	}
	return withUniform(forms, formRUR)
}

// unary expands f into the three forms of an instruction with one source, at bit 32.
func unary(f Form, t traits, tail ...Slot) []Form {
	var forms []Form
	for _, v := range []struct {
		form  uint16
		shape byte
	}{{formRRR, 'R'}, {formRIR, 'I'}, {formRCR, 'C'}} {
		forms = append(forms, f.with(f.Opcode|v.form, slices.Concat(f.Operands, []Slot{b("B", v.shape, t)}, tail)))
	}
	return withUniform(forms, formRUR)
}

// with returns a copy of f with another opcode and other operands.
func (f Form) with(opcode uint16, operands []Slot) Form {
	f.Opcode, f.Operands = opcode, operands
	return f
}

// withoutReuse returns forms whose operands have no place in the register-file cache.
func withoutReuse(forms []Form) []Form {
	for i := range forms {
		for j := range forms[i].Operands {
			forms[i].Operands[j].Reuse = 0
		}
	}
	return forms
}
