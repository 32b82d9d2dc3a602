package sass

import "slices"

// halfForms are packed half-precision arithmetic.
func halfForms() []Form {
	f := func(op Op, opcode uint16, dst []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeFP16, Operands: dst, Mods: mods}
	}
	dst := []Slot{rd(w1)}
	setp := []Slot{pd(always), pe(always)}
	denormals := split(FTZ, 76, 80, &fmzNames)
	flush := mod(FTZ, 80, 1, &ftzNames)
	out := mod(OutF32, 78, 1, &outNames)
	sat := flag(Sat, 77, ".SAT")
	compare := mod(Compare, 76, 4, &floatCompare)
	boolOp := mod(BoolOp, 69, 2, &boolNames)
	return slices.Concat(
		sums(f(HADD2, 0x030, dst, out, flush, sat)),
		brain(binary(f(HMUL2, 0x032, dst, out, denormals, sat), formRIR, formRCR, half, half), in90),
		fusedForms(f(HFMA2, 0x031, dst, out, denormals, sat)),
		brain(minimumForms(f(HMNMX2, 0x040, dst, flush).on(from80), half), from80),
		printOnly(brain(minimumOfThreeForms(f(VHMNMX, 0x047, dst, off(OutF32, 78), flush, flag(NaN, 81, ".NAN"), flag(XorSign, 82, ".XORSIGN")).on(in90)), in90)...),
		brain(binary(f(HSET2, 0x033, dst, flag(BF, 71, ".BF"), compare, flush, boolOp), formRRI, formRRC, half, half, pp()), in90),
		brain(binary(f(HSETP2, 0x034, setp, compare, flag(HAnd, 71, ".H_AND"), flush, boolOp), formRRI, formRRC, half, half, pp()), in90),
	)
}

// minimumOfThreeForms are VHMNMX. Its second source alone can be an immediate or a constant.
func minimumOfThreeForms(f Form) []Form {
	halves := enum{text: []string{"", bad, ".H0_H0", ".H1_H1"}}
	forms := ternaryB(f, half, half, half, pp())
	for k := range forms {
		o := forms[k].Operands
		for n := range o {
			if o[n].Sel != nil {
				o[n].Sel = &ModField{Bits: o[n].Sel.Bits, names: &halves}
			}
		}
		o[len(o)-2].Sel.Bits = Bits{76, 2}
	}
	return forms
}

// sums are HADD2. From sm_86 on a sum in single precision has no absolute value of its first source and half an immediate.
func sums(f Form) []Form {
	first, singleHalf := half, half
	first.abs, singleHalf.imm = false, float16
	packed, single := f.on(from86), f.on(from86)
	packed.Mods, single.Mods = slices.Clone(f.Mods), slices.Clone(f.Mods)
	packed.Mods[0], single.Mods[0] = off(OutF32, 78), on(OutF32, 78, ".F32")
	return brain(slices.Concat(binary(f.on(in70|in75|in80), formRRI, formRRC, half, half),
		binary(packed, formRRI, formRRC, half, half), binary(single, formRRI, formRRC, first, singleHalf)), in90)
}

// fusedForms are HFMA2 and, from sm_80 on, HFMA2.MMA, which has no selectors.
func fusedForms(f Form) []Form {
	packed := traits{neg: true, abs: true, packed: true, imm: float16s}
	second := half
	second.negHigh = true
	unbounded := f.on(in90)
	unbounded.Mods = slices.Clone(f.Mods)
	unbounded.Mods[1] = only(Obscure, Bits{76, 1}, 3, 1, ".OOB")
	unbounded.Mods[1].Bits2 = Bits{80, 1}
	mma := f.on(from80)
	mma.Suffix, mma.Opcode, mma.Pipe, mma.Mods = ".MMA", 0x035, PipeFMA, f.Mods[1:]
	return slices.Concat(
		ternary(f.on(in70|in75), half, half, half, Slot{Name: "Pp", Kind: KindPred, Show: never}),
		brain(clamped(f.on(in80), half, half), from80),
		brain(clamped(f.on(from86), second, half), from80),
		printOnly(brain(clamped(unbounded, second, half), from80)...),
		brain(clamped(mma, packed, packed), in90))
}

// clamped are the rows of HFMA2 from sm_80 on without and with .RELU. With it nvdisasm names a predicate of unknown meaning.
func clamped(f Form, second, others traits) []Form {
	bare, relu := f, f
	bare.Mods = append(slices.Clone(f.Mods), off(Relu, 79))
	relu.Mods = append(slices.Clone(f.Mods), on(Relu, 79, ".RELU"))
	return slices.Concat(ternary(bare, others, second, others, Slot{Name: "Pp", Kind: KindPred, Show: never}),
		ternary(relu, others, second, others, opaque(pp())))
}

// brain adds to rows of packed half precision those of bfloat16 on the architectures of archs.
func brain(forms []Form, archs ArchSet) []Form {
	at := Bits{78, 1} // of .F32, with .BF16_V2 above
	var all []Form
	for _, f := range forms {
		all = append(all, f.on(inAll&^archs))
		narrow, wide := f.on(archs), f.on(archs)
		bits := only(BF16, Bits{85, 1}, 1, 1, ".BF16_V2")
		if f.Op == HSET2 || f.Op == HSETP2 {
			bits = only(BF16, Bits{64, 2}, 2, 1, ".BF16_V2")
		}
		none := only(BF16, bits.Bits, 0, 0, "")
		narrow.Mods = append([]ModField{none}, f.Mods...)
		wide.Mods = append([]ModField{bits}, f.Mods...)
		possible := true // bfloat16 has no results in single precision
		for k := range wide.Mods {
			if m := &wide.Mods[k]; m.Bits == at {
				_, possible = m.names.lookup(0)
				*m = off(OutF32, at.Lo)
			}
		}
		wide.Operands = slices.Clone(f.Operands)
		for k := range wide.Operands {
			if s := &wide.Operands[k]; s.Kind == KindImm {
				s.Format = bfloat16s
			}
		}
		if all = append(all, narrow); possible {
			all = append(all, wide)
		}
	}
	return slices.DeleteFunc(all, func(f Form) bool { return f.Archs == 0 })
}
