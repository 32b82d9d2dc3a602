package gpa_test

import (
	"math"
	"strings"
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

// TestTriedThreads holds what is tried of kernels whose threads do what others do as well, or could do, against the kernels with the change, compiled.
func TestTriedThreads(t *testing.T) {
	var results [2]*gpa.Result // of the kernels as they are, and with the change: those have nothing to try
	for changed := range results {
		target, err := gpa.Load("testdata/threads.yaml", gpa.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := target.File.Launches
		target.File.Launches = nil
		for i := changed; i < len(all); i += 2 {
			target.File.Launches = append(target.File.Launches, all[i])
		}
		if results[changed], err = target.Profile(t.Context(), gpa.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	r := results[0]
	if err := r.Try(t.Context(), gpa.TryOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		optimizer, variant string
		low, high          float64 // of tried over compiled
	}{
		{"work-distribution", "32 lanes that do the same, rounds of the source", .85, 1.15},
		{"work-distribution", "64 lanes", 1, math.Inf(1)}, // the other kernel has one warp, and an item a thread at a time
		{"constant-memory", "table", .9, 1.1},
		{"work-distribution", "a thread a round", .45, 1.2},
		{"work-distribution", "a thread a round, rounds of the source", .8, 1.2},
		{"work-distribution", "a thread a round", .75, 1.2},
		{"work-distribution", "32 lanes", .8, 1.2},
		{"work-distribution", "32 lanes", .85, 1.2},
		{"sm-balance", "adapted code", .9, 1.1},
		{"vectorized-access", "words behind tests", .9, 1.1},
		{"work-distribution", "64 lanes", .85, 1.2},
		{"loop-unrolling", "constant count", .8, 1.1},
		{"register-caching", "same each round", .75, 1.1},
	} {
		before, after := r.Profile.Launches[i], results[1].Profile.Launches[i]
		first := &r.Launches[i].Advice[0]
		achieved := float64(before.Facts.Cycles) / float64(after.Facts.Cycles)
		t.Logf("%s: %s (%s), tried %.2f, compiled %.2f", before.Kernel, first.Optimizer, first.Match.Variant, first.Tried, achieved)
		if first.Optimizer != c.optimizer || first.Match.Variant != c.variant {
			t.Errorf("%s: %s (%s) is first", before.Kernel, first.Optimizer, first.Match.Variant)
		}
		if off := first.Tried / achieved; off < c.low || off > c.high {
			t.Errorf("%s: %.2fx when tried, %.2fx compiled", before.Kernel, first.Tried, achieved)
		}
	}
}

// TestUnrolledRows holds that a thread which makes row after row is told of threads for the cells of a row where the compiler has unrolled the loop over them,
// and where the threads have to meet.
func TestUnrolledRows(t *testing.T) {
	r := profiled(t, "testdata/rows.yaml")
	if err := r.Advise(gpa.AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Launches[0].Advice {
		if text := strings.Join(a.Match.Suggestions, " "); a.Optimizer == "work-distribution" && strings.Contains(text, "a thread for each cell") && strings.Contains(text, "__syncthreads() behind each round") {
			return
		}
	}
	t.Errorf("threads for the cells of a row are not told: %+v", r.Launches[0].Advice)
}

// TestTriedInLittle holds what is tried of a launch for which there is little time, on a wave of its blocks and some rounds of its loop, against the
// kernel with the change, compiled.
func TestTriedInLittle(t *testing.T) {
	naive, coalesced := profiled(t, "kernels/ladders/sgemm/naive.yaml"), profiled(t, "kernels/ladders/sgemm/coalesced.yaml")
	if err := naive.Try(t.Context(), gpa.TryOptions{Weight: 1 << 24, Beside: "digest"}); err != nil {
		t.Fatal(err)
	}
	first := &naive.Launches[0].Advice[0]
	want := float64(naive.Profile.Launches[0].Facts.Cycles) / float64(coalesced.Profile.Launches[0].Facts.Cycles)
	t.Logf("%s: %.2fx when tried, %.2fx compiled", first.Optimizer, first.Tried, want)
	if first.Optimizer != "memory-coalescing" || math.Abs(first.Tried/want-1) > .25 {
		t.Errorf("%s is first: %.2fx when tried, %.2fx compiled", first.Optimizer, first.Tried, want)
	}
}

// TestTriedProducts holds that nothing is gained by not asking whether products are complete: the word of a transaction barrier is no value that a thread
// could keep.
func TestTriedProducts(t *testing.T) {
	r := profiled(t, "kernels/blackwell/tensor_memory/launch.times.yaml")
	if err := r.Advise(gpa.AdviceOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range r.Launches {
		for _, a := range r.Launches[i].Advice {
			if a.Optimizer == "register-caching" {
				t.Errorf("launch %d, %s: %s is advised at %s", i, r.Profile.Launches[i].Kernel, a.Optimizer, a.Place())
			}
		}
	}
}

// TestTriedStages holds what is tried of a product that the copy engine feeds against kernels with more stages, and with a group of products more outstanding,
// compiled.
func TestTriedStages(t *testing.T) {
	target, err := gpa.Load("testdata/stages.yaml", gpa.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := target.Profile(t.Context(), gpa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		launch, after      int
		optimizer, variant string
		low, high          float64 // of tried over compiled
	}{
		{0, 1, "async-copy", "1 more", .93, 1.07},
		{0, 2, "async-copy", "3 more", .85, 1.07}, // the other kernel has four more
		{2, 3, "code-reordering", "one more group of products", .93, 1.07},
	} {
		target, err := gpa.Load("testdata/stages.yaml", gpa.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		target.File.Launches = target.File.Launches[c.launch : c.launch+1]
		r, err := target.Profile(t.Context(), gpa.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Try(t.Context(), gpa.TryOptions{}); err != nil {
			t.Fatal(err)
		}
		l, tried := r.Profile.Launches[0], 0.
		for _, try := range l.Tries {
			if try.Optimizer == c.optimizer && strings.Contains(try.Place, ", "+c.variant+" of") {
				tried = try.Speedup
			}
		}
		achieved := float64(l.Facts.Cycles) / float64(compiled.Profile.Launches[c.after].Facts.Cycles)
		t.Logf("%s: %s (%s), tried %.2f, compiled %.2f", l.Kernel, c.optimizer, c.variant, tried, achieved)
		if off := tried / achieved; off < c.low || off > c.high {
			t.Errorf("%s: %s (%s): %.2fx when tried, %.2fx compiled", l.Kernel, c.optimizer, c.variant, tried, achieved)
		}
	}
}
