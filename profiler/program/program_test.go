//go:build linux && (amd64 || arm64)

package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa"
	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/profiler"
	"gpa/reports"
)

// What goes wrong while advice is tried is an error of that kernel.
func TestTryKernelPanic(t *testing.T) {
	l := &profiler.Launch{}
	result := &reports.Result{Profile: &profiler.Profile{Launches: []*profiler.Launch{l}}, Launches: make([]reports.LaunchResult, 1)}
	err := new(Program).tryKernel(t.Context(), gpa.TryOptions{}, result, &replayed{launch: l}) // no capture
	if err == nil || !strings.Contains(err.Error(), "a mistake in gpa: ") {
		t.Errorf("%v, want a mistake in gpa", err)
	}
}

// Sources that lie beside a program are found from elsewhere.
func TestSources(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	for name, text := range map[string]string{program: "#!/bin/sh\nexit 3\n", filepath.Join(folder, "kernel.cu"): "kernel"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	model, err := arch.ByName("a100")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{program: "kernel", "true": ""} {
		p, err := New(Options{GPU: model})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(context.Background(), os.Stdout, command); err != nil {
			t.Fatal(err)
		}
		if got := string(p.Sources().Read("/home/of/others/kernel.cu")); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

// Names of kernels that are longer than a line that is shown leave the figures their place.
func TestTableOfLongNames(t *testing.T) {
	model, err := arch.ByName("a100")
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{options: Options{GPU: model}, journal: newJournal()}
	k := &cubin.Kernel{Name: "k", Demangled: "k<" + strings.Repeat("a, ", 1000) + "b>"}
	e := p.journal.entry(&cubin.File{Kernels: []*cubin.Kernel{k}}, k)
	p.journal.launches, e.Launches, e.Instructions = 1, 1, 4711
	var out strings.Builder
	if err := p.Table(&out, reports.Style{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(line) > reports.LongestLine {
			t.Errorf("a line of %d characters", len(line))
		}
	}
	if !strings.Contains(out.String(), "4711") {
		t.Errorf("%s", out.String())
	}
}
