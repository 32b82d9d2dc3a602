package main

import (
	"encoding/json"
	"strings"
	"testing"

	"gpa/reports"
)

// TestProfileWithoutTiming holds that a profile without timing counts what one with timing counts, and has neither cycles nor samples.
func TestProfileWithoutTiming(t *testing.T) {
	launches := func(level string) []reports.ProfiledLaunch {
		stdout, stderr, status := invoke(t, "profile", "hotspot", "--timing", level, "--json")
		if status != exitDone {
			t.Fatalf("status %d: %s", status, stderr)
		}
		var r reports.ProfileReport
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Checks) == 0 || !r.Checks[0].OK {
			t.Errorf("%s: checks %+v", level, r.Checks)
		}
		return r.Launches
	}
	full, none := launches("full"), launches("none")
	for i, l := range none {
		if l.WarpInstructions != full[i].WarpInstructions || l.ThreadInstructions != full[i].ThreadInstructions {
			t.Errorf("%d and %d instructions, with timing %d and %d", l.WarpInstructions, l.ThreadInstructions, full[i].WarpInstructions, full[i].ThreadInstructions)
		}
		if l.Cycles != 0 || l.Samples != nil || l.Timing.Level != "none" || len(l.Advice) > 0 {
			t.Errorf("%d cycles, samples %+v, timing %+v, %d pieces of advice", l.Cycles, l.Samples, l.Timing, len(l.Advice))
		}
	}
	if _, stderr, status := invoke(t, "profile", "vecadd", "--timing", "none", "--try", "1"); status != exitUsage || !strings.Contains(stderr, "--try") {
		t.Errorf("--try without timing: status %d, %q", status, stderr)
	}
}
