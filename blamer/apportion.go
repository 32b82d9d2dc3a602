package blamer

import (
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// An edge of the dependency graph ends in the stalled instruction and begins in one that causes a share of its stalls.
type edge struct {
	def      int
	detail   DetailedReason
	distance int
	share    float64
}

// edges returns the sources of a dependency stall with their shares, which add up to 1.
func (a *analysis) edges(g *group) []edge {
	if g.reason == stall.Wait && !a.plain && !slices.Contains(a.opt.Without, FixedLatency) {
		a.rule = FixedLatency
		return a.waitSources(g.inst)
	}
	if g.reason == stall.GMMA {
		return a.productSource(g.inst)
	}
	deps := a.deps
	if a.plain {
		deps = a.plainDeps
	}
	if g.reason == stall.LongScoreboard || g.reason == stall.ShortScoreboard {
		if sources := a.transferSources(deps, g.reason); len(sources) > 0 {
			return sources
		}
	}
	a.shares = nil
	kept := a.prune(deps, g.reason)
	if len(kept) == 0 && !(a.plain && g.reason.Class() == stall.ExecutionDependency) {
		// The rules drop what should not stall. The stall was seen all the same, so one of these caused it.
		kept = a.filter(deps, func(d dependency) bool { return a.opcodeRule(d, g.reason) && a.waitRule(d, g.reason) })
	}
	if len(kept) == 0 {
		return a.unexplained(g)
	}
	edges := a.joinEdges(kept)
	a.apportion(edges)
	return edges
}

// unexplained is the source of a dependency stall for which slicing finds no instruction in the function. Execution
// dependencies are then a matter of scheduling, as in the paper's tool.
func (a *analysis) unexplained(g *group) []edge {
	if g.reason == stall.Wait || a.plain && g.reason.Class() == stall.ExecutionDependency {
		return a.scheduling(g.inst)
	}
	return []edge{{def: g.inst, detail: OtherStall, share: 1}}
}

// joinEdges makes one edge of all dependencies on the same instruction. Its length is that of its longest path.
func (a *analysis) joinEdges(deps []dependency) []edge {
	type joined struct {
		edge
		war bool
	}
	var list []joined
	for len(deps) > 0 {
		n := 1
		for n < len(deps) && deps[n].res == deps[0].res {
			n++
		}
		q := a.query(deps[0].use, deps[0].res)
		for i, length := range a.paths.longestPaths(q, defsOf(deps[:n])) {
			d := deps[i]
			at := slices.IndexFunc(list, func(j joined) bool { return j.def == d.def })
			if at < 0 {
				at = len(list)
				list = append(list, joined{edge: edge{def: d.def}, war: true})
			}
			j := &list[at]
			j.distance = max(j.distance, int(length))
			j.war = j.war && a.readBarrierOnly(d)
		}
		deps = deps[n:]
	}
	edges := make([]edge, len(list))
	for i, j := range list {
		edges[i] = j.edge
		edges[i].detail = classify(&a.code.Insts[j.def], j.war)
	}
	slices.SortFunc(edges, func(x, y edge) int { return x.def - y.def })
	return edges
}

// readBarrierOnly reports whether the dependency is on the dependence counter that the instruction releases when it
// has read its operands: write after read.
func (a *analysis) readBarrierOnly(d dependency) bool {
	c := &a.code.Insts[d.def].Control
	return isCounter(d.res) && int(c.ReadBarrier) == int(d.res-sass.ResSB) && c.WriteBarrier != c.ReadBarrier
}

// classify refines a dependency by the opcode of its source, as in Figure 5.
func classify(def *sass.Inst, war bool) DetailedReason {
	if war {
		return WAR
	}
	switch sourceOf(def.Op) {
	case localSource:
		return LocalMemory
	case globalSource:
		return GlobalMemory
	case textureSource:
		return TextureMemory
	case constantSource:
		return ConstantMemory
	case sharedSource:
		return SharedMemory
	}
	return Arithmetic
}

// apportion sets the shares by Equation 1: in proportion to the issues of the source, and the less the longer the path.
//
// Path lengths are numbers of instructions strictly between source and use, which is the count under which the paths of
// Figure 4 are 2:1. An instruction right before the use counts as half an instruction away, so that its share stays
// finite and above that of the one before it.
//
// Where the order rule has estimated what each source costs, its shares are used instead: a long path then says that the
// result is nearly there, not that it matters less.
func (a *analysis) apportion(edges []edge) {
	total := 0.0
	for i := range edges {
		between := max(0.5, float64(edges[i].distance-1))
		edges[i].share = a.issueWeight(edges[i].def) / between
		if a.shares != nil {
			edges[i].share = a.shares[edges[i].def]
		}
		total += edges[i].share
	}
	for i := range edges {
		edges[i].share /= total
	}
}

// issueWeight is how often an instruction issued: by the source counters, or by its issued samples. Instructions that
// were never seen count as one issue, so that something is left to apportion by.
func (a *analysis) issueWeight(inst int) float64 {
	if a.counted && !a.plain && a.issues[inst] > 0 {
		return a.issues[inst]
	}
	return max(1, a.issued[inst])
}

// blameProducers blames the samples with a known producer on it and the others by the edges.
func (a *analysis) blameProducers(g *group, edges []edge) {
	rest := *g
	for _, s := range g.producers {
		known := group{code: g.code, inst: g.inst, reason: g.reason, count: s.Count, latency: s.Latency}
		rest.count -= s.Count
		rest.latency -= s.Latency
		a.recordProducer(&known, s.Producer)
	}
	for _, e := range edges {
		a.record(&rest, e)
	}
}

// recordProducer enters samples with their true producer. Where that lies outside the unit, nothing is known of the way from there.
func (a *analysis) recordProducer(g *group, p profiler.Producer) {
	def, ok := a.unit.inst(p.Code, p.PC)
	e := edge{def: g.inst, detail: a.producerDetail(g, p), share: 1}
	if ok {
		e.def = def
		q := pathQuery{use: g.inst, res: sass.NumRes}
		e.distance = int(a.paths.longestPaths(q, []int{def})[0])
	}
	a.record(g, e)
	if !ok && g.count > 0 {
		a.result.Blames[len(a.result.Blames)-1].Def = Node{p.Code, int(p.PC / sass.InstSize)}
	}
}

// producerDetail classifies a stall whose producer is known.
func (a *analysis) producerDetail(g *group, p profiler.Producer) DetailedReason {
	if g.reason == stall.Wait {
		def, ok := a.unit.inst(p.Code, p.PC)
		if ok && slices.ContainsFunc(a.deps, func(d dependency) bool { return d.def == def }) {
			return Arithmetic
		}
		return Scheduling
	}
	in := &a.result.Module.Codes[p.Code].Insts[p.PC/sass.InstSize]
	mask := a.code.Insts[g.inst].Control.WaitMask
	waits := func(barrier int8) bool { return barrier >= 0 && mask>>barrier&1 != 0 }
	return classify(in, waits(in.Control.ReadBarrier) && !waits(in.Control.WriteBarrier))
}
