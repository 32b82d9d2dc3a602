package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa"
	"gpa/profiler"
	"gpa/reports"
)

// dependent profiles a kernel of emu/record/testdata/dependent.cu and returns its advice by optimizer. Where it is saved, flags say.
func dependent(t *testing.T, args ...string) map[string]reports.AdviceReport {
	t.Helper()
	text, stderr, status := invoke(t, append([]string{"profile", "--json"}, args...)...)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var report reports.ProfileReport
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	advice := map[string]reports.AdviceReport{}
	for _, a := range report.Launches[0].Advice {
		advice[a.Optimizer] = a
	}
	return advice
}

// says reports whether an advice has a piece of text.
func says(a reports.AdviceReport, text string) bool {
	return slices.ContainsFunc(a.Suggestions, func(s string) bool { return strings.Contains(s, text) })
}

// Rounds are only divided among threads where they do not depend on each other, through memory or through registers.
func TestRoundsThatDependOnEachOther(t *testing.T) {
	const divide = "each do a part of its"
	for kernel, divided := range map[string]bool{"in_memory": false, "in_register": false, "reduction": true} {
		args := []string{"../../emu/record/testdata/dependent.sm_70.cubin", "--kernel", kernel, "--grid", "4", "--block", "32",
			"--arg", "f32[131072]:uniform(0,1)"}
		if kernel == "reduction" {
			args = append(args, "--arg", "f32[128]")
		}
		advice := dependent(t, append(args, "--arg", "i32:1024")...)
		if got := says(advice["block-increase"], divide); got != divided {
			t.Errorf("%s: told to divide the rounds: %v, want %v", kernel, got, divided)
		}
	}
}

// The barrier behind cp.async.wait_group orders the copies of other threads.
func TestBarrierOfAPipeline(t *testing.T) {
	args := []string{"../../emu/record/testdata/dependent.sm_80.cubin", "--kernel", "three_stages", "--grid", "216", "--block", "128",
		"--arg", "f32[3538944]:uniform(0,1)", "--arg", "f32[27648]", "--arg", "i32:32"}
	dir := t.TempDir()
	advice := dependent(t, append(args, "--out", dir)...)
	if a, found := advice["redundant-barrier"]; found {
		t.Errorf("a barrier that orders copies is called redundant: %v", a.Suggestions)
	}
	without := filepath.Join(dir, "without.gpa")
	forget(t, filepath.Join(dir, gpa.SavedFile), without)
	if text, _, _ := invoke(t, "advise", without); strings.Contains(text, "redundant-barrier") || !strings.Contains(text, "three_stages on ") {
		t.Errorf("without a record a barrier that orders copies is called redundant:\n%s", text)
	}
}

// Without a record the advice says what it assumes.
func TestAssumed(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", "../../kernels/tuning/rounds_synced/launch.yaml", "--out", dir); status != 0 {
		t.Fatal(stderr)
	}
	text, _, _ := invoke(t, "advise", filepath.Join(dir, gpa.SavedFile))
	if !strings.Contains(text, "redundant-barrier") || strings.Contains(text, "Assumed: ") {
		t.Errorf("advice of a saved profile with a record:\n%s", text)
	}
	without := filepath.Join(dir, "without.gpa")
	forget(t, filepath.Join(dir, gpa.SavedFile), without)
	text, _, _ = invoke(t, "advise", without)
	if !strings.Contains(text, "redundant-barrier") || !strings.Contains(text, "Assumed: ") {
		t.Errorf("advice of a profile without a record:\n%s", text)
	}
	text, _, _ = invoke(t, "advise", without, "--json")
	if !strings.Contains(text, `"assumed"`) {
		t.Errorf("JSON of a profile without a record:\n%s", text)
	}
}

// forget saves a profile again without the records of its launches.
func forget(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiler.Load(from, strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.Launches {
		if l.Record == nil {
			t.Errorf("launch of %s has no record", l.Kernel)
		}
		l.Record = nil
	}
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := profiler.Save(out, p); err != nil {
		t.Fatal(err)
	}
}
