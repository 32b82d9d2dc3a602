package reports

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A SamplingEvaluation holds launches of which a part was timed against the same launches timed whole.
type SamplingEvaluation struct {
	Launches []SampledLaunch `json:"launches"`
	Summary  SamplingSummary `json:"summary"`
	HeldOut  SamplingSummary `json:"held_out"`
}

// A SampledLaunch is a launch that was timed whole and in part.
type SampledLaunch struct {
	Launch       string  `json:"launch"`
	GPU          string  `json:"gpu"`
	Irregular    bool    `json:"irregular,omitempty"` // few lanes of its warps are active
	HeldOut      bool    `json:"held_out,omitempty"`  // no rule may be chosen by it
	Waves        float64 `json:"waves"`               // of as many blocks as the GPU holds
	Instructions int64   `json:"instructions"`        // of warps
	Cycles       int64   `json:"cycles"`
	Timed        float64 `json:"timed"` // share of the blocks
	Error        float64 `json:"error"` // of the cycles, relative
	Bound        float64 `json:"bound"` // that the result names
}

// A SamplingSummary adds launches up.
type SamplingSummary struct {
	Launches  int     `json:"launches"`
	Irregular int     `json:"irregular"`
	Within    float64 `json:"within"` // share whose error is within the bound
	MeanError float64 `json:"mean_error"`
	MaxError  float64 `json:"max_error"`
	MeanBound float64 `json:"mean_bound"`
}

// Sum adds the launches up.
func (x *SamplingEvaluation) Sum() {
	for i := range x.Launches {
		l := &x.Launches[i]
		x.Summary.add(l)
		if l.HeldOut {
			x.HeldOut.add(l)
		}
	}
	x.Summary.divide()
	x.HeldOut.divide()
}

func (s *SamplingSummary) add(l *SampledLaunch) {
	s.Launches++
	s.Irregular += int(indicator(l.Irregular))
	s.Within += indicator(math.Abs(l.Error) <= l.Bound)
	s.MeanError += math.Abs(l.Error)
	s.MaxError = max(s.MaxError, math.Abs(l.Error))
	s.MeanBound += l.Bound
}

func (s *SamplingSummary) divide() {
	n := float64(max(1, s.Launches))
	s.Within, s.MeanError, s.MeanBound = s.Within/n, s.MeanError/n, s.MeanBound/n
}

// SamplingText writes an evaluation as a table.
func SamplingText(w io.Writer, x *SamplingEvaluation, style Style) error {
	table := Table{Style: style, Columns: []Column{{Title: "launch", Width: 40}, {Title: "kind"}, {Title: "waves", Right: true},
		{Title: "instructions", Right: true}, {Title: "cycles", Right: true}, {Title: "timed", Right: true}, {Title: "error", Right: true}, {Title: "bound", Right: true}}}
	for _, l := range x.Launches {
		table.Add(l.Launch, map[bool]string{true: "irregular", false: "regular"}[l.Irregular], fmt.Sprintf("%.1f", l.Waves),
			thousands(l.Instructions), thousands(l.Cycles), percent(l.Timed), fmt.Sprintf("%+.1f%%", 100*l.Error), percent(l.Bound))
	}
	var out strings.Builder
	if err := table.Render(&out); err != nil {
		return err
	}
	x.Summary.text(&out, "launches")
	x.HeldOut.text(&out, "of them held out")
	_, err := io.WriteString(w, out.String())
	return err
}

func (s *SamplingSummary) text(w io.Writer, of string) {
	fmt.Fprintf(w, "\n%d %s, %d irregular: error mean %s, at most %s; %s within their bounds, which are %s in the mean\n",
		s.Launches, of, s.Irregular, percent(s.MeanError), percent(s.MaxError), percent(s.Within), percent(s.MeanBound))
}
