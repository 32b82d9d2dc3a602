package sass

import "slices"

// surfaceForms are loads, stores and atomics of surfaces, whose headers lie where those of textures may. Nothing executes
// atomics and accesses to components that a format converts.
func surfaceForms() []Form {
	b := noReuse(regB("B", plain))
	dest := []Slot{pd(unlessPlain), rd(wSize), surfaceAddress()}
	result := []Slot{pd(unlessPlain), rd(w1), surfaceAddress(), b}
	wide := noReuse(regB("B", traits{width: wSize}))
	return joinOrder(slices.Concat(
		surfaceLoads(surface(SULD, dest), 0xb99, 0x799, 0x99a, 0xf99),
		surfaceHeaders(surface(SUST, []Slot{surfaceAddress(), wide}), 0xb9d, 0x79d, 0x99e, 0xf9d),
		purposed(ofTextures, slices.Concat(
			surfaceLoads(formatted(surface(SULD, dest)), 0xb97, 0x797, 0x998, 0xf97),
			surfaceHeaders(formatted(surface(SUST, []Slot{surfaceAddress(), noReuse(regB("B", traits{width: w4}))})), 0xb9b, 0x79b, 0x99c, 0xf9b),
			surfaceHeaders(reduction(surface(SURED, []Slot{surfaceAddress(), b}), mod(AtomOp, 87, 3, &redOps)), 0x59f, 0x79f, 0x3a0, 0xf9f),
			surfaceHeaders(reduction(surface(SUATOM, result), mod(AtomOp, 87, 4, &atomOps)), 0x593, 0x793, 0x394, 0xf93),
			surfaceHeaders(swap(surface(SUATOM, result)).on(in80|in86|in89), 0x595, 0x795, 0x396, 0xf95),
			surfaceHeaders(swap(surface(SUATOM, result)).spelled64().on(in70|in75|in90), 0x595, 0x795, 0x396, 0xf95),
			surfaceQueries()))))
}

// surfaceHeaders returns the rows with the header of f in a constant bank, in two parts there, in a register, and in the bank
// that a uniform register names.
func surfaceHeaders(f Form, bound, parts, register, uniform uint16) []Form {
	inRegister := noReuse(regC("header", plain))
	inRegister.Default = 0
	forms := f.headers(bound, parts, 0, uniform)
	for i := range forms {
		if b := &forms[i].Operands[forms[i].bank()]; b.Kind == KindUReg {
			b.Width = w1 // no sampler
		}
	}
	return append(forms, f.withHeader(register, inRegister))
}

// surfaceAddress is a coordinate in registers.
func surfaceAddress() Slot {
	return Slot{Name: "address", Kind: KindMem, Base: Bits{24, 8}, Access: Reads, Width: wSurface}
}

// surface is a row of an unformatted access through a surface header in a constant bank.
func surface(op Op, operands []Slot) Form {
	raw := ModField{Kind: SurfRaw, names: &enum{text: []string{".D"}, value: []uint16{1}}}
	return Form{Op: op, Archs: inAll, Pipe: PipeTEX, Variable: true,
		Mods: []ModField{raw, flag(SurfBA, 72, ".BA"), mod(SurfDim, 61, 3, &surfDimNames), evict(), mod(Size, 73, 3, &sizeNames),
			mod(Order, 79, 2, &storeOrders), scope(), private(), mod(SurfClamp, 59, 2, &clampNames)},
		Operands: slices.Concat(operands, boundHeader())}
}

// formatted turns a row of an unformatted access into one of components that the surface's format converts.
func formatted(f Form) Form {
	f = f.replaced(SurfRaw, ModField{Kind: SurfRaw, names: &enum{text: []string{".P"}}}).replaced(SurfBA).replaced(Size)
	clamp := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == SurfClamp })
	components := mod(Fixed, 72, 4, &enum{text: []string{bad, ".R", bad, ".RG", bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, bad, ""}})
	f.Mods = slices.Insert(f.Mods, clamp, components)
	return f
}

// reduction turns a row into that of an atomic.
func reduction(f Form, ops ModField) Form {
	dims := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == SurfDim })
	f = f.replaced(Size, obscureNames(73, 3, "", ".S32", ".U64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".SD32", ".SD64"))
	f.Mods = slices.Insert(f.Mods, dims+1, ops)
	return f
}

// swap turns a row into that of a compare and swap.
func swap(f Form) Form {
	f = reduction(f, ModField{Kind: AtomOp, names: &casName})
	return f.replaced(Obscure, obscureNames(73, 3, "", ".S32", ".U64", bad, bad, bad, ".SD32", ".SD64"))
}

// spelled64 returns a row of a compare and swap that calls 64 bits .64.
func (f Form) spelled64() Form {
	return f.replaced(Obscure, obscureNames(73, 3, "", ".S32", ".64"))
}

// surfaceLoads are surfaceHeaders of loads, which have an order more from sm_80 on.
func surfaceLoads(f Form, bound, parts, register, uniform uint16) []Form {
	later := f.replaced(Order, mod(Order, 79, 2, &loadOrders)).on(from80)
	return append(surfaceHeaders(f.on(in70|in75), bound, parts, register, uniform), surfaceHeaders(later, bound, parts, register, uniform)...)
}

// surfaceQueries are SUQUERY.
func surfaceQueries() []Form {
	query := Slot{Name: "query", Kind: KindImm, Bits: Bits{87, 1}, Access: Reads, names: &enum{text: []string{"COMP_STATUS"}}}
	f := surface(SUQUERY, []Slot{pd(unlessPlain), rd(w1), surfaceAddress(), query}).on(from86)
	f.Mods = f.Mods[1:3]
	return surfaceHeaders(f, 0xbb3, 0x7b3, 0x9b3, 0xfb3)
}
