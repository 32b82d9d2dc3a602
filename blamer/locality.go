package blamer

import (
	"math"

	"gpa/cubin/sass"
)

// Where several loads are awaited together, those that find their data in L1 are the first to arrive, and those that have to
// fetch it from DRAM the last. A profile of the hardware does not tell hits by instruction, but the code tells which loads read
// what another has just read, and which read what other blocks read too; the source counters tell how many sectors a load asks for.

const (
	sectorBytes = 32
	warpLanes   = 32
)

// globalLoad returns the address of a load from global memory, nil for other instructions.
func globalLoad(in *sass.Inst) *sass.Operand {
	if in.Op != sass.LDG {
		return nil
	}
	return in.Address()
}

// loadArrivals returns when the data of a load can arrive. What it is the first of its warp to touch comes from L2, or from DRAM
// where no other block has asked for it before. For the rest it waits until the load that touched it first has fetched it. How many
// sectors it asks for does not tell loads apart: those of one SM go to L1 one after the other, so that a later one is not faster for
// asking for less.
func (a *analysis) loadArrivals(def int, at *sass.Operand) []outcome {
	l := &a.model.Latencies
	fresh, first := a.firstTouch(def)
	s := a.missShares(def, at)
	list := []outcome{
		{fresh * s.first, l.DRAM.Value, true},
		{fresh * s.joins, max(l.L2.Value, l.DRAM.Value/2), true}, // on average half of the way is past
		{fresh * s.far, l.L2.Value, true},
		{fresh * (1 - s.first - s.joins - s.far), l.L1.Value, false},
	}
	if fresh < 1 {
		hit := 1 - fresh
		if first < 0 {
			return append(list, outcome{share: hit, cycles: l.L1.Value})
		}
		earlier := a.loadArrivals(first, globalLoad(&a.code.Insts[first]))
		ahead := a.passedInMisses(first, def, earlier)
		if b := a.code.Insts[first].Control.WriteBarrier; b >= 0 && lastBefore(a.waits[b], first+1, def+1) >= 0 {
			ahead = math.Inf(1) // it has been waited for
		}
		for _, o := range earlier {
			left := o.cycles - ahead
			list = append(list, outcome{hit * o.share, max(l.L1.Value, left), o.miss && left > l.L1.Value})
		}
	}
	return list
}

// passedInMisses estimates how many cycles pass between two instructions of a block in executions in which a load at the first misses L1.
// Where one load misses others do too, so that the waits in between belong to these executions.
func (a *analysis) passedInMisses(first, last int, outcomes []outcome) float64 {
	missing := 0.0
	for _, o := range outcomes {
		if o.miss {
			missing += o.share
		}
	}
	passed := a.elapsed.sum[last+1] - a.elapsed.sum[first+1]
	if missing == 0 {
		return passed
	}
	busy := float64(a.cycles[last] - a.cycles[first])
	return busy + max(0, passed-busy)/min(1, missing)
}

// firstTouch estimates how often a load is the first of its warp to ask for a sector, between 0 and 1, and returns the load of the
// block that has asked before it for what it reads, -1 where there is none.
func (a *analysis) firstTouch(def int) (fresh float64, first int) {
	to := a.accessOf(def)
	first, fresh = a.earlier(to)
	if first < 0 {
		fresh = a.loopFresh(to)
	}
	return fresh, first
}

// earlier returns the load of the block that has asked for most of what a later one reads, -1 where there is none, and how often the
// later one needs another sector all the same. Atomics and fences between them take the data from L1.
func (a *analysis) earlier(to *access) (first int, fresh float64) {
	first, fresh = -1, 1
	for i := a.blocks[a.block[to.inst]].First; i < to.inst; i++ {
		in := &a.code.Insts[i]
		if clearsL1(in.Op) {
			first, fresh = -1, 1
		}
		if globalLoad(in) == nil || !a.always(i) {
			continue
		}
		x := a.accessOf(i)
		if x.base != to.base {
			continue
		}
		if f := a.freshAfter(x, to); f < fresh {
			first, fresh = i, f
		}
	}
	return first, fresh
}

// freshAfter is how often a load needs a sector that an earlier one has not asked for, 1 where they have none in common.
func (a *analysis) freshAfter(earlier, to *access) float64 {
	if earlier.dense || to.ends <= 2 {
		if a.covers(earlier, to).contains(to.sectors()) {
			return 0
		}
		return 1
	}
	return crossing(to.from-earlier.from, to.ends)
}

// addressParts lists what an address adds up: a register, and a uniform one where it has one. A descriptor counts as one; it never
// changes.
func addressParts(at *sass.Operand) []*sass.Operand {
	parts := []*sass.Operand{at}
	if at.UReg != sass.URZ {
		parts = append(parts, &sass.Operand{Kind: sass.KindUReg, Reg: at.UReg, UReg: sass.URZ})
	}
	return parts
}

// crossing is the probability that so many bytes on a load meets the end of a sector in any of its lanes.
func crossing(bytes, ends float64) float64 {
	return 1 - math.Pow(1-min(math.Abs(bytes), sectorBytes)/sectorBytes, ends)
}

// covers is what an earlier load has brought to L1 together with the same load of the other warps of the block, which read on where
// one ends.
func (a *analysis) covers(earlier, to *access) span {
	s := earlier.span
	if earlier.dense && to.from > earlier.from {
		warps := a.warpsInLine(earlier.inst, globalLoad(&a.code.Insts[earlier.inst]))
		s.to = s.from + float64(warps)*(s.to-s.from)
	}
	return s.sectors()
}

func clearsL1(op sass.Op) bool {
	p := op.Properties()
	return p.Atomic(sass.SpaceGlobal|sass.SpaceGeneric) || p.Sync == sass.SyncMemory
}

// loopFresh is firstTouch over the rounds of a loop. Where the base advances by whole sectors it is known which sectors the round
// before has touched; otherwise a step of so many bytes leads into the next sector with a probability.
func (a *analysis) loopFresh(to *access) float64 {
	loop := a.graph.InnermostLoop(to.inst)
	if loop == nil {
		return 1
	}
	advance, ok := a.advanceSum(loop, to.inst, addressParts(globalLoad(&a.code.Insts[to.inst])), maxAdvance)
	if !ok {
		return 1
	}
	aligned := math.Mod(advance, sectorBytes) == 0 && to.ends <= 2
	fresh := 1.0
	for _, b := range loop.Blocks {
		for i := a.graph.Blocks[b].First; i <= a.graph.Blocks[b].Last; i++ {
			if globalLoad(&a.code.Insts[i]) == nil {
				continue
			}
			x := a.accessOf(i)
			if x.base != to.base {
				continue
			}
			before := span{x.from - advance, x.to - advance}
			switch {
			case !aligned:
				fresh = min(fresh, crossing(to.from-before.from, to.ends))
			case before.sectors().contains(to.sectors()):
				return 0
			}
		}
	}
	return fresh
}
