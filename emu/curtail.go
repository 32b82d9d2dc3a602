package emu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Timing of a launch ends where it has had its share: the blocks that the GPU holds then are given up where they are, and the launch takes
// effect once more from the memory that it began with, without timing. What it would have taken follows from what each instruction took until
// then and how often all warps execute it: a loop of which a hundred rounds were timed goes on as it went.
//
// That holds as far as what was timed is like the rest. A launch of which the instructions come in another mix later, as behind a barrier that no
// block had come to, is timed again from its beginning, four times as far.

const (
	// likeRest is how far the mix of the instructions that were timed may be from that of all, by mixDistance.
	likeRest = 0.2
	// further is how many times as far a launch is timed that was not like the rest, and furthest how many times as far at most.
	further  = 4
	furthest = 16
	// leastBound is the relative error of cycles that are told from a part, at least.
	leastBound = 0.05
)

// A curtailment says how far a launch is timed.
type curtailment struct {
	weight int64  // warp instructions, and sectors that they ask of L1
	marks  []wave // warp instructions that had been executed in some cycles, when sectors were counted
	ended  bool   // timing has ended before the launch
	// slowest is, where no block waits, how many blocks for an instruction that it has executed the SM was given that has most for it: the
	// one that ends last if blocks are alike.
	slowest float64
}

// curtails reports whether timing of a launch may end before it does. It does not where others know the memory by its place, as programs do: each
// launch had to copy all of it, and what they write meanwhile would be lost.
func (m *Machine) curtails(l *Launch) bool {
	x := &m.options.Extrapolation
	return x.Most > 0 && !x.Off && !m.memory.others && m.separable(l)
}

// curtailed times a launch as far as its share, and lets all of it take effect.
func (m *Machine) curtailed(ctx context.Context, l *Launch) (*Result, error) {
	before := m.State()
	if before == nil {
		return m.launch(ctx, l)
	}
	timed := *l
	timed.curtailment = &curtailment{weight: m.options.Extrapolation.Most}
	part, err := m.launch(ctx, &timed)
	if !timed.curtailment.ended {
		return part, err
	}
	m.Enter(before)
	effect := *l
	effect.Untimed, effect.Observer = true, nil
	all, err := m.effect(ctx, &effect, before)
	var fault *Fault
	if err != nil && !errors.As(err, &fault) {
		return all, err
	}
	after := m.Contents()
	for most := furthest * m.options.Extrapolation.Most; part.mixDistance(all) > likeRest && timed.curtailment.weight < most; {
		m.Enter(before)
		timed.Recorder, timed.curtailment = nil, &curtailment{weight: further * timed.curtailment.weight}
		part, err = m.launch(ctx, &timed)
		if !timed.curtailment.ended { // at the end of the launch, or at its fault
			return part, err
		}
	}
	m.Enter(after)
	all.prolong(part, timed.curtailment)
	if fault != nil {
		return all, fault
	}
	return all, nil
}

const (
	// leastExecuted is for how many times as many warp instructions as may be timed a launch is executed to its end in any case.
	leastExecuted = 2
	// scoutedBlocks are executed before it is known how many instructions that would be.
	scoutedBlocks = 16
)

// effect executes a launch without timing, from a state of memory. Where nobody wants to know what is in memory then, and it takes long, it executes
// blocks from all over the grid, two neighbours each time, and counts for all what these have done.
func (m *Machine) effect(ctx context.Context, l *Launch, before *State) (*Result, error) {
	if !l.Dispensable || l.blocks() < 2*scoutedBlocks {
		return m.launch(ctx, l)
	}
	r, err := m.prepare(l)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", l.Kernel.Demangled, err)
	}
	if l.Recorder != nil {
		l.Recorder.Begin(&r.facts)
	}
	executed, least := 0, leastExecuted*m.options.Extrapolation.Most
	done := make([]bool, r.blocks)
	order := []int{0, l.Grid[0], r.blocks / 2, r.blocks - 2} // a recorder watches them
	for i := 0; ; i++ {
		n := int(radicalInverse(i-len(order)+1) * float64(r.blocks))
		if i < len(order) {
			n = order[i]
		}
		for end := min(n+2, r.blocks); n < end; n++ {
			if done[n] {
				continue
			}
			done[n] = true
			executed++
			if err := r.execute(ctx, n, n+1); err != nil {
				return r.result(), err
			}
		}
		instructions := r.limit - r.domain.budget
		if executed >= scoutedBlocks && float64(instructions)/float64(executed)*float64(r.blocks) <= float64(least) {
			m.Enter(before)
			return m.launch(ctx, l)
		}
		if instructions >= least/2 || executed == r.blocks {
			break
		}
	}
	out := r.result()
	out.scale(float64(r.blocks) / float64(executed))
	out.Partial = executed < r.blocks
	return out, nil
}

// radicalInverse mirrors the binary digits of a number at the point: van der Corput's sequence, which fills [0, 1) evenly.
func radicalInverse(n int) float64 { return float64(bits.Reverse64(uint64(n))>>11) / (1 << 53) }

// scale multiplies what was executed.
func (r *Result) scale(by float64) {
	times := func(n *int64) { *n = int64(math.Round(float64(*n) * by)) }
	r.WarpInstructions, r.ThreadInstructions = 0, 0
	for i := range r.Counters {
		c := &r.Counters[i]
		times(&c.Executions)
		times(&c.ThreadExecutions)
		times(&c.BranchTaken)
		r.WarpInstructions, r.ThreadInstructions = r.WarpInstructions+c.Executions, r.ThreadInstructions+c.ThreadExecutions
	}
}

// reached reports whether a launch has been timed as far as it may be. Sectors are counted now and then.
func (c *curtailment) reached(r *timedRun) bool {
	const step = 1 << 16
	executed := r.launch.limit - r.launch.left
	if c == nil || r.rest != nil || len(c.marks) > 0 && executed-c.marks[len(c.marks)-1].instructions < step {
		return false
	}
	c.marks = append(c.marks, wave{r.reached + r.passed, executed})
	for i := range r.crew.workers {
		for j := range r.crew.workers[i].tally.memory {
			executed += r.crew.workers[i].tally.memory[j].GlobalSectors
		}
	}
	if c.ended = executed >= c.weight; c.ended && !r.waiting() {
		for _, s := range r.sms {
			c.slowest = max(c.slowest, float64(s.given)/float64(max(s.executed, 1)))
		}
	}
	return c.ended
}

// mixDistance is how far the mix of the instructions of a part is from that of the rest of all.
func (r *Result) mixDistance(all *Result) float64 {
	part := r.counters()
	until, end := make([]opCounter, len(all.Counters)), make([]opCounter, len(all.Counters))
	for i := range all.Counters {
		c := &all.Counters[i]
		end[i].executions = c.Executions
		if p := part[InstAt{c.Code, c.PC}]; p != nil {
			until[i].executions = p.Executions
		}
	}
	return mixDistance(until, end)
}

// late returns the cycles for an instruction in the later half of what was timed, when caches have filled, and by which part they differ from
// those of the whole of it.
func (c *curtailment) late() (rate, differ float64) {
	last := c.marks[len(c.marks)-1]
	rate = c.marks[len(c.marks)/2].rate(last)
	all := wave{}.rate(last)
	return rate, math.Abs(rate/all - 1)
}

// rounded is by how much longer the busiest of some places takes than all in the mean, among which blocks are dealt out.
func rounded(blocks, places int) float64 {
	return float64((blocks+places-1)/places) * float64(places) / float64(blocks)
}

// prolong completes the result of a launch that only took effect by that of the part of it that was timed: the rest goes on as the later half of
// the part went, and ends with the SM that is slowest, or, where blocks still wait, has the most of them. Were it latency that decides, it ended with
// the last wave, and were it DRAM, with all SMs at a time: the bound reaches half as far as the first.
func (r *Result) prolong(part *Result, c *curtailment) {
	rate, differ := c.late()
	rest := max(r.WarpInstructions-part.WarpInstructions, 0)
	blocks, sms := r.Facts.Grid[0]*r.Facts.Grid[1]*r.Facts.Grid[2], r.Facts.Model.SMs.Int()
	held := r.Facts.Occupancy.BlocksPerSM * sms
	cycles := float64(part.Cycles) + rate*float64(rest)
	uneven := rounded(blocks, min(sms, blocks))
	if c.slowest > 0 { // an SM with so many blocks has executed as much of them in the cycles of the part
		uneven = max(1, float64(part.Cycles)*c.slowest*float64(r.WarpInstructions)/float64(blocks)/cycles)
	}
	r.Level, r.Cycles = part.Level, int64(math.Round(cycles*uneven))
	more := float64(r.Cycles) / uneven / float64(max(part.Cycles, 1))
	r.SMActiveCycles, r.WarpActiveCycles = int64(float64(part.SMActiveCycles)*more), int64(float64(part.WarpActiveCycles)*more)
	r.TimedBlocks = max(1, int(math.Round(float64(blocks)/more)))
	r.ErrorBound = leastBound + (part.mixDistance(r)+differ/2)*(1-1/more)
	if c.slowest == 0 {
		r.ErrorBound += (rounded(blocks, max(1, min(held, blocks))) - 1) / 2
	}
	r.accessesOf(part)
	timed := part.counters()
	for i := range r.Counters {
		if c := timed[InstAt{r.Counters[i].Code, r.Counters[i].PC}]; c != nil {
			r.Counters[i].Timed = c.Executions
		}
	}
}
