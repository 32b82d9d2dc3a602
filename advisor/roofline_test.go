package advisor

import (
	"math"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/profiler"
)

// streaming is a launch that fills the GPU for some cycles and moves so many bytes.
func streaming(t *testing.T, cycles, bytes int64) *blamer.Result {
	t.Helper()
	m, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	return &blamer.Result{Model: m, Module: &cubin.File{}, Launch: &profiler.Launch{
		Grid: [3]int{1000, 1, 1}, Block: [3]int{128, 1, 1}, Period: 32,
		Facts: profiler.Facts{
			Cycles: cycles, DRAMReadBytes: bytes, ClockHz: 1e9, SMs: 80, SchedulersPerSM: 4, BlocksPerSM: 1,
			WarpInstructions: 80 * 4 * cycles / 10,
		},
	}}
}

// TestLimits holds that a launch at 80 % of a unit's peak is said to be bound by it, and by how much it can gain then.
func TestLimits(t *testing.T) {
	const second = 1e9 // cycles
	for _, c := range []struct {
		name  string
		bytes int64
		busy  float64 // 0 for no limit
	}{
		{"nine tenths of the peak", 808e9, .9},
		{"four fifths of the peak", 719e9, .8},
		{"less", 700e9, 0},
		{"nothing", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits, err := Limits(streaming(t, second, c.bytes))
			if err != nil {
				t.Fatal(err)
			}
			if (len(limits) > 0) != (c.busy > 0) {
				t.Fatalf("limits %v", limits)
			}
			if len(limits) == 0 {
				return
			}
			l := limits[0]
			near(t, "busy", l.Busy, c.busy, .001)
			near(t, "ceiling", l.Ceiling, 1/c.busy, .01)
			if text := l.Text(); l.Unit != DRAM || !strings.Contains(text, "peak of DRAM") || !strings.Contains(text, "fewer bytes") {
				t.Errorf("%v: %s", l.Unit, text)
			}
		})
	}
}

// TestCeiling holds that what spares the busiest unit is bound by the next, and that nothing is where no cycles are known.
func TestCeiling(t *testing.T) {
	in := NewInput(streaming(t, 1e9, 808e9))
	near(t, "all units have as much to do", in.ceiling(0), 1/.9, .01)
	near(t, "DRAM has less to do", in.ceiling(DRAM), 10, .1)
	in.codes = []*codeSamples{{counters: []counts{{sectors: 808e9 / 32, sectorsIdeal: 404e9 / 32}}}}
	near(t, "half of the sectors are needless", in.ceiling(Sectors), 2/.9, .02)
	near(t, "all units have less", in.ceiling(DRAM|L2|SharedMemory|IssueSlots), 1e9, 1e9)
	if c := NewInput(streaming(t, 0, 808e9)).ceiling(0); !math.IsInf(c, 1) {
		t.Errorf("without cycles the ceiling is %g", c)
	}
}
