package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"gpa/reports"
)

// TestTry holds what a what-if run says against what the change has brought, where both make the same change.
func TestTry(t *testing.T) {
	for _, c := range []struct{ before, after, optimizer string }{
		{"patterns/columns_conflict", "patterns/columns_padded", "shared-bank-conflicts"},
		{"patterns/rows_tiny", "patterns/rows_full", "thread-increase"},
		{"patterns/moments_few", "patterns/moments_many", "block-increase"},
		{"patterns/affine_alias", "patterns/affine_restrict", "restrict-pointers"},
		{"patterns/parity_lanes", "patterns/parity_warps", "divergence-reduction"},
		{"tuning/hashes_wide", "tuning/hashes_narrow", "occupancy-increase"},
		{"tuning/tail_large", "tuning/tail_small", "sm-balance"},
	} {
		t.Run(c.before, func(t *testing.T) {
			tried := triedSpeedup(t, "../../kernels/"+c.before, c.optimizer)
			achieved := float64(profiledCycles(t, "../../kernels/"+c.before)) / float64(profiledCycles(t, "../../kernels/"+c.after))
			if math.Abs(tried-achieved) > .05*achieved {
				t.Errorf("tried %.3f, achieved %.3f", tried, achieved)
			}
		})
	}
}

// TestTryText holds that the report names the tried speedup beside the estimated one, and that only the first N are tried.
func TestTryText(t *testing.T) {
	out, stderr, status := invoke(t, "profile", "../../kernels/patterns/columns_conflict", "--try", "1")
	if status != exitDone {
		t.Fatal(stderr)
	}
	if !strings.Contains(out, "1. shared-bank-conflicts: estimated speedup") || strings.Count(out, ", tried ") != 1 {
		t.Errorf("%s", out)
	}
}

func triedSpeedup(t *testing.T, kernel, optimizer string) float64 {
	t.Helper()
	for _, a := range profileJSON(t, kernel, "--try", "5").Launches[0].Advice {
		if a.Optimizer == optimizer {
			return a.TriedSpeedup
		}
	}
	t.Fatalf("%s is not advised", optimizer)
	return 0
}

func profiledCycles(t *testing.T, kernel string) int64 {
	t.Helper()
	return profileJSON(t, kernel, "--try", "0").Launches[0].Cycles
}

func profileJSON(t *testing.T, args ...string) *reports.ProfileReport {
	t.Helper()
	out, stderr, status := invoke(t, append([]string{"profile", "--json"}, args...)...)
	if status != exitDone {
		t.Fatal(stderr)
	}
	r := new(reports.ProfileReport)
	if err := json.Unmarshal([]byte(out), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTriesAreKept holds that a profile tries its advice by default, that a saved result ranks as the profile did, and that --all lists
// what is not worth doing.
func TestTriesAreKept(t *testing.T) {
	const kernel = "../../kernels/patterns/rows_tiny"
	dir := t.TempDir()
	if _, stderr, status := invoke(t, "profile", kernel, "--out", dir); status != exitDone {
		t.Fatal(stderr)
	}
	told := func(args ...string) []reports.AdviceReport {
		out, stderr, status := invoke(t, append(args, "--json")...)
		r := new(reports.ProfileReport)
		if err := json.Unmarshal([]byte(out), r); err != nil || status != exitDone {
			t.Fatalf("%v: %s", err, stderr)
		}
		return r.Launches[0].Advice
	}
	profiled, saved := told("profile", kernel), told("report", dir)
	if !reflect.DeepEqual(profiled, saved) || profiled[0].TriedSpeedup < 1.2 {
		t.Errorf("profiled %+v, saved %+v", profiled, saved)
	}
	for _, a := range profiled {
		if a.TriedSpeedup == 0 && a.NotTried == "" || a.TriedSpeedup > 0 && a.TriedSpeedup < 1.02 {
			t.Errorf("%s: tried %g, %q", a.Optimizer, a.TriedSpeedup, a.NotTried)
		}
	}
	if all := told("report", dir, "--all"); len(all) <= len(profiled) {
		t.Errorf("%d pieces of advice, %d with --all", len(profiled), len(all))
	}
	if untried := told("profile", kernel, "--try", "0"); untried[0].TriedSpeedup != 0 || untried[0].NotTried != "" {
		t.Errorf("--try 0: %+v", untried[0])
	}
}
