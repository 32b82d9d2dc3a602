package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// A launch of few threads that each go through loops whose rounds depend on each other leaves nearly all of the GPU idle. No loop can be divided then,
// but often what stands around them can: copies of a loop that the compiler made of the rounds of an outer one, and the cells of a table of
// which each needs its neighbours before it (a wavefront).

// What a launch of few threads leaves free, and what its loops take, at least: less may as well be the launch itself.
const (
	muchRoom  = 16  // times the warps
	mostTime  = 0.5 // of the samples
	fewCopies = 4
)

// fewThreads matches launches of few threads where no loop's rounds can be divided.
func (in *Input) fewThreads() []*Match {
	room := in.room()
	if volume(in.Launch.Grid) >= in.Launch.Facts.SMs || room < muchRoom {
		return nil
	}
	if m := in.copiedLoops(room); m != nil {
		return []*Match{m}
	}
	if m := in.wavefront(room); m != nil {
		return []*Match{m}
	}
	if m := in.unrolledRows(room); m != nil {
		return []*Match{m}
	}
	return nil
}

// copiedLoops matches loops that stand one behind the other for one of the source, none of which needs what another has left: the rounds of an
// outer loop that the compiler has unrolled.
func (in *Input) copiedLoops(room float64) *Match {
	type key struct {
		code, function int
		frame          cubin.Frame
	}
	copies := make(map[key][]*cfg.Loop)
	var order []key
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			k := key{code, l.Func, in.loopFrame(code, l)}
			if l.Parent != nil || k.frame.Line == 0 || c.executions[c.graph.Blocks[l.Header].First] == 0 || in.hasBarrier(code, l) {
				continue
			}
			if copies[k] == nil {
				order = append(order, k)
			}
			copies[k] = append(copies[k], l)
		}
	}
	for _, k := range order {
		nest := &loopNest{code: k.code, loops: copies[k]}
		entered := 0.0
		for _, l := range nest.loops {
			nest.samples += in.samplesInLoop(k.code, l)
			if rounds, known := in.TripCount(k.code, l); known {
				entered += in.codes[k.code].executions[in.codes[k.code].graph.Blocks[l.Header].First] / max(1, rounds) / in.warps()
			}
		}
		needs := slices.ContainsFunc(nest.loops, func(l *cfg.Loop) bool { return len(in.feeders(nest, l)) > 0 })
		if len(nest.loops) < fewCopies || entered < fewCopies || nest.samples < mostTime*in.Total || needs {
			continue
		}
		m := in.distributed(nest, min(room, entered))
		m.Variant = "copies of a loop"
		m.Suggestions = []string{
			fmt.Sprintf("The launch has %s for %d SMs, and each warp goes through the loop at %s %.0f times, one time after the other, for results of their own: an outer loop that is unrolled. Let a block whose threads share the loop do one of these, or at least a warp: a grid of %.0f times as many, with the number of the outer round from blockIdx.",
				count(volume(in.Launch.Grid), "block"), in.Launch.Facts.SMs, in.scopePlace(in.loopScope(k.code, nest.loops[0])), entered, entered),
			"What the outer rounds add up in registers, as the place of a result in a lane, each then stores by itself. Not where they read what others store.",
		}
		m.assume(assumedIndependent)
		return m
	}
	return nil
}

// wavefront matches two nested loops through whose rounds threads go one by one, as each reads from memory what earlier rounds of both have stored.
func (in *Input) wavefront(room float64) *Match {
	outer, code := in.hottestLoop()
	if outer == nil || in.Launch.Record == nil || in.hasBarrier(code, outer) || in.samplesInLoop(code, outer) < mostTime*in.Total {
		return nil
	}
	const least = 8 // rounds of each: fewer make no wave
	rounds, known := in.TripCount(code, outer)
	within, inner := 0.0, (*cfg.Loop)(nil)
	for _, l := range in.codes[code].graph.Loops {
		if n, k := in.TripCount(code, l); l.Parent == outer && k && n > within {
			within, inner = n, l
		}
	}
	if !known || inner == nil || min(rounds, within) < least {
		return nil
	}
	inLoop := func(l *cfg.Loop, p profiler.Place) bool { return in.isWithin(code, l, nodeOf(p)) }
	reads := make(map[blamer.Node]bool)
	for _, d := range in.Launch.Record.Dependences {
		if d.Kind == profiler.FlowDependence && d.Carried && d.Space == "global" && d.Party == profiler.SameThread && inLoop(outer, d.From) && inLoop(inner, d.To) {
			reads[nodeOf(d.To)] = true
		}
	}
	if len(reads) == 0 {
		return nil
	}
	m := in.distributed(&loopNest{code: code, samples: in.samplesInLoop(code, outer)}, min(room*float64(warpSize), rounds, within))
	m.Variant = "wavefront"
	m.Suggestions = []string{
		fmt.Sprintf("The launch has %s for %d SMs, and each thread goes through the %.0f x %.0f rounds of the loops at %s and %s by itself, which read what earlier rounds have stored (%s). Where a cell needs its neighbours before it alone, the cells of an anti-diagonal do not need each other: give each item a block, let its thread u do column u, go through the %.0f anti-diagonals (row n - u in step n), and put a __syncthreads() behind each.",
			count(volume(in.Launch.Grid), "block"), in.Launch.Facts.SMs, rounds, within, in.scopePlace(in.loopScope(code, outer)), in.scopePlace(in.loopScope(code, inner)), in.places(sortedKeys(reads), 3), rounds+within-1),
		"Every thread has to come to the barrier in every step, also one whose row is outside of the table; what stands behind the loops is then for the thread that has made the last cell. Load what a step needs besides before the barrier, and pass on neighbours' values in registers and shared memory. Not where a cell needs what comes behind it in its row, or all of the row before.",
	}
	return m
}

// unrolledRows matches a loop of which each round makes a row of cells from the one before, one behind the other as the compiler has unrolled the loop over
// the row in full.
func (in *Input) unrolledRows(room float64) *Match {
	outer, code := in.hottestLoop()
	if outer == nil || in.Launch.Record == nil || in.hasBarrier(code, outer) || in.samplesInLoop(code, outer) < mostTime*in.Total {
		return nil
	}
	n := &loopNest{code: code, loops: []*cfg.Loop{outer}, samples: in.samplesInLoop(code, outer)}
	cells := make(map[cubin.Frame]float64)
	in.eachInst(code, outer, func(i int) {
		x := blamer.Node{Code: code, Inst: i}
		if op := in.Inst(x).Op; (op == sass.STG || op == sass.STL) && in.Loop(x) == outer && in.frame(x).Line > 0 && in.counts(x).executions > 0 {
			cells[in.frame(x)]++
		}
	})
	row := 0.0
	for _, count := range cells {
		row = max(row, count)
	}
	for _, d := range in.Launch.Record.Dependences {
		from, to := nodeOf(d.From), nodeOf(d.To)
		if d.Kind != profiler.FlowDependence || !in.isWithin(code, outer, from) || !in.isWithin(code, outer, to) {
			continue
		}
		if !d.Carried || d.Party != profiler.SameThread || d.Space == "shared" || in.Loop(from) != outer || in.Loop(to) != outer {
			return nil // cells of a row need each other
		}
		if !slices.Contains(n.handed, to) {
			n.handed = append(n.handed, to)
		}
	}
	rounds, known := in.TripCount(code, outer)
	if _, found := in.recurrence(code, outer); found || !known || len(n.handed) == 0 || row < 8 {
		return nil
	}
	m := in.distributed(n, min(room*float64(warpSize), row))
	m.Variant = "rows"
	m.Suggestions = []string{
		fmt.Sprintf("The launch has %s for %d SMs, and each thread goes through the %.0f rounds of the loop at %s by itself. Each makes %.0f or more cells, by a loop that the compiler has unrolled, from what the round before has stored, not from each other: give each item a block with a thread for each cell of a round, which goes through all rounds of the loop.",
			count(volume(in.Launch.Grid), "block"), in.Launch.Facts.SMs, rounds, in.scopePlace(in.loopScope(code, outer)), row),
		fmt.Sprintf("What a cell reads at %s others have made: keep the cells of two rounds in shared memory, in turn, and put a __syncthreads() behind each round, where all threads of the block come by.", in.places(in.bySamples(n.handed), 3)),
	}
	return m
}
