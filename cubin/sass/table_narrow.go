package sass

import "slices"

// rareNarrowForms are F2FP whose third operand is no register, and UF2FP of the uniform datapath.
func rareNarrowForms() []Form {
	return slices.Concat(stochasticForms(), mergingForms(), uniformNarrowForms())
}

// otherwise returns f, whose opcode is the base opcode, with each of the operands that can stand at bit 32 behind tail.
func otherwise(f Form, imm, con, ureg uint16, operands func(c Slot) []Slot) []Form {
	bound := on(UR, uniformBit, "")
	high := &ModField{Bits: Bits{72, 1}, names: &halfByte}
	c := [3]Slot{imm32("C", float32s), constant("C", plain), uregB("C", plain)}
	for k := range c {
		c[k].Sel = high
	}
	uniform := f.with(f.Opcode|ureg, operands(c[2]))
	uniform.Mods = append(slices.Clone(f.Mods), bound)
	return []Form{f.with(f.Opcode|imm, operands(c[0])), f.with(f.Opcode|con, operands(c[1])), uniform.on(from75)}
}

// stochasticForms are F2FP.RS: rounding by random bits, the third operand.
func stochasticForms() []Form {
	f := Form{Op: F2FP, Opcode: 0x03e, Archs: in80 | in86 | in89, Pipe: PipeALU, Mods: []ModField{
		flag(Sat, 77, ".SATFINITE"), flag(Relu, 75, ".RELU"), mod(Merge, 78, 1, &enum{text: []string{".PACK_AB", ".MERGE_C"}}),
		only(Round, Bits{79, 3}, 4, 4, ".RS"), flag(Fixed, 82, ".REG_RS"), obscured(83, 2, ".7b", "", ".9b", ".10b"), flag(Fixed, 85, ".LTN25"),
		off(Obscure, 76),
	}}
	later := f.on(in89)
	later.Mods = append(slices.Clone(f.Mods), only(Fixed, Bits{86, 5}, 0, 0, ""))
	operands := func(c Slot) []Slot { return []Slot{rd(w1), regA(plain), secondAtC(), c} }
	return append(otherwise(f.on(in80|in86), formRRI, formRRC, formRRU, operands), otherwise(later, formRRI, formRRC, formRRU, operands)...)
}

// secondAtC is the second source where it lies in the third's place.
func secondAtC() Slot {
	s := regC("B", plain)
	s.Reuse = 2
	return s
}

// mergingForms are F2FP.MERGE_C: a half beside one of the third operand.
func mergingForms() []Form {
	round := mod(Round, 79, 3, &enum{text: []string{"", bad, bad, ".RZ"}})
	f := Form{Op: F2FP, Opcode: 0x03e, Archs: in80 | in86, Pipe: PipeALU, Mods: []ModField{
		flag(Sat, 77, ".SATFINITE"), flag(Relu, 75, ".RELU"), mod(DstType, 76, 1, &enum{text: []string{"", ".BF16"}, value: []uint16{TypeF16, TypeBF16}}),
		on(Merge, 78, ".MERGE_C"), round,
	}}
	later := f
	later.Archs, later.Mods = in89|in90, slices.Clone(f.Mods)
	later.Mods[2] = mod(DstType, 76, 1, &enum{text: []string{".F16", ".BF16"}, value: []uint16{TypeF16, TypeBF16}})
	later.Mods = append(slices.Insert(later.Mods, 3, ModField{Kind: SrcType, names: &enum{text: []string{".F32"}, value: []uint16{TypeF32}}}),
		only(Fixed, Bits{86, 5}, 0, 0, ""))
	operands := func(c Slot) []Slot { return []Slot{rd(w1), secondAtC(), c} }
	return append(otherwise(f, formRRI, formRRC, formRRU, operands), otherwise(later, formRRI, formRRC, formRRU, operands)...)
}

// byteForms are F2IP, which narrows to bytes: ptxas makes it of cvt to an integer and cvt.pack. It has no constant or immediate C.
func byteForms() []Form {
	f := Form{Op: F2IP, Opcode: 0x043, Archs: from86, Pipe: PipeXU, Operands: []Slot{rd(w1)},
		Mods: []ModField{mod(DstType, 76, 2, &enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}}), {Kind: Fixed, names: &enum{text: []string{".F32"}}},
			mod(Round, 78, 2, &enum{text: []string{"", bad, bad, ".TRUNC"}, value: []uint16{RoundRN, 0, 0, RoundRZ}}), flag(NTZ, 74, ".NTZ"), flag(Relu, 75, ".RELU")}}
	single := traits{imm: float32s}
	forms := ternary(f, single, single, single)
	for k, f := range forms {
		forms[k].Operands = slices.Clone(f.Operands)
		forms[k].Operands[3].Sel = &ModField{Bits: Bits{72, 1}, names: &halfByte}
		forms[k].opaque = forms[k].Operands[3].Kind != KindReg
	}
	return forms
}

// uniformNarrowForms are UF2FP, to bfloat16 alone.
func uniformNarrowForms() []Form {
	round := mod(Round, 79, 3, &enum{text: []string{"", bad, bad, ".RZ"}})
	d, a, b := toUniform(rd(w1)), toUniform(regA(plain)), uregB("B", plain)
	merged := toUniform(regC("C", plain))
	merged.Sel = &ModField{Bits: Bits{72, 1}, names: &halfByte}
	single := imm32("B", float32s)
	row := func(form uint16, merge int, name string, operands ...Slot) Form {
		return Form{Op: UF2FP, Opcode: 0x0ba | form, Archs: from86, Pipe: PipeUniform, Operands: append([]Slot{d}, operands...),
			Mods: []ModField{only(Merge, Bits{78, 1}, merge, uint16(merge), name), round,
				only(Fixed, Bits{75, 2}, 1, 0, ""), only(Fixed, Bits{84, 2}, 2, 0, ""), on(UR, uniformBit, "")}}
	}
	first := toUniform(regC("B", plain))
	return []Form{
		row(formRRR, 0, ".PACK_AB", a, b), row(formRRR, 1, ".MERGE_C", b, merged),
		row(formRRI, 1, ".MERGE_C", first, single),
		row(formRIR, 0, ".PACK_AB", a, single), row(formRIR, 1, ".MERGE_C", single, merged),
	}
}
