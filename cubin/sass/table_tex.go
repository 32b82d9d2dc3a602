package sass

import "slices"

// textureForms are the texture and surface instructions that compute kernels on sm_70 use: TEX and TLD with a texture
// header in a constant bank, and unformatted surface loads and stores. The
// widths of their operands are those of unpacked results; coordinates count as one pair.
func textureForms() []Form {
	level := mod(TexLevel, 87, 3, &levelNames)
	fetch := mod(TexLevel, 87, 3, &enum{text: []string{bad, ".LZ", bad, ".LL"}})
	compact, half := flag(TexSCR, 60, ".SCR"), mod(TexF16, 79, 2, &texHalfNames)
	offsets, nodep := flag(TexAOFFI, 76, ".AOFFI"), flag(TexNODEP, 90, ".NODEP")
	bindless := off(TexBindless, 59)
	return uniformHeaders(joinOrder([]Form{
		texture(TEX, 0xb60, compact, bindless, half, level, offsets, flag(TexDC, 78, ".DC"), evict(),
			flag(TexNDV, 77, ".NDV"), nodep),
		texture(TLD, 0xb66, compact, bindless, half, fetch, offsets, evict(), off(TexMS, 78), flag(TexCL, 77, ".CL"), nodep),
		surface(SULD, 0xb99, []Slot{pd(unlessPlain), rd(wSize), surfaceAddress()}),
		surface(SUST, 0xb9d, []Slot{surfaceAddress(), noReuse(regB("B", traits{width: wSize}))}),
		formatted(),
		surfaceReduction(),
		texture(TLD4, 0xb63, compact, mod(Fixed, 87, 2, &enum{text: []string{".R", ".G", ".B", ".A"}}), bindless, half, offsets, flag(Fixed, 77, ".PTP"),
			flag(TexDC, 78, ".DC"), evict(), nodep),
		texture(TXD, 0xb6c, bindless, half, flag(Fixed, 87, ".LC"), offsets, evict(), nodep),
		textureQuery(bindless, nodep),
	}))
}

// formatted is SUST of four components that the surface's format converts.
func formatted() Form {
	f := surface(SUST, 0xb9b, []Slot{surfaceAddress(), noReuse(regB("B", traits{width: w4}))})
	f.Mods = slices.Clone(f.Mods)
	f.Mods[0].names = &enum{text: []string{".P"}}
	f.Mods[1] = off(SurfBA, 76)
	size := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Size })
	f.Mods[size] = only(Fixed, Bits{72, 4}, 15, 0, "")
	private := slices.IndexFunc(f.Mods, func(m ModField) bool { return m.Kind == Private })
	f.Mods = slices.Delete(f.Mods, private, private+1)
	return f
}

// surfaceReduction is SURED: an atomic on a surface without a result.
func surfaceReduction() Form {
	f := surface(SURED, 0x59f, []Slot{surfaceAddress(), noReuse(regB("B", plain))})
	ops := mod(AtomOp, 87, 3, &redOps)
	types := obscureNames(73, 3, "", ".S32", ".U64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".SD32", ".SD64")
	f.Mods = slices.DeleteFunc(slices.Insert(slices.Clone(f.Mods), 3, ops, types), func(m ModField) bool { return m.Kind == Size })
	return f
}

// textureQuery is TXQ, which asks a texture header.
func textureQuery(bindless, nodep ModField) Form {
	f := texture(TXQ, 0xb6f, bindless, nodep)
	kinds := enum{text: []string{"TEX_HEADER_DIMENSION", bad, "TEX_HEADER_TEXTURE_TYPE", bad, "TEX_HEADER_SAMPLER_POS"}}
	query := Slot{Name: "query", Kind: KindImm, Bits: Bits{61, 3}, Access: Reads, names: &kinds}
	o := f.Operands
	f.Operands = []Slot{o[1], o[2], o[3], query, o[5], o[6], o[8]}
	return f
}

// uniformHeaders adds the rows of sm_90 whose header lies in the bank that a uniform register names.
func uniformHeaders(forms []Form) []Form {
	all := slices.Clone(forms)
	for _, f := range forms {
		if f.Archs&in90 == 0 {
			continue
		}
		if f.Archs, f.Operands = in90, slices.Clone(f.Operands); f.Op == SURED {
			f.Opcode |= 0xa00
		}
		f.Opcode |= 0x400
		for k := range f.Operands {
			switch s := &f.Operands[k]; s.Name {
			case "bank":
				s.Kind, s.Bits = KindUReg, Bits{40, 6}
			case "header":
				s.Bits = Bits{46, 8}
			}
		}
		f.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""))
		all = append(all, f)
	}
	return all
}

// texture is a row with two destinations, of which the first takes the components from the third on.
func texture(op Op, opcode uint16, mods ...ModField) Form {
	upper := Slot{Name: "Re", Kind: KindReg, Bits: Bits{64, 8}, Access: Writes, Width: wTexUpper, Default: RZ}
	more := noReuse(regB("B", plain))
	more.Show = unlessPlain
	return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeTEX, Variable: true, Mods: mods,
		Operands: []Slot{pd(unlessPlain), upper, rd(wTexLower), noReuse(regA(pair)), more,
			{Name: "bank", Kind: KindImm, Bits: Bits{54, 5}, Access: Reads},
			{Name: "header", Kind: KindImm, Bits: Bits{40, 14}, Access: Reads},
			{Name: "dimensions", Kind: KindImm, Bits: Bits{61, 3}, Access: Reads, names: &texDimNames},
			{Name: "components", Kind: KindImm, Bits: componentsAt, Access: Reads, Show: unlessPlain, Default: 0xf}}}
}

// componentsAt is the set of the components that a texture instruction returns.
var componentsAt = Bits{72, 4}

// surfaceAddress is a coordinate in registers.
func surfaceAddress() Slot {
	return Slot{Name: "address", Kind: KindMem, Base: Bits{24, 8}, Access: Reads, Width: w2}
}

// surface is a row of an unformatted access through a surface header in a constant bank.
func surface(op Op, opcode uint16, operands []Slot) Form {
	raw := ModField{Kind: SurfRaw, names: &enum{text: []string{".D"}, value: []uint16{1}}}
	return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeTEX, Variable: true,
		Mods: []ModField{raw, flag(SurfBA, 72, ".BA"), mod(SurfDim, 61, 3, &surfDimNames), evict(), mod(Size, 73, 3, &sizeNames),
			mod(Order, 79, 2, &storeOrders), scope(), private(), mod(SurfClamp, 59, 2, &clampNames)},
		Operands: append(operands,
			Slot{Name: "bank", Kind: KindImm, Bits: Bits{54, 5}, Access: Reads},
			Slot{Name: "header", Kind: KindImm, Bits: Bits{40, 14}, Access: Reads})}
}
