package advisor

import (
	"gpa/blamer"
	"gpa/cubin/cfg"
)

// leastOfLaunch is the part of a launch's samples that a loop has at least whose rounds stand for it.
const leastOfLaunch = .8

// LongLoop returns the loop whose rounds most of a launch's time goes into, the outermost of those that go through least rounds or more each time that
// they are entered, and how many these are. There is none where the source counters do not tell.
func LongLoop(r *blamer.Result, least float64) (l Loop, rounds float64, ok bool) {
	in := NewInput(r)
	all := 0.0
	for _, c := range in.codes {
		if c != nil {
			for _, n := range c.total {
				all += n
			}
		}
	}
	var found *cfg.Loop
	code := 0
	for k, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			n, known := in.TripCount(k, l)
			if known && n >= least && !l.Gather && in.samplesInLoop(k, l) >= leastOfLaunch*all && (found == nil || l.Depth < found.Depth) {
				found, code, rounds = l, k, n
			}
		}
	}
	if found == nil {
		return Loop{}, 0, false
	}
	return in.streamLoop(code, found), rounds, true
}
