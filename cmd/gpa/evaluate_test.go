package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/advisor/evaluation"
	"gpa/reports"
)

// TestEvaluate holds the advice against the pairs of the corpus.
func TestEvaluate(t *testing.T) {
	out, stderr, status := invoke(t, "evaluate", "../../kernels/pairs", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var x reports.Evaluation
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	s := x.Summary
	if s.Pairs < 26 || s.First < .62 || s.Top3 < .97 || s.Lines < .96 || s.MeanError > .062 || s.MedianError > .042 || s.MaxError > .27 || s.TriedError > .03 {
		t.Errorf("%+v", s)
	}
	for _, p := range x.Pairs {
		if p.Silent == nil && (p.Left > .6 || !p.Settled()) {
			t.Errorf("%s: %.0f%% of the stalls are left, and the advice promises %.2f after %.2f", p.Pair, 100*p.Left, p.Then, p.Estimated)
		}
	}
}

// TestEvaluateFails holds that what must be silent and is not fails, and so do files that say nothing.
func TestEvaluateFails(t *testing.T) {
	corpus, err := filepath.Abs("../../kernels")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, pair string
		status     int
		says       string
	}{
		{"not silent", `{"before": "KERNELS/patterns/rows_tiny", "silent": "thread-increase"}`, exitFailed, "not silent"},
		{"no optimizer", `{"before": "KERNELS/linear/dgemv", "after": "KERNELS/linear/dgemv"}`, exitUsage, "is needed"},
		{"no before", `{"optimizer": "fast-math"}`, exitUsage, `"before" is missing`},
		{"no after", `{"before": "KERNELS/linear/dgemv", "optimizer": "fast-math"}`, exitUsage, `"after" is missing`},
		{"no JSON", `before: x`, exitUsage, "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			toCorpus, err := filepath.Rel(dir, corpus)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.ReplaceAll(c.pair, "KERNELS", filepath.ToSlash(toCorpus))
			if err := os.WriteFile(filepath.Join(dir, evaluation.PairFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, stderr, status := invoke(t, "evaluate", dir); status != c.status || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}
