package sass

import "slices"

// floatForms are single-precision arithmetic and MUFU.
func floatForms() []Form {
	f := func(op Op, opcode uint16, p Pipe, dst []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: p, Operands: dst, Mods: mods}
	}
	dst := []Slot{rd(w1)}
	setp := []Slot{pd(always), pe(always)}
	denormals := split(FTZ, 76, 80, &fmzNames)
	flush := mod(FTZ, 80, 1, &ftzNames)
	round := mod(Round, 78, 2, &roundNames)
	sat := flag(Sat, 77, ".SAT")
	compare := mod(Compare, 76, 4, &floatCompare)
	boolOp := mod(BoolOp, 74, 2, &boolNames)
	one := ModField{Kind: BF, names: &enum{text: []string{".BF"}, value: []uint16{1}}}
	mufu := f(MUFU, 0x108, PipeXU, dst, mod(MufuFn, 74, 4, &mufuNames))
	mufu.Variable = true
	later := mufu.on(from75)
	mufu = mufu.on(in70)
	later.Mods = []ModField{mod(MufuFn, 74, 4, &mufuNames75), only(SrcType, Bits{72, 2}, 0, TypeF32, "")}
	mufu64 := mufu // of the high word of a double
	mufu64.Archs, mufu64.Mods = inAll, []ModField{mod(MufuFn, 74, 4, &mufu64Names)}
	high := double
	high.width = w1
	check := f(FCHK, 0x102, PipeXU, []Slot{pd(always)})
	check.Variable = true
	return slices.Concat(
		binary(f(FADD, 0x021, PipeFMA, dst, flush, round, sat), formRRI, formRRC, float, float),
		binary(f(FMUL, 0x020, PipeFMA, dst, denormals, mod(Scale, 84, 3, &scaleNames), round, sat),
			formRIR, formRCR, float, float),
		ternary(f(FFMA, 0x023, PipeFMA, dst, denormals, round, sat), float, float, float),
		binary(f(FSEL, 0x008, PipeALU, dst, flush), formRIR, formRCR, float, float, pp()),
		minimumForms(f(FMNMX, 0x009, PipeALU, dst, flush), float),
		binary(f(FSET, 0x00a, PipeALU, dst, one, compare, flush, boolOp), formRIR, formRCR, float, float, pp()),
		binary(f(FSETP, 0x00b, PipeALU, setp, compare, flush, boolOp), formRIR, formRCR, float, float, pp()),
		withoutReuse(binary(check, formRIR, formRCR, float, float)),
		withoutReuse(unary(mufu, float)),
		withoutReuse(unary(later, float)),
		halfFunctionForms(later),
		withoutReuse(unary(mufu64, high)),
	)
}

// halfFunctionForms are MUFU of a half of a register, which becomes a half.
func halfFunctionForms(f Form) []Form {
	row := func(archs ArchSet, code int, typ uint16, text string, imm format) []Form {
		g := f.on(archs)
		g.Mods = []ModField{f.Mods[0], only(SrcType, Bits{72, 2}, code, typ, text)}
		forms := withoutReuse(unary(g, traits{neg: true, abs: true, imm: imm}))
		for k := range forms {
			if b := &forms[k].Operands[1]; b.Kind != KindImm {
				b.Sel = &ModField{Bits: Bits{60, 2}, names: &halfByte}
			}
		}
		return forms
	}
	return slices.Concat(row(from75&^in90, 2, TypeF16, ".F16", float16), row(in90, 1, TypeF16, ".F16", float16),
		row(in90, 2, TypeBF16, ".BF16", bfloat16))
}

// minimumForms are a minimum or maximum of floating-point numbers. From sm_80 on it can be a NaN where one of them is,
// from sm_86 on have the XOR of their signs. On sm_90 it can say in predicates which source it took.
func minimumForms(f Form, t traits) []Form {
	rows := func(f Form) []Form { return binary(f, formRIR, formRCR, t, t, pp()) }
	ampere, ada, hopper, which := f.on(in80), f.on(in86|in89), f.on(in90), f.on(in90)
	ampere.Mods = append(slices.Clone(f.Mods), flag(NaN, 81, ".NAN"))
	ada.Mods = append(slices.Clone(ampere.Mods), flag(XorSign, 82, ".XORSIGN"))
	hopper.Mods = append(slices.Clone(ada.Mods), off(Obscure, 65))
	which.Mods = append(slices.Clone(ada.Mods), on(Obscure, 65, ".IS_A"))
	which.Operands = append(slices.Clone(f.Operands), predDest("Pd", 66, always))
	if f.Op == HMNMX2 {
		single := []ModField{obscure(78, ".F32")}
		ampere.Mods, ada.Mods = append(single, ampere.Mods...), append(single, ada.Mods...)
		which.Operands = append(which.Operands, predDest("Pe", 69, always))
	}
	return slices.Concat(rows(f.on(in70|in75)), rows(ampere), rows(ada), rows(hopper), printOnly(rows(which)...))
}

// doubleForms are double-precision arithmetic. On sm_70 its latency varies: consumers wait for a counter.
func doubleForms() []Form {
	f := func(op Op, opcode uint16, dst []Slot, mods ...ModField) Form {
		return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeFP64, Variable: true, Operands: dst, Mods: mods}
	}
	dst := []Slot{rd(w2)}
	round := mod(Round, 78, 2, &roundNames)
	// The second register of DADD lies where other instructions have their third.
	add := f(DADD, 0x029, dst, round)
	adds := []Form{
		add.with(0x029|formRRR, []Slot{rd(w2), regA(double), regC("B", double)}),
		add.with(0x029|formRRI, []Slot{rd(w2), regA(double), b("B", 'I', double)}),
		add.with(0x029|formRRC, []Slot{rd(w2), regA(double), b("B", 'C', double)}),
	}
	return slices.Concat(
		withUniform(adds, formRRU),
		binary(f(DMUL, 0x028, dst, round), formRIR, formRCR, double, double),
		ternary(f(DFMA, 0x02b, dst, round), double, double, double),
		binary(f(DSETP, 0x02a, []Slot{pd(always), pe(always)}, mod(Compare, 76, 4, &doubleCompare),
			mod(BoolOp, 74, 2, &boolNames)), formRRI, formRRC, double, double, pp()),
	)
}
