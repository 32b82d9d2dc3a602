package blamer

import (
	"cmp"
	"math"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// least is how much of the likeliest source's share another one must have to be kept. Less is within the error of the estimate, and
// who blames the likeliest one alone is right more often than who divides.
const least = .9

// A pending result is what an instruction waits for, with the times at which it can be expected.
type pending struct {
	dependency
	remaining []outcome // cycles from when the use is next to issue to the arrival, negative where it is there before
	present   float64   // share of the executions of the use in which the result is one of those that it waits for
}

// expected is the mean of the remaining cycles.
func (p *pending) expected() float64 {
	sum := 0.0
	for _, o := range p.remaining {
		sum += o.share * o.cycles
	}
	return sum
}

// at returns the outcome in the executions that find the share u of all data in caches: what comes from far away in one of
// them does so in those that find less.
func (p *pending) at(u float64) outcome {
	for _, o := range p.remaining {
		if u < o.share {
			return o
		}
		u -= o.share
	}
	return p.remaining[len(p.remaining)-1]
}

// before reports whether a result arrives before that of an instruction issued later, or together with it. What misses L1 comes back to
// its warp in the order of issue.
func (o outcome) before(later outcome) bool {
	return o.cycles <= later.cycles+sameTime || o.miss && later.miss
}

// orderRule keeps the source of a scoreboard stall that most likely is what the warp waits for: it waits for the last of the results
// that are outstanding. It leaves the shares of the sources in a.shares, for apportioning where several are about as likely.
//
// In an execution of the use a source is outstanding with the probability that the source counters tell: a load before a
// loop is in the first round only. Of those that are, the one that is expected to arrive last is the producer, between equal
// ones the later, and it makes the warp wait for as long as its result takes from then on.
func (a *analysis) orderRule(deps []dependency, reason stall.Reason) []dependency {
	a.shares = nil
	if reason != stall.LongScoreboard && reason != stall.ShortScoreboard || !severalDefs(deps) {
		return deps
	}
	results := a.pendingResults(deps)
	weights := a.lastToArrive(results)
	most := slices.Max(weights)
	if most == 0 {
		return deps
	}
	a.shares = make(map[int]float64)
	for i, r := range results {
		if weights[i] >= least*most {
			a.shares[r.def] = weights[i]
		}
	}
	return a.filter(deps, func(d dependency) bool { return a.shares[d.def] > 0 })
}

// pendingResults returns the sources, the first to issue first. What has two dependence counters, one for its operands and one
// for its result, arrives with the later of them.
func (a *analysis) pendingResults(deps []dependency) []pending {
	var results []pending
	for _, d := range deps {
		p := pending{d, a.remaining(d), a.presence(d)}
		i := slices.IndexFunc(results, func(r pending) bool { return r.def == d.def })
		switch {
		case i < 0:
			results = append(results, p)
		case results[i].expected() < p.expected():
			results[i] = p
		}
	}
	ages := make(map[int]int64, len(results))
	for _, r := range results {
		ages[r.def] = a.age(r)
	}
	slices.SortStableFunc(results, func(x, y pending) int { return cmp.Compare(ages[y.def], ages[x.def]) })
	for i := range results {
		for j := i + 1; j < len(results); j++ {
			a.queue(&results[j], &results[i])
		}
	}
	return results
}

// queue puts what is issued after an atomic operation on a line, and asks for the same line, behind it: a slice of L2 answers one
// after the other, and L1 has no say.
func (a *analysis) queue(later, atomic *pending) {
	if !returnsValue(a.code.Insts[atomic.def].Op) || a.readBarrierOnly(later.dependency) || !a.sameLine(later.def, atomic.def) {
		return
	}
	for i := range later.remaining {
		later.remaining[i].cycles = max(later.remaining[i].cycles, atomic.expected())
	}
}

// returnsValue reports whether an opcode is of an atomic operation in L2 that returns the old value.
func returnsValue(op sass.Op) bool {
	return op.Properties().Atomic(sass.SpaceGlobal|sass.SpaceGeneric) && op.Returns()
}

// sameLine reports whether two instructions have addresses a few bytes apart, of one base.
func (a *analysis) sameLine(x, y int) bool {
	p, q := a.code.Insts[x].Address(), a.code.Insts[y].Address()
	if p == nil || q == nil {
		return false
	}
	u, v := a.linearOf(x, p), a.linearOf(y, q)
	const line = 128
	apart := u.constant + float64(p.Offset) - v.constant - float64(q.Offset)
	return p.UReg == q.UReg && u.base() == v.base() && math.Abs(apart) < line
}

// maxOrdered bounds the sources of one stall that are compared pair by pair.
const maxOrdered = 16

// together returns how often a result is outstanding when another one is: always, where it is issued on every path from that one to
// the use, or always before it; never, where no path has both.
func (a *analysis) together(r, other pending) float64 {
	q := a.query(other.use, other.res)
	if a.always(r.def) {
		through := q
		through.barriers = append(slices.Clone(q.barriers), int32(r.def))
		slices.Sort(through.barriers)
		follows := a.paths.shortest(instructions{}, through, []int{other.def})[0] < 0
		if follows || a.graph.Dominates(r.def, other.def) && r.present >= other.present {
			return 1
		}
	}
	if !a.outlasts(r, other) && !a.outlasts(other, r) {
		return 0
	}
	return r.present
}

// neighbours reports whether whatever waits for one of two results finds the other one outstanding too: they are issued one after the
// other, on one counter, with no wait for it in between.
func (a *analysis) neighbours(r, other pending) bool {
	first, last := min(r.def, other.def), max(r.def, other.def)
	return a.block[first] == a.block[last] && r.res == other.res && a.always(r.def) &&
		lastBefore(a.firmUses(r.res), first+1, last+1) < 0
}

// outlasts reports whether a path goes from one result over another one to the use on which the first stays outstanding.
func (a *analysis) outlasts(r, other pending) bool {
	settlers := a.settlers(r.dependency)
	return a.leads(r.def, other.def, settlers) && a.leads(other.def, r.use, settlers)
}

// leads reports whether a path goes from one instruction to another, and to none of others before.
func (a *analysis) leads(from, to int, others []int32) bool {
	path := pathQuery{use: to, res: sass.NumRes, barriers: others, limit: math.MaxInt64}
	return a.paths.shortest(instructions{}, path, []int{from})[0] >= 0
}

// age is the number of cycles between the issue of a source and that of the use.
func (a *analysis) age(p pending) int64 {
	return max(0, a.paths.shortest(stallCycles{a.section}, a.query(p.use, p.res), []int{p.def})[0])
}

// sameTime is the difference in cycles below which two results arrive together. The one that was issued later then counts as last.
const sameTime = 1.5

// lastToArrive returns how many cycles each source makes the use wait on average: as long as its result takes, in the executions in
// which it is the last. Results are in the order of their issue.
//
// Executions differ in how much other warps have brought to the caches before. A load that rarely misses does so only when all that
// miss more often do. So the executions are ordered by that, cut where an outcome changes, and looked at piece by piece.
func (a *analysis) lastToArrive(results []pending) []float64 {
	weights := make([]float64, len(results))
	present := a.presences(results)
	cuts := outcomeCuts(results)
	for k, u := range cuts[:len(cuts)-1] {
		for i := range results {
			own, cycles := results[i].at(u), 1.0
			last := results[i].present * (cuts[k+1] - u)
			for j := range results {
				other := results[j].at(u)
				if j > i && own.before(other) || j < i && !other.before(own) {
					last *= 1 - present[i][j]
				}
				if j <= i {
					cycles = max(cycles, other.cycles) // what is issued before has arrived with the last one
				}
			}
			weights[i] += last * cycles
		}
	}
	return weights
}

// presences returns how often each other result is outstanding when one is.
func (a *analysis) presences(results []pending) [][]float64 {
	present := make([][]float64, len(results))
	for i, r := range results {
		present[i] = make([]float64, len(results))
		for j, other := range results {
			present[i][j] = other.present
			switch {
			case j == i || other.present == 1 || r.present == 0:
			case a.neighbours(other, r):
				present[i][j] = 1
			case len(results) <= maxOrdered:
				present[i][j] = a.together(other, r)
			}
		}
	}
	return present
}

// outcomeCuts returns 0, 1 and the shares between them at which an outcome changes, in order.
func outcomeCuts(results []pending) []float64 {
	cuts := []float64{0, 1}
	for _, r := range results {
		u := 0.0
		for _, o := range r.remaining {
			if u += o.share; u < 1 {
				cuts = append(cuts, u)
			}
		}
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// presence is how often the result is among those that the use waits for. Without source counters, what is not executed on
// every way to the use is taken to be there half of the time.
func (a *analysis) presence(d dependency) float64 {
	switch {
	case !a.counted && a.code.Insts[d.def].Guard.Always() && a.graph.Dominates(d.def, d.use):
		return 1
	case !a.counted:
		return .5
	case a.warps[d.use] == 0 || a.warps[d.def] == 0:
		return 0
	}
	executed := min(1, a.issues[d.def]/a.warps[d.def]*a.fullness(d.use))
	return min(1, executed*a.outstanding(d)/a.warps[d.use])
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

// remaining estimates how many cycles after the use is next to issue the result arrives.
func (a *analysis) remaining(d dependency) []outcome {
	list := a.arrivals(d)
	passed := a.passed(d)
	for i := range list {
		list[i].cycles -= passed
	}
	return list
}

// passed is the number of cycles from the issue of a source to when the use becomes the next instruction of its warp.
func (a *analysis) passed(d dependency) float64 {
	elapsed := a.paths.shortest(a.elapsed, a.query(d.use, d.res), []int{d.def})[0]
	return max(0, float64(elapsed)/fixedPoint-a.residence[d.def])
}
