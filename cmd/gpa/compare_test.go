package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gpa/reports"
)

const slow, fast = "../../kernels/basic/transpose_naive", "../../kernels/basic/transpose_tiled"

func compare(t *testing.T, args ...string) reports.Pair {
	t.Helper()
	out, stderr, status := invoke(t, append([]string{"compare", "--json"}, args...)...)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var c reports.Comparison
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Pairs) != 1 {
		t.Fatalf("%d pairs", len(c.Pairs))
	}
	return c.Pairs[0]
}

// TestCompare compares a pair of kernels: cycles are those that they are profiled with, the change of all lines is that of all
// stalls, and a saved result stands for the kernel.
func TestCompare(t *testing.T) {
	p := compare(t, slow, fast)
	if p.Speedup <= 1 || p.Speedup != float64(p.Before.Cycles)/float64(p.After.Cycles) || p.OutputsEqual == nil || !*p.OutputsEqual {
		t.Errorf("speedup %v of %+v and %+v, outputs equal %v", p.Speedup, p.Before, p.After, p.OutputsEqual)
	}
	var stalls, lines float64
	for _, r := range p.Reasons {
		stalls += r.After - r.Before
	}
	for _, d := range p.Lines {
		lines += d.Delta
	}
	if diff := stalls - lines; diff > 1 || diff < -1 {
		t.Errorf("stalls change by %v, lines by %v", stalls, lines)
	}
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", slow, "--out", dir); status != exitDone {
		t.Fatal(stderr)
	}
	saved := compare(t, dir, fast)
	if saved.Speedup != p.Speedup || saved.OutputsEqual != nil || len(saved.Reasons) != len(p.Reasons) {
		t.Errorf("from a saved result %+v", saved)
	}
}

// TestComparePrediction holds that a change is held against the advice that it follows, found or named, and to its promise.
func TestComparePrediction(t *testing.T) {
	const before, after = "../../kernels/patterns/columns_conflict", "../../kernels/patterns/columns_padded"
	advice := profileJSON(t, before, "--try", "0").Launches[0].Advice
	other := advice[len(advice)-1].Optimizer
	for _, args := range [][]string{{before, after}, {before, after, "--optimizer", other}} {
		p := compare(t, args...)
		promised := 0.0
		for i := range advice {
			if advice[i].Optimizer == p.Optimizer && promised == 0 {
				promised = advice[i].EstimatedSpeedup
			}
		}
		named := len(args) > 2
		if named != (p.Optimizer == other) || !named && p.Optimizer != "shared-bank-conflicts" {
			t.Errorf("%v: the change follows %q", args[2:], p.Optimizer)
		}
		if p.Error == nil || math.Abs(p.Predicted-promised) > 1e-6 || math.Abs(*p.Error-math.Abs(promised-p.Speedup)/p.Speedup) > 1e-6 {
			t.Errorf("%s promised %v, the comparison says %v and an error of %v", p.Optimizer, promised, p.Predicted, p.Error)
		}
	}
}

// TestCompareSplit compares a kernel with the two that it has become: their cycles and launches add up.
func TestCompareSplit(t *testing.T) {
	p := compare(t, "../../kernels/math/nbody", "../../kernels/math/nbody_split")
	var cycles int64
	for _, l := range profileJSON(t, "../../kernels/math/nbody_split").Launches {
		cycles += l.Cycles
	}
	if p.After.Cycles != cycles || p.After.Launches != 2 || !strings.Contains(p.After.Kernel, " + ") || !*p.OutputsEqual {
		t.Errorf("%+v, want %d cycles", p.After, cycles)
	}
}

// TestCompareMovedLines holds that a line is found again below others that were put in before it, and that these are new.
func TestCompareMovedLines(t *testing.T) {
	p := compare(t, slow, fast)
	moved, added := false, false
	for _, d := range p.Lines {
		moved = moved || d.Before != nil && d.After != nil && d.Before.Line != d.After.Line
		added = added || d.Before == nil
	}
	if !moved || !added {
		t.Errorf("moved %v, added %v: %+v", moved, added, p.Lines)
	}
}

// A kernel does not differ from itself.
func TestCompareWithItself(t *testing.T) {
	p := compare(t, "vecadd", "vecadd")
	if p.Speedup != 1 || !*p.OutputsEqual || len(p.Lines) != 0 {
		t.Errorf("%+v", p)
	}
}

// TestCompareFails holds the exit status to the threshold and to the outputs, and JUnit to the exit status.
func TestCompareFails(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "junit.xml")
	_, stderr, status := invoke(t, "compare", fast, slow, "--min-speedup", "0.98", "--junit", junit)
	if status != exitFailed || !strings.Contains(stderr, "below 0.98") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if xml, err := os.ReadFile(junit); err != nil || !strings.Contains(string(xml), `failures="1"`) || !strings.Contains(string(xml), "below 0.98") {
		t.Errorf("%v: %s", err, xml)
	}
	markdown, _, status := invoke(t, "compare", slow, fast, "--min-speedup", "0.98", "--markdown")
	if status != exitDone || strings.Count(markdown, "\n| `") != 1 {
		t.Errorf("status %d:\n%s", status, markdown)
	}
}

// TestCompareOutputs compares a kernel with itself on other inputs.
func TestCompareOutputs(t *testing.T) {
	const folder = "../../kernels/basic/vecadd"
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(other, "launch.yaml")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := regexp.MustCompile(`seed: \d+`).ReplaceAll(text, []byte("seed: 12345"))
	if err := os.WriteFile(name, changed, 0o644); err != nil || string(changed) == string(text) {
		t.Fatal("no seed to change", err)
	}
	out, stderr, status := invoke(t, "compare", folder, other)
	if status != exitFailed || !strings.Contains(stderr, "outputs differ") || !strings.Contains(out, "outputs DIFFER") {
		t.Errorf("status %d: %s\n%s", status, stderr, out)
	}
	if _, stderr, status = invoke(t, "compare", folder, other, "--atol", "1000"); status != exitDone {
		t.Errorf("with a tolerance: status %d: %s", status, stderr)
	}
}
