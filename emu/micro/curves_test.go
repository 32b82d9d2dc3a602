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
}{{"v100", 0.05}, {"titanv", 0.1}, {"a100", 0.1}, {"a40", 0.1}, {"l40", 0.1}, {"gh200", 0.1}, {"h100pcie", 0.1}, {"h200", 0.1}}

// further are the measurements that the emulated GPU is further from than the others, and how far: half a warp on each SM, of which
// whole GB/s were published.
var further = map[string]float64{"a100 stream read 16x1": 0.11}

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
					name := m.Benchmark + " " + m.Parameter
					t.Run(name, func(t *testing.T) { onCurve(t, b, m, max(tt.share, further[tt.gpu+" "+name])) })
				}
			}
		})
	}
}

// quick reports whether a measurement of the table is made fast enough for every run of the tests.
func quick(i int, m Measurement) bool {
	kib, _ := strconv.ParseFloat(m.Parameter, 64)
	kind, _, _ := strings.Cut(m.Benchmark, " ")
	switch kind {
	case "latency":
		return kib < 300 && i%3 == 0
	case "stride":
		return i%4 == 0
	case "conflicts", "sectors", "shared":
		return true
	case "chains":
		return strings.HasSuffix(m.Benchmark, "_1")
	}
	return false
}

// onCurve holds that a measurement is within a share of the published one. Where a latency rises or a bandwidth falls steeply with the
// working set, it suffices that the emulated curve passes through the measured value at a working set within that share: the knee is
// there.
func onCurve(t *testing.T, b *Bench, m Measurement, share float64) {
	t.Helper()
	got := value(t, b, m)
	t.Logf("%8.1f %8.1f %s %+.1f %%", got, m.Value, m.Unit, 100*(got/m.Value-1))
	if math.Abs(got-m.Value) <= share*m.Value+rounding(m) {
		return
	}
	if m.Benchmark == "latency" || m.Benchmark == "l2" {
		kib, err := strconv.ParseFloat(m.Parameter, 64)
		if err != nil {
			t.Fatal(err)
		}
		less, more := m, m
		less.Parameter = strconv.FormatFloat(kib/(1+share), 'f', -1, 64)
		more.Parameter = strconv.FormatFloat(kib*(1+share), 'f', -1, 64)
		low, high := value(t, b, less), value(t, b, more)
		low, high = min(low, high), max(low, high)
		t.Logf("%8.1f to %.1f within %g %% of the working set", low, high, 100*share)
		if low <= m.Value && m.Value <= high {
			return
		}
	}
	t.Errorf("%.2f %s, published are %.2f", got, m.Unit, m.Value)
}

// rounding is by how much a published value was rounded.
func rounding(m Measurement) float64 {
	if strings.HasPrefix(m.Benchmark, "stream") {
		return 0.5 // GB/s
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
