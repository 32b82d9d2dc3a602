package reports

import (
	"bytes"
	"strings"
	"testing"
)

// TestExtrapolatedCycles holds that text, HTML and JSON say of how many blocks cycles are extrapolated and within which error.
func TestExtrapolatedCycles(t *testing.T) {
	for _, c := range []struct {
		extrapolated bool
		blocks       int
		bound        float64
		says         string
	}{
		{false, 0, 0, ""},
		{true, 1184, .0228, "extrapolated from the work of 1,184 blocks, within 2.3%"},
		{true, 0, .05, "extrapolated, within 5.0%"},
		{true, 0, 0, "(extrapolated)"},
	} {
		r := relaxResult(t)
		f := &r.Profile.Launches[0].Facts
		f.Extrapolated, f.TimedBlocks, f.ErrorBound, f.TimingLevel = c.extrapolated, c.blocks, c.bound, "full"
		var html, object bytes.Buffer
		if err := HTML(&html, r, HTMLOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := WriteJSON(&object, r.Report()); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"text": writeText(t, r, TextOptions{Top: 1}), "HTML": html.String()} {
			if c.says == "" && strings.Contains(text, "extrapolated") || !strings.Contains(text, c.says) {
				t.Errorf("%s does not say %q", form, c.says)
			}
		}
		if got := strings.Contains(object.String(), `"error_bound"`); got != (c.bound > 0) {
			t.Errorf("%q: JSON has the bound: %v", c.says, got)
		}
	}
}
