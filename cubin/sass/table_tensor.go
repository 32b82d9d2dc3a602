package sass

import "slices"

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
	return slices.Concat(forms, wholeMatrixForms(), integerMatrixForms(), bitMatrixForms(), doubleMatrixForms())
}

// wholeMatrixForms are the matrix multiply-accumulate of sm_75 and later, m16n8k4, m16n8k8 and m16n8k16 (PTX ISA, mma), and
// the transposition of an 8x8 matrix.
func wholeMatrixForms() []Form {
	movm := Form{Op: MOVM, Suffix: ".16.MT88", Opcode: 0x23a, Archs: from75, Pipe: PipeLSU, Variable: true,
		Mods: []ModField{only(Fixed, Bits{78, 2}, 0, 0, "")}, Operands: []Slot{rd(w1), noReuse(regA(plain))}}
	forms := []Form{movm}
	for _, v := range []struct {
		archs   ArchSet
		factor  int // type of the factors
		typ     uint16
		suffix  string
		code    int // of the shape: bits 75 and 78
		shape   uint16
		text    string
		a, b    widthRule
		doubled bool // D and C may be of halves
	}{
		{in75, 0, TypeF16, "", 0, Mma1688, ".1688", w2, w1, true},
		{from80, 0, TypeF16, "", 0, Mma1688, ".1688", w2, w1, true},
		{from80, 0, TypeF16, "", 1, Mma16816, ".16816", w4, w2, true},
		{from80, 1, TypeBF16, ".BF16", 0, Mma1688, ".1688", w2, w1, false},
		{from80, 1, TypeBF16, ".BF16", 1, Mma16816, ".16816", w4, w2, false},
		{from80, 2, TypeTF32, ".TF32", 2, Mma1684, ".1684", w2, w1, false},
		{from80, 2, TypeTF32, ".TF32", 0, Mma1688, ".1688", w4, w2, false},
	} {
		row := func(code int, typ uint16, text string, acc widthRule) Form {
			shape := only(MmaShape, Bits{75, 1}, v.code, v.shape, v.text)
			shape.Bits2 = Bits{78, 1}
			return Form{Op: HMMA, Opcode: 0x23c, Archs: v.archs, Pipe: PipeTensor,
				Mods: []ModField{off(Sparse, 73), shape, only(DstType, Bits{76, 1}, code, typ, text), only(SrcType, Bits{82, 2}, v.factor, v.typ, v.suffix)},
				Operands: []Slot{rd(acc), regA(traits{width: v.a, neg: true}), regB("B", traits{width: v.b, neg: true}),
					regC("C", traits{width: acc})}}
		}
		if v.doubled {
			forms = append(forms, row(0, TypeF16, ".F16", w2))
		}
		forms = append(forms, row(1, TypeF32, ".F32", w4))
	}
	return forms
}

// integerMatrixForms are IMMA: products of bytes or nibbles summed up in 32-bit integers. A is in rows, B in columns.
func integerMatrixForms() []Form {
	bytesOf := enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}}
	nibbles := enum{text: []string{".U4", ".S4"}, value: []uint16{TypeU4, TypeS4}}
	var forms []Form
	for _, v := range []struct {
		archs   ArchSet
		code    int // of the shape: bits 75, 85 and 86
		shape   uint16
		text    string
		a, b, d widthRule
		small   bool // nibbles
	}{
		{from75, 0, Mma8816, ".8816", w1, w1, w2, false},
		{from75 &^ in90, 2, Mma8832, ".8832", w1, w1, w2, true},
		{from80, 4, Mma16816, ".16816", w2, w1, w4, false},
		{from80, 5, Mma16832, ".16832", w4, w2, w4, false},
		{from80 &^ in90, 5, Mma16832, ".16832", w2, w1, w4, true},
		{from80 &^ in90, 6, Mma16864, ".16864", w4, w2, w4, true},
	} {
		names, size := &bytesOf, 0
		if v.small {
			names, size = &nibbles, 1
		}
		shape := only(MmaShape, Bits{75, 1}, v.code, v.shape, v.text)
		shape.Bits2 = Bits{85, 2}
		forms = append(forms, Form{Op: IMMA, Opcode: 0x237, Archs: v.archs, Pipe: PipeTensor,
			Mods: []ModField{off(Sparse, 72), shape, factorType(SrcType, 76, 83, size, names), factorType(SrcType2, 78, 84, size, names),
				flag(Sat, 82, ".SAT")},
			Operands: matrixOperands(v.d, v.a, v.b)})
	}
	return forms
}

// factorType is the field of an integer type: its sign at one bit, whether it has 4 bits at another.
func factorType(kind ModKind, sign, small uint8, size int, names *enum) ModField {
	e := &enum{text: []string{bad, bad, bad, bad}, value: make([]uint16, 4)}
	copy(e.text[2*size:], names.text)
	copy(e.value[2*size:], names.value)
	return ModField{Kind: kind, Bits: Bits{sign, 1}, Bits2: Bits{small, 1}, names: e}
}

// matrixOperands are D, A in rows, B in columns and C.
func matrixOperands(d, a, b widthRule) []Slot {
	layout := func(s Slot, bit uint8, code int, text string) Slot {
		e := only(Fixed, Bits{bit, 1}, code, uint16(code), text)
		s.Sel = &e
		return s
	}
	return []Slot{rd(d), layout(regA(traits{width: a}), 73, 0, ".ROW"), layout(regB("B", traits{width: b}), 74, 1, ".COL"),
		regC("C", traits{width: d})}
}

// bitMatrixForms are BMMA: the number of bits that the XOR or the AND of a row and a column has.
func bitMatrixForms() []Form {
	var forms []Form
	for _, v := range []struct {
		archs   ArchSet
		code    int
		shape   uint16
		text    string
		a, b, d widthRule
	}{
		{from75, 0, Mma88128, ".88128", w1, w1, w2},
		{from80, 1, Mma168128, ".168128", w2, w1, w4},
		{from80, 2, Mma168256, ".168256", w4, w2, w4},
	} {
		row := func(archs ArchSet, ops enum) Form {
			popc := on(Acc, 80, ".POPC")
			return Form{Op: BMMA, Opcode: 0x23d, Archs: v.archs & archs, Pipe: PipeTensor,
				Mods:     []ModField{only(MmaShape, Bits{75, 2}, v.code, v.shape, v.text), mod(MmaOp, 78, 1, &ops), popc},
				Operands: matrixOperands(v.d, v.a, v.b)}
		}
		forms = append(forms, row(in75, enum{text: []string{".XOR"}}), row(from80&^in90, enum{text: []string{".XOR", ".AND"}}),
			row(in90, enum{text: []string{bad, ".AND"}, value: []uint16{0, MmaAND}}))
	}
	return forms
}

// doubleMatrixForms are DMMA: one shape on sm_80, four on sm_90.
func doubleMatrixForms() []Form {
	row := func(archs ArchSet, code int, shape uint16, text string, a, b, d widthRule) Form {
		number := func(w widthRule) traits { return traits{neg: true, abs: true, width: w} }
		f := Form{Op: DMMA, Opcode: 0x23f, Archs: archs, Pipe: PipeTensor, Variable: true,
			Mods:     []ModField{only(MmaShape, Bits{76, 2}, code, shape, text), mod(Round, 78, 2, &roundNames)},
			Operands: []Slot{rd(d), regA(number(a)), regB("B", number(b)), regC("C", number(d))}}
		return f
	}
	return []Form{
		row(from80&^in90, 0, Mma884, ".884", w2, w2, w4),
		row(in90, 0, Mma884, ".8x8x4", w2, w2, w4),
		row(in90, 1, Mma1684, ".16x8x4", w4, w2, w8),
		row(in90, 2, Mma1688, ".16x8x8", w8, w4, w8),
		row(in90, 3, Mma16816, ".16x8x16", w16, w8, w8),
	}
}
