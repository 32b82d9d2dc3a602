package main

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"gpa"
)

// TestProfileWorkers holds that a profile has the same bytes for any number of workers: of kernels without races, with
// atomics and locks, with races, and of those that allocate or print.
func TestProfileWorkers(t *testing.T) {
	for _, kernel := range []string{"vecadd", "bfs", "basic/atomics", "basic/histogram_global", "control/ticket_lock", "control/malloc", "control/printf"} {
		name := kernel
		if filepath.Base(kernel) != kernel {
			name = filepath.Join("../../kernels", kernel, "launch.yaml")
		}
		var want map[string]string
		for _, workers := range []int{1, 2, 3, 7} {
			dir := t.TempDir()
			_, stderr, status := invoke(t, "profile", name, "--workers", strconv.Itoa(workers), "--out", dir)
			if status != exitDone {
				t.Fatalf("%s: status %d: %s", kernel, status, stderr)
			}
			got := map[string]string{"standard error": stderr}
			for _, file := range []string{"profile.pb.gz", "blame.pb.gz", gpa.SavedFile, "advice.json"} {
				data, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				got[file] = string(data)
			}
			if want == nil {
				want = got
			}
			for file := range want {
				if got[file] != want[file] {
					t.Errorf("%s: %s differs with %d workers", kernel, file, workers)
				}
			}
		}
	}
	if _, stderr, status := invoke(t, "profile", "vecadd", "--workers", "-1"); status != exitUsage || stderr == "" {
		t.Errorf("-1 workers: status %d, %q", status, stderr)
	}
}
