package sass

// packedFloatForms are sums and products of two numbers of single precision at once, in pairs of registers (add.f32x2 and the like of
// PTX), which sm_100 has. A selector says which register of a source is the low number and which the high one, or that one register is
// both; the first source and the summand can have the high number negated beside. An immediate is both numbers, whatever the place of
// its selector holds: ptxas puts the one there that says so.
func packedFloatForms() []Form {
	of := traits{neg: true, abs: true, imm: float32s, width: wPair}
	selected := func(s Slot, at, sign Bits) Slot {
		signed := sign.N != 0
		switch {
		case s.Kind != KindImm && signed:
			s.Sel = &ModField{Bits: at, Bits2: sign, names: &pairSignNames}
		case s.Kind != KindImm:
			s.Sel = &ModField{Bits: at, names: &pairNames}
		case signed:
			s.Sel = &ModField{Bits: sign, names: &enum{text: []string{"", ".NP"}, value: []uint16{0, uint16(PairNegHigh)}}}
		}
		return s
	}
	selector := func(at Bits) Slot {
		return Slot{Name: "selector", Kind: KindImm, Bits: at, Show: never, Default: uint64(PairOne)}
	}
	none := Slot{Name: "selector", Kind: KindImm, Show: never}
	first, factor, summand, sign := Bits{81, 2}, Bits{87, 2}, Bits{84, 2}, Bits{86, 1}
	a := selected(regA(of), first, Bits{83, 1})
	times := func(s Slot) Slot { return selected(s, factor, Bits{}) }
	plus := func(s Slot) Slot { return selected(s, summand, sign) }
	atC := regC("B", of) // the second source where an immediate or a uniform register is the third
	atC.Reuse = 2
	added := regB("B", of) // that of a sum counts as the third
	added.Reuse = 3
	single := func(name string) Slot { return imm32(name, float32s) }

	denormals, flush, round, bound := split(FTZ, 76, 80, &fmzNames), mod(FTZ, 80, 1, &ftzNames), mod(Round, 78, 2, &roundNames), on(UR, uniformBit, "")
	row := func(op Op, opcode uint16, ftz ModField, sources ...Slot) Form {
		f := Form{Op: op, Opcode: opcode, Archs: datacenterBlackwell, Pipe: PipeFMA, Operands: append([]Slot{rd(w2), a}, sources...), Mods: []ModField{ftz, round}}
		for _, s := range sources {
			if s.Kind == KindUReg {
				f.Mods = append(f.Mods, bound)
			}
		}
		return f
	}
	fma := func(form uint16, sources ...Slot) Form { return row(FFMA2, 0x049|form, denormals, sources...) }
	mul := func(form uint16, sources ...Slot) Form { return row(FMUL2, 0x04a|form, denormals, sources...) }
	add := func(form uint16, sources ...Slot) Form { return row(FADD2, 0x04b|form, flush, sources...) }
	return []Form{
		fma(formRRR, times(regB("B", of)), plus(regC("C", of)), none),
		fma(formRIR, times(single("B")), plus(regC("C", of)), selector(factor)),
		fma(formRUR, times(uregB("B", of)), plus(regC("C", of)), none),
		fma(formRRI, times(atC), plus(single("C")), selector(summand)),
		fma(formRRU, times(atC), plus(uregB("C", of)), none),
		mul(formRRR, times(regB("B", of)), none),
		mul(formRIR, times(single("B")), selector(factor)),
		mul(formRUR, times(uregB("B", of)), none),
		add(formRRR, plus(added), none),
		add(formRRI, plus(single("B")), selector(summand)),
		add(formRRU, plus(uregB("B", of)), none),
	}
}
