package reports

import (
	"fmt"
	"slices"
	"strings"
)

// htmlLines makes the source panes of a comparison.
type htmlLines struct {
	before, after htmlSide
	openBefore    *sources
	openAfter     *sources
}

// An htmlSide is the source of one side: cycles by line, and the line on the other side that each belongs to.
type htmlSide struct {
	id     string
	totals *lineTotals
	twin   map[lineKey]string // ids of rows of the other side
	open   func(string) []byte
	sum    float64 // sampled cycles of the kernel before
	most   float64 // of the hottest line of both sides
}

func newHTMLLines(p *Pair, before, after *Result, id string, o CompareOptions) *htmlLines {
	was, is := before.lineCycles(p.kernels[0]), after.lineCycles(p.kernels[1])
	l := &htmlLines{
		before:     htmlSide{id: id + "b", totals: was, twin: make(map[lineKey]string), open: o.BeforeSource},
		after:      htmlSide{id: id + "a", totals: is, twin: make(map[lineKey]string), open: o.AfterSource},
		openBefore: &sources{open: o.BeforeSource}, openAfter: &sources{open: o.AfterSource},
	}
	sum, most := 0.0, 0.0
	for _, cycles := range was.cycles {
		sum += cycles
		most = max(most, cycles)
	}
	for _, cycles := range is.cycles {
		most = max(most, cycles)
	}
	l.before.sum, l.before.most, l.after.sum, l.after.most = sum, most, sum, most
	become := lineMap(was, is, o)
	for _, file := range was.files {
		for n := range sourceLines(o.BeforeSource, file) {
			key := lineKey{file, n + 1}
			if to, ok := become(key); ok && l.after.shows(to) {
				l.before.twin[key], l.after.twin[to] = l.after.rowID(to), l.before.rowID(key)
			}
		}
	}
	return l
}

func (s *htmlSide) rowID(key lineKey) string {
	return fmt.Sprintf("%s-%d-%d", s.id, slices.Index(s.totals.files, key.file), key.line)
}

// shows reports whether the pane has a row for a line.
func (s *htmlSide) shows(key lineKey) bool {
	return key.line >= 1 && key.line <= len(sourceLines(s.open, key.file))
}

// sources are the files whose text is at hand.
func (s *htmlSide) sources() []htmlSource {
	var list []htmlSource
	for _, file := range s.totals.files {
		lines := sourceLines(s.open, file)
		if lines == nil {
			continue
		}
		var rows []htmlLine
		for n, text := range lines {
			key := lineKey{file, n + 1}
			row := htmlLine{Key: s.rowID(key), Number: n + 1, Text: strings.ReplaceAll(text, "\t", "    "), Twin: s.twin[key]}
			if cycles := s.totals.cycles[key]; cycles > 0 && s.sum > 0 {
				row.Percent, row.Heat = percent(cycles/s.sum), heat(cycles, s.most)
			}
			rows = append(rows, row)
		}
		list = append(list, newHTMLSource(file, rows))
	}
	return list
}

// deltas are the lines that have changed most, with links to their rows.
func (l *htmlLines) deltas(list []LineDelta) []htmlDelta {
	const most = 12
	var out []htmlDelta
	for i := range list[:min(most, len(list))] {
		d := &list[i]
		h := htmlDelta{Delta: fmt.Sprintf("%+.0f", d.Delta), Kind: judgement(d.Delta < 0)}
		if d.Before != nil {
			h.Before, h.Text = d.Before.place(), l.openBefore.line(d.Before.File, d.Before.Line)
			h.BeforeID = l.before.linkTo(d.Before)
		}
		if d.After != nil {
			h.After, h.Text = d.After.place(), l.openAfter.line(d.After.File, d.After.Line)
			h.AfterID = l.after.linkTo(d.After)
		}
		out = append(out, h)
	}
	return out
}

// linkTo is the id of a location's row, empty where there is none.
func (s *htmlSide) linkTo(at *Location) string {
	if key := (lineKey{at.File, at.Line}); s.shows(key) {
		return s.rowID(key)
	}
	return ""
}
