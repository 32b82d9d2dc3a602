package advisor

import (
	"fmt"
	"math"

	"gpa/emu/arch"
	"gpa/emu/stall"
)

const warpSize = 32

// blockIncrease matches launches with fewer blocks than the GPU has SMs, whose blocks are large enough to be split:
// the same threads in more, smaller blocks keep more SMs busy.
type blockIncrease struct{}

func (blockIncrease) Name() string { return "block-increase" }
func (blockIncrease) Class() Class { return Parallel }

func (blockIncrease) Match(in *Input) []*Match {
	f := &in.Launch.Facts
	blocks, threads := volume(in.Launch.Grid), volume(in.Launch.Block)
	if f.SMs <= 0 || f.SchedulersPerSM <= 0 || blocks <= 0 || in.Total == 0 {
		return nil
	}
	warps := ceilDiv(threads, warpSize)
	if in.language == triton {
		if m := in.morePrograms(blocks, warps); m != nil {
			return m
		}
	}
	if blocks >= f.SMs {
		return nil
	}
	pieces := in.pieces(blocks, warps)
	if pieces < 2 {
		return in.splitLoops(blocks, warps)
	}
	newThreads := ceilDiv(warps, pieces) * warpSize
	p := Parallelism{
		Warps:       warpsPerScheduler(in, blocks, threads),
		NewWarps:    warpsPerScheduler(in, blocks*pieces, newThreads),
		IssuedRatio: in.ByReason[stall.Selected] / in.Total,
		Factor:      1,
	}
	queue := in.queued() * (1 - 1/float64(pieces)) / in.Total // what of the memory queues of an SM more SMs take over
	p.Factor = 1 / max(1-queue, 1/float64(pieces))
	if p.NewWarps <= 1 { // a single warp of a scheduler competes with none for pipes and queues
		p.Factor = max(p.Factor, in.withoutContention())
	}
	// The SM with the most warps cannot be done faster than by as many times as it has fewer of them.
	speedup := min(p.Redistribute(), float64(in.mostWarps(blocks, warps, 1))/float64(in.mostWarps(blocks, warps, pieces)))
	speedup = in.ofLaunch(speedup)
	if cycles := float64(f.Cycles); cycles > 0 {
		speedup = max(1, cycles/(cycles/speedup+in.placing(float64(blocks*(pieces-1)))))
	}
	m := in.launchMatch(speedup)
	m.Change = in.reshaped(threads, newThreads)
	m.Spares = IssueSlots | SharedMemory
	m.Suggestions = []string{
		fmt.Sprintf("The launch has %d blocks for %d SMs: %d SMs have nothing to do. Use blocks of %d instead of %d threads and a grid of %d blocks.",
			blocks, f.SMs, f.SMs-blocks, newThreads, threads, blocks*pieces),
		in.residency(newThreads),
	}
	return []*Match{m}
}

// wave is how many blocks of the launch the GPU holds at a time.
func (in *Input) wave() int { return in.Launch.Facts.SMs * max(1, in.Launch.Facts.BlocksPerSM) }

// placing is the cycles that more blocks take to be placed, one after the other.
func (in *Input) placing(more float64) float64 { return more * in.Model.Launching.Block.Value }

// pieces returns into how many blocks each block should be split, a power of two: so that the SM with the most warps has the fewest, as
// long as each of its schedulers has one.
func (in *Input) pieces(blocks, warps int) int {
	best := 1
	for p := 2; p <= warps; p *= 2 {
		if in.mostWarps(blocks, warps, p) < in.mostWarps(blocks, warps, best) {
			best = p
		}
	}
	return best
}

// mostWarps is how many warps the SM has that has the most of them, at least one for each scheduler, when each block is split into pieces.
func (in *Input) mostWarps(blocks, warps, pieces int) int {
	f := &in.Launch.Facts
	return max(f.SchedulersPerSM, ceilDiv(blocks*pieces, f.SMs)*ceilDiv(warps, pieces))
}

// withoutContention is the factor f of Equation 10 when pipe, queue and selection stalls are gone.
func (in *Input) withoutContention() float64 {
	gone := in.ByReason[stall.NotSelected]
	for _, r := range []stall.Reason{stall.MathPipeThrottle, stall.MioThrottle, stall.LgThrottle, stall.TexThrottle} {
		gone += in.ByReason[r]
	}
	return EliminateStalls(in.Total, gone)
}

// warpsPerScheduler returns the warps that a scheduler with work holds when a grid of that shape is launched, at least
// one: fewer than one warp means idle schedulers, not less work for the busy ones.
func warpsPerScheduler(in *Input, blocks, threads int) float64 {
	return max(1, in.occupancy(blocks, threads).WarpsPerScheduler)
}

// occupancy is NVIDIA's occupancy of the launch with another shape.
func (in *Input) occupancy(blocks, threads int) arch.Occupancy {
	return arch.OccupancyOf(in.Model, in.resources(blocks, threads))
}

// mostRegisters is how many registers a thread can have so that a block of the launch fits on an SM.
func (in *Input) mostRegisters() int { return in.mostRegistersOf(volume(in.Launch.Block)) }

// mostRegistersOf is the same for blocks of so many threads.
func (in *Input) mostRegistersOf(threads int) int {
	most := in.Model.Limits.RegistersThread.Int()
	r := in.resources(math.MaxInt32, threads)
	for r.Registers = most; r.Registers > in.Launch.Facts.Registers && arch.OccupancyOf(in.Model, r).BlocksPerSM == 0; {
		r.Registers--
	}
	return r.Registers
}

// resources is what blocks of another shape of the launch would take.
func (in *Input) resources(blocks, threads int) arch.Resources {
	f := &in.Launch.Facts
	r := arch.Resources{Threads: threads, Registers: f.Registers, SharedStatic: f.SharedStatic, SharedDynamic: f.SharedDynamic, Blocks: blocks}
	if k, err := in.Module.Kernel(in.Launch.Kernel); err == nil {
		r.Barriers = k.Barriers
	}
	return r
}

// residency says how many blocks of a size fit on an SM, whatever the grid, and what limits them.
func (in *Input) residency(threads int) string {
	occ := in.occupancy(math.MaxInt32, threads)
	return fmt.Sprintf("With that shape an SM can hold %s at a time (limited by %s); shared memory that a block uses has to shrink with it or be loaded by more blocks. Not where the code relies on the size of its blocks.",
		count(occ.BlocksPerSM, "block"), limitName(occ.Limit))
}

// limitName puts the name of an occupancy limit in words.
func limitName(limit string) string {
	switch limit {
	case arch.LimitShared:
		return "shared memory"
	case arch.LimitThreads:
		return "the number of threads"
	case arch.LimitBlocks:
		return "the number of blocks an SM can hold"
	case arch.LimitBarriers:
		return "the number of barriers an SM has"
	case arch.LimitGrid:
		return "the size of the grid"
	}
	return limit
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// volume is the number of elements of a three-dimensional shape, 0 where that is no number.
func volume(d [3]int) int {
	v := 1
	for _, n := range d {
		if n <= 0 || v > math.MaxInt64/n {
			return 0
		}
		v *= n
	}
	return v
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
