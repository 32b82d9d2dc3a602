package main

import (
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
		if got != want || said != "" || stored(t, dir) != 1 {
			t.Fatalf("time %d: %s%s, %d results", i, cmp.Diff(want, got), said, stored(t, dir))
		}
		if d := cmp.Diff(files, of); d != "" {
			t.Errorf("time %d: files differ", i)
		}
	}
	if text("--store", dir, "--reconvergence", "pdom"); stored(t, dir) != 2 {
		t.Errorf("another model: %d results", stored(t, dir))
	}
	if text("--store", dir, "--workers", "1"); stored(t, dir) != 2 {
		t.Errorf("another number of workers: %d results", stored(t, dir))
	}
	names, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	if got, said, _ := text("--store", dir); got != want || !strings.Contains(said, "is lost") {
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
	if err := s.Record(keys[0], map[string][]byte{reports.SamplesFile: []byte("other")}); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := invoke(t, "profile", "vecadd", "--store", dir, "--no-cache")
	if status != exitFailed || !strings.Contains(stderr, "two results for key") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
