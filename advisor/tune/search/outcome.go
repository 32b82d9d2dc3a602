package search

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Status is how a variant ended.
type Status string

// How variants end. All but OK are disqualified.
const (
	OK       Status = "ok"
	Wrong    Status = "wrong"    // its outputs are not as expected
	Fault    Status = "fault"    // the kernel stopped
	Refused  Status = "refused"  // it does not compile, or cannot be launched
	Stopped  Status = "stopped"  // it took longer than the multiple of the best at which runs end
	Poison   Status = "poison"   // its process ended again and again without a result
	Canceled Status = "canceled" // before it ended
)

// Known reports whether there is a status of that name.
func Known(s Status) bool {
	return slices.Contains([]Status{OK, Wrong, Fault, Refused, Stopped, Poison, Canceled}, s)
}

// An Outcome is what is known of a variant that has run.
type Outcome struct {
	Status    Status             `json:"status"`
	Objective float64            `json:"objective,omitempty"` // less is better only where the goal is min
	Cycles    int64              `json:"cycles,omitempty"`    // of all launches
	Stalls    map[string]float64 `json:"stalls,omitempty"`    // by reason, the cycles that its share of the samples stands for
	Advice    []Advised          `json:"advice,omitempty"`    // of the costliest launch, the best first
	Lines     []Line             `json:"lines,omitempty"`     // of the source where its cycles go, the costliest first; where it faulted, that one
	Why       string             `json:"why,omitempty"`       // where it is not OK
}

// Advised is a piece of advice with the speedup that was tried, or else estimated.
type Advised struct {
	Optimizer string  `json:"optimizer"`
	Speedup   float64 `json:"speedup"`
}

// A Line is a line of the source.
type Line struct {
	File   string  `json:"file"`
	Line   int     `json:"line"`
	Cycles float64 `json:"cycles,omitempty"` // that its share of the samples stands for
}

// launchReport is what is read of a launch in a JSON report.
type launchReport struct {
	Kernel string
	Cycles int64
	Count  int64
	Fault  *struct {
		Kind, Message string
		At            place
	}
	Lines []struct {
		At      place
		Samples int64
	}
	Sample *struct {
		Total    int64
		ByReason map[string]int64 `json:"by_reason"`
	} `json:"samples"`
	Advice []struct {
		Optimizer string
		Estimated float64 `json:"estimated_speedup"`
		Tried     float64 `json:"tried_speedup"`
	}
}

// place is what is read of a location in a JSON report.
type place struct {
	File string
	Line int
}

// ReadReport takes from a JSON report of gpa profile what a sweep needs. An objective is the path of a figure in a launch, as cycles or
// samples.by_reason.barrier, which is added up over all launches, or of one launch, as launches[1].occupancy.warps_per_scheduler.
func ReadReport(data []byte, objective string, check bool) (*Outcome, error) {
	var report struct {
		Launches []launchReport
		Checks   []struct {
			Buffer     string
			OK         bool
			Mismatches int
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("the report cannot be read: %w", err)
	}
	o := &Outcome{Status: OK, Stalls: make(map[string]float64)}
	longest := int64(-1)
	lines := make(map[place]float64)
	for i := range report.Launches {
		l := &report.Launches[i]
		if l.Fault != nil {
			o.Status, o.Why = Fault, l.Kernel+": "+l.Fault.Kind
			o.Lines = costliest(map[place]float64{l.Fault.At: 0})
			return o, nil
		}
		cycles := l.Cycles * max(1, l.Count)
		o.Cycles += cycles
		if l.Sample != nil && l.Sample.Total > 0 {
			for reason, n := range l.Sample.ByReason {
				o.Stalls[reason] += float64(cycles) * float64(n) / float64(l.Sample.Total)
			}
			for _, line := range l.Lines {
				lines[line.At] += float64(cycles) * float64(line.Samples) / float64(l.Sample.Total)
			}
		}
		if cycles > longest {
			longest, o.Advice = cycles, nil
			for _, a := range l.Advice {
				speedup := a.Tried
				if speedup == 0 {
					speedup = a.Estimated
				}
				o.Advice = append(o.Advice, Advised{a.Optimizer, speedup})
			}
		}
	}
	o.Lines = costliest(lines)
	for _, c := range report.Checks {
		if check && !c.OK {
			o.Status, o.Why = Wrong, fmt.Sprintf("%d elements of %s are not as expected", c.Mismatches, c.Buffer)
			return o, nil
		}
	}
	var err error
	o.Objective, err = figure(data, objective)
	return o, err
}

// NoTry is the value of the axis try that is the code as it is.
const NoTry = "none"

// Suppose makes of the outcome of a variant that of the same with the advice of an optimizer followed, as far as its report says what trying it has brought: in
// cycles alone, as what stalls then nobody knows. A variant without that advice, or where it could not be tried, is refused.
func (o *Outcome) Suppose(data []byte, optimizer string) (*Outcome, error) {
	if o.Status != OK || optimizer == NoTry {
		return o, nil
	}
	var report struct{ Launches []launchReport }
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, fmt.Errorf("the report cannot be read: %w", err)
	}
	cycles, tried := 0.0, false
	for i := range report.Launches {
		l := &report.Launches[i]
		speedup := 1.0
		for _, a := range l.Advice {
			if a.Optimizer == optimizer && a.Tried > 0 {
				speedup, tried = a.Tried, true
				break
			}
		}
		cycles += float64(l.Cycles*max(1, l.Count)) / speedup
	}
	if !tried {
		return &Outcome{Status: Refused, Why: "there is no advice " + optimizer + " that was tried"}, nil
	}
	return &Outcome{Status: OK, Objective: cycles, Cycles: int64(math.Round(cycles))}, nil
}

// linesKept is how many lines of the source an outcome has.
const linesKept = 5

// costliest lists the lines with the most cycles.
func costliest(cycles map[place]float64) (list []Line) {
	for at, n := range cycles {
		if at.File != "" && at.Line > 0 {
			list = append(list, Line{at.File, at.Line, n})
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list[:min(len(list), linesKept)]
}

var oneLaunch = regexp.MustCompile(`^launches\[(\d+)\]\.(.+)$`)

// figure finds a number in a report.
func figure(data []byte, path string) (float64, error) {
	var report struct{ Launches []map[string]any }
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&report); err != nil {
		return 0, err
	}
	if m := oneLaunch.FindStringSubmatch(path); m != nil {
		i, err := strconv.Atoi(m[1])
		if err != nil || i >= len(report.Launches) {
			return 0, fmt.Errorf("objective: the report has %d launches, not one of number %s", len(report.Launches), m[1])
		}
		return member(report.Launches[i], m[2])
	}
	sum := 0.0
	for _, l := range report.Launches {
		v, err := member(l, path)
		if err != nil {
			return 0, err
		}
		if n, ok := l["count"].(float64); ok {
			v *= n
		}
		sum += v
	}
	if len(report.Launches) == 0 {
		return 0, fmt.Errorf("objective: the report has no launches")
	}
	return sum, nil
}

func member(object map[string]any, path string) (float64, error) {
	names := strings.Split(path, ".")
	var at any = object
	for i, name := range names {
		m, ok := at.(map[string]any)
		if at = m[name]; !ok || at == nil {
			if ok && i == len(names)-1 && i > 0 && strings.HasPrefix(names[i-1], "by_") {
				return 0, nil // a reason that no sample has
			}
			return 0, fmt.Errorf("objective: the report of a launch has no %s", path)
		}
	}
	v, ok := at.(float64)
	if !ok {
		return 0, fmt.Errorf("objective: %s is not a number", path)
	}
	return v, nil
}
