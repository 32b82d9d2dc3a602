package launch

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
)

// cyclesOf runs the launches of a file with full timing under a what-if.
func cyclesOf(t *testing.T, file string, w *emu.WhatIf) (cycles []int64) {
	t.Helper()
	s := open(t, file, sass.SM70, emu.Options{Timing: emu.TimingFull})
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			r, err := s.Vary(context.Background(), i, Variation{WhatIf: w})
			if err != nil {
				t.Logf("launch %d: %v", i, err)
				return cycles
			}
			cycles = append(cycles, r.Cycles)
		}
	}
	return cycles
}

// TestReplay holds that the streams of a launch's warps, without edits, take the cycles of the launch.
func TestReplay(t *testing.T) {
	for _, file := range corpus(t) {
		kernel := filepath.Base(filepath.Dir(file))
		if !builtFor(parse(t, file), sass.SM70) {
			continue
		}
		t.Run(kernel, func(t *testing.T) {
			as, by := cyclesOf(t, file, nil), cyclesOf(t, file, &emu.WhatIf{Streams: &emu.Streams{}})
			if len(by) != len(as) {
				t.Errorf("%d launches of %d", len(by), len(as))
				return
			}
			for i := range as {
				if as[i] != by[i] {
					t.Errorf("launch %d: %d cycles replayed, %d executed: %.2f %%", i, by[i], as[i], 100*math.Abs(float64(by[i])/float64(as[i])-1))
				}
			}
		})
	}
}
