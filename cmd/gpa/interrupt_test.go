package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpa"
)

// TestInterruptSignal interrupts the process as a terminal does. The result is there, loads again, and says that it is
// not whole.
func TestInterruptSignal(t *testing.T) {
	t.Parallel()
	dir, out := copyKernel(t, "sgemm_tiled"), t.TempDir()
	file := filepath.Join(dir, "launch.yaml")
	edit(t, file, "shape: [120, 100]", "shape: [120, 50000]")
	edit(t, file, "shape: [100, 140]", "shape: [50000, 140]")
	edit(t, file, "i32: 100}", "i32: 50000}")
	cmd := gpaProcess(t, "profile", dir, "--out", out)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // by then it runs; where it does not yet, the result has no samples
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != exitFailed || !strings.Contains(stderr.String(), "interrupted in launch") {
		t.Fatalf("%v: %s", err, &stderr)
	}
	again, message, status := invoke(t, "advise", filepath.Join(out, gpa.SavedFile))
	if status != exitDone || !strings.Contains(again, "which was interrupted") {
		t.Errorf("status %d: %s\n%s", status, message, again)
	}
}

// TestTimeout stops kernels that run for long. Commands print what there is until then.
func TestTimeout(t *testing.T) {
	t.Parallel()
	dir := copyKernel(t, "sgemm_tiled")
	file := filepath.Join(dir, "launch.yaml")
	edit(t, file, "shape: [120, 100]", "shape: [120, 50000]")
	edit(t, file, "shape: [100, 140]", "shape: [50000, 140]")
	edit(t, file, "i32: 100}", "i32: 50000}")
	for command, want := range map[string]string{
		"run": "1 launch,", "check": "nothing found so far", "profile": "which was interrupted", "reconverge": "",
	} {
		out, message, status := invoke(t, command, dir, "--timeout", "500ms")
		if status != exitFailed || !strings.Contains(message, "stopped by --timeout") || !strings.Contains(out, want) {
			t.Errorf("%s: status %d: %s\n%s", command, status, message, out)
		}
	}
	if _, message, status := invoke(t, "run", "vecadd", "--timeout", "-1s"); status != exitUsage || !strings.Contains(message, "negative") {
		t.Errorf("status %d: %s", status, message)
	}
}
