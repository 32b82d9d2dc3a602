package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpa/emu"
	"gpa/emu/launch"
	"gpa/profiler/sampler"
)

// timedSession prepares the launches of a kernel with full timing, and a sampler.
func timedSession(t *testing.T, r *resolved) (*launch.Session, *sampler.Sampler) {
	t.Helper()
	s, err := new(machineFlags).session(r, emu.TimingFull, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o, err := sampler.New(sampler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// TestInterrupt cancels a profile of a long sequence of launches in its second launch: that launch is kept as far as it
// came, its samples obey the sampling laws, and it says that its rest is missing.
func TestInterrupt(t *testing.T) {
	r, err := new(target).resolve("sgemm_tiled")
	if err != nil {
		t.Fatal(err)
	}
	r.file.Launches[0].Repeat = 3
	s, o := timedSession(t, r)
	x := newExecution(r)
	if _, err := x.one(t.Context(), s, 0, o); err != nil {
		t.Fatal(err)
	}
	ctx := &expiring{Context: t.Context(), left: 10}
	if _, err := x.one(ctx, s, 0, o); !errors.Is(err, context.Canceled) || !x.partial {
		t.Fatalf("partial %v: %v", x.partial, err)
	}
	whole, part := x.profile.Launches[0], x.profile.Launches[1]
	if part.Facts.Cycles <= 0 || part.Facts.Cycles >= whole.Facts.Cycles || part.Totals().Samples == 0 {
		t.Errorf("%d of %d cycles, %d samples", part.Facts.Cycles, whole.Facts.Cycles, part.Totals().Samples)
	}
	if err := part.CheckSampling(0.05); err != nil {
		t.Error(err)
	}
	if len(part.Missing) != 1 || len(whole.Missing) != 0 {
		t.Errorf("missing: %q of the part, %q of the whole", part.Missing, whole.Missing)
	}
	if err := x.failed(); err == nil || !strings.Contains(err.Error(), "launch 2 of 3") {
		t.Error(err)
	}
}

// An expiring context is cancelled after it has been asked some times.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

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
	again, message, status := gpa(t, "advise", filepath.Join(out, samplesFile))
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
		out, message, status := gpa(t, command, dir, "--timeout", "500ms")
		if status != exitFailed || !strings.Contains(message, "stopped by --timeout") || !strings.Contains(out, want) {
			t.Errorf("%s: status %d: %s\n%s", command, status, message, out)
		}
	}
	if _, message, status := gpa(t, "run", "vecadd", "--timeout", "-1s"); status != exitUsage || !strings.Contains(message, "negative") {
		t.Errorf("status %d: %s", status, message)
	}
}
