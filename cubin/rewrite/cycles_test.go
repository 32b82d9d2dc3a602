package rewrite

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// executeCycles runs a launch file with timing and returns the GPU cycles of all its launches.
func executeCycles(tb testing.TB, f *launch.File, module *cubin.File) int64 {
	tb.Helper()
	model, err := arch.ByName("sm_70")
	if err != nil {
		tb.Fatal(err)
	}
	machine, err := emu.New(model, module, emu.Options{Timing: emu.TimingFull, Heap: f.Heap})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), f, machine)
	if err != nil {
		tb.Fatal(err)
	}
	total := int64(0)
	for i := range f.Launches {
		r, err := s.Run(context.Background(), i, nil)
		if err != nil {
			tb.Fatal(err)
		}
		total += r.Cycles
	}
	return total
}

// TestReorderCycles holds that a new order is worth having: the repository's kernels take fewer cycles together, and none
// takes 2 % more. go test ./cubin/rewrite -run ReorderCycles -v prints them.
func TestReorderCycles(t *testing.T) {
	var before, after int64
	for _, name := range launchFiles(t) {
		f, module, err := openLaunch(name, 70)
		if err != nil {
			continue
		}
		r, err := Reorder(module)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Moved > 0 }) {
			continue
		}
		kernel := filepath.Base(filepath.Dir(name))
		b, a := executeCycles(t, f, module), executeCycles(t, f, r.File)
		t.Logf("%-18s %6d cycles, then %6d: %.3f", kernel, b, a, float64(a)/float64(b))
		if a*100 > b*102 {
			t.Errorf("%s: %d cycles become %d", kernel, b, a)
		}
		before, after = before+b, after+a
	}
	t.Logf("all of them        %6d cycles, then %6d: %.4f", before, after, float64(after)/float64(before))
	if after >= before {
		t.Error("no gain")
	}
}
