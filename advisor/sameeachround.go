package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Loops within a loop often read the same words in each of its rounds, as where values of a window are counted again and again, or a point is compared with
// one centre after the other: a few words a thread, which registers could hold.

// Of how many rounds the loop around has to have at least, and how many words a thread would keep at most: an array of registers is indexed by constants,
// in loops that are unrolled.
const (
	leastRepeats = 3
	mostRepeated = 32
)

// sameEachRound matches loads of inner loops that bring the same words in every round of the loop around.
func (in *Input) sameEachRound() (matches []*Match) {
	for code, c := range in.codes {
		if c == nil || c.executions == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			if m := in.keptOverRounds(code, l); m != nil {
				matches = append(matches, m)
			}
		}
	}
	return matches
}

// keptOverRounds matches such loads of one loop; nil where there are none, or too many.
func (in *Input) keptOverRounds(code int, l *cfg.Loop) *Match {
	rounds, known := in.TripCount(code, l)
	if !known || rounds < leastRepeats || in.isLeaf(code, l) || in.hasBarrier(code, l) {
		return nil
	}
	f := in.flowOf(code, l)
	header := in.counts(blamer.Node{Code: code, Inst: in.codes[code].graph.Blocks[l.Header].First}).executions
	var loads, others []int
	words, stores := 0.0, false
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		inst := f.inst(i)
		stores = stores || inst.Op.Properties().Writes&sass.SpaceShared != 0 || isAtomic(inst.Op)
		switch {
		case inst.Op == sass.LDS && in.counts(n).executions > 0 && f.sameAgain(i):
			loads = append(loads, i)
			words += in.counts(n).executions / max(1, header) * float64(in.words(n))
		case !isControl(inst):
			others = append(others, i)
		}
	})
	if stores || len(loads) == 0 || words > min(mostRepeated, float64(in.mostRegisters()-in.Launch.Facts.Registers)) {
		return nil
	}
	m := &Match{Scope: in.loopScope(code, l), Spares: SharedMemory | IssueSlots, Variant: "same each round", Least: leastRestructured}
	m.Change = &Change{Registers: in.Launch.Facts.Registers + int(words)}
	again := make(map[blamer.Node]bool)
	var nodes []blamer.Node
	for _, i := range loads {
		nodes = append(nodes, blamer.Node{Code: code, Inst: i})
		again[nodes[len(nodes)-1]] = true
	}
	// An array of registers is gone through by loops that are unrolled: what these count, and compute for addresses, goes as well.
	others = append(others, f.exits()...)
	for n, edges := range f.from {
		for _, e := range edges {
			if n < 0 && e.node >= 0 { // what goes on to the next round
				others = append(others, e.node)
			}
		}
	}
	stay := f.needsBut(loads, others)
	for _, i := range others {
		stay[i] = true
	}
	in.eachInst(code, l, func(i int) {
		if n := (blamer.Node{Code: code, Inst: i}); !stay[i] && isControl(f.inst(i)) && in.counts(n).executions > 0 {
			again[n] = true
		}
	})
	c := newCollector(in)
	for _, n := range sortedKeys(again) {
		m.Change.Thinned = append(m.Change.Thinned, Thinned{n, rounds})
		if issued := in.codes[code].issued[n.Inst]; issued > 0 {
			c.addShare(m.Scope, &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued}, 1-1/rounds)
		}
	}
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; again[b.Def] {
			c.addShare(m.Scope, b, 1-1/rounds)
		}
	}
	found := c.finish()
	if len(found) == 0 {
		return nil
	}
	m.Samples, m.Latency, m.Hotspots = found[0].Samples, found[0].Latency, found[0].Hotspots
	m.Suggestions = []string{
		fmt.Sprintf("In each of the %.0f rounds of the loop at %s the loads at %s bring the same words from shared memory, about %.0f a thread. Read them once into registers before that loop (an array, in loops of constant length that are unrolled), and go through these in its rounds.",
			rounds, in.scopePlace(m.Scope), in.places(in.bySamples(nodes), 3), words),
		"Not where the registers for them leave room for fewer warps.",
	}
	return m
}

// sameAgain reports whether a load of a loop within has the same addresses in each round of a flow's loop: these follow from nothing that the rounds
// change or load.
func (f *registerFlow) sameAgain(load int) bool {
	for n := range f.needs(load) {
		switch {
		case n < 0:
			if !f.invariant(n, map[int]bool{}) {
				return false
			}
		case fromElsewhere(f.inst(n).Op) || isAtomic(f.inst(n).Op):
			return false
		}
	}
	return true
}
