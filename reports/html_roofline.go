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

// A rooflineDrawing is a roofline in the making. Coordinates are logarithms to base 10: warp instructions a sector, and billions of
// them a second.
type rooflineDrawing struct {
	out      strings.Builder
	peak, l1 float64 // GIPS, sectors a nanosecond
	top      float64
}

// roofline draws a launch under the ceilings of the GPU after Ding and Williams, An Instruction Roofline Model for GPUs (PMBS
// 2019): warp instructions a second against warp instructions for each sector that is asked of L1. Where the launch has become
// another, that is drawn too. It is empty where a profile lacks what it takes.
func roofline(l, become *profiler.Launch) template.HTML {
	x, y, ok := rooflinePoint(l)
	if !ok {
		return ""
	}
	f := &l.Facts
	d := &rooflineDrawing{peak: float64(f.SMs*f.SchedulersPerSM) * f.ClockHz / 1e9, l1: float64(f.SMs) * sectorsPerCycle * f.ClockHz / 1e9}
	d.top = math.Log10(d.peak) + .25
	fmt.Fprintf(&d.out, `<svg viewBox="0 0 %g %g" role="img" aria-label="instruction roofline">`, roofWidth, roofHeight)
	d.grid()
	d.roof()
	if become == nil {
		d.point(x, y, "point")
	} else {
		x1, y1, ok := rooflinePoint(become)
		if !ok || become.GPU != l.GPU {
			return ""
		}
		d.point(x, y, "point was")
		d.move(x, y, x1, y1)
		d.point(x1, y1, "point")
	}
	fmt.Fprintf(&d.out, `<text x="%.1f" y="%.1f" text-anchor="middle">warp instructions a sector</text></svg>`, (roofWidth+roofLeft)/2, roofHeight-3)
	return template.HTML(d.out.String())
}

// rooflinePoint is where a launch stands; false where its profile does not tell.
func rooflinePoint(l *profiler.Launch) (x, y float64, ok bool) {
	f := &l.Facts
	sectors, _ := l.GlobalSectors()
	if f.Seconds() == 0 || f.ClockHz == 0 || f.SMs == 0 || sectors == 0 || f.WarpInstructions == 0 {
		return 0, 0, false
	}
	return math.Log10(float64(f.WarpInstructions) / float64(sectors)), math.Log10(float64(f.WarpInstructions) / f.Seconds() / 1e9), true
}

// at is a place in the drawing; what lies outside is at its edge.
func (d *rooflineDrawing) at(x, y float64) (float64, float64) {
	return roofLeft + (min(max(x, roofMinX), roofMaxX)-roofMinX)/(roofMaxX-roofMinX)*(roofWidth-roofLeft-roofRight),
		8 + (d.top-max(y, d.top-roofDecades))/roofDecades*(roofHeight-roofBottom-8)
}

func (d *rooflineDrawing) grid() {
	for k := roofMinX; k <= roofMaxX; k++ {
		px, bottom := d.at(k, d.top-roofDecades)
		fmt.Fprintf(&d.out, `<line class="grid" x1="%.1f" y1="8" x2="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="middle">%g</text>`, px, px, bottom, px, bottom+14, math.Pow(10, k))
	}
	for k := math.Ceil(d.top - roofDecades); k <= d.top; k++ {
		left, py := d.at(roofMinX, k)
		right, _ := d.at(roofMaxX, k)
		fmt.Fprintf(&d.out, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><text x="%.1f" y="%.1f" text-anchor="end">%g</text>`, left, py, right, py, left-4, py+4, math.Pow(10, k))
	}
}

// roof draws the ceilings: what L1 gives, and what the schedulers can issue.
func (d *rooflineDrawing) roof() {
	x0, y0 := d.at(roofMinX, roofMinX+math.Log10(d.l1))
	xr, yr := d.at(math.Log10(d.peak/d.l1), math.Log10(d.peak))
	x1, y1 := d.at(roofMaxX, math.Log10(d.peak))
	fmt.Fprintf(&d.out, `<path class="roof" d="M%.1f,%.1f L%.1f,%.1f L%.1f,%.1f"/>`, x0, y0, xr, yr, x1, y1)
	fmt.Fprintf(&d.out, `<text x="%.1f" y="%.1f" text-anchor="end">%.0f GIPS</text>`, x1, y1-5, d.peak)
}

func (d *rooflineDrawing) point(x, y float64, class string) {
	px, py := d.at(x, y)
	fmt.Fprintf(&d.out, `<circle class="%s" cx="%.1f" cy="%.1f" r="5"><title>%.3g GIPS, %.3g instructions a sector</title></circle>`,
		class, px, py, math.Pow(10, y), math.Pow(10, x))
}

// move draws the way from one point to another.
func (d *rooflineDrawing) move(x, y, x1, y1 float64) {
	px, py := d.at(x, y)
	px1, py1 := d.at(x1, y1)
	fmt.Fprintf(&d.out, `<line class="move" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, px, py, px1, py1)
}
