package advisor

import (
	"fmt"

	"gpa/emu/arch"
	"gpa/emu/stall"
)

// threadIncrease matches launches whose occupancy is limited by small blocks: an SM holds a limited number of blocks,
// and with few threads in each its schedulers lack warps; a block of less than a warp leaves lanes unused as well. So it is where blocks
// end sooner than the GPU places others in their stead: fewer blocks of more threads fill it.
type threadIncrease struct{}

func (threadIncrease) Name() string { return "thread-increase" }
func (threadIncrease) Class() Class { return Parallel }

func (threadIncrease) Match(in *Input) []*Match {
	f := &in.Launch.Facts
	blocks, threads := volume(in.Launch.Grid), volume(in.Launch.Block)
	if f.SMs <= 0 || f.SchedulersPerSM <= 0 || blocks <= 0 || threads <= 0 || in.Total == 0 {
		return nil
	}
	newThreads := threads
	if in.occupancy(blocks, threads).Limit == arch.LimitBlocks || threads%warpSize != 0 {
		newThreads = in.bestThreads(blocks, threads)
	}
	if newThreads == threads {
		return in.placedSlowly(blocks, threads)
	}
	p := Parallelism{
		Warps:       warpsPerScheduler(in, blocks, threads),
		NewWarps:    warpsPerScheduler(in, ceilDiv(blocks*threads, newThreads), newThreads),
		IssuedRatio: in.ByReason[stall.Selected] / in.Total,
		Factor:      lanesUsed(newThreads) / lanesUsed(threads),
	}
	m := in.launchMatch(in.ofLaunch(p.Occupy()))
	m.Change, m.Variant = in.reshaped(threads, newThreads), "same code"
	m.Spares = IssueSlots
	m.Suggestions = []string{
		fmt.Sprintf("Use blocks of %d instead of %d threads and a grid of %s: a scheduler then holds %.3g instead of %.3g warps%s.",
			newThreads, threads, count(ceilDiv(blocks*threads, newThreads), "block"), p.NewWarps, p.Warps, unusedLanes(threads)),
		in.residency(newThreads),
	}
	// Kernels that rely on the size of their blocks have to be changed with it.
	adapted := *m
	adapted.Change, adapted.Variant = in.gathered(threads, newThreads), "adapted code"
	adapted.Suggestions = []string{
		fmt.Sprintf("Let a block of %d threads do what %d blocks of %s do, with a grid of %s: blockIdx.x * blockDim.x + threadIdx.x counts what the number of a block and of its thread count now. A scheduler then holds %.3g instead of %.3g warps%s.",
			newThreads, newThreads/threads, count(threads, "thread"), count(ceilDiv(blocks*threads, newThreads), "block"), p.NewWarps, p.Warps, unusedLanes(threads)),
		"Neighbouring threads should access neighbouring elements. Arrays in shared memory get a part for each of the blocks that were, and what all threads of a block did together needs their number there. A loop that goes up to the number of threads of a block (blockDim.x) goes up to the old one still, as a constant, or it does too much and the compiler cannot unroll it.",
	}
	return []*Match{m, &adapted}
}

// gathered is the change to larger blocks that do what several did.
func (in *Input) gathered(threads, newThreads int) *Change {
	factor := newThreads / threads
	return &Change{Streams: &Streams{Gathered: factor}, Shared: factor * in.shared()}
}

// leastTogether is what blocks put together have to promise: a grid of the shape that this takes has more threads than there are items (1.03x tried was
// 0.99x by hand).
const leastTogether = 1.05

// placedSlowly matches blocks that end so soon that their places stay empty for much of the time.
func (in *Input) placedSlowly(blocks, threads int) []*Match {
	f := &in.Launch.Facts
	occ, held := in.occupancy(blocks, threads), f.AchievedWarpsPerScheduler()
	factor := usualThreads / threads
	if threads%warpSize != 0 || factor < 2 || blocks < factor*f.SMs*occ.BlocksPerSM || held == 0 || held > mostlyPlaced*occ.WarpsPerScheduler {
		return nil
	}
	gained := min(float64(factor), occ.WarpsPerScheduler/held)
	m := in.launchMatch(in.ofLaunch(gained))
	m.Change, m.Variant = in.gathered(threads, usualThreads), "blocks together"
	m.Spares = IssueSlots | SharedMemory
	m.Least = leastTogether
	m.Suggestions = []string{
		fmt.Sprintf("Blocks of %d threads end before the GPU can place others in their stead: of the %.3g warps that a scheduler could hold it holds %.3g. Let a block of %d threads do what %d blocks do, with a grid of %d blocks.",
			threads, occ.WarpsPerScheduler, held, usualThreads, factor, ceilDiv(blocks, factor)),
		"Arrays in shared memory get a part for each of them, and an index of threads that names the part; barriers then hold all of the block.",
	}
	return []*Match{m}
}

// mostlyPlaced is the share of the warps that an SM could hold below which its places are empty for long.
const mostlyPlaced = .8

// usualThreads is a block size that fits most kernels: a multiple of a warp, a quarter of what a block can have (CUDA C++ Best Practices
// Guide, Thread and Block Heuristics: 128 to 256).
const usualThreads = 256

// bestThreads returns the smallest block size, doubling from a warp on, at which a scheduler holds the most warps and no
// lanes are lost; the present one where none is better.
func (in *Input) bestThreads(blocks, threads int) int {
	now := warpsPerScheduler(in, blocks, threads) * lanesUsed(threads)
	best, most := threads, now
	for n := warpSize; n <= in.Model.Limits.ThreadsPerBlock.Int(); n *= 2 {
		if n <= threads || n > blocks*threads || ceilDiv(blocks*threads, n) < min(blocks, in.Launch.Facts.SMs) {
			continue // the threads stay as many: larger blocks must not leave SMs idle that have work now
		}
		// Whole warps in the place of parts of warps are fewer instructions, also where no more threads fit; few blocks are placed soon.
		w := warpsPerScheduler(in, ceilDiv(blocks*threads, n), n)
		if w > most || w == now && most == now && lanesUsed(threads) < 1 && n <= usualThreads {
			best, most = n, w
		}
	}
	return best
}

// lanesUsed is the share of a block's lanes that have a thread.
func lanesUsed(threads int) float64 {
	return float64(threads) / float64(ceilDiv(threads, warpSize)*warpSize)
}

func unusedLanes(threads int) string {
	if threads%warpSize == 0 {
		return ""
	}
	return fmt.Sprintf(", and the %d lanes that the last warp of every block leaves unused do work", warpSize-threads%warpSize)
}
