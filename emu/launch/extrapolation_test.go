package launch

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"sync"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
)

// TestExtrapolationBound runs kernels of the project in full and with timing that ends when their blocks have become steady, on one
// SM so that their grids are large for it. The error of the cycles is within the bound that the result names, and memory is the
// same. With -v it prints the errors and bounds.
func TestExtrapolationBound(t *testing.T) {
	const waves, fewest, every = 12, 8, 2 // of the kernels one in so many
	var mu sync.Mutex
	extrapolated, worst := 0, 0.0
	t.Run("kernels", func(t *testing.T) {
		large := 0
		for _, file := range corpus(t) {
			f := parse(t, file)
			if !builtFor(f, sass.SM70) || blocks(&f.Launches[0]) < waves*8 {
				continue
			}
			if large++; !*wholeCorpus && large%every != 0 {
				continue
			}
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				t.Parallel()
				whole, want := onOneSM(t, file, emu.Extrapolation{Off: true})
				part, got := onOneSM(t, file, emu.Extrapolation{After: 1})
				if whole.TimedBlocks != 0 || !bytes.Equal(got, want) {
					t.Errorf("%d blocks timed where all are to be, memory the same: %v", whole.TimedBlocks, bytes.Equal(got, want))
				}
				if part.TimedBlocks == 0 {
					t.Skip("not steady")
				}
				e := float64(part.Cycles)/float64(whole.Cycles) - 1
				t.Logf("%d of %d blocks timed: %+.2f %%, bound %.2f %%", part.TimedBlocks, blocks(&f.Launches[0]), 100*e, 100*part.ErrorBound)
				if math.Abs(e) > part.ErrorBound {
					t.Errorf("%d cycles instead of %d: %+.2f %%, the bound is %.2f %%", part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound)
				}
				mu.Lock()
				defer mu.Unlock()
				extrapolated, worst = extrapolated+1, max(worst, math.Abs(e))
			})
		}
	})
	t.Logf("%d kernels, error at most %.2f %%", extrapolated, 100*worst)
	if extrapolated < fewest {
		t.Errorf("only %d kernels were extrapolated", extrapolated)
	}
}

func blocks(l *Launch) int { return l.Grid[0] * l.Grid[1] * l.Grid[2] }

// onOneSM runs the first launch of a file on a V100 with one SM, and returns what is in its buffers then.
func onOneSM(t *testing.T, file string, e emu.Extrapolation) (*emu.Result, []byte) {
	t.Helper()
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	model.SMs.Value = 1
	s := openOn(t, file, model, emu.Options{Timing: emu.TimingFull, Extrapolation: e})
	r, err := s.Run(context.Background(), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var memory []byte
	for i := range s.File.Buffers {
		data, err := s.Save(s.File.Buffers[i].Name)
		if err != nil {
			t.Fatal(err)
		}
		memory = append(memory, data...)
	}
	return r, memory
}
