package blamer

import (
	"cmp"
	"iter"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A countedLoop is a loop that is left along one edge. It is taken to go round as often each time it is entered, as loops over data
// do: where that is three times, what was issued before the loop does not come to its end in the first round.
type countedLoop struct {
	*cfg.Loop
	rounds float64 // each time it is entered, on average
	// deciders are the blocks whose branch tells whether the round is the last one, by the successor taken then: that of the edge, and
	// those before it by the same predicate.
	deciders map[int]int
}

// leaves is the share of the rounds of a kind that are the last.
func (l *countedLoop) leaves(r passing) float64 {
	once := max(0, 2-l.rounds) // share of the entries that go round once
	switch {
	case r&firstRound != 0:
		return once
	case r&laterRound != 0 && l.rounds > 1:
		return min(1, (1-once)/(l.rounds-1))
	}
	return 1 / l.rounds
}

// A passing says of a loop which of its rounds a warp is in and whether it goes on after it, as far as is known.
type passing uint8

const (
	firstRound passing = 1 << iota
	laterRound
	goesOn
	lastRound
)

// A course holds the rounds of the loops that a warp is in, the outermost in the lowest bits. Of loops that are too deep for it nothing
// is known.
type course uint64

const (
	roundBits = 4
	maxCourse = 64 / roundBits // loops in each other
)

func (c course) passing(l *cfg.Loop) passing {
	if l.Depth > maxCourse {
		return 0
	}
	return passing(c>>(roundBits*(l.Depth-1))) & (1<<roundBits - 1)
}

// with enters the round of a loop, and forgets those of the loops in it.
func (c course) with(l *cfg.Loop, r passing) course {
	if l.Depth > maxCourse {
		return c
	}
	return c.within(l.Parent) | course(r)<<(roundBits*(l.Depth-1))
}

// within forgets all but a loop and those around it.
func (c course) within(l *cfg.Loop) course {
	switch {
	case l == nil:
		return 0
	case l.Depth >= maxCourse:
		return c
	}
	return c & (1<<(roundBits*l.Depth) - 1)
}

// A waypoint is a block that executions are in, with what is known of the loops around it.
type waypoint struct {
	block int32
	course
}

func (p waypoint) compare(q waypoint) int {
	return cmp.Or(cmp.Compare(p.block, q.block), cmp.Compare(p.course, q.course))
}

// onward yields where warps go on to, with the shares of the executions.
func (a *analysis) onward(p waypoint) iter.Seq2[waypoint, float64] {
	return func(yield func(waypoint, float64) bool) {
		from := int(p.block)
		loop, last := a.decider(from)
		for s, share := range a.ways(from) {
			next := p.course
			if loop != nil {
				share, next = loop.decide(p.course, s == last, share)
			}
			if share > 0 && !yield(waypoint{int32(s), a.follow(next, from, s)}, share) {
				return
			}
		}
	}
}

// decide returns the share of the executions with which the branch of a decider goes a way, that of the last round or the other, and the
// course then. Where nothing is known of the round, the share is that counted.
func (l *countedLoop) decide(c course, last bool, counted float64) (float64, course) {
	r := c.passing(l.Loop)
	decision := goesOn
	if last {
		decision = lastRound
	}
	switch {
	case r&decision != 0:
		return 1, c
	case r&(goesOn|lastRound) != 0:
		return 0, c
	case r&(firstRound|laterRound) == 0:
		return counted, c.with(l.Loop, decision)
	}
	share := l.leaves(r)
	if !last {
		share = 1 - share
	}
	return share, c.with(l.Loop, r|decision)
}

// follow returns what is known of the loops behind an edge.
func (a *analysis) follow(c course, from, to int) course {
	loop := a.loopOf(to)
	c = c.within(loop)
	if loop == nil || a.blocks[to].First != a.graph.Blocks[loop.Header].First {
		return c
	}
	if a.inside(loop, a.blocks[from].First) {
		return c.with(loop, laterRound)
	}
	return c.with(loop, firstRound)
}

func (a *analysis) loopOf(block int) *cfg.Loop { return a.graph.InnermostLoop(a.blocks[block].First) }

// departure returns the waypoint of an instruction. Of the round it is known whether it goes on where the branch that says so is before.
func (a *analysis) departure(inst int) waypoint {
	p := waypoint{block: a.block[inst]}
	var around []*cfg.Loop
	for l := a.graph.InnermostLoop(inst); l != nil; l = l.Parent {
		around = append(around, l)
	}
	for _, l := range slices.Backward(around) {
		p.course = p.with(l, a.passingAt(l, inst))
	}
	return p
}

func (a *analysis) passingAt(l *cfg.Loop, inst int) (r passing) {
	counted := a.countedLoops()[l]
	if counted == nil {
		return 0
	}
	for b, last := range counted.deciders {
		for _, s := range a.blocks[b].Succs {
			if len(a.blocks[s].Preds) > 1 || !a.graph.Dominates(a.blocks[s].First, inst) {
				continue
			}
			if s == last {
				return lastRound
			}
			r = goesOn
		}
	}
	return r
}

// decider returns the loop of whose rounds the branch of a block tells whether they are the last, and the successor taken then; nil
// where there is none.
func (a *analysis) decider(block int) (l *countedLoop, last int) {
	if l = a.countedLoops()[a.loopOf(block)]; l != nil {
		if last, ok := l.deciders[block]; ok {
			return l, last
		}
	}
	return nil, -1
}

// countedLoops finds the counted loops of the section.
func (a *analysis) countedLoops() map[*cfg.Loop]*countedLoop {
	if a.loops == nil {
		a.loops = map[*cfg.Loop]*countedLoop{}
		for _, l := range a.graph.Loops {
			if c := a.countLoop(l); c != nil {
				a.loops[l] = c
			}
		}
	}
	return a.loops
}

// countLoop returns a loop with its rounds, nil where it is left along several edges or was never entered.
func (a *analysis) countLoop(l *cfg.Loop) *countedLoop {
	header := a.block[a.graph.Blocks[l.Header].First]
	entered := 0.0
	for _, p := range a.blocks[header].Preds {
		if !a.inside(l, a.blocks[p].First) {
			entered += a.counts()[blockEdge{p, int(header)}]
		}
	}
	exit, ways := a.exitEdge(l)
	if entered == 0 || ways != 1 || a.loopOf(exit.from) != l {
		return nil
	}
	c := &countedLoop{Loop: l, rounds: max(1, a.warps[a.blocks[header].First]/entered), deciders: map[int]int{exit.from: exit.to}}
	a.followPredicate(c, exit)
	return c
}

// exitEdge returns the last edge that warps left a loop along, and how many there are.
func (a *analysis) exitEdge(l *cfg.Loop) (exit blockEdge, ways int) {
	for _, g := range l.Blocks {
		last := a.graph.Blocks[g].Last
		b := int(a.block[last])
		for _, s := range a.blocks[b].Succs {
			if e := (blockEdge{b, s}); !a.inside(l, a.blocks[s].First) && a.counts()[e] > 0 {
				exit = e
				ways++
			}
		}
	}
	return exit, ways
}

// followPredicate adds the branches of a loop that go by the predicate of its exit, which one instruction of the loop sets.
func (a *analysis) followPredicate(c *countedLoop, exit blockEdge) {
	end := a.blocks[exit.from].Last
	guard := a.code.Insts[end].Guard
	set := a.setter(c.Loop, guard)
	if set < 0 || len(a.blocks[exit.from].Succs) != 2 || !a.graph.Dominates(set, end) {
		return
	}
	leaves := slices.Index(a.blocks[exit.from].Succs, exit.to)
	for _, g := range c.Blocks {
		last := a.graph.Blocks[g].Last
		b, other := int(a.block[last]), a.code.Insts[last].Guard
		way := leaves
		if other.Neg != guard.Neg {
			way, other.Neg = 1-way, guard.Neg
		}
		if other != guard || len(a.blocks[b].Succs) != 2 || a.loopOf(b) != c.Loop || !a.graph.Dominates(set, last) {
			continue
		}
		c.deciders[b] = a.blocks[b].Succs[way]
	}
}

// setter returns the only instruction of a loop that sets the predicate of a guard, -1 where there is none or it may not.
func (a *analysis) setter(l *cfg.Loop, g sass.Guard) int {
	set := -1
	for r := range sass.NumRes {
		if predOf(r)&condOf(g) == 0 {
			continue
		}
		for _, d := range a.defs[r] {
			if !a.inside(l, int(d)) {
				continue
			}
			if set >= 0 || !a.code.Insts[d].Guard.Always() {
				return -1
			}
			set = int(d)
		}
	}
	return set
}
