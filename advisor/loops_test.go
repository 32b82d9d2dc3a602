package advisor

import (
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// matchedLoops returns what a kernel of testdata/loops.cu is told by an optimizer, with ten rounds of each loop.
func matchedLoops(t *testing.T, kernel string, o Optimizer) (*Input, string) {
	t.Helper()
	const rounds = 10
	module, launch := executedEverywhere(t, "testdata/loops.sm_80.cubin", kernel, warpSize)
	graph, err := blamer.Analyze(launch, module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	code := launch.PCs[0].Code
	for i := range launch.PCs {
		for l := graph.Graphs[code].InnermostLoop(i); l != nil; l = l.Parent {
			launch.PCs[i].Executions *= rounds
			launch.PCs[i].ThreadExecutions *= rounds
		}
	}
	r, err := blamer.Analyze(launch, module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, said := NewInput(r), ""
	for _, m := range o.Match(in) {
		said += strings.Join(m.Suggestions, " ")
	}
	return in, said
}

// The fields of a structure are loaded again in every round behind an atomic operation, and so is what is divided by.
func TestLoadedEachRound(t *testing.T) {
	in, said := matchedLoops(t, "inserts", restrictPointers{})
	if !strings.Contains(said, "is the same in every round of the loop") {
		t.Errorf("%q", said)
	}
	for n := range in.loadedEachRound() {
		if op := in.Inst(n).Op; op != sass.LDG {
			t.Errorf("%v is loaded each round", op)
		}
	}
	if _, said := matchedLoops(t, "common", restrictPointers{}); said != "" {
		t.Errorf("without stores: %q", said)
	}
}

// A division in the condition of a loop that goes on by one is the program's own, by a parameter.
func TestDivisor(t *testing.T) {
	_, said := matchedLoops(t, "tile_ends", strengthReduction{})
	if !strings.Contains(said, "loops.cu:18: an integer division or modulo by a value unknown to the compiler (the kernel's parameter 3)") {
		t.Errorf("%q", said)
	}
}

// What two lists have says which of them goes on: no load of a later round can be under way.
func TestMovesByData(t *testing.T) {
	in, said := matchedLoops(t, "common", loopUnrolling{})
	if said != "" {
		t.Errorf("%q", said)
	}
	loads := 0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		if l := in.Loop(n); l != nil {
			loads++
			if !in.movesByData(l, n) || !in.waitsForRound(l, n) {
				t.Errorf("the load at %s can be under way", in.place(n))
			}
		}
	}
	if loads < 2 {
		t.Errorf("%d loads in the loop", loads)
	}
	module, err := cubin.Open("../kernels/basic/saxpy/saxpy.sm_80.cubin")
	if err != nil {
		t.Fatal(err)
	}
	r, err := blamer.Analyze(sasstest.SampleEverywhere(module, 0), module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in = NewInput(r)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		if l := in.Loop(n); l != nil && in.movesByData(l, n) {
			t.Errorf("saxpy: the load at %s moves by data", in.place(n))
		}
	}
}
