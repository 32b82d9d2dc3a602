package sass

import "slices"

// textureForms are the texture instructions. The widths of their results are those of unpacked ones.
func textureForms() []Form {
	level := mod(TexLevel, 87, 3, &levelNames)
	fetch := mod(TexLevel, 87, 3, &enum{text: []string{bad, ".LZ", bad, ".LL"}})
	compact, half := flag(TexSCR, 60, ".SCR"), mod(TexF16, 79, 2, &texHalfNames)
	offsets, nodep := flag(TexAOFFI, 76, ".AOFFI"), flag(TexNODEP, 90, ".NODEP")
	ndv := flag(TexNDV, 77, ".NDV")
	bound := flag(TexBindless, 59, ".B")
	channel := mod(TexChannel, 87, 2, &enum{text: []string{".R", ".G", ".B", ".A"}})
	gather := texture(TLD4, compact, channel, bound, half, offsets, flag(TexPTP, 77, ".PTP"), flag(TexDC, 78, ".DC"), evict(), nodep)
	gather = gather.dimensions("2D", "CUBE", "ARRAY_2D", "ARRAY_CUBE")
	derivatives := texture(TXD, bound, half, flag(Fixed, 87, ".LC"), offsets, evict(), nodep)
	derivatives.Operands[4].Show = always
	lod := ModField{Kind: Fixed, names: &enum{text: []string{".LOD"}}}
	levels := texture(TMML, bound, lod, ndv, nodep)
	levels.Operands = levels.Operands[1:]
	return slices.Concat(
		texture(TEX, compact, bound, half, level, offsets, flag(TexDC, 78, ".DC"), evict(), ndv, nodep).levels(0xb60, 0xb62, 0x361, 0xf60),
		texture(TLD, compact, bound, half, fetch, offsets, evict(), flag(TexMS, 78, ".MS"), flag(TexCL, 77, ".CL"), nodep).
			headers(0xb66, 0xb68, 0x367, 0xf66),
		gather.headers(0xb63, 0xb65, 0x364, 0xf63),
		derivatives.dimensions("1D", "2D", "ARRAY_1D", "ARRAY_2D").headers(0xb6c, 0xb6e, 0x36d, 0xf6c),
		textureQuery(bound, nodep).headers(0xb6f, 0xb71, 0x370, 0xf6f),
		purposed(ofTextures, levels.headers(0xb69, 0xb6b, 0x36a, 0xf69)),
		purposed(ofTextures, footprintForms()))
}

// texture is a row with two destinations, of which the first takes the components from the third on, and with its header in
// a constant bank.
func texture(op Op, mods ...ModField) Form {
	upper := Slot{Name: "Re", Kind: KindReg, Bits: Bits{64, 8}, Access: Writes, Width: wTexUpper, Default: RZ}
	coordinates := noReuse(regA(traits{width: wFetchA}))
	more := noReuse(regB("B", traits{width: wFetchB}))
	more.Show = unlessPlain
	return Form{Op: op, Archs: inAll, Pipe: PipeTEX, Variable: true, Mods: mods,
		Operands: slices.Concat([]Slot{pd(unlessPlain), upper, rd(wTexLower), coordinates, more}, boundHeader(), []Slot{
			{Name: "dimensions", Kind: KindImm, Bits: dimensionsAt, Access: Reads, names: &texDimNames},
			{Name: "components", Kind: KindImm, Bits: componentsAt, Access: Reads, Show: unlessPlain, Default: 0xf}})}
}

// componentsAt is the set of the components that a texture instruction returns.
var componentsAt = Bits{72, 4}

// dimensions returns f for textures of some dimensions only.
func (f Form) dimensions(names ...string) Form {
	e := enum{text: slices.Clone(texDimNames.text)}
	for code, name := range e.text {
		if !slices.Contains(names, name) {
			e.text[code] = bad
		}
	}
	f.Operands = slices.Clone(f.Operands)
	f.Operands[slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Name == "dimensions" })].names = &e
	return f
}

// textureQuery is TXQ, which asks a texture header.
func textureQuery(bound, nodep ModField) Form {
	f := texture(TXQ, bound, nodep)
	kinds := enum{text: []string{"TEX_HEADER_DIMENSION", "TEX_HEADER_TEXTURE_TYPE", "TEX_HEADER_SAMPLER_POS"}}
	query := Slot{Name: "query", Kind: KindImm, Bits: Bits{62, 2}, Access: Reads, names: &kinds}
	o := f.Operands
	f.Operands = []Slot{o[1], o[2], o[3], query, o[5], o[6], o[8]}
	f.Operands[6].Show = always
	return f
}

// footprintForms are FOOTPRINT: which texels an access would touch.
func footprintForms() []Form {
	f := texture(FOOTPRINT, flag(TexSCR, 60, ".SCR"), flag(TexBindless, 59, ".B"), mod(Fixed, 78, 1, &enum{text: []string{".TEX", ".TXD"}}),
		flag(Fixed, 76, ".COARSE"), mod(TexLevel, 87, 3, &levelNames), flag(TexNDV, 77, ".NDV"), flag(TexNODEP, 90, ".NODEP"))
	f.Operands = f.Operands[:len(f.Operands)-1]
	return f.on(from75).dimensions("2D", "3D").levels(0xb72, 0xb74, 0x373, 0xf74)
}

// levels are the headers of f, a row with a level of detail, of which there is one more from sm_75 on.
func (f Form) levels(bound, parts, register, uniform uint16) []Form {
	later := f.replaced(TexLevel, mod(TexLevel, 87, 3, &levelNames75)).on(from75)
	all := append(f.on(in70).headers(bound, parts, register, uniform), later.headers(bound, parts, register, uniform)...)
	return slices.DeleteFunc(all, func(f Form) bool { return f.Archs == 0 })
}

// boundHeader is a header in a constant bank.
func boundHeader() []Slot {
	return []Slot{{Name: "bank", Kind: KindImm, Bits: Bits{54, 5}, Access: Reads},
		{Name: "header", Kind: KindImm, Bits: Bits{40, 14}, Access: Reads}}
}

// headers returns f, a row with its header in a constant bank, and those with their headers elsewhere, by opcode, 0 where there
// is none: texture and sampler apart, and both in the register of the operand B, which print .B, and in the bank that a uniform
// register names. Nothing executes those in two parts.
func (f Form) headers(bound, parts, register, uniform uint16) []Form {
	bank := f.Operands[f.bank()]
	index := func(name string, at Bits) Slot { return Slot{Name: name, Kind: KindImm, Bits: at, Access: Reads} }
	ubank := bank
	ubank.Kind, ubank.Bits, ubank.Width = KindUReg, Bits{40, 6}, w2
	bindless := f.replaced(TexBindless, on(TexBindless, 59, ".B"))
	apart := bindless.withHeader(parts, bank, index("texture", Bits{40, 6}), index("sampler", Bits{46, 8}))
	apart.purpose, apart.opaque = ofTextures, true
	pooled := f.replaced(TexBindless)
	pooled.Mods = append(pooled.Mods, on(UR, 91, ""))
	return withOpcode(f.withHeader(bound, f.Operands[f.bank():f.bank()+2]...),
		apart,
		bindless.withHeader(register),
		pooled.withHeader(uniform, ubank, index("header", Bits{46, 8})).on(from75))
}

// withOpcode returns the rows that have an opcode.
func withOpcode(forms ...Form) []Form {
	return slices.DeleteFunc(forms, func(f Form) bool { return f.Opcode == 0 })
}

// bank returns the index of the first of the two operands of a header in a constant bank.
func (f *Form) bank() int {
	return slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Name == "bank" })
}

// withHeader returns f with another opcode and, in the place of a header in a constant bank, other operands.
func (f Form) withHeader(opcode uint16, header ...Slot) Form {
	k := f.bank()
	return f.with(opcode, slices.Replace(slices.Clone(f.Operands), k, k+2, header...))
}

// replaced returns f with other modifiers in the place of that of a kind, where it has one.
func (f Form) replaced(kind ModKind, mods ...ModField) Form {
	k := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == kind })
	f.Mods = slices.Clone(f.Mods)
	if k >= 0 {
		f.Mods = slices.Replace(f.Mods, k, k+1, mods...)
	}
	return f
}
