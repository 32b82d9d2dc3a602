package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestRewrite rewrites a kernel in each way, and checks the result with the command itself.
func TestRewrite(t *testing.T) {
	const kernel = "../../kernels/math/mandelbrot/mandelbrot.sm_70.cubin"
	out := filepath.Join(t.TempDir(), "new.cubin")
	tests := []struct {
		name   string
		args   []string
		status int
		want   string // in the output
	}{
		{"restructure", []string{"--restructure", kernel, "-o", out}, exitDone, "1 cuts of 2 edges"},
		{"what it wrote", []string{"--check", out}, exitDone, "all dependences are covered"},
		{"is structured", []string{"--census", out}, exitDone, "        1             0"},
		{"census of a folder", []string{"--census", "--arch", "sm_70", "../../kernels/math"}, exitDone, "mandelbrot.sm_70.cubin"},
		{"census of no code", []string{"--census", "rewrite_test.go"}, exitUsage, "rewrite_test.go"},
		{"reconverge", []string{"--reconverge", "tf", kernel, "-o", out}, exitDone, "joins with a barrier"},
		{"what that wrote", []string{"--check", out}, exitDone, "all dependences are covered"},
		{"reorder", []string{"--reorder", "../../kernels/math/nbody/nbody.sm_70.cubin", "-o", out}, exitDone, "instructions moved"},
		{"what reorder wrote", []string{"--check", out}, exitDone, "all dependences are covered"},
		{"two things", []string{"--restructure", "--check", kernel}, exitUsage, "say one thing"},
		{"unknown model", []string{"--reconverge", "pdom", kernel}, exitUsage, "only tf"},
		{"no cubin", []string{"--check", "rewrite_test.go"}, exitUsage, "rewrite_test.go"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := run(context.Background(), &env{stdout: &stdout, stderr: &stderr}, append([]string{"rewrite"}, test.args...))
			if status != test.status || !strings.Contains(stdout.String()+stderr.String(), test.want) {
				t.Errorf("status %d\n%s%s\nwant %d and %q", status, &stdout, &stderr, test.status, test.want)
			}
		})
	}
}
