package sass

import "slices"

// controlForms are branches, barriers and what else steers warps.
func controlForms() []Form {
	return slices.Concat(splitTargets(slices.Concat(branchForms(), callForms())), convergenceForms(), blockBarrierForms(),
		warpForms(), collectiveForms())
}

// splitTargets moves the low 8 bits of code addresses to bit 16 on sm_90.
func splitTargets(forms []Form) []Form {
	var all []Form
	for _, f := range forms {
		k := slices.IndexFunc(f.Operands, func(s Slot) bool { return s.Kind == KindTarget })
		if k < 0 || f.Operands[k].Show == never || f.Archs&in90 == 0 {
			all = append(all, f)
			continue
		}
		if old := f.on(before90); old.Archs != 0 {
			all = append(all, old)
		}
		f = f.on(in90)
		f.Operands = slices.Clone(f.Operands)
		f.Operands[k] = splitTarget(f.Operands[k])
		all = append(all, f)
	}
	return all
}

func splitTarget(t Slot) Slot {
	t.Bits, t.Bits2 = Bits{16, 8}, t.Bits
	return t
}

// collectiveForms are WARPSYNC and what belongs to it on sm_90.
func collectiveForms() []Form {
	mask := noReuse(regA(plain))
	mask.Name = "B"
	none := Slot{Name: "B", Kind: KindReg, Show: never}
	everyone := ModField{Kind: Fixed, names: &enum{text: []string{".ALL"}}}
	collective := only(Collective, Bits{85, 2}, 2, 1, ".COLLECTIVE")
	alone := only(Collective, Bits{85, 2}, 0, 0, "")
	place := splitTarget(target(relative))
	return []Form{
		control(WARPSYNC, 0x948, []Slot{cond()}, alone, everyone).on(in90),
		control(WARPSYNC, 0x348, []Slot{cond(), mask}, alone).on(in90),
		control(WARPSYNC, 0x348, []Slot{cond(), mask}, only(Exclusive, Bits{85, 2}, 1, 1, ".EXCLUSIVE")).on(in90),
		control(WARPSYNC, 0x348, []Slot{cond(), mask, place}, collective).on(in90),
		control(WARPSYNC, 0x948, []Slot{cond(), none, place}, collective, everyone).on(in90),
		control(ENDCOLLECTIVE, 0x91b, []Slot{cond()}).on(in90),
	}
}

// control is the beginning of a row of the branch unit.
func control(op Op, opcode uint16, operands []Slot, mods ...ModField) Form {
	return Form{Op: op, Opcode: opcode, Archs: inAll, Pipe: PipeCBU, Operands: operands, Mods: mods}
}

// target is a code address of 48 bits.
func target(f format) Slot {
	return Slot{Name: "target", Kind: KindTarget, Bits: Bits{34, 48}, Access: Reads, Format: f}
}

// absoluteTarget is a code address of 47 bits that does not depend on the instruction's own.
func absoluteTarget() Slot {
	t := target(absolute)
	t.Bits.N = 47
	return t
}

// offset is a code address printed behind a register and only when it is not zero.
func offset(f format) Slot {
	t := joined(target(f))
	t.Show = unlessPlain
	return t
}

// codeRegister is a register pair that holds a code address.
func codeRegister() Slot {
	s := noReuse(regA(pair))
	s.Kind = KindLabelReg
	return s
}

// codeConstant is a constant that holds a code address. Its offset counts bytes before sm_80.
func codeConstant(archs ArchSet) Slot {
	s := constant("A", pair)
	if archs&from80 == 0 {
		s.Bits, s.Format = Bits{38, 16}, bytes
	}
	return s
}

// on returns f for the architectures of archs only.
func (f Form) on(archs ArchSet) Form {
	f.Archs &= archs
	return f
}

func branchForms() []Form {
	depth, mode := mod(CallInc, 85, 2, &depthNames), mod(BraMode, 32, 2, &braNames)
	lanes := Slot{Name: "lane mask", Kind: KindUReg, Bits: Bits{24, 6}, Not: 30, Access: Reads, Default: URZ}
	return slices.Concat(
		anyLane(control(BRA, 0x947, []Slot{cond(), target(relative)}, depth, mode, off(UR, 91)).on(from80)),
		anyLane(control(JMP, 0x94a, []Slot{cond(), absoluteTarget()}, depth, mode)),
		anyLane(control(JMP, 0xb4a, []Slot{cond(), codeConstant(from80)}, depth, mode).on(from80)),
		[]Form{
			control(BRA, 0x947, []Slot{cond(), target(relative)}, depth, mode).on(in70 | in75),
			control(BRA, 0x947, []Slot{cond(), lanes, target(relative)}, depth, mode, on(UR, 91, "")).on(from80),
			control(BRX, 0x949, []Slot{cond(), codeRegister(), offset(distance)}, depth),
			control(JMP, 0xb4a, []Slot{cond(), codeConstant(in70)}, depth, mode).on(in70 | in75),
			control(JMX, 0x94c, []Slot{cond(), codeRegister(), offset(signedAddress)}, depth),
			control(EXIT, 0x94d, []Slot{cond()}, mod(ExitMode, 84, 2, &exitNames), flag(NoAtExit, 86, ".NO_ATEXIT")),
		})
}

// anyLane returns the rows of a branch. On sm_90 a uniform one, whose mode is the second modifier, can be .ANY.
func anyLane(f Form) []Form {
	others, uniform := f.on(in90), f.on(in90)
	others.Mods, uniform.Mods = slices.Clone(f.Mods), slices.Clone(f.Mods)
	others.Mods[1] = mod(BraMode, 32, 2, &enum{text: []string{"", bad, ".DIV", ".CONV"}})
	uniform.Mods[1] = only(BraMode, Bits{32, 2}, 1, BraU, ".U")
	uniform.Mods = slices.Insert(uniform.Mods, 2, flag(Fixed, 84, ".ANY"))
	return []Form{f.on(before90), others, uniform}
}

func callForms() []Form {
	abs := ModField{Kind: Abs, names: &enum{text: []string{".ABS"}, value: []uint16{1}}}
	rel := ModField{Kind: Abs, names: &enum{text: []string{".REL"}, value: []uint16{0}}}
	noInc, noDec := flag(NoInc, 86, ".NOINC"), flag(NoInc, 86, ".NODEC")
	return []Form{
		control(CALL, 0x943, []Slot{cond(), absoluteTarget()}, abs, noInc),
		control(CALL, 0x944, []Slot{cond(), target(relative)}, rel, noInc),
		control(CALL, 0x343, []Slot{cond(), codeRegister(), offset(signedAddress)}, abs, noInc),
		control(CALL, 0x344, []Slot{cond(), codeRegister(), joined(target(relative))}, rel, noInc),
		control(CALL, 0xb43, []Slot{cond(), codeConstant(in70)}, abs, noInc).on(in70 | in75),
		control(CALL, 0xb43, []Slot{cond(), codeConstant(from80)}, abs, noInc).on(from80),
		control(RET, 0x950, []Slot{cond(), codeRegister(), joined(target(relative))},
			only(Abs, Bits{85, 1}, 0, 0, ".REL"), noDec),
		control(RET, 0x950, []Slot{cond(), codeRegister(), joined(target(signedAddress))},
			only(Abs, Bits{85, 1}, 1, 1, ".ABS"), noDec),
		control(LEPC, 0x34e, []Slot{rd(w2), {Name: "target", Kind: KindTarget, Show: never}}),
	}
}

// convergenceForms are the convergence barriers. BMOV reaches the other registers of the barrier file too.
func convergenceForms() []Form {
	barrier := func(lo uint8, n uint8, access Access) Slot {
		return Slot{Name: "B register", Kind: KindConvBar, Bits: Bits{lo, n}, Access: access}
	}
	short := only(Size, Bits{}, 0, Size32, ".32")
	quad := flag(PQuad, 84, ".PQUAD")
	region := target(relative)
	region.Bits = Bits{34, 30}
	read := control(BMOV, 0x355, []Slot{rd(w1), barrier(24, 6, Reads|Writes)}, short, on(Clear, 84, ".CLEAR"))
	read.Variable = true
	keep := control(BMOV, 0x355, []Slot{rd(w1), barrier(24, 6, Reads)}, short, off(Clear, 84))
	keep.Variable = true
	return []Form{
		control(BSSY, 0x945, []Slot{cond(), barrier(16, 4, Writes), region}),
		control(BSYNC, 0x941, []Slot{cond(), barrier(16, 4, Reads)}),
		control(BREAK, 0x942, []Slot{cond(), barrier(16, 4, Reads|Writes)}),
		read, keep,
		control(BMOV, 0x356, []Slot{barrier(24, 6, Writes), noReuse(regB("B", plain))}, short, quad),
		control(BMOV, 0x956, []Slot{barrier(24, 6, Writes), imm32("B", hex)}, short, quad),
		control(BMOV, 0xb56, []Slot{barrier(24, 6, Writes), constant("B", plain)}, short, quad),
		control(BMOV, 0xf56, []Slot{barrier(24, 6, Writes), barrier(16, 4, Reads)}, short, quad),
	}
}

// blockBarrierForms are BAR. Its barrier number and its number of threads are two fields of one register or
// immediates of their own.
func blockBarrierForms() []Form {
	number := Slot{Name: "barrier", Kind: KindImm, Bits: Bits{54, 4}, Access: Reads}
	threads := Slot{Name: "threads", Kind: KindImm, Bits: Bits{42, 12}, Access: Reads}
	register := noReuse(regB("barrier", plain))
	count := noReuse(regB("threads", plain))
	all := threads
	all.Show = unlessPlain
	noPred := hidden(pp(), false)
	noPred.Default = 0
	var forms []Form
	for _, v := range []struct {
		opcode     uint16
		id, n, opt Slot // barrier, threads, threads where 0 means all and is not printed
	}{
		{0xb1d, number, threads, all},
		{0x51d, register, threads, all},
		{0x91d, number, count, count},
		{0x31d, register, count, count},
	} {
		row := func(pred, n Slot, mods ...ModField) Form {
			f := control(BAR, v.opcode, []Slot{v.id, n, pred}, mods...)
			f.Pipe = PipeADU
			return f
		}
		mode := func(code int, text string) ModField { return only(BarMode, Bits{77, 3}, code, uint16(code), text) }
		forms = append(forms,
			row(noPred, v.opt, mode(0, ".SYNC"), flag(Defer, 80, ".DEFER_BLOCKING")),
			row(noPred, v.n, mode(1, ".ARV"), off(Defer, 80)),
			row(pp(), v.opt, mode(2, ".RED"), mod(BarRed, 74, 2, &barReds), flag(Defer, 80, ".DEFER_BLOCKING")),
			row(pp(), v.n, mode(3, ".SCAN"), off(Defer, 80)))
	}
	everything := control(BAR, 0xb1d, []Slot{hidden(number, false), hidden(threads, false), noPred},
		only(BarMode, Bits{77, 3}, 4, BarSYNCALL, ".SYNCALL"), flag(Defer, 80, ".DEFER_BLOCKING"))
	everything.Pipe = PipeADU
	return append(forms, everything.on(inAll&^(in89|in90)))
}

func warpForms() []Form {
	sb := Slot{Name: "scoreboard", Kind: KindScoreboard, Bits: Bits{44, 3}, Access: Reads}
	count := Slot{Name: "count", Kind: KindImm, Bits: Bits{38, 6}, Access: Reads}
	set := Slot{Name: "scoreboards", Kind: KindImm, Bits: Bits{32, 6}, Access: Reads, Format: bitSet, Show: unlessPlain}
	trap := Slot{Name: "trap number", Kind: KindImm, Bits: Bits{34, 3}, Access: Reads, Show: unlessPlain}
	codeHere := Slot{Name: "target", Kind: KindTarget, Bits: Bits{24, 58}, Access: Reads, Format: near}
	upTo := set
	upTo.Bits.Lo = 38
	forms := []Form{
		control(YIELD, 0x946, []Slot{cond()}),
		control(NOP, 0x918, nil),
		control(PMTRIG, 0x801, []Slot{cond(), {Name: "events", Kind: KindImm, Bits: Bits{32, 16}, Access: Reads}}),
		control(DEPBAR, 0x91a, []Slot{sb, count, set}, on(LE, 47, ".LE")),
		control(DEPBAR, 0x91a, []Slot{hidden(sb, false), hidden(count, false), set}, off(LE, 47)),
		printOnly(control(DEPBAR, 0xd1a, []Slot{sb, uregB("count", plain), upTo}, on(LE, 47, ".LE"), on(UR, 91, "")).on(in90))[0],
		control(BPT, 0x95c, []Slot{trap}, mod(BptMode, 84, 3, &bptNames)),
	}
	return withoutReuse(slices.Concat(forms,
		warpSyncForms(),
		[]Form{control(LEPC, 0x94e, []Slot{rd(w2), codeHere}).on(in90)},
		printOnly(uniformPCForms(codeHere)...),
		sleepForms()))
}

// uniformPCForms are LEPC into uniform registers.
func uniformPCForms(codeHere Slot) []Form {
	d, bound := toUniform(rd(w2)), on(UR, uniformBit, "")
	forms := []Form{
		control(ULEPC, 0x3ce, []Slot{d, {Name: "target", Kind: KindTarget, Show: never}}, bound).on(in90),
		control(ULEPC, 0x9ce, []Slot{d, codeHere}, bound).on(in90),
	}
	for k := range forms {
		forms[k].Pipe = PipeUniform
	}
	return forms
}

// warpSyncForms are WARPSYNC before sm_90. From sm_80 on that with a register can be exclusive.
func warpSyncForms() []Form {
	var forms []Form
	for _, f := range unary(control(WARPSYNC, 0x148, []Slot{cond()}).on(before90), plain) {
		if f.Opcode&0xe00 == formRRR {
			later := f.on(from80)
			later.Mods = []ModField{flag(Exclusive, 86, ".EXCLUSIVE")}
			forms = append(forms, later)
			f = f.on(in70 | in75)
		}
		forms = append(forms, f)
	}
	return forms
}

// sleepForms are NANOSLEEP. From sm_80 on that with an immediate can have no time at all.
func sleepForms() []Form {
	rows := func(archs ArchSet, mods ...ModField) []Form {
		return unary(control(NANOSLEEP, 0x15d, []Slot{cond()}, mods...).on(archs), plain)
	}
	random, warp, syncs := flag(Rand, 86, ".RAND"), flag(Warp, 85, ".WARP"), flag(SyncSleep, 84, ".SYNCS")
	var forms []Form
	for _, f := range slices.Concat(rows(before90, random, warp), rows(in90, random, warp, syncs)) {
		if f.Operands[1].Kind != KindImm {
			forms = append(forms, f)
			continue
		}
		timed, clear := f.on(from80), f.on(from80)
		timed.Mods = append([]ModField{off(Obscure, 83)}, f.Mods...)
		clear.Mods, clear.Operands = []ModField{on(Obscure, 83, ".CLEAR")}, []Slot{f.Operands[0], hidden(f.Operands[1], false)}
		forms = append(forms, f.on(in70|in75), timed, clear)
	}
	return slices.DeleteFunc(forms, func(f Form) bool { return f.Archs == 0 })
}
