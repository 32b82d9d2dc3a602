package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gpa/cubin"
	"gpa/emu/stall"
	"gpa/profiler"
)

// A MeasuredEvaluation holds emulated launches against what was measured of them on real GPUs.
type MeasuredEvaluation struct {
	Launches []MeasuredLaunch `json:"launches"`
	Series   []MeasuredSeries `json:"series,omitempty"`
	Summary  MeasuredSummary  `json:"summary"`
}

// A MeasuredLaunch is a launch that was measured and emulated.
type MeasuredLaunch struct {
	Name     string  `json:"name"` // the folder
	Kernel   string  `json:"kernel"`
	Series   string  `json:"series,omitempty"` // what tells launches of one kernel apart beside its sizes
	Launch   int     `json:"launch"`
	Grid     [3]int  `json:"grid"`
	Block    [3]int  `json:"block"`
	GPU      string  `json:"gpu"`
	Measured float64 `json:"measured"` // cycles
	Emulated float64 `json:"emulated"` // cycles
	Error    float64 `json:"error"`    // |emulated - measured| / measured
	Source   string  `json:"source,omitempty"`
	// What follows is known of launches with samples.
	Samples       int64    `json:"samples,omitempty"`        // measured
	StallDistance *float64 `json:"stall_distance,omitempty"` // total variation of the shares of the stall reasons
	HotPCs        *int     `json:"hot_pcs,omitempty"`        // of the five hottest measured instructions, those among the five hottest emulated
	SameCounts    *bool    `json:"same_counts,omitempty"`    // every instruction was executed as often
	Stalls        []Stalls `json:"stalls,omitempty"`         // the most measured first
	// Traffic is what memory moved, where that was measured.
	Traffic *MeasuredTraffic `json:"traffic,omitempty"`
}

// Stalls are the shares of a launch's samples that have a stall reason, as measured and as emulated.
type Stalls struct {
	Reason   string  `json:"reason"`
	Measured float64 `json:"measured"`
	Emulated float64 `json:"emulated"`
}

// A MeasuredSummary adds launches up.
type MeasuredSummary struct {
	Launches      int             `json:"launches"`
	MeanError     float64         `json:"mean_error"`
	MaxError      float64         `json:"max_error"`
	Correlation   float64         `json:"correlation"`              // of the logarithms of the cycles
	StallDistance *float64        `json:"stall_distance,omitempty"` // mean of the launches with at least EnoughSamples
	Traffic       *TrafficSummary `json:"traffic,omitempty"`
}

// EnoughSamples is from how many samples on the shares of a launch's stall reasons count in the summary: those of fewer are noise.
const EnoughSamples = 900

// hottest is how many instructions of a launch are compared.
const hottest = 5

// EvaluateMeasured holds an emulated launch against its measured profile. Both are of kernels of module. Cycles are those in which an
// SM was active, on average: what else a measurement has is of the launch, not of the kernel.
func EvaluateMeasured(module *cubin.File, measured, emulated *profiler.Launch) MeasuredLaunch {
	x := MeasuredCycles(module, emulated, activeCycles(measured), activeCycles(emulated))
	if x.Samples = measured.Totals().Samples; x.Samples > 0 && len(emulated.Samples) > 0 {
		distance := stallDistance(measured.Totals(), emulated.Totals())
		common := commonPCs(hottestPCs(measured), hottestPCs(emulated))
		x.StallDistance, x.HotPCs = &distance, &common
		x.Stalls = stallShares(measured.Totals(), emulated.Totals())
	}
	if len(measured.PCs) > 0 {
		same := sameCounts(measured, emulated)
		x.SameCounts = &same
	}
	x.Traffic = trafficOf(&measured.Facts, &emulated.Facts)
	return x
}

// MeasuredCycles holds an emulated launch against a number of cycles.
func MeasuredCycles(module *cubin.File, emulated *profiler.Launch, measuredCycles, emulatedCycles float64) MeasuredLaunch {
	return MeasuredLaunch{Kernel: KernelName(module, emulated.Kernel), Grid: emulated.Grid, Block: emulated.Block, GPU: emulated.GPU, Measured: round(measuredCycles, 1), Emulated: round(emulatedCycles, 1),
		Error: round(math.Abs(emulatedCycles-measuredCycles)/max(1, measuredCycles), 6)}
}

// activeCycles are the cycles in which an SM was active, on average.
func activeCycles(l *profiler.Launch) float64 {
	return float64(l.Facts.SMActiveCycles) / float64(max(1, l.Facts.SMs))
}

// stallDistance is half the sum of the differences of the reasons' shares: 0 for the same mix, 1 for mixes with nothing in common.
func stallDistance(x, y profiler.Totals) float64 {
	sum := 0.0
	for r := range stall.NumReasons {
		sum += math.Abs(float64(x.ByReason[r])/float64(x.Samples) - float64(y.ByReason[r])/float64(y.Samples))
	}
	return round(sum/2, 6)
}

// stallShares returns the shares of the reasons that either has.
func stallShares(x, y profiler.Totals) []Stalls {
	var list []Stalls
	for r := range stall.NumReasons {
		if x.ByReason[r]+y.ByReason[r] > 0 {
			list = append(list, Stalls{r.String(), round(float64(x.ByReason[r])/float64(x.Samples), 6), round(float64(y.ByReason[r])/float64(y.Samples), 6)})
		}
	}
	slices.SortStableFunc(list, func(a, b Stalls) int { return cmp.Compare(b.Measured, a.Measured) })
	return list
}

// hottestPCs returns the instructions with most samples.
func hottestPCs(l *profiler.Launch) []place {
	samples := make(map[place]int64)
	for i := range l.Samples {
		s := &l.Samples[i]
		samples[place{s.Code, s.PC}] += s.Count
	}
	var list []place
	for at := range samples {
		list = append(list, at)
	}
	slices.SortFunc(list, func(x, y place) int {
		return cmp.Or(cmp.Compare(samples[y], samples[x]), cmp.Compare(x.code, y.code), cmp.Compare(x.pc, y.pc))
	})
	return list[:min(hottest, len(list))]
}

func commonPCs(x, y []place) int {
	n := 0
	for _, at := range x {
		if slices.Contains(y, at) {
			n++
		}
	}
	return n
}

// sameCounts says whether every instruction was executed as often, by warps and by threads.
func sameCounts(x, y *profiler.Launch) bool {
	return slices.EqualFunc(executed(x), executed(y), func(a, b profiler.Counter) bool {
		return a.Code == b.Code && a.PC == b.PC && a.Executions == b.Executions && a.ThreadExecutions == b.ThreadExecutions
	})
}

// executed returns the counters of the instructions that were executed at all.
func executed(l *profiler.Launch) []profiler.Counter {
	return slices.DeleteFunc(slices.Clone(l.PCs), func(c profiler.Counter) bool { return c.Executions == 0 })
}

// Sum adds the launches up.
func (x *MeasuredEvaluation) Sum() {
	s := MeasuredSummary{Launches: len(x.Launches)}
	mixes, distance := 0, 0.0
	for i := range x.Launches {
		l := &x.Launches[i]
		s.MeanError += l.Error / float64(len(x.Launches))
		s.MaxError = max(s.MaxError, l.Error)
		if l.StallDistance != nil && l.Samples >= EnoughSamples {
			mixes++
			distance += *l.StallDistance
		}
	}
	if s.MeanError = round(s.MeanError, 6); mixes > 0 {
		distance = round(distance/float64(mixes), 6)
		s.StallDistance = &distance
	}
	s.Correlation, s.Traffic = logCorrelation(x.Launches), sumTraffic(x.Launches)
	x.Series, x.Summary = seriesOf(x.Launches), s
}

// MeasuredText writes the evaluation as a table.
func MeasuredText(w io.Writer, x *MeasuredEvaluation, style Style) error {
	t := &Table{Style: style, Columns: []Column{{Title: "measured", Wrap: true}, {Title: "kernel", Width: 30}, {Title: "gpu"}, {Title: "cycles", Right: true}, {Title: "emulated", Right: true},
		{Title: "error", Right: true}, {Title: "samples", Right: true}, {Title: "stall distance", Right: true}, {Title: "hot pcs", Right: true}, {Title: "executions"}}}
	for i := range x.Launches {
		l := &x.Launches[i]
		row := []string{l.Name, l.Kernel, l.GPU, thousands(int64(l.Measured)), thousands(int64(l.Emulated)), percent(l.Error)}
		if l.StallDistance != nil {
			row = append(row, thousands(l.Samples), strconv.FormatFloat(*l.StallDistance, 'f', 2, 64), fmt.Sprintf("%d of %d", *l.HotPCs, hottest))
		}
		if l.SameCounts != nil {
			row = append(row, map[bool]string{true: "equal", false: "DIFFER"}[*l.SameCounts])
		}
		t.Add(row...)
	}
	if err := t.Render(w); err != nil {
		return err
	}
	if err := trafficText(w, x, style); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", x.summaryText())
	return err
}

// summaryText tells the summary, and in which series the sizes are not in their order.
func (x *MeasuredEvaluation) summaryText() string {
	s := &x.Summary
	text := fmt.Sprintf("%d measured: error of the cycles %s on average, at most %s", s.Launches, percent(s.MeanError), percent(s.MaxError))
	if s.Launches > 1 { // one alone is in no order
		text += fmt.Sprintf("; correlation of their logarithms %.3f", s.Correlation)
	}
	if s.StallDistance != nil {
		text += fmt.Sprintf("; stall distance %.2f on average where there are %d samples", *s.StallDistance, EnoughSamples)
	}
	if s.Traffic != nil {
		text += "\n" + s.Traffic.text()
	}
	if ranks := x.ranksText(); ranks != "" {
		text += "\n" + ranks
	}
	return text
}
