package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gpa/advisor/tune/search"
	"gpa/advisor/tune/sweep"
)

// Texts in the launch of a task that make its process, where that is the test, end at once or take its time.
const (
	poisonText = "f32: 13.5"
	slowText   = "f32: 17.5"
	slowFor    = 4 * time.Second
)

// sweepHooks lets a process of the test that runs a task be a bad one.
func sweepHooks() {
	if len(os.Args) < 3 || os.Args[1] != "sweep" || os.Args[2] != "task" {
		return
	}
	task, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	if bytes.Contains(task, []byte(poisonText)) {
		fmt.Fprintln(os.Stderr, "panic: poison\n\ngoroutine 1")
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			p.Kill()
		}
	}
	if bytes.Contains(task, []byte(slowText)) {
		time.Sleep(slowFor)
	}
	r, w, err := os.Pipe()
	if err != nil {
		os.Exit(1)
	}
	os.Stdin = r
	go func() { w.Write(task); w.Close() }()
}

// sweepFile writes a sweep file into a new folder.
func sweepFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// swept runs gpa sweep and reads its JSON.
func swept(t *testing.T, args ...string) (*sweep.Report, string) {
	t.Helper()
	t.Setenv(asCommand, "1") // for the processes of tasks
	stdout, stderr, status := invoke(t, append([]string{"sweep"}, append(args, "--json")...)...)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	r := new(sweep.Report)
	if err := json.Unmarshal([]byte(stdout), r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return r, stderr
}

// TestSweep sweeps launch facts, GPUs and re-convergence models of a built-in kernel. Each figure is that of gpa profile of the same launch, and the
// second time nothing runs.
func TestSweep(t *testing.T) {
	file := sweepFile(t, `
kernel: vecadd
axes: {block: [64, 128, 256, 3000], arch: [v100, a100], reconverge: [volta, pdom]}
set: {grid: ["32768 / max(block, 128)"]}
where: ['block != 128 || reconverge == "volta"']
`)
	dir := t.TempDir()
	r, _ := swept(t, file, "--store", dir)
	if r.Counts != (sweep.Counts{Variants: 14, Done: 14, Ran: 14, Failed: 8}) || len(r.Groups) != 2 {
		t.Fatalf("%+v", r)
	}
	status := make(map[string]search.Status)
	for _, g := range r.Groups {
		for _, v := range g.Variants {
			status[string(v.Point["block"])] = v.Outcome.Status
		}
	}
	// Half of the threads leave half of the outputs; 3000 threads are more than a block has.
	if status["64"] != search.Wrong || status["128"] != search.OK || status["256"] != search.OK || status["3000"] != search.Refused {
		t.Errorf("%v", status)
	}
	again, _ := swept(t, file, "--store", dir)
	if c := again.Counts; c.Cached != 10 || c.Ran != 4 { // what was refused is tried again
		t.Errorf("again: %+v", c)
	}
	again.Counts = r.Counts
	for _, g := range again.Groups {
		for _, v := range g.Variants {
			v.Cached = false
		}
	}
	if d := cmp.Diff(r, again); d != "" {
		t.Errorf("again: %s", d)
	}
	one, _ := swept(t, file, "--store", dir, "-a", "arch=a100", "-a", "block=256", "-a", "reconverge=volta")
	if one.Counts != (sweep.Counts{Variants: 1, Done: 1, Cached: 1}) || one.Groups[0].Best["arch"] != "a100" {
		t.Errorf("one point: %+v", one)
	}
	if _, stderr, status := invoke(t, "sweep", file, "--store", dir, "-a", "block=257"); status != exitUsage || !strings.Contains(stderr, "no value 257") {
		t.Errorf("a value that is not there: status %d, %s", status, stderr)
	}
	for _, args := range [][]string{{"results"}, {"results", "--csv"}, {"status"}, {"plan"}} {
		stdout, stderr, status := invoke(t, append(append([]string{"sweep"}, args...), file, "--store", dir)...)
		if status != exitDone || stdout == "" {
			t.Errorf("%v: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSweepFigures holds that the cycles and stalls of a variant are those that gpa profile finds.
func TestSweepFigures(t *testing.T) {
	file := sweepFile(t, "kernel: transpose_naive\naxes: {arch: [v100, rtx3090]}\n")
	r, _ := swept(t, file, "--store", t.TempDir())
	for _, g := range r.Groups {
		if len(g.Variants) != 1 || g.Best == nil {
			t.Fatalf("%+v", g)
		}
		v := g.Variants[0]
		stdout, _, _ := invoke(t, "profile", "transpose_naive", "--arch", string(v.Point["arch"]), "--try", "0", "--json")
		want, err := search.ReadReport([]byte(stdout), "cycles", true)
		if err != nil || jsonText(t, want) != jsonText(t, v.Outcome) {
			t.Errorf("%s\n%s\n%v", jsonText(t, want), jsonText(t, v.Outcome), err)
		}
	}
}

// TestSweepTry sweeps what-ifs: the variants of a kernel and a GPU are one run, each as fast as the speedup that gpa profile finds when it tries the advice.
func TestSweepTry(t *testing.T) {
	stdout, _, _ := invoke(t, "profile", "transpose_naive", "--arch", "v100", "--json")
	var report struct {
		Launches []struct {
			Cycles float64
			Advice []struct {
				Optimizer string
				Tried     float64 `json:"tried_speedup"`
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	l := report.Launches[0]
	if len(l.Advice) == 0 || l.Advice[0].Tried <= 1 {
		t.Fatalf("%+v", l)
	}
	a := l.Advice[0]
	r, _ := swept(t, sweepFile(t, "kernel: transpose_naive\naxes: {arch: [v100], try: [none, "+a.Optimizer+", tiling]}\n"), "--store", t.TempDir())
	if r.Counts != (sweep.Counts{Variants: 3, Done: 3, Cached: 2, Ran: 1, Failed: 1}) || string(r.Groups[0].Best["try"]) != a.Optimizer {
		t.Fatalf("%+v", r)
	}
	for _, v := range r.Groups[0].Variants {
		want := map[search.Value]float64{"none": l.Cycles, search.Value(a.Optimizer): l.Cycles / a.Tried}[v.Point["try"]]
		if v.Outcome.Objective != want {
			t.Errorf("%v: %v cycles, not %v", v.Point, v.Outcome.Objective, want)
		}
	}
}

// TestSweepPoison gives up the variant whose process ends each time, and no other.
func TestSweepPoison(t *testing.T) {
	file := sweepFile(t, "kernel: saxpy\ncheck: none\naxes: {x: [1.5, 13.5, 2.5]}\nset: {args: {1: x}}\n")
	r, _ := swept(t, file, "--store", t.TempDir())
	if r.Counts != (sweep.Counts{Variants: 3, Done: 3, Ran: 3, Failed: 1}) {
		t.Fatalf("%+v", r.Counts)
	}
	for _, v := range r.Groups[0].Variants {
		bad := v.Point["x"] == "13.5"
		if bad != (v.Outcome.Status == search.Poison) || bad && !strings.Contains(v.Outcome.Why, "panic: poison") {
			t.Errorf("%v: %+v", v.Point, v.Outcome)
		}
	}
}

// TestSweepStop ends runs that take longer than the best by more than a multiple; the best is that of the whole grid.
func TestSweepStop(t *testing.T) {
	text := "kernel: vecadd\ncheck: none\naxes: {grid: [1, 64, 2, 128]}\n"
	whole, _ := swept(t, sweepFile(t, text), "--store", t.TempDir())
	stopped, _ := swept(t, sweepFile(t, text+"search: {stop: 1}\n"), "--store", t.TempDir(), "--jobs", "1", "--window", "1")
	if a, b := jsonText(t, whole.Groups[0].Best), jsonText(t, stopped.Groups[0].Best); a != b {
		t.Errorf("the best is %s, not %s", b, a)
	}
	if stopped.Counts.Failed == 0 || whole.Counts.Failed != 0 {
		t.Errorf("%+v and %+v", whole.Counts, stopped.Counts)
	}
}
