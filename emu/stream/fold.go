package stream

import "gpa/cubin/sass"

// A reduction over the threads of a block is folded where neighbouring threads become one: each of these combines the values of its own
// first, and the steps by shuffles and shared memory that follow are done once for all of them, not once for each.

// mostBetween is how many instructions the compiler puts at most between a shuffle and the instruction that combines what it brings.
const mostBetween = 32

// folds reports whether reductions are folded. Blocks that are merged have one each, and so may have warps.
func (m *Merge) folds() bool { return m.Axis == Threads }

// reduces reports whether what a shuffle brings is combined with what it sent, by an associative operation, before anything else uses it.
func (g *merger) reduces(in *sass.Inst, at int) bool {
	sent, brought := firstSource(in), firstDestination(in)
	if in.Op != sass.SHFL || sent == nil || brought == nil {
		return false
	}
	events := g.items[at].events
	for i := 1; i < min(len(events), mostBetween); i++ {
		next := g.program.Inst(events[i].Op)
		both := 0
		for k := range next.Operands {
			if o := &next.Operands[k]; o.Source && o.Kind == sass.KindReg {
				if o.Reg == brought.Reg {
					both |= 1
				} else if o.Reg == sent.Reg {
					both |= 2
				}
			}
		}
		if both&1 != 0 {
			return both == 3 && combines(next)
		}
	}
	return false
}

// combines reports whether an instruction's operation is one that reductions have.
func combines(in *sass.Inst) bool {
	switch in.Op.Properties().Does {
	case sass.Adds, sass.TakesExtreme, sass.CombinesBitwise, sass.MultipliesAdds:
		return true
	}
	return false
}

// combined reports whether an instruction combines values of the merged threads with what a shuffle of a reduction brought.
func (g *merger) combined(in *sass.Inst) bool {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Source && o.Kind == sass.KindReg && o.Reg != sass.RZ && g.of(o) == folded {
			return combines(in)
		}
	}
	return false
}

// sum reports whether an access to shared memory stores or loads results of reductions, and notes where they are.
func (g *merger) sum(at []int, a *Access, source class) bool {
	switch {
	case a.Kind == load:
		return g.allFolded(at)
	case a.Kind == store && source == folded:
		for _, w := range g.words(at) {
			g.sums[w] = true
		}
		return true
	}
	return false
}

// allFolded reports whether the words of shared memory that an access is to hold results of reductions.
func (g *merger) allFolded(at []int) bool {
	for _, w := range g.words(at) {
		if !g.sums[w] {
			return false
		}
	}
	return len(g.sums) > 0
}

func firstSource(in *sass.Inst) *sass.Operand {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Source && o.Kind == sass.KindReg && o.Reg != sass.RZ {
			return o
		}
	}
	return nil
}

func firstDestination(in *sass.Inst) *sass.Operand {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Dest && o.Kind == sass.KindReg && o.Reg != sass.RZ {
			return o
		}
	}
	return nil
}
