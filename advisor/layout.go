package advisor

import (
	"math"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// What the optimizers have in common that lay the work of a launch out over threads otherwise.

// streamLoop is a loop for an edit of streams.
func (in *Input) streamLoop(code int, l *cfg.Loop) Loop {
	out := Loop{Header: blamer.Node{Code: code, Inst: in.codes[code].graph.Blocks[l.Header].First}}
	in.eachInst(code, l, func(i int) { out.Body = append(out.Body, blamer.Node{Code: code, Inst: i}) })
	out.Called = in.calledIn(code, l)
	return out
}

// A loopNest is loops of one section, none within another, whose rounds do not depend on each other.
type loopNest struct {
	code    int
	loops   []*cfg.Loop
	samples float64 // that come again with every round
	hottest *cfg.Loop
	rounds  float64       // of the hottest loop, each time it is entered
	barrier bool          // one has a barrier of the block
	scanned bool          // each round needs the sum of those before it
	taken   []blamer.Node // loads by which it takes it from where the round before has stored it
	online  bool          // rounds keep an extreme and what belongs to it
	rolled  *Rolled       // what else the hottest loop of the source has become, nil where it is that loop alone
	// handed are loads of what a round of these loops has stored in an earlier round of the loop around; ownArray: in an array of the thread's own.
	handed   []blamer.Node
	ownArray bool
	sums     []blamer.Node // accesses by which its loops add to sums in memory
	counts   []blamer.Node // and to counts
	assumed  assumption
}

// independent finds the outermost loops of the section with the most samples whose rounds could be executed in any order.
func (in *Input) independent() loopNest {
	_, code := in.hottestLoop()
	nest := loopNest{code: code}
	if in.codes[code] == nil {
		return nest
	}
	most := 0.0
	var add func(parent *cfg.Loop)
	add = func(parent *cfg.Loop) {
		for _, l := range in.codes[code].graph.Loops {
			if l.Parent != parent {
				continue
			}
			ordered, assumed := in.ordered(code, l)
			if ordered {
				if ordered, assumed = in.orderedBut(code, l, true); !ordered {
					nest.scanned = true
					nest.taken = append(nest.taken, sortedKeys(in.memoryScan(code, l))...)
				}
			}
			rounds, known := in.TripCount(code, l)
			if ordered || !known || rounds < 2 {
				add(l)
				continue
			}
			nest.online = nest.online || in.online(code, l)
			samples := in.samplesInLoop(code, l)
			nest.loops = append(nest.loops, l)
			nest.samples += samples
			nest.barrier = nest.barrier || in.hasBarrier(code, l)
			nest.sums = append(nest.sums, sortedKeys(in.memorySums(code, l))...)
			if len(nest.sums) == 0 {
				nest.counts = append(nest.counts, sortedKeys(in.memoryCounts(code, l))...)
			}
			if assumed != "" {
				nest.assumed = assumed
			}
			if samples > most {
				most, nest.hottest, nest.rounds = samples, l, rounds
			}
		}
	}
	add(nil)
	return nest
}

// storesByRound reports whether each round of a nest stores results of its own, so that nothing has to be put together where others do some of
// the rounds. A loop that stores nothing leaves its result to what comes behind it.
func (in *Input) storesByRound(n *loopNest) bool {
	storing := make(map[*cfg.Loop]bool)
	for i := range in.Module.Codes[n.code].Insts {
		x := blamer.Node{Code: n.code, Inst: i}
		if op := in.Inst(x).Op; !movesGlobal(op) || op == sass.LDG || in.counts(x).executions == 0 {
			continue
		}
		l := n.loopOf(in.Block(x))
		if in.running[x] || l == nil {
			return false
		}
		storing[l] = true
	}
	return len(storing) == len(n.loops) && len(n.sums) == 0
}

// results is how many values the rounds of a nest leave that have to be put together: reductions, and sums in memory.
func (in *Input) results(n *loopNest) (most int) {
	for _, l := range n.loops {
		f := in.flowOf(n.code, l)
		count := 0
		for _, c := range f.cycles() {
			if !f.isInduction(c) && !f.isCounter(c) && !f.keepsBytes(c) {
				count++
			}
		}
		most = max(most, count)
	}
	return most + len(n.sums)/2
}

// loopOf is the loop of the nest that a block is in, nil for none.
func (n *loopNest) loopOf(b *cfg.Block) *cfg.Loop {
	if i := slices.IndexFunc(n.loops, func(l *cfg.Loop) bool { return b != nil && l.Contains(b.ID) }); i >= 0 {
		return n.loops[i]
	}
	return nil
}

// streamLoops are the loops of a nest for an edit of streams.
func (in *Input) streamLoops(n *loopNest) (list []Loop) {
	var body []blamer.Node
	if n.rolled != nil {
		body = slices.Concat(n.rolled.Copies...)
		list = append(list, Loop{Header: n.rolled.Copies[n.rolled.Anchor][0], Body: body})
	}
	for _, l := range n.loops {
		if x := in.streamLoop(n.code, l); !slices.ContainsFunc(x.Body, func(i blamer.Node) bool { return slices.Contains(body, i) }) {
			list = append(list, x)
		}
	}
	return list
}

// nestPlace is where the hottest loop of a nest is, and those that take long beside it.
func (in *Input) nestPlace(n *loopNest) string {
	var places []string
	for _, l := range n.loops {
		at := in.scopePlace(in.loopScope(n.code, l))
		if (l == n.hottest || in.samplesInLoop(n.code, l) >= leastOfHottest*in.samplesInLoop(n.code, n.hottest)) && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return strings.Join(places, ", and of that at ")
}

// room is how many times as many warps the GPU would hold if the grid had enough of them.
func (in *Input) room() float64 {
	blocks, threads := volume(in.Launch.Grid), volume(in.Launch.Block)
	fits := in.blocksHeld(threads)
	if blocks <= 0 || fits <= blocks {
		return 1
	}
	return float64(fits) / float64(blocks)
}

// blocksHeld is how many blocks of so many threads the GPU holds.
func (in *Input) blocksHeld(threads int) int {
	return in.occupancy(math.MaxInt32, threads).BlocksPerSM * in.Launch.Facts.SMs
}

// powerOfTwo is the largest one that is not above x, at least 1.
func powerOfTwo(x float64) int {
	n := 1
	for float64(2*n) <= x {
		n *= 2
	}
	return n
}
