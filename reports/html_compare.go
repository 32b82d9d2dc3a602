package reports

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"strings"

	"gpa/emu/stall"
	"gpa/profiler"
)

//go:embed html/compare.tmpl
var htmlComparePage string

// CompareHTML writes a comparison as one page that needs nothing else: for each kernel what was promised and what came of it, the
// facts, stalls and rooflines of both sides, the lines that have changed and the source before and after side by side.
func CompareHTML(w io.Writer, c *Comparison, before, after *Result, o CompareOptions, version string) error {
	page, err := parsePage(htmlComparePage)
	if err != nil {
		return err
	}
	data := newHTMLPage("", version)
	var names []string
	for i := range c.Pairs {
		h := newHTMLPair(&c.Pairs[i], before, after, fmt.Sprintf("k%d", i), o)
		data.Kernels = append(data.Kernels, h)
		names = append(names, h.Name)
	}
	data.Title = strings.Join(names, ", ")
	return page.Execute(w, data)
}

// An htmlPair is what the page shows of a kernel before and after.
type htmlPair struct {
	ID, Name, Where             string
	Verdict, Outputs            htmlJudgement
	Cycles, Promise             string
	Facts                       []htmlBoth
	Stalls                      []htmlBars
	Roofline                    template.HTML
	Lines                       []htmlDelta
	Next                        []htmlAdvice
	BeforeSources, AfterSources []htmlSource
}

// An htmlJudgement is a text that is good or bad news.
type htmlJudgement struct{ Text, Kind string }

// An htmlBoth is a fact of both sides.
type htmlBoth struct{ Name, Before, After string }

// An htmlBars is a stall reason on both sides. Widths are percentages of the longest bar.
type htmlBars struct {
	Name, Kind, Meaning, Before, After, Change string
	BeforeWidth, AfterWidth                    float64
}

// An htmlDelta is a line whose samples have changed. Where the source is shown, the ids are those of its rows.
type htmlDelta struct{ Delta, Kind, Before, After, BeforeID, AfterID, Text string }

func newHTMLPair(p *Pair, before, after *Result, id string, o CompareOptions) *htmlPair {
	l, _, was := before.launch(p.kernels[0].shown)
	become, found, is := after.launch(p.kernels[1].shown)
	h := &htmlPair{ID: id, Name: p.Before.Kernel, Verdict: htmlJudgement{p.verdict(), judgement(p.Speedup >= 1)},
		Cycles: fmt.Sprintf("%s → %s cycles", thousands(p.Before.Cycles), thousands(p.After.Cycles))}
	if p.After.Kernel != h.Name {
		h.Name += " → " + p.After.Kernel
	}
	h.Where = launchedOn(was, l)
	if where := launchedOn(is, become); where != h.Where {
		h.Where += ", then " + where
	}
	if p.OutputsEqual != nil {
		h.Outputs = htmlJudgement{map[bool]string{true: "outputs equal", false: "outputs differ"}[*p.OutputsEqual], judgement(*p.OutputsEqual)}
	}
	if p.Optimizer != "" {
		h.Promise = fmt.Sprintf("%s had promised %.2f×%s", p.Optimizer, p.Predicted, p.errorText())
	}
	h.Facts, h.Stalls, h.Roofline = bothFacts(p, l, become), bothStalls(p.Reasons), roofline(l, become)
	h.Next = newHTMLCode(id, is, become, found, o.AfterSource).nextAdvice()
	lines := newHTMLLines(p, before, after, id, o)
	h.BeforeSources, h.AfterSources = lines.before.sources(), lines.after.sources()
	h.Lines = lines.deltas(p.Lines)
	return h
}

func judgement(good bool) string {
	if good {
		return "good"
	}
	return "bad"
}

// bothFacts joins the facts of the launches that stand for the kernels.
func bothFacts(p *Pair, before, after *profiler.Launch) []htmlBoth {
	was, is := before.Totals(), after.Totals()
	list := htmlFacts(p.kernels[0], before, &was)
	var facts []htmlBoth
	for _, f := range list {
		facts = append(facts, htmlBoth{Name: f.Name, Before: f.Value})
	}
	for _, f := range htmlFacts(p.kernels[1], after, &is) {
		i := 0
		for i < len(facts) && facts[i].Name != f.Name {
			i++
		}
		if i == len(facts) {
			facts = append(facts, htmlBoth{Name: f.Name})
		}
		facts[i].After = f.Value
	}
	return facts
}

// bothStalls are the bars of the stall reasons, the largest change first.
func bothStalls(changes []Change) []htmlBars {
	meaning := make(map[string]string)
	for r := range stall.NumReasons {
		meaning[r.String()] = meanings[r]
	}
	most := 0.0
	for _, c := range changes {
		most = max(most, c.Before, c.After)
	}
	var bars []htmlBars
	for _, c := range changes {
		bars = append(bars, htmlBars{Name: c.Reason, Kind: c.Reason, Meaning: meaning[c.Reason],
			Before: fmt.Sprintf("%.0f", c.Before), After: fmt.Sprintf("%.0f", c.After), Change: fmt.Sprintf("%+.0f", c.After-c.Before),
			BeforeWidth: round(100*c.Before/most, 2), AfterWidth: round(100*c.After/most, 2)})
	}
	return bars
}

// nextAdvice is the best advice in short.
func (c *htmlCode) nextAdvice() []htmlAdvice {
	const most = 3
	totals := c.launch.Totals()
	list := c.advice(&totals)
	return list[:min(most, len(list))]
}
