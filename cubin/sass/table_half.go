package sass

import "slices"

// halfForms are packed half-precision arithmetic.
func halfForms() []Form {
	f := func(op Op, opcode uint16, dst []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: in70, Pipe: PipeFP16, Operands: dst, Mods: mods}
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
		binary(f(HADD2, 0x030, dst, out, flush, sat), formRRI, formRRC, half, half),
		binary(f(HMUL2, 0x032, dst, out, denormals, sat), formRIR, formRCR, half, half),
		ternary(f(HFMA2, 0x031, dst, out, denormals, sat), half, half, half),
		binary(f(HSET2, 0x033, dst, flag(BF, 71, ".BF"), compare, flush, boolOp), formRRI, formRRC, half, half, pp()),
		binary(f(HSETP2, 0x034, setp, compare, flag(HAnd, 71, ".H_AND"), flush, boolOp), formRRI, formRRC, half, half, pp()),
	)
}

// tensorForms are the matrix multiply-accumulate of sm_70. Every step reads and writes one register pair of the
// accumulator.
func tensorForms() []Form {
	layout := func(s Slot, bit uint8) Slot {
		s.Width, s.Sel = w2, &ModField{Bits: Bits{bit, 1}, names: &layoutNames}
		return s
	}
	factor := traits{neg: true}
	operands := []Slot{rd(w2), layout(regA(factor), 73), layout(regB("B", factor), 74), regC("C", pair)}
	steps := func(n int) *enum {
		return &enum{text: []string{".STEP0", ".STEP1", ".STEP2", ".STEP3"}[:n]}
	}
	var forms []Form
	for _, v := range []struct {
		types int // bit 0: the result is F32; bit 2: so is the addend
		d, c  uint16
		text  [2]string
		steps int
	}{
		{0, TypeF16, TypeF16, [2]string{".F16", ".F16"}, 2},
		{1, TypeF32, TypeF16, [2]string{".F32", ".F16"}, 4},
		{5, TypeF32, TypeF32, [2]string{".F32", ".F32"}, 4},
	} {
		forms = append(forms, Form{Op: HMMA, Opcode: 0x236, Archs: in70, Pipe: PipeTensor, Variable: true, Operands: operands,
			Mods: []ModField{
				only(MmaShape, Bits{75, 1}, 0, Mma884, ".884"),
				only(DstType, Bits{76, 1}, v.types&1, v.d, v.text[0]),
				only(SrcType, Bits{78, 1}, v.types>>2, v.c, v.text[1]),
				mod(MmaStep, 79, 2, steps(v.steps)),
				flag(Sat, 77, ".SATFINITE"),
			}})
	}
	return forms
}
