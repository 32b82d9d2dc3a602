package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// LadderText writes an evaluation of ladders as a table and a summary.
func LadderText(w io.Writer, x *LadderEvaluation, style Style) error {
	table := Table{Style: style, Columns: []Column{
		{Title: "ladder", Width: 18}, {Title: "step", Width: 28}, {Title: "cycles", Right: true}, {Title: "achieved", Right: true}, {Title: "rank", Right: true},
		{Title: "optimizer", Width: 26}, {Title: "estimated", Right: true}, {Title: "tried", Right: true}, {Title: "error", Right: true}, {Title: "outputs"},
	}}
	for i := range x.Ladders {
		for _, row := range x.Ladders[i].rows() {
			table.Add(row...)
		}
	}
	var out strings.Builder
	if err := table.Render(&out); err != nil {
		return err
	}
	out.WriteString("\n" + x.summaryText())
	if misses := x.misses(); len(misses) > 0 {
		out.WriteString("\nnot among the first three:\n")
		for _, m := range misses {
			fmt.Fprintf(&out, "  %s\n", m)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// rows are the versions of a ladder, each with the step to it.
func (x *EvaluatedLadder) rows() [][]string {
	var rows [][]string
	for i, v := range x.Versions {
		row := []string{x.Ladder, v.Version, thousands(v.Cycles), "", "", "", "", "", "", map[bool]string{true: "right", false: "WRONG"}[v.AsExpected]}
		if i > 0 {
			copy(row[3:], x.Steps[i-1].cells())
		}
		rows = append(rows, row)
	}
	return rows
}

// cells are what is told of a step: achieved, rank, optimizer, estimated, tried, error.
func (s *LadderStep) cells() []string {
	cells := []string{times(s.Achieved), "-", "", "", "", ""}
	switch {
	case s.Rank > 0:
		cells[1], cells[2], cells[3] = fmt.Sprint(s.Rank), s.Optimizer, times(s.Estimated)
	default:
		cells[2] = "(" + s.wanted() + ")"
	}
	if s.Tried > 0 {
		cells[4] = times(s.Tried)
	}
	if s.Error != nil {
		cells[5] = percent(*s.Error)
	}
	return cells
}

// wanted names what should have been advised.
func (s *LadderStep) wanted() string {
	list := slices.Clone(s.Optimizers)
	if s.Kind != "" {
		list = append(list, s.Kind)
	}
	if len(list) == 0 {
		return "no optimizer stands for it"
	}
	return strings.Join(list, " or ")
}

// summaryText tells what the ladders say together.
func (x *LadderEvaluation) summaryText() string {
	s := &x.Summary
	return fmt.Sprintf(`%d ladders with %d versions, %d of the ladders in their order
%d steps, of which %d gain at least 2%%: of these the change is first for %s, among the first three for %s, advised for %d;
%d were tried: |tried/achieved - 1| %s in the mean; estimate/achieved %.2f in the median
`, s.Ladders, s.Versions, s.Ordered, s.Steps, s.Gaining, percent(s.First), percent(s.Top3), s.Advised, s.Tried, percent(s.TriedError), s.Bias)
}

// misses tells of the steps that gain and whose change is not among the first three.
func (x *LadderEvaluation) misses() []string {
	var list []string
	for i := range x.Ladders {
		for j := range x.Ladders[i].Steps {
			s := &x.Ladders[i].Steps[j]
			if !s.missed() {
				continue
			}
			what, place := s.wanted(), ""
			if s.Rank > 0 {
				place = fmt.Sprintf(", rank %d", s.Rank)
			}
			if s.First != "" {
				place += ", first is " + s.First
			}
			list = append(list, fmt.Sprintf("%s, %s to %s, %s: %s (%s%s)", x.Ladders[i].Ladder, s.From, s.To, times(s.Achieved), s.Change, what, place))
		}
	}
	return list
}

// losses tells of the versions that take longer than the ones before them.
func (x *LadderEvaluation) losses() []string {
	var list []string
	for i := range x.Ladders {
		for _, s := range x.Ladders[i].Steps {
			if s.Achieved < 1 {
				list = append(list, fmt.Sprintf("%s, %s to %s, %s: %s", x.Ladders[i].Ladder, s.From, s.To, times(s.Achieved), s.Change))
			}
		}
	}
	return list
}

// LadderMarkdown writes an evaluation of ladders as a page: what they say together, a table for each, misses, and steps that lose.
func LadderMarkdown(w io.Writer, x *LadderEvaluation) error {
	var b strings.Builder
	b.WriteString(x.summaryText())
	for i := range x.Ladders {
		l := &x.Ladders[i]
		fmt.Fprintf(&b, "\n**%s** on the %s: %s\n\n| version | cycles | achieved | rank | optimizer | estimated | tried | error |\n|---|--:|--:|--:|---|--:|--:|--:|\n", plain(l.Ladder), l.GPU, plain(l.About))
		for j, row := range l.rows() {
			name := "`" + plain(row[1]) + "`"
			if j > 0 {
				name += ": " + plain(l.Steps[j-1].Change)
			}
			fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(row[2:9], " | "))
		}
	}
	markdownList(&b, "Steps that gain at least 2% and are not among the first three:", x.misses())
	markdownList(&b, "Versions that take longer than the one before:", x.losses())
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownList writes a title and a list, nothing where that is empty.
func markdownList(b *strings.Builder, title string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n\n", title)
	for _, line := range list {
		fmt.Fprintf(b, "- %s\n", plain(line))
	}
}
