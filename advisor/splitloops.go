package advisor

import (
	"fmt"
	"math"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// splitLoops matches launches with fewer warps than the GPU has schedulers, whose blocks are too small to be split, and whose
// threads spend their time in a loop: several threads can each do a part of its rounds.
func (in *Input) splitLoops(blocks, warps int) []*Match {
	f := &in.Launch.Facts
	parts := float64(f.SMs*f.SchedulersPerSM) / float64(blocks*warps)
	l, code := in.hottestLoop()
	if l == nil || parts < 2 || f.Cycles <= 0 {
		return nil
	}
	best := loopSplit{loop: l, after: math.Inf(1)}
	if ordered, _ := in.ordered(code, l); !ordered {
		best = in.splitLoop(code, l, blocks, parts)
	}
	if !in.hasBarrier(code, l) {
		return in.splitMatch(code, best, blocks*warps)
	}
	for _, inner := range in.codes[code].graph.Loops { // whose rounds the threads go apart
		if ordered, _ := in.ordered(code, inner); inner.Parent != l || in.hasBarrier(code, inner) || ordered {
			continue
		}
		if s := in.splitLoop(code, inner, blocks, parts); s.after < best.after {
			best = s
		}
	}
	return in.splitMatch(code, best, blocks*warps)
}

// A loopSplit is a loop whose rounds several threads divide.
type loopSplit struct {
	loop    *cfg.Loop
	samples float64 // in the loop
	parts   float64 // that schedulers work on at the same time
	threads float64 // that divide the rounds of one now
	trips   float64
	after   float64 // cycles of the launch then
}

// splitLoop says what a loop whose rounds are divided brings. Shuffles put the parts together, of as many threads as a power of two.
// Where the loop has barriers, so that its parts have to be in other blocks, another launch is taken to do that, which loads the
// parts, some of them at a time. The blocks for the threads are placed one after the other.
func (in *Input) splitLoop(code int, l *cfg.Loop, blocks int, parts float64) loopSplit {
	s := loopSplit{loop: l, samples: in.samplesInLoop(code, l), trips: in.nestedRounds(code, l), after: math.Inf(1)}
	s.parts = min(parts, s.trips, warpSize)
	s.threads = s.parts
	if s.trips < 2 {
		return s
	}
	cycles, busy := float64(in.Launch.Facts.Cycles), in.busyCycles()
	together := in.Model.Latencies.DRAM.Value * math.Ceil(s.parts/unrollFactor)
	if in.hasBarrier(code, l) {
		together += in.Model.Launching.Fixed.Value + busy*in.firstUses()/in.Total
	} else {
		steps := math.Ceil(math.Log2(s.parts))
		s.threads = math.Exp2(steps)
		together = steps * (in.Model.Latencies.Shuffle.Value + fixedLatency)
	}
	s.after = cycles - busy*s.samples/in.Total*(1-1/s.parts) + together + in.placing(float64(blocks)*(s.threads-1))
	return s
}

// splitMatch is the advice to divide the rounds of a loop; nil where it brings nothing.
func (in *Input) splitMatch(code int, s loopSplit, warps int) []*Match {
	f := &in.Launch.Facts
	cycles := float64(f.Cycles)
	if s.after >= cycles {
		return nil
	}
	together := "Give the rounds of a thread to neighbouring threads, in turn (thread j takes rounds j, j+n and so on), so that they read neighbouring addresses, and put the parts together by warp shuffles."
	if in.hasBarrier(code, s.loop) {
		together = "The threads of a block go through the loop together, so give its rounds to more blocks, and put the parts together by atomics, on results that are zero before, or by a second kernel."
	}
	m := in.launchMatch(cycles / s.after)
	m.Spares = IssueSlots | SharedMemory
	m.Change = &Change{Streams: &Streams{}}
	if loops := []Loop{in.streamLoop(code, s.loop)}; in.hasBarrier(code, s.loop) {
		m.Change.Streams.Divided = &Divided{Loops: loops, Parts: int(s.parts), Contiguous: true}
	} else {
		m.Change.Streams.Transposed = &Transposed{Loops: loops, Width: int(s.threads), Threads: in.blockOf(int(s.threads)), Combined: true}
	}
	_, assumed := in.ordered(code, s.loop)
	m.assume(assumed)
	at := in.scopePlace(in.loopScope(code, s.loop))
	m.Suggestions = []string{
		fmt.Sprintf("The launch has %d warps for %d schedulers, and its threads spend %.0f%% of their time in the loop at %s. Let %.0f times as many threads each do a part of its %.0f rounds.",
			warps, f.SMs*f.SchedulersPerSM, 100*s.samples/in.Total, at, s.threads, s.trips),
		together,
	}
	return []*Match{m}
}

// nestedRounds returns how many rounds a loop and those inside it whose rounds do not depend on each other make in all each time it is entered, at
// most of one of them; 0 where the source counters do not tell.
func (in *Input) nestedRounds(code int, l *cfg.Loop) float64 {
	trips, known := in.TripCount(code, l)
	if !known {
		return 0
	}
	c, most := in.codes[code], trips
	own := c.executions[c.graph.Blocks[l.Header].First]
	for _, inner := range c.graph.Loops {
		if inner == l || !l.Contains(inner.Header) {
			continue
		}
		if ordered, _ := in.ordered(code, inner); !ordered {
			most = max(most, trips*c.executions[c.graph.Blocks[inner.Header].First]/own)
		}
	}
	return most
}

func (in *Input) hasBarrier(code int, l *cfg.Loop) bool {
	found := false
	in.eachInst(code, l, func(i int) { found = found || in.Module.Codes[code].Insts[i].Op == sass.BAR })
	return found
}

// hottestLoop returns the outermost loop with the most samples.
func (in *Input) hottestLoop() (hottest *cfg.Loop, code int) {
	most := 0.0
	for k, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			if sum := in.samplesInLoop(k, l); l.Parent == nil && sum > most {
				hottest, code, most = l, k, sum
			}
		}
	}
	return hottest, code
}

// samplesInLoop adds up the samples of a loop that come again with every round.
func (in *Input) samplesInLoop(code int, l *cfg.Loop) float64 {
	sum := 0.0
	in.eachInst(code, l, func(i int) { sum += in.loopTime(blamer.Node{Code: code, Inst: i}) })
	return sum
}

// loopTime are the samples of an instruction that come again with every round: not those of first misses of instructions and
// constants.
func (in *Input) loopTime(n blamer.Node) float64 {
	sum := in.codes[n.Code].total[n.Inst]
	for _, b := range in.byUse[n] {
		if b.Detail == blamer.ConstantMemory {
			sum -= b.Count
		}
	}
	return sum
}
