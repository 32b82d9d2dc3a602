package advisor

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
)

// How far estimates are off is counted: what-if runs of the advice on the kernels of this project say which power of its estimate each
// optimizer's change has brought. calibration.tsv has, by optimizer, between which powers nine runs in ten lie; gpa evaluate --calibrate
// writes it.

// A Calibration says between which powers of an optimizer's estimates its changes come out, in 90 of 100 what-if runs.
type Calibration struct {
	Optimizer string // "" for all together
	Pieces    int    // of advice, that it is counted from
	Low, High float64
}

// A TriedEstimate is an estimate and what a what-if run has brought.
type TriedEstimate struct {
	Optimizer        string
	Estimated, Tried float64
}

// leastPieces is how many pieces of advice give quantiles of their own: of 20 one lies outside on each side.
const leastPieces = 20

// leastEstimate is the least estimate that says something of the next: of less the rest is rounding.
const leastEstimate = 1.05

// Calibrate counts how estimates come out, by optimizer where there are enough of one, and of all together.
func Calibrate(list []TriedEstimate) []Calibration {
	powers := make(map[string][]float64)
	for _, p := range list {
		if p.Estimated >= leastEstimate && p.Tried > 0 {
			power := math.Log(p.Tried) / math.Log(p.Estimated)
			powers[p.Optimizer] = append(powers[p.Optimizer], power)
			powers[""] = append(powers[""], power)
		}
	}
	var out []Calibration
	for _, o := range sortedNames(powers) {
		if p := powers[o]; o == "" || len(p) >= leastPieces {
			slices.Sort(p)
			out = append(out, Calibration{o, len(p), quantile(p, .05), quantile(p, .95)})
		}
	}
	return out
}

func sortedNames(m map[string][]float64) (names []string) {
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// quantile is that of sorted values, between the two nearest.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// WriteCalibration writes what [Calibrate] has counted, as calibration.tsv holds it.
func WriteCalibration(w io.Writer, list []Calibration) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# optimizer (all for all), pieces of advice, and between which powers of the estimate 90 % of the what-if runs lie")
	for _, c := range list {
		name := c.Optimizer
		if name == "" {
			name = "all"
		}
		fmt.Fprintf(b, "%s\t%d\t%.2f\t%.2f\n", name, c.Pieces, c.Low, c.High)
	}
	return b.Flush()
}

//go:embed calibration.tsv
var calibrationTable string

// calibrations reads the table.
var calibrations = sync.OnceValue(func() map[string]Calibration {
	m := make(map[string]Calibration)
	for line := range strings.Lines(calibrationTable) {
		var c Calibration
		if n, _ := fmt.Sscanf(line, "%s %d %g %g", &c.Optimizer, &c.Pieces, &c.Low, &c.High); n == 4 {
			m[c.Optimizer] = c
		}
	}
	return m
})

// spread is how much wider the powers of kernels lie that the table was not counted from: with 1 only 81 of 100 pieces of advice on
// kernels that others wrote came out between the table's, with 1.25 of the half that this was chosen by 93, of the other 89 (docs/advice.md).
const spread = 1.25

// calibrated is where nine in ten what-if runs of such an estimate come out.
func calibrated(optimizer string, estimate float64) [2]float64 {
	c, ok := calibrations()[optimizer]
	if !ok {
		c = calibrations()["all"]
	}
	return [2]float64{math.Pow(estimate, 1-spread*(1-c.Low)), math.Pow(estimate, 1+spread*(c.High-1))}
}
