package advisor

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %.5g, want %.5g", what, got, want)
	}
}

// TestEliminateStalls holds Equation 2 against worked figures and against what the paper's tool printed in its reports
// of Minimod (github.com/rsrice/gpa-minimod-artifacts): matched percentages and speedups.
func TestEliminateStalls(t *testing.T) {
	for _, c := range []struct {
		total, matched, want, tolerance float64
	}{
		{100, 20, 1.25, 1e-9},
		{100, 36.83, 1.583, 5e-4},
		{100, 8.39, 1.092, 5e-4},
		{100, 26.79, 1.366, 5e-4},
		{100, 29.332, 1.415, 5e-4},
		{100, 5.726, 1.061, 5e-4},
		{0, 0, 1, 0},
		{100, 0, 1, 0},
		{100, -5, 1, 0},
		{100, 100, 100, 0},
		{1, 1, 1, 0},
	} {
		near(t, "EliminateStalls", EliminateStalls(c.total, c.matched), c.want, c.tolerance)
	}
}

func TestHideLatency(t *testing.T) {
	for _, c := range []struct {
		name                   string
		total, active, matched float64
		want                   float64
	}{
		{"more latency than active samples", 100, 30, 60, 1.4286},
		{"less latency than active samples", 100, 30, 20, 1.25},
		{"outer loop: its own and the inner loop's active samples", 100, 5 + 10, 30, 1.1765},
		{"inner loop: its own active samples only", 100, 10, 30, 1.1111},
		{"nothing matched", 100, 30, 0, 1},
		{"no samples", 0, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			near(t, "HideLatency", HideLatency(c.total, c.active, c.matched), c.want, 5e-5)
		})
	}
}

func TestHideLatencyInScopes(t *testing.T) {
	scopes := []ScopeSamples{{Active: 5, MatchedLatency: 30}, {Active: 20, MatchedLatency: 10}}
	near(t, "two loops", HideLatencyInScopes(100, 40, scopes), 100.0/85, 1e-9)
	near(t, "the kernel's active samples bound the sum", HideLatencyInScopes(100, 12, scopes), 100.0/88, 1e-9)
	near(t, "no scopes", HideLatencyInScopes(100, 40, nil), 1, 0)
}

// TestHideLatencyBound is Theorem 5.1: hiding latency brings at most a factor of two.
func TestHideLatencyBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		active := float64(rapid.IntRange(0, 1e6).Draw(t, "active"))
		latency := float64(rapid.IntRange(0, 1e6).Draw(t, "latency"))
		matched := rapid.Float64Range(0, 1).Draw(t, "matched") * latency
		if s := HideLatency(active+latency, active, matched); s < 1 || s > 2 {
			t.Fatalf("speedup %g of A %g, L %g, M %g", s, active, latency, matched)
		}
	})
	if s := HideLatency(200, 100, 100); s != 2 {
		t.Errorf("speedup at A = L = M is %g, want 2", s)
	}
}

// TestParallelism holds Equations 6 to 10 against worked figures, among them those of the paper's tool for Minimod: an
// occupancy change to 64 warps of an SM at an issue ratio that gives the printed 1.75.
func TestParallelism(t *testing.T) {
	near(t, "I_new", IssueRate(issuedFor(.2516, 8), 16), .4399, 5e-5)
	near(t, "I", IssueRate(.1, 4), .3439, 5e-5)

	p := Parallelism{Warps: 4, NewWarps: 1, IssuedRatio: .1, Factor: 1}
	near(t, "C_W", p.WarpRatio(), .25, 0)
	near(t, "C_I", p.IssueRatio(), .2908, 5e-5)
	near(t, "S", p.Redistribute(), 1.163, 5e-4)
	p.Factor = 1.2
	near(t, "S with f", p.Redistribute(), 1.163*1.2, 5e-4)

	// The tool prints 1-I as a ratio, and C_I as the speedup.
	for _, c := range []struct{ idle, warps, want float64 }{
		{.7484, 8, 1.748},
		{.7664, 8, 1.766},
		{.7665, 12, 1.278},
		{.8363, 12, 1.296},
		{.75055, 8, 1.751},
	} {
		p := Parallelism{Warps: c.warps, NewWarps: 16, IssuedRatio: issuedFor(1-c.idle, c.warps), Factor: 1}
		near(t, "C_I", p.Occupy(), c.want, 1e-3)
	}
}

// issuedFor inverts Equation 8.
func issuedFor(rate, warps float64) float64 { return 1 - math.Pow(1-rate, 1/warps) }

func TestParallelismNeverBelowOne(t *testing.T) {
	for _, p := range []Parallelism{
		{},
		{Warps: 4, NewWarps: 1, IssuedRatio: 1, Factor: .1},
		{Warps: 1, NewWarps: 4, Factor: 1},
		{Warps: 4, NewWarps: 0, IssuedRatio: .5, Factor: 1},
	} {
		if s := p.Redistribute(); s != 1 {
			t.Errorf("%+v: speedup %g, want 1", p, s)
		}
	}
}

// TestEstimatesWithinAmdahl holds that no code estimate is above T/(T-M), nor below 1.
func TestEstimatesWithinAmdahl(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Float64Range(1, 1e7).Draw(t, "T")
		matched := rapid.Float64Range(0, 1).Draw(t, "M") * total
		latency := rapid.Float64Range(0, 1).Draw(t, "ML") * matched
		active := rapid.Float64Range(0, 1).Draw(t, "A") * (total - latency)
		bound := EliminateStalls(total, matched)
		if s := HideLatency(total, active, latency); s < 1 || s > bound+1e-9 {
			t.Fatalf("latency hiding %g, bound %g", s, bound)
		}
	})
}
