package advisor

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/emu/stall"
	"gpa/profiler"
)

// minSpeedup is the least estimate that is worth a what-if run.
const minSpeedup = 1.01

// maxScopes is the number of scopes that are listed for one optimizer, the best first, as in the paper's tool.
const maxScopes = 5

// Options choose what is looked for. The zero value is the default.
type Options struct {
	Optimizers []Optimizer    // nil for all of Optimizers
	Top        int            // number of pieces of advice, 0 for all
	Tries      []profiler.Try // what-if runs of the launch
	// Alternatives are the constants with which the launch's kernel can be compiled.
	Alternatives []profiler.Alternative
	// Candidates: also what is not worth listing, as it gains too little or makes the launch slower, see [Advice.Worth].
	Candidates bool
	Chains     profiler.Chains // launches that could be one with the kernel's, block by block
	Joined     profiler.Chains // and by joints
	Precise    bool            // see [profiler.Profile]: arrays of doubles stay
}

// Advise matches every optimizer with the blamed stalls of a launch and returns what is worth doing, the best first. What was tried
// ranks by what came out, before all that was not; of several ways to deal with the same stalls two stand before the rest.
func Advise(r *blamer.Result, opt Options) ([]Advice, error) {
	if r == nil || r.Launch == nil || r.Module == nil || r.Model == nil {
		return nil, errors.New("advising: the blame of a launch is missing")
	}
	in := NewInput(r)
	in.chains, in.joined, in.precise = opt.Chains, opt.Joined, opt.Precise
	optimizers := opt.Optimizers
	if optimizers == nil {
		optimizers = Optimizers()
	}
	var advice []Advice
	for _, o := range optimizers {
		advice = append(advice, adviseOne(in, o)...)
	}
	if opt.Optimizers == nil {
		advice = append(advice, adviseParameters(in, opt.Alternatives, opt.Tries)...)
	}
	for i := range advice {
		advice[i].recall(opt.Tries)
	}
	rank(advice)
	if !opt.Candidates {
		advice = withoutSupposed(advice)
		advice = best(slices.DeleteFunc(withoutHopes(advice), func(a Advice) bool { return !a.Worth() }))
	}
	markOverlaps(advice)
	surerFirst(advice)
	furtherWaysLast(advice)
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
	for _, group := range sameSource(o.Match(in)) {
		in.addBarrierWaits(o, group)
		a := Advice{Optimizer: o.Name(), Class: o.Class(), Match: join(in, group)}
		switch {
		case a.Match.Launches > 1: // neither the time between them nor a unit of one of them bounds what they gain
			a.Speedup = a.Match.Speedup
		case a.Class == Parallel: // these know the launch
			a.Speedup = min(estimate(in, o.Class(), group), in.ceiling(a.Match.Spares))
		default:
			a.Speedup = min(in.ofLaunch(estimate(in, o.Class(), group)), in.ceiling(a.Match.Spares))
		}
		if a.Speedup < minSpeedup {
			continue
		}
		if a.Class == StallElimination {
			a.Match.Scope = in.narrow(a.Match)
		}
		if a.Class != Parallel {
			a.Listed = a.Match.listed()
			a.Diffuse = a.Listed < leastListed && !a.Match.Named
		}
		a.Interval = in.interval(&a)
		a.Match.Least = max(a.Match.Least, leastOf(o))
		in.boundRegisters(a.Match)
		in.speak(o.Name(), a.Match)
		advice = append(advice, a)
	}
	rank(advice)
	return advice[:min(maxScopes, len(advice))]
}

// addBarrierWaits counts with the stalls that a change of the code takes away the waits at barriers that go with them: warps wait there for
// the slowest, and where every warp's work shrinks by a part, so does the difference between them.
func (in *Input) addBarrierWaits(o Optimizer, group []*Match) {
	waits := in.ByReason[stall.Barrier]
	if o.Class() != StallElimination || isAboutBarriers(o) || waits >= in.Total {
		return
	}
	for _, m := range group {
		m.Samples = max(m.Freed, min(m.Samples*in.Total/(in.Total-waits), in.Total))
	}
}

// isAboutBarriers reports whether an optimizer matches the waits at barriers themselves.
func isAboutBarriers(o Optimizer) bool {
	return o.Name() == warpBalance{}.Name() || o.Name() == redundantBarrier{}.Name()
}

// sameSource groups the matches of loops that the compiler made of one loop of the source, as the unrolled loop and the
// one for the remaining iterations. Nested loops stay apart.
func sameSource(matches []*Match) [][]*Match {
	var groups [][]*Match
	for _, m := range matches {
		i := slices.IndexFunc(groups, func(g []*Match) bool {
			return !slices.ContainsFunc(g, func(x *Match) bool { return !copies(x.Scope, m.Scope) })
		})
		if i < 0 {
			groups = append(groups, []*Match{m})
		} else {
			groups[i] = append(groups[i], m)
		}
	}
	return groups
}

// copies reports whether two scopes are disjoint loops from one place in the source.
func copies(x, y Scope) bool {
	if x.Kind != LoopScope || y.Kind != LoopScope || x.Frame.Line == 0 || x.Frame != y.Frame || x.Func != y.Func {
		return false
	}
	return !x.Loop.Contains(y.Loop.Header) && !y.Loop.Contains(x.Loop.Header)
}

// join makes one match of those of a group; the first, with the most samples, stands for all.
func join(in *Input, group []*Match) *Match {
	slices.SortStableFunc(group, func(x, y *Match) int { return cmp.Compare(y.Samples, x.Samples) })
	joined := *group[0]
	for _, m := range group[1:] {
		joined.Samples += m.Samples
		joined.Latency += m.Latency
		joined.Active += m.Active
		joined.Hidden += m.Hidden
		joined.Gone += m.Gone
		joined.Hotspots = slices.Concat(joined.Hotspots, m.Hotspots)
		joined.Change = joined.Change.with(m.Change)
	}
	joined.Hotspots = rankHotspots(in, joined.Hotspots)
	return &joined
}

// estimate applies the estimator of a class to the matches of a group.
func estimate(in *Input, c Class, group []*Match) float64 {
	switch c {
	case StallElimination:
		return EliminateStalls(in.Total, group[0].Samples)
	case LatencyHiding:
		return hideLatency(in, group)
	}
	return max(1, group[0].Speedup)
}

// hideLatency is Equation 5 over the scopes of a group. Where the best order of a scope's code is known it takes the place of the
// active samples as the bound: dependences leave fewer of these to move, and loads that are under way together hide each
// other's latency.
func hideLatency(in *Input, group []*Match) float64 {
	var scopes []ScopeSamples
	scheduled := 0.0 // and what goes altogether
	for _, m := range group {
		scheduled += m.Gone
		if m.Scheduled {
			scheduled += min(m.Hidden, m.Latency)
		} else {
			scopes = append(scopes, ScopeSamples{Active: m.Active, MatchedLatency: m.Latency})
		}
	}
	return EliminateStalls(in.Total, in.Total-in.Total/HideLatencyInScopes(in.Total, in.Active, scopes)+scheduled)
}

// leastListed is the share of the matched samples that the listed hotspots must hold for the advice to be about these places.
const leastListed = 0.1

// interval is where what-if runs of nine in ten such estimates come out. No unit that has as much to do as before lets it be higher.
func (in *Input) interval(a *Advice) [2]float64 {
	i := calibrated(a.Optimizer, a.Speedup)
	if n := float64(a.Match.Launches); n > 1 { // at best they take as long as one of them
		return [2]float64{min(i[0], a.Speedup), max(a.Speedup, min(i[1], n))}
	}
	return [2]float64{min(i[0], a.Speedup), max(a.Speedup, min(i[1], in.ceiling(a.Match.Spares)))}
}

// listed is the share of the matched samples that the hotspots hold that are listed. The advice is diffuse where that is hardly
// anything.
func (m *Match) listed() float64 {
	if len(m.Hotspots) == 0 {
		return 1
	}
	listed, all := 0.0, 0.0
	for i, h := range m.Hotspots {
		if all += h.Samples; i < maxHotspots {
			listed += h.Samples
		}
	}
	return listed / all
}

// rank sorts by what is expected, then by matched samples, name and place, so that the order never depends on anything else. What was
// tried comes first, what has no place to begin at last; see certainty.
func rank(advice []Advice) {
	slices.SortStableFunc(advice, func(x, y Advice) int {
		return cmp.Or(
			cmp.Compare(certainty(&x), certainty(&y)),
			cmp.Compare(y.Expected(), x.Expected()),
			cmp.Compare(y.Match.Samples, x.Match.Samples),
			cmp.Compare(x.Optimizer, y.Optimizer),
		)
	})
}

// certainty is 0 for advice that was tried, 1 for what was only estimated, 2 where that is diffuse. Another order of the machine code counts as
// an estimate of what the source can bring: the compiler puts most of what is moved there back.
func certainty(a *Advice) int {
	switch {
	case a.Tried > 0 && !a.reordered():
		return 0
	case a.Diffuse:
		return 2
	}
	return 1
}

// reordered reports whether the what-if run takes the machine code in another order.
func (a *Advice) reordered() bool { return a.Match.Change != nil && a.Match.Change.Reordered }

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

// surerFirst moves what deals with the same stalls as the piece above it, and has come out alike, before it where that is less sure to be had.
func surerFirst(advice []Advice) {
	for i := 1; i < len(advice); i++ {
		for j := i; j > 0; j-- {
			a, above := &advice[j], &advice[j-1]
			same := slices.Contains(a.Overlaps, above.Optimizer) || a.merges() && above.merges()
			if a.doubt() >= above.doubt() || certainty(a) != certainty(above) || !above.alike(a, same) {
				break
			}
			*a, *above = *above, *a
		}
	}
}

// doubt is how unsure a change is beside others that do the same. Another order of loads is up to the compiler. Constant memory has room for little and is
// filled before the launch; vectors ask for aligned neighbours; and what is divided among more threads is that first, and a matter of their blocks
// second.
func (a *Advice) doubt() int {
	switch a.Optimizer {
	case codeReordering{}.Name():
		return 2
	case constantMemory{}.Name(), blockIncrease{}.Name():
		return 1
	case vectorAccess{}.Name():
		if a.merges() {
			return 1
		}
	}
	return 0
}

// merges reports whether a thread then does what several do.
func (a *Advice) merges() bool {
	c := a.Match.Change
	return c != nil && c.Streams != nil && len(c.Streams.Merged) > 0
}

// mostWays is how many ways to deal with the same stalls are told before what else there is to do.
const mostWays = 2

// furtherWaysLast moves further ways to deal with stalls that several optimizers above deal with behind the rest of what is as certain: of three
// changes that are told in full not all are for one and the same wait. So does what came out as one above did: that is
// one change under two names.
func furtherWaysLast(advice []Advice) {
	further := make(map[*Match]bool)
	for i := range advice {
		a, ways := &advice[i], make(map[string]bool)
		for j := range advice[:i] {
			above := &advice[j]
			overlaps := slices.Contains(a.Overlaps, above.Optimizer)
			if overlaps && !further[above.Match] {
				ways[above.Optimizer] = true
			}
			if above.Optimizer != a.Optimizer && above.Same == "" && above.alike(a, overlaps) {
				a.Same = above.Optimizer
			}
		}
		further[a.Match] = len(ways) >= mostWays || a.Same != ""
	}
	slices.SortStableFunc(advice, func(x, y Advice) int {
		behind := func(a *Advice) int {
			if further[a.Match] {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(certainty(&x), certainty(&y)), cmp.Compare(behind(&x), behind(&y)))
	})
}

// alike reports whether two pieces of advice have come out alike when tried: to the cycle or, of the same stalls, within a hundredth.
func (a *Advice) alike(b *Advice, overlaps bool) bool {
	return a.Tried > 0 && b.Tried > 0 && (a.Tried == b.Tried || overlaps && math.Abs(b.Tried/a.Tried-1) < .01)
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
