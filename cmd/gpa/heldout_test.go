package main

import (
	"encoding/json"
	"testing"

	"gpa/reports"
)

// TestHeldOut tries the advice on the control flow of kernels that its rules were not made on. duff showed that a loop with
// several entries was not seen to come together at a join, which was mended; the others say how good the rules are.
func TestHeldOut(t *testing.T) {
	const field = "u32[65536]:uniform(0,1000000)"
	for _, test := range []struct {
		kernel                   string
		args                     []string
		reconverged, restructure float64 // least speedup of the trial, 0 where it is not to be advised
	}{
		{"probe", []string{"u32[4096]:uniform(0,1000000)", field, "u32[8192]", "i32:12"}, 1.1, 0},
		{"parse", []string{field, "u32[8192]", "i32:48"}, 1.3, 0},
		{"walk", []string{field, "u32[8192]", "i32:24"}, 0, 0},
		{"duff", []string{field, "u32[8192]", "i32:40"}, 2.5, 0},
		{"resume", []string{field, "u32[8192]", "i32:40"}, 1.04, 0},
		{"coroutines", []string{field, "u32[8192]", "i32:40"}, 6, 3},
		{"steps", []string{field, "u32[8192]", "i32:40", "i32:30", "i32:2000000"}, 0, 0},
		{"rare", []string{field, "u32[8192]", "i32:40"}, 0, 0},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			args := []string{"profile", "testdata/heldout/heldout.sm_70.cubin", "--kernel", test.kernel, "--grid", "64", "--block", "128", "--try", "3", "--json"}
			for _, a := range test.args {
				args = append(args, "--arg", a)
			}
			text, stderr, status := invoke(t, args...)
			var report reports.ProfileReport
			if err := json.Unmarshal([]byte(text), &report); err != nil || status != exitDone {
				t.Fatalf("status %d, %v\n%s", status, err, stderr)
			}
			tried := make(map[string]float64)
			for _, a := range report.Launches[0].Advice {
				tried[a.Optimizer] = max(tried[a.Optimizer], a.TriedSpeedup)
				if a.Optimizer == "tf-reconvergence" || a.Optimizer == "restructure" {
					t.Logf("%s: estimated %.3f, tried %.3f", a.Optimizer, a.EstimatedSpeedup, a.TriedSpeedup)
				}
			}
			for name, least := range map[string]float64{"tf-reconvergence": test.reconverged, "restructure": test.restructure} {
				if got, advised := tried[name]; advised != (least > 0) || got < least {
					t.Errorf("%s: advised %v, tried %.3f, want at least %.3f", name, advised, got, least)
				}
			}
		})
	}
}
