package sass

// Uses appends the resources that the instruction reads to dst and returns it: registers (every one of a 64-bit or
// 128-bit operand, address registers), predicates with the guard, convergence barriers, and the dependence counters
// that it waits for, by its wait mask or as operands of DEPBAR. Resources may appear twice; operands that the form does
// not use do not appear, nor do RZ, PT and the like.
func (i *Inst) Uses(dst []Resource) []Resource {
	if g := i.Guard; g.Reg != PT {
		dst = append(dst, g.Resource())
	}
	for k := range i.Operands {
		o := &i.Operands[k]
		if o.Source {
			dst = i.appendRead(dst, k, o)
		}
	}
	return appendMask(dst, ResSB, uint64(i.Control.WaitMask))
}

// Defs appends the resources that the instruction writes to dst and returns it. A dependence counter that the
// instruction takes, as write or as read barrier, counts as written: it is what a later wait depends on.
func (i *Inst) Defs(dst []Resource) []Resource {
	for k := range i.Operands {
		o := &i.Operands[k]
		if !o.Dest {
			continue
		}
		if o.Kind == KindPredSet {
			dst = appendMask(dst, ResPred, i.predMask())
		} else {
			dst = appendRegister(dst, o)
		}
	}
	for _, n := range [...]int8{i.Control.WriteBarrier, i.Control.ReadBarrier} {
		if n >= 0 {
			dst = append(dst, ResSB+Resource(n))
		}
	}
	return dst
}

// appendRead appends what a source operand reads.
func (i *Inst) appendRead(dst []Resource, k int, o *Operand) []Resource {
	switch o.Kind {
	case KindMem:
		dst = appendRun(dst, ResReg, o.Reg, o.Width, RZ)
		n := uint8(1)
		if i.HasMod(E) { // a descriptor or a 64-bit address
			n = 2
		}
		return appendRun(dst, ResUReg, o.UReg, n, URZ)
	case KindConst:
		dst = appendRun(dst, ResReg, o.Reg, 1, RZ)
		return appendRun(dst, ResUReg, o.UReg, 1, URZ)
	case KindPredSet:
		return appendMask(dst, ResPred, i.predMask())
	case KindUPredSet:
		return appendMask(dst, ResUPred, i.predMask())
	case KindDesc:
		return appendRun(dst, ResUReg, o.Reg, 2, URZ)
	case KindGDesc, KindTMem, KindIDesc:
		return appendRun(dst, ResUReg, o.Reg, o.Width, URZ)
	case KindImm:
		if i.Form.Operands[k].Format == bitSet {
			return appendMask(dst, ResSB, o.Imm)
		}
		return dst
	}
	return appendRegister(dst, o)
}

// appendRegister appends a register operand of any file.
func appendRegister(dst []Resource, o *Operand) []Resource {
	switch o.Kind {
	case KindReg, KindLabelReg:
		return appendRun(dst, ResReg, o.Reg, o.Width, RZ)
	case KindUReg:
		return appendRun(dst, ResUReg, o.Reg, o.Width, URZ)
	case KindPred:
		return appendRun(dst, ResPred, o.Reg, 1, PT)
	case KindUPred:
		return appendRun(dst, ResUPred, o.Reg, 1, UPT)
	case KindConvBar:
		return appendRun(dst, ResConvBar, o.Reg, 1, NumConvBars)
	case KindScoreboard:
		return append(dst, ResSB+Resource(o.Reg))
	}
	return dst
}

// appendRun appends n registers from reg on, up to the one that is constant.
func appendRun(dst []Resource, file Resource, reg, n, constant uint8) []Resource {
	for ; n > 0 && reg < constant; n-- {
		dst = append(dst, file+Resource(reg))
		reg++
	}
	return dst
}

// appendMask appends the resources of the bits that are set.
func appendMask(dst []Resource, file Resource, mask uint64) []Resource {
	for b := Resource(0); mask>>b != 0; b++ {
		if mask>>b&1 != 0 {
			dst = append(dst, file+b)
		}
	}
	return dst
}

// predMask returns which predicates PR stands for in P2R and R2P: those of the mask, all where a register holds it.
func (i *Inst) predMask() uint64 {
	const all = 1<<PT - 1
	if mask := &i.Operands[len(i.Operands)-1]; mask.Kind == KindImm && i.Mod(ByteSel) == 0 {
		return mask.Imm & all
	}
	return all
}
