package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gpa/emu/convergence"
	"gpa/reports/reconvergence"
)

// reconvergeJSON runs gpa reconverge and reads what it prints.
func reconvergeJSON(t *testing.T, args ...string) (object reconvergence.Report, status int) {
	t.Helper()
	out, stderr, status := invoke(t, append([]string{"reconverge", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &object); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	return object, status
}

// TestReconvergeModels holds the rows to each other: thread frontiers and the bound below the others on unstructured code,
// the same threads' work everywhere but where the code has been changed.
func TestReconvergeModels(t *testing.T) {
	object, status := reconvergeJSON(t, "../../kernels/control/state_machine", "--timing", "fast")
	if status != exitDone || len(object.Launches) != 1 {
		t.Fatalf("exit status %d, %d launches", status, len(object.Launches))
	}
	rows := make(map[string]reconvergence.ModelReport)
	var names []string
	for _, m := range object.Launches[0].Models {
		if names = append(names, m.Model); m.Status != "ok" {
			t.Errorf("%s: %s", m.Model, m.Fault)
			continue
		}
		rows[m.Model] = m
		if m.Model != convergence.Bound && (!*m.OutputsEqual || *m.Cycles <= 0 || *m.MaxStack < 2) {
			t.Errorf("%s: %+v", m.Model, m)
		}
		if m.Model != convergence.Struct && *m.ThreadInstructions != *object.Launches[0].Models[0].ThreadInstructions {
			t.Errorf("%s: %d thread instructions", m.Model, *m.ThreadInstructions)
		}
	}
	if !slices.Equal(names, []string{"volta", "pdom", "tf-stack", "tf-sandy", "struct", "bound"}) {
		t.Errorf("rows %v", names)
	}
	order := []string{"bound", "tf-stack", "volta", "pdom"}
	for i, name := range order[1:] {
		if *rows[name].WarpInstructions <= *rows[order[i]].WarpInstructions {
			t.Errorf("%s has %d warp instructions, %s %d", name, *rows[name].WarpInstructions, order[i], *rows[order[i]].WarpInstructions)
		}
	}
	if s := object.Launches[0].Structure; !s.Unstructured || s.ForwardCopies == 0 || s.StaticExpansion <= 0 {
		t.Errorf("structure %+v", s)
	}
}

// TestReconvergeStuck: where a launch does not end under a model the row says why, and the command succeeds.
func TestReconvergeStuck(t *testing.T) {
	const figures = "../../emu/activity/testdata/figures.sm_70.cubin"
	for _, test := range []struct {
		name   string
		args   []string
		stuck  string // of pdom
		reason string
	}{
		{"spin lock", []string{"../../kernels/control/ticket_lock"}, "livelock", "ticket_lock.cu:17"},
		{"barrier before the join", []string{figures, "--kernel", "figure2a", "--grid", "1", "--block", "2",
			"--arg", "i32[4096]:iota(6,-7)", "--arg", "i32[4096]"}, "deadlock", "figures.cu:37"},
	} {
		t.Run(test.name, func(t *testing.T) {
			object, status := reconvergeJSON(t, append(test.args, "--timing", "none")...)
			if status != exitDone {
				t.Errorf("exit status %d", status)
			}
			row := object.Launches[0].Models[1]
			if row.Model != "pdom" || row.Status != test.stuck || !strings.Contains(row.Fault, test.reason) {
				t.Errorf("row %+v", row)
			}
		})
	}
}

func TestReconvergeUsage(t *testing.T) {
	for _, args := range [][]string{
		{"../../kernels/control/state_machine", "--models", "simd"}, {"state_machine", "--timing", "slow"}, {"state_machine", "--max-instructions", "-1"}, {},
		{"state_machine", "--activity", "struct"}, {"state_machine", "--models", "pdom", "--activity", "tf-stack"},
		{"state_machine", "--branch-type", "a.cu:3"}, {"state_machine", "--top", "-1"},
	} {
		if _, _, status := invoke(t, append([]string{"reconverge"}, args...)...); status != exitUsage {
			t.Errorf("%v: exit status %d", args, status)
		}
	}
}
