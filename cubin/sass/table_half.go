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
		binary(f(HSET2, 0x033, dst, flag(BF, 71, ".BF"), compare, flush, boolOp), formRRI, formRRC, half, half, pp()),
		binary(f(HSETP2, 0x034, setp, compare, flag(HAnd, 71, ".H_AND"), flush, boolOp), formRRI, formRRC, half, half, pp()),
	))...)
}

// bfloat adds to rows of packed half precision those of bfloat16 on sm_80 and later, which have no immediates here.
func bfloat(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		if f.Op == HSET2 || f.Op == HSETP2 {
			all = append(all, f)
			continue
		}
		narrow, wide := f.on(from80), f.on(from80)
		narrow.Mods = append([]ModField{off(BF16, 85)}, f.Mods...)
		wide.Mods = append([]ModField{on(BF16, 85, ".BF16_V2")}, f.Mods...)
		all = append(all, f.on(in70|in75), narrow)
		if !slices.ContainsFunc(f.Operands, func(s Slot) bool { return s.Kind == KindImm }) {
			all = append(all, wide)
		}
	}
	return slices.DeleteFunc(all, func(f Form) bool { return f.Archs == 0 })
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
	return append(forms, wholeMatrixForms()...)
}

// wholeMatrixForms are the matrix multiply-accumulate of sm_75 and later, m16n8k8 and m16n8k16 (PTX ISA, mma), and the
// transposition of an 8x8 matrix.
func wholeMatrixForms() []Form {
	movm := Form{Op: MOVM, Suffix: ".16.MT88", Opcode: 0x23a, Archs: from75, Pipe: PipeLSU, Variable: true,
		Operands: []Slot{rd(w1), noReuse(regA(plain))}}
	forms := []Form{movm}
	for _, v := range []struct {
		archs ArchSet
		code  int
		shape uint16
		text  string
		a, b  widthRule
	}{
		{from75, 0, Mma1688, ".1688", w2, w1},
		{from80, 1, Mma16816, ".16816", w4, w2},
	} {
		row := func(code int, typ uint16, text string, acc widthRule, mods ...ModField) Form {
			return Form{Op: HMMA, Opcode: 0x23c, Archs: v.archs, Pipe: PipeTensor,
				Mods: append([]ModField{only(MmaShape, Bits{75, 1}, v.code, v.shape, v.text),
					only(DstType, Bits{76, 1}, code, typ, text)}, mods...),
				Operands: []Slot{rd(acc), regA(traits{width: v.a}), regB("B", traits{width: v.b}), regC("C", traits{width: acc})}}
		}
		forms = append(forms, row(0, TypeF16, ".F16", w2, only(SrcType, Bits{82, 2}, 0, TypeF16, "")),
			row(1, TypeF32, ".F32", w4, mod(SrcType, 82, 2, &factorTypes)))
	}
	return forms
}

// factorTypes are the types of the factors of HMMA with single-precision sums.
var factorTypes = enum{text: []string{"", ".BF16"}, value: []uint16{TypeF16, TypeBF16}}
