package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gpa/advisor"
	"gpa/emu/stall"
)

// A Comparison tells what a change to kernels has brought.
type Comparison struct {
	Pairs []Pair `json:"pairs"`
}

// A Pair is a kernel before and after a change. Equal launches are added up.
type Pair struct {
	Before       Side    `json:"before"`
	After        Side    `json:"after"`
	Speedup      float64 `json:"speedup,omitempty"`       // cycles before over cycles after
	OutputsEqual *bool   `json:"outputs_equal,omitempty"` // absent where they are not known
	// Optimizer is the advice on the kernel before that the change is taken to follow, with what it promised. Error is
	// |predicted - speedup| / speedup.
	Optimizer string      `json:"optimizer,omitempty"`
	Predicted float64     `json:"predicted_speedup,omitempty"`
	Error     *float64    `json:"error,omitempty"`
	Reasons   []Change    `json:"stalls,omitempty"` // by stall reason, the largest change first
	Lines     []LineDelta `json:"lines,omitempty"`  // by source line, the largest change first

	kernels [2]*kernelSummary // before and after
}

// Wrong says what is wrong with a pair where speedups below a limit are; "" for nothing.
func (p *Pair) Wrong(minSpeedup float64) string {
	switch {
	case p.OutputsEqual != nil && !*p.OutputsEqual:
		return "outputs differ"
	case p.Speedup < minSpeedup:
		return fmt.Sprintf("speedup %.3f is below %g", p.Speedup, minSpeedup)
	}
	return ""
}

// A Side is one side of a pair.
type Side struct {
	Kernel           string `json:"kernel"`
	Launches         int    `json:"launches"`
	Cycles           int64  `json:"cycles"`
	WarpInstructions int64  `json:"warp_instructions"`
}

// A Change is how the samples of a stall reason have changed. Samples are those of the period before.
type Change struct {
	Reason string  `json:"reason"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// A LineDelta is a source line whose samples have changed. A line that was added or removed has one side.
type LineDelta struct {
	Before *Location `json:"before,omitempty"`
	After  *Location `json:"after,omitempty"`
	Delta  float64   `json:"delta"` // samples of the period before; negative where there are fewer now
}

// CompareOptions say how two results are compared. The zero value is the default.
type CompareOptions struct {
	Optimizer string // the advice that was followed; "" for the best of which most stalls have gone
	// BeforeSource and AfterSource return the text of source files, as in TextOptions.
	BeforeSource, AfterSource func(file string) []byte
	Style                     Style // of the text
}

// Compare compares the kernels of two results: those of the same name, and the others in their order where both sides have
// equally many. One kernel that has become several, or several that have become one, are compared as a whole. It fails where no
// kernel has a counterpart.
func Compare(before, after *Result, o CompareOptions) (*Comparison, error) {
	list, others := before.kernels(), after.kernels()
	var pairs [][2]*kernelSummary
	rest := func(list []*kernelSummary, others []*kernelSummary) []*kernelSummary {
		return slices.DeleteFunc(slices.Clone(list), func(k *kernelSummary) bool {
			return slices.ContainsFunc(others, func(x *kernelSummary) bool { return x.name == k.name })
		})
	}
	for _, k := range list {
		for _, x := range others {
			if x.name == k.name {
				pairs = append(pairs, [2]*kernelSummary{k, x})
			}
		}
	}
	switch gone, come := rest(list, others), rest(others, list); {
	case len(gone) == len(come):
		for i := range gone {
			pairs = append(pairs, [2]*kernelSummary{gone[i], come[i]})
		}
	case len(gone) == 1 && len(come) > 1:
		pairs = append(pairs, [2]*kernelSummary{gone[0], together(come)})
	case len(gone) > 1 && len(come) == 1:
		pairs = append(pairs, [2]*kernelSummary{together(gone), come[0]})
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("no kernel of the one side has a counterpart on the other")
	}
	c := &Comparison{}
	for _, p := range pairs {
		c.Pairs = append(c.Pairs, comparePair(before, after, p[0], p[1], o))
	}
	return c, nil
}

// comparePair compares one kernel.
func comparePair(before, after *Result, b, a *kernelSummary, o CompareOptions) Pair {
	p := Pair{Before: before.side(b), After: after.side(a), kernels: [2]*kernelSummary{b, a}}
	if p.After.Cycles > 0 {
		p.Speedup = float64(p.Before.Cycles) / float64(p.After.Cycles)
	}
	period := before.Profile.Launches[b.shown].Period
	p.Reasons = compareReasons(before.cyclesByReason(b), after.cyclesByReason(a), period)
	p.Lines = compareLines(before.lineCycles(b), after.lineCycles(a), period, o)
	if advice := followed(before, after, b, a, o.Optimizer); advice != nil {
		p.Optimizer, p.Predicted = advice.Optimizer, advice.Speedup
		if p.Speedup > 0 {
			e := math.Abs(p.Predicted-p.Speedup) / p.Speedup
			p.Error = &e
		}
	}
	return p
}

// side adds up the launches of a kernel.
func (r *Result) side(k *kernelSummary) Side {
	s := Side{Kernel: k.name, Launches: k.launches, Cycles: k.cycles}
	for _, i := range r.launchesOf(k) {
		f := &r.Profile.Launches[i].Facts
		s.WarpInstructions += f.Count() * f.WarpInstructions
	}
	return s
}

// launchesOf returns the launches of a kernel.
func (r *Result) launchesOf(k *kernelSummary) []int {
	if k.parts != nil {
		var list []int
		for _, part := range k.parts {
			list = append(list, r.launchesOf(part)...)
		}
		return list
	}
	shown := r.Profile.Launches[k.shown]
	var list []int
	for i, l := range r.Profile.Launches {
		if l.Module == shown.Module && l.Kernel == shown.Kernel {
			list = append(list, i)
		}
	}
	return list
}

// cyclesByReason returns samples times period.
func (r *Result) cyclesByReason(k *kernelSummary) (cycles [stall.NumReasons]float64) {
	for _, i := range r.launchesOf(k) {
		l := r.Profile.Launches[i]
		for _, s := range l.Samples {
			if s.Reason < stall.NumReasons {
				cycles[s.Reason] += float64(l.Facts.Count()) * float64(s.Count) * float64(l.Period)
			}
		}
	}
	return cycles
}

// compareReasons lists the stall reasons that have samples on either side.
func compareReasons(before, after [stall.NumReasons]float64, period int) []Change {
	var list []Change
	for r := range stall.NumReasons {
		if before[r] > 0 || after[r] > 0 {
			list = append(list, Change{Reason: r.String(), Before: inSamples(before[r], period), After: inSamples(after[r], period)})
		}
	}
	slices.SortStableFunc(list, func(x, y Change) int {
		return cmp.Compare(math.Abs(y.After-y.Before), math.Abs(x.After-x.Before))
	})
	return list
}

// inSamples is a number of cycles as samples of a period, to a tenth.
func inSamples(cycles float64, period int) float64 {
	return math.Round(10*cycles/float64(max(1, period))) / 10
}

// followed returns the advice that a change is taken to follow: the named one, else the best of which more than half of the
// matched samples have gone. It is nil where there is none.
func followed(before, after *Result, b, a *kernelSummary, name string) *advisor.Advice {
	_, was, _ := before.launch(b.shown)
	_, is, _ := after.launch(a.shown)
	left := func(optimizer string) float64 {
		sum := 0.0
		for i := range is.Advice {
			if is.Advice[i].Optimizer == optimizer {
				sum += is.Advice[i].Match.Samples * float64(after.Profile.Launches[a.shown].Period)
			}
		}
		return sum
	}
	var best *advisor.Advice
	for i := range was.Advice {
		advice := &was.Advice[i]
		samples := advice.Match.Samples * float64(before.Profile.Launches[b.shown].Period)
		gone := left(advice.Optimizer) < samples/2
		if advice.Class == advisor.Parallel { // it counts all samples, of which more SMs give more
			gone = promised(is.Advice, advice.Optimizer) < (advice.Speedup-1)/2
		}
		switch {
		case name != "" && advice.Optimizer == name:
			return advice
		case name == "" && best == nil && gone: // the best come first
			best = advice
		}
	}
	return best
}

// promised is what an optimizer promises over 1.
func promised(list []advisor.Advice, optimizer string) float64 {
	_, a := rankOf(list, optimizer)
	if a == nil {
		return 0
	}
	return a.Speedup - 1
}
