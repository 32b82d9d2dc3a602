package advisor

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// workDistribution matches threads that go through many independent rounds each while SMs are idle, or while
// neighbouring threads read far apart because each goes along a row of its own: a warp or a block can share what one thread does.
type workDistribution struct{}

func (workDistribution) Name() string { return "work-distribution" }
func (workDistribution) Class() Class { return Parallel }

// The least that dividing rounds has to promise to be looked at: twice the warps, or a quarter of the sectors. Where there is room lanes
// that share rounds are looked at from half of the sectors on.
const (
	leastRoom    = 2
	leastSectors = 4
	someSectors  = 2
)

func (workDistribution) Match(in *Input) []*Match {
	if in.Launch.Facts.SMs <= 0 {
		return nil
	}
	if scalars := in.scalarRounds(); len(scalars) > 0 {
		return scalars
	}
	nest := in.independent()
	if nest.hottest == nil {
		return in.fewThreads()
	}
	in.passOn(&nest)
	if same := in.sameRounds(&nest); len(same) > 0 {
		return same
	}
	matches := in.sharedOut(&nest)
	spread := in.spreadMatches(&nest)
	if len(spread) > 0 && in.storesByRound(&nest) { // more lanes than those of a warp are threads of the grid then
		matches = matches[:min(1, len(matches))]
	}
	if matches = append(matches, spread...); len(spread) == 0 && in.asInSource(&nest) {
		matches = append(matches, in.sharedOut(&nest)...)
	}
	if len(matches) == 0 {
		return in.fewThreads()
	}
	in.acrossBarriers(&nest, matches)
	if nest.online {
		for _, m := range matches {
			m.Suggestions = slices.Insert(m.Suggestions, 1, "Each part has an extreme of its own (a running maximum or minimum). Of two parts take the greater or the smaller one, and what belongs to it: sums of each part scaled to it as the loop scales them, or the place of the one that was taken.")
		}
	}
	return matches
}

// acrossBarriers says what it takes to divide rounds among more blocks that stand in a loop with barriers of the block: all blocks have to meet
// then, by a barrier of the grid or a launch for each round. No what-if run has those.
func (in *Input) acrossBarriers(n *loopNest, matches []*Match) {
	around := n.hottest.Parent
	for around != nil && !in.hasBarrier(n.code, around) {
		around = around.Parent
	}
	if around == nil {
		return
	}
	rounds := in.codes[n.code].executions[in.codes[n.code].graph.Blocks[around.Header].First] / in.warps()
	for _, m := range matches {
		m.Change = nil
		if cycles := float64(in.Launch.Facts.Cycles); cycles > 0 {
			m.Speedup = max(1, cycles/(cycles/m.Speedup+rounds*in.Model.Launching.Fixed.Value))
		}
		m.Suggestions = slices.Insert(m.Suggestions, 1, fmt.Sprintf("The loop at %s has a barrier of the block between these rounds and the next ones, at which all blocks have to meet then: make a launch for each of its %.0f rounds, or a cooperative launch with grid.sync().",
			in.scopePlace(in.loopScope(n.code, around)), rounds))
	}
}

// warps is how many the launch has.
func (in *Input) warps() float64 {
	return float64(volume(in.Launch.Grid) * ceilDiv(volume(in.Launch.Block), warpSize))
}

// sharedOut matches the nest of loops that takes most of the time.
func (in *Input) sharedOut(nest *loopNest) (matches []*Match) {
	if nest.samples < in.Total/2 {
		return nil
	}
	working := in.working(nest)
	room, sectors := in.room()/working, in.sectorsTooMany(nest)
	shares := sectors >= leastSectors || room >= leastRoom && (sectors >= someSectors || in.halfWarps())
	switch {
	case !in.starved(room, working) && !shares:
		return nil
	case (nest.scanned || len(nest.handed) > 0) && (nest.barrier || !shares):
		return nil // a scan over blocks is another algorithm, and what is handed on there needs a barrier of the grid
	case nest.barrier || !shares:
		if nest = in.amongBlocks(nest); nest.samples < in.Total/2 {
			return nil
		}
		return in.dividedMatches(nest, room)
	}
	widths := []int{warpSize, 8 * warpSize}
	if nest.rounds < 2*warpSize { // of few rounds each lane of a warp would have one or two, and what is done once an item 32 times
		widths = []int{warpSize / 4, warpSize}
	}
	before := 1
	for _, width := range widths {
		w := min(width, powerOfTwo(nest.rounds))
		if w <= before || width > warpSize && room < leastRoom*warpSize {
			break
		}
		before = w
		matches = append(matches, in.transposedMatch(nest, w, max(min(room, float64(w)), min(sectors, float64(w)))))
	}
	// A loop that goes on by the threads of the grid has neighbours read what lies together already.
	if counted, byNumbers := in.countable(nest.code, nest.hottest); counted && !byNumbers && sectors < leastSectors && !nest.scanned && len(nest.handed) == 0 {
		matches = append(matches, in.dividedMatches(in.amongBlocks(nest), room)...)
	}
	return matches
}

// halfWarps reports whether blocks have at most half of the threads of a warp, of which the lanes that are missing could do a part.
func (in *Input) halfWarps() bool { return volume(in.Launch.Block) <= warpSize/2 }

// working is the share of the launch's warps that come to a nest at all: of a grid much larger than what there is to do most warps end at
// their first comparison.
func (in *Input) working(n *loopNest) float64 {
	c := in.codes[n.code]
	begun := c.executions[c.graph.Blocks[c.graph.Funcs[n.hottest.Func].Entry].First]
	entries := in.entries(n)
	if begun == 0 || entries == 0 || entries >= begun {
		return 1
	}
	return entries / begun
}

// entries is how often warps enter the hottest loop of a nest, 0 where that is not known.
func (in *Input) entries(n *loopNest) float64 {
	rounds, known := in.TripCount(n.code, n.hottest)
	if !known {
		return 0
	}
	c := in.codes[n.code]
	return c.executions[c.graph.Blocks[n.hottest.Header].First] / rounds
}

// starved reports whether SMs have nothing to do, or blocks of one warp too little, while the GPU could hold more; so they have too where a
// share of the blocks alone works. Warps that mostly wait for memory have too little as well where there are few of them.
func (in *Input) starved(room, working float64) bool {
	idle := float64(volume(in.Launch.Grid))*working < float64(in.Launch.Facts.SMs)
	return room >= leastRoom && (idle || volume(in.Launch.Block) <= warpSize) || room >= waitingRoom && in.ByReason[stall.LongScoreboard] >= in.Total/2
}

// waitingRoom is how many times as many warps the GPU could hold for those that wait for memory to be too few.
const waitingRoom = 3

// sectorsTooMany is how many times the sectors that their bytes would fill the loads of a nest ask for.
func (in *Input) sectorsTooMany(n *loopNest) float64 {
	used, ideal := 0.0, 0.0
	for _, l := range in.streamLoops(n) {
		for _, i := range l.Body {
			k := in.counts(i)
			used += k.sectors
			ideal += k.sectorsIdeal
		}
	}
	if ideal <= 0 {
		return 1
	}
	return used / ideal
}

// transposedMatch is the advice to divide the rounds of a nest among neighbouring threads, whose share of the time is gain times as fast
// then.
func (in *Input) transposedMatch(n *loopNest, width int, gain float64) *Match {
	m := in.distributed(n, gain)
	who, how := fmt.Sprintf("%d neighbouring threads", width), "__shfl_xor_sync puts"
	switch {
	case width == warpSize:
		who = "a warp"
	case width > warpSize:
		who, how = fmt.Sprintf("a block of %d threads", width), "__shfl_xor_sync and shared memory put"
	}
	apart := in.storesByRound(n) || len(n.handed) > 0 && in.results(n) == 0
	together := fmt.Sprintf(", and %s the results together", how)
	if apart {
		together = ", and stores their results"
	}
	m.Variant = fmt.Sprintf("%d lanes%s", width, n.variant())
	m.Change = &Change{Streams: &Streams{Rolled: n.rolled.among(width), Transposed: &Transposed{Loops: in.streamLoops(n), Width: width, Threads: in.blockOf(width), Combined: !apart || len(n.handed) > 0, Results: in.results(n), Scanned: n.scanned}}} // meeting takes what putting together does
	if len(n.sums) > 0 {
		m.Change.Gone, m.Change.Registers = n.sums, min(in.mostRegisters(), in.Launch.Facts.Registers+len(n.sums)/2)
	}
	neighbours := "Where rounds that follow each other read neighbouring addresses, neighbouring threads then do"
	if in.sectorsTooMany(n) >= someSectors {
		neighbours = "Neighbouring threads then read neighbouring addresses"
	}
	m.Suggestions = []string{
		fmt.Sprintf("Each thread goes through the %.0f rounds of the loop at %s by itself. Let %s do what one thread does: thread j takes rounds j, j+%d and so on%s.",
			in.sourceRounds(n), in.nestPlace(n), who, width, together),
		fmt.Sprintf("%s, and there are %d times as many threads to hide latency. Not where each thread has only a few rounds.", neighbours, width),
	}
	if alike := in.sameWords(n); len(alike) > 0 && !apart {
		m.Suggestions[0] += fmt.Sprintf(" What all threads read alike in a round (%s) neighbours then read as far apart as it is from round to round: where that is more than an element, put it into shared memory first, its rows longer by one element.", in.places(alike, 5))
	}
	if len(n.sums) > 0 {
		m.Suggestions = slices.Insert(m.Suggestions, 1, fmt.Sprintf("What the rounds add to in memory (%s) is kept in registers, of each thread its own, and added to memory once, behind the loop.", in.places(n.sums, 2)))
	}
	if len(n.counts) > 0 {
		m.Change.Gone, m.Change.Streams.Transposed.Added = in.addedAtomically(n)
		m.Suggestions = slices.Insert(m.Suggestions, 1, in.atomically(n))
	}
	if len(n.handed) > 0 {
		m.Suggestions = slices.Insert(m.Suggestions, 1, in.meetAfter(n, width))
	}
	if n.scanned {
		m.Suggestions[0] = fmt.Sprintf("Each thread goes through the %.0f rounds of the loop at %s by itself, with a running sum that the rounds look at. Let %s do what one thread does: thread j takes rounds j, j+%d and so on, and a scan of each %d rounds (cub::WarpScan or BlockScan; __ballot_sync and __popc for counts) gives every thread the sum of what comes before its own.",
			in.sourceRounds(n), in.nestPlace(n), who, width, width)
		if len(n.taken) > 0 {
			m.Change.Gone = append(m.Change.Gone, n.taken...)
			m.Suggestions[0] += fmt.Sprintf(" The sum then comes from the scan, not from where the round before has stored it (%s).", in.places(n.taken, 2))
		}
		if items := powerOfTwo(float64(in.unrolledBy(n.code, n.hottest))); items > 1 && in.loadsBehindStores(n.code, n.hottest) {
			m.Suggestions = slices.Insert(m.Suggestions, 1, fmt.Sprintf("Let each thread load %d items at a time, add them up, and take part in the scan with its sum, before it stores any of them: loads that stay behind the stores of the rounds before are waited for one after the other.", items))
		}
	}
	return m
}

// blockOf is how many threads a block has where so many do what one did: as many as now or, where that is less than a warp, as many as take its place.
func (in *Input) blockOf(width int) int {
	threads := volume(in.Launch.Block)
	if all := threads * width; threads < warpSize && all <= in.Model.Limits.ThreadsPerBlock.Int() {
		return all
	}
	return max(width, threads)
}

// sameWords returns the loads of a nest by which all threads of a warp read the same words.
func (in *Input) sameWords(n *loopNest) []blamer.Node {
	return slices.DeleteFunc(in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }), func(x blamer.Node) bool {
		const nearly = 1.05
		k := in.counts(x)
		return x.Code != n.code || n.loopOf(in.Block(x)) == nil || k.threads < lowActivity*warpSize*k.executions || k.sectors > nearly*k.executions
	})
}

// addedAtomically returns the loads of a nest's counts, which go where the rounds add to them by atomics, and the stores that do.
func (in *Input) addedAtomically(n *loopNest) (loads, stores []blamer.Node) {
	for _, x := range n.counts {
		if in.Inst(x).Op == sass.STG {
			stores = append(stores, x)
		} else {
			loads = append(loads, x)
		}
	}
	return loads, stores
}

// atomically says what becomes of counts whose rounds are divided.
func (in *Input) atomically(n *loopNest) string {
	return fmt.Sprintf("What the rounds add to memory (%s) they then have to add by atomicAdd, best to a copy of the block in shared memory where it fits, which is added to memory in the end.", in.places(n.counts, 2))
}

// amongBlocks is a nest without the loops that leave values for the others, in registers that these do not change or in shared memory: of
// blocks that divide the rounds each needs all of such values. The hottest loop remains; what it leaves is put together.
func (in *Input) amongBlocks(n *loopNest) *loopNest {
	feeding := make(map[*cfg.Loop]bool)
	for _, l := range n.loops {
		if l != n.hottest && in.handsOn(n.code, l) {
			feeding[l] = true
		}
		for _, from := range in.feeders(n, l) {
			feeding[from] = from != n.hottest
		}
	}
	divided := *n
	divided.loops = nil
	for _, l := range n.loops {
		if feeding[l] {
			divided.samples -= in.samplesInLoop(n.code, l)
		} else {
			divided.loops = append(divided.loops, l)
		}
	}
	return &divided
}

// feeders are the other loops of a nest that make what a loop reads and does not change. A running value is none: each part has its own.
func (in *Input) feeders(n *loopNest, l *cfg.Loop) (list []*cfg.Loop) {
	met := make(map[regAt]bool)
	var follow func(use int, within bool)
	follow = func(use int, within bool) {
		for _, r := range in.Inst(blamer.Node{Code: n.code, Inst: use}).Uses(nil) {
			at := regAt{r, use}
			if !isValue(r) || met[at] || within && len(in.defsWithin(l, n.code, use, r)) > 0 {
				continue
			}
			met[at] = true
			for _, def := range in.defsWithin(nil, n.code, use, r) {
				b := in.Block(blamer.Node{Code: n.code, Inst: def})
				if k := slices.IndexFunc(n.loops, func(other *cfg.Loop) bool { return other.Contains(b.ID) }); k < 0 {
					follow(def, false)
				} else if n.loops[k] != l && !slices.Contains(list, n.loops[k]) {
					list = append(list, n.loops[k])
				}
			}
		}
	}
	in.eachInst(n.code, l, func(i int) { follow(i, true) })
	return list
}

// handsOn reports whether a loop stores to shared memory what is loaded behind it, as far as the record tells, or surely as the loop itself
// loads nothing from there.
func (in *Input) handsOn(code int, l *cfg.Loop) bool {
	stores, loads := false, false
	in.eachInst(code, l, func(i int) {
		op := in.Inst(blamer.Node{Code: code, Inst: i}).Op
		stores, loads = stores || op == sass.STS, loads || op == sass.LDS || op == sass.LDSM
	})
	if !stores || !loads || in.Launch.Record == nil {
		return stores && !loads
	}
	within := func(p profiler.Place) bool { return in.isWithin(code, l, nodeOf(p)) }
	return slices.ContainsFunc(in.Launch.Record.Dependences, func(d profiler.Dependence) bool {
		return d.Kind == profiler.FlowDependence && d.Space == "shared" && within(d.From) && !within(d.To)
	})
}

// dividedMatches is the advice to divide the rounds of a nest among some parts and, where SMs still had nothing to do, among as many as there is
// room for.
func (in *Input) dividedMatches(n *loopNest, room float64) []*Match {
	const leastRounds = 8 // of a part, which has what stands around the loop to do as well
	some, all := powerOfTwo(min(room, n.rounds, warpSize)), powerOfTwo(min(room, n.rounds/leastRounds))
	matches := in.dividedMatch(n, room, some)
	if all > some && volume(in.Launch.Grid)*some < in.Launch.Facts.SMs {
		matches = append(matches, in.dividedMatch(n, room, all)...)
	}
	return matches
}

// dividedMatch is the advice to divide the rounds of a nest among blocks or, where no barrier keeps those of a block together, among
// more warps: where accesses are of whole sectors already the lanes of each warp stay together.
func (in *Input) dividedMatch(n *loopNest, room float64, parts int) []*Match {
	if parts < 2 || len(n.sums) > 0 { // sums in memory become registers where the lanes of a warp can put them together
		return nil
	}
	m := in.distributed(n, float64(parts))
	apart := in.storesByRound(n)
	m.Variant = fmt.Sprintf("%d parts%s", parts, n.variant())
	m.Change = &Change{Streams: &Streams{Rolled: n.rolled.among(parts), Divided: &Divided{Loops: in.streamLoops(n), Parts: parts, Contiguous: n.barrier, Atomic: n.barrier && !apart}}}
	if n.barrier && apart {
		m.Suggestions = []string{
			fmt.Sprintf("The grid has %s for %d SMs, and each block goes through the %.0f rounds of the loop at %s, which store results of their own. Divide the rounds among %d times as many blocks, each with rounds that follow each other.",
				count(volume(in.Launch.Grid), "block"), in.Launch.Facts.SMs, in.sourceRounds(n), in.nestPlace(n), parts),
			"What a round hands on to the next one, as a window that moves along, each part has to load at its beginning. Not where that takes as long as its rounds.",
		}
		return []*Match{m}
	}
	if n.barrier {
		m.Suggestions = []string{
			fmt.Sprintf("The grid has %s for %d SMs, and each block goes through the %.0f rounds of the loop at %s. Divide the rounds among %d times as many blocks (split-K), and add the parts up by atomics, to results that are zero before, or in a second kernel.",
				count(volume(in.Launch.Grid), "block"), in.Launch.Facts.SMs, in.sourceRounds(n), in.nestPlace(n), parts),
			"Not where the parts would have to be kept in memory for longer than the rounds take.",
		}
		return []*Match{m}
	}
	larger, together := ": a larger grid alone where the loop begins at blockIdx.x * blockDim.x + threadIdx.x, goes on by gridDim.x * blockDim.x and ends in atomics", ", and put the parts together by shuffles and shared memory or, between blocks, by atomics on results that are zero before"
	if len(n.counts) > 0 {
		together = ""
		m.Change.Gone, m.Change.Streams.Divided.Added = in.addedAtomically(n)
	} else if apart {
		together = ": each round stores results of its own"
		larger = ": a larger grid alone where the loop begins at blockIdx.x * blockDim.x + threadIdx.x and goes on by gridDim.x * blockDim.x"
	}
	m.Suggestions = []string{
		fmt.Sprintf("The GPU could hold %.0f times as many warps, and each thread goes through the %.0f rounds of the loop at %s. Divide them among %d times as many threads (larger blocks that share an item, or more blocks%s)%s.",
			room, in.sourceRounds(n), in.nestPlace(n), parts, larger, together),
		"Neighbouring threads go on reading neighbouring addresses. Give each every n-th round with n a constant, as by a step that is known when the kernel runs compilers unroll less, or, where their number is a constant, a run of rounds that follow each other. Not where each thread has only a few rounds." + in.behindTests(n),
	}
	if len(n.counts) > 0 {
		m.Suggestions = slices.Insert(m.Suggestions, 1, in.atomically(n))
	}
	return []*Match{m}
}

// behindTests says what it takes to have the loads of several rounds under way together whose rounds have branches in them: where threads that go through
// the rounds together part there, each round's loads stay behind the tests of the one before (24.7x tried was 15.6x by hand, and 24.6x with four rounds'
// loads first).
func (in *Input) behindTests(n *loopNest) string {
	loads, tests := false, false
	in.eachInst(n.code, n.hottest, func(i int) {
		x := blamer.Node{Code: n.code, Inst: i}
		inst := in.Inst(x)
		loads = loads || inst.Op == sass.LDG && in.Loop(x) == n.hottest
		tests = tests || inst.Op == sass.BSSY && in.Loop(x) == n.hottest && in.counts(x).executions > 0
	})
	if !loads || !tests {
		return ""
	}
	return " The rounds have tests in them (continue, if), behind which the loads of the next round would wait: load what four rounds need into variables first."
}

// distributed is a match of a nest whose share of the time becomes gain times as fast.
func (in *Input) distributed(n *loopNest, gain float64) *Match {
	share := min(1, n.samples/max(1, in.Total))
	m := in.launchMatch(in.ofLaunch(1 / (1 - share + share/gain)))
	m.Spares = IssueSlots | SharedMemory | Sectors
	m.assume(n.assumed)
	return m
}

// sourceRounds is how many rounds the source has for those of a nest, of which the compiler has put several together where it has unrolled the
// loop: as many as there are copies of what the source does least often in a round. Of an inner loop that was unrolled in full there are more.
func (in *Input) sourceRounds(n *loopNest) float64 {
	if n.rolled != nil {
		return n.rounds
	}
	type key struct {
		frame cubin.Frame
		op    sass.Op
	}
	copies, together := make(map[key]int), 0
	type line struct {
		frame cubin.Frame
		array uint64
	}
	stored, arrays := make(map[line]int), in.arrays()
	current := make(map[wordAccess]bool) // places that were stored to and whose registers are what they were
	in.eachInst(n.code, n.hottest, func(i int) {
		node := blamer.Node{Code: n.code, Inst: i}
		inst := in.Inst(node)
		maps.DeleteFunc(current, func(a wordAccess, _ bool) bool { return writesRegister(inst, a.base) })
		switch {
		case in.Loop(node) != n.hottest:
		case inst.Op == sass.LDG:
			if in.pointed(node, n.hottest) { // copies of it have nothing in common
				break
			}
			if k := in.roundsTogether(n.hottest, node); together == 0 || k < together {
				together = k
			}
		case inst.Op.Properties().Atomic(globalMemory) && in.frame(node).Line > 0:
			stored[line{in.frame(node), arrays[node]}]++
		case inst.Op == sass.STG && in.frame(node).Line > 0: // each copy of a round has a place of its own
			if a, ok := guardedWordOf(inst); ok {
				if !current[a] {
					stored[line{in.frame(node), arrays[node]}]++
				}
				current[a] = true
			}
		case inst.Op.Properties().Floats() && !moves(inst) && in.frame(node).Line > 0:
			copies[key{in.frame(node), inst.Op}]++
		}
	})
	if len(stored) > 0 {
		together = math.MaxInt
	}
	for _, places := range stored {
		together = min(together, places)
	}
	for _, k := range copies {
		together = min(together, k)
	}
	return n.rounds * float64(max(1, together))
}
