package blamer

import "gpa/cubin/sass"

// waitSources returns the sources of a wait stall: the stall count of the instruction issued before. Where that count
// makes up for the latency of a fixed-latency instruction whose result the stalled one reads, that instruction is to
// blame; where nothing explains it, the instruction before is, as a matter of scheduling.
func (a *analysis) waitSources(use int) []edge {
	var edges []edge
	for _, prev := range a.previous(use) {
		weight := a.issueWeight(prev) * float64(issueCycles(&a.code.Insts[prev])-1)
		if weight == 0 {
			continue // its stall count lets the next instruction issue in the next cycle
		}
		e := edge{def: prev, detail: Scheduling, distance: 1, share: weight}
		if def := a.lateResult(use, prev); def >= 0 && !a.redirects(prev, use) {
			e = edge{def: def, detail: Arithmetic, distance: prev - def + 1, share: weight}
		}
		edges = append(edges, e)
	}
	if len(edges) == 0 {
		return a.scheduling(use)
	}
	return normalised(edges)
}

// redirects reports whether a warp comes from one instruction to another by a branch, or from BSYNC. That takes longer
// than any fixed latency, and its first cycles are wait samples whatever the stall count is.
func (a *analysis) redirects(from, to int) bool {
	return to != from+1 || a.code.Insts[from].Op == sass.BSYNC
}

// lateResult returns the fixed-latency instruction whose result the use would read too early if the instruction before
// had no stall count: of several the one that lacks the most cycles, and then the nearest. It returns -1 where there is
// none in the block of the instruction before. Loads are of no fixed latency, also those without a counter of their own, whose
// answer comes before a later load's.
func (a *analysis) lateResult(use, prev int) int {
	late, lack := -1, int64(0)
	for _, d := range a.deps {
		in := &a.code.Insts[d.def]
		if isCounter(d.res) || d.def > prev || a.block[d.def] != a.block[prev] || isVariable(in) || sourceOf(in.Op) != arithmeticSource {
			continue
		}
		passed := a.cycles[prev] - a.cycles[d.def] + 1
		missing := int64(a.model.Bound(in.Op.Properties().Class).Min) - passed
		if missing > lack || missing == lack && d.def > late {
			late, lack = d.def, missing
		}
	}
	if lack == 0 {
		return -1
	}
	return late
}

// scheduling blames the instructions before, or the instruction itself where the function begins with it.
func (a *analysis) scheduling(use int) []edge {
	var edges []edge
	for _, prev := range a.previous(use) {
		edges = append(edges, edge{def: prev, detail: Scheduling, distance: 1, share: a.issueWeight(prev)})
	}
	if len(edges) == 0 {
		return []edge{{def: use, detail: Scheduling, share: 1}}
	}
	return normalised(edges)
}

func normalised(edges []edge) []edge {
	total := 0.0
	for _, e := range edges {
		total += e.share
	}
	for i := range edges {
		edges[i].share /= total
	}
	return edges
}

// previous returns the instructions that can issue right before an instruction.
func (a *analysis) previous(inst int) []int {
	id := a.block[inst]
	if id < 0 {
		return nil
	}
	b := &a.blocks[id]
	if inst > b.First {
		return []int{inst - 1}
	}
	prev := make([]int, 0, len(b.Preds))
	for _, p := range b.Preds {
		prev = append(prev, a.blocks[p].Last)
	}
	return prev
}

// syncSource returns the synchronization instruction that a stall is blamed on. A warp that waits at a barrier has
// issued it already and is sampled at the next instruction, so that the instruction before is asked first, then the
// instruction itself, then the nearest one further up; without any the instruction is to blame itself.
func (a *analysis) syncSource(g *group) int {
	for _, prev := range a.previous(g.inst) {
		if isSync(a.code.Insts[prev].Op, g.reason) {
			return prev
		}
	}
	if isSync(a.code.Insts[g.inst].Op, g.reason) || a.block[g.inst] < 0 {
		return g.inst
	}
	for i := g.inst - 1; i >= a.blocks[a.block[g.inst]].First; i-- {
		if isSync(a.code.Insts[i].Op, g.reason) {
			return i
		}
	}
	return g.inst
}
