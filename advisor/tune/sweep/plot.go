package sweep

import (
	"fmt"
	"math"
	"strings"

	"gpa/advisor/tune/search"
)

// A pagePlot is the objective of variants over the values of an axis, or over time, with a line through the best.
type pagePlot struct {
	Title     string
	Low, High string // of the objective
	Dots      []pageDot
	Ticks     []pageDot // their texts are labels
	Line      string    // points of the line
}

// A pageDot is a place on a plot and what it is.
type pageDot struct {
	X, Y float64
	Text string
}

// Size of a plot, and how many dots it has at most.
const (
	plotWidth  = 320
	plotHeight = 140
	plotMargin = 14
	plotDots   = 2000
	plotTicks  = 12
)

// plots draws the objective over each axis that has several values in a group, and how the best came down over time.
func (t *Results) plots(group []int) (list []pagePlot) {
	in := make(map[int]bool, len(group))
	for _, i := range group {
		in[i] = true
	}
	var points []int
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range t.order {
		if o := t.outcomes[i]; in[i] && o.Status == search.OK {
			points = append(points, i)
			low, high = min(low, o.Objective), max(high, o.Objective)
		}
	}
	if len(points) < 2 {
		return nil
	}
	height := func(v float64) float64 { // the axis is one of logarithms where that can be
		a, b, x := low, high, v
		if low > 0 {
			a, b, x = math.Log(low), math.Log(high), math.Log(v)
		}
		return plotHeight - plotMargin - (plotHeight-2*plotMargin)*(x-a)/max(b-a, 1e-9)
	}
	for a, axis := range t.space.Axes {
		plot := pagePlot{Title: axis.Name}
		column := func(v int) float64 { return across(v, len(axis.Values)) }
		at := make(map[int]float64) // the best of each value
		for k, i := range points {
			v := t.space.Points[i][a]
			o := t.outcomes[i]
			if b, ok := at[v]; !ok || t.better(o, &search.Outcome{Objective: b}) {
				at[v] = o.Objective
			}
			if k < plotDots {
				plot.Dots = append(plot.Dots, pageDot{column(v), height(o.Objective), t.space.Label(t.space.Points[i]) + ": " + figureText(o.Objective)})
			}
		}
		if len(at) < 2 {
			continue
		}
		var line []string
		for v, value := range axis.Values {
			if best, ok := at[v]; ok {
				line = append(line, place(column(v), height(best)))
			}
			if v%(len(axis.Values)/plotTicks+1) == 0 {
				plot.Ticks = append(plot.Ticks, pageDot{X: column(v), Text: string(value)})
			}
		}
		plot.Line = strings.Join(line, " ")
		list = append(list, plot)
	}
	list = append(list, t.frontier(points, height))
	for i := range list {
		list[i].Low, list[i].High = figureText(low), figureText(high)
	}
	return list
}

// frontier is the best so far, over the outcomes in the order in which they came.
func (t *Results) frontier(points []int, height func(float64) float64) pagePlot {
	plot := pagePlot{Title: fmt.Sprintf("the best of so many (%d)", len(points))}
	var best *search.Outcome
	var line []string
	for k, i := range points {
		o := t.outcomes[i]
		x := across(k, len(points))
		if k < plotDots {
			plot.Dots = append(plot.Dots, pageDot{x, height(o.Objective), t.space.Label(t.space.Points[i]) + ": " + figureText(o.Objective)})
		}
		if best == nil || t.better(o, best) {
			if best != nil {
				line = append(line, place(x, height(best.Objective)))
			}
			best = o
			line = append(line, place(x, height(o.Objective)))
		}
	}
	line = append(line, place(across(len(points)-1, len(points)), height(best.Objective)))
	plot.Line = strings.Join(line, " ")
	return plot
}

// across is where the k-th of n places is.
func across(k, n int) float64 {
	return plotMargin + (plotWidth-2*plotMargin)*float64(k)/float64(max(1, n-1))
}

func place(x, y float64) string { return fmt.Sprintf("%.1f,%.1f", x, y) }
