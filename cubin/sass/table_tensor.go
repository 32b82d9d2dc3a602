package sass

import "slices"

// tensorForms are the matrix multiply-accumulate of sm_70, which some code for sm_75 uses. Every step reads and writes one register pair of the
// accumulator.
func tensorForms() []Form {
	layout := func(s Slot, bit uint8) Slot {
		s.Width, s.Sel = w2, &ModField{Bits: Bits{bit, 1}, names: &layoutNames}
		return s
	}
	factor := traits{neg: true}
	operands := []Slot{rd(w2), layout(regA(factor), 73), layout(regB("B", factor), 74), regC("C", pair), {Name: "Pp", Kind: KindUPred, Show: never}}
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
		forms = append(forms, Form{Op: HMMA, Opcode: 0x236, Archs: in70 | in75, Pipe: PipeTensor, Variable: true, Operands: operands,
			Mods: []ModField{
				only(MmaShape, Bits{75, 1}, 0, Mma884, ".884"),
				only(DstType, Bits{76, 1}, v.types&1, v.d, v.text[0]),
				only(SrcType, Bits{78, 1}, v.types>>2, v.c, v.text[1]),
				mod(MmaStep, 79, 2, steps(v.steps)),
				flag(Sat, 77, ".SATFINITE"),
			}})
	}
	return slices.Concat(forms, wholeMatrixForms(), integerMatrixForms(), byteMatrixForms(), bitMatrixForms(), doubleMatrixForms())
}

// A product is a shape of a matrix multiply-accumulate of sm_75 and later (PTX ISA, mma) with the registers of its operands.
type product struct {
	archs   ArchSet
	code    int // of the shape, in the bits of the opcode
	shape   uint16
	text    string
	a, b, d widthRule
	sparse  bool
}

// operands are D, A, B, C, from sm_86 on a uniform predicate without which C is taken as zero, and behind them those of a sparse product: a register that
// says which two of four elements of A there are, with a bit of its own for the register-file cache, and which lanes of four
// have it.
func (p *product) operands(archs ArchSet, a, b, c Slot) []Slot {
	d := rd(p.d)
	scale := Slot{Name: "Pp", Kind: KindUPred, Show: never}
	if archs&from86 != 0 {
		scale = toUniform(predSource("Pp", Bits{87, 3}, 90))
		scale.Show, scale.Inverted = unlessPlain, true
	}
	operands := []Slot{d, a, b, c, scale}
	if p.sparse {
		elements := Slot{Name: "elements", Kind: KindReg, Bits: Bits{40, 8}, Access: Reads,
			Sel: &ModField{Bits: Bits{50, 1}, names: &keptName}}
		operands = append(operands, elements, Slot{Name: "lane", Kind: KindImm, Bits: Bits{48, 2}, Access: Reads})
	}
	return operands
}

// keptName marks a register that the register-file cache keeps.
var keptName = enum{text: []string{"", ".reuse"}}

// sparsity is the flag of a sparse product.
func (p *product) sparsity(bit uint8) ModField {
	if p.sparse {
		return on(Sparse, bit, ".SP")
	}
	return off(Sparse, bit)
}

// byPredicate returns the rows of f before and from sm_86 on, which has a predicate more.
func (p *product) byPredicate(f Form, a, b, c Slot) []Form {
	f.Archs = p.archs
	before, later := f.on(inAll&^from86), f.on(from86)
	before.Operands, later.Operands = p.operands(inAll&^from86, a, b, c), p.operands(from86, a, b, c)
	return []Form{before, later}
}

// wholeMatrixForms are the matrix multiply-accumulate of sm_75 and later and the transposition of an 8x8 matrix.
func wholeMatrixForms() []Form {
	movm := Form{Op: MOVM, Suffix: ".16.MT88", Opcode: 0x23a, Archs: from75, Pipe: PipeLSU, Variable: true,
		Mods: []ModField{only(Fixed, Bits{78, 2}, 0, 0, "")}, Operands: []Slot{rd(w1), noReuse(regA(plain))}}
	forms := []Form{movm}
	for _, v := range []struct {
		code   int
		typ    uint16
		text   string
		halves bool // D and C may be of halves
		shapes []product
	}{
		{0, TypeF16, "", true, []product{
			{archs: in75, code: 0, shape: Mma1688, text: ".1688", a: w2, b: w1},
			{archs: from80, code: 0, shape: Mma1688, text: ".1688", a: w2, b: w1},
			{archs: from80, code: 1, shape: Mma16816, text: ".16816", a: w4, b: w2},
			{archs: from80, code: 1, shape: Mma16816, text: ".16816", a: w2, b: w2, sparse: true},
			{archs: from80, code: 3, shape: Mma16832, text: ".16832", a: w4, b: w4, sparse: true},
		}},
		{1, TypeBF16, ".BF16", false, []product{
			{archs: from80, code: 0, shape: Mma1688, text: ".1688", a: w2, b: w1},
			{archs: from80, code: 1, shape: Mma16816, text: ".16816", a: w4, b: w2},
			{archs: from80, code: 1, shape: Mma16816, text: ".16816", a: w2, b: w2, sparse: true},
			{archs: from80, code: 3, shape: Mma16832, text: ".16832", a: w4, b: w4, sparse: true},
		}},
		{2, TypeTF32, ".TF32", false, []product{
			{archs: from80, code: 2, shape: Mma1684, text: ".1684", a: w2, b: w1},
			{archs: from80, code: 0, shape: Mma1688, text: ".1688", a: w4, b: w2},
			{archs: from80, code: 0, shape: Mma1688, text: ".1688", a: w2, b: w2, sparse: true},
			{archs: from80, code: 1, shape: Mma16816, text: ".16816", a: w4, b: w4, sparse: true},
		}},
	} {
		factors := only(SrcType, Bits{82, 2}, v.code, v.typ, v.text)
		for _, p := range v.shapes {
			if v.halves {
				p.d = w2
				forms = append(forms, halfMatrixRows(p, only(DstType, Bits{76, 1}, 0, TypeF16, ".F16"), factors)...)
			}
			p.d = w4
			forms = append(forms, halfMatrixRows(p, only(DstType, Bits{76, 1}, 1, TypeF32, ".F32"), factors)...)
		}
	}
	return forms
}

// halfMatrixRows are HMMA of a shape. Only sm_75 can keep its results finite.
func halfMatrixRows(p product, result, factors ModField) []Form {
	shape := only(MmaShape, Bits{75, 1}, p.code, p.shape, p.text)
	shape.Bits2 = Bits{78, 1}
	f := Form{Op: HMMA, Opcode: 0x23c, Pipe: PipeTensor,
		Mods: []ModField{p.sparsity(73), shape, result, factors}}
	if p.archs == in75 {
		f.Mods = []ModField{shape, result, factors, flag(Sat, 77, ".SATFINITE")}
	}
	return p.byPredicate(f, regA(traits{width: p.a, neg: true}), regB("B", traits{width: p.b, neg: true}), regC("C", traits{width: p.d}))
}

// integerMatrixForms are IMMA: products of bytes or nibbles summed up in 32-bit integers. A is in rows, B in columns.
func integerMatrixForms() []Form {
	bytesOf := enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}}
	nibbles := enum{text: []string{".U4", ".S4"}, value: []uint16{TypeU4, TypeS4}}
	var forms []Form
	for _, v := range []struct {
		product // its code lies in bits 75, 85 and 86
		small   bool
	}{
		{product{from75, 0, Mma8816, ".8816", w1, w1, w2, false}, false},
		{product{from75 &^ in90, 2, Mma8832, ".8832", w1, w1, w2, false}, true},
		{product{from80, 4, Mma16816, ".16816", w2, w1, w4, false}, false},
		{product{from80, 5, Mma16832, ".16832", w4, w2, w4, false}, false},
		{product{from80 &^ in90, 5, Mma16832, ".16832", w2, w1, w4, false}, true},
		{product{from80 &^ in90, 6, Mma16864, ".16864", w4, w2, w4, false}, true},
		{product{from80, 5, Mma16832, ".16832", w2, w2, w4, true}, false},
		{product{from80, 6, Mma16864, ".16864", w4, w4, w4, true}, false},
		{product{from80 &^ in90, 6, Mma16864, ".16864", w2, w2, w4, true}, true},
		{product{from80 &^ in90, 7, Mma168128, ".168128", w4, w4, w4, true}, true},
	} {
		names, size := &bytesOf, 0
		if v.small {
			names, size = &nibbles, 1
		}
		shape := only(MmaShape, Bits{75, 1}, v.code, v.shape, v.text)
		shape.Bits2 = Bits{85, 2}
		f := Form{Op: IMMA, Opcode: 0x237, Pipe: PipeTensor,
			Mods: []ModField{v.sparsity(72), shape, factorType(SrcType, 76, 83, size, names), factorType(SrcType2, 78, 84, size, names),
				flag(Sat, 82, ".SAT")}}
		forms = append(forms, v.byPredicate(f, rowsOf(v.a), columnsOf(v.b), regC("C", traits{width: v.d}))...)
	}
	return forms
}

// byteMatrixForms are QMMA: products of 8-bit floating-point numbers.
func byteMatrixForms() []Form {
	types := &enum{text: []string{".E4M3", ".E5M2"}, value: []uint16{TypeE4M3, TypeE5M2}}
	var forms []Form
	for _, p := range []product{
		{in89, 0, Mma16816, ".16816", w2, w1, w4, false},
		{in89, 1, Mma16832, ".16832", w4, w2, w4, false},
		{in89, 1, Mma16832, ".16832", w2, w2, w4, true},
		{in89, 2, Mma16864, ".16864", w4, w4, w4, true},
	} {
		row := func(d widthRule, result ModField) {
			p.d = d
			a, b := rowsOf(p.a), columnsOf(p.b)
			a.Neg, b.Neg = 72, 63
			f := Form{Op: QMMA, Opcode: 0x27a, Pipe: PipeTensor, Mods: []ModField{p.sparsity(80), only(MmaShape, Bits{75, 2}, p.code, p.shape, p.text),
				result, mod(SrcType, 78, 1, types), mod(SrcType2, 79, 1, types)}}
			if p.sparse {
				f.Mods = slices.Insert(f.Mods, 1, obscure(81, ".REGOFFSET"))
			}
			forms = append(forms, p.byPredicate(f, a, b, regC("C", traits{width: d}))...)
		}
		row(w2, only(DstType, Bits{77, 1}, 0, TypeF16, ".F16"))
		row(w4, only(DstType, Bits{77, 1}, 1, TypeF32, ".F32"))
	}
	return slices.DeleteFunc(forms, func(f Form) bool { return f.Archs == 0 })
}

// factorType is the field of an integer type: its sign at one bit, whether it has 4 bits at another.
func factorType(kind ModKind, sign, small uint8, size int, names *enum) ModField {
	e := &enum{text: []string{bad, bad, bad, bad}, value: make([]uint16, 4)}
	copy(e.text[2*size:], names.text)
	copy(e.value[2*size:], names.value)
	return ModField{Kind: kind, Bits: Bits{sign, 1}, Bits2: Bits{small, 1}, names: e}
}

// rowsOf is a matrix A in rows, columnsOf a B in columns.
func rowsOf(w widthRule) Slot {
	s, layout := regA(traits{width: w}), only(Fixed, Bits{73, 1}, 0, 0, ".ROW")
	s.Sel = &layout
	return s
}

func columnsOf(w widthRule) Slot {
	s, layout := regB("B", traits{width: w}), only(Fixed, Bits{74, 1}, 1, 1, ".COL")
	s.Sel = &layout
	return s
}

// bitMatrixForms are BMMA: the number of bits that the XOR or the AND of a row and a column has.
func bitMatrixForms() []Form {
	var forms []Form
	for _, p := range []product{
		{from75, 0, Mma88128, ".88128", w1, w1, w2, false},
		{from80, 1, Mma168128, ".168128", w2, w1, w4, false},
		{from80, 2, Mma168256, ".168256", w4, w2, w4, false},
	} {
		rows := func(archs ArchSet, bits uint8, ops enum) {
			f := Form{Op: BMMA, Opcode: 0x23d, Pipe: PipeTensor, Mods: []ModField{
				only(MmaShape, Bits{75, 2}, p.code, p.shape, p.text), mod(MmaOp, 77, bits, &ops), on(Acc, 80, ".POPC")}}
			for _, g := range p.byPredicate(f, rowsOf(p.a), columnsOf(p.b), regC("C", traits{width: p.d})) {
				forms = append(forms, g.on(archs))
			}
		}
		rows(in75, 1, enum{text: []string{".XOR"}})
		rows(from80&^in90, 2, enum{text: []string{".XOR", bad, ".AND"}, value: []uint16{MmaXOR, 0, MmaAND}})
		rows(in90, 2, enum{text: []string{bad, bad, ".AND"}, value: []uint16{0, 0, MmaAND}})
	}
	return forms
}

// doubleMatrixForms are DMMA: one shape on sm_80, four on sm_90.
func doubleMatrixForms() []Form {
	var forms []Form
	for _, p := range []product{
		{from80 &^ in90, 0, Mma884, ".884", w2, w2, w4, false},
		{in90, 0, Mma884, ".8x8x4", w2, w2, w4, false},
		{in90, 1, Mma1684, ".16x8x4", w4, w2, w8, false},
		{in90, 2, Mma1688, ".16x8x8", w8, w4, w8, false},
		{in90, 3, Mma16816, ".16x8x16", w16, w8, w8, false},
	} {
		number := func(w widthRule) traits { return traits{neg: true, abs: true, width: w} }
		f := Form{Op: DMMA, Opcode: 0x23f, Pipe: PipeTensor, Variable: true,
			Mods: []ModField{only(MmaShape, Bits{76, 2}, p.code, p.shape, p.text), mod(Round, 78, 2, &roundNames)}}
		forms = append(forms, p.byPredicate(f, regA(number(p.a)), regB("B", number(p.b)), regC("C", number(p.d)))...)
	}
	return forms
}
