package reports

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"gpa/profiler"
)

// The frame of the roofline, in units of its drawing, and the decades that it spans.
const (
	roofWidth, roofHeight = 420.0, 240.0
	roofLeft, roofRight   = 52.0, 18.0
	roofBottom            = 34.0
	roofMinX, roofMaxX    = -2.0, 2.0 // log10 of warp instructions a sector
	roofDecades           = 3.0       // below the peak
	sectorsPerCycle       = 4         // that an SM's L1 looks up: 128 bytes (NVIDIA Developer Forums, "Pascal L1 cache", on Volta)
)

// roofline draws the launch under the ceilings of the GPU after Ding and Williams, An Instruction Roofline Model for GPUs (PMBS
// 2019): warp instructions a second against warp instructions for each sector that is asked of L1. It is empty where the profile
// lacks what it takes.
func roofline(l *profiler.Launch) template.HTML {
	f := &l.Facts
	sectors, _ := l.GlobalSectors()
	if f.Seconds() == 0 || f.ClockHz == 0 || f.SMs == 0 || sectors == 0 || f.WarpInstructions == 0 {
		return ""
	}
	peak := float64(f.SMs*f.SchedulersPerSM) * f.ClockHz / 1e9      // GIPS
	l1 := float64(f.SMs) * sectorsPerCycle * f.ClockHz / 1e9        // sectors a nanosecond
	x := math.Log10(float64(f.WarpInstructions) / float64(sectors)) // instructions a sector
	y := math.Log10(float64(f.WarpInstructions) / f.Seconds() / 1e9)
	top := math.Log10(peak) + .25
	at := func(x, y float64) (float64, float64) {
		return roofLeft + (min(max(x, roofMinX), roofMaxX)-roofMinX)/(roofMaxX-roofMinX)*(roofWidth-roofLeft-roofRight),
			8 + (top-max(y, top-roofDecades))/roofDecades*(roofHeight-roofBottom-8)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="instruction roofline">`, roofWidth, roofHeight)
	for d := roofMinX; d <= roofMaxX; d++ {
		px, bottom := at(d, top-roofDecades)
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="8" x2="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`, px, px, bottom, px, bottom+14, math.Pow(10, d))
	}
	for d := math.Ceil(top - roofDecades); d <= top; d++ {
		left, py := at(roofMinX, d)
		right, _ := at(roofMaxX, d)
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%g</text>`, left, py, right, py, left-4, py+4, math.Pow(10, d))
	}
	x0, y0 := at(roofMinX, roofMinX+math.Log10(l1))
	xr, yr := at(math.Log10(peak/l1), math.Log10(peak))
	x1, y1 := at(roofMaxX, math.Log10(peak))
	px, py := at(x, y)
	fmt.Fprintf(&b, `<path class="roof" d="M%.1f,%.1f L%.1f,%.1f L%.1f,%.1f"/>`, x0, y0, xr, yr, x1, y1)
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="end">%.0f GIPS</text>`, x1, y1-5, peak)
	fmt.Fprintf(&b, `<circle class="point" cx="%.1f" cy="%.1f" r="5"><title>%.3g GIPS, %.3g instructions a sector</title></circle>`, px, py, math.Pow(10, y), math.Pow(10, x))
	fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle">warp instructions a sector</text></svg>`, (roofWidth+roofLeft)/2, roofHeight-3)
	return template.HTML(b.String())
}
