package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/profiler/store"
	"gpa/reports"
)

// stored counts the results in a store.
func stored(t *testing.T, dir string) int {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := s.Results()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

// TestProfileStore profiles a kernel without a store, into one, and out of it: every output has the same bytes. Another option is another
// key, and a damaged file is told and replaced.
func TestProfileStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	text := func(args ...string) (string, string, map[string][]byte) {
		t.Helper()
		out := t.TempDir()
		stdout, stderr, status := invoke(t, append([]string{"profile", "transpose_naive", "--out", out}, args...)...)
		if status != exitDone {
			t.Fatalf("status %d: %s", status, stderr)
		}
		files := make(map[string][]byte)
		for _, name := range []string{reports.SamplesFile, "advice.json", "advice.txt", "profile.pb.gz", "blame.pb.gz"} {
			data, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = data
		}
		return regexp.MustCompile(`[0-9.]+ s of host time|in [0-9.]+ s`).ReplaceAllString(stdout, ""), stderr, files
	}
	want, _, files := text()
	for i := range 2 {
		got, said, of := text("--store", dir)
		if got != want || said != "" || stored(t, dir) != 2 { // samples, and what was made of them
			t.Fatalf("time %d: %s%s, %d results", i, cmp.Diff(want, got), said, stored(t, dir))
		}
		if d := cmp.Diff(files, of); d != "" {
			t.Errorf("time %d: files differ", i)
		}
	}
	if text("--store", dir, "--reconvergence", "pdom"); stored(t, dir) != 4 {
		t.Errorf("another model: %d results", stored(t, dir))
	}
	if text("--store", dir, "--workers", "1"); stored(t, dir) != 4 {
		t.Errorf("another number of workers: %d results", stored(t, dir))
	}
	names, err := filepath.Glob(filepath.Join(dir, "results", "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	if got, said, _ := text("--store", dir); got != want || !strings.Contains(said, "is damaged") {
		t.Errorf("damaged: %s%q", cmp.Diff(want, got), said)
	}
	if got, said, _ := text("--store", dir); got != want || said != "" {
		t.Errorf("repaired: %s%q", cmp.Diff(want, got), said)
	}
}

// TestStoreConflict puts another result in the place of the right one: --no-cache finds it.
func TestStoreConflict(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", "vecadd", "--store", dir); status != exitDone {
		t.Fatal(stderr)
	}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := s.Results()
	if err := os.RemoveAll(filepath.Join(dir, "results")); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := s.Record(key, map[string][]byte{reports.SamplesFile: []byte("other")}); err != nil {
			t.Fatal(err)
		}
	}
	_, stderr, status := invoke(t, "profile", "vecadd", "--store", dir, "--no-cache")
	if status != exitFailed || !strings.Contains(stderr, "two results for key") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestCompareStore compares and evaluates with a store: the second time there is nothing to keep, and every output is the same.
func TestCompareStore(t *testing.T) {
	ladder := filepath.Join(t.TempDir(), "steps")
	if err := os.CopyFS(ladder, os.DirFS("../../kernels/patterns/rows_full")); err != nil {
		t.Fatal(err)
	}
	text := `{"about": "A kernel twice", "versions": [{"version": "launch"}, {"version": "again", "change": "none"}]}`
	if err := errors.Join(os.WriteFile(filepath.Join(ladder, "ladder.json"), []byte(text), 0o666), os.Link(filepath.Join(ladder, "launch.yaml"), filepath.Join(ladder, "again.yaml"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"compare", "../../kernels/patterns/rows_tiny", "../../kernels/patterns/rows_full"},
		{"evaluate", "../../kernels/pairs/rows", "--json"},
		{"evaluate", ladder, "--ladders", "--json"},
	} {
		dir := filepath.Join(t.TempDir(), "store")
		want, _, status := invoke(t, args...)
		if status != exitDone {
			t.Fatalf("%v: status %d", args, status)
		}
		results := 0
		for i := range 2 {
			got, said, status := invoke(t, append(args, "--store", dir)...)
			if got != want || said != "" || status != exitDone {
				t.Errorf("%v, time %d: status %d, %s%s", args, i, status, cmp.Diff(want, got), said)
			}
			if n := stored(t, dir); n == 0 || i > 0 && n != results {
				t.Errorf("%v: %d results, then %d", args, results, n)
			} else {
				results = n
			}
		}
	}
}
