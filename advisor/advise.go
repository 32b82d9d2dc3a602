package advisor

import (
	"cmp"
	"errors"
	"slices"

	"gpa/blamer"
)

// minSpeedup is the least estimate that is worth listing.
const minSpeedup = 1.01

// maxScopes is the number of scopes that are listed for one optimizer, the best first, as in the paper's tool.
const maxScopes = 5

// Options choose what is looked for. The zero value is the default.
type Options struct {
	Optimizers []Optimizer // nil for all of Optimizers
	Top        int         // number of pieces of advice, 0 for all
}

// Advise matches every optimizer with the blamed stalls of a launch and returns what is worth doing, the best estimate
// first. Advice that would bring less than 1.01 times is not listed.
func Advise(r *blamer.Result, opt Options) ([]Advice, error) {
	if r == nil || r.Launch == nil || r.Module == nil || r.Model == nil {
		return nil, errors.New("advising: the blame of a launch is missing")
	}
	in := NewInput(r)
	optimizers := opt.Optimizers
	if optimizers == nil {
		optimizers = Optimizers()
	}
	var advice []Advice
	for _, o := range optimizers {
		advice = append(advice, adviseOne(in, o)...)
	}
	rank(advice)
	markOverlaps(advice)
	if opt.Top > 0 && len(advice) > opt.Top {
		advice = advice[:opt.Top]
	}
	for i := range advice {
		m := advice[i].Match
		m.Hotspots = m.Hotspots[:min(maxHotspots, len(m.Hotspots))]
	}
	return advice, nil
}

// adviseOne estimates the matches of one optimizer.
func adviseOne(in *Input, o Optimizer) []Advice {
	var advice []Advice
	for _, m := range o.Match(in) {
		a := Advice{Optimizer: o.Name(), Class: o.Class(), Match: m, Speedup: estimate(in, o.Class(), m)}
		if a.Speedup >= minSpeedup {
			advice = append(advice, a)
		}
	}
	rank(advice)
	return advice[:min(maxScopes, len(advice))]
}

// estimate applies the estimator of a class. Whatever an optimizer claims itself, gone stalls bring no more than
// Equation 2.
func estimate(in *Input, c Class, m *Match) float64 {
	switch c {
	case StallElimination:
		return EliminateStalls(in.Total, m.Samples)
	case LatencyHiding:
		return HideLatency(in.Total, m.Active, m.Latency)
	}
	return max(1, m.Speedup)
}

// rank sorts by estimate, then by matched samples, name and place, so that the order never depends on anything else.
func rank(advice []Advice) {
	slices.SortStableFunc(advice, func(x, y Advice) int {
		return cmp.Or(
			cmp.Compare(y.Speedup, x.Speedup),
			cmp.Compare(y.Match.Samples, x.Match.Samples),
			cmp.Compare(x.Optimizer, y.Optimizer),
		)
	})
}

// markOverlaps tells for each advice which other optimizers count most of the same samples.
func markOverlaps(advice []Advice) {
	for i := range advice {
		for j := range advice {
			if i == j || advice[i].Optimizer == advice[j].Optimizer || slices.Contains(advice[i].Overlaps, advice[j].Optimizer) {
				continue
			}
			if shared(advice[i].Match, advice[j].Match) > 0.5*advice[i].Match.Samples {
				advice[i].Overlaps = append(advice[i].Overlaps, advice[j].Optimizer)
			}
		}
	}
}

// shared returns the samples that both matches count.
func shared(x, y *Match) float64 {
	type pair struct{ def, use blamer.Node }
	in := map[pair]float64{}
	for _, h := range x.Hotspots {
		in[pair{h.Def, h.Use}] = h.Samples
	}
	sum := 0.0
	for _, h := range y.Hotspots {
		sum += min(h.Samples, in[pair{h.Def, h.Use}])
	}
	return sum
}
