package blamer

import (
	"cmp"
	"slices"

	"gpa/emu/stall"
)

// Shares under least are dropped: they are within the error of the estimate.
const least = .05

// A pending result is what an instruction waits for, with the time at which it can be expected.
type pending struct {
	dependency
	remaining float64 // cycles from the use's earliest issue to the expected arrival
	present   float64 // share of the executions of the use in which the result is one of those that it waits for
}

// orderRule drops the sources of a scoreboard stall that hardly ever are what the warp waits for: it waits for the last of
// the results that are outstanding. It leaves their shares in a.shares, by source, for apportioning.
//
// In an execution of the use a source is outstanding with the probability that the source counters tell: a load before a
// loop is in the first round only. Of those that are, the one that is expected to arrive last is the producer, between equal
// ones the later, and it makes the warp wait for as long as its result takes from then on.
func (a *analysis) orderRule(deps []dependency, reason stall.Reason) []dependency {
	a.shares = nil
	if reason != stall.LongScoreboard && reason != stall.ShortScoreboard || len(deps) < 2 {
		return deps
	}
	results := a.withoutOvertaken(a.pendingResults(deps))
	weights, total := lastToArrive(results)
	a.shares = make(map[int]float64)
	var kept []dependency
	for i, r := range results {
		if weights[i] >= least*total {
			a.shares[r.def] = weights[i]
		}
	}
	for _, d := range deps {
		if a.shares[d.def] > 0 {
			kept = append(kept, d)
		}
	}
	return kept
}

// pendingResults returns the sources, the first to arrive first.
func (a *analysis) pendingResults(deps []dependency) []pending {
	var results []pending
	for _, d := range deps {
		if slices.ContainsFunc(results, func(r pending) bool { return r.def == d.def }) {
			continue
		}
		results = append(results, pending{d, a.remaining(d), a.presence(d)})
	}
	slices.SortStableFunc(results, func(x, y pending) int {
		return cmp.Or(cmp.Compare(x.remaining, y.remaining), cmp.Compare(a.age(y), a.age(x)))
	})
	return results
}

// maxOrdered bounds the sources of one stall that are compared pair by pair.
const maxOrdered = 16

// withoutOvertaken drops the results that are outstanding only together with another one that arrives later.
func (a *analysis) withoutOvertaken(results []pending) []pending {
	if len(results) > maxOrdered {
		return results
	}
	var kept []pending
	for i, r := range results {
		if !slices.ContainsFunc(results[i+1:], func(last pending) bool { return a.accompanies(last, r) }) {
			kept = append(kept, r)
		}
	}
	return kept
}

// accompanies reports whether a result is outstanding whenever another one is: it is issued on every path from that one to the
// use, or always before it.
func (a *analysis) accompanies(r, other pending) bool {
	if !a.always(r.def) {
		return false
	}
	q := a.query(other.use, other.res)
	q.barriers = append(slices.Clone(q.barriers), int32(r.def))
	slices.Sort(q.barriers)
	follows := a.paths.shortest(instructions{}, q, []int{other.def})[0] < 0
	return follows || a.graph.Dominates(r.def, other.def) && r.present >= other.present
}

// age is the number of cycles between the issue of a source and that of the use.
func (a *analysis) age(p pending) int64 {
	return max(0, a.paths.shortest(stallCycles{a.section}, a.query(p.use, p.res), []int{p.def})[0])
}

// lastToArrive returns how many cycles a source makes the use wait on average, for results in the order of their arrival, and
// the sum.
func lastToArrive(results []pending) (weights []float64, total float64) {
	weights = make([]float64, len(results))
	absent := 1.0 // that no later result is outstanding
	for i := len(results) - 1; i >= 0; i-- {
		weights[i] = absent * results[i].present * max(1, results[i].remaining)
		total += weights[i]
		absent *= 1 - results[i].present
	}
	return weights, total
}

// presence is how often the result is among those that the use waits for. Without source counters, what is not executed on
// every way to the use is taken to be there half of the time.
func (a *analysis) presence(d dependency) float64 {
	switch {
	case !a.counted && a.code.Insts[d.def].Guard.Always() && a.graph.Dominates(d.def, d.use):
		return 1
	case !a.counted:
		return .5
	case a.warps[d.use] == 0 || a.code.Insts[d.def].Guard.Always() && a.warps[d.def] >= a.warps[d.use]:
		return 1
	}
	return min(1, a.issues[d.def]/a.warps[d.use]*a.fullness(d.use))
}

// usually is the share of its threads in which a guarded instruction has to have been executed to count as unguarded.
const usually = .75

// always reports whether an instruction is executed whenever its pc is reached, or nearly so by the source counters.
func (a *analysis) always(inst int) bool {
	return a.code.Insts[inst].Guard.Always() || a.counted && a.issues[inst] >= usually*a.warps[inst]
}

// fullness makes up for warps whose lanes are not all there: issues count lanes.
func (a *analysis) fullness(use int) float64 {
	if a.issues[use] == 0 {
		return 1
	}
	return max(1, a.warps[use]/a.issues[use])
}

// remaining estimates how many cycles after the earliest issue of the use the result arrives.
func (a *analysis) remaining(d dependency) float64 {
	passed := a.paths.shortest(stallCycles{a.section}, a.query(d.use, d.res), []int{d.def})[0]
	return a.arrival(d) - float64(max(0, passed))
}

// arrival estimates how many cycles after its issue a result arrives. A load that reads what an earlier one of the block is
// still fetching waits for that.
func (a *analysis) arrival(d dependency) float64 {
	arrival := a.expectedLatency(d)
	at := globalLoad(&a.code.Insts[d.def])
	if at == nil {
		return arrival
	}
	if first := a.neighbour(d.def, at); first >= 0 {
		ahead := float64(a.cycles[d.def] - a.cycles[first])
		arrival = max(arrival, a.arrival(dependency{first, d.use, d.res})-ahead)
	}
	return arrival
}
