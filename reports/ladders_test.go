package reports

import (
	"strings"
	"testing"

	"gpa/advisor"
	"gpa/cubin"
	"gpa/profiler"
)

// TestEvaluateVersion holds that the kernel beside is neither timed nor asked for advice, and that the others are, by what their advice brings to
// the whole.
func TestEvaluateVersion(t *testing.T) {
	launch := func(kernel string, cycles int64) *profiler.Launch {
		return &profiler.Launch{Kernel: kernel, Facts: profiler.Facts{Cycles: cycles}}
	}
	advice := func(optimizer string, speedup, tried float64) LaunchResult {
		return LaunchResult{Advice: []advisor.Advice{{Optimizer: optimizer, Speedup: speedup, Tried: tried}}}
	}
	r := &Result{
		Profile:  &profiler.Profile{Modules: []*cubin.File{{}}, Launches: []*profiler.Launch{launch("small", 10), launch("large", 30), launch("digest", 100)}},
		Launches: []LaunchResult{advice("fast-math", 5, 4), advice("loop-unrolling", 1.5, 1.2), advice("async-copy", 9, 9)},
		Checks:   []Check{{Buffer: "out", OK: true}},
	}
	v := EvaluateVersion("first", "digest", r)
	all := v.ofAll()
	if v.Cycles != 40 || !v.AsExpected || len(all) != 2 {
		t.Fatalf("%+v", v)
	}
	// 40 cycles become 10 / 4 + 30, and 10 + 30 / 1.2.
	if all[0].Optimizer != "fast-math" || round(all[0].Tried, 6) != round(40/32.5, 6) || round(all[0].Speedup, 6) != 1.25 || round(all[1].Tried, 6) != round(40./35, 6) {
		t.Errorf("%+v", all)
	}
	v.kernels[1].advice[0].Match = &advisor.Match{Launches: 2, Cycles: 40} // of both, which become one: twice as fast
	if v.kernels[1].advice[0].Tried = 2; v.ofAll()[0].Optimizer != "fast-math" || v.ofAll()[0].Tried != 2 {
		t.Errorf("%+v", v.ofAll())
	}
	r.Launches[0].Advice[0].Match, r.Launches[0].Advice[0].Tried = nil, 0 // what was not tried stands behind what was
	if all := EvaluateVersion("first", "digest", r); all.ofAll()[0].Optimizer != "loop-unrolling" {
		t.Errorf("%+v", all)
	}
	if r.Checks = append(r.Checks, Check{Buffer: "sum"}); EvaluateVersion("first", "digest", r).AsExpected {
		t.Error("an output that differs is as expected")
	}
}

// TestLadderSteps climbs a ladder of a step whose second optimizer is advised second, one that nothing was advised for, one whose change is
// fourth, and one that loses.
func TestLadderSteps(t *testing.T) {
	version := func(name string, cycles int64, advised ...string) LadderVersion {
		v := LadderVersion{Version: name, Cycles: cycles, AsExpected: true}
		var list []advisor.Advice
		for _, o := range advised {
			list = append(list, advisor.Advice{Optimizer: o, Speedup: 1.5, Tried: 1.8})
		}
		v.kernels = []kernelAdvice{{cycles, list}}
		return v
	}
	l := &EvaluatedLadder{Ladder: "sum"}
	l.Add(version("a", 800, "fast-math", "fast-math", "loop-unrolling"), LadderStep{})
	l.Add(version("b", 400, "fast-math"), LadderStep{Change: "unrolled", Optimizers: []string{"async-copy", "loop-unrolling"}})
	l.Add(version("c", 300, "fast-math", "async-copy", "single-pass", "loop-unrolling"), LadderStep{Change: "fused", Kind: "kernel-fusion"})
	l.Add(version("d", 150), LadderStep{Change: "unrolled again", Optimizers: []string{"loop-unrolling"}})
	if !l.Ordered {
		t.Error("a ladder whose versions get faster is not in order")
	}
	l.Add(version("e", 160), LadderStep{Change: "padded", Optimizers: []string{"shared-bank-conflicts"}})
	s := l.Steps[0]
	if s.From != "a" || s.To != "b" || s.Achieved != 2 || s.Rank != 2 || s.Optimizer != "loop-unrolling" || s.First != "fast-math" || s.Error == nil || round(*s.Error, 6) != .1 {
		t.Errorf("%+v", s)
	}
	x := &LadderEvaluation{Ladders: []EvaluatedLadder{*l}}
	x.Sum()
	want := LadderSummary{Ladders: 1, Versions: 5, Steps: 4, Gaining: 3, Top3: 1. / 3, Advised: 2, Tried: 2, TriedError: .1, Bias: .75}
	if x.Summary.TriedError = round(x.Summary.TriedError, 6); x.Summary != want || l.Ordered {
		t.Errorf("%+v, want %+v", x.Summary, want)
	}
	var text strings.Builder
	if err := LadderMarkdown(&text, x); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"- sum, b to c, 1.33x: fused (kernel-fusion, first is fast-math)\n", "unrolled again (loop-unrolling, rank 4, first is fast-math)\n", "- sum, d to e, 0.94x: padded\n",
	} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("nothing says %q:\n%s", says, text.String())
		}
	}
}
