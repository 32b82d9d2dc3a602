package main

import (
	"strings"
	"testing"
)

// TestTopFiveFitScreen holds that the first five pieces of advice on kernels with much of it fit one screen of 45 lines.
func TestTopFiveFitScreen(t *testing.T) {
	for _, kernel := range []string{"linear/mma_async", "tuning/norms_threads", "graph/align", "divergence/short_circuit"} {
		t.Run(kernel, func(t *testing.T) {
			out, stderr, status := invoke(t, "profile", "../../kernels/"+kernel, "--top", "5")
			if status != exitDone {
				t.Fatal(stderr)
			}
			_, advice, found := strings.Cut(out, "\nAdvice, the best first")
			advice, _, _ = strings.Cut(advice, "\n\n")
			if n := strings.Count(advice, "\n") + 1; !found || n < 15 || n > 45 {
				t.Errorf("%d lines of advice:\n%s", n, advice)
			}
		})
	}
}
