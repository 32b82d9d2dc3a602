package emu

import (
	"math"
	"testing"

	"gpa/emu/arch"
)

// TestLaunchRate holds how many cycles each further block of an empty kernel takes on an H100, from 2048 blocks to 8192
// (sarchlab/mgpusim, H100_raw.csv, emptykernel); by its FFMA chains it is one of 114 SMs. Up to the 672 threads of 21 warps the work
// distributor sets the pace, from 704 on blocks wait for places. Over all grids that were measured it is 1.086, 1.39 and 1.51 cycles.
func TestLaunchRate(t *testing.T) {
	for _, tt := range []struct {
		threads int
		want    float64
	}{{256, 1.036}, {672, 1.043}, {704, 1.374}, {1024, 1.473}} {
		m, err := arch.ByName("h100pcie")
		if err != nil {
			t.Fatal(err)
		}
		cycles := func(blocks int) float64 {
			p := timedProgram{model: m, blocks: blocks, threads: tt.threads, text: "[B------:R-:W-:-:S05] EXIT"}
			r, _, _ := p.run(t, nil)
			return float64(r.Cycles)
		}
		const few, more = 2048, 8192
		got := (cycles(more) - cycles(few)) / (more - few)
		if math.Abs(got/tt.want-1) > .02 {
			t.Errorf("%d threads: %.3f cycles a block, want %.3f", tt.threads, got, tt.want)
		}
	}
}
