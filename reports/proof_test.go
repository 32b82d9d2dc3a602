package reports

import (
	"strings"
	"testing"
)

// proofOf is a proof with a patch of each outcome.
func proofOf() *Proof {
	diff := "--- k.cu\n+++ k.cu\n@@ -1,1 +1,2 @@\n+\t#pragma unroll 4\n " + strings.Repeat("x", 120) + "\n"
	return &Proof{
		Kernel: "k", Source: "k.cu", Compiler: "cc {in} {out}", Given: 1100, Base: 1000, Versions: 9, Runs: 6, Skipped: 2,
		Patches: []*Patch{
			{Change: "#pragma unroll 4 at k.cu:1", Optimizer: "loop-unrolling", Tried: 1.3, Outcome: Proved, Speedup: 1.25, Outputs: "outputs equal", Diff: diff},
			{Change: "#pragma unroll 2 at k.cu:1", Optimizer: "loop-unrolling", Tried: 1.3, Outcome: Proved, Speedup: 1.2, Outputs: "outputs equal", Diff: "not shown"},
			{Change: "-use_fast_math", Optimizer: "fast-math", Estimated: 1.1, Outcome: Proved, Speedup: 1.05, Outputs: "outputs equal within rtol 0.001, atol 0", Flags: []string{"-use_fast_math"}},
			{Change: "a", Optimizer: "o", Estimated: 1.1, Outcome: NoGain, Speedup: 1.001},
			{Change: "b", Optimizer: "o", Estimated: 1.1, Outcome: Slower, Speedup: .5},
			{Change: "c", Optimizer: "o", Estimated: 1.1, Outcome: OutputsDiffer, Speedup: 2, Why: "1 of 2 elements of y differ"},
			{Change: "d", Optimizer: "o", Estimated: 1.1, Outcome: NewFinding, Speedup: 2, Why: "a race"},
			{Change: "e", Optimizer: "o", Estimated: 1.1, Outcome: SameCode},
			{Change: "f", Optimizer: "o", Estimated: 1.1, Outcome: NotCompiled, Why: "no"},
			{Change: "g", Optimizer: "o", Estimated: 1.1, Outcome: NotRun, Why: "no"},
			{Change: "h", Optimizer: "o", Estimated: 1.1, Outcome: Untrue, Why: "it promises"},
		},
	}
}

func TestProofText(t *testing.T) {
	p := proofOf()
	want := `Patches of k.cu, compiled and run
  compiler: cc {in} {out}
  k takes 1,000 cycles as this compiler makes it: speedups are against that
  NOTE: the given cubin takes 1,100, +10.0%: it was built by another compiler, other flags or from
  another source
  9 versions compiled, 6 run, the unchanged one among them; 2 more were left out (--patches N)
 proved 1.25x (outputs equal): #pragma unroll 4 at k.cu:1, loop-unrolling, tried 1.30x
` + p.Patches[0].Diff + ` proved 1.20x (outputs equal): #pragma unroll 2 at k.cu:1, loop-unrolling, tried 1.30x
 proved 1.05x (outputs equal within rtol 0.001, atol 0): -use_fast_math, fast-math, estimated 1.10x
   compile with -use_fast_math
 Not recommended:
  - a (o, estimated 1.10x): 1.001x when run, less than 2 % of gain
  - b (o, estimated 1.10x): 0.50x when run: slower
  - c (o, estimated 1.10x): changes outputs: 1 of 2 elements of y differ
  - d (o, estimated 1.10x): gpa check finds a race
  - e (o, estimated 1.10x): the compiler makes the same machine code
  - f (o, estimated 1.10x): does not compile: no
  - g (o, estimated 1.10x): does not run: no
  - h (o, estimated 1.10x): it promises
`
	var got strings.Builder
	if err := ProofText(&got, p, Style{}); err != nil || got.String() != want {
		t.Errorf("%v\n%s\nwanted\n%s", err, got.String(), want)
	}
}

func TestTuningText(t *testing.T) {
	p := proofOf()
	p.Given, p.Skipped = p.Base, 0
	tuning := &Tuning{Proof: *p, Steps: p.Patches[:2], Speedup: 1.5, Cycles: 667, Grid: []int{4, 1, 1}, Block: []int{64, 1, 1}, Diff: p.Patches[0].Diff}
	tuning.Patches = nil
	want := `Patches of k.cu, compiled and run
  compiler: cc {in} {out}
  k takes 1,000 cycles as this compiler makes it: speedups are against that
  9 versions compiled, 6 run, the unchanged one among them
 1. 1.25x (outputs equal): #pragma unroll 4 at k.cu:1, loop-unrolling, tried 1.30x
 2. 1.20x (outputs equal): #pragma unroll 2 at k.cu:1, loop-unrolling, tried 1.30x
 tuned 1.50x: 667 instead of 1,000 cycles
   launch with grid 4x1x1, block 64x1x1
` + tuning.Diff
	var got strings.Builder
	if err := TuningText(&got, tuning, Style{}); err != nil || got.String() != want {
		t.Errorf("%v\n%s\nwanted\n%s", err, got.String(), want)
	}
	got.Reset()
	tuning.Steps = nil
	if err := TuningText(&got, tuning, Style{}); err != nil || !strings.HasSuffix(got.String(), "\n Nothing gains 2 %: the source stays as it is.\n") {
		t.Errorf("%v\n%s", err, got.String())
	}
}
