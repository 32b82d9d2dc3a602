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
			all = append(all, f.withSummand(k)...)
		default:
			all = append(all, f.on(in70))
			all = append(all, f.on(in75).withWideSummand(k)...)
			f.Archs &= from80
			for _, g := range f.withJoinedOrder(order) {
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
	if f.Op == LDS || f.Op == STS || f.Op == ATOMS {
		without.Operands = slices.Clone(f.Operands)
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
	return []Form{old, without, with}
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
	long := on(Addr64, 90, "")
	short := off(Addr64, 90)
	if f.Op == ATOM || f.Op == ATOMG {
		long, short = on(Addr64, 70, ""), off(Addr64, 70)
	}
	row := func(flag ModField, name string, w widthRule) Form {
		g := wide
		g.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""), flag)
		g.Operands = slices.Clone(wide.Operands)
		a := &g.Operands[k]
		a.URegAt, a.Bits, a.Width = wide.uregAt(), Bits{40, 24}, w
		a.Sel = &ModField{names: &enum{text: []string{name}}}
		return g
	}
	return []Form{without, row(long, ".64", w2), row(short, ".U32", w1)}
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

// withDescriptor returns f without and with a descriptor of the memory in a uniform register.
func (f Form) withDescriptor(k int) []Form {
	without := f
	without.Mods = append(slices.Clone(f.Mods), off(UR, 91))
	with, ok := f.freeUniform(k)
	if !ok {
		return []Form{without}
	}
	with.Mods = append(slices.Clone(f.Mods), with.descriptorFlags()...)
	a := &with.Operands[k]
	a.URegAt, a.Descriptor, a.Bits = with.uregAt(), true, Bits{40, 24}
	return []Form{without, with}
}

// descriptorFlags are the bits that say that an access has a descriptor and a 64-bit address. Atomics have them
// elsewhere, as their operation takes the usual places.
func (f *Form) descriptorFlags() []ModField {
	switch f.Op {
	case ATOM, ATOMG:
		return []ModField{on(UR, 91, ""), on(Addr64, 70, ""), on(Descriptor, 71, "")}
	case RED, REDG:
		return []ModField{on(UR, 91, ""), on(Addr64, 90, ""), on(Descriptor, 71, "")}
	}
	return []ModField{on(UR, 91, ""), on(Addr64, 90, ""), on(Descriptor, 76, "")}
}

// withJoinedOrder replaces the fields of order, scope and privacy by the one field of sm_80 and later.
func (f Form) withJoinedOrder(order int) []Form {
	at := Bits{77, 4}
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
	if _, ok := f.Mods[order].names.code(OrderConstant); ok {
		rows = append(rows, row(only(Order, at, 4, OrderConstant, ".CONSTANT")))
	}
	return rows
}

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
		all = append(all, f.on(from80).withJoinedOrder(order)...)
	}
	return all
}

// joinedScopes are the codes of strong accesses in the joined field of order and scope.
var joinedScopes = enum{text: []string{bad, bad, bad, bad, bad, ".SM", bad, ".GPU", bad, bad, ".SYS"},
	value: []uint16{0, 0, 0, 0, 0, ScopeSM, 0, ScopeGPU, 0, 0, ScopeSYS}}
