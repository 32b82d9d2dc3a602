package advisor

import (
	"fmt"

	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// minBalance is the share of the launch's cycles in which the SMs are busy on average, above which they count as balanced.
const minBalance = 0.9

// leastWithBarriers is what smaller blocks have to promise where the threads of a block meet: what they put together has to be written anew for
// fewer of them, and more blocks put it together (1.02x tried was 0.99x by hand for sums of blocks).
const leastWithBarriers = 1.05

// smBalance matches launches at whose end SMs stand idle: a last wave of blocks that does not fill the GPU, or blocks that take much
// longer than others, or blocks that are all resident at once, but more on some SMs than on others. With the same work spread evenly the launch takes as long as the SMs are busy on average.
type smBalance struct{}

func (smBalance) Name() string { return "sm-balance" }
func (smBalance) Class() Class { return Parallel }

func (smBalance) Match(in *Input) []*Match {
	f := &in.Launch.Facts
	blocks := volume(in.Launch.Grid)
	if f.Cycles <= 0 || f.SMs <= 0 || f.SMActiveCycles <= 0 || blocks <= f.SMs {
		return nil // block-increase is for grids that are too small
	}
	meets := in.worksTogether()
	if blocks <= in.wave() && (in.Launch.Record == nil || meets) {
		return nil // how much blocks of a single wave hinder each other only trying tells
	}
	busy := float64(f.SMActiveCycles) / (float64(f.SMs) * float64(f.Cycles))
	if busy >= minBalance {
		return nil
	}
	fixed := in.Model.Launching.Fixed.Value // no SM is busy then
	spread := float64(f.SMActiveCycles)/float64(f.SMs) + fixed
	speedup := max(1, float64(f.Cycles)/spread)
	if blocks <= in.wave() { // blocks that are there together take longer as far as they take each other's turns
		speedup = 1 / (1 - in.contended()*(1-1/speedup))
	}
	m := in.launchMatch(speedup)
	if m.Change = in.smallerBlocks(); m.Change == nil && in.language != triton {
		return nil // the hardware hands out blocks as others end: a counter in their place was 0.9x where each block had one run of items
	}
	if meets {
		m.Least = leastWithBarriers
	}
	m.Suggestions = []string{in.tail(blocks, busy, m.Change),
		"Another number of blocks without other work for each changes nothing. Where blocks differ in work, begin with the long ones, or let blocks take it from a counter. Not where a block shares data that smaller ones would load again."}
	if in.language == triton {
		in.persistent(m)
		return []*Match{m}
	}
	if meets || in.takesTurns() {
		return []*Match{m}
	}
	// Kernels that rely on the size of their blocks have to be changed with it.
	adapted := *m
	m.Variant, adapted.Variant = "same code", "adapted code"
	adapted.Change = &Change{Streams: &Streams{Scattered: volume(in.Launch.Block) / volume(m.Change.Block)}}
	adapted.Suggestions = []string{m.Suggestions[0] + " What the code computes from the size of its blocks (a number written out, one dimension for another) has to follow.", m.Suggestions[1]}
	return []*Match{m, &adapted}
}

// contended is the share of the samples of warps that issue, or that do not as others do or have the pipe or the queue.
func (in *Input) contended() (share float64) {
	for _, r := range []stall.Reason{stall.Selected, stall.NotSelected, stall.MathPipeThrottle, stall.MioThrottle, stall.LgThrottle, stall.TexThrottle, stall.DispatchStall} {
		share += in.ByReason[r]
	}
	return share / max(1, in.Total)
}

// takesTurns reports whether threads go on with what atomic operations return: what they do then depends on who comes first, and is not the same in
// other blocks (1.25x tried was 1.04x where keys drive each other out of a table).
func (in *Input) takesTurns() bool {
	return len(in.answeredAtomics()) > 0
}

// worksTogether reports whether the threads of a block meet, or leave each other something in shared memory.
func (in *Input) worksTogether() bool {
	return len(in.executedNodes(func(op sass.Op) bool { return op.Properties().Sync == sass.SyncBlock })) > 0 || in.handsToOthers()
}

// tail says how the grid fits the GPU.
func (in *Input) tail(blocks int, busy float64, smaller *Change) string {
	f, how := &in.Launch.Facts, ""
	if smaller != nil {
		how = fmt.Sprintf(" Use smaller blocks, of %s threads and not of %s, in a grid of %s.", sizes(smaller.Block), sizes(in.Launch.Block), sizes(smaller.Grid))
	}
	at := max(1, f.SMs*f.BlocksPerSM)
	waves := ceilDiv(blocks, at)
	if most := ceilDiv(blocks, f.SMs); waves == 1 && blocks%f.SMs > 0 {
		return fmt.Sprintf("The SMs are busy for %.0f%% of the time: all blocks are there at once, and of %d blocks on %d SMs some have %d and the others %d.%s",
			100*busy, blocks, f.SMs, most, most-1, how)
	}
	if last := blocks % at; waves > 1 && last > 0 {
		return fmt.Sprintf("The SMs are busy for %.0f%% of the time: %d blocks are %d waves of %d, and the last has only %d.%s",
			100*busy, blocks, waves, at, last, how)
	}
	return fmt.Sprintf("The SMs are busy for %.0f%% of the time: some blocks take longer than others.%s", 100*busy, how)
}

// smallerBlocks is the change to blocks of a quarter of the threads, or half where a quarter is less than a warp a scheduler.
func (in *Input) smallerBlocks() *Change {
	threads := volume(in.Launch.Block)
	for _, parts := range []int{4, 2} {
		if threads%parts == 0 && threads/parts >= warpSize*in.Launch.Facts.SchedulersPerSM {
			return in.reshaped(threads, threads/parts)
		}
	}
	return nil
}

// sizes writes the extents of a block or a grid as in 32 x 8, without those of 1 at the end.
func sizes(d [3]int) string {
	switch {
	case d[2] > 1:
		return fmt.Sprintf("%d x %d x %d", d[0], d[1], d[2])
	case d[1] > 1:
		return fmt.Sprintf("%d x %d", d[0], d[1])
	}
	return fmt.Sprint(d[0])
}
