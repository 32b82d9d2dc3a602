package sass

import (
	"math/bits"
	"slices"
)

// integerForms are the integer and logic instructions.
func integerForms() []Form {
	return slices.Concat(addForms(), multiplyForms(), logicForms(), shiftForms(), leaForms(), bitForms(),
		moveForms(), absDiffForms())
}

func addForms() []Form {
	carries := []Slot{rd(w1), pd(unlessPlain), pe(unlessPlain)}
	plainAdd := Form{Op: IADD3, Opcode: 0x010, Archs: inAll, Pipe: PipeALU, Operands: carries,
		Mods: []ModField{off(X, 74)}}
	carryAdd := plainAdd
	carryAdd.Mods = []ModField{on(X, 74, ".X")}
	return slices.Concat(
		ternaryB(plainAdd, negInt, negInt, traits{neg: true}, hidden(pp(), true), hidden(pq(), true)),
		ternaryB(carryAdd, notInt, notInt, traits{not: true}, pp(), pq()),
		unary(Form{Op: IABS, Opcode: 0x013, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1)}}, signedIn),
	)
}

func multiplyForms() []Form {
	low := Form{Op: IMAD, Opcode: 0x024, Archs: inAll, Pipe: PipeFMA, alias: imadAlias,
		Operands: []Slot{rd(w1), hidden(pd(always), false)},
		Mods:     []ModField{mod(U32, 73, 1, &unsignedNames), off(X, 74)}}
	lowX := low
	lowX.alias = nil
	lowX.Mods = []ModField{mod(U32, 73, 1, &unsignedNames), on(X, 74, ".X")}
	wide := Form{Op: IMAD, Opcode: 0x025, Archs: inAll, Pipe: PipeFMA,
		Operands: []Slot{rd(w2), pd(unlessPlain)},
		Mods: []ModField{{Kind: Wide, names: &enum{text: []string{".WIDE"}, value: []uint16{1}}},
			mod(U32, 73, 1, &unsignedNames), off(X, 74)}}
	wideX := wide
	wideX.Mods = []ModField{wide.Mods[0], wide.Mods[1], on(X, 74, ".X")}
	noCarry := hidden(pp(), true)
	negPair, notPair := traits{neg: true, width: w2}, traits{not: true, width: w2}
	dot := Form{Op: IDP, Archs: inAll, Pipe: PipeFMA, Operands: []Slot{rd(w1)}}
	return slices.Concat(
		ternary(low, plain, signedIn, negInt, noCarry),
		ternary(lowX, plain, signedIn, notInt, pp()),
		withoutImmC(ternary(highWord(wide.on(from75)), plain, signedIn, negPair, noCarry)),
		withoutImmC(ternary(wide, plain, signedIn, negPair, noCarry)),
		withoutImmC(ternary(wideX, plain, signedIn, notPair, pp())),
		printOnly(withoutImmC(ternary(highWord(wideX).on(from75), plain, signedIn, notPair, pp()))...),
		withUniform(dotForms(dot, 0x026|formRRR, regB("B", plain)), formRUR),
		dotForms(dot, 0x026|formRCR, constant("B", plain)),
	)
}

// highWord turns the row of a 64-bit product into that of its high word. The addend is a register pair.
func highWord(wide Form) Form {
	wide.Opcode, wide.Operands = 0x027, []Slot{rd(w1), pd(unlessPlain)}
	wide.Mods = []ModField{{Kind: HI, names: &enum{text: []string{".HI"}, value: []uint16{1}}}, wide.Mods[1], wide.Mods[2]}
	return wide
}

// withoutImmC drops the form with an immediate as the third source, which 64-bit addends do not have.
func withoutImmC(forms []Form) []Form {
	return slices.DeleteFunc(forms, func(f Form) bool { return f.Opcode&0xe00 == formRRI })
}

// onlyImmC keeps the form with an immediate as the third source.
func onlyImmC(forms []Form) []Form {
	return slices.DeleteFunc(forms, func(f Form) bool { return f.Opcode&0xe00 != formRRI })
}

// dotForms are the modes of IDP: four products of bytes, or two of halfwords with the low or high bytes of B. From sm_75 on
// they can be subtracted from the addend's negative.
func dotForms(f Form, opcode uint16, b Slot) []Form {
	row := func(archs ArchSet, c traits) []Form {
		return dotModes(f.with(opcode, []Slot{rd(w1), regA(plain), b, regC("C", c)}).on(archs))
	}
	return slices.Concat(row(in70, plain), row(from75, traits{neg: true}))
}

func dotModes(f Form) []Form {
	var forms []Form
	for _, m := range []struct {
		text  string
		value uint16
		code  int
		a     enum
	}{
		{".4A", Idp4A, 0, enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}}},
		{".2A.LO", Idp2ALO, 1, enum{text: []string{".U16", ".S16"}, value: []uint16{TypeU16, TypeS16}}},
		{".2A.HI", Idp2AHI, 3, enum{text: []string{".U16", ".S16"}, value: []uint16{TypeU16, TypeS16}}},
	} {
		g := f
		g.Mods = []ModField{only(IdpMode, Bits{76, 2}, m.code, m.value, m.text), mod(SrcType, 73, 1, &m.a),
			mod(SrcType2, 74, 1, &enum{text: []string{".U8", ".S8"}, value: []uint16{TypeU8, TypeS8}})}
		forms = append(forms, g)
	}
	return forms
}

func logicForms() []Form {
	lut := Slot{Name: "LUT", Kind: KindImm, Bits: Bits{72, 8}}
	lanes := []ModField{mod(Lanes, 72, 2, &laneTypes), flag(Relu, 76, ".RELU")}
	return slices.Concat(
		ternaryB(Form{Op: LOP3, Suffix: ".LUT", Opcode: 0x012, Archs: inAll, Pipe: PipeALU,
			Mods: []ModField{flag(PAnd, 80, ".PAND")}, Operands: []Slot{pd(unlessPlain), rd(w1)}},
			plain, plain, plain, lut, pp()),
		binary(Form{Op: IMNMX, Opcode: 0x017, Archs: from75, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: []ModField{mod(U32, 73, 1, &unsignedNames)}}, formRIR, formRCR, plain, signedIn, pp()),
		binary(Form{Op: VIMNMX, Opcode: 0x048, Archs: in90, Pipe: PipeALU, Operands: []Slot{rd(w1), opaque(pd(always)), behind(pe(always))},
			Mods: lanes}, formRIR, formRCR, plain, signedIn, pp()),
		binary(Form{Op: VIADD, Opcode: 0x036, Archs: in90, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: []ModField{mod(Lanes, 73, 1, &enum{text: []string{"", ".16x2"}, value: []uint16{TypeS32, TypeS16x2}})}}, formRIR, formRCR, plain, traits{neg: true}),
		ternary(Form{Op: VIADDMNMX, Opcode: 0x046, Archs: in90, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: lanes}, plain, traits{neg: true}, plain, pp()),
		ternaryB(Form{Op: VIMNMX3, Opcode: 0x00f, Archs: in90, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: lanes}, plain, plain, plain, pp()),
		predicateLogicForms(),
		compareForms(),
	)
}

// compareForms are ISETP. From sm_80 on it has the predicate of the low words only where it compares the high ones.
func compareForms() []Form {
	low := predSource("Pq", Bits{68, 3}, 71)
	early := low
	early.Show = unlessPlain
	rows := func(archs ArchSet, extended ModField, low Slot) []Form {
		f := Form{Op: ISETP, Opcode: 0x00c, Archs: archs, Pipe: PipeALU, Operands: []Slot{pd(always), pe(always)},
			Mods: []ModField{mod(Compare, 76, 3, &intCompare), mod(U32, 73, 1, &unsignedNames), mod(BoolOp, 74, 2, &boolNames), extended}}
		return binary(f, formRIR, formRCR, plain, signedIn, pp(), low)
	}
	return slices.Concat(rows(in70|in75, flag(EX, 72, ".EX"), early),
		rows(from80, off(EX, 72), hidden(low, false)), rows(from80, on(EX, 72, ".EX"), low))
}

// predicateLogicForms are PLOP3: three predicates, any number of which, from the second on, may be sign bits of
// registers.
func predicateLogicForms() []Form {
	sign := func(s Slot) Slot {
		s.Sel = &ModField{names: &signNames}
		return s
	}
	pc := predSource("Pc", Bits{68, 3}, 71)
	pb := predSource("Pb", Bits{77, 3}, 80)
	pa := predSource("Pa", Bits{87, 3}, 90)
	// The LUT of Pd is split: its low three bits lie at bit 64 where no register C does.
	split := Slot{Name: "LUT", Kind: KindImm, Bits: Bits{64, 3}, Bits2: Bits{72, 5}}
	whole := Slot{Name: "LUT", Kind: KindImm, Bits: Bits{72, 8}}
	second := Slot{Name: "LUT of Pe", Kind: KindImm, Bits: Bits{16, 8}}
	f := Form{Op: PLOP3, Suffix: ".LUT", Archs: inAll, Pipe: PipeALU}
	whole3 := func(pc Slot) Form { return f.with(0x81c, []Slot{pd(always), pe(always), pa, pb, pc, split, second}) }
	uniform := whole3(toUniform(pc)).on(from75)
	uniform.Mods = []ModField{on(UR, 67, "")}
	registers := whole3(pc).on(from75)
	registers.Mods = []ModField{off(UR, 67)}
	forms := []Form{whole3(pc).on(in70), registers, uniform}
	for _, v := range []struct {
		form uint16
		b    Slot
	}{{formRRR, sign(regB("Pb", plain))}, {formRCR, sign(constant("Pb", plain))}} {
		c, a := sign(regC("Pc", plain)), sign(regA(plain))
		a.Name = "Pa"
		dest := []Slot{pd(always), pe(always)}
		forms = append(forms,
			f.with(0x01d|v.form, append(slices.Clone(dest), pa, v.b, pc, whole, second)),
			f.with(0x01e|v.form, append(slices.Clone(dest), pa, v.b, c, whole, second)),
			f.with(0x01f|v.form, append(slices.Clone(dest), a, v.b, c, whole, second)))
	}
	return forms
}

func shiftForms() []Form {
	return slices.Concat(
		ternary(Form{Op: SHF, Opcode: 0x019, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: []ModField{mod(Dir, 76, 1, &dirNames), flag(Wrap, 75, ".W"), mod(ShfType, 73, 2, &shfTypes),
				flag(HI, 80, ".HI")}},
			plain, plain, plain),
		ternary(Form{Op: PRMT, Opcode: 0x016, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1)},
			Mods: []ModField{mod(PrmtMode, 72, 3, &prmtNames)}},
			plain, plain, plain),
	)
}

// leaForms are the eight kinds of LEA: the low or high word of the sum, the high word of A a register or the sign of A,
// with and without carry in.
func leaForms() []Form {
	shift := Slot{Name: "shift", Kind: KindImm, Bits: Bits{75, 5}}
	noHigh := hidden(regC("C", plain), false)
	sign := traits{neg: true}
	carry, noCarry := pp(), hidden(pp(), true)
	row := func(mods ...ModField) Form {
		return Form{Op: LEA, Opcode: 0x011, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1), pd(unlessPlain)},
			Mods: mods}
	}
	low, high := off(HI, 80), on(HI, 80, ".HI")
	noX, x := off(X, 74), on(X, 74, ".X")
	noSX, sx := off(SX32, 73), on(SX32, 73, ".SX32")
	not := traits{not: true}
	var forms []Form
	for _, v := range []struct {
		f     Form
		t     traits
		tail  []Slot
		three bool
	}{
		{row(low, noX, noSX), sign, []Slot{noHigh, shift, noCarry}, false},
		{row(low, x, noSX), not, []Slot{noHigh, shift, carry}, false},
		{row(high, noX, sx), sign, []Slot{noHigh, shift, noCarry}, false},
		{row(high, x, sx), not, []Slot{noHigh, shift, carry}, false},
		{row(high, noX, noSX), sign, []Slot{shift, noCarry}, true},
		{row(high, x, noSX), not, []Slot{shift, carry}, true},
	} {
		if v.three {
			forms = append(forms, ternaryB(v.f, v.t, v.t, plain, v.tail...)...)
			v.f.Mods = v.f.Mods[:2] // without .SX32
			forms = append(forms, onlyImmC(ternaryC(v.f, v.t, plain, plain, v.tail...))...)
		} else {
			forms = append(forms, binary(v.f, formRIR, formRCR, v.t, v.t, v.tail...)...)
		}
	}
	return forms
}

func bitForms() []Form {
	field := func(op Op, opcode uint16, mods ...ModField) []Form {
		return binary(Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeALU, Mods: mods, Operands: []Slot{rd(w1)}},
			formRIR, formRCR, plain, plain)
	}
	count := func(op Op, opcode uint16, t traits, dst []Slot, mods ...ModField) []Form {
		return withoutReuse(unary(Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeXU, Variable: true, Mods: mods,
			Operands: dst}, t))
	}
	bitwiseNot := traits{not: true}
	return slices.Concat(
		field(SGXT, 0x01a, flag(Wrap, 75, ".W"), mod(U32, 73, 1, &unsignedNames)),
		field(BMSK, 0x01b, flag(Wrap, 75, ".W")),
		count(FLO, 0x100, bitwiseNot, []Slot{rd(w1), pd(unlessPlain)}, mod(U32, 73, 1, &unsignedNames), flag(SH, 74, ".SH")),
		count(BREV, 0x101, plain, []Slot{rd(w1)}),
		count(POPC, 0x109, bitwiseNot, []Slot{rd(w1)}),
	)
}

// allPredicates is the mask of R2P that goes without saying.
const allPredicates = 0xff

func moveForms() []Form {
	lanes := Slot{Name: "lane mask", Kind: KindImm, Bits: Bits{72, 4}, Show: unlessPlain, Default: 0xf}
	written := Slot{Name: "PR", Kind: KindPredSet, Access: Writes}
	selected := regA(plain)
	selected.Sel = &ModField{Bits: Bits{76, 2}, names: &byteNames}
	var toPreds []Form
	for _, v := range []struct {
		form  uint16
		shape byte
	}{{formRRR, 'R'}, {formRIR, 'I'}, {formRCR, 'C'}} {
		mask := b("B", v.shape, plain)
		if v.shape == 'I' {
			mask.Show, mask.Default = unlessPlain, allPredicates
		}
		toPreds = append(toPreds, Form{Op: R2P, Opcode: 0x004 | v.form, Archs: inAll, Pipe: PipeALU,
			Operands: []Slot{written, selected, mask}})
	}
	return slices.Concat(
		unary(Form{Op: MOV, Opcode: 0x002, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1)}}, plain, lanes),
		binary(Form{Op: SEL, Opcode: 0x007, Archs: inAll, Pipe: PipeALU, Operands: []Slot{rd(w1)}},
			formRIR, formRCR, plain, plain, pp()),
		fromPreds(before90, signedIn), fromPreds(in90, plain),
		toPreds,
	)
}

// fromPreds are P2R, whose mask prints with a sign before sm_90.
func fromPreds(archs ArchSet, mask traits) []Form {
	return binary(Form{Op: P2R, Opcode: 0x003, Archs: archs, Pipe: PipeALU,
		Operands: []Slot{rd(w1), {Name: "PR", Kind: KindPredSet, Access: Reads}},
		Mods:     []ModField{mod(ByteSel, 76, 2, &byteNames)}}, formRIR, formRCR, plain, mask)
}

func absDiffForms() []Form {
	dst := []Slot{rd(w1), pd(unlessPlain)}
	return slices.Concat(
		ternary(Form{Op: VABSDIFF, Opcode: 0x014, Archs: inAll, Pipe: PipeALU, Operands: dst,
			Mods: []ModField{mod(U32, 73, 1, &unsignedNames)}}, plain, plain, plain),
		ternary(Form{Op: VABSDIFF4, Opcode: 0x015, Archs: inAll, Pipe: PipeALU, Operands: dst,
			Mods: []ModField{mod(U32, 73, 1, &unsigned8), flag(Acc, 75, ".ACC")}}, plain, plain, plain),
	)
}

// imadAlias returns the spelling that nvdisasm gives an IMAD that only moves, adds or shifts.
func imadAlias(i *Inst) string {
	a, b, c := &i.Operands[2], &i.Operands[3], &i.Operands[4]
	if i.Form.opaque || b.Kind == KindUReg || c.Kind == KindUReg {
		return ""
	}
	one := b.Kind == KindImm && b.Imm == 1
	switch {
	case a.isZero(), b.isZero(), one && c.isZero():
		return ".MOV"
	case one:
		return ".IADD"
	case b.Kind == KindImm && bits.OnesCount32(uint32(b.Imm)) == 1 && b.Imm != 1<<16 && b.Imm != 1<<31 && c.isZero():
		return ".SHL"
	}
	return ""
}

// isZero reports whether the operand is RZ or the immediate 0.
func (o *Operand) isZero() bool {
	return o.Kind == KindReg && o.Reg == RZ || o.Kind == KindImm && o.Imm == 0
}
