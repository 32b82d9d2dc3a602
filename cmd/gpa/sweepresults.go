package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gpa/advisor/tune/search"
	"gpa/profiler/store"
	"gpa/reports"
	"gpa/reports/files"
)

// A sweepTable is the outcomes of a sweep.
type sweepTable struct {
	*sweep
	outcomes map[int]*search.Outcome
	lines    map[int]*journalLine
}

// table reads the journal of a sweep. Lines of variants that the sweep does not have are another's.
func (s *sweep) table() (*sweepTable, error) {
	t := &sweepTable{s, make(map[int]*search.Outcome), make(map[int]*journalLine)}
	file, err := os.Open(s.journalName())
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	points := make(map[string]int, len(s.space.Points))
	for i, p := range s.space.Points {
		points[s.values(s.space.At(p))] = i
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := new(journalLine)
		if json.Unmarshal(lines.Bytes(), line) != nil || line.Outcome == nil {
			continue // cut off when a process was killed
		}
		if i, ok := points[s.values(line.Point)]; ok {
			t.outcomes[i], t.lines[i] = line.Outcome, line
		}
	}
	return t, lines.Err()
}

// values is a point as text.
func (s *sweep) values(at map[string]search.Value) string {
	parts := make([]string, len(s.space.Axes))
	for i, a := range s.space.Axes {
		parts[i] = string(at[a.Name])
	}
	return strings.Join(parts, "\x00")
}

func (t *sweepTable) counts() sweepCounts {
	c := sweepCounts{Variants: len(t.space.Points), Done: len(t.outcomes)}
	for _, l := range t.lines {
		if l.Cached {
			c.Cached++
		} else {
			c.Ran++
		}
		if l.Outcome.Status != search.OK {
			c.Failed++
		}
	}
	return c
}

// ranked lists the points of a group with an outcome, the best first, what is disqualified last.
func (t *sweepTable) ranked(group []int) []int {
	var list []int
	for _, i := range group {
		if t.outcomes[i] != nil {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int {
		x, y := t.outcomes[a], t.outcomes[b]
		if (x.Status == search.OK) != (y.Status == search.OK) {
			if x.Status == search.OK {
				return -1
			}
			return 1
		}
		switch {
		case x.Status != search.OK:
			return cmp.Compare(x.Status, y.Status)
		case t.better(x, y):
			return -1
		case t.better(y, x):
			return 1
		}
		return 0
	})
	return list
}

// results prints what came out of a sweep.
func (f *sweepFlags) results(e *env, s *sweep) error {
	t, err := s.table()
	if err != nil {
		return err
	}
	if f.html != "" {
		page, err := t.page()
		if err != nil {
			return err
		}
		if err := files.WriteOne(f.html, page); err != nil {
			return err
		}
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, t.report())
	case f.csv:
		return t.csv(e.stdout)
	}
	return t.text(e.stdout, e.style(), f.all)
}

// A sweepReport is the results of a sweep as JSON.
type sweepReport struct {
	Sweep     string       `json:"sweep,omitempty"`
	Objective string       `json:"objective"`
	Goal      string       `json:"goal"`
	Counts    sweepCounts  `json:"counts"`
	Groups    []sweepGroup `json:"groups"`
}

// A sweepGroup is the results of one group.
type sweepGroup struct {
	Best     map[string]search.Value `json:"best,omitempty"` // absent where no variant qualifies
	Why      []search.Effect         `json:"why,omitempty"`
	Variants []*journalLine          `json:"variants"` // the best first
}

func (t *sweepTable) report() sweepReport {
	r := sweepReport{Sweep: t.spec.Name, Objective: t.spec.Objective, Goal: t.spec.Goal, Counts: t.counts(), Groups: []sweepGroup{}}
	for _, group := range t.groups {
		g := sweepGroup{Variants: []*journalLine{}}
		for k, i := range t.ranked(group) {
			if k == 0 && t.outcomes[i].Status == search.OK {
				g.Best, g.Why = t.space.At(t.space.Points[i]), search.Why(t.space, group, t.outcomes, i)
			}
			g.Variants = append(g.Variants, t.lines[i])
		}
		r.Groups = append(r.Groups, g)
	}
	return r
}

// csv writes one line a variant: the axes, the status, the objective, the cycles and the share of each stall reason.
func (t *sweepTable) csv(w io.Writer) error {
	reasons := make(map[string]bool)
	for _, o := range t.outcomes {
		for reason := range o.Stalls {
			reasons[reason] = true
		}
	}
	sorted := slices.Sorted(maps.Keys(reasons))
	head := []string{}
	for _, a := range t.space.Axes {
		head = append(head, a.Name)
	}
	out := csv.NewWriter(w)
	head = append(head, "status", "objective", "cycles", "cached", "key")
	if err := out.Write(append(head, sorted...)); err != nil {
		return err
	}
	for _, group := range t.groups {
		for _, i := range t.ranked(group) {
			o, row := t.outcomes[i], []string{}
			at := t.space.At(t.space.Points[i])
			for _, a := range t.space.Axes {
				row = append(row, string(at[a.Name]))
			}
			row = append(row, string(o.Status), figureText(o.Objective), strconv.FormatInt(o.Cycles, 10), strconv.FormatBool(t.lines[i].Cached), t.lines[i].Key)
			for _, reason := range sorted {
				row = append(row, strconv.FormatFloat(o.Stalls[reason]/float64(max(1, o.Cycles)), 'f', 4, 64))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func figureText(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// bestShown is the number of variants of a group in the table.
const bestShown = 10

// text writes for each group the best variants and why the best is.
func (t *sweepTable) text(w io.Writer, style reports.Style, all bool) error {
	c := t.counts()
	fmt.Fprintf(w, "%d of %d variants: %d from the store, %d ran, %d failed\n", c.Done, c.Variants, c.Cached, c.Ran, c.Failed)
	for g, group := range t.groups {
		list := t.ranked(group)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", cmp.Or(t.groupName(g), "all variants"))
		table := reports.Table{Indent: "  ", Style: style, Columns: []reports.Column{{Title: t.spec.Objective, Right: true}, {Title: "against the best", Right: true}, {Title: "stalls"}, {Title: "variant"}}}
		best := t.outcomes[list[0]]
		shown := list
		if !all {
			shown = list[:min(bestShown, len(list))]
		}
		for _, i := range shown {
			o := t.outcomes[i]
			if o.Status != search.OK {
				table.Add(string(o.Status), "", reports.Clipped(o.Why), t.space.Label(t.space.Points[i]))
				continue
			}
			table.Add(figureText(o.Objective), fmt.Sprintf("%.3fx", o.Objective/best.Objective), topStalls(o), t.space.Label(t.space.Points[i]))
		}
		if err := table.Render(w); err != nil {
			return err
		}
		if left := len(list) - len(shown); left > 0 {
			fmt.Fprintf(w, "  and %d more (--all)\n", left)
		}
		if best.Status == search.OK {
			t.why(w, group, list[0])
		}
	}
	return nil
}

// groupName is the values that the variants of a group share.
func (t *sweepTable) groupName(g int) string {
	var parts []string
	p := t.space.Points[t.groups[g][0]]
	for _, name := range t.spec.Per {
		i := t.space.Axis(name)
		parts = append(parts, name+"="+string(t.space.Axes[i].Values[p[i]]))
	}
	return strings.Join(parts, " ")
}

// topStalls names the two reasons with the largest shares.
func topStalls(o *search.Outcome) string {
	reasons := slices.SortedFunc(maps.Keys(o.Stalls), func(a, b string) int {
		return cmp.Or(cmp.Compare(o.Stalls[b], o.Stalls[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range reasons {
		if r != "selected" && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%s %.0f%%", r, 100*o.Stalls[r]/float64(max(1, o.Cycles))))
		}
	}
	return strings.Join(parts, ", ")
}

// why tells what each axis does to the best variant's figure and stalls.
func (t *sweepTable) why(w io.Writer, group []int, best int) {
	effects := search.Why(t.space, group, t.outcomes, best)
	if len(effects) == 0 {
		return
	}
	fmt.Fprintf(w, "  what the values of the best do, against another one, in the mean of all pairs that differ in nothing else:\n")
	for _, e := range effects {
		var moved []string
		for _, m := range e.Moved {
			moved = append(moved, fmt.Sprintf("%s %+.1f%%", m.Reason, 100*m.Share))
		}
		pairs := "1 pair"
		if e.Pairs > 1 {
			pairs = fmt.Sprintf("%d pairs", e.Pairs)
		}
		fmt.Fprintf(w, "    %s %s -> %s: %s x%.3f (%s); of the cycles: %s\n", e.Axis, e.From, e.To, t.spec.Objective, e.Ratio, pairs, strings.Join(moved, ", "))
	}
}

// compare tells two sweeps apart, variant by variant.
func (f *sweepFlags) compare(e *env, folder *store.Folder, args []string) error {
	if len(args) != 2 {
		return usagef("two sweep files are compared, not %d", len(args))
	}
	tables := make([]*sweepTable, 2)
	for k, name := range args {
		s, err := openSweep(name, f.axes, folder, os.Getenv)
		if err != nil {
			return err
		}
		if tables[k], err = s.table(); err != nil {
			return err
		}
	}
	before, after := tables[0], tables[1]
	was := make(map[string]int)
	for i := range before.outcomes {
		was[before.space.Label(before.space.Points[i])] = i
	}
	table := reports.Table{Style: e.style(), Columns: []reports.Column{{Title: "before", Right: true}, {Title: "after", Right: true}, {Title: "ratio", Right: true}, {Title: "variant"}}}
	for i := range after.space.Points {
		label := after.space.Label(after.space.Points[i])
		k, ok := was[label]
		o := after.outcomes[i]
		if !ok || o == nil {
			continue
		}
		b := before.outcomes[k]
		if b.Status != search.OK || o.Status != search.OK {
			table.Add(outcomeText(b), outcomeText(o), "", label)
			continue
		}
		table.Add(figureText(b.Objective), figureText(o.Objective), fmt.Sprintf("%.3f", o.Objective/b.Objective), label)
	}
	if len(table.Rows) == 0 {
		return errors.New("the two sweeps have no variant in common that ran")
	}
	return table.Render(e.stdout)
}

func outcomeText(o *search.Outcome) string {
	if o.Status != search.OK {
		return string(o.Status)
	}
	return figureText(o.Objective)
}
