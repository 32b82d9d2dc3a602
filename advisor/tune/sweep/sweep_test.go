package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/kernels"
	"gpa/profiler/store"
)

// opened opens a sweep of a built-in kernel with a variant that the constraints leave out, one that cannot be launched, and one that leaves wrong outputs.
func opened(t *testing.T, results string, only ...string) *Sweep {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.yaml")
	text := "kernel: vecadd\naxes: {block: [64, 128, 256, 512, 3000]}\nset: {grid: [\"32768 / max(block, 128)\"]}\nwhere: [block != 512]\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	folder, err := store.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, folder, only...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestResume ends a sweep after its first outcome, and runs it again: what was found is not run again.
func TestResume(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	p, err := s.Plan(t.Context())
	if err != nil || p.Combinations != 5 || p.Variants != 4 || p.Different != 4 || p.Refused != 0 || p.Stored != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := Options{Workers: Workers{Slots: 1}, Window: 1, Outcome: func(e Event) error {
		if e.Progress.Ran > 0 {
			stop()
		}
		return nil
	}}
	if err := s.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	first, err := s.Results()
	if err != nil || first.Counts().Done != 1 {
		t.Fatalf("%+v, %v", first.Counts(), err)
	}
	o.Outcome = nil
	if err := s.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r, err := s.Results()
	if err != nil || r.Counts() != (Counts{Variants: 4, Done: 4, Cached: 1, Ran: 3, Failed: 2}) {
		t.Fatalf("%+v, %v", r.Counts(), err)
	}
	if best := r.Report().Groups[0].Best["block"]; best != "128" && best != "256" {
		t.Errorf("the best has block %s", best)
	}
	before, after := first.Report(), r.Report()
	c, err := Compare(&before, &after)
	if err != nil || len(c.Pairs) != 4 {
		t.Fatalf("%+v, %v", c, err)
	}
	common := 0
	for _, p := range c.Pairs {
		if p.Before != nil {
			common++
		}
	}
	if common != 1 {
		t.Errorf("%d variants were there before", common)
	}
}

// TestLongestFirst holds that a grid begins with what looks longest.
func TestLongestFirst(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(name, []byte("kernel: vecadd\ncheck: none\naxes: {grid: [1, 64, 2]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	folder, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, folder)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	o := Options{Workers: Workers{Slots: 1}, Window: 1, Outcome: func(e Event) error {
		order = append(order, string(e.Point["grid"]))
		return nil
	}}
	if err := s.Run(t.Context(), o); err != nil || strings.Join(order, " ") != "64 2 1" {
		t.Errorf("%v, %v", order, err)
	}
}

// TestOpenAxis leaves one value of an axis, and refuses one that is not there.
func TestOpenAxis(t *testing.T) {
	if s := opened(t, t.TempDir(), "block=128"); len(s.space.Points) != 1 {
		t.Errorf("%d variants", len(s.space.Points))
	}
	folder, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(name, []byte("kernel: vecadd\naxes: {block: [64]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var axis *AxisError
	if _, err := Open(name, folder, "block=65"); !errors.As(err, &axis) {
		t.Errorf("%v", err)
	}
	s, err := Open(name, folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), Options{}); err == nil {
		t.Error("nobody ran the variants, and the sweep is done")
	}
}

// TestLaunches sweeps every kernel of a folder, as gpa capture writes it: each is a group of its own, and has its own launch facts.
func TestLaunches(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"vecadd", "saxpy"} {
		folder, err := kernels.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, name), folder); err != nil {
			t.Fatal(err)
		}
	}
	results, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "all.yaml")
	if err := os.WriteFile(name, []byte("kernel: '*'\naxes: {arch: [v100, a100]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, results)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), Options{Workers: Workers{Slots: 1}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Results()
	if err != nil || r.Counts() != (Counts{Variants: 4, Done: 4, Ran: 4}) {
		t.Fatalf("%+v, %v", r.Counts(), err)
	}
	var found []string
	for _, g := range r.Report().Groups {
		found = append(found, string(g.Best["launch"])+" "+string(g.Best["arch"]))
	}
	if want := "saxpy/launch.yaml v100, saxpy/launch.yaml a100, vecadd/launch.yaml v100, vecadd/launch.yaml a100"; strings.Join(found, ", ") != want {
		t.Errorf("the best are %s", strings.Join(found, ", "))
	}
	cycles := func(g int) int64 { return r.Report().Groups[g].Variants[0].Outcome.Cycles }
	if cycles(0) == cycles(2) {
		t.Errorf("two kernels take %d cycles each", cycles(0))
	}
}
