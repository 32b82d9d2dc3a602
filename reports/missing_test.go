package reports

import (
	"strings"
	"testing"

	"gpa/profiler"
)

// TestMissing leaves out what other sources of samples may not know: the report says so and tells no figure that needs it.
func TestMissing(t *testing.T) {
	for _, c := range []struct{ lacks, says, not string }{
		{profiler.MissingLatency, "the stall ratio is not known", "active ratio"},
		{profiler.MissingThreadExecutions, "idle lanes of warps are not seen", "thread instruction"},
		{"something else", "    something else\n", "something else:"},
	} {
		t.Run(c.lacks, func(t *testing.T) {
			r := relaxResult(t)
			full := writeText(t, r, TextOptions{Top: 3})
			for _, l := range r.Profile.Launches {
				l.Missing = append(l.Missing, c.lacks)
			}
			part := writeText(t, r, TextOptions{Top: 3})
			if strings.Contains(full, c.says) || !strings.Contains(part, c.says) || strings.Contains(part, c.not) {
				t.Errorf("%s", part)
			}
		})
	}
}
