package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"gpa/emu/stall"
	"gpa/profiler"
)

// A RunReport is the JSON of gpa run.
type RunReport struct {
	Launches []LaunchReport `json:"launches"`
	Checks   []Check        `json:"checks"`
}

// A ProfileReport is the JSON of gpa profile and gpa advise.
type ProfileReport struct {
	Launches []ProfiledLaunch `json:"launches"`
	Checks   []Check          `json:"checks"`
	Proof    *Proof           `json:"proof,omitempty"` // of patches, where some were tried
}

// A LaunchReport is what is known of a launch that has run. Zero numbers are unknown and left out.
type LaunchReport struct {
	Kernel             string  `json:"kernel"`
	Arch               string  `json:"arch"` // of the code, as in sm_70
	GPU                string  `json:"gpu,omitempty"`
	Grid               [3]int  `json:"grid"`
	Block              [3]int  `json:"block"`
	WarpInstructions   int64   `json:"warp_instructions,omitempty"`
	ThreadInstructions int64   `json:"thread_instructions,omitempty"`
	Seconds            float64 `json:"seconds,omitempty"`   // host time: standard output only
	Count              int64   `json:"count,omitempty"`     // equal launches in a row that this is one of, where there are several
	NotRun             int     `json:"not_run,omitempty"`   // of these: that began with the same memory as an earlier equal one
	NotTimed           int     `json:"not_timed,omitempty"` // of these: see [profiler.Facts.Alike]
	Fault              *Fault  `json:"fault,omitempty"`
}

// A ProfiledLaunch adds what the samples tell.
type ProfiledLaunch struct {
	LaunchReport
	Cycles         int64           `json:"cycles,omitempty"`
	DeviceSeconds  float64         `json:"device_seconds,omitempty"`
	SamplingPeriod int             `json:"sampling_period,omitempty"` // cycles
	Timing         *Timing         `json:"timing,omitempty"`
	Missing        []string        `json:"missing,omitempty"` // what the source of the samples lacks
	Lines          []LineReport    `json:"lines,omitempty"`   // the most sampled first
	Occupancy      *Occupancy      `json:"occupancy,omitempty"`
	Bandwidth      *Bandwidth      `json:"bandwidth,omitempty"`
	Samples        *SampleReport   `json:"samples,omitempty"`
	Blame          *BlameReport    `json:"blame,omitempty"`
	Limits         []LimitReport   `json:"limits,omitempty"`   // units that are busy nearly all the time
	Advice         []AdviceReport  `json:"advice,omitzero"`    // the best first; absent where nobody looked for any
	Warnings       []WarningReport `json:"warnings,omitempty"` // of synchronisation that may hang
}

// Timing says how the cycles were found.
type Timing struct {
	Level        string  `json:"level"`
	Extrapolated bool    `json:"extrapolated"`
	ErrorBound   float64 `json:"error_bound,omitempty"`  // relative, of the cycles
	TimedBlocks  int     `json:"timed_blocks,omitempty"` // where extrapolated: blocks that the cycles and samples come from
}

// Occupancy is the resident warps of a scheduler and what keeps them from being more.
type Occupancy struct {
	WarpsPerScheduler float64 `json:"warps_per_scheduler"`
	Limit             string  `json:"limit,omitempty"`
}

// A SampleReport adds up the samples of a launch.
type SampleReport struct {
	Total           int64            `json:"total"`
	Active          int64            `json:"active"`
	Latency         int64            `json:"latency"`
	ByReason        map[string]int64 `json:"by_reason"`
	LatencyByReason map[string]int64 `json:"latency_by_reason"`
}

// A LineReport adds up the samples of a source line; of an instruction where its line is unknown. At is the line's most
// sampled instruction.
type LineReport struct {
	At       Location         `json:"at"`
	Samples  int64            `json:"samples"`
	Latency  int64            `json:"latency"`
	ByReason map[string]int64 `json:"by_reason"`
}

// A Fault is how a launch stopped. An address is there only where the fault is about one.
type Fault struct {
	Kind    string   `json:"kind"`
	At      Location `json:"at"`
	Block   [3]int   `json:"block"`
	Thread  [3]int   `json:"thread"`
	Address *uint64  `json:"address,omitempty"`
	Buffer  string   `json:"buffer,omitempty"`
	Message string   `json:"message"`
}

// A Check is the outcome of one expectation about a buffer.
type Check struct {
	Buffer     string    `json:"buffer"`
	OK         bool      `json:"ok"`
	Mismatches int       `json:"mismatches"`
	First      *Mismatch `json:"first,omitempty"`
}

// A Mismatch is an element that is not as expected. Got and Want are a float64, int64 or uint64.
type Mismatch struct {
	Index int `json:"index"`
	Got   any `json:"got"`
	Want  any `json:"want"`
}

// MarshalJSON writes the numbers that JSON has no form for as the strings NaN, +Inf and -Inf.
func (m Mismatch) MarshalJSON() ([]byte, error) {
	type bare Mismatch
	b := bare(m)
	b.Got, b.Want = jsonNumber(m.Got), jsonNumber(m.Want)
	return json.Marshal(b)
}

func jsonNumber(v any) any {
	if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return fmt.Sprintf("%+v", f)
	}
	return v
}

// WriteJSON writes a report with one key a line.
func WriteJSON(w io.Writer, report any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // SASS and C++ names are full of angle brackets
	e.SetIndent("", " ")
	if err := e.Encode(report); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// Run returns the result as gpa run prints it.
func (r *Result) Run() *RunReport {
	report := &RunReport{Launches: make([]LaunchReport, len(r.Profile.Launches)), Checks: r.checks()}
	for i := range r.Profile.Launches {
		report.Launches[i] = r.ran(i)
	}
	return report
}

// Report returns the result as gpa profile and gpa advise print it.
func (r *Result) Report() *ProfileReport {
	report := &ProfileReport{Launches: make([]ProfiledLaunch, len(r.Profile.Launches)), Checks: r.checks()}
	for i := range r.Profile.Launches {
		report.Launches[i] = r.profiled(i)
	}
	return report
}

// checks is an empty list rather than nothing, so that the key is there.
func (r *Result) checks() []Check { return append([]Check{}, r.Checks...) }

func (r *Result) ran(i int) LaunchReport {
	l, found, module := r.launch(i)
	out := LaunchReport{
		Kernel:             KernelName(module, l.Kernel),
		Arch:               archName(module),
		GPU:                l.GPU,
		Grid:               l.Grid,
		Block:              l.Block,
		WarpInstructions:   l.Facts.WarpInstructions,
		ThreadInstructions: l.Facts.ThreadInstructions,
		Seconds:            found.Seconds,
		Fault:              reportFault(module, l.Fault),
		NotRun:             l.Facts.Untimed,
		NotTimed:           l.Facts.Alike,
	}
	if l.Facts.Count() > 1 {
		out.Count = l.Facts.Count()
	}
	return out
}

func (r *Result) profiled(i int) ProfiledLaunch {
	l, found, module := r.launch(i)
	out := ProfiledLaunch{
		LaunchReport:   r.ran(i),
		Cycles:         l.Facts.Cycles,
		DeviceSeconds:  round(l.Facts.Seconds(), 12),
		SamplingPeriod: l.Period,
		Missing:        l.Missing,
		Lines:          reportLines(module, l, found.Blame),
		Bandwidth:      bandwidthOf(l).rounded(),
		Samples:        reportSamples(l),
		Blame:          reportBlame(found.Blame),
		Limits:         reportLimits(found.Limits),
		Advice:         reportAdvice(module, l, found),
		Warnings:       reportWarnings(module, found.Warnings),
	}
	f := &l.Facts
	if f.TimingLevel != "" {
		out.Timing = &Timing{Level: f.TimingLevel, Extrapolated: f.Extrapolated, ErrorBound: round(f.ErrorBound, 6), TimedBlocks: f.TimedBlocks}
	}
	if f.WarpsPerScheduler > 0 {
		out.Occupancy = &Occupancy{WarpsPerScheduler: round(f.WarpsPerScheduler, 6), Limit: f.OccupancyLimit}
	}
	return out
}

func reportSamples(l *profiler.Launch) *SampleReport {
	if len(l.Samples) == 0 && l.Period == 0 {
		return nil
	}
	t := l.Totals()
	return &SampleReport{
		Total: t.Samples, Active: t.Active, Latency: t.Latency,
		ByReason: byReason(&t.ByReason), LatencyByReason: byReason(&t.LatencyByReason),
	}
}

// byReason names the reasons that have samples.
func byReason(counts *[stall.NumReasons]int64) map[string]int64 {
	named := make(map[string]int64)
	for r, n := range counts {
		if n != 0 {
			named[stall.Reason(r).String()] = n
		}
	}
	return named
}

// round keeps the given number of decimals, so that sums of shares do not end in arithmetic noise.
func round(x float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(x*scale) / scale
}
