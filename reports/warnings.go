package reports

import (
	"gpa/advisor"
	"gpa/cubin"
)

// A WarningReport is about synchronisation that may hang, or that works by chance.
type WarningReport struct {
	Kind   string   `json:"kind"`   // barrier-under-divergent-control, warpsync-before-barrier or spin-loop
	At     Location `json:"at"`     // the barrier, or the read that a loop waits for
	Branch Location `json:"branch"` // where threads part
	Text   string   `json:"text"`
}

func reportWarnings(module *cubin.File, warnings []advisor.Warning) (out []WarningReport) {
	for i := range warnings {
		w := &warnings[i]
		out = append(out, WarningReport{w.Kind.String(), locateNode(module, w.At), locateNode(module, w.Branch), w.Text})
	}
	return out
}

// warnings tells what may hang, before all advice.
func (t *textReport) warnings(found *LaunchResult) {
	if len(found.Warnings) == 0 {
		return
	}
	t.line("")
	for i := range found.Warnings {
		t.paragraph("Warning: ", found.Warnings[i].Text)
	}
}
