package gpa_test

import (
	"math"
	"testing"

	"gpa"
)

// TestTriedWindow holds what is tried of a tile for windows against the kernel that has one, compiled: the border tests, addresses and conversions
// that it saves decide, not the memory.
func TestTriedWindow(t *testing.T) {
	cycles := make(map[string]float64)
	results := make(map[string]*gpa.Result)
	for _, name := range []string{"direct", "tile"} {
		r := profiled(t, "testdata/window_"+name+".yaml")
		results[name], cycles[name] = r, float64(r.Profile.Launches[0].Facts.Cycles)
	}
	r := results["direct"]
	if err := r.Try(t.Context(), gpa.TryOptions{}); err != nil {
		t.Fatal(err)
	}
	first := &r.Launches[0].Advice[0]
	if first.Optimizer != "shared-memory-tiling" || first.Match.Variant != "window" {
		t.Fatalf("%s (%s) is first", first.Optimizer, first.Match.Variant)
	}
	if want := cycles["direct"] / cycles["tile"]; math.Abs(first.Tried/want-1) > .12 {
		t.Errorf("%.2fx when tried, %.2fx compiled", first.Tried, want)
	}
}
