package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// leastScalar is the share of the samples that a loop of scalars must have.
const leastScalar = .3

// scalarRounds matches loops of Triton kernels that take one element a round: what a program loads as a scalar all its threads load, and compute with,
// alike, and one of them stores it. As a block the elements have a thread each; a value that goes on from round to round is a reduction or a
// scan then.
func (in *Input) scalarRounds() (matches []*Match) {
	if in.language != triton {
		return nil
	}
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, l := range s.graph.Loops {
			if m := in.scalarLoop(code, l); m != nil {
				matches = append(matches, m)
			}
		}
	}
	return matches
}

// scalarLoop is the match of a loop, nil where it does something else.
func (in *Input) scalarLoop(code int, l *cfg.Loop) *Match {
	trips, known := in.TripCount(code, l)
	if known && trips < leastRounds {
		return nil
	}
	loads, samples, other := 0, 0.0, false
	c := new(Change)
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		k, p := in.counts(n), in.Inst(n).Op.Properties()
		samples += in.codes[code].total[i]
		switch {
		case k.executions == 0:
		case in.Loop(n) != l || p.Class == sass.ClassShuffle || p.Class == sass.ClassMatrix || p.Sync != sass.SyncNone || p.Accesses(sass.SpaceShared):
			other = true
		case p.Loads(sass.SpaceGlobal):
			loads++
			other = other || !in.isBroadcast(n)
		case p.Stores(sass.SpaceGlobal):
			other = other || k.threads > k.executions
		}
		c.Thinned = append(c.Thinned, Thinned{n, warpSize})
	})
	if other || loads == 0 || samples < leastScalar*in.Total {
		return nil
	}
	if ordered, _ := in.orderedBut(code, l, true); ordered {
		return nil
	}
	gone := samples * (1 - 1./warpSize)
	m := in.launchMatch(in.ofLaunch(EliminateStalls(in.Total, gone)))
	m.Samples, m.Change, m.Spares = gone, c, IssueSlots|L2
	m.Spoken, m.Suggestions = true, []string{fmt.Sprintf(
		"Each round of the loop at %s takes one element, which all %d threads of a program load and compute with alike. Load the elements as a block (offsets base + tl.arange(0, BLOCK), with a mask) and compute with all of them at once: tl.sum or tl.max in the place of a running sum or maximum, tl.cumsum or tl.associative_scan where each round stores it. Not where a round needs more of the one before than that.",
		in.scopePlace(in.loopScope(code, l)), volume(in.Launch.Block))}
	return m
}
