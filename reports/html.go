package reports

import (
	"cmp"
	_ "embed" // the page's parts
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/emu/stall"
	"gpa/profiler"
)

//go:embed html/page.tmpl
var htmlPage string

//go:embed html/frame.tmpl
var htmlFrame string

//go:embed html/style.css
var htmlStyle string

//go:embed html/script.js
var htmlScript string

// HTMLOptions choose what the page holds.
type HTMLOptions struct {
	Title   string
	Version string // of gpa, for the foot of the page
	// Source returns the text of a source file, as in TextOptions.
	Source func(file string) []byte
	Tables []HTMLTable // shown with the kernels that they are of
}

// An HTMLTable is a table about a kernel that its profile does not hold.
type HTMLTable struct {
	Kernel, Title, Note string
	*Table
}

// HTML writes the result as one page that needs nothing else: launch facts, stalls and an instruction roofline, the advice, and
// source and machine code side by side with the samples of each line. An instruction leads to those that it waits for. All is
// readable without JavaScript.
func HTML(w io.Writer, r *Result, o HTMLOptions) error {
	page, err := parsePage(htmlPage)
	if err != nil {
		return err
	}
	data := newHTMLPage(o.Title, o.Version)
	for i, k := range r.kernels() {
		h := newHTMLKernel(r, k, fmt.Sprintf("k%d", i), o.Source)
		for _, t := range o.Tables {
			if t.Kernel == k.name {
				h.Tables = append(h.Tables, t)
			}
		}
		data.Kernels = append(data.Kernels, h)
	}
	for _, c := range r.Checks {
		data.Checks = append(data.Checks, checkText(&c))
	}
	return page.Execute(w, data)
}

// An htmlDocument is what every page is made of. Kernels are an htmlKernel or an htmlPair each.
type htmlDocument struct {
	Title, Version string
	Style          template.CSS
	Script         template.JS
	Kernels        []any
	Checks         []string
}

func newHTMLPage(title, version string) *htmlDocument {
	return &htmlDocument{Title: title, Version: version, Style: template.CSS(htmlStyle), Script: template.JS(htmlScript)}
}

// parsePage parses a page and the frame around it.
func parsePage(text string) (*template.Template, error) {
	page, err := template.New("page").Parse(text)
	if err == nil {
		_, err = page.New("frame").Parse(htmlFrame)
	}
	if err != nil {
		return nil, fmt.Errorf("web page: %w", err)
	}
	return page, nil
}

func checkText(c *Check) string {
	if c.OK {
		return c.Buffer + ": as expected"
	}
	return fmt.Sprintf("%s: %s differ", c.Buffer, count(int64(c.Mismatches), "value"))
}

// An htmlKernel is what the page shows of a kernel: the launch that stands for it.
type htmlKernel struct {
	ID, Name, Where string
	Headline        string
	Fault           string
	Warnings        []string
	Limits          []string
	Facts           []htmlFact
	Stalls          []htmlBar
	Roofline        template.HTML
	Advice          []htmlAdvice
	Tables          []HTMLTable
	Tree            []htmlScope
	Sources         []htmlSource
	Code            []htmlSection
}

type htmlFact struct{ Name, Value string }

// An htmlBar is a stall reason with its share of the samples. Width is a percentage of the longest bar.
type htmlBar struct {
	Name, Kind, Meaning, Percent string
	Width                        float64
}

func newHTMLKernel(r *Result, k *kernelSummary, id string, source func(string) []byte) *htmlKernel {
	l, found, module := r.launch(k.shown)
	h := &htmlKernel{ID: id, Name: k.name, Where: launchedOn(module, l)}
	if l.Fault != nil {
		h.Fault = l.Fault.Message
	}
	for i := range found.Warnings {
		h.Warnings = append(h.Warnings, found.Warnings[i].Text)
	}
	for i := range found.Limits {
		h.Limits = append(h.Limits, found.Limits[i].Text())
	}
	totals := l.Totals()
	h.Headline = headline(module, l, found, &totals)
	h.Facts = htmlFacts(k, l, &totals)
	if text := exactness(found.Blame); text != "" {
		h.Facts = append(h.Facts, htmlFact{"blame", text})
	}
	h.Stalls = htmlStalls(&totals)
	h.Roofline = roofline(l, nil)
	code := newHTMLCode(id, module, l, found, source)
	h.Advice = code.advice(&totals)
	h.Tree = code.tree()
	h.Code, h.Sources = code.sections(), code.sources()
	return h
}

func launchedOn(module *cubin.File, l *profiler.Launch) string {
	if l.GPU == "" {
		return "on " + archName(module)
	}
	return "on " + l.GPU + " (" + archName(module) + ")"
}

// htmlFacts lists what is known of the launch.
func htmlFacts(k *kernelSummary, l *profiler.Launch, totals *profiler.Totals) []htmlFact {
	f := &l.Facts
	var list []htmlFact
	add := func(known bool, name, format string, args ...any) {
		if known {
			list = append(list, htmlFact{name, fmt.Sprintf(format, args...)})
		}
	}
	add(k.launches > 1, "launches", "%d, the longest is shown", k.launches)
	add(true, "grid, block", "%s, %s", dims(l.Grid), dims(l.Block))
	add(true, "registers, shared", "%d a thread, %s a block", f.Registers, count(int64(f.SharedStatic)+int64(f.SharedDynamic), "byte"))
	add(f.Cycles > 0, "cycles", "%s%s%s", thousands(f.Cycles), clockTime(f), extrapolation(f))
	add(f.WarpInstructions > 0, "instructions", "%s", instructions(l))
	add(f.Cycles > 0 && f.SMs > 0, "issue rate", "%.2f warp instructions a cycle and SM (peak %d)", issueRate(f), f.SchedulersPerSM)
	bandwidth := bandwidthText(l)
	add(bandwidth != "", "memory", "%s", bandwidth)
	add(f.WarpsPerScheduler > 0, "occupancy", "%s of %d warps a scheduler%s%s", short(f.WarpsPerScheduler), f.MaxWarpsPerScheduler, achieved(f), limitedBy(f.OccupancyLimit))
	add(totals.Samples > 0, "samples", "%s, %s", thousands(totals.Samples), ratios(l, totals))
	add(len(l.Missing) > 0, "not known", "%s", strings.Join(lacks(l), "; "))
	return list
}

func issueRate(f *profiler.Facts) float64 {
	return float64(f.WarpInstructions) / float64(f.Cycles) / float64(f.SMs)
}

func htmlStalls(totals *profiler.Totals) []htmlBar {
	if totals.Samples == 0 {
		return nil
	}
	var bars []htmlBar
	for r := range stall.NumReasons {
		if n := totals.ByReason[r]; n > 0 {
			share := float64(n) / float64(totals.Samples)
			bars = append(bars, htmlBar{Name: r.String(), Kind: r.String(), Meaning: meanings[r], Percent: percent(share), Width: round(100*share, 2)})
		}
	}
	slices.SortStableFunc(bars, func(x, y htmlBar) int { return cmp.Compare(y.Width, x.Width) })
	most := bars[0].Width
	for i := range bars {
		bars[i].Width = round(100*bars[i].Width/most, 2)
	}
	return bars
}
