package blamer_test

import (
	"path/filepath"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin"
)

// TestCorpus blames every kernel of the corpus with every instruction sampled. Pruning leaves nearly all instructions a
// single dependency (the paper has .602 before and .893 after on its benchmarks), and hardly a stall is left without a
// cause.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../kernels/*/*/*.sm_70.cubin.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	kernels, before, after, lost, all := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, file := range files {
		module, err := cubin.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for code := range module.Codes {
			r, err := blamer.Analyze(sasstest.SampleEverywhere(module, code), module, blamer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.SingleDependencyAfter < .8 || r.SingleDependencyAfter < r.SingleDependencyBefore {
				t.Errorf("%s: single dependency coverage %.3f before, %.3f after pruning", file, r.SingleDependencyBefore, r.SingleDependencyAfter)
			}
			kernels++
			before += r.SingleDependencyBefore
			after += r.SingleDependencyAfter
			for _, b := range r.Blames {
				all += b.Count
				if b.Detail == blamer.OtherStall {
					lost += b.Count
				}
			}
		}
	}
	t.Logf("%.0f kernels: single dependency coverage %.3f before, %.3f after pruning; %.2f %% of the stalls without a cause", kernels, before/kernels, after/kernels, 100*lost/all)
	if after/kernels < .893 {
		t.Errorf("mean single dependency coverage %.3f, want at least .893", after/kernels)
	}
	if lost > .02*all {
		t.Errorf("%.2f %% of the stalls without a cause", 100*lost/all)
	}
}
