package gpa_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"gpa"
	"gpa/emu"
)

// TestLoadErrors holds that programs can tell why a name loads nothing.
func TestLoadErrors(t *testing.T) {
	_, err := gpa.Load("no_such_kernel", gpa.LoadOptions{})
	var missing *gpa.NotFoundError
	if !errors.As(err, &missing) || missing.Name != "no_such_kernel" {
		t.Errorf("a name of nothing: %v", err)
	}
	_, err = gpa.Load("kernels", gpa.LoadOptions{})
	var folder *gpa.NoLaunchFileError
	if !errors.As(err, &folder) || folder.Folder != "kernels" {
		t.Errorf("a folder without a launch file: %v", err)
	}
	if _, err = gpa.Load("vecadd", gpa.LoadOptions{Shared: 1}); !errors.Is(err, gpa.ErrDescribed) {
		t.Errorf("a built-in kernel with facts: %v", err)
	}
	_, err = gpa.Load("kernels/basic/saxpy/saxpy.sm_80.cubin", gpa.LoadOptions{Grid: [3]int{1, 1, 1}})
	var undescribed *gpa.UndescribedError
	if !errors.As(err, &undescribed) || undescribed.Kernels() != "saxpy(4, 4, 8, 8)" {
		t.Errorf("a cubin without facts: %v", err)
	}
}

// profiled profiles a kernel.
func profiled(t *testing.T, name string) *gpa.Result {
	t.Helper()
	target, err := gpa.Load(name, gpa.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := target.Profile(t.Context(), gpa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAttach saves a profile, reads it again and tries its advice on its target: what comes out is what it would have been at once. Without the
// target nothing can be tried.
func TestAttach(t *testing.T) {
	r := profiled(t, "kernels/patterns/rows_tiny")
	file := filepath.Join(t.TempDir(), gpa.SavedFile)
	var saved bytes.Buffer
	if err := r.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, saved.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := gpa.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Try(t.Context(), gpa.TryOptions{}); !errors.Is(err, gpa.ErrNotRun) {
		t.Errorf("tried without a target: %v", err)
	}
	attached, err := gpa.Attach(t.Context(), r.Target, &read.Result, gpa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*gpa.Result{r, attached} {
		if err := x.Try(t.Context(), gpa.TryOptions{First: 3}); err != nil {
			t.Fatal(err)
		}
	}
	tries := r.Profile.Launches[0].Tries
	if len(tries) != 3 || !reflect.DeepEqual(tries, attached.Profile.Launches[0].Tries) {
		t.Errorf("tried at once %+v, later %+v", tries, attached.Profile.Launches[0].Tries)
	}
}

// TestFailure holds that a fault and wrong outputs are told of, and are no errors of the run.
func TestFailure(t *testing.T) {
	target, err := gpa.Load("vecadd", gpa.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	target.File.Launches = append(target.File.Launches, target.File.Launches[0])
	target.File.Launches[0].Repeat = 2
	if r, err := target.Run(t.Context(), gpa.Options{}); err != nil || r.Failure() != nil || len(r.Outputs) == 0 {
		t.Errorf("%v: failure %v, outputs %v", err, r.Failure(), r.Outputs)
	}
	if r, err := target.Run(t.Context(), gpa.Options{MaxInstructions: 1}); err != nil || r.Failure() == nil || len(r.Profile.Launches) != 1 {
		t.Errorf("a fault: %v", err)
	}
	target.File.Launches = nil
	if r, err := target.Run(t.Context(), gpa.Options{}); err != nil || r.Failure() == nil {
		t.Errorf("wrong outputs: %v", err)
	}
}

// A canceller ends a context when launches begin.
type canceller struct{ cancel context.CancelFunc }

func (c canceller) Stage(string) func() { return func() {} }

func (c canceller) Running(*gpa.Target, *emu.Progress) func() {
	c.cancel()
	return func() {}
}

// TestStopped holds that a profile ends with its context, with what there is.
func TestStopped(t *testing.T) {
	target, err := gpa.Load("sgemm_tiled", gpa.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := target.Profile(ctx, gpa.Options{Progress: canceller{cancel}})
	if !errors.Is(err, context.Canceled) || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	var stopped *gpa.StoppedError
	if !errors.As(r.Failure(), &stopped) || stopped.Launch != 1 || stopped.Launches != 1 || !errors.Is(stopped, context.Canceled) {
		t.Errorf("%v", r.Failure())
	}
}
