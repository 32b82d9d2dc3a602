package advisor

import (
	"slices"

	"gpa/cubin/sass"
)

// A schedule finds how long a trace takes in its best order. It is list scheduling of a warp by itself: the steps keep the
// latencies that were observed, and only true dependences and the order of memory hold them.
type schedule struct {
	own    []float64
	after  [][]gap // by step
	before []int   // by step: how many must come first
	height []float64
}

// A gap says that a step may begin so many samples after another has issued, at the soonest.
type gap struct {
	to      int
	samples float64
}

// fixedLatency is the latency of arithmetic, cycles (Jia et al. 2018, table 4.1).
const fixedLatency = 4

// maxSteps is the longest trace that is scheduled, all rounds together: the work grows with its square. Longer ones have little to
// gain from their order.
const maxSteps = 4096

// freedom is what a schedule may take for granted.
type freedom struct {
	rounds  int  // of a loop, one behind the other
	noAlias bool // loads from global memory do not read what stores write
	words   int  // registers that values from global memory may take before their first use, 0 for any number
	gone    steps
}

// steps is a set of steps of a trace.
type steps map[int]bool

// without is the latency of a step, none where it is gone.
func (s steps) without(i int, latency float64) float64 {
	if s[i] {
		return 0
	}
	return latency
}

// latest returns the last step for whose result of the same kind a step waits as well: accesses to one memory return in turn, so
// that this one's latency is that of all.
func (s *step) latest(w wait) int {
	last := w.from
	for _, x := range s.waits {
		if x.detail == w.detail {
			last = max(last, x.from)
		}
	}
	return last
}

// hidden returns how many samples of a trace its best order saves.
func (t *trace) hidden(f freedom) float64 {
	if len(t.steps) > maxSteps {
		return 0
	}
	f.rounds = max(1, min(f.rounds, maxSteps/max(1, len(t.steps))))
	now := 0.0
	for i := range t.steps {
		now += t.steps[i].total()
	}
	for _, w := range t.carried {
		now += w.samples
	}
	s := t.schedule(f)
	best := s.length() / float64(f.rounds)
	return max(0, now-best)
}

func (s *step) total() float64 {
	sum := s.own
	for _, w := range s.waits {
		sum += w.samples
	}
	return sum
}

// hidden is how many samples the best order of a scope's code saves.
func (in *Input) hidden(s Scope, f freedom) float64 {
	sum := 0.0
	for _, t := range in.traces(s) {
		sum += t.hidden(f)
	}
	return sum
}

// hide enters what an order of the code saves of a warp's time. Of that only the part counts in which no other warp issued.
func (m *Match) hide(samples float64) {
	m.Scheduled = true
	m.Hidden = min(1, samples/max(1, m.Samples)) * m.Latency
}

// schedule lays the rounds of a trace behind each other.
func (t *trace) schedule(f freedom) *schedule {
	n := len(t.steps)
	s := &schedule{own: make([]float64, n*f.rounds), after: make([][]gap, n*f.rounds), before: make([]int, n*f.rounds)}
	begun, issued := t.clock()
	within, around := t.dependences()
	loopEnd := t.control()
	for r := range f.rounds {
		for i := range t.steps {
			if f.gone[i] || r < f.rounds-1 && f.rounds > 1 && loopEnd[i] {
				continue // the test at the end of a round stands in the last one only
			}
			s.own[r*n+i] = t.steps[i].own
			if r > 0 {
				s.own[r*n+i] = max(0, t.steps[i].own-t.steps[i].branched) // no branch leads from round to round
			}
		}
		t.link(s, r, f.gone, within, begun, issued)
	}
	t.linkRounds(s, f.rounds, around, begun, issued)
	t.order(s, f)
	if f.words > 0 {
		t.window(s, f, within)
	}
	s.rise()
	return s
}

// clock returns when each step begins, its waits over, and when it has issued.
func (t *trace) clock() (begun, issued []float64) {
	begun, issued = make([]float64, len(t.steps)), make([]float64, len(t.steps))
	carried := make([]float64, len(t.steps))
	for _, w := range t.carried {
		carried[w.to] += w.samples
	}
	now := 0.0
	for i := range t.steps {
		begun[i] = now + t.steps[i].total() - t.steps[i].own + carried[i]
		now = begun[i] + t.steps[i].own
		issued[i] = now
	}
	return begun, issued
}

// link enters the dependences within a round.
func (t *trace) link(s *schedule, round int, gone steps, within [][]int, begun, issued []float64) {
	base := round * len(t.steps)
	for i := range t.steps {
		waited := map[int]bool{}
		for _, w := range t.steps[i].waits {
			waited[w.from] = true
			s.edge(base+w.from, base+i, gone.without(w.from, begun[i]-issued[t.steps[i].latest(w)]))
		}
		for _, d := range within[i] {
			if !waited[d] {
				s.edge(base+d, base+i, gone.without(d, t.latency(d, begun[i]-issued[d])))
			}
		}
	}
}

// linkRounds enters the dependences from round to round. The first round waits as long as it did for the one before.
func (t *trace) linkRounds(s *schedule, rounds int, around [][]int, begun, issued []float64) {
	if len(t.steps) == 0 {
		return
	}
	n, end := len(t.steps), issued[len(t.steps)-1]
	waited := map[[2]int]bool{}
	for _, w := range t.carried {
		s.own[w.to] += w.samples
		waited[[2]int{w.from, w.to}] = true
		for r := 1; r < rounds; r++ {
			s.edge((r-1)*n+w.from, r*n+w.to, end-issued[w.from]+begun[w.to])
		}
	}
	for i := range t.steps {
		for _, d := range around[i] {
			for r := 1; r < rounds && !waited[[2]int{d, i}]; r++ {
				s.edge((r-1)*n+d, r*n+i, t.latency(d, end-issued[d]+begun[i]))
			}
		}
	}
}

// latency is that of a result nobody was seen to wait for: no longer than the time that it had.
func (t *trace) latency(def int, had float64) float64 {
	switch s := &t.steps[def]; {
	case s.cycles > 0:
		return min(had, s.cycles*t.unit)
	case s.variable:
		return had
	}
	return min(had, fixedLatency*t.unit)
}

// order keeps what must not pass each other: side effects, and loads and stores that may mean the same place.
func (t *trace) order(s *schedule, f freedom) {
	n := len(t.steps)
	kinds := make([]effect, n)
	for i := range t.steps {
		if !f.gone[i] {
			kinds[i] = t.steps[i].effect
		}
	}
	loopEnd := t.control()
	last, since := -1, []int(nil) // the last fence, and the steps behind it
	for j := range n * f.rounds {
		if loopEnd[j%n] && j/n < f.rounds-1 {
			continue // it is gone
		}
		e := kinds[j%n]
		if last >= 0 {
			s.edge(last, j, 0)
		}
		for _, i := range since {
			if e != 0 && kinds[i%n].before(e, f.noAlias) || e&fence != 0 {
				s.edge(i, j, 0)
			}
		}
		if e&fence != 0 {
			last, since = j, nil
			continue
		}
		since = append(since, j)
	}
}

// window keeps loads from global memory behind the first use of those for whose values there are no registers beside theirs.
func (t *trace) window(s *schedule, f freedom, within [][]int) {
	n := len(t.steps)
	use := make(map[int]int) // load → its first use
	for i, list := range within {
		for _, d := range list {
			if _, used := use[d]; !used {
				use[d] = i
			}
		}
	}
	for r := range f.rounds {
		var open []int // loads with values under way, in order
		words := 0
		for i := range t.steps {
			size := t.words(i)
			if size == 0 || f.gone[i] {
				continue
			}
			for words += size; words > f.words && len(open) > 0; open = open[1:] {
				words -= t.words(open[0])
				if at, used := use[open[0]]; used && at < i {
					s.edge(r*n+at, r*n+i, 0)
				}
			}
			open = append(open, i)
		}
	}
}

// words is the number of registers that a step loads from global memory.
func (t *trace) words(i int) int {
	inst := &(*t.code)[t.steps[i].insts[0]]
	if len(t.steps[i].insts) > 1 || inst.Op.Properties().Reads&globalMemory == 0 {
		return 0
	}
	return max(1, inst.AccessBytes()/4)
}

// An effect says what an instruction does besides writing registers.
type effect uint8

const (
	fence        effect = 1 << iota // nothing passes it
	flow                            // keeps its place among effects, and memory accesses behind it
	loadGlobal                      // reads global memory
	writeGlobal                     // writes it
	accessShared                    // reads or writes shared memory
	writeShared
	accessLocal
)

// effectOf returns the effects of an instruction.
func effectOf(in *sass.Inst) effect {
	p := in.Op.Properties()
	switch {
	case p.Sync != sass.SyncNone && p.Sync != sass.SyncConvergence, p.Async != sass.Synchronous && p.Async != sass.AsyncCopy,
		p.Flow == sass.FlowCall, p.Flow == sass.FlowReturn, p.Flow == sass.FlowExit, p.Flow == sass.FlowIndirect:
		return fence
	case p.Flow != sass.FlowNext, p.Sync == sass.SyncConvergence:
		return flow
	}
	var e effect
	if p.Crosses && p.Memory() == sass.NoSpace {
		e |= flow
	}
	if p.Accesses(globalMemory) {
		e |= loadGlobal
	}
	if p.Writes&globalMemory != 0 {
		e |= writeGlobal
	}
	if p.Accesses(sass.SpaceShared) {
		e |= accessShared
	}
	if p.Writes&sass.SpaceShared != 0 {
		e |= writeShared
	}
	if p.Accesses(sass.SpaceLocal) {
		e |= accessLocal
	}
	return e
}

// globalMemory is what accesses to global memory may mean: also generic addresses, textures and surfaces.
const globalMemory = sass.SpaceGlobal | sass.SpaceGeneric | sass.SpaceTexture

// before reports whether an instruction with effect a, which stands before one with effect b, must stay there.
func (a effect) before(b effect, noAlias bool) bool {
	const memory = loadGlobal | writeGlobal | accessShared | writeShared | accessLocal
	switch {
	case (a|b)&fence != 0:
		return true
	case a&flow != 0:
		return b&(flow|memory) != 0
	case b&flow != 0:
		return a&(flow|writeGlobal|writeShared) != 0
	case a&writeGlobal != 0 && b&writeGlobal != 0, a&accessLocal != 0 && b&accessLocal != 0:
		return true
	case a&b&loadGlobal != 0 && (a|b)&writeGlobal != 0:
		return !noAlias
	}
	return a&b&accessShared != 0 && (a|b)&writeShared != 0
}

func (s *schedule) edge(from, to int, samples float64) {
	s.after[from] = append(s.after[from], gap{to, max(0, samples)})
	s.before[to]++
}

// rise finds the longest chain behind each step.
func (s *schedule) rise() {
	s.height = make([]float64, len(s.own))
	for i := len(s.own) - 1; i >= 0; i-- {
		for _, g := range s.after[i] {
			s.height[i] = max(s.height[i], g.samples+s.height[g.to])
		}
		s.height[i] += s.own[i]
	}
}

// length returns the samples that the steps take, each time the one that can begin soonest, among equals that with the longest
// chain behind it.
func (s *schedule) length() float64 {
	earliest := make([]float64, len(s.own))
	before := slices.Clone(s.before)
	var ready []int
	for i := range s.own {
		if before[i] == 0 {
			ready = append(ready, i)
		}
	}
	now := 0.0
	for len(ready) > 0 {
		best := 0
		for k := range ready {
			if s.sooner(ready[k], ready[best], max(now, earliest[ready[k]]), max(now, earliest[ready[best]])) {
				best = k
			}
		}
		i := ready[best]
		ready = slices.Delete(ready, best, best+1)
		now = max(now, earliest[i]) + s.own[i]
		for _, g := range s.after[i] {
			earliest[g.to] = max(earliest[g.to], now+g.samples)
			if before[g.to]--; before[g.to] == 0 {
				ready = append(ready, g.to)
			}
		}
	}
	return now
}

// sooner reports whether step a is better than b, when they can begin at x and y.
func (s *schedule) sooner(a, b int, x, y float64) bool {
	if x != y {
		return x < y
	}
	if s.height[a] != s.height[b] {
		return s.height[a] > s.height[b]
	}
	return a < b
}
