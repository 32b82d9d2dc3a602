package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// splitLoops matches launches with fewer warps than the GPU has schedulers, whose blocks are too small to be split, and whose
// threads spend their time in a loop: several threads can each do a part of its rounds. Shuffles put the parts together; where the
// loop has barriers, so that its parts have to be in other blocks, it is taken to cost a launch of its own that loads them.
func (in *Input) splitLoops(blocks, warps int) []*Match {
	f := &in.Launch.Facts
	parts := float64(f.SMs*f.SchedulersPerSM) / float64(blocks*warps)
	l, code, samples := in.hottestLoop()
	if l == nil || parts < 2 || f.Cycles <= 0 {
		return nil
	}
	trips := in.nestedRounds(code, l)
	if trips < 2 {
		return nil
	}
	parts = min(parts, trips, warpSize)
	cycles, busy := float64(f.Cycles), in.busyCycles()
	after := cycles - busy*samples/in.Total*(1-1/parts)
	together := "Put the parts together by warp shuffles: give the rounds of a thread to neighbouring threads."
	if in.hasBarrier(code, l) {
		after += in.Model.Launching.Fixed.Value + in.Model.Latencies.DRAM.Value // a launch that loads the parts
		together = "The threads of a block go through the loop together, so give its rounds to more blocks, and put the parts together by atomics or a second kernel."
	}
	m := in.launchMatch(max(1, cycles/after))
	s := in.loopScope(code, l)
	at := in.scopePlace(s)
	m.Suggestions = []string{
		fmt.Sprintf("The launch has %d warps for %d schedulers, and its threads spend %.0f%% of their time in the loop at %s. Let %.0f times as many threads each do a part of its %.0f rounds.",
			blocks*warps, f.SMs*f.SchedulersPerSM, 100*samples/in.Total, at, parts, trips),
		together,
	}
	return []*Match{m}
}

// nestedRounds returns how many rounds a loop and those inside it make in all each time it is entered, at most of one of them; 0
// where the source counters do not tell.
func (in *Input) nestedRounds(code int, l *cfg.Loop) float64 {
	trips, known := in.TripCount(code, l)
	if !known {
		return 0
	}
	c, most := in.codes[code], trips
	own := c.executions[c.graph.Blocks[l.Header].First]
	for _, inner := range c.graph.Loops {
		if inner != l && l.Contains(inner.Header) {
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
func (in *Input) hottestLoop() (hottest *cfg.Loop, code int, samples float64) {
	for k, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			sum := 0.0
			in.eachInst(k, l, func(i int) { sum += in.loopTime(blamer.Node{Code: k, Inst: i}) })
			if l.Parent == nil && sum > samples {
				hottest, code, samples = l, k, sum
			}
		}
	}
	return hottest, code, samples
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
