package advisor

import (
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Online algorithms keep the extreme of what they have met so far together with what belongs to it: sums that are scaled when another extreme is
// found, as of an online softmax (Milakov and Gimelshein, Online normalizer calculation for softmax, arXiv 1805.02867), or the place of the
// extreme. Rounds look at the extreme so far, and yet parts of them can be put together: by the extreme of both parts, with the sums of
// each scaled to it, or with the place that belongs to it.

// keptOnline returns those of the cycles of a loop that are kept by an online algorithm, nil where they do not fit together.
func (f *registerFlow) keptOnline(cycles [][]int) map[int]bool {
	extreme, kept := make(map[int]bool), make(map[int]bool)
	for i, c := range cycles {
		if f.isExtreme(c) && f.seen(c) {
			kept[i] = true
			for _, n := range c {
				extreme[n] = true
			}
		}
	}
	if len(extreme) == 0 {
		return nil
	}
	knows := f.learn(extreme)
	for i, c := range cycles {
		switch {
		case kept[i] || !slices.ContainsFunc(c, func(n int) bool { return knows[n] }):
		case f.family(c) == passesOn: // the place of the extreme, or another value chosen with it
		case f.isScaled(c, knows) && !f.seen(c):
			kept[i] = true
		default:
			return nil
		}
	}
	if f.tells(knows) {
		return nil
	}
	return kept
}

// isExtreme reports whether a cycle is the largest or the smallest of what the rounds have met.
func (f *registerFlow) isExtreme(cycle []int) bool {
	switch f.family(cycle) {
	case chooses, reducesMinimum, reducesMaximum:
		return true
	}
	return false
}

// learn returns the nodes that read what some nodes make, and those that read it from them, with these. A load that brings the same whenever it is
// made learns nothing from what decides whether it is.
func (f *registerFlow) learn(from map[int]bool) map[int]bool {
	knows := make(map[int]bool)
	for n := range from {
		knows[n] = true
	}
	for more := true; more; {
		more = false
		for n, edges := range f.from {
			if !knows[n] && !(n >= 0 && f.loadsSame(n)) && slices.ContainsFunc(edges, func(e flowEdge) bool { return knows[e.node] }) {
				knows[n], more = true, true
			}
		}
	}
	return knows
}

// tells reports whether something outside of the registers of the thread learns of what some nodes make: memory, another thread, or which way the
// thread goes, where that leads out of the loop or around stores.
func (f *registerFlow) tells(knows map[int]bool) bool {
	stores, exits := f.storesElsewhere(), f.exits()
	for n := range knows {
		if n < 0 || f.in.running[blamer.Node{Code: f.code, Inst: n}] || f.loadsSame(n) {
			continue
		}
		x := f.inst(n)
		e := effectOf(x)
		if fromElsewhere(x.Op) || isAtomic(x.Op) || e&^flow != 0 || x.Op == sass.STL || e == flow && stores || slices.Contains(exits, n) {
			return true
		}
	}
	return false
}

// storesElsewhere reports whether the loop has stores, or calls of what may store, but those of a running value.
func (f *registerFlow) storesElsewhere() bool {
	found := false
	f.in.eachInst(f.code, f.loop, func(i int) {
		x := blamer.Node{Code: f.code, Inst: i}
		found = found || f.in.mayStore(x) && !f.in.running[x]
	})
	return found
}

// guardedByExtreme reports whether an instruction is done in rounds that find another extreme alone: what it stores then is the place of the extreme, or what else belongs to it.
func (in *Input) guardedByExtreme(n blamer.Node) bool {
	f := in.flowOf(n.Code, in.Loop(n))
	guard := in.Inst(n).Guard.Resource()
	for _, c := range f.cycles() {
		if f.isExtreme(c) && slices.ContainsFunc(f.from[n.Inst], func(e flowEdge) bool { return e.resource == guard && slices.Contains(c, e.node) }) {
			return true
		}
	}
	return false
}

// isScaled reports whether a cycle is a sum that rounds multiply by what they know of an extreme.
func (f *registerFlow) isScaled(cycle []int, knows map[int]bool) bool {
	scaled := false
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		x, own, read := f.inst(n), f.within(n, cycle), 0
		for k := range x.Operands {
			o := &x.Operands[k]
			if !o.Source || !holds(o, own) {
				continue
			}
			if read++; o.Neg || o.Abs || o.Kind == sass.KindMem {
				return false
			}
		}
		p := x.Op.Properties()
		switch {
		case read != 1 || slices.ContainsFunc(own, isPredicate):
			return false
		case p.Does == sass.Multiplies && p.Floats(), p.Does == sass.MultipliesAdds && p.Floats():
			scaled = scaled || slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return !slices.Contains(cycle, e.node) && knows[e.node] })
		case p.Does == sass.Adds && p.Floats(), p.Does == sass.Moves, p.Does == sass.Selects:
		default:
			return false
		}
	}
	return scaled
}

// online reports whether the rounds of a loop only depend on each other by what an online algorithm keeps.
func (in *Input) online(code int, l *cfg.Loop) bool {
	f := in.flowOf(code, l)
	return len(f.keptOnline(f.cycles())) > 0
}
