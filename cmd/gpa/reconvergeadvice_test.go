package main

import (
	"encoding/json"
	"testing"

	"gpa/reports"
)

// TestReconvergenceAdvice tries what is said of barriers at the joins of thread frontiers: where it is advised it brings something, and
// where barriers would cost more than they bring it is not advised.
func TestReconvergenceAdvice(t *testing.T) {
	for kernel, advised := range map[string]bool{
		"divergence/bug_paths": true, "divergence/exception_loop": true, "divergence/short_circuit": true, "divergence/suffix_tree": true,
		"divergence/photon": false, "divergence/ray_trace": false, "divergence/exception_call": false, "control/state_machine": false,
	} {
		t.Run(kernel, func(t *testing.T) {
			text, _, _ := invoke(t, "profile", "../../kernels/"+kernel, "--try", "20", "--json")
			var report reports.ProfileReport
			if err := json.Unmarshal([]byte(text), &report); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, a := range report.Launches[0].Advice {
				if a.Optimizer == "tf-reconvergence" {
					found = true
					t.Logf("estimated %.3f, tried %.3f", a.EstimatedSpeedup, a.TriedSpeedup)
					if a.TriedSpeedup < 1 || a.EstimatedSpeedup > 1.1*a.TriedSpeedup {
						t.Errorf("estimated %.3f, tried %.3f", a.EstimatedSpeedup, a.TriedSpeedup)
					}
				}
			}
			if found != advised {
				t.Errorf("advised: %v", found)
			}
		})
	}
}
