package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// TestRankCorrelation holds Spearman's rank correlation against values worked out by hand.
func TestRankCorrelation(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"in order", []float64{1, 5, 30}, []float64{2, 3, 4}, 1},
		{"in order, the largest first", []float64{30, 5, 1}, []float64{4, 3, 2}, 1},
		{"reversed", []float64{1, 2, 3}, []float64{9, 5, 1}, -1},
		{"two of four exchanged", []float64{1, 2, 3, 4}, []float64{1, 3, 2, 4}, .8},
		{"equal values have the mean of their ranks", []float64{1, 2, 3}, []float64{1, 2, 2}, math.Sqrt(.75)},
		{"no order", []float64{1, 2}, []float64{7, 7}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rankCorrelation(c.x, c.y); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// measuredExample has a series in order, one out of order, a kernel alone, and blocks of two shapes.
func measuredExample() *MeasuredEvaluation {
	x := new(MeasuredEvaluation)
	for _, l := range []struct {
		kernel, series     string
		block              int
		measured, emulated float64
	}{
		{"add", "", 256, 100, 110}, {"add", "", 256, 200, 190}, {"add", "", 128, 300, 90},
		{"dot", "long", 256, 100, 120}, {"dot", "long", 256, 200, 110}, {"dot", "short", 256, 10, 10},
	} {
		x.Launches = append(x.Launches, MeasuredLaunch{Name: "v100", Kernel: l.kernel, GPU: "v100", Series: l.series, Grid: [3]int{8, 2, 1}, Block: [3]int{l.block, 1, 1},
			Measured: l.measured, Emulated: l.emulated})
	}
	x.Sum()
	return x
}

// TestMeasuredSeries holds which launches are a series, and what is said of their order.
func TestMeasuredSeries(t *testing.T) {
	x := measuredExample()
	if len(x.Series) != 2 || x.Series[0].Kernel != "add" || x.Series[0].Launches != 2 || x.Series[0].Rank != 1 || x.Series[1].Series != "long" || x.Series[1].Rank != -1 {
		t.Errorf("%+v", x.Series)
	}
	if text := x.ranksText(); !strings.Contains(text, "in 1 of 2 series") || !strings.Contains(text, "v100 dot long -1.00") {
		t.Error(text)
	}
	x.Series = x.Series[:1]
	if text := x.ranksText(); !strings.Contains(text, "in all 1 series") {
		t.Error(text)
	}
}

// TestMeasuredMarkdown holds that every launch has a row below its folder.
func TestMeasuredMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := MeasuredMarkdown(&out, measuredExample()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 measured: error of the cycles", "**v100** on the v100\n", "| `add` | 8x2 | 256 | 100 | 110 | +10.0% |  |  |\n", "| `dot` | 8x2 | 256 | 200 | 110 | -45.0% |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}
