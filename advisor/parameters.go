package advisor

import (
	"fmt"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// Parameters of a kernel of Triton's are given at its launch, and the compiler makes another kernel of the same source for each of their values: how
// warps share its blocks, how many rounds ahead loads are under way, how many registers a thread may take. No what-if run can tell what that code is. But
// it can be had: the change is to compile the kernel again, and what is tried is what comes of it.

// Compiled are parameters with which a kernel is compiled; what is 0 is as it was.
type Compiled struct{ Warps, Stages, Registers int }

// String is the parameters as they are given at a launch.
func (c Compiled) String() string {
	switch {
	case c.Warps != 0:
		return fmt.Sprintf("num_warps=%d", c.Warps)
	case c.Stages != 0:
		return fmt.Sprintf("num_stages=%d", c.Stages)
	}
	return fmt.Sprintf("maxnreg=%d", c.Registers)
}

// SameCode is why parameters were not tried that change nothing.
const SameCode = "the compiler makes the same code with it"

// mostStages is the largest num_stages that is tried: beyond it tiles of the rounds ahead hardly fit into shared memory.
const mostStages = 5

// adviseParameters lists what parameters there are for a launch. Nothing is known of them before they have been tried, so that their estimates
// only say in which order that is worth while.
func adviseParameters(in *Input) (advice []Advice) {
	f, threads := &in.Launch.Facts, volume(in.Launch.Block)
	if in.language != triton || threads%warpSize != 0 || threads != in.Launch.Block[0] || f.SMs <= 0 || f.SchedulersPerSM <= 0 || in.Total == 0 {
		return nil
	}
	add := func(o Optimizer, c Compiled, speedup float64, said string) {
		m := in.launchMatch(max(minSpeedup, min(speedup, in.ceiling(0))))
		m.Change, m.Variant, m.Suggestions = &Change{Compiled: &c}, c.String(), []string{said}
		a := Advice{Optimizer: o.Name(), Class: Parallel, Match: m, Speedup: m.Speedup}
		a.Interval = in.interval(&a)
		advice = append(advice, a)
	}
	warps, blocks := threads/warpSize, volume(in.Launch.Grid)
	place := in.matchPlace(in.launchMatch(1))
	barriers := len(in.executedNodes(func(op sass.Op) bool { return op == sass.BAR })) > 0
	copies := len(in.executedNodes(func(op sass.Op) bool { return op.Properties().Async == sass.AsyncCopy })) > 0
	now := in.occupancy(blocks, threads)
	issued := in.ByReason[stall.Selected] / in.Total
	for _, factor := range []int{2, 4} {
		if more := warps * factor; more*warpSize <= in.Model.Limits.ThreadsPerBlock.Int() {
			held := in.occupancy(blocks, threads*factor)
			p := Parallelism{Warps: float64(now.BlocksPerSM*warps) / float64(f.SchedulersPerSM), NewWarps: float64(max(held.BlocksPerSM, 1)*more) / float64(f.SchedulersPerSM), IssuedRatio: issued, Factor: 1}
			add(threadIncrease{}, Compiled{Warps: more}, in.ofLaunch(p.Occupy()), fmt.Sprintf(
				"Launch the kernel at %s with num_warps=%d instead of %d: each warp then has less of a block, and there are more to choose from. It was compiled so, its blocks (BLOCK sizes) as they are.", place, more, warps))
		}
		if warps%factor == 0 {
			var o Optimizer = threadCoarsening{}
			said := "each thread then has more of a block, with more under way, and there are fewer warps to do what each of them does"
			if barriers {
				o, said = warpBalance{}, "fewer warps meet at its barriers, and each thread has more of a block"
			}
			add(o, Compiled{Warps: warps / factor}, in.ofLaunch(EliminateStalls(in.Total, in.ByReason[stall.Barrier]*(1-1/float64(factor)))), fmt.Sprintf(
				"Launch the kernel at %s with num_warps=%d instead of %d: %s. It was compiled so, its blocks (BLOCK sizes) as they are.", place, warps/factor, warps, said))
		}
	}
	if in.loops() {
		for stages := 1; stages <= mostStages; stages++ {
			var o Optimizer = asyncCopy{}
			if stages <= 2 && copies {
				o = occupancyIncrease{}
			}
			add(o, Compiled{Stages: stages}, in.ofLaunch(HideLatency(in.Total, in.Active, in.ByReason[stall.LongScoreboard])), fmt.Sprintf(
				"Launch the kernel at %s with num_stages=%d, which is how many rounds of its loops have tiles in shared memory: more of them hide the time that loads take, fewer leave room for more blocks. It was compiled so.", place, stages))
		}
	}
	if now.Limit == arch.LimitRegisters {
		r := in.resources(blocks, threads)
		for more := 1; more <= 2; more++ {
			if n := in.registersFor(now.BlocksPerSM+more, r); n >= leastRegisters && (now.BlocksPerSM+more)*f.SMs <= blocks {
				p := Parallelism{Warps: float64(now.BlocksPerSM * warps), NewWarps: float64((now.BlocksPerSM + more) * warps), IssuedRatio: issued, Factor: 1}
				add(occupancyIncrease{}, Compiled{Registers: n}, in.ofLaunch(p.Occupy()), fmt.Sprintf(
					"Launch the kernel at %s with maxnreg=%d: a thread takes %d registers, and with that an SM has room for %s instead of %d. It was compiled so.", place, n, f.Registers, count(now.BlocksPerSM+more, "block"), now.BlocksPerSM))
			}
		}
	}
	return advice
}

// leastRegisters is the least maxnreg that is tried: with fewer nearly all of a block's values are in local memory.
const leastRegisters = 32

// loops reports whether a loop ran.
func (in *Input) loops() bool {
	for _, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			if i := c.graph.Blocks[l.Header].First; c.total[i] > 0 || c.executions != nil && c.executions[i] > 0 {
				return true
			}
		}
	}
	return false
}

// withoutSupposed leaves out what was supposed of parameters that were compiled: what came of them is known.
func withoutSupposed(advice []Advice) []Advice {
	known := make(map[string]bool)
	for i := range advice {
		if a := &advice[i]; a.Match.Change.Compiles() && (a.Tried > 0 || a.Untried == SameCode) {
			known[a.Optimizer] = true
		}
	}
	return slices.DeleteFunc(advice, func(a Advice) bool {
		return !a.Match.Change.Compiles() && (a.Optimizer == threadIncrease{}.Name() || a.Optimizer == asyncCopy{}.Name()) && known[a.Optimizer]
	})
}

// Compiles reports whether the change is to compile the kernel again; nil is none.
func (c *Change) Compiles() bool { return c != nil && c.Compiled != nil }
