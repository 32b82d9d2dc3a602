package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// Threads that have found something, as that a graph or a picture has changed, often say so by a store to one place. Each warp then stores there by
// itself, and L2 takes these stores one after the other.

// toOnePlace returns the stores to global memory by which several warps of a block store the same value to one place.
func (in *Input) toOnePlace() []blamer.Node {
	const several = 2
	u := in.uniformity(true)
	blocks := float64(volume(in.Launch.Grid))
	return slices.DeleteFunc(in.executedNodes(func(op sass.Op) bool { return op == sass.STG }), func(n blamer.Node) bool {
		return in.Block(n) == nil || in.counts(n).sectors < several*blocks || !u.stores(n) || !in.inOnePlace(n)
	})
}

// inOnePlace reports whether a store goes to the same place in all rounds of the loops around it.
func (in *Input) inOnePlace(n blamer.Node) bool {
	l := in.Loop(n)
	if l == nil {
		return true
	}
	for l.Parent != nil {
		l = l.Parent
	}
	f := in.flowOf(n.Code, l)
	return !slices.ContainsFunc(f.from[n.Inst], func(e flowEdge) bool {
		return !isPredicate(e.resource) && !f.invariant(e.node, map[int]bool{})
	})
}

// stores reports whether all threads that come to a store store the same value to the same place. Of what PRMT puts together the bytes count that are
// stored.
func (u *uniformity) stores(n blamer.Node) bool {
	inst := u.in.Inst(n)
	var data *sass.Operand
	for i := range inst.Operands {
		if o := &inst.Operands[i]; o.Source && o.Kind == sass.KindReg {
			data = o
		}
	}
	return data != nil && u.operandsBut(n, data) && (data.Reg == sass.RZ || !slices.ContainsFunc(u.in.operandsFrom(n), func(def blamer.Node) bool {
		return !u.uniform(def) && !u.lowBytes(def, inst.AccessBytes())
	}))
}

// lowBytes reports whether PRMT takes so many of its lowest bytes from an operand that is the same for all threads.
func (u *uniformity) lowBytes(n blamer.Node, bytes int) bool {
	x := u.in.Inst(n)
	const each, half = 4, 4 // bits of the selector for a byte, bytes of an operand
	if x.Op != sass.PRMT || len(x.Operands) < 4 || x.Operands[2].Kind != sass.KindImm || bytes > half {
		return false
	}
	for b := range bytes {
		o := &x.Operands[1]
		if uint64(x.Operands[2].Imm)>>(each*b)&(1<<each-1) >= half {
			o = &x.Operands[3]
		}
		if o.Kind != sass.KindReg || o.Reg == sass.RZ {
			continue
		}
		if !u.reads(n, sass.Resource(o.Reg)) {
			return false
		}
	}
	return true
}

// forSeveral says what else it takes for a thread to get several results.
func (in *Input) forSeveral() string { return in.onceForAll() + in.addedOnce() + in.oneCase() }

// addedOnce says what to do about places in a list that each item takes by an atomic operation: one after the other, where a thread has several, they are
// waited for as often (1.26x tried was 1.11x, and 1.17x with one operation a thread).
func (in *Input) addedOnce() string {
	taken := slices.DeleteFunc(in.answeredAtomics(), func(n blamer.Node) bool { return in.Inst(n).Mod(sass.AtomOp) != sass.AtomADD })
	if len(taken) == 0 {
		return ""
	}
	return fmt.Sprintf(" At %s each item waits for an atomic operation: add once for all items of a thread (the number of those that need a place), and share what it returns out among them.", in.places(taken, 2))
}

// onceForAll says what to do about such stores where a thread gets several results.
func (in *Input) onceForAll() string {
	stores := in.toOnePlace()
	if len(stores) == 0 {
		return ""
	}
	return fmt.Sprintf(" At %s all threads store to one place: do that once for all results of a thread.", in.places(stores, 3))
}

// oneCase says what to do about cases of a kernel that a launch does not take, as other sizes of elements, where a thread gets several results: each
// needs registers for all of them (1.17x tried was 0.91x by hand, and 1.31x with the one case).
func (in *Input) oneCase() string {
	taken, cases := make(map[int]bool), make(map[int]blamer.Node)
	for code, c := range in.codes {
		if c == nil || c.executions == nil {
			continue
		}
		for i := range in.Module.Codes[code].Insts {
			n := blamer.Node{Code: code, Inst: i}
			if !movesGlobal(in.Inst(n).Op) || in.Block(n) == nil {
				continue
			}
			switch line := in.frame(n).Line; {
			case line == 0:
			case c.executions[i] > 0:
				taken[line] = true
			default:
				if _, met := cases[line]; !met {
					cases[line] = n
				}
			}
		}
	}
	maps.DeleteFunc(cases, func(line int, _ blamer.Node) bool { return taken[line] })
	if len(taken) == 0 || len(cases) <= len(taken) {
		return ""
	}
	return fmt.Sprintf(" Make what decides between the cases an argument of a template, or write the one that this launch takes by itself: those that it does not take (%s) need registers for each result.",
		in.places(slices.SortedFunc(maps.Values(cases), compareNodes), 3))
}

// flags matches what warps wait for such stores: in the queue, and behind their end.
func (in *Input) flags() []*Match {
	stores := in.toOnePlace()
	if len(stores) == 0 {
		return nil
	}
	each, executions := make(map[blamer.Node]bool), 0.0
	for _, n := range stores {
		each[n] = true
		executions += in.counts(n).executions
	}
	all := 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op.Properties().Stores(sass.SpaceGlobal) }) {
		all += max(in.counts(n).executions, in.counts(n).sectors)
	}
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch {
		case b.Detail != blamer.MemoryThrottle:
		case in.Inst(b.Def).Op == sass.EXIT:
			drained := *b
			drained.Def = stores[0]
			c.addShare(in.kernelScope(), &drained, executions/max(1, all))
		case each[b.Use]:
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Variant, m.Spares = "flag", L2
		m.Change = &Change{Streams: &Streams{Once: stores}}
		m.Suggestions = []string{
			fmt.Sprintf("At %s all threads store the same value to one place, %.0f times by warps of %d blocks, which L2 takes one after the other. Keep in a variable what a thread has found, and let one thread of the block store it when all are done: if (__syncthreads_or(found) && threadIdx.x == 0), with the other indices of the thread 0 too. All threads of the block have to come there.",
				in.places(stores, 3), executions, volume(in.Launch.Grid)),
			"Not where threads of this launch wait for the value.",
		}
	}
	return matches
}
