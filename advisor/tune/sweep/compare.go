package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gpa/advisor/tune/search"
	"gpa/profiler/store"
	"gpa/reports"
)

// A Comparison holds the variants of two sweeps against each other, as those of a library's kernels before and after a change.
type Comparison struct {
	Objective string `json:"objective"`
	Pairs     []Pair `json:"pairs"` // in the order of the sweep after the change; what is gone comes last
}

// A Pair is a variant before and after.
type Pair struct {
	Variant string                  `json:"variant"` // its values, without those that all variants have
	Point   map[string]search.Value `json:"point"`
	Before  *search.Outcome         `json:"before,omitempty"`  // nil for one that is new
	After   *search.Outcome         `json:"after,omitempty"`   // nil for one that is gone
	Speedup float64                 `json:"speedup,omitempty"` // how much better the objective is, as a ratio; absent where one side has none
}

// ReportOf is the results of a sweep: of what gpa sweep --json has written to a .json file, or of a sweep file and a store, as [Open] takes them.
func ReportOf(name string, results *store.Folder, only ...string) (*Report, error) {
	if filepath.Ext(name) == ".json" {
		return loadReport(name)
	}
	s, err := Open(name, results, only...)
	if err != nil {
		return nil, err
	}
	r, err := s.Results()
	if err != nil {
		return nil, err
	}
	report := r.Report()
	return &report, nil
}

func loadReport(name string) (*Report, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s does not hold the results of a sweep: %w", name, err)
	}
	for _, g := range r.Groups {
		for _, v := range g.Variants {
			if v == nil || v.Outcome == nil {
				return nil, fmt.Errorf("%s does not hold the results of a sweep: a variant has no outcome", name)
			}
		}
	}
	return r, nil
}

// Compare compares the variants of two sweeps that have the same values. An axis that has one value on either side does not count: the
// same sweep on two GPUs can be compared.
func Compare(before, after *Report) (*Comparison, error) {
	if before.Objective != after.Objective || before.Goal != after.Goal {
		return nil, fmt.Errorf("the sweeps have different objectives: %s %s and %s %s", before.Goal, before.Objective, after.Goal, after.Objective)
	}
	c := &Comparison{Objective: after.Objective, Pairs: []Pair{}}
	axes := varied(before, after)
	was := make(map[string]*Result)
	for v := range before.variants() {
		was[label(axes, v.Point)] = v
	}
	common := false
	for v := range after.variants() {
		p := Pair{Variant: label(axes, v.Point), Point: v.Point, After: v.Outcome}
		if b := was[p.Variant]; b != nil {
			delete(was, p.Variant)
			common = true
			p.Before = b.Outcome
			p.compare(after.Goal)
		}
		c.Pairs = append(c.Pairs, p)
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		c.Pairs = append(c.Pairs, Pair{Variant: name, Point: was[name].Point, Before: was[name].Outcome})
	}
	if !common {
		return nil, errors.New("the two sweeps have no variant in common that ran")
	}
	return c, nil
}

func (p *Pair) compare(goal string) {
	if p.Before.Status != search.OK || p.After.Status != search.OK {
		return
	}
	better, worse := p.Before.Objective, p.After.Objective
	if goal == "max" {
		better, worse = worse, better
	}
	if better > 0 && worse > 0 {
		p.Speedup = better / worse
	}
}

// varied lists the axes that have more than one value in either of two sweeps.
func varied(before, after *Report) (axes []string) {
	for _, name := range slices.Concat(after.Axes, before.Axes) {
		if !slices.Contains(axes, name) && (before.values(name) > 1 || after.values(name) > 1) {
			axes = append(axes, name)
		}
	}
	return axes
}

// values counts the values of an axis.
func (r *Report) values(axis string) int {
	found := make(map[search.Value]bool)
	for v := range r.variants() {
		found[v.Point[axis]] = true
	}
	return len(found)
}

// variants goes through those of all groups.
func (r *Report) variants() func(func(*Result) bool) {
	return func(yield func(*Result) bool) {
		for _, g := range r.Groups {
			for _, v := range g.Variants {
				if !yield(v) {
					return
				}
			}
		}
	}
}

func label(axes []string, at map[string]search.Value) string {
	var parts []string
	for _, name := range axes {
		parts = append(parts, name+"="+string(at[name]))
	}
	return strings.Join(parts, " ")
}

// Wrong says what is wrong with a variant where speedups below a limit are; "" for nothing. One that failed before in the same way is no worse.
func (p *Pair) Wrong(minSpeedup float64) string {
	switch {
	case p.After == nil || p.After.Status == search.Stopped || p.After.Status == search.Canceled:
		return ""
	case p.After.Status != search.OK && (p.Before == nil || p.Before.Status != p.After.Status):
		return fmt.Sprintf("%s: %s", p.After.Status, p.After.Why)
	case p.Speedup > 0 && p.Speedup < minSpeedup:
		return fmt.Sprintf("speedup %.3f is below %g", p.Speedup, minSpeedup)
	}
	return ""
}

// Failure is nil where nothing is wrong.
func (c *Comparison) Failure(minSpeedup float64) error {
	first, count := "", 0
	for i := range c.Pairs {
		if wrong := c.Pairs[i].Wrong(minSpeedup); wrong != "" {
			if count++; count == 1 {
				first = strings.TrimSpace(c.Pairs[i].Variant + " " + wrong)
			}
		}
	}
	switch count {
	case 0:
		return nil
	case 1:
		return errors.New(first)
	}
	return fmt.Errorf("%d variants are worse, as %s", count, first)
}

// verdict is how a variant has changed.
func (p *Pair) verdict() string {
	switch {
	case p.Before == nil:
		return "new"
	case p.After == nil:
		return "gone"
	case p.Speedup == 0:
		return ""
	}
	return fmt.Sprintf("%.3fx", p.Speedup)
}

// Text writes the objectives of all variants.
func (c *Comparison) Text(w io.Writer, style reports.Style) error {
	table := reports.Table{Style: style, Columns: []reports.Column{{Title: c.Objective + " before", Right: true}, {Title: "after", Right: true}, {Title: "speedup", Right: true}, {Title: "variant"}}}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		table.Add(outcomeText(p.Before), outcomeText(p.After), p.verdict(), p.Variant)
	}
	return table.Render(w)
}

func outcomeText(o *search.Outcome) string {
	switch {
	case o == nil:
		return ""
	case o.Status != search.OK:
		return string(o.Status)
	}
	return figureText(o.Objective)
}

// moved names the stall reason whose cycles changed most.
func (p *Pair) moved() string {
	if p.Before == nil || p.After == nil {
		return ""
	}
	most, by := "", 0.0
	for _, o := range []*search.Outcome{p.Before, p.After} {
		for _, reason := range slices.Sorted(maps.Keys(o.Stalls)) {
			if d := p.After.Stalls[reason] - p.Before.Stalls[reason]; math.Abs(d) > math.Abs(by) {
				most, by = reason, d
			}
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf("%s %+.0f", most, by)
}

// worst is the line whose cycles grew most, or where the variant faulted; nil where no line is known.
func (p *Pair) worst() (line *search.Line, grown float64) {
	if p.After == nil {
		return nil, 0
	}
	for i := range p.After.Lines {
		l := &p.After.Lines[i]
		d := l.Cycles
		if p.Before != nil {
			for _, b := range p.Before.Lines {
				if b.File == l.File && b.Line == l.Line {
					d -= b.Cycles
				}
			}
		}
		if line == nil || d > grown {
			line, grown = l, d
		}
	}
	return line, grown
}

// Markdown writes a table for a pull request: what is wrong first, then what has changed, the largest change first. What is as before is counted.
func (c *Comparison) Markdown(w io.Writer, minSpeedup float64) error {
	changed, same := []*Pair(nil), 0
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Before != nil && p.After != nil && p.Wrong(minSpeedup) == "" && outcomeText(p.Before) == outcomeText(p.After) {
			same++
		} else {
			changed = append(changed, p)
		}
	}
	rank := func(p *Pair) float64 {
		if p.Wrong(minSpeedup) != "" {
			return math.Inf(1)
		}
		return math.Abs(math.Log(cmp.Or(p.Speedup, 1)))
	}
	slices.SortStableFunc(changed, func(a, b *Pair) int { return cmp.Compare(rank(b), rank(a)) })
	var b strings.Builder
	if len(changed) > 0 {
		fmt.Fprintf(&b, "| variant | %s before | after | speedup | most changed stall, cycles | line |\n|---|--:|--:|--:|---|---|\n", c.Objective)
	}
	for _, p := range changed {
		verdict, line := p.verdict(), ""
		if p.Wrong(minSpeedup) != "" {
			verdict = "**" + cmp.Or(verdict, "worse") + "**"
		}
		if l, grown := p.worst(); l != nil {
			line = fmt.Sprintf("%s:%d %+.0f", l.File, l.Line, grown)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", cell(p.Variant), outcomeText(p.Before), outcomeText(p.After), verdict, p.moved(), cell(line))
	}
	if same > 0 {
		fmt.Fprintf(&b, "\n%d of %d variants are as before.\n", same, len(c.Pairs))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell is a text that stays in a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(reports.OneLine(text))
}

// JUnit writes a test case for each variant.
func (c *Comparison) JUnit(w io.Writer, minSpeedup float64) error {
	var cases []reports.TestCase
	for i := range c.Pairs {
		p := &c.Pairs[i]
		output := fmt.Sprintf("%s -> %s %s, %s", outcomeText(p.Before), outcomeText(p.After), c.Objective, p.verdict())
		cases = append(cases, reports.TestCase{Name: p.Variant, Output: output, Failure: p.Wrong(minSpeedup)})
	}
	return reports.WriteJUnit(w, "gpa sweep compare", cases)
}

// Remarks are what is wrong, each at the line that it is about. find says where the source of a variant lies whose name is as the compiler had it; what has
// no line is at the beginning of the file that find names for "".
func (c *Comparison) Remarks(minSpeedup float64, find func(at map[string]search.Value, file string) string) (list []reports.Remark) {
	for i := range c.Pairs {
		p := &c.Pairs[i]
		wrong := p.Wrong(minSpeedup)
		if wrong == "" {
			continue
		}
		r := reports.Remark{Rule: "sweep/" + string(p.After.Status), Level: "error", Text: strings.TrimSpace(p.Variant + ": " + wrong), File: find(p.Point, ""), Line: 1}
		line, grown := p.worst()
		if p.After.Status == search.OK {
			r.Rule = "sweep/slower"
			r.Text += fmt.Sprintf("; %s is %s instead of %s", c.Objective, outcomeText(p.After), outcomeText(p.Before))
			if line != nil {
				r.Text += fmt.Sprintf(", %+.0f cycles at this line", grown)
			}
			if moved := p.moved(); moved != "" {
				r.Text += ", by stall reason most: " + moved
			}
		}
		if line != nil && (p.After.Status == search.OK || p.After.Status == search.Fault) {
			r.File, r.Line = find(p.Point, line.File), line.Line
		}
		list = append(list, r)
	}
	return list
}

// SourceOf finds a source of a variant of a sweep whose file or results have the name of: beside its launch file, beside the file of the sweep, or where the compiler found it. Its name is from the working
// folder on where it is below that. "" stands for the launch file, or else for that of the sweep.
func SourceOf(of string, at map[string]search.Value, file string) string {
	beside := filepath.Join(filepath.Dir(of), filepath.FromSlash(string(at[search.LaunchAxis])))
	switch {
	case file != "":
		for _, name := range []string{filepath.Join(filepath.Dir(of), file), filepath.Join(filepath.Dir(beside), file)} {
			if _, err := os.Stat(name); err == nil && !filepath.IsAbs(file) {
				file = name
			}
		}
	case at[search.LaunchAxis] != "":
		file = beside
	default:
		file = of
	}
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if name, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(name) {
			file = name
		}
	}
	return filepath.ToSlash(file)
}
