package blamer

import (
	"math"

	"gpa/emu/stall"
)

// maxOrdered bounds the sources of one stall that are compared pair by pair.
const maxOrdered = 16

// A pending result is what an instruction waits for, with the time at which it can be expected.
type pending struct {
	dependency
	remaining float64 // cycles from the use's earliest issue to the expected arrival, negative where it is due before
}

// orderRule drops the sources of a scoreboard stall that are expected to arrive before another one that was issued as
// well: the warp waits for the last of them. Of two results that are on their way together the one with more latency
// left counts; between equal ones that is the later, as the units return results in order.
func (a *analysis) orderRule(deps []dependency, reason stall.Reason) []dependency {
	if reason != stall.LongScoreboard && reason != stall.ShortScoreboard || len(deps) < 2 || len(deps) > maxOrdered {
		return deps
	}
	results := make([]pending, len(deps))
	for i, d := range deps {
		results[i] = pending{d, a.remaining(d)}
	}
	var kept []dependency
	for i := range results {
		if !a.overtaken(i, results) {
			kept = append(kept, deps[i])
		}
	}
	return kept
}

// remaining estimates how many cycles after the earliest issue of the use the result arrives.
func (a *analysis) remaining(d dependency) float64 {
	q := pathQuery{use: d.use, res: d.res, limit: math.MaxInt64}
	passed := a.paths.shortest(stallCycles{a.section}, q, []int{d.def})[0]
	return a.expectedLatency(d) - float64(max(0, passed))
}

// expectedLatency is the geometric mean of the latency bounds; that of reading the operands of a memory instruction is
// the lower bound of its latency.
func (a *analysis) expectedLatency(d dependency) float64 {
	bound := a.model.Latency(LatencyClass(a.code.Insts[d.def].Op))
	if a.readBarrierOnly(d) {
		return float64(bound.Min)
	}
	return math.Sqrt(float64(bound.Min) * float64(bound.Max))
}

// overtaken reports whether some other result that is under way whenever this one is arrives later.
func (a *analysis) overtaken(i int, results []pending) bool {
	r := results[i]
	for k, other := range results {
		if k == i || other.def == r.def {
			continue
		}
		switch {
		case a.follows(other, r):
			if other.remaining >= r.remaining {
				return true
			}
		case a.follows(r, other) && a.precedes(other, r):
			if other.remaining > r.remaining {
				return true
			}
		}
	}
	return false
}

// follows reports whether the later instruction issues on every path from the earlier one to the use, guards aside.
func (a *analysis) follows(later, earlier pending) bool {
	if !a.code.Insts[later.def].Guard.Always() {
		return false
	}
	q := pathQuery{use: earlier.use, res: earlier.res, barriers: []int32{int32(later.def)}, limit: math.MaxInt64}
	return a.paths.shortest(instructions{}, q, []int{earlier.def})[0] < 0
}

// precedes reports whether the earlier instruction always issues before the later one, guards aside.
func (a *analysis) precedes(earlier, later pending) bool {
	return a.code.Insts[earlier.def].Guard.Always() && a.graph.Dominates(earlier.def, later.def)
}
