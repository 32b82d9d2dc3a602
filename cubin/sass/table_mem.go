package sass

import "slices"

// memoryForms are loads, stores, atomics and what keeps memory in order.
func memoryForms() []Form {
	return slices.Concat(byArch(loadForms()), byArch(storeForms()), byArch(atomicForms()), countForms(), byArch(matrixMoveForms()), copyForms(), cacheForms())
}

// The modifiers of memory instructions.
func extended() ModField { return flag(E, 72, ".E") }
func evict() ModField    { return mod(Evict, 84, 3, &evictNames) }
func private() ModField  { return flag(Private, 76, ".PRIVATE") }
func scope() ModField    { return mod(Scope, 77, 2, &scopeNames) }

// memory is the beginning of a row of the load and store unit.
func memory(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
	return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeLSU, Variable: true, Operands: operands, Mods: mods}
}

// loadForms are loads. With .ZD they write a predicate, which without it only LDG can name.
func loadForms() []Form {
	order := mod(Order, 79, 2, &loadOrders)
	noZD, zd := off(ZD, 87), on(ZD, 87, ".ZD")
	plainDest := hidden(pd(always), false)
	unused := plainDest
	unused.Default = 0
	load := func(op Op, opcode uint16, addr Slot, dest Slot, mods ...ModField) Form {
		return memory(op, opcode, []Slot{dest, rd(wSize), addr}, mods...)
	}
	global := []ModField{extended(), evict(), mod(Size, 73, 3, &globalSizes), order, scope(), private()}
	shared := []ModField{flag(LoadU, 76, ".U"), mod(Size, 73, 3, &sizeNames)}
	later := []ModField{mod(Size, 73, 3, &sizeNames)}
	ldc := memory(LDC, 0xb82, []Slot{rd(wSize), {Name: "constant", Kind: KindConst, Base: Bits{24, 8},
		Bits: Bits{38, 16}, Bank: Bits{54, 5}, Access: Reads, Width: wSize, Format: bytes}},
		mod(Size, 73, 3, &constSizes), mod(LdcMode, 78, 2, &ldcNames))
	ldc.Pipe = PipeADU
	return []Form{
		predicated(load(LDG, 0x381, address(wE), pd(unlessPlain), append(slices.Clone(global), noZD)...)),
		predicated(load(LDG, 0x381, address(wE), pd(always), append(slices.Clone(global), zd)...)).on(in70 | in75),
		predicated(load(LD, 0x980, longAddress(wE), unused, append(slices.Clone(global), noZD)...)),
		predicated(load(LD, 0x980, longAddress(wE), pd(always), append(slices.Clone(global), zd)...)).on(in70 | in75),
		load(LDS, 0x984, address(w1), unused, append(slices.Clone(shared), noZD)...).on(in70 | in75),
		load(LDS, 0x984, address(w1), pd(always), append(slices.Clone(shared), zd)...).on(in70 | in75),
		load(LDS, 0x984, address(w1), unused, later...).on(from80),
		load(LDL, 0x983, address(w1), unused, evict(), mod(Size, 73, 3, &sizeNames)),
		ldc,
	}
}

// predicated adds the place of the predicate that loads of sm_80 and later have.
func predicated(f Form) Form {
	f.Operands = append(f.Operands, Slot{Name: "Pp", Kind: KindPred, Show: never})
	return f
}

func storeForms() []Form {
	order := mod(Order, 79, 2, &storeOrders)
	global := []ModField{extended(), evict(), mod(Size, 73, 3, &globalSizes), order, scope(), private()}
	data := noReuse(regB("B", traits{width: wSize}))
	size := mod(Size, 73, 3, &sizeNames)
	return []Form{
		memory(STG, 0x386, []Slot{address(wE), data}, global...),
		memory(ST, 0x385, []Slot{longAddress(wE), noReuse(regC("B", traits{width: wSize}))}, global...),
		memory(STS, 0x388, []Slot{address(w1), data}, size),
		memory(STL, 0x387, []Slot{address(w1), data}, evict(), size),
	}
}

// atomicForms are atomics. The operation of a compare and swap is part of the opcode.
func atomicForms() []Form {
	value := noReuse(regB("B", traits{width: wAtom}))
	swap := noReuse(regC("C", traits{width: wAtom}))
	noSwap := hidden(noReuse(regC("C", plain)), false)
	op, cast := mod(AtomOp, 87, 4, &atomOps), mod(AtomOp, 87, 2, &castNames)
	typ := mod(AtomType, 73, 3, &atomTypes)
	integers := mod(AtomType, 73, 3, &intAtoms)
	floats := mod(AtomType, 73, 4, &floatAtoms)
	casType := mod(AtomType, 73, 3, &casTypes)
	order := mod(Order, 79, 2, &atomOrders)
	dest := []Slot{pd(always), rd(wAtom), address(wE), value}
	sharedDest := []Slot{rd(wAtom), address(w1), value}
	whole := only(Obscure, Bits{73, 3}, 4, 1, ".128")
	sharedType := mod(AtomType, 73, 2, &casTypes)
	wide := func(op Op, opcode uint16, operands []Slot, ops ModField) []Form { // sm_90 has one of 128 bits
		return []Form{memory(op, opcode, operands, ops, sharedType).on(before90),
			memory(op, opcode, operands, ops, mod(AtomType, 73, 3, &casTypes)).on(in90), of128(memory(op, opcode, operands, ops, whole))}
	}
	with := func(s []Slot, c Slot) []Slot { return append(slices.Clone(s), c) }
	var forms []Form
	for _, v := range []struct {
		op                 Op
		any, compare       uint16
		anyMod, compareMod ModField
	}{
		{ATOMG, 0x3a8, 0x3a9, mod(AtomOp, 87, 4, &globalAtomOps), ModField{Kind: AtomOp, names: &casName}},
		{ATOM, 0x38a, 0x38b, op, cast},
	} {
		forms = append(forms,
			memory(v.op, v.any, with(dest, noSwap), extended(), v.anyMod, evict(), typ, order, scope(), private()).on(before90),
			memory(v.op, v.any, with(dest, noSwap), extended(), v.anyMod, evict(), integers, order, scope(), private()).on(in90),
			of128(memory(v.op, v.any, with(dest, noSwap), extended(), v.anyMod, evict(), whole, order, scope(), private())),
			of128(memory(v.op, v.compare, with(dest, swap), extended(), v.compareMod, evict(), whole, order, scope(), private())),
			memory(v.op, v.compare, with(dest, swap), extended(), v.compareMod, evict(), casType, order, scope(), private()))
	}
	red := memory(RED, 0x98e, []Slot{address(wE), value}, extended(), mod(AtomOp, 87, 3, &redOps), evict(), typ, order, scope(), private())
	global := memory(REDG, 0x98e, []Slot{address(wE), value}, extended(), mod(AtomOp, 87, 3, &redOps), evict(), integers, order, scope(), private()).on(in90)
	forms = slices.Concat(forms, wide(ATOMS, 0x38c, with(sharedDest, noSwap), op), wide(ATOMS, 0x38d, with(sharedDest, swap), cast))
	return append(forms, red.on(before90), global,
		memory(REDG, 0x9a6, []Slot{address(wE), value}, extended(), mod(AtomOp, 88, 2, &floatRedOps), evict(),
			floats, order, scope(), private()).on(in90),
		memory(ATOMG, 0x3a3, with(dest, noSwap), extended(), mod(AtomOp, 88, 2, &floatRedOps), evict(),
			floats, order, scope(), private()).on(in90),
		memory(ATOM, 0x3a2, with(dest, noSwap), extended(), mod(AtomOp, 88, 2, &floatRedOps), evict(),
			floats, order, scope(), private()).on(in90))
}

// of128 turns a row of atomics into that of 128 bits, which sm_90 has and nothing executes.
func of128(f Form) Form {
	f = f.on(in90)
	f.opaque, f.Operands = true, slices.Clone(f.Operands)
	for k := range f.Operands {
		if s := &f.Operands[k]; s.Width == wAtom {
			s.Width = w4
		}
	}
	return f
}

// countForms count the lanes that meet at an address of shared memory, or arrivals at a barrier there (sm_80 and later).
func countForms() []Form {
	addr := address(w1)
	addr.URegAt, addr.Sel = Bits{64, 6}, &ModField{Bits: Bits{78, 2}, names: &addrScales}
	unused := Slot{Kind: KindReg, Show: never}
	row := func(archs ArchSet, code int) Form {
		b, c := unused, unused
		b.Name, c.Name = "B", "C"
		return memory(ATOMS, 0xf8c, []Slot{rd(w1), addr, b, c}, only(AtomOp, Bits{87, 4}, code, AtomPOPCINC, ".POPC.INC"),
			only(AtomType, Bits{73, 2}, 0, TypeU32, ".32"), on(UR, 91, "")).on(archs)
	}
	arrive := func(archs ArchSet, code int) Form { // of a transaction barrier
		f := row(archs, code)
		f.Mods = []ModField{only(AtomOp, Bits{87, 4}, code, AtomARRIVE, ".ARRIVE"), only(AtomType, Bits{73, 2}, 2, TypeU64, ".64"), on(UR, 91, "")}
		f.Operands = slices.Clone(f.Operands)
		f.Operands[0].Width = w2
		return f
	}
	return []Form{row(from80&^in90, 10), row(in90, 11), arrive(from80&^in90, 9), arrive(in90, 10)}
}

// cacheForms are cache control, memory barriers and the query of an address's space.
func cacheForms() []Form {
	return append(slices.Concat(cacheControlForms(), fenceForms()),
		memory(ERRBAR, 0x9ab, nil),
		memory(LDGDEPBAR, 0x9af, nil).on(from80),
		memory(QSPC, 0x3aa, []Slot{pd(always), rd(w1), address(wE)}, extended(), mod(Space, 73, 2, &spaceName)))
}

// cacheControlForms are CCTL and CCTLL, of one line or of all. From sm_80 on what works on all lines has no address size, and
// lines of the L2 cache can be prefetched, discarded and have their priority reset.
func cacheControlForms() []Form {
	cache := mod(CctlSpc, 78, 3, &cctlCache)
	one, all := mod(CctlOp, 87, 4, &cctlOps), mod(CctlOp, 87, 4, &cctlAll)
	line := []Slot{longAddress(wE)}
	none := []Slot{hidden(longAddress(wE), false)}
	local := []Slot{address(w1)}
	levels := mod(CctlOp, 87, 4, &cctlLevels)
	fewer := mod(CctlOp, 87, 4, &enum{text: cctlLevels.text[:11], value: cctlLevels.value[:11]})
	reset := only(CctlOp, Bits{87, 4}, 11, CctlRML2, ".RML2")
	number := Slot{Name: "number", Kind: KindImm, Bits: Bits{73, 3}, Access: Reads, Show: unlessPlain}
	prefetch := only(CctlOp, Bits{87, 4}, 1, CctlPF2, ".PF2")
	others := cctlOps
	others.text = slices.Clone(others.text)
	others.text[1] = bad
	query := memory(CCTL, 0x98f, []Slot{longAddress(wE), predDest("Pd", 81, always)}, extended(), cache, prefetch,
		only(Obscure, Bits{76, 1}, 1, 1, ".QFAULT"))
	query.Operands[0], query.Operands[1] = query.Operands[1], query.Operands[0]
	return slices.Concat([]Form{
		memory(CCTL, 0x98f, line, extended(), cache, one).on(inAll &^ in89),
		memory(CCTL, 0x98f, line, extended(), cache, mod(CctlOp, 87, 4, &others)).on(in89),
		memory(CCTL, 0x98f, line, extended(), cache, prefetch, off(Obscure, 76)).on(in89),
		memory(CCTL, 0x98f, none, extended(), cache, all).on(in70 | in75),
		memory(CCTL, 0x98f, none, cache, all).on(from80),
		memory(CCTLL, 0x990, local, one),
		memory(CCTLL, 0x990, []Slot{hidden(local[0], false)}, mod(CctlOp, 87, 4, &cctllAll)),
		memory(CCTL, 0x98f, line, extended(), cache, levels).on(from80 &^ in89),
		memory(CCTL, 0x98f, line, extended(), cache, fewer).on(in89),
	}, printOnly(query.on(in89)), []Form{memory(CCTL, 0x98f, append(slices.Clone(line), opaque(number)), extended(), cache, reset).on(in89)})
}

// fenceForms are MEMBAR. From sm_80 on MMIO is one of its semantics.
func fenceForms() []Form {
	row := func(archs ArchSet, mods ...ModField) Form { return memory(MEMBAR, 0x992, nil, mods...).on(archs) }
	scopes := mod(Scope, 76, 3, &membarScopes)
	later := semNames
	later.text, later.value = append(slices.Clone(semNames.text), ".MMIO"), []uint16{SemSC, SemALL, SemNone, SemMMIO}
	partial := only(Obscure, Bits{76, 3}, 6, 1, ".CTA.PARTIAL")
	async := []ModField{mod(Scope, 76, 3, &membarScopes), on(Obscure, 73, ".ASYNC")}
	sem, whole := mod(Sem, 79, 2, &later), off(Obscure, 73)
	return append([]Form{
		row(in70|in75, mod(Sem, 79, 2, &semNames), scopes, flag(MMIO, 72, ".MMIO")),
		row(from80&^in90, sem, scopes),
		row(in90, sem, scopes, whole),
	}, printOnly(row(in90, sem, partial, whole), row(in90, async...))...)
}
