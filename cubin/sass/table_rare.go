package sass

import "slices"

// rareForms are forms that the hardware has and the compilers' compute code does not: most have uniform registers, constants or
// immediates where compilers take other operands. Nothing executes them.
func rareForms() []Form {
	tables, jumps := jumpForms()
	return slices.Concat(byteForms(), tables,
		printOnly(slices.Concat(rarePredicateForms(), rareUniformForms(), rareNarrowForms(), rareMemoryForms(), wideAccessForms(), jumps)...))
}

// rarePredicateForms are moves between registers and predicates, and PLOP3 of signs of uniform registers.
func rarePredicateForms() []Form {
	bound := on(UR, 91, "")
	selected := regA(plain)
	selected.Sel = &ModField{Bits: Bits{76, 2}, names: &byteNames}
	written, uwritten := Slot{Name: "PR", Kind: KindPredSet, Access: Writes}, Slot{Name: "UPR", Kind: KindUPredSet, Access: Writes}
	read := uwritten
	read.Access = Reads
	uniform := func(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: from75, Pipe: PipeUniform, Operands: operands, Mods: append(mods, bound)}
	}
	b, mask := uregB("B", plain), imm32("B", hex)
	mask.Show, mask.Default = unlessPlain, allPredicates
	forms := []Form{
		{Op: R2P, Opcode: 0xc04, Archs: from75, Pipe: PipeALU, Operands: []Slot{written, selected, b}, Mods: []ModField{bound}},
		uniform(UP2UR, 0xc83, []Slot{toUniform(rd(w1)), read, toUniform(regA(plain)), b}, mod(ByteSel, 76, 2, &byteNames)),
		uniform(UR2UP, 0x884, []Slot{uwritten, toUniform(selected), mask}),
		uniform(UR2UP, 0xc84, []Slot{uwritten, toUniform(selected), b}),
	}
	for _, f := range predicateLogicForms() {
		if f.Opcode&0xe00 != formRRR {
			continue
		}
		f = f.on(from75)
		f.Mods = []ModField{bound}
		v, u := f.with(f.Opcode&^0xe00|formRUR, slices.Clone(f.Operands)), f.with(f.Opcode|0x80, slices.Clone(f.Operands))
		v.Operands[3] = toUniform(v.Operands[3])
		for k := range u.Operands {
			u.Operands[k] = toUniform(u.Operands[k])
		}
		u.Op, u.Pipe = UPLOP3, PipeUniform
		forms = append(forms, v, u)
	}
	return forms
}

// rareUniformForms are those of the uniform datapath.
func rareUniformForms() []Form {
	bound := on(UR, 91, "")
	uniform := func(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: from75, Pipe: PipeUniform, Operands: operands, Mods: append(mods, bound)}
	}
	d, a, immediate := toUniform(rd(w1)), toUniform(regA(plain)), imm32("B", hex)
	short := immediate
	short.Bits.N = 16
	shift := Slot{Name: "shift", Kind: KindImm, Bits: Bits{73, 4}, Access: Reads}
	clamped := func(opcode uint16, b Slot) Form {
		return uniform(UCLEA, opcode, []Slot{d, toUniform(pd(always)), a, b, shift})
	}
	header := Slot{Name: "address", Kind: KindMem, URegAt: Bits{24, 6}, Bits: Bits{38, 32}, Access: Reads, style: headerAddress, sign: signAlways}
	condition := toUniform(cond())
	condition.Show, condition.ofUniform = always, true
	load := uniform(ULDC, 0x8b8, []Slot{d, header, condition}, mod(Size, 73, 3, &constSizes))
	return append([]Form{
		uniform(UBREV, 0x8be, []Slot{d, immediate}),
		uniform(UPOPC, 0x8bf, []Slot{d, immediate}),
		uniform(UFLO, 0x8bd, []Slot{d, toUniform(pd(unlessPlain)), immediate}, mod(U32, 73, 1, &unsignedNames), flag(SH, 74, ".SH")),
		clamped(0x8bc, short), clamped(0xcbc, uregB("B", plain)),
		load,
	}, wideAddForms()...)
}

// wideAddForms are UIADD3.64 with carries.
func wideAddForms() []Form {
	var forms []Form
	for _, f := range addForms() {
		form := f.Opcode & 0xe00
		if f.Op != IADD3 || form != formRRR && form != formRIR {
			continue
		}
		if f.Mods[0].names.text[0] != bad { // see longAddForms
			continue
		}
		g := f.uniform(UIADD3)
		g.Opcode |= 7
		g.Mods = append([]ModField{{Kind: Size, names: &enum{text: []string{".64"}, value: []uint16{Size64}}}}, g.Mods...)
		forms = append(forms, g)
	}
	return forms
}

// rareMemoryForms have uniform registers in addresses of what compilers do not give them to.
func rareMemoryForms() []Form {
	bound := on(UR, 91, "")
	at := func(s Slot) Slot {
		s.Bits, s.URegAt = Bits{}, Bits{32, 6}
		return s
	}
	ldc := Slot{Name: "constant", Kind: KindConst, Base: Bits{64, 8}, URegAt: Bits{24, 6}, Descriptor: true, Bits: Bits{38, 16},
		Access: Reads, Width: wSize, Format: bytes}
	line, cache, op := at(longAddress(wE)), mod(CctlSpc, 78, 2, &cctlCache), mod(CctlOp, 87, 4, &cctlOps)
	prefetch := only(CctlOp, Bits{87, 4}, 1, CctlPF2, ".PF2")
	others := cctlOps
	others.text = slices.Clone(others.text)
	others.text[1] = bad
	number := Slot{Name: "number", Kind: KindImm, Bits: Bits{73, 3}, Access: Reads, Show: unlessPlain}
	fewer := enum{text: cctlLevels.text[:11], value: cctlLevels.value[:11]}
	query := memory(QSPC, 0x9aa, []Slot{pd(always), rd(w1), address(w1)}, mod(Space, 73, 2, &spaceName)).on(from75)
	forms := []Form{
		memory(LDC, 0x582, []Slot{rd(wSize), ldc}, mod(Size, 73, 3, &constSizes), bound).on(in75),
		memory(LDC, 0x582, []Slot{rd(wSize), ldc}, mod(Size, 73, 3, &constSizes), mod(LdcMode, 78, 2, &ldcNames), bound).on(from80),
		memory(CCTL, 0xd8f, []Slot{line}, extended(), cache, op, bound).on(from75 &^ in89),
		memory(CCTL, 0xd8f, []Slot{line}, extended(), cache, mod(CctlOp, 87, 4, &others), bound).on(in89),
		memory(CCTL, 0xd8f, []Slot{line}, extended(), cache, prefetch, off(Obscure, 76), bound).on(in89),
		memory(CCTL, 0xd8f, []Slot{predDest("Pd", 81, always), line}, extended(), cache, prefetch, only(Obscure, Bits{76, 1}, 1, 1, ".QFAULT"), bound).on(in89),
		memory(CCTL, 0xd8f, []Slot{line}, extended(), cache, mod(CctlOp, 87, 4, &cctlLevels), bound).on(from80 &^ in89),
		memory(CCTL, 0xd8f, []Slot{line}, extended(), cache, mod(CctlOp, 87, 4, &fewer), bound).on(in89),
		memory(CCTL, 0xd8f, []Slot{line, number}, extended(), cache, only(CctlOp, Bits{87, 4}, 11, CctlRML2, ".RML2"), bound).on(in89),
		memory(CCTLL, 0xd90, []Slot{at(address(w1))}, op, bound).on(from75),
	}
	forms = append(forms, genericCountForms()...)
	distributed := query.on(in90) // asks for the memory of the blocks of a cluster
	distributed.Mods = []ModField{only(Obscure, Bits{73, 2}, 3, 1, ".D")}
	plainly := distributed.with(0x3aa, []Slot{pd(always), rd(w1), address(wE)})
	plainly.Mods = append([]ModField{extended()}, plainly.Mods...)
	forms = append(forms, plainly)
	for _, f := range append(query.summands(2, 90), distributed.summands(2, 90)...) {
		long := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Addr64 })
		e := extended()
		if _, wide := f.Mods[long].names.code(1); wide {
			e = on(E, 72, ".E")
		}
		f.Mods = append([]ModField{e}, f.Mods...)
		forms = append(forms, f)
	}
	return forms
}

// jumpForms are branches that a uniform predicate takes, and those to an address in uniform registers.
func jumpForms() (tables, jumps []Form) {
	bound := on(UR, 91, "")
	depth, mode := mod(CallInc, 85, 2, &depthNames), mod(BraMode, 32, 2, &braNames)
	together := only(BraMode, Bits{32, 2}, 1, BraU, ".U")
	taken := toUniform(predSource("condition", Bits{24, 3}, 27))
	register := Slot{Name: "A", Kind: KindUReg, Bits: Bits{24, 6}, Access: Reads, Width: w2, Default: URZ}
	jump := func(op Op, opcode uint16, at ...Slot) Form {
		return control(op, opcode, append([]Slot{cond(), taken}, at...), depth, together, bound).on(from80)
	}
	anyOf := func(f Form) Form { // sm_90 has .ANY
		f.Mods = slices.Insert(slices.Clone(f.Mods), 2, flag(Fixed, 84, ".ANY"))
		return f.on(in90)
	}
	through := func(op Op, opcode uint16, f format) Form {
		return control(op, opcode, []Slot{cond(), register, offset(f)}, depth, mode, bound).on(from75)
	}
	lanes := Slot{Name: "lane mask", Kind: KindUReg, Bits: Bits{24, 6}, Not: 30, Access: Reads, Default: URZ}
	masked := func(opcode uint16, at Slot) Form {
		return control(JMP, opcode, []Slot{cond(), lanes, at}, depth, obscured(32, 2, "", bad, ".DIV", ".CONV"), bound).on(from80)
	}
	forms := []Form{masked(0x94a, absoluteTarget()), masked(0xb4a, codeConstant(from80)), through(JMXU, 0x959, signedAddress)}
	for _, f := range []Form{jump(BRA, 0x547, target(relative)), jump(JMP, 0x54a, absoluteTarget()), jump(JMP, 0x74a, codeConstant(from80))} {
		forms = append(forms, f.on(before90), anyOf(f))
	}
	return splitTargets([]Form{through(BRXU, 0x958, distance)}), splitTargets(forms)
}

// genericCountForms are those of [countForms] in generic memory (sm_86 and later).
func genericCountForms() []Form {
	row := func(archs ArchSet, code int, name string, size ModField, w widthRule) []Form {
		f := memory(ATOM, 0xf8a, []Slot{pd(always), rd(w), address(w1)}, on(E, 72, ".E"), only(AtomOp, Bits{87, 4}, code, AtomPOPCINC, name), evict(),
			size, mod(Order, 79, 2, &atomOrders), scope(), private()).on(archs)
		var all []Form
		for _, g := range f.withJoinedOrder() {
			for _, h := range g.summands(2, 70) {
				h.Operands[2].URegAt = Bits{64, 6}
				all = append(all, h)
			}
		}
		return all
	}
	count := only(AtomType, Bits{73, 3}, 0, TypeU32, ".32")
	arrival := only(AtomType, Bits{73, 3}, 2, TypeU64, ".64")
	return slices.Concat(row(in86|in89, 10, ".POPC.INC", count, w1), row(in90, 11, ".POPC.INC", count, w1),
		row(in86|in89, 9, ".ARRIVE", arrival, w2), row(in90, 10, ".ARRIVE", arrival, w2))
}
