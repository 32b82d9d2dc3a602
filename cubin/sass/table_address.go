package sass

import "slices"

// byArch completes the rows of memory accesses, written as sm_70 has them, with what later architectures changed: from
// sm_80 on order and scope are one field, and addresses may have a uniform register.
func byArch(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		k := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Kind == KindMem })
		order := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Order })
		switch {
		case k < 0:
			all = append(all, f)
		case order < 0:
			all = append(all, f.on(in70|in75).withSummand(k)...)
			all = append(all, f.on(from80).withSummand(k)...)
		default:
			all = append(all, f.on(in70))
			all = append(all, f.on(in75).withPrefetch().withWideSummand(k)...)
			f.Mods = slices.DeleteFunc(slices.Clone(f.Mods), func(m ModField) bool { return m.Kind == ZD })
			for _, g := range f.on(from80).withPrefetch().withJoinedOrder() {
				all = append(all, g.withDescriptor(k)...)
			}
		}
	}
	return all
}

// uregAt returns where an access has the uniform register of its address: at bit 32, or at 64 where bit 32 is taken.
func (f *Form) uregAt() Bits {
	for _, s := range f.Operands {
		if s.Kind == KindReg && s.Bits.Lo == 32 {
			return Bits{64, 6}
		}
	}
	return Bits{32, 6}
}

// withSummand returns f without and, on sm_75 and later, with a uniform register in its address.
func (f Form) withSummand(k int) []Form {
	old, without, with := f, f, f
	old.Archs &= in70
	without.Archs &= from75
	without.Mods = append(slices.Clone(f.Mods), off(UR, 91))
	without.Operands = slices.Clone(f.Operands)
	if f.Archs&in75 == 0 {
		zeroUnused(without.Operands)
	}
	if f.Op == LDS || f.Op == STS || f.Op == ATOMS {
		without.Operands[k].Sel = &ModField{Bits: Bits{78, 2}, names: &addrScales}
	}
	if _, ok := f.freeUniform(k); !ok {
		return []Form{old, without}
	}
	with.Archs &= from75
	with.Opcode = f.Opcode&^0xe00 | with.uniformBits()
	with.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""))
	with.Operands = slices.Clone(f.Operands)
	with.Operands[k].URegAt, with.Operands[k].Sel = f.uregAt(), without.Operands[k].Sel
	for n := range with.Operands {
		if s := &with.Operands[n]; s.Show == never && s.Kind == KindReg && s.Bits.Lo == 64 { // its place is taken
			s.Bits, s.Default = Bits{}, 0
		}
	}
	switch f.Op {
	case LDSM, STSM:
		return slices.Concat([]Form{old}, signedMatrices(k, without), signedMatrices(k, with))
	case LDL, STL:
		before := with.on(in75)
		with = with.on(from80)
		with.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""), off(Descriptor, 76))
		rare := with
		rare.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""), on(Descriptor, 76, ""))
		rare.Operands = slices.Clone(with.Operands)
		rare.Operands[k] = described(rare.Operands[k], rare.Operands[k].URegAt)
		return slices.Concat([]Form{old, without, before, with}, printOnly(rare))
	}
	return []Form{old, without, with}
}

// signedMatrices returns the rows of a move of matrices: on sm_75 an address without a register has no sign, later it has.
func signedMatrices(k int, f Form) []Form {
	turing, later := f.on(in75), f.on(from80)
	turing.Operands, later.Operands = slices.Clone(f.Operands), slices.Clone(f.Operands)
	turing.Operands[k].sign, later.Operands[k].sign = signNever, signAlways
	return []Form{turing, later}
}

// zeroUnused puts 0 instead of RZ in the place of a register that there is not, as compilers for sm_80 and later do.
func zeroUnused(operands []Slot) {
	for n := range operands {
		if s := &operands[n]; s.Show == never && s.Kind == KindReg && s.Bits.Lo == 64 {
			s.Default = 0
		}
	}
}

// withWideSummand returns f without and with a pair of uniform registers in its 64-bit address, to which a register of
// 64 or, zero-extended, of 32 bits is added.
func (f Form) withWideSummand(k int) []Form {
	without := f
	without.Mods = append(slices.Clone(f.Mods), off(UR, 91))
	wide, ok := f.freeUniform(k)
	if !ok {
		return []Form{without}
	}
	return append([]Form{without}, wide.summands(k, f.addressBits().long)...)
}

// summands are the rows with a pair of uniform registers in the address, with the flags that tell them from others. The bit
// long says whether the register that is added has 64 bits.
func (f Form) summands(k int, long uint8, flags ...ModField) []Form {
	row := func(flag ModField, name string, w widthRule) Form {
		g := f
		g.Mods = slices.Concat(f.Mods, []ModField{on(UR, 91, ""), flag}, flags)
		g.Operands = slices.Clone(f.Operands)
		a := &g.Operands[k]
		a.URegAt, a.Width = f.uregAt(), w
		a.Bits = Bits{40, 24}
		a.Sel = &ModField{names: &enum{text: []string{name}}}
		return g
	}
	return []Form{row(on(Addr64, long, ""), ".64", w2), row(off(Addr64, long), ".U32", w1)}
}

// withPrefetch adds to a load of global or generic memory on sm_75 and later the bytes that it brings into the L2 cache at the least, and
// a predicate without which it loads nothing.
func (f Form) withPrefetch() Form {
	if f.Op != LDG && f.Op != LD {
		return f
	}
	f.Operands = f.Operands[:len(f.Operands)-1]
	at := 1 + slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Evict })
	f.Mods = slices.Insert(slices.Clone(f.Mods), at, mod(Prefetch, 68, 2, &prefetchNames))
	p := predSource("Pp", Bits{64, 3}, 67)
	p.Show, p.Inverted = unlessPlain, true
	f.Operands = append(slices.Clone(f.Operands), p)
	return f
}

// freeUniform returns f with room for a uniform register, if there can be: what is stored lies at bit 32 then.
func (f Form) freeUniform(k int) (Form, bool) {
	f.Opcode = f.Opcode&^0xe00 | f.uniformBits()
	f.Operands = slices.Clone(f.Operands)
	stored := false
	for n := range f.Operands {
		switch s := &f.Operands[n]; {
		case s.Kind != KindReg || s.Access&Writes != 0:
		case s.Show == never && s.Bits.Lo == 64: // its place is the uniform register's
			s.Bits, s.Default = Bits{}, 0
		case stored:
			return f, false
		default:
			s.Bits.Lo, stored = 32, true
		}
	}
	return f, true
}

// uniformBits returns the form bits of an access with a uniform register in its address.
func (f *Form) uniformBits() uint16 {
	if f.Opcode&0xe00 == formRRR {
		return formRIR
	}
	return f.Opcode & 0xe00
}

// withDescriptor returns f without and with a descriptor of the memory in a uniform register, and with a pair of uniform
// registers in its address.
func (f Form) withDescriptor(k int) []Form {
	without := f
	without.Mods = append(slices.Clone(f.Mods), off(UR, 91))
	with, ok := f.freeUniform(k)
	if !ok {
		return []Form{without}
	}
	at := f.addressBits()
	sums := with.summands(k, at.long, off(Descriptor, at.descriptor))
	with.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""), on(Addr64, at.long, ""), on(Descriptor, at.descriptor, ""))
	a := &with.Operands[k]
	*a = described(*a, with.uregAt())
	a.Bits = Bits{40, 24}
	return append([]Form{without, with}, sums...)
}

// addressBits are the bits that say that an access has a 64-bit register in its address and a descriptor. Atomics have them
// elsewhere than others, as their operation takes the usual places.
type addressBits struct{ long, descriptor uint8 }

func (f *Form) addressBits() addressBits {
	switch f.Op {
	case ATOM, ATOMG:
		return addressBits{70, 71}
	case RED, REDG:
		return addressBits{90, 71}
	}
	return addressBits{90, 76}
}

// withJoinedOrder replaces the fields of order, scope and privacy by the one field of sm_80 and later.
func (f Form) withJoinedOrder() []Form {
	at := Bits{77, 4}
	order := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Order })
	head := slices.Clone(f.Mods[:order])
	tail := slices.DeleteFunc(slices.Clone(f.Mods[order+1:]), func(m ModField) bool { return m.Kind == Scope || m.Kind == Private })
	row := func(mods ...ModField) Form {
		g := f
		g.Mods = slices.Concat(head, mods, tail)
		return g
	}
	strong := ModField{Kind: Order, names: &enum{text: []string{".STRONG"}, value: []uint16{OrderStrong}}}
	rows := []Form{
		row(only(Order, at, 0, OrderWeak, "")),
		row(strong, mod(Scope, at.Lo, at.N, &joinedScopes)),
	}
	mmio := ModField{Kind: Order, names: &enum{text: []string{".MMIO"}, value: []uint16{OrderMMIO}}}
	rows = append(rows, row(mmio, mod(Scope, at.Lo, at.N, &mmioScopes)))
	rare := rareOrders
	if _, ok := f.Mods[order].names.code(OrderConstant); ok {
		rows = append(rows, row(only(Order, at, 4, OrderConstant, ".CONSTANT")))
	} else {
		rare.text = slices.Clone(rare.text)
		rare.text[4] = ".STRONG.SM.PRIVATE"
	}
	return append(rows, row(mod(Obscure, at.Lo, at.N, &rare)))
}

// rareOrders are the codes of the joined field of order and scope that compilers do not write.
var rareOrders = enum{text: []string{bad, ".CONSTANT.PRIVATE", ".CONSTANT.CTA", ".CONSTANT.CTA.PRIVATE", bad, bad,
	".STRONG.GPU.PRIVATE", bad, bad, ".CONSTANT.SM", bad, ".CONSTANT.SM.PRIVATE", bad, ".CONSTANT.VC",
	".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU"}}

// addrScales are the factors of the register of an address in shared memory.
var addrScales = enum{text: []string{"", ".X4", ".X8", ".X16"}}

// joinOrder gives rows without descriptors, those of surfaces, the joined field of order and scope.
func joinOrder(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		order := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Order })
		if order < 0 {
			all = append(all, f)
			continue
		}
		all = append(all, f.on(in70|in75))
		all = append(all, f.on(from80).withJoinedOrder()...)
	}
	return all
}

// mmioScopes are those of accesses to input and output.
var mmioScopes = enum{text: []string{bad, bad, bad, bad, bad, bad, bad, bad, ".GPU", bad, bad, bad, ".SYS"},
	value: []uint16{0, 0, 0, 0, 0, 0, 0, 0, ScopeGPU, 0, 0, 0, ScopeSYS}}

// joinedScopes are the codes of strong accesses in the joined field of order and scope.
var joinedScopes = enum{text: []string{bad, bad, bad, bad, bad, ".SM", bad, ".GPU", bad, bad, ".SYS"},
	value: []uint16{0, 0, 0, 0, 0, ScopeSM, 0, ScopeGPU, 0, 0, ScopeSYS}}
