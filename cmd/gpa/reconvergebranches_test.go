package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/emu/activity"
	"gpa/reports/reconvergence"
)

// dotProduct are the arguments for the example of Gupta and Datta: two blocks of eight warps, the last of which ends behind the
// vectors.
var dotProduct = []string{"../../cubin/branch/testdata/branches.sm_70.cubin", "--kernel", "vector_dot", "--grid", "2", "--block", "256",
	"--arg", "f32[512]:uniform(0,1)", "--arg", "f32[512]:uniform(0,1)", "--arg", "f32[512]", "--arg", "i32:500", "--timing", "none", "--models", "pdom"}

// TestReconvergeBranches holds the table of branches to the identities of the paper's Figure 6 and to what the kernel does.
func TestReconvergeBranches(t *testing.T) {
	object, status := reconvergeJSON(t, append(dotProduct, "--branch-type", "branches.cu:14=extrinsic")...)
	if status != exitDone {
		t.Fatalf("exit status %d", status)
	}
	l := &object.Launches[0]
	byLine := make(map[int][]reconvergence.BranchReport)
	full := 0
	for _, b := range l.Branches {
		byLine[b.At.Line] = append(byLine[b.At.Line], b)
		if b.Instances == 32*b.DynamicCount && b.DynamicCount > 0 { // full warps come to it
			if full++; *b.Occupancy != *b.Taken {
				t.Errorf("%#x: occupancy %g, taken %g", b.At.PC, *b.Occupancy, *b.Taken)
			}
		}
		if rule := b.At.Line == 14; rule != (b.Source == "rule") || rule && b.Type != "extrinsic" || b.Contradicts != (b.Automatic != b.Type) {
			t.Errorf("%#x: %+v", b.At.PC, b)
		}
	}
	if full != 2 {
		t.Errorf("%d branches that full warps come to, want the guard and the choice of one thread", full)
	}
	guard, one := byLine[9][0], byLine[13][0]
	if guard.Type != "extrinsic" || guard.DynamicCount != 16 || *guard.Taken != 12.0/512 || guard.Grade != activity.SetUp {
		t.Errorf("guard %+v", guard)
	}
	if one.Type != "extrinsic" || *one.Taken != 511.0/512 || one.Grade != activity.Serial || one.LostLanes <= guard.LostLanes {
		t.Errorf("branch of one thread %+v", one)
	}
	checkShares(t, l)
}

// checkShares: the lanes are all accounted for, in the kernel and in each scope, and so are the branches.
func checkShares(t *testing.T, l *reconvergence.LaunchReport) {
	t.Helper()
	if a := l.Activity; a == nil || a.Model != "volta" || len(a.ByScope) < 3 || a.ByScope[0].Kind != "kernel" || a.ByScope[0].Share != 1 {
		t.Fatalf("activity %+v", a)
	}
	for _, s := range l.Activity.ByScope {
		if sum := s.Active + s.Intrinsic + s.Extrinsic + s.Absent; math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s at line %d: the shares add up to %g", s.Kind, s.Line, sum)
		}
	}
	static, dynamic := 0.0, 0.0
	for _, c := range l.Classes {
		static += c.Static
		dynamic += c.Dynamic
	}
	if math.Abs(static-1) > 1e-12 || math.Abs(dynamic-1) > 1e-12 {
		t.Errorf("shares of the classes %+v", l.Classes)
	}
	if *l.Models[0].ActivityFactor != l.Activity.Active {
		t.Errorf("activity factor %g, active lanes %g", *l.Models[0].ActivityFactor, l.Activity.Active)
	}
}

// TestReconvergeRules: the text tells of rules that contradict the code, and standard error of those that decide nothing.
func TestReconvergeRules(t *testing.T) {
	out, stderr, status := invoke(t, append(append([]string{"reconverge"}, dotProduct...),
		"--branch-type", "branches.cu:13=intrinsic", "--branch-type", "x.cu:3=uniform", "--top", "1", "--activity", "pdom")...)
	if status != exitDone {
		t.Fatal(stderr)
	}
	for _, want := range []string{"lanes under pdom\n", "branches.cu:13 0x170: intrinsic by the rule branches.cu:13=intrinsic, but it depends on: thread block size parameter\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Count(out, "branches.cu:14 ") != 0 {
		t.Errorf("more than one branch:\n%s", out)
	}
	if want := "x.cu:3=uniform: no branch"; !strings.Contains(stderr, want) {
		t.Errorf("no %q in %s", want, stderr)
	}
}

// TestReconvergeTables: the tables of a folder, and what no table can be made of.
func TestReconvergeTables(t *testing.T) {
	out, stderr, status := invoke(t, "reconverge", "--tables", "../../kernels/sort")
	if status != exitDone {
		t.Fatal(stderr)
	}
	for _, want := range []string{"## Unstructured control flow (Wu et al., Table 1)\n", "| sort | 2 | 1 |", "\n| sort/insertion_local |", "## Lanes and branches"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	empty := t.TempDir()
	if _, stderr, status := invoke(t, "reconverge", "--tables", empty); status != exitUsage || !strings.Contains(stderr, "no launch.yaml") {
		t.Errorf("empty folder: exit status %d, %s", status, stderr)
	}
	if err := os.WriteFile(filepath.Join(empty, "launch.yaml"), []byte("module: none.cubin\nlaunches: [{kernel: k, grid: [1], block: [1]}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := invoke(t, "reconverge", "--tables", empty); status != exitFailed || !strings.Contains(stderr, "none.cubin") {
		t.Errorf("folder with a bad file: exit status %d, %s", status, stderr)
	}
}
