package advisor

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// registerTiling matches loops that wait for data which several threads load alike: a thread that computes several results loads what
// they have in common once, into registers.
type registerTiling struct{}

func (registerTiling) Name() string { return "register-tiling" }
func (registerTiling) Class() Class { return Parallel }

func (registerTiling) Match(in *Input) []*Match {
	windows := in.columns()
	if len(windows) == 0 {
		windows = in.windows()
	}
	return append(windows, in.tiles()...)
}

// windows matches loads of what other threads of the warp have just loaded: each thread reads a window of the data around it, as stencils
// and filters do, and the windows of neighbours overlap.
func (in *Input) windows() []*Match {
	matches := in.goneAccesses(in.readAgain(false))
	for _, m := range matches {
		m.Variant = "window"
		m.Speedup = in.ofLaunch(EliminateStalls(in.Total, m.Samples))
		m.Suggestions = []string{
			fmt.Sprintf("Neighbouring threads read windows that overlap: the loads at %s read what other threads of the warp have read before. Let a thread compute several neighbouring results, with the values that these have in common in registers (a window that slides along).",
				in.places(m.defs(), 3)),
			"Two results where accesses of neighbouring threads are to stay next to each other, or vectors of four; or take values of neighbours by __shfl_up_sync and __shfl_down_sync. Not where the registers for it leave room for too few warps.",
		}
	}
	return matches
}

// columns matches loads of windows that overlap between the rows or planes that threads work at: a thread that computes several results one
// above the other loads what their windows have in common once. The first result is finished while the window of the last is loaded: compilers
// have no registers for all of them.
func (in *Input) columns() []*Match {
	loads, waits := make(map[blamer.Node]bool), 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		if r := in.recorded(n); r != nil && in.ofWindow(n) && r.Stored == 0 && (in.sharedByThreads(n) || readByBlocks(r)) {
			loads[n] = true
		}
	}
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; loads[b.Def] && isStall(b) {
			waits += b.Count
		}
	}
	if looped := slices.ContainsFunc(sortedKeys(loads), func(n blamer.Node) bool { return in.Loop(n) != nil }); !looped && len(loads) < leastWindow || waits < leastWaits*in.Total {
		return nil
	}
	if _, overlap := in.overlap(loads); !overlap {
		return nil
	}
	var matches []*Match
	also := in.forSeveral()
	for _, w := range in.columnWays() {
		m := in.resultsMatch(waits, columnResults)
		m.Variant = "column of " + w.of
		m.Change = &Change{
			Streams:   &Streams{Merged: []Merged{{Factor: columnResults, Axis: w.axis, Loads: (columnResults - 1) * in.underWay(loads)}}, Windowed: sortedKeys(loads)},
			Registers: min(in.mostRegisters(), in.Launch.Facts.Registers+registersAResult*(columnResults-1)+len(loads)),
		}
		m.Suggestions = []string{
			fmt.Sprintf("What threads read at %s overlaps with what the threads of neighbouring %s read. Let a thread compute %d results that lie one above the other, in %s that follow each other, and keep what their windows have in common in registers, so that it is loaded once for all of them. %s%s",
				in.places(sortedKeys(loads), 3), w.of, columnResults, w.of, in.smallerBlock(w.axis, columnResults), also),
			"Unroll the loop over the results in full, and load a value before the first result that needs it. The size of the window has to be a constant of the program, with the loops over it unrolled, or every value is tested against the window of each result. Compute all results before the first is stored: behind a store compilers load again. Not where the grid then has too few threads.",
		}
		matches = append(matches, m)
	}
	return matches
}

// smallerBlock says whose size goes down along y where a thread has so many results one above the other: the block's, where enough threads are left
// and the tile of a block stays what it was, or the grid's.
func (in *Input) smallerBlock(axis MergeAxis, results int) string {
	const enough = 2 * warpSize
	if b := in.Launch.Block; axis < MergeX && b[1]%results == 0 && volume(b)/results >= enough {
		return fmt.Sprintf("Let a block of %d x %d threads do what one of %d x %d does now.", b[0], b[1]/results, b[0], b[1])
	}
	return fmt.Sprintf("The grid has %s of its size in that direction.", fraction(results))
}

// ofWindow reports whether a load is in no loop, or in loops of few rounds, as over the weights of a filter.
func (in *Input) ofWindow(n blamer.Node) bool {
	const few = 16
	for l := in.Loop(n); l != nil; l = l.Parent {
		if rounds, known := in.TripCount(n.Code, l); !known || rounds >= few {
			return false
		}
	}
	return true
}

// areWindows reports whether loads read windows that overlap, and nothing else.
func (in *Input) areWindows(loads map[blamer.Node]bool) bool {
	if slices.ContainsFunc(sortedKeys(loads), func(n blamer.Node) bool { return in.Inst(n).Op != sass.LDG || !in.ofWindow(n) }) {
		return false
	}
	_, overlap := in.overlap(loads)
	return overlap
}

const (
	leastWindow   = 3 // loads of a window
	columnResults = 4 // of a thread
)

// A columnWay is which threads have results one above the other.
type columnWay struct {
	axis MergeAxis
	of   string
}

// columnWays finds the rows and planes of a launch: warps of a block that lie above each other, or blocks.
func (in *Input) columnWays() (ways []columnWay) {
	grid, block := in.Launch.Grid, in.Launch.Block
	if block[2] == 1 && grid[2]%columnResults == 0 {
		ways = append(ways, columnWay{MergeZ, "planes"})
	}
	switch {
	case block[1] == 1 && grid[1]%columnResults == 0:
		ways = append(ways, columnWay{MergeY, "rows"})
	case block[0] <= warpSize && block[0]*block[1]%(columnResults*warpSize) == 0:
		ways = append(ways, columnWay{MergeWarps, "rows"})
	case block[1] == columnResults && block[0]%warpSize == 0:
		ways = append(ways, columnWay{MergeStrided, "rows"})
	}
	return ways
}

// tiles matches the loop that waits most for data which several threads load.
func (in *Input) tiles() []*Match {
	l, code := in.hottestLoop()
	if l == nil {
		return nil
	}
	loads, arithmetic := in.commonLoads(code, l)
	if len(loads) == 0 || arithmetic == 0 || in.areWindows(loads) {
		return nil
	}
	waits := 0.0
	in.eachInst(code, l, func(i int) {
		for _, b := range in.byUse[blamer.Node{Code: code, Inst: i}] {
			if b.Detail == blamer.SharedMemory || b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle || loads[b.Def] {
				waits += b.Count
			}
		}
	})
	if waits < leastWaits*in.Total {
		return nil
	}
	const most = 2 // tries of one piece of advice
	at, warps := in.scopePlace(in.loopScope(code, l)), ceilDiv(volume(in.Launch.Block), warpSize)
	var matches []*Match
	factors := []int{4, 8, 2}
	if in.warpsLeft(2) < fewLeft { // as few as can be take the fewest of them
		factors = []int{2, 4}
	}
	staged := in.stagedLoads(code, l)
	for _, factor := range factors {
		if warps%factor == 0 && len(matches) < most {
			m := in.tiledMatch(loads, waits, factor, MergeStrided, at)
			if len(staged) > 0 {
				tile := in.staged(code, l, staged)
				tile.Streams.Vectors = nil // what they move cannot be merged
				m.Change.Streams.Merged[0].Loads = 0
				m.Change = m.Change.with(tile)
				m.Suggestions = []string{
					fmt.Sprintf("In the loop at %s the threads of a block load the same values from global memory again and again (%s). Load a tile of them into shared memory (%s), each value once, its rows one element longer where neighbouring threads read a column (float tile[32][33]), and let a thread compute %d results from there, kept in registers: what they have in common is then loaded once for all of them, and the block has %s. Choose the results of a thread so that they have these loads in common, and what is computed for them (indices, divisions).",
						at, in.places(sortedKeys(staged), 2), in.tileSize(code, l, staged), factor, in.mergedShape(factor)),
					"Without the tile compilers have few of the loads under way together, and more results a thread are slower. Fill the tile in a loop of a constant number of rounds, so that it is unrolled, as is the loop over it, and let the results of a block be about a square. What results need from memory besides (their old values, factors behind pointers) load for all of them before the first store. Go on to a tile of results in both directions (4x4, 8x8) as long as the registers allow. Not where the grid then has too few threads.",
				}
			}
			matches = append(matches, m)
		}
	}
	if len(matches) == 0 && in.Launch.Grid[0]%4 == 0 {
		matches = append(matches, in.tiledMatch(loads, waits, 4, MergeX, at))
	}
	also := in.forSeveral()
	for _, m := range matches {
		m.Suggestions[0] += also
	}
	return matches
}

// sharedTiling matches loops that wait for global memory that other threads of the block load as well: the block can load each part
// once, into shared memory. It matches too what the threads of a block pass to each other through global memory.
type sharedTiling struct{}

func (sharedTiling) Name() string { return "shared-memory-tiling" }
func (sharedTiling) Class() Class { return StallElimination }

// tileLoads is how many loads of a thread a tile stands for, in an unrolled loop as in one that is not: 16 from each of two operands, or as many as a block
// is wide and high, so that each of its threads fills in one element of each.
func (in *Input) tileLoads() int {
	const operands = 2
	return operands * max(16, min(warpSize, in.Launch.Block[0], in.Launch.Block[1]))
}

func (sharedTiling) Match(in *Input) []*Match {
	others := append(in.exchanged(), in.windowTiles()...)
	l, code := in.hottestLoop()
	if l == nil {
		return others
	}
	loads := in.stagedLoads(code, l)
	matches := in.memoryWaits(loads, in.nearer())
	for _, m := range matches {
		m.Spares, m.Least = L2|DRAM, leastOfTile
		m.Change = in.staged(code, l, loads)
		m.Suggestions = []string{
			fmt.Sprintf("The threads of a block load the same values from global memory (%s). Let the block load a tile of them into shared memory (%s), each value once and neighbouring threads neighbouring values, and compute from there between two __syncthreads(). Make the rows one element longer where neighbouring threads read a column of it (float tile[32][33]), or all of them hit one bank.",
				in.places(sortedKeys(loads), 3), in.tileSize(code, l, loads)),
			"Make the size of the tile a constant of the program, with the loop over it unrolled, and fill it in a loop of a constant number of rounds, so that its loads are under way together. Every thread of the block has to come to both barriers in every round, also one that has less to do. Not where the values are used by one warp only: shuffles or registers do then." + in.oldValues(code, l, loads),
		}
		if stores := in.runningStoresOf(code, l); len(stores) > 0 {
			m.Change = m.Change.with(&Change{Gone: stores})
			m.Suggestions[0] += fmt.Sprintf(" The store in each round (%s) goes behind the loop, once for all.", in.places(stores, 2))
		}
	}
	return append(matches, others...)
}

// oldValues says what to do about other loads of a loop that stores as well: each of them waits for the stores of the round before.
func (in *Input) oldValues(code int, l *cfg.Loop, staged map[blamer.Node]bool) string {
	loads, stored := make(map[blamer.Node]bool), false
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		switch p := in.Inst(n).Op.Properties(); {
		case p.Stores(sass.SpaceGlobal):
			stored = true
		case p.Loads(sass.SpaceGlobal) && !staged[n]:
			loads[n] = true
		}
	})
	if !stored || len(loads) == 0 {
		return ""
	}
	return fmt.Sprintf(" What the rounds of a tile load besides (%s) load for all of them before the first of their stores.", in.places(sortedKeys(loads), 2))
}

// leastOfTile is what a tile in shared memory has to promise where loads hit L1 as a rule: of what was tried of six tiles of others' kernels (1.08x to
// 1.96x) a third came about by hand, as filling the tile takes index arithmetic and tests that no run of the recorded instructions has.
const leastOfTile = 1.12

// runningStoresOf are the stores of a loop by which a thread stores a running value in every round.
func (in *Input) runningStoresOf(code int, l *cfg.Loop) []blamer.Node {
	return slices.DeleteFunc(sortedKeys(in.running), func(n blamer.Node) bool { return n.Code != code || in.Loop(n) != l })
}

// stagedLoads are the loads of a loop that a tile in shared memory could stand for: of what other threads of the block load as well while it goes
// through the rounds of one tile, and nobody stores to.
func (in *Input) stagedLoads(code int, l *cfg.Loop) map[blamer.Node]bool {
	loads := make(map[blamer.Node]bool)
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		if in.Inst(n).Op == sass.LDG && in.sharedByThreads(n) && !in.chases(l, n) {
			if written, _ := in.written(n); !written {
				loads[n] = true
			}
		}
	})
	rounds, perRound := in.tileRounds(code, l, loads), int64(0)
	in.eachInst(code, l, func(i int) {
		if n := (blamer.Node{Code: code, Inst: i}); in.recorded(n) != nil {
			perRound += int64(tileWord * in.words(n) * volume(in.Launch.Block))
		}
	})
	maps.DeleteFunc(loads, func(n blamer.Node, _ bool) bool { return in.sharedBeyond(n, int64(rounds)*perRound) })
	return loads
}

// sharedBeyond reports whether most of what a load reads was read before when the block had accessed as many bytes since then: what a tile held is gone
// by then.
func (in *Input) sharedBeyond(load blamer.Node, bytes int64) bool {
	r := in.recorded(load)
	far := int64(0)
	for n, read := range r.Distances {
		if n > 0 && int64(1)<<(n-1) >= bytes {
			far += read
		}
	}
	return 2*far >= r.Bytes
}

// tileRounds is how many rounds of a loop a tile of some of its loads stands for. Of what all threads of a warp read alike it holds more rounds.
func (in *Input) tileRounds(code int, l *cfg.Loop, loads map[blamer.Node]bool) int {
	rounds := max(1, in.tileLoads()/max(1, len(loads)))
	if broadcast, words := in.broadcastWords(loads); broadcast {
		rounds = max(rounds, tileWords/words)
	}
	if n, known := in.TripCount(code, l); known && n >= 1 {
		rounds = min(rounds, int(math.Ceil(n)))
	}
	return rounds
}

// leastRow is how many words of a row that is read across threads a tile holds at least: those of two sectors, so that filling it reads whole ones.
const leastRow = 16

// tileSize says what a tile of some loads of a loop holds, in rounds of the source's loop: compilers have several of them in one.
func (in *Input) tileSize(code int, l *cfg.Loop, loads map[blamer.Node]bool) string {
	copies := in.unrolledBy(code, l)
	rounds := copies * in.tileRounds(code, l, loads)
	if slices.ContainsFunc(sortedKeys(loads), func(n blamer.Node) bool { return in.counts(n).sectors > 2*in.counts(n).sectorsIdeal }) {
		rounds = max(rounds, leastRow)
	}
	if n, known := in.TripCount(code, l); known && float64(rounds) >= n*float64(copies) {
		return "what all rounds of the loop read"
	}
	return fmt.Sprintf("what %d rounds of the loop read", rounds)
}

// staged is the change by which loads of a loop find their data in shared memory. The size of the tile is known when the program is
// compiled: offsets in it are part of the loads, rounds are unrolled, and neighbouring words of a thread are loaded at once.
func (in *Input) staged(code int, l *cfg.Loop, loads map[blamer.Node]bool) *Change {
	s := &Streams{Staged: []Staged{{Loads: sortedKeys(loads), Loop: in.streamLoop(code, l), Rounds: in.tileRounds(code, l, loads), Index: tileIndex}}}
	for _, g := range in.vectorGroups() {
		if !slices.ContainsFunc(g, func(n blamer.Node) bool { return !loads[n] }) {
			s.Vectors = append(s.Vectors, g)
		}
	}
	c := &Change{Streams: s}
	if in.isLeaf(code, l) {
		c.Gone = in.overheadOf(code, l, loads)
	}
	return c
}

// overheadOf is the overhead of a loop but for what finds the places of other accesses than some loads.
func (in *Input) overheadOf(code int, l *cfg.Loop, loads map[blamer.Node]bool) []blamer.Node {
	f := in.flowOf(code, l)
	var others []int
	in.eachInst(code, l, func(i int) {
		if n := (blamer.Node{Code: code, Inst: i}); !loads[n] && f.inst(i).Op.Properties().Memory() != sass.NoSpace {
			others = append(others, i)
		}
	})
	needed := f.needs(others...)
	return slices.DeleteFunc(in.overhead(f, nil), func(n blamer.Node) bool { return needed[n.Inst] })
}

// tileIndex is what it takes to load 32 neighbouring words for a tile and to go on to the next one: ten instructions for two elements of a thread, as
// NVRTC 12.9 makes them for sm_80 of kernels/ladders/sgemm, version shared.
const tileIndex = 5

// tileWords is the size of a tile of what all threads of a warp read alike, as of bodies or keys: an element a thread of a block or so, not an element
// of each of them.
const tileWords = 1024

// broadcastWords reports whether all of some loads read one place each for all threads of a warp, and how many words these are.
func (in *Input) broadcastWords(loads map[blamer.Node]bool) (broadcast bool, words int) {
	for n := range loads {
		if !in.isBroadcast(n) {
			return false, 0
		}
		words += in.words(n)
	}
	return words > 0, words
}

// nearer is the share of the latency of global memory that shared memory spares: what hits L1 has nearly its latency already.
func (in *Input) nearer() float64 {
	sectors := 0.0
	for i := range in.Launch.PCs {
		sectors += float64(in.Launch.PCs[i].GlobalSectors)
	}
	asked := sectors * in.Model.L1.Sector.Value
	missed := min(1, float64(in.Launch.Facts.L2Bytes)/max(1, asked))
	if in.Launch.Facts.L2Bytes == 0 {
		missed = 1 // nothing tells
	}
	l := &in.Model.Latencies
	return 1 - l.Shared.Value/((1-missed)*l.L1.Value+missed*l.L2.Value)
}

// memoryWaits matches the waits for accesses to global memory, a share of each.
func (in *Input) memoryWaits(accesses map[blamer.Node]bool, share float64) []*Match {
	c := newCollector(in)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; accesses[b.Def] && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle) {
			c.addShare(in.kernelScope(), b, share)
		}
	}
	return c.finish()
}

// leastWaits is the least share of the samples that waits for memory must have for fewer loads to matter.
const leastWaits = .1

// commonLoads returns the loads of a loop whose data other threads of the block load as well, and how many arithmetic instructions there
// are with them.
func (in *Input) commonLoads(code int, l *cfg.Loop) (loads map[blamer.Node]bool, arithmetic int) {
	loads = make(map[blamer.Node]bool)
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		switch op := in.Inst(n).Op; {
		case isFragmentLoad(op):
			if in.sharedByThreads(n) {
				loads[n] = true
			}
		case op.Properties().Does == sass.MultipliesAdds, op.Properties().Class == sass.ClassFloat:
			arithmetic++
		}
	})
	return loads, arithmetic
}

// sharedByThreads reports whether most of what a load reads other threads of the block read as well, by it or by another load, by the
// record of the launch.
func (in *Input) sharedByThreads(load blamer.Node) bool {
	r := in.recorded(load)
	if r == nil || r.Bytes == 0 {
		return false
	}
	others := int64(0)
	for _, p := range []profiler.Party{profiler.SameWarp, profiler.SameBlock} {
		others += r.InEarlierRound[p] + r.Earlier[p]
	}
	if r.Distinct > 0 { // of global memory: by several lanes at once, too
		others = max(others, r.Bytes-r.Distinct-r.InEarlierRound[profiler.SameThread]-r.Earlier[profiler.SameThread])
	}
	return 2*others >= r.Bytes
}

// tiledMatch is the advice to compute so many results a thread.
func (in *Input) tiledMatch(loads map[blamer.Node]bool, waits float64, factor int, axis MergeAxis, at string) *Match {
	m := in.resultsMatch(waits, factor)
	m.Variant = fmt.Sprintf("%d results", factor)
	m.Change = &Change{Streams: &Streams{Merged: []Merged{{Factor: factor, Axis: axis, Loads: in.underWay(loads)}}}, Registers: min(in.mostRegisters(), in.Launch.Facts.Registers+registersAResult*(factor-1))}
	m.Suggestions = []string{
		fmt.Sprintf("In the loop at %s the threads of a block load the same data again and again (%s). Let a thread compute %d results, kept in registers: what they have in common is then loaded once for all of them, and the block has %s. Choose the results of a thread so that they have these loads in common, and what is computed for them (indices, divisions).",
			at, in.places(sortedKeys(loads), 2), factor, in.mergedShape(factor)),
		"What results need from memory besides (their old values, factors behind pointers) load for all of them before the first store. Go on to a tile of results in both directions (4x4, 8x8) as long as the registers allow. Not where the grid then has too few threads.",
	}
	return m
}

// manyWaves is how many times a grid fills the GPU for a few blocks more or less at its end not to count: with fewer the last wave takes a share of the
// time that what is gained may not outweigh. A default.
const manyWaves = 8

// mergedShape says what blocks have when a thread does as much as so many did: those of the launch fewer threads, or fewer larger ones more
// results where the grid has enough of them or the threads would be too few.
func (in *Input) mergedShape(factor int) string {
	threads := volume(in.Launch.Block) / factor
	fewer := fmt.Sprintf("%s of the threads (%d), for the same results", fraction(factor), threads)
	larger := fmt.Sprintf("the results of %d blocks, in a grid of %s of the blocks", factor, fraction(factor))
	switch {
	case threads < 2*warpSize:
		return larger
	case !in.hasManyWaves(factor):
		return fewer
	}
	return fewer + ", or " + larger
}

// hasManyWaves reports whether a grid of so many times fewer blocks fills the GPU manyWaves times.
func (in *Input) hasManyWaves(fewer int) bool {
	return volume(in.Launch.Grid)/fewer >= manyWaves*in.wave()
}

// fraction names the part of which there are so many.
func fraction(n int) string {
	switch n {
	case 2:
		return "half"
	case 4:
		return "a quarter"
	}
	return fmt.Sprintf("1/%d", n)
}

// resultsMatch is a match of waits for data that so many results of a thread have in part in common.
func (in *Input) resultsMatch(waits float64, factor int) *Match {
	gone := waits / 2 * (1 - 1/float64(factor)) // of two operands one is common to the results of a thread
	m := in.launchMatch(in.ofLaunch(EliminateStalls(in.Total, gone)))
	m.Samples, m.Spares = waits, SharedMemory|IssueSlots|L2|DRAM
	if in.warpsLeft(factor) < fewLeft {
		m.Least = leastWithFew
	}
	return m
}

// warpsLeft is how many warps a scheduler has where a thread does what so many do now.
func (in *Input) warpsLeft(factor int) float64 {
	return in.warps() / float64(factor*in.Launch.Facts.SMs*max(1, in.Launch.Facts.SchedulersPerSM))
}

// underWay is how many words compilers load at a time by some loads, those from global memory alone; 0 where there are none.
func (in *Input) underWay(loads map[blamer.Node]bool) (words int) {
	for n := range loads {
		if in.Inst(n).Op == sass.LDG {
			words += in.words(n)
		}
	}
	return words
}

// Where a scheduler has fewer warps left than these, several results a thread have to promise more to be listed: what they leave bare depends on
// how a compiler orders their loads (five such pieces of which 1.02x to 1.39x was expected took 0.71x to 0.98x).
const (
	fewLeft      = 4
	leastWithFew = 1.25
)

// registersAResult is what a further result takes in registers: its sum, and its share of addresses.
const registersAResult = 4
