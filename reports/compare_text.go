package reports

import (
	"fmt"
	"io"
	"strings"
)

// comparedLines and comparedReasons are the numbers of changes that a text tells.
const (
	comparedLines   = 6
	comparedReasons = 4
)

// CompareText writes a comparison for people.
func CompareText(w io.Writer, c *Comparison, o CompareOptions) error {
	t := &textReport{style: o.Style}
	before, after := sources{open: o.BeforeSource}, sources{open: o.AfterSource}
	for i := range c.Pairs {
		if i > 0 {
			t.line("")
		}
		t.pair(&c.Pairs[i], &before, &after)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *textReport) pair(p *Pair, before, after *sources) {
	name := p.Before.Kernel
	if p.After.Kernel != name {
		name += " -> " + p.After.Kernel
	}
	t.inked(p.ink(), "%s: %s", name, p.verdict())
	t.line("  cycles             %15s -> %15s", thousands(p.Before.Cycles), thousands(p.After.Cycles))
	t.line("  warp instructions  %15s -> %15s", thousands(p.Before.WarpInstructions), thousands(p.After.WarpInstructions))
	if p.OutputsEqual != nil {
		t.outputs(*p.OutputsEqual)
	}
	if p.Optimizer != "" {
		t.line("  %s had promised %.2fx%s", p.Optimizer, p.Predicted, p.errorText())
	}
	if len(p.Reasons) > 0 {
		t.line("  stalls, in samples of the period before:")
	}
	for i, r := range p.Reasons {
		if i < comparedReasons {
			t.line("    %-22s %10.0f -> %10.0f  %+.0f", r.Reason, r.Before, r.After, r.After-r.Before)
		}
	}
	if len(p.Lines) > 0 {
		t.line("  lines:")
	}
	for i := range p.Lines {
		if i < comparedLines {
			t.lineDelta(&p.Lines[i], before, after)
		}
	}
}

func (t *textReport) outputs(equal bool) {
	if equal {
		t.line("  outputs equal")
	} else {
		t.inked(badInk, "  outputs DIFFER")
	}
}

// ink tells a faster kernel from a slower one.
func (p *Pair) ink() ink {
	switch {
	case p.Speedup == 0:
		return plainInk
	case p.Speedup < 1:
		return badInk
	}
	return goodInk
}

// verdict is the speedup in words.
func (p *Pair) verdict() string {
	if p.Speedup == 0 {
		return "no cycles to compare"
	}
	return fmt.Sprintf("%.3fx", p.Speedup)
}

func (p *Pair) errorText() string {
	if p.Error == nil {
		return ""
	}
	return fmt.Sprintf(", an error of %.1f%%", 100**p.Error)
}

func (t *textReport) lineDelta(d *LineDelta, before, after *sources) {
	shown, text := d.After, after
	if shown == nil {
		shown, text = d.Before, before
	}
	t.line("    %+8.0f  %-26s %s", d.Delta, d.places(), text.line(shown.File, shown.Line))
}

// places names the line on both sides, once where it is the same.
func (d *LineDelta) places() string {
	switch {
	case d.Before == nil:
		return d.After.place() + " (new)"
	case d.After == nil:
		return d.Before.place() + " (gone)"
	case d.Before.place() == d.After.place():
		return d.After.place()
	}
	return d.Before.place() + " -> " + d.After.place()
}

// CompareMarkdown writes a comparison as a table for a pull request.
func CompareMarkdown(w io.Writer, c *Comparison) error {
	var b strings.Builder
	b.WriteString("| kernel | cycles before | after | speedup | outputs | most changed stall | most changed line |\n|---|--:|--:|--:|---|---|---|\n")
	for i := range c.Pairs {
		p := &c.Pairs[i]
		outputs := ""
		if p.OutputsEqual != nil {
			outputs = map[bool]string{true: "equal", false: "**differ**"}[*p.OutputsEqual]
		}
		reason, line := "", ""
		if len(p.Reasons) > 0 {
			r := &p.Reasons[0]
			reason = fmt.Sprintf("%s %+.0f", r.Reason, r.After-r.Before)
		}
		if len(p.Lines) > 0 {
			line = fmt.Sprintf("%s %+.0f", p.Lines[0].places(), p.Lines[0].Delta)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", plain(p.After.Kernel), thousands(p.Before.Cycles), thousands(p.After.Cycles),
			p.verdict(), outputs, reason, plain(line))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
