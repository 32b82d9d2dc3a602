package listing

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gpa/profiler/ncurep"
	"gpa/reports"
)

// LaunchTable is a table of the launches of a report file.
func LaunchTable(list []ncurep.Listed, style reports.Style) *reports.Table {
	t := &reports.Table{Style: style, Columns: []reports.Column{{Title: "launch", Right: true}, {Title: "kernel", Wrap: true}, {Title: "gpu"}, {Title: "grid"}, {Title: "block"},
		{Title: "cycles", Right: true}, {Title: "warp instructions", Right: true}, {Title: "samples", Right: true}, {Title: "lacks", Wrap: true}}}
	for i := range list {
		l := &list[i]
		t.Add(strconv.Itoa(l.Launch), l.Kernel, l.GPU, shape(l.Grid), shape(l.Block), count(l.Cycles), count(l.WarpInstructions), count(l.Samples),
			cmp.Or(l.Error, strings.Join(l.Missing, "; ")))
	}
	return t
}

// shape writes the size of a grid or a block without dimensions of one.
func shape(size [3]int) string {
	text := fmt.Sprintf("%dx%dx%d", size[0], size[1], size[2])
	return strings.TrimSuffix(strings.TrimSuffix(text, "x1"), "x1")
}

// count writes a count, nothing where it is not known.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
