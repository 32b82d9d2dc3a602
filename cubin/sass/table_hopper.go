package sass

import "slices"

// asyncForms are the transaction barriers, the clusters and the asynchronous units of sm_90: bulk copies of tensors and the
// multiply-accumulate of a warpgroup.
func asyncForms() []Form {
	return slices.Concat(syncsForms(), printOnly(multicastForms()...), tensorCopyForms(), bulkForms(), warpgroupForms(), clusterForms())
}

// uregAddress is an address in shared memory or of coordinates in uniform registers.
func uregAddress(name string, at, offset Bits) Slot {
	return Slot{Name: name, Kind: KindMem, URegAt: at, Bits: offset, Access: Reads}
}

// syncsForms are transaction barriers (PTX mbarrier).
func syncsForms() []Form {
	addr := address(w1)
	addr.URegAt = Bits{64, 6}
	uniform := on(UR, 91, "")
	op := func(at Bits, code int) ModField { return only(Fixed, at, code, 0, "") }
	row := func(suffix string, opcode uint16, operands []Slot, mods ...ModField) Form {
		f := memory(SYNCS, opcode, operands, mods...)
		f.Suffix, f.Archs = suffix, in90
		return f
	}
	b := noReuse(regB("B", plain))
	result := func(s Slot) Slot { s.Name = "result"; return s }
	exchange := row(".EXCH.64", 0x5b2, []Slot{result(toUniform(rd(w2))), uregAddress("address", Bits{24, 6}, Bits{40, 24}),
		toUniform(noReuse(regB("B", pair)))}, op(Bits{72, 2}, 1), uniform)
	exchange.Pipe = PipeUniform
	second := toUniform(noReuse(regB("C", pair)))
	second.next = 2
	swap := row(".CAS.64", 0x3b2, append(slices.Clone(exchange.Operands), second), op(Bits{72, 2}, 2), uniform)
	load := row(".LD.64", 0x9b2, exchange.Operands[:2], op(Bits{72, 2}, 0), uniform)
	swap.Pipe, load.Pipe = PipeUniform, PipeUniform
	watched := row(".LD.64", 0x5b1, []Slot{result(rd(w2)), addr}, op(Bits{73, 1}, 1), flag(Obscure, 74, ".WATCH"), uniform)
	arrives := memory(ARRIVES, 0x9b0, []Slot{addr}, op(Bits{72, 4}, 10), uniform)
	arrives.Suffix = ".LDGSTSBAR.64"
	counted := arrives
	counted.Mods = slices.Insert(slices.Clone(arrives.Mods), 1, mod(Arvcnt, 70, 2, &enum{text: []string{"", ".ARVCNT", ".TRANSCNT"}}))
	return []Form{
		exchange, printOnly(swap)[0], printOnly(load)[0], printOnly(watched)[0], arrives.on(from80 &^ in90), counted.on(in90),
		row(".CCTL", 0x9b1, []Slot{{Name: "result", Kind: KindReg, Show: never}, addr, {Name: "B", Kind: KindReg, Show: never}}, only(Fixed, Bits{72, 1}, 0, 0, ".IV"), off(Fixed, 73), uniform),
		row(".PHASECHK.TRANS64", 0x5a7, []Slot{result(pd(always)), addr, b}, flag(TryWait, 72, ".TRYWAIT"), op(Bits{70, 2}, 1), uniform),
		row(".ARRIVE.TRANS64", 0x9a7, []Slot{result(rd(w2)), addr, b}, mod(SyncsRed, 73, 2, &enum{text: []string{"", ".TMASK", ".RED"}}),
			flag(OptOut, 75, ".OPTOUT"), mod(SyncsOp, 84, 3, &syncsOps),
			op(Bits{70, 2}, 0), uniform),
	}
}

// syncsOps are what SYNCS.ARRIVE counts, arrivals and transactions: of each none, one or as many as a register says.
var syncsOps = enum{text: []string{"", ".A1T0", ".A0T1", ".A0TR", ".A0TX", ".ART0"},
	value: []uint16{SyncsA1TR, SyncsA1T0, SyncsA0T1, SyncsA0TR, SyncsA0TX, SyncsART0}}

// multicastForms are loads that reduce what the memories of several GPUs have at a multicast address (PTX multimem.ld_reduce).
func multicastForms() []Form {
	a := address(w1)
	a.URegAt, a.Sel = Bits{64, 6}, &ModField{names: &enum{text: []string{".U32"}}}
	row := func(opcode uint16, mods ...ModField) Form {
		return memory(LDGMC, opcode, []Slot{rd(wAtom), a}, slices.Concat([]ModField{on(E, 72, ".E")}, mods, []ModField{
			only(Order, Bits{77, 4}, 10, OrderStrong, ".STRONG.SYS"), off(Addr64, 70), off(Descriptor, 71), on(UR, uniformBit, "")})...).on(in90)
	}
	bits := enum{text: []string{".ADD", ".MIN", ".MAX", bad, bad, ".AND", ".OR", ".XOR"}}
	integers := enum{text: []string{".32", ".S32", ".64", ".S64"}, value: intAtoms.value}
	sums := enum{text: []string{".ADD", ".MIN", ".MAX", ".F32ADD"}}
	floats := enum{text: slices.Clone(floatAtoms.text), value: floatAtoms.value}
	floats.text[9], floats.text[10], floats.text[11] = bad, bad, bad
	return []Form{
		row(0x9a4, mod(Obscure, 87, 4, &bits), mod(AtomType, 73, 3, &integers)),
		row(0x9a5, mod(Obscure, 88, 2, &sums), mod(AtomType, 73, 4, &floats), off(Fixed, 87)),
	}
}

// tensorDims says how many dimensions a tensor has.
func tensorDims() ModField {
	return mod(TmaDim, 79, 3, &enum{text: []string{".1D", ".2D", ".3D", ".4D", ".5D"}, value: []uint16{1, 2, 3, 4, 5}})
}

// hintedForms are an instruction of the copy engines without a descriptor behind its operands, which says how caches are to keep the
// data, and with one.
func hintedForms(op Op, opcode uint16, operands []Slot, mods ...ModField) []Form {
	row := func(descriptor Slot, bit ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: in90, Pipe: PipeUniform, Variable: true,
			Operands: append(slices.Clone(operands), descriptor), Mods: append(slices.Clone(mods), bit, on(UR, 91, ""))}
	}
	return []Form{
		row(Slot{Name: "descriptor", Kind: KindDesc, Show: never}, off(Descriptor, 76)),
		row(Slot{Name: "descriptor", Kind: KindDesc, Bits: Bits{40, 6}, Access: Reads}, on(Descriptor, 76, "")),
	}
}

// tensorCopyForms are copies of parts of tensors between global and shared memory.
func tensorCopyForms() []Form {
	dims := tensorDims()
	im2col, multicast := flag(Im2Col, 82, ".IM2COL"), flag(Multicast, 75, ".MULTICAST")
	shared, coordinates := uregAddress("shared address", Bits{32, 6}, Bits{}), uregAddress("coordinates", Bits{24, 6}, Bits{})
	mask := Slot{Name: "mask", Kind: KindUReg, Bits: Bits{64, 6}, Access: Reads, Default: URZ}
	noMask := Slot{Name: "mask", Kind: KindUReg, Show: never}
	return slices.Concat(
		hintedForms(UTMALDG, 0x5b4, []Slot{shared, coordinates, noMask}, dims),
		hintedForms(UTMALDG, 0x3b4, []Slot{shared, coordinates, mask}, dims, im2col, multicast),
		hintedForms(UTMASTG, 0x3b5, []Slot{shared, coordinates}, dims, im2col),
		[]Form{{Op: UTMACMDFLUSH, Opcode: 0x9b7, Archs: in90, Pipe: PipeUniform, Variable: true}})
}

// bulkForms are copies, reductions and prefetches of consecutive bytes (PTX ISA, cp.async.bulk), reductions and prefetches of
// parts of tensors, and what belongs to them.
func bulkForms() []Form {
	to, from := uregAddress("destination", Bits{32, 6}, Bits{}), uregAddress("source", Bits{24, 6}, Bits{})
	count := Slot{Name: "bytes", Kind: KindUReg, Bits: Bits{64, 6}, Access: Reads, Default: URZ}
	spaces := &enum{text: []string{".G", ".S"}, value: []uint16{0, 1}}
	dims := tensorDims()
	types := enum{text: []string{"", ".S32", ".U64", ".S64", ".F16.RN", ".F32.RN", ".F32.FTZ.RN", ".F64.RN", ".BF16.RN"},
		value: []uint16{TypeU32, TypeS32, TypeU64, TypeS64, TypeF16x2, TypeF32RN, TypeF32, TypeF64, TypeBF16x2}}
	ops := enum{text: redOps.text, value: []uint16{AtomADD, AtomMIN, AtomMAX, AtomINC, AtomDEC, AtomAND, AtomOR, AtomXOR}}
	level := ModField{Kind: Fixed, names: &enum{text: []string{".L2"}}}
	var forms []Form
	rows := func(op Op, opcode uint16, operands []Slot, mods ...ModField) {
		forms = append(forms, hintedForms(op, opcode, operands, mods...)...)
	}
	rows(UBLKCP, 0x3ba, []Slot{to, from, count}, mod(BulkTo, 73, 1, spaces), mod(BulkFrom, 74, 1, spaces), flag(Multicast, 75, ".MULTICAST"),
		mod(Prefetch, 81, 2, &prefetchNames), obscure(83, ".SEQUENCED"), only(Fixed, Bits{77, 4}, 0, 0, ""))
	rows(UBLKRED, 0x3bb, []Slot{to, from, count}, mod(BulkTo, 73, 1, spaces), on(BulkFrom, 74, ".S"), mod(AtomOp, 87, 3, &ops), mod(AtomType, 81, 4, &types),
		only(Fixed, Bits{77, 4}, 0, 0, ""))
	rows(UBLKPF, 0x3bc, []Slot{from, count}, level)
	rows(UTMAREDG, 0x3b6, []Slot{to, from}, dims, flag(Im2Col, 82, ".IM2COL"), mod(AtomOp, 87, 3, &ops))
	offsets, noOffsets := count, Slot{Name: "offsets", Kind: KindUReg, Show: never}
	offsets.Name = noOffsets.Name
	rows(UTMAPF, 0x5b8, []Slot{to, from, noOffsets}, level, dims)
	rows(UTMAPF, 0x3b8, []Slot{to, from, offsets}, level, dims, on(Im2Col, 82, ".IM2COL"))
	shared := address(w1)
	shared.URegAt = Bits{64, 6}
	back := memory(SYNCS, 0x9b1, []Slot{shared}, only(Fixed, Bits{72, 1}, 1, 0, ".WB"), off(Fixed, 73), on(UR, 91, "")).on(in90)
	back.Suffix = ".CCTL"
	all := memory(SYNCS, 0x9b1, nil, mod(Fixed, 72, 1, &enum{text: []string{".IVALL", ".WBALL"}}), off(Fixed, 73), off(UR, 91)).on(in90)
	all.Suffix = ".CCTL"
	reduce := func(w widthRule, name string, long ModField) Form {
		a := address(w)
		a.URegAt, a.Sel = Bits{64, 6}, &ModField{names: &enum{text: []string{name}}}
		return memory(REDAS, 0xdbe, []Slot{a, noReuse(regB("B", traits{width: wAtom}))}, mod(AtomOp, 87, 4, &ops),
			mod(AtomType, 73, 3, &casTypes), long, only(Fixed, Bits{77, 4}, 0, 0, ""), on(UR, 91, "")).on(in90)
	}
	return append(forms, printOnly(back)[0], printOnly(all)[0], reduce(w2, ".64", on(Addr64, 72, "")), reduce(w1, ".U32", off(Addr64, 72)),
		Form{Op: UTMACCTL, Opcode: 0x9b9, Archs: in90, Pipe: PipeUniform, Variable: true, Operands: []Slot{from},
			Mods: []ModField{mod(Fixed, 82, 1, &enum{text: []string{".IV", ".PF"}}), on(UR, 91, "")}})
}

// clusterForms are what thread block clusters and register and shared memory budgets need.
func clusterForms() []Form {
	lone := func(op Op, opcode uint16, mods ...ModField) Form {
		f := control(op, opcode, nil, mods...)
		return f.on(in90)
	}
	uniform := func(f Form) Form {
		f.Pipe = PipeUniform
		f.Mods = append(f.Mods, on(UR, 91, ""))
		return f
	}
	amount := func(n uint8) Slot { return Slot{Name: "amount", Kind: KindImm, Bits: Bits{32, n}, Access: Reads} }
	fence := lone(FENCE, 0x3c6, mod(FenceView, 72, 1, &enum{text: []string{".S", ".G"}}))
	fence.Suffix, fence.Pipe = ".VIEW.ASYNC", PipeLSU
	among := pp()
	among.Name = "lanes"
	elect := Form{Op: ELECT, Opcode: 0x82f, Archs: in90, Pipe: PipeALU, Operands: []Slot{pd(always), toUniform(rd(w1)), among},
		Mods: []ModField{flag(ElectKill, 85, ".IGNOREKILL"), off(UR, 91)}}
	masked := elect
	masked.Operands = []Slot{pd(always), toUniform(rd(w1)), {Name: among.Name, Kind: KindUReg, Bits: Bits{24, 6}, Not: 72, Access: Reads, Default: URZ}}
	masked.Mods = []ModField{elect.Mods[0], on(UR, 91, "")}
	shared := lone(USETSHMSZ, 0x9c9, off(Flush, 72))
	shared.Operands = []Slot{amount(20)}
	anyAmount := shared
	anyAmount.Mods = nil
	flush := lone(USETSHMSZ, 0x9c9, on(Flush, 72, ".FLUSH"))
	flush.Operands = []Slot{{Name: "amount", Kind: KindImm, Show: never}}
	pool := ModField{Kind: Fixed, Bits: Bits{74, 1}, names: &enum{text: []string{bad, ".CTAPOOL"}}}
	free := lone(USETMAXREG, 0x9c8, only(Alloc, Bits{72, 2}, 1, 1, ".DEALLOC"), pool)
	free.Operands = []Slot{toUniform(hidden(pd(always), false)), amount(10)}
	take := lone(USETMAXREG, 0x9c8, only(Alloc, Bits{72, 2}, 2, 2, ".TRY_ALLOC"), pool)
	take.Operands = []Slot{toUniform(pd(always)), amount(10)}
	named := func(f Form, opcode uint16) Form { // the amount in a uniform register
		f.Opcode, f.Operands = opcode, slices.Clone(f.Operands)
		f.Operands[len(f.Operands)-1] = Slot{Name: "amount", Kind: KindUReg, Bits: Bits{32, 6}, Access: Reads, Default: URZ}
		f.opaque = true
		return uniform(f)
	}
	remote := address(w2)
	remote.URegAt, remote.Sel = Bits{64, 6}, &ModField{names: &enum{text: []string{".64"}}}
	near := remote
	near.Width, near.Sel = w1, &ModField{names: &enum{text: []string{".U32"}}}
	store := func(a Slot, long ModField) Form {
		return memory(STAS, 0xdbd, []Slot{a, noReuse(regB("B", traits{width: wSize}))}, mod(Size, 73, 3, &copySizes), long, on(UR, 91, "")).on(in90)
	}
	return []Form{
		lone(ACQBULK, 0x82e), lone(PREEXIT, 0x82d), lone(CGAERRBAR, 0x5ab), fence, elect, masked,
		store(remote, on(Addr64, 90, "")), store(near, off(Addr64, 90)),
		uniform(lone(UCGABAR_WAIT, 0xdc7)), uniform(lone(UCGABAR_ARV, 0x9c7, off(Flush, 72))),
		uniform(shared), uniform(flush), uniform(free), uniform(take),
		named(free, 0x3c8), named(take, 0x3c8), named(anyAmount, 0x3c9),
	}
}
