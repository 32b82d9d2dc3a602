package sass

import "slices"

// uniformForms are the uniform datapath of sm_75 and later. Most of its instructions are vector instructions with bit 7
// of the opcode set, on uniform registers and predicates and without constants.
func uniformForms() []Form {
	vector := map[Op]Op{BMSK: UBMSK, IADD3: UIADD3, IMAD: UIMAD, ISETP: UISETP, LEA: ULEA, LOP3: ULOP3,
		SEL: USEL, SGXT: USGXT, SHF: USHF}
	var forms []Form
	for _, f := range slices.Concat(addForms(), multiplyForms(), logicForms(), shiftForms(), leaForms(), bitForms(), moveForms()) {
		op, ok := vector[f.Op]
		if f.Op == IMAD && f.Mods[0].Kind == HI {
			continue
		}
		if f.Op == ISETP { // UISETP is as ISETP from sm_80 on, on sm_75 too
			if f.Archs&in75 != 0 {
				continue
			}
			f.Archs |= in75
		}
		if form := f.Opcode & 0xe00; ok && f.Archs&from75 != 0 && (form == formRRR || form == formRIR || form == formRRI) {
			forms = append(forms, f.uniform(op))
		}
	}
	return slices.Concat(forms, permuteForms(), longAddForms(), uniformPredicateForms(), uniformMoveForms(), uniformBitForms(), crossingForms())
}

// uniform returns the row of the uniform instruction op that does the same as f.
func (f Form) uniform(op Op) Form {
	f.Op, f.Opcode, f.Archs, f.Pipe, f.alias = op, f.Opcode|0x80, f.Archs&from75, PipeUniform, nil
	f.Operands = slices.Clone(f.Operands)
	for k := range f.Operands {
		f.Operands[k] = toUniform(f.Operands[k])
	}
	f.Mods = append(slices.Clone(f.Mods), on(UR, 91, ""))
	return f
}

// permuteForms are UPRMT, which has no modes and no immediate as its third source.
func permuteForms() []Form {
	var forms []Form
	for _, f := range shiftForms() {
		if form := f.Opcode & 0xe00; f.Op == PRMT && (form == formRRR || form == formRIR) {
			f.Mods = []ModField{off(PrmtMode, 72)}
			forms = append(forms, f.uniform(UPRMT))
		}
	}
	return forms
}

// longAddForms are UIADD3.64 without carries, which the compilers for sm_90 write. An immediate has a sign: ptxas 12.9 adds -1 so, and puts 0xffffffff
// into a pair of registers.
func longAddForms() []Form {
	var forms []Form
	for _, f := range addForms() {
		form := f.Opcode & 0xe00
		if f.Op != IADD3 || form != formRRR && form != formRIR || f.Mods[0].names.text[0] == bad {
			continue
		}
		g := f.uniform(UIADD3)
		g.Opcode |= 7
		g.Mods = append([]ModField{{Kind: Size, names: &enum{text: []string{".64"}, value: []uint16{Size64}}}}, g.Mods...)
		for k := range g.Operands {
			switch g.Operands[k].Kind {
			case KindUReg:
				g.Operands[k].Width = w2
			case KindImm:
				g.Operands[k].Format = signed64
			}
		}
		forms = append(forms, g)
	}
	return forms
}

// uniformPredicateForms are UPLOP3, and UP2UR, which gathers uniform predicates in a register.
func uniformPredicateForms() []Form {
	var forms []Form
	for _, f := range predicateLogicForms() {
		if f.Opcode != 0x81c || f.Archs&from75 == 0 || f.Mods[0].names.text[0] == bad {
			continue
		}
		f.Op, f.Opcode, f.Pipe, f.Mods, f.Operands = UPLOP3, 0x89c, PipeUniform, nil, slices.Clone(f.Operands)
		for k := range f.Operands {
			f.Operands[k] = toUniform(f.Operands[k])
		}
		forms = append(forms, f)
	}
	gather := Form{Op: UP2UR, Opcode: 0x883, Archs: from75, Pipe: PipeUniform,
		Mods: []ModField{mod(ByteSel, 76, 2, &byteNames), on(UR, 91, "")},
		Operands: []Slot{toUniform(rd(w1)), {Name: "UPR", Kind: KindUPredSet, Access: Reads}, toUniform(regA(plain)),
			imm32("B", hex)}}
	return append(forms, gather)
}

func uniformMoveForms() []Form {
	f := Form{Archs: from75, Pipe: PipeUniform}
	dst := toUniform(rd(w1))
	move := func(opcode uint16, b Slot, mods ...ModField) Form {
		m := f.with(opcode, []Slot{dst, b})
		m.Op, m.Mods = UMOV, mods
		return m
	}
	load := f.with(0xab9, []Slot{toUniform(rd(wSize)), {Name: "constant", Kind: KindConst, Bits: Bits{38, 16},
		Bank: Bits{54, 5}, Access: Reads, Width: wSize, Format: bytes}})
	load.Op, load.Mods = ULDC, []ModField{mod(Size, 73, 3, &constSizes), off(UR, 91)}
	indexed := load.with(0xabb, slices.Clone(load.Operands))
	indexed.Operands[1].URegAt = Bits{24, 6}
	indexed.Mods = []ModField{mod(Size, 73, 3, &constSizes), on(UR, 91, "")}
	return []Form{indexed, move(0x882, imm32("B", hex)), move(0xc82, uregB("B", plain), on(UR, 91, "")), load}
}

func uniformBitForms() []Form {
	bitwiseNot := traits{not: true}
	var forms []Form
	for _, v := range []struct {
		op     Op
		opcode uint16
		t      traits
		dst    []Slot
		mods   []ModField
	}{
		{UFLO, 0x2bd, bitwiseNot, []Slot{toUniform(rd(w1)), toUniform(pd(unlessPlain))},
			[]ModField{mod(U32, 73, 1, &unsignedNames), flag(SH, 74, ".SH")}},
		{UBREV, 0x2be, plain, []Slot{toUniform(rd(w1))}, nil},
		{UPOPC, 0x2bf, bitwiseNot, []Slot{toUniform(rd(w1))}, nil},
	} {
		forms = append(forms, Form{Op: v.op, Opcode: v.opcode, Archs: from75, Pipe: PipeUniform,
			Operands: append(v.dst, uregB("B", v.t)), Mods: append(v.mods, on(UR, 91, ""))})
	}
	return forms
}

// crossingForms write uniform registers from what the lanes or the warp have.
func crossingForms() []Form {
	special := Slot{Name: "special register", Kind: KindSReg, Bits: Bits{72, 8}, Access: Reads}
	ballot := toUniform(rd(w1))
	ballot.Show = unlessPlain
	reduction := &enum{text: []string{"", ".OR", ".XOR", ".SUM", ".MIN", ".MAX"}}
	return append(readForms(), []Form{
		{Op: S2UR, Opcode: 0x9c3, Archs: from75, Pipe: PipeUniform, Variable: true, Operands: []Slot{toUniform(rd(w1)), special}},
		{Op: VOTEU, Opcode: 0x886, Archs: from75, Pipe: PipeUniform, Operands: []Slot{ballot, toUniform(pd(always)), pp()},
			Mods: []ModField{mod(VoteMode, 72, 2, &voteNames)}},
		{Op: REDUX, Opcode: 0x3c4, Archs: from80, Pipe: PipeALU, Variable: true,
			Mods:     []ModField{mod(ReduxOp, 78, 3, reduction), mod(SrcType, 73, 1, &enum{text: []string{"", ".S32"}, value: []uint16{TypeU32, TypeS32}})},
			Operands: []Slot{toUniform(rd(w1)), noReuse(regA(plain))}},
	}...)
}

// readForms are R2UR, which writes a predicate where a lane has another value.
func readForms() []Form {
	var forms []Form
	for _, v := range []struct {
		archs  ArchSet
		opcode uint16
		a      Slot
	}{{from75 &^ in90, 0x3c2, noReuse(regA(plain))}, {in90, 0x2ca, regA(plain)}} {
		row := func(s show, join ModField) Form {
			return Form{Op: R2UR, Opcode: v.opcode, Archs: v.archs, Pipe: PipeALU, Variable: true,
				Operands: []Slot{pd(s), toUniform(rd(w1)), v.a}, Mods: []ModField{join}}
		}
		forms = append(forms, row(unlessPlain, off(OrBefore, 84)), row(always, on(OrBefore, 84, ".OR")))
	}
	return forms
}
