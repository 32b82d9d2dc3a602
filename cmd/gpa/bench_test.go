package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"gpa/emu/speed"
)

// TestBench measures two kernels: each executes what gpa run counts, at every level, and the median lies between them.
func TestBench(t *testing.T) {
	stdout, stderr, status := invoke(t, "bench", "vecadd", "saxpy", "--repeat", "1", "--workers", "2", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var r speed.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Kernels) != 2 || r.Kernels[0].Name != "vecadd" || r.Memory == 0 || r.Machine.Go == "" {
		t.Fatalf("%+v", r)
	}
	if r.Workers != 2 || r.Speedup < min(r.Kernels[0].Speedup, r.Kernels[1].Speedup) || r.Kernels[0].Speedup <= 0 {
		t.Errorf("speedup with 2 workers: %+v", r)
	}
	for _, k := range r.Kernels {
		ran, _, _ := invoke(t, "run", k.Name)
		if want := strconv.FormatInt(k.WarpInstructions, 10) + " warp instructions"; !strings.Contains(ran, want) {
			t.Errorf("%s: %s by gpa bench, gpa run says %s", k.Name, want, ran)
		}
	}
	a, b := r.Kernels[0].Speed, r.Kernels[1].Speed
	for _, level := range []struct {
		name         string
		a, b, median float64
	}{{"full", a.Full, b.Full, r.Median.Full}, {"fast", a.Fast, b.Fast, r.Median.Fast}, {"none", a.None, b.None, r.Median.None}} {
		if level.a <= 0 || level.median < min(level.a, level.b) || level.median > max(level.a, level.b) {
			t.Errorf("%s: %g and %g, median %g", level.name, level.a, level.b, level.median)
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	for name, args := range map[string][]string{
		"no such kernel": {"bench", "nothing"},
		"no repetition":  {"bench", "--repeat", "0"},
		"one worker":     {"bench", "--workers", "1"},
	} {
		if _, stderr, status := invoke(t, args...); status != exitUsage || stderr == "" {
			t.Errorf("%s: status %d, %q", name, status, stderr)
		}
	}
}
