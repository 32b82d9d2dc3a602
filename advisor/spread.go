package advisor

import (
	"fmt"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A launch in which few threads go through many rounds each, that store results of their own, is a program for one processor: its loop becomes the
// grid, a thread a round.

const (
	leastSpread   = 2 * warpSize // threads that each one becomes at least: for fewer a warp that shares an item does
	spreadThreads = 256          // of a block
	// mostSpread is how many times as many threads as the GPU holds are made at most: with more of them each has several rounds.
	mostSpread = 8
)

// spreadMatches is the advice to make a thread of each round of a nest or, of sums over rounds, as many threads as the GPU holds.
func (in *Input) spreadMatches(n *loopNest) (matches []*Match) {
	if in.entries(n) == 0 || n.barrier || n.scanned || len(n.handed) > 0 || n.online || len(n.sums) > 0 || in.handsToOthers() || in.samplesInLoop(n.code, n.hottest) < in.Total/2 {
		return nil
	}
	apart := len(n.counts) > 0 || in.storesByRound(n)
	s := in.spreadOf(n, apart)
	if s.per != math.Trunc(s.per) || s.parts < leastSpread || s.holds < leastSpread*s.workers {
		return nil
	}
	inner := *n
	inner.hottest, inner.rounds = s.innermost, s.each
	if s.source = in.sourceRounds(&inner); apart && s.source > s.each {
		rolled, unrolled := *n, s
		if r, _, _ := in.copiesAt(&inner, in.linesOfNest(&inner)); r != nil {
			rolled.rolled, rolled.rounds, unrolled.each = in.countedByStores(r), s.source, s.source
			unrolled.shareOut(apart)
			matches = append(matches, in.spreadMatch(&rolled, unrolled, apart))
		}
	}
	return append(matches, in.spreadMatch(n, s, apart))
}

// spreadMatch is the advice for rounds that are laid out in some way.
func (in *Input) spreadMatch(n *loopNest, s roundSpread, apart bool) *Match {
	loop := in.streamLoop(n.code, n.hottest)
	loop.Header = in.streamLoop(n.code, s.innermost).Header
	if n.rolled != nil {
		loop.Header, loop.Body = n.rolled.Copies[n.rolled.First][0], slices.Concat(append(n.rolled.Copies, loop.Body)...)
	}
	m := in.distributed(n, min(s.parts, s.holds/s.workers))
	m.Variant = "a thread a round" + n.variant()
	m.Change = &Change{Streams: &Streams{Rolled: n.rolled.among(int(s.parts)), Spread: &Spread{Loops: []Loop{loop}, Workers: int(s.per), Parts: int(s.parts), Threads: s.threads, Beside: s.beside, Combined: !apart, Results: in.results(n)}}}
	switch {
	case len(n.counts) > 0:
		m.Change.Gone, m.Change.Streams.Spread.Added = in.addedAtomically(n)
		m.Suggestions = []string{in.spreadText(n, s), in.atomically(n)}
	case !apart:
		m.Suggestions = []string{in.spreadText(n, s), fmt.Sprintf("Each block of %d threads puts its results together (__shfl_xor_sync and shared memory), and one of its threads adds them by atomics to results that are zero before, or stores them for a second kernel.", s.threads)}
	case len(in.executedNodes(isAtomic)) > 0:
		m.Suggestions = []string{in.spreadText(n, s)}
	default:
		m.Suggestions = []string{in.spreadText(n, s), "Each round stores results of its own, so that nothing has to be put together. What a round adds up in memory goes into a register, and is stored once."}
	}
	return m
}

// A roundSpread says how the rounds of a nest become threads.
type roundSpread struct {
	innermost *cfg.Loop // whose rounds become threads
	each      float64   // rounds of each thread that comes to the nest
	source    float64   // of the source, of which the compiler may have put several together
	workers   float64   // threads of the launch that do
	per       float64   // of a block; those of warps that do where the lanes of a warp stay beside each other
	beside    bool
	threads   int     // of a new block
	holds     float64 // threads that the GPU holds then
	parts     float64 // threads that each one becomes
}

// spreadOf lays rounds out over threads, all of them or, where what they leave has to be put together, as many as the GPU holds.
func (in *Input) spreadOf(n *loopNest, apart bool) (s roundSpread) {
	s.innermost, s.each = n.hottest, n.rounds
	if apart {
		s.innermost, s.each = in.eachRound(n)
	}
	header := in.counts(in.streamLoop(n.code, n.hottest).Header)
	s.workers = header.threads / n.rounds
	blocks := float64(volume(in.Launch.Grid))
	// Threads of a warp that go through the loop together stay neighbours where they read whole sectors so.
	s.beside = apart && header.threads >= header.executions*warpSize/2 && in.sectorsTooMany(n) < someSectors
	s.per = s.workers / blocks
	if s.beside {
		s.per = warpSize * in.entries(n) / blocks
	}
	s.threads = spreadThreads
	if t := volume(in.Launch.Block); t%warpSize == 0 && t < s.threads && apart {
		s.threads = max(t, 2*warpSize)
	}
	s.holds = float64(in.blocksHeld(s.threads) * s.threads)
	s.shareOut(apart)
	return s
}

// shareOut finds how many threads each one becomes.
func (s *roundSpread) shareOut(apart bool) {
	switch {
	case !apart:
		const leastRounds = 8 // of a thread, which has its part of putting the results together to do as well
		s.parts = math.Floor(min(s.each/leastRounds, s.holds/s.workers)/spreadThreads) * spreadThreads
	case s.beside:
		s.parts = math.Ceil(min(s.each, mostSpread*s.holds/s.workers))
	default:
		s.parts = math.Ceil(min(s.each, mostSpread*s.holds/s.workers)/warpSize) * warpSize
	}
}

// spreadText says who takes which rounds.
func (in *Input) spreadText(n *loopNest, s roundSpread) string {
	who, each := "threads go", "each of them"
	numbers := fmt.Sprintf("Take the item and the round from blockIdx and threadIdx instead of the loop, with tests for their ends, in blocks of %d threads", s.threads)
	if s.workers == 1 {
		who, each = "thread goes", "it"
		numbers = fmt.Sprintf("Take the number of the round from blockIdx.x * blockDim.x + threadIdx.x instead of the loop, with a test for the end, in blocks of %d threads", s.threads)
	}
	loops := "the loop at " + in.scopePlace(in.loopScope(n.code, n.hottest))
	if s.innermost != n.hottest {
		loops += " and the one at " + in.scopePlace(in.loopScope(n.code, s.innermost)) + " in it"
	}
	made, neighbours := "a thread for each round of "+each, "neighbouring threads have rounds that follow each other"
	if s.beside {
		neighbours = "neighbouring threads stay neighbours and have the same round"
	}
	if s.parts < s.each {
		made = fmt.Sprintf("%.0f threads of %s", s.parts, each)
		numbers = fmt.Sprintf("Thread j does the rounds j, j+%.0f and so on (in a launch of one item a loop from blockIdx.x * blockDim.x + threadIdx.x on, by gridDim.x * blockDim.x), in blocks of %d threads", s.parts, s.threads)
	}
	return fmt.Sprintf("Only %.0f %s through %s, about %.0f rounds each, and the GPU holds %.0f threads. Make %s. %s; %s.",
		s.workers, who, loops, s.source, s.holds, made, numbers, neighbours)
}

// handsToOthers reports whether threads of a block leave each other values in shared memory, so that none of them can be left out.
func (in *Input) handsToOthers() bool {
	return len(in.executedNodes(func(op sass.Op) bool { return op.Properties().Loads(sass.SpaceShared) })) > 0
}

// eachRound is the loop within the hottest one of a nest, or that itself, whose rounds can all be done at the same time: what stores results stands
// in it. rounds is how many it has for each entry of the hottest loop.
func (in *Input) eachRound(n *loopNest) (l *cfg.Loop, rounds float64) {
	l = n.hottest
	for _, inner := range in.codes[n.code].graph.Loops {
		if inner.Parent != l {
			continue
		}
		if ordered, _ := in.ordered(n.code, inner); !ordered && in.samplesInLoop(n.code, inner) >= in.samplesInLoop(n.code, l)/2 && in.storesWithin(n, inner) {
			l = inner // loops come in the order of the code, outer ones first
		}
	}
	graph := in.codes[n.code].graph
	executions := in.codes[n.code].executions[graph.Blocks[l.Header].First]
	return l, executions / in.entries(n)
}

// storesWithin reports whether all stores to global memory of a nest's hottest loop stand in a loop within it.
func (in *Input) storesWithin(n *loopNest, inner *cfg.Loop) bool {
	all := true
	in.eachInst(n.code, n.hottest, func(i int) {
		x := blamer.Node{Code: n.code, Inst: i}
		if op := in.Inst(x).Op; movesGlobal(op) && op != sass.LDG && in.counts(x).executions > 0 {
			b := in.Block(x)
			all = all && b != nil && inner.Contains(b.ID)
		}
	})
	return all
}
