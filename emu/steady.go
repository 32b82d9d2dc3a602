package emu

import (
	"context"
	"math"
	"slices"
)

// A large grid runs the same few instructions for a long time. Its blocks come in waves, of as many as the GPU holds; once
// several waves in a row have taken the same time for an instruction, the launch is steady and more of them tell nothing
// new. As many whole waves as are left only take effect, and their cycles are their instructions times the cycles of an instruction
// in the steady waves. That a ramp at the beginning and a tail at the end belong to the launch is kept so: both are timed, the tail
// with as many blocks in the last wave as the launch has there. PKA and Photon stop in this way, by the rate of instructions
// (Baddouh et al., MICRO 2021; Liu et al., MICRO 2023).

// Extrapolation says when timing ends before the launch does. The zero value is the default.
type Extrapolation struct {
	Off bool
	// After is the number of warp instructions that are timed in any case, 0 for DefaultExtrapolation.
	After int64
	// Portions lets a launch that executes more than that be timed in portions, see shorten.go. It is not the default: the
	// bound holds for too few launches.
	Portions bool
	// Most is how many warp instructions, and sectors that they ask of L1, are timed of a launch at most, 0 for any number: see curtail.go.
	Most int64
}

// DefaultExtrapolation is the number of warp instructions, some seconds' worth, that are timed in any case.
const DefaultExtrapolation = 1 << 23

// What is steady: so many waves, or groups of them, that differ by no more than this part. A wave more has passed before, in
// which the caches filled; and so many are left at least, without which there is nothing to gain.
const (
	steadyWaves = 8
	steadyRange = 0.05
	lastRange   = 0.5 // of a wave, by which the end of the launch may differ
	wavesLeft   = 2
)

// A wave is when so many blocks had ended as the GPU holds at a time, from the wave before on.
type wave struct {
	end          int64 // cycle
	instructions int64 // warp instructions executed until then
}

// An extrapolated is a launch whose timing has ended before its blocks.
type extrapolated struct {
	first  int     // block that is not timed, nor are those behind
	wave   float64 // cycles of a steady wave
	rate   float64 // cycles for a warp instruction in the steady waves
	spread float64 // relative difference between the slowest of them and the fastest

	// Of what was not timed: warp instructions, and how far their mix is from that of those that were.
	instructions int64
	other        float64
}

// capacity is the number of blocks that the GPU holds at a time.
func (r *timedRun) capacity() int { return r.launch.facts.Occupancy.BlocksPerSM * len(r.sms) }

// waiting reports whether blocks wait for a place.
func (r *timedRun) waiting() bool {
	if r.rest != nil {
		return r.next < r.rest.first
	}
	return r.next < r.launch.blocks
}

// leave takes note that a block has left in a cycle.
func (r *timedRun) leave(at int64) {
	r.ended = max(r.ended, at)
	if r.left++; r.left%r.capacity() == 0 {
		r.waves = append(r.waves, wave{r.ended + r.passed, r.launch.limit - r.launch.left})
	}
}

// settle ends timing if the launch is steady.
func (r *timedRun) settle() {
	e := &r.launch.machine.options.Extrapolation
	after := e.After
	if after == 0 {
		after = DefaultExtrapolation
	}
	part := r.launch.launch.Part
	if part != nil {
		after /= mostParts
	}
	if e.Off || r.launch.launch.clusterBlocks() > 1 || part != nil && part.Instructions == 0 || r.unsteady || r.rest != nil || !r.waiting() || r.launch.limit-r.launch.left < after ||
		len(r.waves) < steadyWaves+2 || r.launch.blocks-r.next < wavesLeft*r.capacity() {
		return
	}
	if rate, spread := steadiness(r.waves); spread <= steadyRange {
		last := (r.launch.blocks - r.next) % r.capacity()
		wave := float64(r.waves[len(r.waves)-1].end-r.waves[len(r.waves)-1-steadyWaves].end) / steadyWaves
		r.rest = &extrapolated{first: r.next + last, wave: wave, rate: rate, spread: spread}
	}
}

// steadiness returns the cycles for an instruction in the last waves and by which part of that these differ. The more there
// have been, the more of them are taken together as one: that evens out what is left of their ups and downs.
func steadiness(waves []wave) (rate, spread float64) {
	step := (len(waves) - 2) / steadyWaves
	last := len(waves) - 1
	first := last - steadyWaves*step
	low, high := math.Inf(1), 0.0
	for i := first; i < last; i += step {
		r := waves[i].rate(waves[i+step])
		low, high = min(low, r), max(high, r)
	}
	rate = waves[first].rate(waves[last])
	return rate, (high - low) / rate
}

// rate returns the cycles for an instruction between the ends of two waves.
func (w wave) rate(next wave) float64 {
	return float64(next.end-w.end) / float64(max(next.instructions-w.instructions, 1))
}

// resume times the rest after all: blocks on the GPU wait for some of it.
func (r *timedRun) resume(t int64) {
	r.rest, r.unsteady, r.vacant = nil, true, r.vacant[:0]
	for _, s := range r.sms {
		for s.blocks < r.launch.facts.Occupancy.BlocksPerSM && r.waiting() {
			r.place(s, t)
		}
	}
}

// runRest runs the blocks that are not timed.
func (r *launchRun) runRest(ctx context.Context) error {
	if r.replay != nil {
		return r.runUnrecorded(ctx)
	}
	rest := r.timed.rest
	timed := slices.Clone(r.tally.ops)
	before := r.left
	r.domain.budget = r.left
	err := r.execute(ctx, rest.first, r.blocks)
	rest.instructions, rest.other = before-r.domain.budget, mixDistance(timed, r.tally.ops)
	for i := range timed {
		if n := timed[i].executions; n > 0 {
			r.tally.memory[i].scale(float64(r.tally.ops[i].executions) / float64(n))
		}
	}
	return err
}

// runUnrecorded runs the blocks of a replayed launch that are not recorded, as they are. What they would execute after the edits
// follows from what those did that were.
func (r *launchRun) runUnrecorded(ctx context.Context) error {
	c := r.replay.tape
	timed := slices.Clone(c.run.tally.ops)
	before := c.run.domain.budget
	for n := 0; n < len(c.done); n++ {
		first := n
		for n < len(c.done) && !c.done[n] {
			n++
		}
		if n == first {
			continue
		}
		if err := c.run.execute(ctx, first, n); err != nil {
			return err
		}
	}
	r.timed.rest.instructions = r.rescaled(before - c.run.domain.budget)
	r.timed.rest.other = mixDistance(timed, c.run.tally.ops)
	return nil
}

// extrapolate adds to a result what the blocks that were not timed would have taken. What may be wrong with it is the rate, as
// far as the steady waves differ, that the rest executes another mix of instructions, and that the last wave is another one than
// that of the whole launch: its blocks begin at other times, which may bring half a wave.
func (r *launchRun) extrapolate(out *Result) {
	rest := r.timed.rest
	if rest == nil {
		return
	}
	extra := int64(rest.rate * float64(rest.instructions))
	timed := out.WarpInstructions - rest.instructions
	out.Cycles += extra
	held := float64(out.WarpActiveCycles) / float64(max(out.SMActiveCycles, 1))
	out.SMActiveCycles += extra * int64(len(r.timed.sms))
	out.WarpActiveCycles = int64(held * float64(out.SMActiveCycles))
	all := float64(out.WarpInstructions) / float64(max(timed, 1))
	for _, n := range []*int64{&out.Traffic.L2, &out.Traffic.DRAMRead, &out.Traffic.DRAMWritten} {
		*n = int64(float64(*n) * all)
	}
	out.TimedBlocks = rest.first
	out.ErrorBound = (float64(extra)*(rest.spread+rest.other) + rest.wave*lastRange) / float64(out.Cycles)
}

// mixDistance returns the sum, over the ops, of how much their part of all executions differs between the counts up to some
// moment and those from then to the end. It is 0 for the same mix and 2 for nothing in common. As a change of the rate it means
// that the ops which are more or fewer cost between nothing and twice the mean.
func mixDistance(until, end []opCounter) (distance float64) {
	var before, after int64
	for i := range until {
		before += until[i].executions
		after += end[i].executions - until[i].executions
	}
	for i := range until {
		p := float64(until[i].executions) / float64(max(before, 1))
		q := float64(end[i].executions-until[i].executions) / float64(max(after, 1))
		distance += math.Abs(p - q)
	}
	return distance
}

// scale multiplies the counts.
func (c *memoryCounter) scale(by float64) {
	for _, n := range []*int64{&c.GlobalSectors, &c.GlobalSectorsIdeal, &c.SharedWavefronts, &c.SharedWavefrontsIdeal} {
		*n = int64(math.Round(float64(*n) * by))
	}
}
