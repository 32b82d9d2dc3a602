// Package sampler samples the program counters of an emulated launch as NVIDIA's GPUs do (section 2.1 of the GPA
// paper): each SM by itself, at the end of every period of 2^n cycles, takes one sample of one of its warp schedulers,
// the schedulers in turn. [Sampler] is the observer of the emulator; [Sampler.Launch] gives the profile.
//
// What the paper leaves open follows measurements of real GPUs: an SM is sampled only while it holds a warp, and the
// share of samples whose warp issues equals instructions per cycle over active warps, as with a warp drawn uniformly.
// A scheduler that holds no warp is passed over.
package sampler

import (
	"fmt"
	"math/bits"

	"gpa/emu"
	"gpa/emu/stall"
	"gpa/profiler"
)

// The periods that hardware has are the powers of two between these, cycles (CUPTI's samplingPeriod2 goes from 5 to 31).
const (
	MinPeriod = 1 << 5
	MaxPeriod = 1 << 31
)

// maxHeld is the number of samples over which the automatic period doubles.
const maxHeld = 8192

// Options say how to sample.
type Options struct {
	// Period is the number of cycles between two samples of an SM, a power of two. 0 is automatic: it begins with
	// MinPeriod and doubles whenever the launch has more than 8192 samples, every second period's samples being dropped,
	// so that short and long launches both have a few thousand.
	Period int
	// Seed selects the sequence of warps drawn.
	Seed uint64
}

// A Sampler is an emu.Observer that samples one launch after another. What it takes does not depend on the order in
// which the emulator advances the SMs, only on what happens in each.
type Sampler struct {
	options Options
	period  int64
	turn    []int    // by SM, with a fixed period: the scheduler after the one sampled last
	samples []sample // of the present launch, with the automatic period
	equal   tally    // of them, with a fixed one
	held    []int    // scratch: warps by scheduler
}

// A sample is one sample as it is taken.
type sample struct {
	cycle              int64 // 0 with a fixed period, where it does not matter
	pc, producerPC     uint64
	code, producerCode int32
	reason             stall.Reason
	issued, produced   bool
}

// A tally counts equal samples.
type tally map[sample]int64

func newSample(w emu.WarpState, issued bool) sample {
	return sample{pc: w.PC, producerPC: w.ProducerPC, code: int32(w.Code), producerCode: int32(w.ProducerCode), reason: w.Reason,
		issued: issued, produced: w.HasProducer}
}

// New returns a sampler.
func New(o Options) (*Sampler, error) {
	if o.Period != 0 && (o.Period < MinPeriod || o.Period > MaxPeriod || o.Period&(o.Period-1) != 0) {
		return nil, fmt.Errorf("sampling period %d: not a power of two from %d to %d cycles", o.Period, MinPeriod, MaxPeriod)
	}
	s := &Sampler{options: o}
	s.Begin(nil)
	return s, nil
}

// Begin forgets the samples of the launch before.
func (s *Sampler) Begin(*emu.LaunchFacts) {
	s.period = int64(max(s.options.Period, MinPeriod))
	s.turn = s.turn[:0]
	s.samples, s.equal = s.samples[:0], make(tally)
}

// automatic reports whether the period grows with the launch.
func (s *Sampler) automatic() bool { return s.options.Period == 0 }

// NextSample returns the end of the period that cycle lies in. A launch begins a period.
func (s *Sampler) NextSample(_ int, cycle int64) int64 {
	return max(1, (cycle+s.period-1)/s.period) * s.period
}

// Sample takes a sample of one warp.
func (s *Sampler) Sample(view emu.SMView, cycle int64) {
	if cycle%s.period != 0 {
		return
	}
	s.held = s.held[:0]
	for scheduler := range view.Schedulers() {
		s.held = append(s.held, view.Warps(scheduler))
	}
	scheduler, ok := s.scheduler(view.SM(), s.held, cycle)
	if !ok {
		return
	}
	warp := draw(s.options.Seed, view.SM(), cycle, s.held[scheduler])
	s.Take(view.Warp(scheduler, warp), view.Issued(scheduler), cycle)
}

// Take takes the sample of a warp that has been chosen. A cycle that was named before the period doubled, and does not end a
// period any more, is let pass.
func (s *Sampler) Take(w emu.WarpState, issued bool, cycle int64) {
	if cycle%s.period != 0 {
		return
	}
	taken := newSample(w, issued)
	if !s.automatic() {
		s.equal[taken]++
		return
	}
	taken.cycle = cycle
	s.samples = append(s.samples, taken)
	s.thin()
}

// Chooses reports whether which warp is sampled follows from the cycle alone: with the automatic period it does, with a fixed
// one it depends on the SM's samples before.
func (s *Sampler) Chooses() bool { return s.automatic() }

// Choose returns the warp that is sampled.
func (s *Sampler) Choose(sm int, held []int, cycle int64) (scheduler, i int) {
	scheduler, _ = thinnedTurn(held, cycle/MinPeriod)
	return scheduler, draw(s.options.Seed, sm, cycle, held[scheduler])
}

// thin doubles the period as long as there are too many samples. What is left is what the longer period would have
// taken from the start.
func (s *Sampler) thin() {
	for len(s.samples) > maxHeld && s.period < MaxPeriod {
		s.period *= 2
		kept := s.samples[:0]
		for _, t := range s.samples {
			if t.cycle%s.period == 0 {
				kept = append(kept, t)
			}
		}
		s.samples = kept
	}
}

// scheduler picks the scheduler whose turn it is, of those that hold so many warps; false where none holds any.
func (s *Sampler) scheduler(sm int, held []int, cycle int64) (int, bool) {
	if s.automatic() {
		return thinnedTurn(held, cycle/MinPeriod)
	}
	for sm >= len(s.turn) {
		s.turn = append(s.turn, 0)
	}
	n := len(held)
	for i := range n {
		if scheduler := (s.turn[sm] + i) % n; held[scheduler] > 0 {
			s.turn[sm] = (scheduler + 1) % n
			return scheduler, true
		}
	}
	return 0, false
}

// thinnedTurn takes the schedulers that hold warps in turn, in such a way that they still take turns after every second
// period has been dropped any number of times. A plain rotation would leave two of four schedulers, then one. With two
// or four schedulers the sum of the period's digits to that base does it: any aligned run of two or four periods, of the
// kept ones too, has every remainder once. An odd number of schedulers stays in rotation by itself.
func thinnedTurn(held []int, period int64) (int, bool) {
	busy := 0
	for _, n := range held {
		if n > 0 {
			busy++
		}
	}
	if busy == 0 {
		return 0, false
	}
	turn := rotation(period, int64(busy))
	for scheduler, n := range held {
		if n == 0 {
			continue
		}
		if turn == 0 {
			return scheduler, true
		}
		turn--
	}
	return 0, false
}

// rotation returns a number below n for each period.
func rotation(period, n int64) int64 {
	const odd = 0x5555555555555555 // bits 0, 2, 4, …
	switch n {
	case 2:
		return int64(bits.OnesCount64(uint64(period))) & 1
	case 4:
		return int64(bits.OnesCount64(uint64(period)&odd)+2*bits.OnesCount64(uint64(period)>>1&odd)) & 3
	}
	return period % n
}

// draw returns a number below n, the same for the same sample of the same launch. The mixing is that of SplitMix64
// (Steele, Lea and Flood, 2014).
func draw(seed uint64, sm int, cycle int64, n int) int {
	z := mix(mix(seed+uint64(sm)) + uint64(cycle))
	high, _ := bits.Mul64(z, uint64(n))
	return int(high)
}

func mix(z uint64) uint64 {
	z += 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Period returns the period of the present launch in cycles; with the automatic one it is final when the launch is over.
func (s *Sampler) Period() int { return int(s.period) }

// Samples returns the samples of the launch, equal ones added up, in a profile's order.
func (s *Sampler) Samples() []profiler.Sample {
	equal := s.equal
	if s.automatic() {
		equal = make(tally)
		for _, t := range s.samples {
			t.cycle = 0
			equal[t]++
		}
	}
	out := make([]profiler.Sample, 0, len(equal))
	for t, count := range equal {
		out = append(out, t.profiled(count))
	}
	return profiler.Collect(out)
}

func (s *sample) profiled(count int64) profiler.Sample {
	out := profiler.Sample{Code: int(s.code), PC: s.pc, Reason: s.reason, Count: count}
	if !s.issued {
		out.Latency = count
	}
	if s.produced {
		out.Producer = profiler.Producer{Known: true, Code: int(s.producerCode), PC: s.producerPC}
	}
	return out
}
