package reports

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"
)

// A lineKey is a source line.
type lineKey struct {
	file string
	line int
}

// lineTotals are the cycles of source lines, samples times period, with the most sampled instruction of each.
type lineTotals struct {
	cycles map[lineKey]float64
	at     map[lineKey]Location
	files  []string // in the order met
}

// lineCycles adds up a kernel's launches by source line. Instructions without a line count by function, as line 0.
func (r *Result) lineCycles(k *kernelSummary) *lineTotals {
	t := &lineTotals{cycles: make(map[lineKey]float64), at: make(map[lineKey]Location)}
	for _, i := range r.launchesOf(k) {
		l, found, module := r.launch(i)
		for _, h := range hotLines(module, l, found.Blame) {
			key := lineKey{h.at.File, h.at.Line}
			if h.at.Line == 0 {
				key.file = h.at.Function
			}
			if _, met := t.at[key]; !met {
				t.at[key] = h.at
			}
			if !slices.Contains(t.files, key.file) {
				t.files = append(t.files, key.file)
			}
			t.cycles[key] += float64(l.Facts.Count()) * float64(h.totals.Samples) * float64(l.Period)
		}
	}
	return t
}

// compareLines lists the lines whose cycles have changed, the largest change first.
func compareLines(before, after *lineTotals, period int, o CompareOptions) []LineDelta {
	become := lineMap(before, after, o)
	used := make(map[lineKey]bool)
	var list []LineDelta
	for key, cycles := range before.cycles {
		at := before.at[key]
		d := LineDelta{Before: &at, Delta: -cycles}
		if to, ok := become(key); ok && after.cycles[to] > 0 && !used[to] {
			used[to] = true
			now := after.at[to]
			d.After, d.Delta = &now, after.cycles[to]-cycles
		}
		list = append(list, d)
	}
	for key, cycles := range after.cycles {
		if at := after.at[key]; !used[key] {
			list = append(list, LineDelta{After: &at, Delta: cycles})
		}
	}
	for i := range list {
		list[i].Delta = inSamples(list[i].Delta, period)
	}
	list = slices.DeleteFunc(list, func(d LineDelta) bool { return d.Delta == 0 })
	slices.SortFunc(list, func(x, y LineDelta) int {
		return cmp.Or(cmp.Compare(math.Abs(y.Delta), math.Abs(x.Delta)), compareSides(x.Before, y.Before), compareSides(x.After, y.After))
	})
	return list
}

func compareSides(x, y *Location) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.PC, y.PC))
}

// lineMap returns the line that a line has become.
func lineMap(before, after *lineTotals, o CompareOptions) func(lineKey) (lineKey, bool) {
	files := matchFiles(before.files, after.files)
	matches := make(map[string][]int)
	for from, to := range files {
		a, b := sourceLines(o.BeforeSource, from), sourceLines(o.AfterSource, to)
		if a != nil && b != nil {
			matches[from] = matchLines(a, b)
		}
	}
	return func(key lineKey) (lineKey, bool) {
		to, ok := files[key.file]
		match, known := matches[key.file]
		switch {
		case !ok:
			return lineKey{}, false
		case !known || key.line < 1 || key.line > len(match):
			return lineKey{to, key.line}, true
		case match[key.line-1] < 0:
			return lineKey{}, false
		}
		return lineKey{to, match[key.line-1] + 1}, true
	}
}

// matchFiles says which file each has become: the one of the same name, else of the same base name, else the only one left.
func matchFiles(before, after []string) map[string]string {
	match := make(map[string]string)
	left := slices.Clone(after)
	take := func(same func(a, b string) bool) {
		for _, from := range before {
			if _, done := match[from]; done {
				continue
			}
			if i := slices.IndexFunc(left, func(to string) bool { return same(from, to) }); i >= 0 {
				match[from] = left[i]
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	take(func(a, b string) bool { return a == b })
	take(func(a, b string) bool { return path.Base(a) == path.Base(b) })
	if len(left) == 1 && len(before)-len(match) == 1 {
		take(func(a, b string) bool { return true })
	}
	return match
}

// sourceLines splits a source file into lines, nil where its text is not at hand.
func sourceLines(open func(string) []byte, file string) []string {
	if open == nil {
		return nil
	}
	text := open(file)
	if text == nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}
