package reports

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// The frame of the coverage plot, in pixels.
const (
	coverageLeft, coverageRight = 210.0, 20.0
	coverageTop, coverageBottom = 40.0, 30.0
	coverageRow                 = 14.0 // height of a kernel's line
	coverageScale               = 420.0
)

// CoveragePlot draws the single dependency coverage of every kernel before and after pruning as SVG, as Figure 7 of the GPA paper
// does. The line at 80 % is what that figure's tool reaches on all but memory-bound kernels.
func CoveragePlot(w io.Writer, x *BlameEvaluation) error {
	const paper = .8
	var b strings.Builder
	bottom := coverageTop + coverageRow*float64(len(x.Kernels))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" font-size="11">`+"\n",
		coverageLeft+coverageScale+coverageRight, bottom+coverageBottom)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	fmt.Fprintf(&b, `<text x="%g" y="16">single dependency coverage: <tspan fill="#888">○ before</tspan>, <tspan fill="#1667b7">● after pruning</tspan>; mean %s and %s</text>`+"\n",
		coverageLeft, percent(x.Summary.SingleDependencyBefore), percent(x.Summary.SingleDependencyAfter))
	for tick := 0; tick <= 10; tick += 2 {
		at := coverageX(float64(tick) / 10)
		fmt.Fprintf(&b, `<line x1="%g" x2="%g" y1="%g" y2="%g" stroke="%s"/><text x="%g" y="%g" text-anchor="middle">%d%%</text>`+"\n",
			at, at, coverageTop-8, bottom, map[bool]string{true: "#c33", false: "#ddd"}[tick == int(10*paper)], at, bottom+16, 10*tick)
	}
	for i, k := range x.Kernels {
		y := coverageTop + coverageRow*float64(i)
		before, after := coverageX(k.SingleDependencyBefore), coverageX(k.SingleDependencyAfter)
		fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="end">%s</text>`, coverageLeft-8, y+4, html.EscapeString(plain(k.Name)))
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%g" y2="%g" stroke="#9bc"/>`, before, after, y, y)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%g" r="3.5" fill="white" stroke="#888"/>`, before, y)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%g" r="3.5" fill="#1667b7"/>`+"\n", after, y)
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func coverageX(share float64) float64 { return coverageLeft + share*coverageScale }
