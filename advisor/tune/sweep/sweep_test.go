package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gpa/advisor/tune/queue"
	"gpa/emu/launch"
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

// TestNearData runs variants of launches with data of their own on two workers that have none of it: each data set goes to one of them, as a rule.
func TestNearData(t *testing.T) {
	const launches = 6
	dir := t.TempDir()
	code, err := kernels.Open("vecadd")
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 0, 1<<16)
	for i := range launches {
		folder := filepath.Join(dir, strconv.Itoa(i))
		if err := os.CopyFS(folder, code); err != nil {
			t.Fatal(err)
		}
		for len(data) < cap(data) {
			data = append(data, byte(i))
		}
		text := "module: vecadd.sm_70.cubin\nbuffers: {a: {type: f32, shape: [16384], init: {file: a.npy}}, b: {type: f32, shape: [16384]}, c: {type: f32, shape: [16384]}}\n" +
			"launches: [{kernel: vecadd, grid: [4], block: [256], args: [{buffer: a}, {buffer: b}, {buffer: c}, {i32: 16384}]}]\n"
		array := launch.WriteNpy(&launch.Array{Descr: "<f4", Shape: []int{16384}, Data: data})
		if err := errors.Join(os.WriteFile(filepath.Join(folder, "launch.yaml"), []byte(text), 0o666), os.WriteFile(filepath.Join(folder, "a.npy"), array, 0o666)); err != nil {
			t.Fatal(err)
		}
		data = data[:0]
	}
	name := filepath.Join(dir, "all.yaml")
	if err := os.WriteFile(name, []byte("kernel: '*'\naxes: {arch: [v100, titanv], block: [32, 64, 96, 128, 160, 192]}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	null := filepath.Join(dir, "reply.json")
	text, err := json.Marshal(reply{How: taskDone, Report: []byte(`{"launches": [{"kernel": "k", "cycles": 1}], "checks": []}`)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(null, text, 0o666); err != nil {
		t.Fatal(err)
	}
	results, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, results)
	if err != nil {
		t.Fatal(err)
	}
	var stores []*store.Folder
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	join := func(file string) {
		for range 2 {
			own, err := store.Open(t.TempDir())
			if err != nil {
				t.Error(err)
				return
			}
			stores = append(stores, own)
			workers.Go(func() {
				conn, err := queue.Dial("@" + file)
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				Work(ctx, conn, own, Workers{Slots: 1, Command: []string{"sh", "-c", "sleep 0.03; cat " + null}, far: 1 << 15})
			})
		}
	}
	if err := s.Run(ctx, Options{Listen: "127.0.0.1:0", Listening: join}); err != nil {
		t.Fatal(err)
	}
	r, err := s.Results()
	if err != nil || r.Counts().Ran != 12*launches {
		t.Fatalf("%+v, %v", r.Counts(), err)
	}
	fetched := 0
	for i := range launches {
		v, err := s.variant(ctx, 12*i)
		if err != nil {
			t.Fatal(err)
		}
		for k, key := range v.task.Files {
			for _, own := range stores {
				if v.task.Sizes[k] > 1<<15 && own.Holds(key) {
					fetched++
				}
			}
		}
	}
	t.Logf("%d data sets were fetched %d times", launches, fetched)
	if fetched < launches || fetched >= 2*launches {
		t.Errorf("%d data sets were fetched %d times", launches, fetched)
	}
}
