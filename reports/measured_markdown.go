package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// MeasuredMarkdown writes the evaluation as a page: a table for each folder, and what they say together.
func MeasuredMarkdown(w io.Writer, x *MeasuredEvaluation) error {
	var b strings.Builder
	b.WriteString(x.summaryText() + "\n")
	name := "\n"
	for i := range x.Launches {
		l := &x.Launches[i]
		if l.Name != name {
			name = l.Name
			fmt.Fprintf(&b, "\n**%s** on the %s", plain(name), l.GPU)
			if l.Source != "" {
				fmt.Fprintf(&b, " (%s)", plain(l.Source))
			}
			b.WriteString("\n\n| kernel | grid | block | measured cycles | emulated | error | stall distance | hot pcs |\n|---|---|---|--:|--:|--:|--:|--:|\n")
		}
		mix, hot := "", ""
		if l.StallDistance != nil {
			mix, hot = strconv.FormatFloat(*l.StallDistance, 'f', 2, 64), fmt.Sprintf("%d of %d", *l.HotPCs, hottest)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", plain(l.Kernel), shape(l.Grid), shape(l.Block),
			thousands(int64(l.Measured)), thousands(int64(l.Emulated)), signedPercent(l.Emulated/l.Measured-1), mix, hot)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shape writes the extents of a grid or a block up to the last that is not 1.
func shape(extents [3]int) string {
	n := 3
	for n > 1 && extents[n-1] <= 1 {
		n--
	}
	var list []string
	for _, e := range extents[:n] {
		list = append(list, strconv.Itoa(e))
	}
	return strings.Join(list, "x")
}

func signedPercent(v float64) string { return fmt.Sprintf("%+.1f%%", 100*v) }
