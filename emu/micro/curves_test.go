package micro

import (
	"flag"
	"math"
	"strconv"
	"strings"
	"testing"
)

var whole = flag.Bool("whole", false, "compare every published measurement, which takes minutes, instead of some")

// published are the GPUs with curves, and how far an emulated value may be from a measured one.
var published = []struct {
	gpu   string
	share float64
}{{"v100", 0.05}, {"a100", 0.1}, {"a40", 0.1}, {"l40", 0.1}, {"gh200", 0.1}, {"h200", 0.1}}

// TestCurves holds that knees and plateaus of the published curves are where they were measured.
func TestCurves(t *testing.T) {
	for _, tt := range published {
		t.Run(tt.gpu, func(t *testing.T) {
			b := bench(t, tt.gpu)
			rows, err := b.Published()
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range rows {
				if *whole || quick(i, m) {
					t.Run(m.Benchmark+" "+m.Parameter, func(t *testing.T) { onCurve(t, b, m, tt.share) })
				}
			}
		})
	}
}

// quick reports whether a measurement of the table is made fast enough for every run of the tests.
func quick(i int, m Measurement) bool {
	kib, _ := strconv.ParseFloat(m.Parameter, 64)
	switch {
	case m.Benchmark == "latency":
		return kib < 300 && i%3 == 0
	}
	return strings.HasPrefix(m.Benchmark, "stride") && i%4 == 0
}

// onCurve holds that a measurement is within a share of the published one. Where a latency rises steeply with the working set, it
// suffices that the emulated curve passes through the measured latency at a working set within that share: the knee is there.
func onCurve(t *testing.T, b *Bench, m Measurement, share float64) {
	t.Helper()
	got := value(t, b, m)
	t.Logf("%8.1f %8.1f %s %+.1f %%", got, m.Value, m.Unit, 100*(got/m.Value-1))
	if math.Abs(got-m.Value) <= max(share*m.Value, slack(m)) {
		return
	}
	if m.Benchmark == "latency" {
		kib, err := strconv.ParseFloat(m.Parameter, 64)
		if err != nil {
			t.Fatal(err)
		}
		less, more := m, m
		less.Parameter = strconv.FormatFloat(kib/(1+share), 'f', -1, 64)
		more.Parameter = strconv.FormatFloat(kib*(1+share), 'f', -1, 64)
		low, high := value(t, b, less), value(t, b, more)
		t.Logf("%8.1f to %.1f within %g %% of the working set", low, high, 100*share)
		if low <= m.Value && m.Value <= high {
			return
		}
	}
	t.Errorf("%.2f %s, published are %.2f", got, m.Unit, m.Value)
}

// slack is by how much a measurement may be off in any case: published cycles are rounded.
func slack(m Measurement) float64 {
	if m.Unit == "cycles" && m.Benchmark == "latency" {
		return 1
	}
	return 0
}

// value measures.
func value(t *testing.T, b *Bench, m Measurement) float64 {
	t.Helper()
	got, err := b.Measure(m)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
