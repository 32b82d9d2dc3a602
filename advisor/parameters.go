package advisor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
	"gpa/profiler"
)

// Parameters of a kernel of Triton's are given at its launch, and the compiler makes another kernel of the same source for each of their values: how
// warps share its blocks, how many rounds ahead loads are under way, how many registers a thread may take. No what-if run can tell what that code is. But
// it can be had: the change is to compile the kernel again, and what is tried is what comes of it.

// Compiled are parameters with which a kernel is compiled; what is 0 is as it was.
type Compiled struct {
	Warps, Stages, Registers int
	Constants                string // tl.constexpr arguments, see [profiler.Alternative]
	Grid                     [3]int // with them
}

// String is the parameters as they are given at a launch.
func (c Compiled) String() string {
	var list []string
	if c.Constants != "" {
		list = append(list, c.Constants)
	}
	for _, p := range []struct {
		name  string
		value int
	}{{"num_warps", c.Warps}, {"num_stages", c.Stages}, {"maxnreg", c.Registers}} {
		if p.value != 0 {
			list = append(list, fmt.Sprintf("%s=%d", p.name, p.value))
		}
	}
	return strings.Join(list, ", ")
}

// variant names them among those of a launch.
func (c Compiled) variant() string {
	if c.Grid != [3]int{} {
		return c.String() + fmt.Sprint(" of ", c.Grid)
	}
	return c.String()
}

// SameCode is why parameters were not tried that change nothing.
const SameCode = "the compiler makes the same code with it"

// adviseParameters lists what parameters there are for a launch, and those of them that were tried together. Nothing is known of them before they have
// been tried, so that their estimates are no more than what the equations say of the blocks and warps that they leave.
func adviseParameters(in *Input, alternatives []profiler.Alternative, tries []profiler.Try) (advice []Advice) {
	f, threads := &in.Launch.Facts, volume(in.Launch.Block)
	if in.language != triton || threads%warpSize != 0 || threads != in.Launch.Block[0] || f.SMs <= 0 || f.SchedulersPerSM <= 0 || in.Total == 0 {
		return nil
	}
	p := parameters{Input: in, warps: threads / warpSize, blocks: volume(in.Launch.Grid)}
	p.now, p.place = in.occupancy(p.blocks, threads), in.matchPlace(in.launchMatch(1))
	p.issued = in.ByReason[stall.Selected] / in.Total
	p.hidden = in.ofLaunch(HideLatency(in.Total, in.Active, in.ByReason[stall.LongScoreboard]))
	advice = inRounds(p.ofBlocks(alternatives), p.ofWarps(), p.ofStages(), p.ofRegisters())
	for i := range advice {
		advice[i].Match.Change.Turn = i
	}
	return append(advice, together(advice, tries)...)
}

// inRounds takes from each list in turn, of the first as much as of all others.
func inRounds(first []Advice, others ...[]Advice) (all []Advice) {
	for left := true; left; {
		left = false
		for i := range others {
			for _, list := range []*[]Advice{&first, &others[i]} {
				if len(*list) > 0 {
					all, *list, left = append(all, (*list)[0]), (*list)[1:], true
				}
			}
		}
	}
	return all
}

// parameters are those of a launch.
type parameters struct {
	*Input
	warps, blocks  int // of a block, of the grid
	now            arch.Occupancy
	place          string
	issued, hidden float64 // see [Parallelism]; by what latencies of loads that are hidden are estimated
}

// advice is advice on parameters. After others it is tried only if these gain at least so much.
func (p *parameters) advice(o Optimizer, c Compiled, speedup float64, after *Compiled, least float64, format string, args ...any) Advice {
	m := p.launchMatch(max(minSpeedup, min(speedup, p.ceiling(0))))
	m.Change, m.Variant = &Change{Compiled: &c, After: after, AfterLeast: least}, c.variant()
	m.Suggestions = []string{fmt.Sprintf("Launch the kernel at %s with ", p.place) + fmt.Sprintf(format, args...)}
	a := Advice{Optimizer: o.Name(), Class: Parallel, Match: m, Speedup: m.Speedup}
	a.Interval = p.interval(&a)
	return a
}

// Another value of a parameter is tried after one that goes less far in its direction where that is not much slower.
const (
	goesOn   = 0.98
	withMore = 0.8 // and with as many more warps as a block has more
)

// occupied is what the equations say of so many warps a block and blocks an SM.
func (p *parameters) occupied(blocksPerSM, warps int) float64 {
	n := float64(p.Launch.Facts.SchedulersPerSM)
	now := Parallelism{Warps: float64(p.now.BlocksPerSM*p.warps) / n, NewWarps: float64(max(blocksPerSM, 1)*warps) / n, IssuedRatio: p.issued, Factor: 1}
	return p.ofLaunch(now.Occupy())
}

// ofBlocks are other constants, each with the warps that there are and with as many more or fewer as its blocks are larger or smaller.
func (p *parameters) ofBlocks(alternatives []profiler.Alternative) (list []Advice) {
	singles := make(map[string]Compiled)
	alternatives = slices.Clone(alternatives)
	slices.SortStableFunc(alternatives, func(a, b profiler.Alternative) int { // those last that leave SMs without work
		idle := func(x profiler.Alternative) int { return max(0, min(p.blocks, p.Launch.Facts.SMs)-volume(x.Grid)) }
		return cmp.Compare(idle(a), idle(b))
	})
	for _, b := range alternatives {
		factor := larger(b.Constants, b.Was)
		o, speedup, said := p.otherBlocks(volume(b.Grid), factor)
		c := Compiled{Constants: b.Constants, Grid: b.Grid}
		var after *Compiled
		if half, ok := singles[halfway(b)]; ok {
			after = &half
		}
		singles[b.Constants] = c
		const outputs = "It was compiled and run so, and its outputs stay the same, but for rounding."
		list = append(list, p.advice(o, c, speedup, after, goesOn, "%s instead of %s %s. "+outputs, b.Constants, b.Was, said))
		if w := int(float64(p.warps) * factor); w != p.warps && w >= 1 && w*warpSize <= p.Model.Limits.ThreadsPerBlock.Int() {
			scaled := c
			scaled.Warps = w
			list = append(list, p.advice(o, scaled, speedup, &c, withMore, "%s instead of %s, num_warps=%d instead of %d, %s. "+outputs, b.Constants, b.Was, w, p.warps, said))
		}
	}
	return list
}

// ofWarps are other numbers of warps.
func (p *parameters) ofWarps() (list []Advice) {
	barriers := len(p.executedNodes(func(op sass.Op) bool { return op == sass.BAR })) > 0
	var more, fewer *Compiled
	for _, factor := range []int{2, 4} {
		if w := p.warps * factor; w*warpSize <= p.Model.Limits.ThreadsPerBlock.Int() {
			c := Compiled{Warps: w}
			list = append(list, p.advice(threadIncrease{}, c, p.occupied(p.occupancy(p.blocks, w*warpSize).BlocksPerSM, w), more, goesOn,
				"num_warps=%d instead of %d: each warp then has less of a block, and there are more to choose from. It was compiled so, its blocks (BLOCK sizes) as they are.", w, p.warps))
			more = &c
		}
		if p.warps%factor == 0 {
			c := Compiled{Warps: p.warps / factor}
			var o Optimizer = threadCoarsening{}
			said := "each thread then has more of a block, with more under way, and there are fewer warps to do what each of them does"
			if barriers {
				o, said = warpBalance{}, "fewer warps meet at its barriers, and each thread has more of a block"
			}
			list = append(list, p.advice(o, c, p.ofLaunch(EliminateStalls(p.Total, p.ByReason[stall.Barrier]*(1-1/float64(factor)))), fewer, goesOn,
				"num_warps=%d instead of %d: %s. It was compiled so, its blocks (BLOCK sizes) as they are.", c.Warps, p.warps, said))
			fewer = &c
		}
	}
	return list
}

// ofStages are numbers of stages, where there are loops that have some. Which the kernel has nobody says.
func (p *parameters) ofStages() (list []Advice) {
	if !p.loops() {
		return nil
	}
	copies := len(p.executedNodes(func(op sass.Op) bool { return op.Properties().Async == sass.AsyncCopy })) > 0
	for _, s := range []struct{ stages, after int }{{3, 0}, {2, 0}, {4, 3}, {1, 2}, {5, 4}} {
		var o Optimizer = asyncCopy{}
		if s.stages <= 2 && copies {
			o = occupancyIncrease{}
		}
		var after *Compiled
		if s.after != 0 {
			after = &Compiled{Stages: s.after}
		}
		list = append(list, p.advice(o, Compiled{Stages: s.stages}, p.hidden, after, goesOn,
			"num_stages=%d, which is how many rounds of its loops have tiles in shared memory: more of them hide the time that loads take, fewer leave room for more blocks. It was compiled so.", s.stages))
	}
	return list
}

// ofRegisters are limits of registers, where these limit how many blocks an SM holds.
func (p *parameters) ofRegisters() (list []Advice) {
	if p.now.Limit != arch.LimitRegisters {
		return nil
	}
	r := p.resources(p.blocks, p.warps*warpSize)
	for more := 1; more <= 2; more++ {
		held := p.now.BlocksPerSM + more
		if n := p.registersFor(held, r); n >= leastRegisters && held*p.Launch.Facts.SMs <= p.blocks {
			list = append(list, p.advice(occupancyIncrease{}, Compiled{Registers: n}, p.occupied(held, p.warps), nil, 0,
				"maxnreg=%d: a thread takes %d registers, and with that an SM has room for %s instead of %d. It was compiled so.", n, p.Launch.Facts.Registers, count(held, "block"), p.now.BlocksPerSM))
		}
	}
	return list
}

// Combine is advice to change the parameters of two pieces together; none where both change the same one.
func Combine(a, b *Advice) (Advice, bool) {
	x, y := a.Match.Change.Compiled, b.Match.Change.Compiled
	if x.Warps != 0 && y.Warps != 0 || x.Stages != 0 && y.Stages != 0 || x.Registers != 0 && y.Registers != 0 || x.Constants != "" && y.Constants != "" {
		return Advice{}, false
	}
	c := Compiled{Warps: x.Warps + y.Warps, Stages: x.Stages + y.Stages, Registers: x.Registers + y.Registers, Constants: x.Constants, Grid: x.Grid}
	if y.Constants != "" {
		c.Constants, c.Grid = y.Constants, y.Grid
	}
	m, both := *a.Match, *a
	m.Change, m.Variant = &Change{Compiled: &c}, c.variant()
	m.Suggestions = []string{fmt.Sprintf("%s With %s besides: it was compiled with all of that.", a.Match.Suggestions[0], y)}
	both.Match = &m
	return both, true
}

// together are the pieces of advice that were tried as one.
func together(singles []Advice, tries []profiler.Try) (list []Advice) {
	tried := make(map[[2]string]bool)
	for _, t := range tries {
		tried[[2]string{t.Optimizer, t.Place}] = true
	}
	for i := range singles {
		delete(tried, [2]string{singles[i].Optimizer, singles[i].Place()})
	}
	for bases := singles; len(bases) > 0 && len(tried) > 0; {
		var found []Advice
		for i := range bases {
			for j := range singles {
				c, ok := Combine(&bases[i], &singles[j])
				if key := [2]string{c.Optimizer, ""}; ok {
					if key[1] = c.Place(); tried[key] {
						delete(tried, key)
						found = append(found, c)
					}
				}
			}
		}
		list, bases = append(list, found...), found
	}
	return list
}

// otherBlocks names what constants do that make larger or smaller blocks, with what is estimated of it.
func (p *parameters) otherBlocks(programs int, factor float64) (o Optimizer, speedup float64, said string) {
	switch {
	case programs > p.blocks:
		busy := func(n int) float64 { return float64(min(n, p.Launch.Facts.SMs)) / float64(p.Launch.Facts.SMs) }
		return blockIncrease{}, p.occupied(p.occupancy(programs, p.warps*warpSize).BlocksPerSM, p.warps) * busy(programs) / busy(p.blocks),
			fmt.Sprintf("in a grid of %d programs instead of %d: there are more of them to choose from", programs, p.blocks)
	case programs < p.blocks && len(p.executedNodes(func(op sass.Op) bool {
		c := op.Properties().Class
		return c == sass.ClassMatrix || c == sass.ClassGroup
	})) > 0:
		return registerTiling{}, p.hidden, fmt.Sprintf("in a grid of %d programs instead of %d: what a program loads serves more of the result", programs, p.blocks)
	case programs < p.blocks:
		return threadCoarsening{}, p.hidden, fmt.Sprintf("in a grid of %d programs instead of %d: each has more under way, and there are fewer to do what each of them does", programs, p.blocks)
	case factor > 1:
		return loopUnrolling{}, p.hidden, "in the same grid: loops take fewer rounds, each with more under way"
	}
	return occupancyIncrease{}, p.occupied(p.now.BlocksPerSM+1, p.warps), "in the same grid: a program has less at a time, in fewer registers or less shared memory, and masks leave less out"
}

// halfway is the constants whose values are half as large, as far as they grow.
func halfway(b profiler.Alternative) string {
	name, value, _ := strings.Cut(b.Constants, "=")
	_, was, _ := strings.Cut(b.Was, "=")
	n, err := strconv.Atoi(value)
	if m, bad := strconv.Atoi(was); err != nil || bad != nil || n < 4*m {
		return ""
	}
	return fmt.Sprintf("%s=%d", name, n/2)
}

// larger is by how much constants make a block larger, of NAME=VALUE each.
func larger(constants, was string) float64 {
	product := func(list string) float64 {
		p := 1.0
		for _, c := range strings.Split(list, ", ") {
			_, value, _ := strings.Cut(c, "=")
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				p *= float64(n)
			}
		}
		return p
	}
	return product(constants) / product(was)
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
		a := &advice[i]
		if !a.Match.Change.Compiles() || a.Tried == 0 && a.Untried != SameCode {
			continue
		}
		switch o := a.Optimizer; o {
		case threadIncrease{}.Name(), asyncCopy{}.Name(), blockIncrease{}.Name(), registerTiling{}.Name():
			known[o] = true
		case threadCoarsening{}.Name(), loopUnrolling{}.Name(): // of larger blocks, which is what tiles are
			known[registerTiling{}.Name()] = known[registerTiling{}.Name()] || a.Match.Change.Compiled.Constants != ""
		}
	}
	return slices.DeleteFunc(advice, func(a Advice) bool {
		return !a.Match.Change.Compiles() && known[a.Optimizer]
	})
}

// Compiles reports whether the change is to compile the kernel again; nil is none.
func (c *Change) Compiles() bool { return c != nil && c.Compiled != nil }
