package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/reports"
)

// TestBlamePlot holds that the plot has a line for each kernel.
func TestBlamePlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "coverage.svg")
	out, stderr, status := invoke(t, "evaluate", "--blame", "../../kernels/stencil", "--plot", file)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hotspot", "pathfinder", "stencil3d"} {
		if !strings.Contains(string(svg), ">"+name+"</text>") || !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("%s is missing:\n%s\n%s", name, out, svg)
		}
	}
}

// TestBlameJSON holds that --json prints the evaluation of all kernels under the folder, on the GPU that --arch names.
func TestBlameJSON(t *testing.T) {
	out, stderr, status := invoke(t, "evaluate", "--blame", "../../kernels/stencil", "--arch", "sm_80", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var x reports.BlameEvaluation
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../kernels/stencil/*/launch.yaml")
	if err != nil || len(x.Kernels) != len(files) || x.Summary.Agreement < .9 {
		t.Errorf("%d kernels of %d, %v; %+v", len(x.Kernels), len(files), err, x.Summary)
	}
}
