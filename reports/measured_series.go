package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A MeasuredSeries is what was measured of one kernel on one GPU at several sizes.
type MeasuredSeries struct {
	Name     string `json:"name"` // the folder
	Kernel   string `json:"kernel"`
	GPU      string `json:"gpu"`
	Series   string `json:"series,omitempty"`
	Launches int    `json:"launches"`
	// Rank is Spearman's rank correlation of measured and emulated cycles: 1 where the model puts all sizes in their order.
	Rank float64 `json:"rank_correlation"`
}

// seriesKey tells series apart: blocks of another shape are another kernel for the machine.
type seriesKey struct {
	name, kernel, gpu, series string
	block                     [3]int
}

// seriesOf gathers the series of at least two launches, in the order in which they begin.
func seriesOf(launches []MeasuredLaunch) []MeasuredSeries {
	members := make(map[seriesKey][]*MeasuredLaunch)
	var keys []seriesKey
	for i := range launches {
		l := &launches[i]
		key := seriesKey{l.Name, l.Kernel, l.GPU, l.Series, l.Block}
		if members[key] == nil {
			keys = append(keys, key)
		}
		members[key] = append(members[key], l)
	}
	var list []MeasuredSeries
	for _, key := range keys {
		if m := members[key]; len(m) > 1 {
			list = append(list, MeasuredSeries{key.name, key.kernel, key.gpu, key.series, len(m), rankCorrelation(cyclesOf(m))})
		}
	}
	return list
}

// cyclesOf returns the measured and the emulated cycles.
func cyclesOf(launches []*MeasuredLaunch) (measured, emulated []float64) {
	for _, l := range launches {
		measured, emulated = append(measured, l.Measured), append(emulated, l.Emulated)
	}
	return measured, emulated
}

// rankCorrelation is Spearman's: the correlation of the ranks, equal values having the mean of theirs.
func rankCorrelation(x, y []float64) float64 { return correlation(ranks(x), ranks(y)) }

// ranks returns the rank of each value.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	list := make([]float64, len(values))
	for begin := 0; begin < len(order); {
		end := begin + 1
		for end < len(order) && values[order[end]] == values[order[begin]] {
			end++
		}
		for _, i := range order[begin:end] {
			list[i] = float64(begin+end-1) / 2
		}
		begin = end
	}
	return list
}

// correlation is Pearson's, 0 where one side does not vary.
func correlation(x, y []float64) float64 {
	mx, my := mean(x), mean(y)
	var xy, xx, yy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xy, xx, yy = xy+dx*dy, xx+dx*dx, yy+dy*dy
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return round(xy/math.Sqrt(xx*yy), 6)
}

func mean(values []float64) (m float64) {
	for _, v := range values {
		m += v / float64(len(values))
	}
	return m
}

// logCorrelation is the correlation of the logarithms of measured and emulated cycles: small launches count as large ones do.
func logCorrelation(launches []MeasuredLaunch) float64 {
	var x, y []float64
	for i := range launches {
		x, y = append(x, math.Log(max(launches[i].Measured, 1))), append(y, math.Log(max(launches[i].Emulated, 1)))
	}
	return correlation(x, y)
}

// ranksText tells the series, naming those that are out of order.
func (x *MeasuredEvaluation) ranksText() string {
	var out []string
	for _, s := range x.Series {
		if s.Rank < 1 {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Name, s.Kernel, s.Series))+" "+strconv.FormatFloat(s.Rank, 'f', 2, 64))
		}
	}
	switch {
	case len(x.Series) == 0:
		return ""
	case len(out) == 0:
		return fmt.Sprintf("the sizes of one kernel are in their order in all %d series", len(x.Series))
	}
	return fmt.Sprintf("the sizes of one kernel are in their order in %d of %d series; rank correlation of the others: %s",
		len(x.Series)-len(out), len(x.Series), strings.Join(out, ", "))
}
