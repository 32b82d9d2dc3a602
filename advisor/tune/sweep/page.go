package sweep

import (
	_ "embed" // of the page
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"gpa/advisor/tune/search"
)

//go:embed sweep.tmpl
var sweepPage string

// A pageGroup is a group of variants on the web page.
type pageGroup struct {
	Name  string
	Rows  []pageRow
	More  int // rows that are left out
	Why   []search.Effect
	Plots []pagePlot
}

// A pageRow is a variant on the web page.
type pageRow struct {
	Label, Figure, Against, Status, Why string
	Bars                                []pageBar
	Width                               float64 // of the figure, percent of the largest
}

// A pageBar is the share of a stall reason in the cycles, percent.
type pageBar struct {
	Reason string
	Share  float64
	Color  int // number, from 0
}

// pageRows is how many variants of a group the page lists.
const pageRows = 1000

// HTML writes the results as one file that needs no network: for each group the variants, the best first, with their stalls stacked, and the objective over each
// axis and over time. A browser loads the page of a sweep that runs, with how far it is, again after so many seconds; 0 and nil are for one that does not.
func (t *Results) HTML(w io.Writer, refresh int, running *Counts) error {
	parsed, err := template.New("sweep").Parse(sweepPage)
	if err != nil {
		return err
	}
	reasons := make(map[string]bool)
	for _, o := range t.outcomes {
		for r := range o.Stalls {
			reasons[r] = true
		}
	}
	names := slices.Sorted(maps.Keys(reasons))
	data := struct {
		Title, Objective string
		Refresh          int
		Counts           Counts
		Groups           []pageGroup
		Reasons          []string
	}{Title: t.spec.Name, Objective: t.spec.Objective, Refresh: refresh, Counts: t.Counts(), Reasons: names}
	if running != nil {
		data.Counts = *running
	}
	if data.Title == "" {
		data.Title = t.spec.Kernel
	}
	for g, group := range t.groups {
		data.Groups = append(data.Groups, t.pageGroup(g, group, names))
	}
	return parsed.Execute(w, data)
}

func (t *Results) pageGroup(g int, group []int, reasons []string) pageGroup {
	list := t.ranked(group)
	out := pageGroup{Name: t.groupName(g)}
	largest := 0.0
	for _, i := range list {
		largest = max(largest, t.outcomes[i].Objective)
	}
	for _, i := range list[:min(len(list), pageRows)] {
		o := t.outcomes[i]
		row := pageRow{Label: t.space.Label(t.space.Points[i]), Status: string(o.Status), Why: o.Why}
		if o.Status == search.OK {
			row.Figure, row.Against = figureText(o.Objective), fmt.Sprintf("%.3fx", o.Objective/t.outcomes[list[0]].Objective)
			row.Width = 100 * o.Objective / max(largest, 1e-300)
			for k, r := range reasons {
				if share := 100 * o.Stalls[r] / float64(max(1, o.Cycles)); share > 0 {
					row.Bars = append(row.Bars, pageBar{r, share, k})
				}
			}
		}
		out.Rows = append(out.Rows, row)
	}
	out.More = len(list) - len(out.Rows)
	out.Plots = t.plots(group)
	if len(list) > 0 && t.outcomes[list[0]].Status == search.OK {
		out.Why = search.Why(t.space, group, t.outcomes, list[0])
	}
	return out
}
