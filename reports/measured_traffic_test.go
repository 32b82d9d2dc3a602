package reports

import (
	"math"
	"strings"
	"testing"

	"gpa/profiler"
)

// TestMeasuredTraffic holds the errors of traffic against figures worked out by hand: L2 is 50 and 0 % off, DRAM 20 %, and what is under 1 MiB does
// not count.
func TestMeasuredTraffic(t *testing.T) {
	launch := func(measured, emulated profiler.Facts) MeasuredLaunch {
		return MeasuredLaunch{Kernel: "k", GPU: "v100", Traffic: trafficOf(&measured, &emulated)}
	}
	x := &MeasuredEvaluation{Launches: []MeasuredLaunch{
		launch(profiler.Facts{L2Bytes: 4 << 20, DRAMReadBytes: 3 << 20, DRAMWrittenBytes: 2 << 20}, profiler.Facts{L2Bytes: 6 << 20, DRAMReadBytes: 3 << 20, DRAMWrittenBytes: 1 << 20}),
		launch(profiler.Facts{L2Bytes: 2 << 20, DRAMReadBytes: 1 << 10}, profiler.Facts{L2Bytes: 2 << 20, DRAMReadBytes: 1 << 14}),
		launch(profiler.Facts{}, profiler.Facts{L2Bytes: 5}),
	}}
	x.Sum()
	s := x.Summary.Traffic
	if s == nil || s.L2Launches != 2 || s.DRAMLaunches != 1 || math.Abs(s.L2Error-.25) > 1e-6 || math.Abs(s.DRAMError-.2) > 1e-6 {
		t.Fatalf("%+v", s)
	}
	var text strings.Builder
	if err := MeasuredText(&text, x, Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DRAM written", "bytes asked of L2 25.0% off on average (2 measured at 1 MiB or more), of DRAM 20.0% (1)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if x.Launches[2].Traffic != nil {
		t.Errorf("traffic of which nothing was measured: %+v", x.Launches[2].Traffic)
	}
}
