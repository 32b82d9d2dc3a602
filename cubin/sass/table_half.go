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
	mma := traits{neg: true, abs: true, packed: true, imm: float16s}
	fused := Form{Op: HFMA2, Suffix: ".MMA", Opcode: 0x035, Archs: from80, Pipe: PipeFMA, Operands: dst}
	return append(bfloat(ternary(fused, mma, mma, mma)), bfloat(slices.Concat(
		binary(f(HADD2, 0x030, dst, out, flush, sat), formRRI, formRRC, half, half),
		binary(f(HMUL2, 0x032, dst, out, denormals, sat), formRIR, formRCR, half, half),
		ternary(f(HFMA2, 0x031, dst, out, denormals, sat), half, half, half),
		minimumForms(f(HMNMX2, 0x040, dst, flush).on(from80), half),
		binary(f(HSET2, 0x033, dst, flag(BF, 71, ".BF"), compare, flush, boolOp), formRRI, formRRC, half, half, pp()),
		binary(f(HSETP2, 0x034, setp, compare, flag(HAnd, 71, ".H_AND"), flush, boolOp), formRRI, formRRC, half, half, pp()),
	))...)
}

// bfloat adds to rows of packed half precision those of bfloat16 on sm_80 and later.
func bfloat(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		if f.Op == HSET2 || f.Op == HSETP2 {
			all = append(all, f)
			continue
		}
		narrow, wide := f.on(from80), f.on(from80)
		if f.Op == HADD2 || f.Op == HMUL2 { // sums and products are fused ones before
			wide = f.on(in90)
		}
		narrow.Mods = append([]ModField{off(BF16, 85)}, f.Mods...)
		wide.Mods = append([]ModField{on(BF16, 85, ".BF16_V2")}, f.Mods...)
		all = append(all, f.on(in70|in75), narrow)
		wide.Operands = slices.Clone(f.Operands)
		for k := range wide.Operands {
			if s := &wide.Operands[k]; s.Kind == KindImm {
				s.Format = bfloat16s
			}
		}
		all = append(all, wide)
	}
	return slices.DeleteFunc(all, func(f Form) bool { return f.Archs == 0 })
}
