package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/reports"
)

// seededKernel is the command line that checks a kernel of the checker's testdata.
func seededKernel(file, kernel, block string, rest ...string) []string {
	cubin := "../../emu/check/testdata/" + file + "/" + file + ".sm_80.cubin"
	return append([]string{"check", cubin, "--kernel", kernel, "--grid", "1", "--block", block}, rest...)
}

// The exit status is 1 where errors were found among what is reported, and for warnings with --strict alone.
func TestCheckStatus(t *testing.T) {
	const out = "--arg=i32[32]"
	for _, test := range []struct {
		name   string
		args   []string
		status int
		kinds  []string
	}{
		{"error", seededKernel("memory", "double_free", "32", out), exitFailed, []string{"double free"}},
		{"other tool", seededKernel("memory", "double_free", "32", out, "--tool", "synccheck"), exitDone, nil},
		{"its tool", seededKernel("memory", "double_free", "32", out, "--tool", "memcheck"), exitFailed, []string{"double free"}},
		{"warning", seededKernel("race", "no_syncwarp", "32", out), exitDone, []string{"missing __syncwarp"}},
		{"strict", seededKernel("race", "no_syncwarp", "32", out, "--strict"), exitFailed, []string{"missing __syncwarp"}},
		{"none", seededKernel("race", "syncwarp", "32", out, "--strict"), exitDone, nil},
		{"unused", seededKernel("init", "accumulate_zeros", "20", out, "--track-unused-memory"), exitDone, []string{"unused memory"}},
		{"used", seededKernel("init", "accumulate_zeros", "32", out, "--track-unused-memory"), exitDone, nil},
		{"no init", seededKernel("init", "accumulate", "32", out), exitDone, nil},
		{"init none", seededKernel("init", "accumulate", "32", "--arg=i32[32]:none"), exitFailed, []string{"uninitialised read"}},
		{"no tool", seededKernel("race", "syncwarp", "32", out, "--tool", "lint"), exitUsage, nil},
		{"two choices", seededKernel("race", "syncwarp", "32", out, "--tool", "memcheck", "--only", "race"), exitUsage, nil},
		{"padding", seededKernel("race", "syncwarp", "32", out, "--padding", "-1"), exitUsage, nil},
		{"much padding", seededKernel("race", "syncwarp", "32", out, "--padding", "1073741825"), exitUsage, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, status := invoke(t, append(test.args, "--json")...)
			if status != test.status {
				t.Fatalf("status %d: %s", status, stderr)
			}
			var found struct{ Findings []reports.Finding }
			if status != exitUsage {
				if err := json.Unmarshal([]byte(stdout), &found); err != nil {
					t.Fatal(err)
				}
			}
			var kinds []string
			for _, f := range found.Findings {
				kinds = append(kinds, f.Kind)
			}
			if strings.Join(kinds, ",") != strings.Join(test.kinds, ",") {
				t.Errorf("found %q, want %q", kinds, test.kinds)
			}
		})
	}
}

// --padding catches what runs past a variable into the next one.
func TestCheckPadding(t *testing.T) {
	args := seededKernel("memory", "into_next_variable", "65", "--arg=i32[65]", "--json")
	near, _, _ := invoke(t, args...)
	far, _, _ := invoke(t, append(args, "--padding", "1")...)
	const kind = `"kind": "out of bounds"`
	if strings.Count(near, kind) != 1 || strings.Count(far, kind) != 2 {
		t.Errorf("%d and, with padding, %d errors", strings.Count(near, kind), strings.Count(far, kind))
	}
}

// --sarif writes the findings, also where there are none.
func TestCheckSARIF(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.sarif")
	for kernel, results := range map[string]int{"no_syncwarp": 1, "syncwarp": 0} {
		if _, stderr, status := invoke(t, seededKernel("race", kernel, "32", "--arg=i32[32]", "--sarif", name)...); status != exitDone {
			t.Fatalf("status %d: %s", status, stderr)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var log struct {
			Runs []struct {
				Results []struct{ RuleID, Level string }
			}
		}
		if err := json.Unmarshal(data, &log); err != nil || len(log.Runs) != 1 || len(log.Runs[0].Results) != results {
			t.Errorf("%s: %v, %+v", kernel, err, log)
		} else if results > 0 && (log.Runs[0].Results[0].RuleID != "race/missing-__syncwarp" || log.Runs[0].Results[0].Level != "warning") {
			t.Errorf("%+v", log)
		}
	}
}

// An interrupted context is cancelled when it has been asked a number of times whether it is.
type interruptedContext struct {
	context.Context
	asked *int
}

func (c interruptedContext) Err() error {
	if *c.asked--; *c.asked > 0 {
		return nil
	}
	return context.Canceled
}

// What has been found before an interrupt is printed.
func TestCheckInterrupted(t *testing.T) {
	var out, err bytes.Buffer
	asked := 10
	ctx := interruptedContext{context.Background(), &asked}
	status := run(ctx, &env{stdout: &out, stderr: &err}, seededKernel("race", "parted_lanes", "32", "--arg=i32[32]", "--arg=i32:10000000"))
	if status != exitFailed || !strings.Contains(out.String(), "race in kernel parted_lanes") || !strings.Contains(err.String(), "interrupted") {
		t.Errorf("status %d, %q, %q", status, out.String(), err.String())
	}
}
