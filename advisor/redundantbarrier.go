package advisor

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// redundantBarrier matches the stalls of block barriers that order nothing: between them and the barriers around them no thread
// writes what another could read or write on the other side. With such a barrier go all stalls that it is blamed for, its stall count
// and the queue for its arrivals included, and the cycles in which it issues.
type redundantBarrier struct{}

func (redundantBarrier) Name() string { return "redundant-barrier" }
func (redundantBarrier) Class() Class { return StallElimination }

func (redundantBarrier) Match(in *Input) []*Match {
	c := newCollector(in)
	c.addUnexposed(in.kernelScope(), in.redundantBarriers())
	matches := c.finish()
	for _, m := range matches {
		barriers := m.allDefs()
		for _, n := range barriers {
			m.Samples += in.codes[n.Code].issued[n.Inst]
		}
		m.Change = &Change{Gone: barriers}
		m.Suggestions = []string{
			fmt.Sprintf("The __syncthreads() at %s orders nothing: no thread writes, between the barriers before and behind it, what another reads or writes across it. Drop it.",
				in.places(m.defs(), 3)),
			"Not where it keeps the threads of a block together for the caches' sake, or where code that did not run here relies on it.",
		}
		if in.Launch.Record == nil {
			m.assume(assumedRedundant)
		}
	}
	return matches
}

// redundantBarriers returns what is blamed on block barriers that can all be dropped together.
func (in *Input) redundantBarriers() []*blamer.Blame {
	blamed := map[blamer.Node]float64{}
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; in.Inst(b.Def).Op == sass.BAR {
			blamed[b.Def] += b.Count
		}
	}
	candidates := sortedKeys(blamed)
	slices.SortStableFunc(candidates, func(x, y blamer.Node) int { return cmp.Compare(blamed[y], blamed[x]) })
	dropped := map[blamer.Node]bool{}
	for _, n := range candidates { // the costliest first: of two barriers one may do
		if in.ordersNothing(n, dropped) && !in.recordedNeeded(n, dropped) {
			dropped[n] = true
		}
	}
	var blames []*blamer.Blame
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; dropped[b.Def] {
			blames = append(blames, b)
		}
	}
	return blames
}

// recordedNeeded reports whether, by the record of the launch, a barrier orders accesses of different threads that nothing else orders
// when some others are gone. Code that the record has not seen executed may need the barrier too.
func (in *Input) recordedNeeded(n blamer.Node, dropped map[blamer.Node]bool) bool {
	r := in.Launch.Record
	if r == nil {
		return false
	}
	at := in.recordPlace(n)
	b := r.Barrier(at)
	if b == nil || b.Partial || b.Between > 0 || b.Within > 0 {
		return true
	}
	gone := map[profiler.Place]bool{at: true}
	for d := range dropped {
		gone[in.recordPlace(d)] = true
	}
	return slices.ContainsFunc(r.Together, func(set []profiler.Place) bool {
		return !slices.ContainsFunc(set, func(p profiler.Place) bool { return !gone[p] })
	})
}

// ordersNothing reports whether there is no conflict in the code across a block barrier, when some others are gone: a write on one
// side, and an access to the same memory on the other.
func (in *Input) ordersNothing(n blamer.Node, dropped map[blamer.Node]bool) bool {
	b := in.Block(n)
	if b == nil {
		return false
	}
	g := in.codes[n.Code].graph
	behind := reach{in: in, code: n.Code, dropped: dropped, next: func(b *cfg.Block) []int { return b.Succs }, seen: map[int]bool{}}
	before := reach{in: in, code: n.Code, dropped: dropped, next: func(b *cfg.Block) []int { return b.Preds }, seen: map[int]bool{}, back: true}
	behind.from(g, b, n.Inst+1)
	before.from(g, b, n.Inst-1)
	return !before.unknown && !behind.unknown &&
		!conflict(before.effects, behind.effects, loadGlobal, writeGlobal) && !conflict(before.effects, behind.effects, accessShared, writeShared)
}

// conflict reports whether of two sides one writes a memory that the other accesses.
func conflict(a, b, access, write effect) bool {
	return a&write != 0 && b&access != 0 || a&access != 0 && b&write != 0
}

// A reach collects the effects of the code up to the next barriers, forward or back.
type reach struct {
	in      *Input
	code    int
	next    func(*cfg.Block) []int
	dropped map[blamer.Node]bool // barriers that do not count
	back    bool
	seen    map[int]bool // blocks that were gone through from their beginning, or their end
	effects effect
	unknown bool // calls, and other code that says nothing of its effects
}

// from goes on from an instruction of a block.
func (r *reach) from(g *cfg.Graph, b *cfg.Block, inst int) {
	insts := r.in.Module.Codes[r.code].Insts
	for i := inst; i >= b.First && i <= b.Last; {
		switch p := insts[i].Op.Properties(); {
		case p.Sync == sass.SyncBlock:
			if !r.dropped[blamer.Node{Code: r.code, Inst: i}] {
				return
			}
		case p.Sync == sass.SyncCounter, p.Async == sass.CommitsCopies:
			if r.in.hasCopies(r.code) { // what they have brought is in shared memory from here on
				r.effects |= accessShared | writeShared
			}
		case p.Flow == sass.FlowCall, p.Flow == sass.FlowReturn, p.Flow == sass.FlowIndirect, p.Sync == sass.SyncMemory:
			r.unknown = true
		default:
			r.effects |= effectOf(&insts[i])
		}
		if i++; r.back {
			i -= 2
		}
	}
	for _, id := range r.next(b) {
		if r.seen[id] {
			continue
		}
		r.seen[id] = true
		to := g.Blocks[id]
		if r.back {
			r.from(g, to, to.Last)
		} else {
			r.from(g, to, to.First)
		}
	}
}

// hasCopies reports whether a section has asynchronous copies to shared memory.
func (in *Input) hasCopies(code int) bool {
	return slices.ContainsFunc(in.Module.Codes[code].Insts, func(i sass.Inst) bool { return i.Op == sass.LDGSTS })
}
