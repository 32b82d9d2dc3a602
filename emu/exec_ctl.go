package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// controlCompilers are the instructions that decide what is executed next. They tell the warp's re-convergence state
// and take the group that runs then from it.
var controlCompilers = map[sass.Op]compiler{
	sass.BRA:           compileBRA,
	sass.JMP:           compileBRA,
	sass.BRX:           compileIndirect,
	sass.JMX:           compileIndirect,
	sass.BRXU:          compileIndirect,
	sass.CALL:          compileCALL,
	sass.RET:           compileIndirect,
	sass.EXIT:          compileCondition(exit),
	sass.BSSY:          compileConvergence(bssy),
	sass.BSYNC:         compileConvergence(bsync),
	sass.BREAK:         compileConvergence(breakBarrier),
	sass.BMOV:          compileBMOV,
	sass.WARPSYNC:      compileWARPSYNC,
	sass.YIELD:         compileCondition(yield),
	sass.NANOSLEEP:     compileNANOSLEEP,
	sass.BAR:           compileBAR,
	sass.DEPBAR:        compileNothing,
	sass.ENDCOLLECTIVE: compileNothing,
	sass.NOP:           compileNothing,
	sass.BPT:           compileBPT,
	sass.LEPC:          compileLEPC,
}

// condition adds the instruction's own conditions to its guard.
func (w *warp) condition(o *op) uint32 { return w.mask & w.get(o.pp) & w.get(o.pq) }

// compileCondition is for instructions with at most a condition, and a uniform predicate that they have beside it.
func compileCondition(run execFunc) compiler {
	return func(_ *program, o *op) error {
		o.run = run
		if at := findOperand(o.inst, sass.KindPred); at >= 0 {
			o.pp = predicateOf(&o.inst.Operands[at])
		}
		if at := findOperand(o.inst, sass.KindUPred); at >= 0 {
			o.pq = predicateOf(&o.inst.Operands[at])
		}
		return nil
	}
}

// index returns the program index of a code address: a section's offset, or an absolute one.
func (p *program) index(code int32, offset uint64, absolute bool) (int32, bool) {
	if absolute {
		i := (offset - codeBase) / sass.InstSize
		return int32(i), offset >= codeBase && i < uint64(len(p.ops)) && offset%sass.InstSize == 0
	}
	base := p.bases[code]
	end := int32(len(p.ops))
	if int(code)+1 < len(p.bases) {
		end = p.bases[code+1]
	}
	i := offset / sass.InstSize
	return base + int32(i), offset%sass.InstSize == 0 && i < uint64(end-base)
}

// branchTarget resolves a direct target.
func (p *program) branchTarget(o *op) bool {
	at := findOperand(o.inst, sass.KindTarget)
	if at < 0 {
		return false
	}
	var ok bool
	o.target, ok = p.index(o.code, o.inst.Operands[at].Imm, o.inst.Op == sass.JMP)
	return ok
}

func compileBRA(p *program, o *op) error {
	o.mode = o.inst.Mod(sass.BraMode)
	if findOperand(o.inst, sass.KindTarget) < 0 { // JMP c[0x0][0x0]
		return unsupported(o)
	}
	if !p.branchTarget(o) {
		return compileCondition(badJump)(p, o)
	}
	switch o.mode {
	case sass.BraDIV, sass.BraCONV:
		return p.compileConverged(o)
	}
	return compileCondition(bra)(p, o)
}

func badJump(w *warp, o *op) error {
	if w.condition(o) == 0 {
		return nil
	}
	return w.fault(o, w.first(), BadJump, "the target is no instruction of the section")
}

func bra(w *warp, o *op) error {
	taken := w.condition(o)
	if taken == 0 {
		return nil
	}
	w.countTaken(o, taken)
	w.state.Branch(taken, o.target, o.index+1)
	w.group()
	return nil
}

// countTaken counts the lanes that take a branch.
func (w *warp) countTaken(o *op, taken uint32) {
	w.taken = taken
	w.block.domain.tally.ops[o.index].taken += int64(bits.OnesCount32(taken))
}

// compileConverged is for BRA.DIV and BRA.CONV: b is the uniform register with the lanes that are to be together, all of
// them on sm_70, which has none.
func (p *program) compileConverged(o *op) error {
	lanes := sass.Operand{Kind: sass.KindImm, Imm: uint64(allLanes)}
	if at := findOperand(o.inst, sass.KindUReg); at >= 0 {
		lanes = o.inst.Operands[at]
	}
	var err error
	if o.b, err = p.source(&lanes, intValue); err != nil {
		return err
	}
	return compileCondition(braConverged)(p, o)
}

// braConverged branches where those of the lanes that are live are together (BRA.CONV), or where they are not (BRA.DIV).
func braConverged(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	together := w.condition(o) == w.in(&o.b, 1)[0]&w.state.Live()
	taken := uint32(0)
	if together == (o.mode == sass.BraCONV) {
		taken = w.mask
	}
	w.countTaken(o, taken)
	w.state.Branch(taken, o.target, o.index+1)
	w.group()
	return nil
}

// compileIndirect: the address in a register pair, plus a constant, is an offset in the section, or absolute.
func compileIndirect(p *program, o *op) error {
	in := o.inst
	at := findOperand(in, sass.KindLabelReg)
	if at < 0 {
		at = findOperand(in, sass.KindReg)
	}
	if in.Op == sass.BRXU {
		at = findOperand(in, sass.KindUReg)
	}
	if at < 0 || at+1 >= len(in.Operands) || in.Mod(sass.BraMode) != 0 {
		return unsupported(o)
	}
	o.mode = in.Mod(sass.Abs)
	if in.Op == sass.JMX {
		o.mode = 1
	}
	o.ordered = o.mode != 0 // it may be a system call
	base := in.Operands[len(in.Operands)-1].Imm
	if (in.Op == sass.BRX || in.Op == sass.BRXU) && o.mode == 0 {
		base += in.PC + sass.InstSize
	}
	register := in.Operands[at]
	if register.Width = 2; register.Kind != sass.KindUReg {
		register.Kind = sass.KindReg
	}
	var err error
	o.a, err = p.source(&register, rawValue)
	o.run = func(w *warp, o *op) error { return indirect(w, o, base) }
	if pp := findOperand(in, sass.KindPred); pp >= 0 {
		o.pp = predicateOf(&in.Operands[pp])
	}
	return err
}

func indirect(w *warp, o *op, base uint64) error {
	taken := w.condition(o)
	low, high := w.raw(&o.a), w.word(&o.a, 1)
	var targets [32]int32
	program := w.block.run.program
	for m := taken; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		offset := uint64(high[i])<<32 | uint64(low[i])
		if o.mode == 0 {
			offset += base
		}
		if o.mode != 0 && offset >= syscallBase {
			return w.systemCall(o, taken, offset)
		}
		var ok bool
		if targets[i], ok = program.index(o.code, offset, o.mode != 0); !ok {
			f := w.fault(o, i, BadJump, "the target is no instruction")
			f.HasAddress, f.Address = true, offset
			return f
		}
	}
	w.countTaken(o, taken)
	w.parted = apart(taken, &targets)
	w.state.Indirect(taken, &targets, o.index+1)
	w.group()
	return nil
}

// apart reports whether lanes have different targets.
func apart(lanes uint32, targets *[32]int32) bool {
	first := targets[bits.TrailingZeros32(lanes)&31]
	for ; lanes != 0; lanes &= lanes - 1 {
		if targets[bits.TrailingZeros32(lanes)] != first {
			return true
		}
	}
	return false
}

// compileCALL: to a place in the section, to an absolute address, or through a register. There is no return stack: the
// return address is in a register like any other.
func compileCALL(p *program, o *op) error {
	in := o.inst
	at := findOperand(in, sass.KindLabelReg)
	if at < 0 {
		at = findOperand(in, sass.KindReg)
	}
	if at >= 0 {
		return compileIndirect(p, o)
	}
	at = findOperand(in, sass.KindTarget)
	if at < 0 {
		return unsupported(o)
	}
	target, absolute := in.Operands[at].Imm, in.Mod(sass.Abs) != 0
	if reloc, ok := p.relocated[o.index]; ok {
		target, absolute = reloc, true
	}
	if absolute && target >= syscallBase {
		o.run, o.ordered = func(w *warp, o *op) error { return w.systemCall(o, w.condition(o), target) }, true
		return nil
	}
	var ok bool
	if o.target, ok = p.index(o.code, target, absolute); !ok {
		return compileCondition(badJump)(p, o)
	}
	return compileCondition(bra)(p, o)
}

func exit(w *warp, o *op) error {
	lanes := w.condition(o)
	if lanes == 0 {
		return nil
	}
	w.state.Exit(lanes, o.index+1)
	w.group()
	w.block.exited(bits.OnesCount32(lanes))
	return nil
}

// compileConvergence keeps the number of the barrier in n.
func compileConvergence(run execFunc) compiler {
	return func(p *program, o *op) error {
		b := o.inst.ConvBar()
		if b == nil {
			return unsupported(o)
		}
		o.n = uint32(b.Reg) & 15
		return compileCondition(run)(p, o)
	}
}

func bssy(w *warp, o *op) error {
	w.state.Set(int(o.n), w.condition(o))
	return nil
}

func bsync(w *warp, o *op) error {
	w.state.Sync(int(o.n), w.condition(o), o.index+1)
	w.group()
	return nil
}

func breakBarrier(w *warp, o *op) error {
	w.state.Break(int(o.n), w.condition(o))
	return nil
}

// compileBMOV moves a convergence barrier to a register or back; n is the barrier, mode says whether it is cleared.
func compileBMOV(p *program, o *op) error {
	in := o.inst
	o.mode = in.Mod(sass.Clear)
	if in.Mod(sass.PQuad) != 0 || len(in.Operands) < 2 {
		return unsupported(o)
	}
	to, from := &in.Operands[0], &in.Operands[1]
	for _, x := range []*sass.Operand{to, from} {
		if x.Kind == sass.KindConvBar && x.Reg > 15 { // the thread states behind the barriers, as MEXITED
			return unsupported(o)
		}
	}
	if to.Kind == sass.KindConvBar {
		o.n, o.run = uint32(to.Reg)&15, bmovRestore
		var err error
		o.b, err = p.source(from, rawValue)
		return err
	}
	if from.Kind != sass.KindConvBar {
		return unsupported(o)
	}
	o.n, o.run, o.dst = uint32(from.Reg)&15, bmovSave, p.dest(to)
	if o.dst == sinkRegister {
		o.run = bmovClear
	}
	return nil
}

func bmovRestore(w *warp, o *op) error {
	w.state.Restore(int(o.n), w.mask, w.raw(&o.b))
	return nil
}

func bmovSave(w *warp, o *op) error {
	w.state.Save(int(o.n), w.mask, w.row(o, 0), o.mode != 0)
	return nil
}

// bmovClear is BMOV.CLEAR RZ, B: what was in the register is lost, so that nobody may wait for these lanes there.
func bmovClear(w *warp, o *op) error {
	if o.mode != 0 {
		w.state.Break(int(o.n), w.mask)
	}
	return nil
}

// compileWARPSYNC resolves the mask: of .ALL it is every lane of the warp, of the others the operand after the condition.
// .EXCLUSIVE, which ptxas puts before REDUX under a mask that only the program knows, has the lanes of each mask go on without
// those of others: here only one group of lanes runs at a time anyway.
func compileWARPSYNC(p *program, o *op) error {
	mask := sass.Operand{Kind: sass.KindImm, Imm: 0xffffffff}
	if operands := o.inst.Operands[1:]; len(operands) > 0 && operands[0].Source {
		mask = operands[0]
	}
	var err error
	if o.b, err = p.source(&mask, intValue); err != nil {
		return err
	}
	if o.inst.Mod(sass.Collective) != 0 {
		if !p.branchTarget(o) {
			return compileCondition(badJump)(p, o)
		}
		return compileCondition(warpsyncCollective)(p, o)
	}
	return compileCondition(warpsync)(p, o)
}

// warpsyncCollective gathers the lanes of the mask for the instructions up to ENDCOLLECTIVE, behind which they go on at the
// target. ptxas puts the target right behind ENDCOLLECTIVE, which then has nothing to do; any other place is refused.
func warpsyncCollective(w *warp, o *op) error {
	if end := o.target - 1; end <= o.index || w.block.run.program.ops[end].inst.Op != sass.ENDCOLLECTIVE {
		return w.fault(o, w.first(), Unsupported, "WARPSYNC.COLLECTIVE whose target is not behind ENDCOLLECTIVE is not supported")
	}
	return warpsync(w, o)
}

func warpsync(w *warp, o *op) error {
	masks := *w.in(&o.b, 1)
	w.state.SyncLanes(w.condition(o), &masks, o.index+1)
	w.group()
	return nil
}

func yield(w *warp, o *op) error {
	if w.condition(o) != 0 {
		w.state.Yield(o.index + 1)
		w.group()
	}
	return nil
}

// compileNANOSLEEP: another group may run. Without timing the warp's turn ends and the clock moves.
func compileNANOSLEEP(p *program, o *op) error { return compileCondition(nanosleep)(p, o) }

func nanosleep(w *warp, o *op) error {
	if w.condition(o) == 0 {
		return nil
	}
	w.sleeps = max(1, int64(float64(o.t.sleep)*w.block.run.machine.gpu.Clock.Value/1e9))
	return yield(w, o)
}

func compileBPT(_ *program, o *op) error {
	if o.inst.Mod(sass.BptMode) != sass.BptTRAP {
		return unsupported(o)
	}
	o.run = func(w *warp, o *op) error {
		if w.mask == 0 {
			return nil
		}
		return w.fault(o, w.first(), Trap, "the kernel stopped itself (__trap)")
	}
	return nil
}

// compileLEPC: the address of the instruction itself or, on sm_90, of a code address.
func compileLEPC(p *program, o *op) error {
	o.dst = p.dest(&o.inst.Operands[0])
	if o.dst != sinkRegister {
		p.use(int(o.dst) + 2)
	}
	address := uint64(codeBase) + uint64(o.index)*sass.InstSize
	if target := &o.inst.Operands[1]; target.Source {
		address = uint64(codeBase) + uint64(p.bases[o.code])*sass.InstSize + target.Imm
	}
	o.run = func(w *warp, o *op) error {
		d, e := w.out(o, 0), w.out(o, 1)
		for i := range d {
			d[i], e[i] = uint32(address), uint32(address>>32)
		}
		w.done(o, 2)
		return nil
	}
	return nil
}
