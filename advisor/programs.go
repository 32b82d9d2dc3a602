package advisor

import (
	"fmt"
	"math"

	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// What the blocks of a kernel of Triton's are like is up to its author, and no what-if run can make other ones: there is one program for a block of the
// result, whatever its warps do of it.

// Programs that are few: they hold at most fewWarps warps a scheduler, all at once, of those that there is room for, and are to hold enoughWarps.
// leastOfPrograms is what the change has to promise, as it is not tried, and as a row whose sum needs all of it does not divide as it is.
const (
	fewWarps        = 4
	enoughWarps     = 8
	leastOfPrograms = 1.3
)

// morePrograms matches launches of few programs. With smaller blocks there are more of them, each with less to do: SMs without work get some, and
// those with work hold more warps (Equations 8 and 9 of the paper), of which each still does what it takes to do.
func (in *Input) morePrograms(blocks, warps int) []*Match {
	f := &in.Launch.Facts
	each := in.itemsOf()
	held := float64(blocks*warps) / float64(f.SMs*f.SchedulersPerSM) // all SMs alike
	busy := float64(min(blocks, f.SMs)) / float64(f.SMs)
	if each < 2 || held > fewWarps || held <= 0 || ceilDiv(blocks, f.SMs) > max(1, in.occupancy(math.MaxInt32, warps*warpSize).BlocksPerSM) {
		return nil
	}
	factor := 2
	for factor*2 <= min(each, 16) && held*float64(factor*2) <= enoughWarps {
		factor *= 2
	}
	p := Parallelism{Warps: held / busy, NewWarps: held * float64(factor), IssuedRatio: in.ByReason[stall.Selected] / in.Total, Factor: 1}
	speedup := in.ofLaunch(min(p.Occupy()/busy, float64(factor)))
	m := in.launchMatch(min(speedup, in.ceiling(0)))
	m.Least = leastOfPrograms
	few := fmt.Sprintf("%d programs for %d SMs leave a scheduler %.2g warps to choose from.", blocks, f.SMs, held)
	if blocks < f.SMs {
		few = fmt.Sprintf("%d programs for %d SMs: %d SMs have nothing to do.", blocks, f.SMs, f.SMs-blocks)
	}
	m.Spoken, m.Suggestions = true, []string{fmt.Sprintf(
		"%s A thread of the kernel at %s has %d elements or more of its program's block. Make the blocks smaller (BLOCK sizes, along the dimension of which each row or column stands for itself) and the grid larger, %d programs or more, with fewer num_warps where a block then has less than 32 elements for each of them; or divide the reduction among programs (split-K) and add the parts up by tl.atomic_add or in a second kernel.",
		few, in.matchPlace(m), each, blocks*factor)}
	return []*Match{m}
}

// persistent says what to do about a last wave that is short, where the grid has more programs than the GPU holds. Smaller blocks, which shorten it
// as well, do the work of a program more often: 0.93x by hand in a dropout, 1.06x with a persistent kernel.
func (in *Input) persistent(m *Match) {
	fit := in.occupancy(math.MaxInt32, volume(in.Launch.Block)).BlocksPerSM * in.Launch.Facts.SMs
	if fit <= 0 || fit >= volume(in.Launch.Grid) {
		return
	}
	m.Spoken, m.Suggestions = true, []string{fmt.Sprintf(
		"Some SMs have nothing to do while others work (%s). Make the kernel persistent: a grid of %d programs, as many as the GPU holds at once, each going through blocks by a loop (for i in range(tl.program_id(0), blocks, tl.num_programs(0))).",
		in.matchPlace(m), fit)}
}

// itemsOf is how many elements of the result a thread has, of 4 bytes, by what it stores in code that is in no loop, or in the largest
// loop.
func (in *Input) itemsOf() int {
	stored := make(map[[2]int]int) // by code and loop
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op.Properties().Stores(sass.SpaceGlobal) }) {
		b, loop := in.Block(n), -1
		if b == nil {
			continue
		}
		if b.Loop != nil {
			loop = b.Loop.Header
		}
		words := 1
		if o := in.Inst(n).Operands; len(o) > 0 {
			words = max(1, int(o[len(o)-1].Width))
		}
		stored[[2]int{n.Code, loop}] += words
	}
	most := 0
	for _, n := range stored {
		most = max(most, n)
	}
	return most
}

// leastMasked is the share of the lanes of a kernel's accesses that masks leave out, from which on it is told.
const leastMasked = .25

// maskedLanes matches blocks of which masks leave out much: their elements are computed as all others are, and only not loaded and stored.
func (in *Input) maskedLanes() []*Match {
	c := newCollector(in)
	executed, threads := 0.0, 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool {
		p := op.Properties()
		return p.Loads(sass.SpaceGlobal) || p.Stores(sass.SpaceGlobal)
	}) {
		if k := in.counts(n); in.Inst(n).Op.Properties().Stores(sass.SpaceGlobal) && k.threads*float64(ceilDiv(volume(in.Launch.Block), warpSize)) == k.executions {
			continue // a scalar, which one thread of a program stores
		} else if !in.Inst(n).Guard.Always() && k.executions > 0 {
			executed, threads = executed+k.executions, threads+k.threads
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: warpSize*k.executions - k.threads})
		} else {
			executed, threads = executed+k.executions, threads+k.executions*warpSize
		}
	}
	masked := 1 - threads/max(1, warpSize*executed)
	if masked < leastMasked {
		return nil
	}
	matches := c.finish()
	for _, m := range matches {
		m.Samples, m.Latency = in.Total*masked, in.Latency*masked
		m.Spares = IssueSlots
		m.Change = &Change{Thinned: in.thinned(1 / (1 - masked))}
		m.Spoken, m.Suggestions = true, []string{fmt.Sprintf(
			"%.0f %% of the elements of the blocks at %s are masked off: they are computed with the others for nothing. Choose BLOCK sizes as the next power of two of the data's, or let a program take several rows or heads as a block in two dimensions (offsets [:, None] and [None, :]), so that few are beyond the end.",
			100*masked, in.places(m.defs(), 3))}
	}
	return matches
}

// thinned are the instructions that compute, of which a warp has so much less to execute. What is masked off asks for no memory as it is.
func (in *Input) thinned(by float64) (list []Thinned) {
	for _, n := range in.executedNodes(func(op sass.Op) bool {
		p := op.Properties()
		return p.Reads|p.Writes == 0 && p.Sync == sass.SyncNone && p.Flow == sass.FlowNext
	}) {
		list = append(list, Thinned{At: n, By: by})
	}
	return list
}
