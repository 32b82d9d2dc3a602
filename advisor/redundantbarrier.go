package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
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
	}
	return matches
}

// redundantBarriers returns what is blamed on block barriers that order nothing.
func (in *Input) redundantBarriers() []*blamer.Blame {
	var blames []*blamer.Blame
	redundant := map[blamer.Node]bool{}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if in.Inst(b.Def).Op != sass.BAR {
			continue
		}
		if _, known := redundant[b.Def]; !known {
			redundant[b.Def] = in.ordersNothing(b.Def)
		}
		if redundant[b.Def] {
			blames = append(blames, b)
		}
	}
	return blames
}

// ordersNothing reports whether there is no conflict across a block barrier: a write on one side, and an access to the same memory
// on the other.
func (in *Input) ordersNothing(n blamer.Node) bool {
	b := in.Block(n)
	if b == nil {
		return false
	}
	g := in.codes[n.Code].graph
	behind := reach{in: in, code: n.Code, next: func(b *cfg.Block) []int { return b.Succs }, seen: map[int]bool{}}
	before := reach{in: in, code: n.Code, next: func(b *cfg.Block) []int { return b.Preds }, seen: map[int]bool{}, back: true}
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
	back    bool
	seen    map[int]bool // blocks that were gone through from their beginning, or their end
	effects effect
	unknown bool // calls, and other code that says nothing of its effects
}

// from goes on from an instruction of a block.
func (r *reach) from(g *cfg.Graph, b *cfg.Block, inst int) {
	insts := r.in.Module.Codes[r.code].Insts
	for i := inst; i >= b.First && i <= b.Last; {
		switch op := insts[i].Op; op {
		case sass.BAR:
			return
		case sass.CALL, sass.RET, sass.BRX, sass.JMX, sass.MEMBAR:
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
