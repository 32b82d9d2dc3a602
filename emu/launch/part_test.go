package launch

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
)

// TestPart holds that a quarter of a launch's blocks on a quarter of a GPU take about the time of the launch, that the others take effect
// where they are asked for, and that a launch which is not timed takes effect too.
func TestPart(t *testing.T) {
	const (
		of     = 4
		least  = 160 // blocks of a launch
		every  = 6   // kernels
		median = .04
		within = .9 // of the kernels, by as much as a what-if run lets a portion be off
	)
	var mu sync.Mutex
	var errors []float64
	t.Run("kernels", func(t *testing.T) {
		large := 0
		for _, file := range corpus(t) {
			f := parse(t, file)
			if !builtFor(f, sass.SM70) || len(f.Launches) != 1 || f.Launches[0].Cooperative || blocks(&f.Launches[0]) < least {
				continue
			}
			if large++; !*wholeCorpus && large%every != 0 {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				t.Parallel()
				whole := vary(t, file, 1, Variation{})
				part := vary(t, file, of, Variation{Part: &emu.Part{Others: true}})
				vary(t, file, 1, Variation{Untimed: true})
				e := float64(part.Cycles)/float64(whole.Cycles) - 1
				t.Logf("%+.2f %% of %d cycles", 100*e, whole.Cycles)
				mu.Lock()
				defer mu.Unlock()
				errors = append(errors, math.Abs(e))
			})
		}
	})
	slices.Sort(errors)
	near := 0
	for near < len(errors) && errors[near] <= .1 {
		near++
	}
	t.Logf("%d kernels, median error %.2f %%, %d within 10 %%, worst %.2f %%", len(errors), 100*errors[len(errors)/2], near, 100*errors[len(errors)-1])
	if errors[len(errors)/2] > median || float64(near) < within*float64(len(errors)) {
		t.Errorf("errors %.3f: more than %g in the median, or more than %g in more than one of ten", errors, median, .1)
	}
}

// vary runs the only launch of a file on one of so many parts of a V100, and checks what it leaves in memory.
func vary(t *testing.T, file string, of int, v Variation) *emu.Result {
	t.Helper()
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	if v.Part != nil {
		model, v.Part.Share = model.Part(of)
	}
	s := openOn(t, file, model, emu.Options{Timing: emu.TimingFull})
	r, err := s.Vary(context.Background(), 0, v)
	if err != nil {
		t.Fatal(err)
	}
	if v.Untimed != (r.Cycles == 0) {
		t.Errorf("%d cycles", r.Cycles)
	}
	checks, err := s.Check()
	if err != nil {
		t.Fatal(err)
	}
	for i := range checks {
		if !checks[i].OK() {
			t.Errorf("%s is wrong", checks[i].Buffer)
		}
	}
	return r
}
