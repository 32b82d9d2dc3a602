package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// bankConflicts matches the stalls of accesses to shared memory that take more passes than the data needs, because threads of a
// warp want different words of one bank.
type bankConflicts struct{}

func (bankConflicts) Name() string { return "shared-bank-conflicts" }
func (bankConflicts) Class() Class { return StallElimination }

func (bankConflicts) Match(in *Input) []*Match {
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if b.Detail != blamer.SharedMemory && b.Detail != blamer.PipeBusy && b.Detail != blamer.WAR {
			continue
		}
		n := in.counts(b.Def)
		if isAtomic(in.Inst(b.Def).Op) {
			continue // words that data choose, as counts of values, conflict in any layout
		}
		if share := excess(n.wavefronts, n.wavefrontsIdeal); share >= minExcess {
			c.addShare(in.kernelScope(), b, share)
		}
	}
	in.addQueued(c)
	matches := c.finish()
	for _, m := range matches {
		m.Spares = SharedMemory
		used, ideal := in.passes()
		m.Freed = in.freed(used, used-ideal)
		m.Change = &Change{ConflictFree: m.allDefs()}
		n := in.counts(m.Hotspots[0].Def)
		last := ""
		if in.Launch.Facts.SharedDynamic > 0 {
			last = " Where the array is part of the launch's dynamic shared memory, raise that by the padding, and keep what lies behind it aligned."
		}
		m.Suggestions = []string{
			fmt.Sprintf("Threads of a warp hit the same bank of shared memory at %s: %.1f passes an access, where %.1f would do. %s",
				in.places(m.defs(), 3), n.wavefronts/max(1, n.executions), n.wavefrontsIdeal/max(1, n.executions), in.apartInBanks(m.Hotspots[0].Def)),
			"Padding costs shared memory; where that limits the blocks on an SM, swap bits, which is free. Not where the other accesses to the array then conflict." + last,
		}
	}
	return matches
}

// apartInBanks says how the lanes of accesses to shared memory come to lie in banks of their own. Where blocks are narrower than a warp its lanes
// lie in several rows, each in banks that follow each other: as many passes as there are rows come of rows that begin in the same banks,
// which an element more or less does not change. Rows that are accessed by 16 bytes have to begin at multiples of these.
func (in *Input) apartInBanks(access blamer.Node) string {
	n, width := in.counts(access), in.Launch.Block[0]
	if rows := warpSize / max(1, width); rows > 1 && warpSize%width == 0 && width*rows <= volume(in.Launch.Block) && n.wavefronts <= float64(rows)*n.wavefrontsIdeal {
		return fmt.Sprintf("Blocks are %d threads wide, so that a warp has %d rows of them: make the rows of the array %d elements longer than a multiple of 32 (float tile[%d][%d]), which puts them in different banks, or make blocks 32 threads wide.",
			width, rows, width, width, warpSize+width)
	}
	if inst := in.Inst(access); inst.Op == sass.LDSM || inst.Op == sass.STSM || inst.AccessBytes() == widestAccess {
		return "Pad the rows of the array by 16 bytes (float tile[32][36]), as accesses of 16 bytes have to begin at multiples of 16, or swap bits of the index (column ^ row, of units of 16 bytes)."
	}
	return "Pad the rows of the array by one element (float tile[32][33]), or swap bits of the index (column ^ row)."
}

// addQueued enters the waits of other instructions for the queue that they share with accesses to shared memory (MIO): the part of
// them that goes with the needless passes.
func (in *Input) addQueued(c *collector) {
	used, ideal := in.passes()
	worst, most, others := blamer.Node{}, 0.0, 0.0
	queued := in.executedNodes(func(op sass.Op) bool { return effectOf(&sass.Inst{Op: op})&(loadGlobal|writeGlobal|accessLocal) == 0 })
	for _, n := range queued {
		k := in.counts(n)
		if pipe := in.Inst(n).Form.Pipe; k.wavefronts == 0 && (pipe == sass.PipeLSU || pipe == sass.PipeXU) {
			others += k.executions
		}
		if k.wavefronts-k.wavefrontsIdeal > most && !isAtomic(in.Inst(n).Op) {
			worst, most = n, k.wavefronts-k.wavefrontsIdeal
		}
	}
	if excess(used, ideal) < minExcess || most == 0 {
		return
	}
	for _, n := range queued {
		if k := in.counts(n); excess(k.wavefronts, k.wavefrontsIdeal) < minExcess {
			waits := in.samplesAt(n, stall.MioThrottle)
			c.addShare(in.kernelScope(), &blamer.Blame{Def: worst, Use: n, Detail: blamer.PipeBusy, Count: waits, Latency: waits}, (used-ideal)/(used+others))
		}
	}
}

// passes adds up the passes through shared memory, one a cycle of an SM, and those that would do.
func (in *Input) passes() (used, ideal float64) {
	for _, c := range in.codes {
		if c != nil {
			for i := range c.counters {
				used += c.counters[i].wavefronts
				ideal += c.counters[i].wavefrontsIdeal
			}
		}
	}
	return used, ideal
}
