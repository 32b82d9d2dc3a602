package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/advisor/evaluation"
	"gpa/reports"
)

// TestEvaluateLadders holds a ladder's figures against each other and against those of gpa profile.
func TestEvaluateLadders(t *testing.T) {
	const folder = "../../kernels/ladders/colsum"
	out, stderr, status := invoke(t, "evaluate", "--ladders", folder, "--json")
	if status != exitDone {
		t.Fatal(stderr)
	}
	var x reports.LadderEvaluation
	if err := json.Unmarshal([]byte(out), &x); err != nil || len(x.Ladders) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	l := x.Ladders[0]
	if l.Ladder != "colsum" || l.GPU != "v100" || len(l.Steps) != len(l.Versions)-1 || x.Summary.Steps != len(l.Steps) || x.Summary.Gaining == 0 {
		t.Errorf("%+v", x)
	}
	if cycles := profiledCycles(t, folder+"/thread_column.yaml"); l.Versions[0].Cycles != cycles {
		t.Errorf("%d cycles, profiled are %d", l.Versions[0].Cycles, cycles)
	}
	for i, s := range l.Steps {
		if ratio := float64(l.Versions[i].Cycles) / float64(l.Versions[i+1].Cycles); s.Achieved < ratio-1e-3 || s.Achieved > ratio+1e-3 || !l.Versions[i].AsExpected {
			t.Errorf("%s to %s: %v, want %v", s.From, s.To, s.Achieved, ratio)
		}
	}
	if l.Steps[0].Achieved < 5 {
		t.Errorf("a thousand threads instead of two blocks gain %.2fx", l.Steps[0].Achieved)
	}
}

// TestEvaluateLaddersFails gives ladders that say nothing, and one whose outputs are not as expected.
func TestEvaluateLaddersFails(t *testing.T) {
	for _, c := range []struct {
		name, ladder string
		status       int
		says         string
	}{
		{"one version", `{"versions": [{"version": "vectors"}]}`, exitUsage, "at least two"},
		{"no name", `{"versions": [{"version": "vectors"}, {"change": "x"}]}`, exitUsage, `"version" is missing`},
		{"no change", `{"versions": [{"version": "vectors"}, {"version": "split_rows"}]}`, exitUsage, `"change" goes with`},
		{"an unknown optimizer", `{"versions": [{"version": "vectors"}, {"version": "split_rows", "change": "x", "optimizers": ["magic"]}]}`, exitUsage, `no optimizer "magic"`},
		{"an unknown key", `{"version": []}`, exitUsage, "unknown field"},
		{"no launch file", `{"versions": [{"version": "vector"}, {"version": "split_rows", "change": "x"}]}`, exitUsage, "vector.yaml"},
		{"other outputs", `{"versions": [{"version": "vectors"}, {"version": "split_rows", "change": "x"}]}`, exitFailed, "outputs are not as expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../kernels/ladders/colsum")); err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{evaluation.LadderFile: []byte(c.ladder), "out.expected.npy": otherFloats(t, filepath.Join(dir, "out.expected.npy"))} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, stderr, status := invoke(t, "evaluate", "--ladders", dir); status != c.status || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d: %s", status, stderr)
			}
		})
	}
}

// otherFloats reads a file of floats and changes the sign of the last.
func otherFloats(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 0x80
	return data
}
