package reports

import (
	"fmt"
	"path"
	"strings"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

// shown is how much is told of a piece of advice, by its place: the less, the less it brings, so that the first five fit one screen.
func shown(place int) (suggestions, hotspots int) {
	switch place {
	case 0:
		return 2, 2
	case 1:
		return 2, 1
	case 2:
		return 1, 1
	}
	return 1, 0
}

// leastShown is the share of the samples from which on a place is shown that is not the hottest: 0.0% says nothing.
const leastShown = .0005

// advice tells what to change, the best first.
func (t *textReport) advice(module *cubin.File, found *LaunchResult, totals *profiler.Totals) {
	t.line("")
	if text := exactness(found.Blame); text != "" {
		t.paragraph("", text)
	}
	for i := range found.Limits {
		t.paragraph("", found.Limits[i].Text())
	}
	if len(found.Advice) == 0 {
		t.line("No change is known that would make it much faster.")
		return
	}
	t.inked(boldInk, "Advice, the best first (ratio: share of the samples that it is about)")
	for i := range found.Advice {
		if i == t.options.Top {
			t.rest(found.Advice[i:])
			return
		}
		t.one(module, i, &found.Advice[i], totals)
	}
}

// exactness says where the blame is of what no real GPU tells; empty where it is the usual one.
func exactness(b *blamer.Result) string {
	switch {
	case b == nil || !b.Exact:
		return ""
	case !b.HasAgreement:
		return "The profile knows no true producers (--exact): stalls are blamed by the rules."
	}
	return "Stalls are blamed on their true producers (--exact), which only an emulated GPU knows."
}

// one tells a piece of advice in full.
func (t *textReport) one(module *cubin.File, place int, a *advisor.Advice, totals *profiler.Totals) {
	suggestions, hotspots := shown(place)
	t.inkedParagraph(boldInk, fmt.Sprintf("%2d. ", place+1), fmt.Sprintf("%s: estimated speedup %.2fx%s%s, ratio %s, %s", a.Optimizer, a.Speedup, interval(a), tried(a),
		percent(a.Match.Samples/float64(totals.Samples)), scopeText(&a.Match.Scope)))
	for i, s := range a.Match.Suggestions {
		if i == suggestions {
			break
		}
		t.paragraph("    - ", s)
	}
	if len(a.Match.Assumed) > 0 {
		t.paragraph("    ", "Assumed: "+strings.Join(a.Match.Assumed, "; ")+".")
	}
	for i := range a.Match.Hotspots {
		if h := &a.Match.Hotspots[i]; i == hotspots || i > 0 && h.Share < leastShown {
			break
		}
		t.hotspot(module, &a.Match.Hotspots[i])
	}
	if a.Untried != "" {
		t.paragraph("    ", "Not tried: "+a.Untried+".")
	}
	if a.Diffuse {
		t.paragraph("    ", "Spread thin: the five hottest places hold less than a tenth of these samples.")
	}
	if a.Same != "" {
		t.paragraph("    ", "As a change the same as "+a.Same+" above.")
	} else if len(a.Overlaps) > 0 {
		t.paragraph("    ", "Mostly the same samples as "+strings.Join(a.Overlaps, ", ")+": the gains do not add up.")
	}
}

// exact is how much an estimate may be off without a word.
const exact = 0.015

// interval tells how far an estimate may be off that is not that exact, where nothing better is known.
func interval(a *advisor.Advice) string {
	if a.Tried > 0 || a.Interval[1] == 0 || a.Interval[1]-a.Interval[0] <= 2*exact {
		return ""
	}
	return fmt.Sprintf(" (%.2f to %.2f)", a.Interval[0], a.Interval[1])
}

// tried tells what a what-if run has brought, if there was one.
func tried(a *advisor.Advice) string {
	switch {
	case a.Tried == 0:
		return ""
	case a.Match.Launches > 1:
		return fmt.Sprintf(", tried %.2fx of its launches together", a.Tried)
	case a.Tried < 1:
		return fmt.Sprintf(", tried %.2fx (slower)", a.Tried)
	}
	return fmt.Sprintf(", tried %.2fx", a.Tried)
}

// rest names the advice that is not told in full.
func (t *textReport) rest(advice []advisor.Advice) {
	names := make([]string, len(advice))
	for i := range advice {
		a := &advice[i]
		names[i] = fmt.Sprintf("%s %.2fx%s (%s)", a.Optimizer, a.Speedup, tried(a), scopeText(&a.Match.Scope))
	}
	t.paragraph("    ", "Also: "+strings.Join(names, ", "))
}

// longestFunction is how much of the name of a function is shown, which templates can make longer than all that is said of it.
const longestFunction = 120

// scopeText says where a piece of advice applies.
func scopeText(s *advisor.Scope) string {
	where := ""
	if s.Frame.Line > 0 {
		at := Location{File: s.Frame.File, Line: s.Frame.Line}
		where = " at " + at.shortPlace()
	}
	switch s.Kind {
	case advisor.KernelScope:
		return "whole kernel"
	case advisor.FunctionScope:
		if name := scopeFunction(s); name != "" {
			return "function " + cut(name, longestFunction) + where
		}
	}
	return string(s.Kind) + where
}

// scopeFunction names the function of a scope as the symbol table does, or else as the line table does.
func scopeFunction(s *advisor.Scope) string {
	if s.Func != nil && s.Func.Function != nil && s.Func.Function.Demangled != "" {
		return s.Func.Function.Demangled
	}
	return s.Frame.Function
}

// hotspot tells which instruction waits for which.
func (t *textReport) hotspot(module *cubin.File, h *advisor.Hotspot) {
	def, use := locateNode(module, h.Def), locateNode(module, h.Use)
	share := fmt.Sprintf("%6s", percent(h.Share))
	indent := strings.Repeat(" ", len(share))
	width := max(len(def.shortPlace()), len(use.shortPlace()))
	const margin = "    "
	if h.Def == h.Use {
		t.line("%s%s  at   %s", margin, share, use.instruction(width))
		t.origin(margin+indent, use)
		return
	}
	t.line("%s%s  def  %s", margin, share, def.instruction(width))
	if def.File != use.File || def.Line != use.Line {
		t.origin(margin+indent, def)
	}
	t.line("%s%s  use  %s  distance %d", margin, indent, use.instruction(width), h.Distance)
	t.origin(margin+indent, use)
}

// origin writes a location's source line, and where it was inlined.
func (t *textReport) origin(indent string, at Location) {
	text, inlining := t.sources.line(at.File, at.Line), at.inlining()
	switch {
	case text != "":
		t.inked(dimInk, "%s  | %s  %s", indent, text, inlining)
	case inlining != "":
		t.line("%s  %s", indent, inlining)
	}
}

// place names the source line of a location, its function and pc where that is unknown. nvcc writes the folder that it ran in before each name:
// of absolute names only the file's own is told.
func (at *Location) place() string {
	if at.Line == 0 {
		return fmt.Sprintf("%s+0x%04x", at.Function, at.PC)
	}
	name := at.File
	if path.IsAbs(name) {
		name = path.Base(name)
	}
	return fmt.Sprintf("%s:%d", name, at.Line)
}

// shortPlace is a place that leaves room for an instruction beside it.
func (at *Location) shortPlace() string { return cutFront(plain(at.place()), 36) }

// instruction names a location, its place filled up to width, with the instruction there.
func (at *Location) instruction(width int) string {
	if at.Line == 0 {
		return fmt.Sprintf("%-*s  %s", width, at.shortPlace(), at.SASS)
	}
	return fmt.Sprintf("%-*s  0x%04x  %s", width, at.shortPlace(), at.PC, at.SASS)
}

// inlining says which call the compiler replaced by the location's code; empty where it is in no inlined function.
func (at *Location) inlining() string {
	if len(at.InlinedAt) == 0 {
		return ""
	}
	outer := at.InlinedAt[0]
	call := Location{File: outer.File, Line: outer.Line}
	return fmt.Sprintf("(%s, inlined at %s)", at.Function, call.shortPlace())
}
