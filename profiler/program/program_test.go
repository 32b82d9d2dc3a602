//go:build linux && (amd64 || arm64)

package program

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa"
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
