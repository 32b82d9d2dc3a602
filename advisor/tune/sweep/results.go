package sweep

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gpa/advisor/tune/search"
	"gpa/reports"
)

// Results are what came out of a sweep.
type Results struct {
	*Sweep
	outcomes map[int]*search.Outcome // by point
	results  map[int]*Result
	order    []int // points, as their outcomes came
}

// Counts say how far a sweep has come.
type Counts struct {
	Variants int `json:"variants"` // of the space
	Done     int `json:"done"`     // with an outcome
	Cached   int `json:"cached"`   // of these: from the store
	Ran      int `json:"ran"`
	Running  int `json:"running"`
	Left     int `json:"left"`   // that may be begun yet
	Failed   int `json:"failed"` // of those done: disqualified
}

// Counts counts the outcomes.
func (t *Results) Counts() Counts {
	c := Counts{Variants: len(t.space.Points), Done: len(t.outcomes)}
	for _, r := range t.results {
		if r.Cached {
			c.Cached++
		} else {
			c.Ran++
		}
		if r.Outcome.Status != search.OK {
			c.Failed++
		}
	}
	return c
}

// ranked lists the points of a group with an outcome, the best first, what is disqualified last.
func (t *Results) ranked(group []int) []int {
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

// A Report is the results of a sweep as JSON.
type Report struct {
	Sweep     string   `json:"sweep,omitempty"`
	Objective string   `json:"objective"`
	Goal      string   `json:"goal"`
	Axes      []string `json:"axes"`
	Counts    Counts   `json:"counts"`
	Groups    []Group  `json:"groups"`
}

// A Group is the results of one group.
type Group struct {
	Best     map[string]search.Value `json:"best,omitempty"` // absent where no variant qualifies
	Why      []search.Effect         `json:"why,omitempty"`
	Variants []*Result               `json:"variants"` // the best first
}

// Report is the results for JSON.
func (t *Results) Report() Report {
	r := Report{Sweep: t.spec.Name, Objective: t.spec.Objective, Goal: t.spec.Goal, Counts: t.Counts(), Groups: []Group{}}
	for _, a := range t.space.Axes {
		r.Axes = append(r.Axes, a.Name)
	}
	for _, group := range t.groups {
		g := Group{Variants: []*Result{}}
		for k, i := range t.ranked(group) {
			if k == 0 && t.outcomes[i].Status == search.OK {
				g.Best, g.Why = t.space.At(t.space.Points[i]), search.Why(t.space, group, t.outcomes, i)
			}
			g.Variants = append(g.Variants, t.results[i])
		}
		r.Groups = append(r.Groups, g)
	}
	return r
}

// CSV writes one line a variant: the axes, the status, the objective, the cycles and the share of each stall reason.
func (t *Results) CSV(w io.Writer) error {
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
			row = append(row, string(o.Status), figureText(o.Objective), strconv.FormatInt(o.Cycles, 10), strconv.FormatBool(t.results[i].Cached), t.results[i].Key)
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

// Text writes for each group the best variants and why the best is.
func (t *Results) Text(w io.Writer, style reports.Style, all bool) error {
	c := t.Counts()
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
func (t *Results) groupName(g int) string {
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
func (t *Results) why(w io.Writer, group []int, best int) {
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
