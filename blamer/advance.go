package blamer

import (
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// maxAdvance is the number of instructions that an address is followed back through.
const maxAdvance = 6

// registerOf returns the register that an operand is, uniform or not, or that a memory address begins with. ok is false for what does
// not change: constants and RZ.
func registerOf(o *sass.Operand) (r sass.Resource, ok bool) {
	switch o.Kind {
	case sass.KindReg, sass.KindMem, sass.KindConst:
		return sass.ResReg + sass.Resource(o.Reg), o.Reg != sass.RZ
	case sass.KindUReg:
		return sass.ResUReg + sass.Resource(o.Reg), o.Reg != sass.URZ
	}
	return 0, false
}

// advance returns by how much the register that an instruction reads grows in each round of a loop. ok is false where that is not a
// known constant.
func (a *analysis) advance(loop *cfg.Loop, use int, o *sass.Operand, depth int) (by float64, ok bool) {
	r, ok := registerOf(o)
	if !ok {
		return 0, true
	}
	def := -1
	for _, d := range a.reaching(use, r) {
		if !a.inside(loop, d) {
			continue
		}
		if def >= 0 {
			return 0, false
		}
		def = d
	}
	switch {
	case def < 0:
		return 0, true
	case depth == 0:
		return 0, false
	}
	return a.advanceOf(loop, def, r, depth-1)
}

// inside reports whether a loop holds an instruction.
func (a *analysis) inside(loop *cfg.Loop, inst int) bool {
	b := a.graph.Block(inst)
	return b != nil && loop.Contains(b.ID)
}

// advanceOf is advance for a register that an instruction of the loop computes, from sums, shifts and products by constants.
func (a *analysis) advanceOf(loop *cfg.Loop, def int, written sass.Resource, depth int) (by float64, ok bool) {
	in := &a.code.Insts[def]
	from := dataSources(in)
	self := slices.ContainsFunc(from, func(o *sass.Operand) bool {
		r, isReg := registerOf(o)
		return isReg && r == written
	})
	if self && adds(in.Op) && a.carried(loop, def, written) {
		return constantSum(from, written)
	}
	switch {
	case in.Op.Vector() == sass.S2R, sourceOf(in.Op) == constantSource:
		return a.advanceSum(loop, def, from, depth)
	case adds(in.Op), in.Op.Vector() == sass.MOV:
		return a.advanceSum(loop, def, from, depth)
	case in.Op.Vector() == sass.IMAD && len(from) == 3:
		if factor, ok := a.constant(def, from[1]); ok {
			return a.advanceProduct(loop, def, from[0], factor, from[2], depth)
		}
		if a.invariant(loop, def, from[0], depth) && a.invariant(loop, def, from[1], depth) {
			return a.advanceSum(loop, def, from[2:], depth)
		}
	case in.Op.Vector() == sass.LEA && len(from) == 2 && in.Mod(sass.HI) == 0:
		return a.advanceProduct(loop, def, from[0], leaFactor(in), from[1], depth)
	}
	return 0, false
}

// adds reports whether an instruction is a sum of integers.
func adds(op sass.Op) bool { return op.Vector() == sass.IADD3 || op == sass.VIADD }

// constant returns the value of an operand that is an immediate, or a register that one instruction has set to one.
func (a *analysis) constant(use int, o *sass.Operand) (value float64, ok bool) {
	if o.Kind == sass.KindImm {
		return float64(int32(o.Imm)), true
	}
	r, ok := registerOf(o)
	if !ok {
		return 0, false
	}
	defs := a.reaching(use, r)
	if len(defs) != 1 {
		return 0, false
	}
	in := &a.code.Insts[defs[0]]
	for i := range in.Operands {
		from := &in.Operands[i]
		switch {
		case !from.Source || from.Kind == sass.KindPred || from.Kind == sass.KindReg && from.Reg == sass.RZ:
		case from.Kind == sass.KindImm && (in.Op.Vector() == sass.MOV || in.Op == sass.IMAD && i == len(in.Operands)-2):
			value, ok = float64(int32(from.Imm)), true
		default:
			return 0, false
		}
	}
	return value, ok
}

// carried reports whether an instruction of a loop reads what it has itself written in the round before.
func (a *analysis) carried(loop *cfg.Loop, def int, r sass.Resource) bool {
	inside := 0
	self := false
	for _, d := range a.reaching(def, r) {
		if a.inside(loop, d) {
			inside++
			self = self || d == def
		}
	}
	return self && inside == 1
}

// constantSum is what is added to a register itself.
func constantSum(from []*sass.Operand, self sass.Resource) (sum float64, ok bool) {
	for _, o := range from {
		r, isReg := registerOf(o)
		switch {
		case o.Kind == sass.KindImm:
			sum += float64(int32(o.Imm))
		case o.Kind == sass.KindConst || isReg && (r != self || o.Neg):
			return 0, false
		}
	}
	return sum, true
}

func (a *analysis) advanceSum(loop *cfg.Loop, use int, from []*sass.Operand, depth int) (sum float64, ok bool) {
	for _, o := range from {
		by, ok := a.advance(loop, use, o, depth)
		if !ok {
			return 0, false
		}
		if o.Neg {
			by = -by
		}
		sum += by
	}
	return sum, true
}

func (a *analysis) advanceProduct(loop *cfg.Loop, use int, x *sass.Operand, factor float64, y *sass.Operand, depth int) (by float64, ok bool) {
	product, ok := a.advanceSum(loop, use, []*sass.Operand{x}, depth)
	if !ok {
		return 0, false
	}
	rest, ok := a.advanceSum(loop, use, []*sass.Operand{y}, depth)
	return product*factor + rest, ok
}

// invariant reports whether an operand is known to be the same in every round.
func (a *analysis) invariant(loop *cfg.Loop, use int, o *sass.Operand, depth int) bool {
	by, ok := a.advanceSum(loop, use, []*sass.Operand{o}, depth)
	return ok && by == 0
}
