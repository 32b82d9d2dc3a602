package advisor

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// singlePass matches loads that read what the same threads have read before, in an earlier loop: several passes over the same data,
// which one could do, or the first could keep.
type singlePass struct{}

func (singlePass) Name() string { return "single-pass" }
func (singlePass) Class() Class { return StallElimination }

func (singlePass) Match(in *Input) []*Match {
	again := in.readAgain(true)
	_, windows, _ := in.overlappingWindows()
	maps.DeleteFunc(again, func(n blamer.Node, _ bool) bool { return windows[n] }) // what neighbours have read is no pass
	kept := in.keptRow(again)
	const inOne = "o the work of the passes in one, with running values that later data correct (the sum and the sum of squares of a norm; the maximum and the sum of an online softmax, which takes an exponential more a value: not for data that L1 holds)."
	fits := in.fitsBlock(again)
	if !fits { // the pass that stores results needs what the others find
		maps.DeleteFunc(again, func(n blamer.Node, _ bool) bool { return in.storesIn(n.Code, in.Loop(n)) })
	}
	matches := in.goneAccesses(again)
	for _, m := range matches {
		m.Variant = "passes"
		read := fmt.Sprintf("The loads at %s read again what the same thread or warp has read before, in an earlier pass.", in.places(m.defs(), 3))
		m.Suggestions = []string{
			read + " Keep what the first pass reads: in registers where the number of values a thread is a constant (an array, in loops that are unrolled), else in shared memory.",
			"Or d" + inOne + " Not where what is kept leaves room for too few warps.",
		}
		if !fits {
			m.Suggestions = []string{read + " D" + inOne, "Of some values at a time find the extreme first, and correct the running values once for all of them. What a block reads is more than its registers or shared memory hold."}
		}
	}
	for _, m := range []*Match{kept, in.fusedLaunches(), in.joinedLaunches()} {
		if m != nil {
			matches = append(matches, m)
		}
	}
	return matches
}

// fitsBlock reports whether the registers of a thread or the shared memory of a block hold what an earlier pass has read of what some loads read again,
// true where nothing tells.
func (in *Input) fitsBlock(again map[blamer.Node]bool) bool {
	words := 0.0 // of a thread
	for n := range again {
		for _, first := range in.firstReads(n.Code, again) {
			words += in.counts(first).threads * float64(in.words(first)) / (warpSize * in.warps())
		}
		break
	}
	const wordBytes = 4
	return words <= float64(in.mostRegisters()-in.Launch.Facts.Registers) ||
		words*wordBytes*float64(volume(in.Launch.Block)) <= in.Model.Limits.SharedBlock.Value-float64(in.shared())
}

// readAgain returns the loads that read for the most part what the same thread or warp has read before, and to which nobody stores: those of
// later passes, which are loops behind other loops that load, or else those of windows that overlap. What is where data say is near rather than the same
// place again, which L1 holds.
func (in *Input) readAgain(passes bool) map[blamer.Node]bool {
	again := make(map[blamer.Node]bool)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		r := in.recorded(n)
		if r != nil && 2*(r.Earlier[profiler.SameThread]+r.Earlier[profiler.SameWarp]) > r.Bytes && r.Stored == 0 && passes == in.ofPass(n) && !(passes && in.gathers(n)) {
			again[n] = true
		}
	}
	return again
}

// ofPass reports whether a load is in one of several loops of the source that load.
func (in *Input) ofPass(load blamer.Node) bool {
	if in.Loop(load) == nil {
		return false
	}
	code, graph := in.Module.Codes[load.Code], in.codes[load.Code].graph
	loops := make(map[string]bool) // what the compiler makes of one loop of the source is one
	for i := range code.Insts {
		n := blamer.Node{Code: load.Code, Inst: i}
		if l := in.Loop(n); l != nil && in.Inst(n).Op == sass.LDG {
			header := code.Insts[graph.Blocks[l.Header].First].PC
			at := fmt.Sprint(code.Frames(header))
			if in.loopScope(n.Code, l).Frame.Line == 0 {
				at = fmt.Sprint(header)
			}
			loops[at] = true
		}
	}
	return len(loops) > 1
}

// mostKept is the most words of its row that a thread can keep in registers beside what it needs for its work, half of those that it has
// where 16 warps share a scheduler's file of 16,384.
const mostKept = 32

// keptRow matches loops that read again what the same thread has read in an earlier one, if its part is small enough for registers: an
// array of constant size, in unrolled loops, for which all loads are under way together.
func (in *Input) keptRow(again map[blamer.Node]bool) *Match {
	code, words, change, late := -1, 0.0, &Change{Gone: sortedKeys(again), Streams: &Streams{}}, make(map[blamer.Node]bool)
	for n := range again {
		if r := in.recorded(n); 2*r.Earlier[profiler.SameThread] <= r.Bytes || in.Loop(n) == nil {
			return nil
		}
		code = n.Code
	}
	if code < 0 {
		return nil
	}
	for _, n := range in.firstReads(code, again) {
		late[n] = true
		words += in.counts(n).threads * float64(in.words(n)) / (warpSize * in.warps())
	}
	if len(late) == 0 || math.Round(words) > mostKept {
		return nil
	}
	waits := make(map[blamer.Node]bool) // round by round
	for _, l := range in.codes[code].graph.Loops {
		loads := slices.DeleteFunc(sortedKeys(late), func(n blamer.Node) bool { return in.Loop(n) != l })
		if len(loads) == 0 {
			continue
		}
		rounds, known := in.TripCount(code, l)
		if !in.isLeaf(code, l) || !known || slices.ContainsFunc(loads, func(n blamer.Node) bool { return in.chases(l, n) }) {
			continue
		}
		if rounds >= 2 {
			for _, n := range loads {
				waits[n] = true
			}
			change.Streams.Prefetched = append(change.Streams.Prefetched, Prefetched{Loads: loads, Loop: in.streamLoop(code, l), Rounds: int(rounds+.5) - 1})
		}
	}
	c := newCollector(in)
	for _, at := range in.linesOf(code, again, late) {
		if rounds, copies := in.roundsOfLine(code, at); copies < 2 || rounds == 0 {
			continue
		}
		counting := in.counting(code, at)
		change = change.with(in.inFull(code, counting)).with(in.hoisted(in.beside(code, at, again)))
		for _, n := range counting {
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: in.countingSamples(n)})
		}
	}
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; again[b.Def] || waits[b.Def] && b.Detail == blamer.GlobalMemory {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	if len(matches) == 0 {
		return nil
	}
	m := matches[0]
	change.Registers = min(in.mostRegisters(), in.Launch.Facts.Registers+int(words+.5))
	m.Variant, m.Change, m.Spares = "row", change, L2|DRAM|IssueSlots
	how := ""
	if len(waits) > 0 {
		how = " waits for it round by round,"
	}
	m.Suggestions = []string{
		fmt.Sprintf("Each thread reads its part of a row at %s,%s and reads it again at %s. Read it once, into an array of constant size with the loops unrolled (#pragma unroll; the row's length as a template parameter or constexpr): all of its loads are then under way together, and later passes work on registers.",
			in.places(sortedKeys(late), 2), how, in.places(sortedKeys(again), 2)),
		"Not where rows are longer than the registers of the threads that share them, or of many lengths.",
	}
	in.boundsOf(m)
	return m
}

// firstReads returns the loads of the arrays that some loads read again.
func (in *Input) firstReads(code int, again map[blamer.Node]bool) (loads []blamer.Node) {
	arrays, read := in.arrays(), make(map[uint64]bool)
	for n := range again {
		read[arrays[n]] = true
	}
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		if r := in.recorded(n); n.Code == code && r != nil && r.Stored == 0 && !again[n] && read[arrays[n]] {
			loads = append(loads, n)
		}
	}
	return loads
}

// beside returns the loads of the loops of a line but for some.
func (in *Input) beside(code int, at cubin.Frame, but map[blamer.Node]bool) (loads []blamer.Node) {
	for _, l := range in.loopsOfLine(code, at) {
		in.eachInst(code, l, func(i int) {
			if n := (blamer.Node{Code: code, Inst: i}); in.Inst(n).Op == sass.LDG && in.Loop(n) == l && !but[n] {
				loads = append(loads, n)
			}
		})
	}
	return loads
}

// linesOf returns where the loops stand that some instructions are in.
func (in *Input) linesOf(code int, sets ...map[blamer.Node]bool) (lines []cubin.Frame) {
	for _, set := range sets {
		for _, n := range sortedKeys(set) {
			if l := in.Loop(n); l != nil {
				if at := in.scopeFrame(in.loopScope(code, l)); at.Line > 0 && !slices.Contains(lines, at) {
					lines = append(lines, at)
				}
			}
		}
	}
	return lines
}

// registerCaching matches values that a thread loads again in every round of a loop although it has just stored or loaded them itself:
// sums that are kept in memory.
type registerCaching struct{}

func (registerCaching) Name() string { return "register-caching" }
func (registerCaching) Class() Class { return StallElimination }

func (registerCaching) Match(in *Input) []*Match {
	if in.Launch.Record == nil {
		return nil
	}
	kept, shown := make(map[blamer.Node]bool), false
	for _, d := range in.Launch.Record.Dependences {
		if d.Kind != profiler.FlowDependence || d.Party != profiler.SameThread || d.Space == "local" || !in.shortlyAfter(&d) {
			continue
		}
		places := []profiler.Place{d.To, d.From}
		if in.readByOthers(d.From) {
			shown = true
			places = places[:1]
		}
		for _, p := range places {
			n := nodeOf(p)
			if in.codes[n.Code] == nil || isAtomic(in.Inst(n).Op) {
				continue
			}
			// The word of a transaction barrier is nobody's value.
			prop := in.Inst(n).Op.Properties()
			if prop.Async == sass.Synchronous && prop.Sync == sass.SyncNone && (in.invariantAddress(n) || in.samePlace(&d)) {
				kept[n] = true
			}
		}
	}
	in.dropWide(kept)
	matches := in.goneAccesses(kept)
	for _, m := range matches {
		m.Suggestions = []string{
			fmt.Sprintf("At %s a thread loads in each round what it has stored itself, in this round or the one before. Keep the value in a register (a local variable) through the loop, and store it, where it is needed, once behind it.",
				in.places(m.defs(), 3)),
			"Not where other threads have to see the value in between.",
		}
		if shown {
			m.Suggestions[0] = fmt.Sprintf("At %s a thread loads in each round what it has stored itself, in this round or the one before. Keep the value in a register (a local variable) through the loop; go on storing what other threads read.", in.places(m.defs(), 3))
		}
	}
	matches = append(matches, in.keptWithLoadsFirst(matches, kept)...)
	return slices.Concat(matches, in.storedEachRound(), in.carriedOn(), in.sameEachRound(), in.ownItem())
}

// dropWide leaves out the accesses of loops that would keep more words than registers have room for, as the structures of a sort: those that do not
// fit go through local memory, and a copy of a whole structure takes as many instructions as its accesses.
func (in *Input) dropWide(kept map[blamer.Node]bool) {
	type place struct {
		loop   *cfg.Loop
		reg    uint8
		offset int32
	}
	words, met := make(map[*cfg.Loop]int), make(map[place]bool)
	for n := range kept {
		o, l := in.Inst(n).Address(), in.Loop(n)
		if o == nil || l == nil {
			continue
		}
		for k := range in.words(n) {
			if at := (place{l, o.Reg, int32(o.Offset) + 4*int32(k)}); !met[at] {
				met[at] = true
				words[l]++
			}
		}
	}
	maps.DeleteFunc(kept, func(n blamer.Node, _ bool) bool { return words[in.Loop(n)] > mostKept })
}

// readByOthers reports whether other threads read in its loop what an instruction stores.
func (in *Input) readByOthers(store profiler.Place) bool {
	l := in.Loop(nodeOf(store))
	return slices.ContainsFunc(in.Launch.Record.Dependences, func(d profiler.Dependence) bool {
		return d.Kind == profiler.FlowDependence && d.From == store && d.Party != profiler.SameThread && in.Loop(nodeOf(d.To)) == l
	})
}

// shortlyAfter reports whether a dependence is on the round before of a loop, or within a round of the innermost one, where rounds are unrolled:
// then the load mostly reads what this thread has stored, and nobody else reads that in the loop. From shared memory it reads nothing else at all.
func (in *Input) shortlyAfter(d *profiler.Dependence) bool {
	if d.Carried {
		return d.Next
	}
	from, to := nodeOf(d.From), nodeOf(d.To)
	if in.codes[from.Code] == nil || in.Loop(from) != in.Loop(to) || in.Loop(from) == nil && !in.samePlace(d) {
		return false
	}
	r := in.recorded(to)
	if r == nil || 2*d.Bytes < r.Bytes {
		return false
	}
	if d.Space == "shared" {
		return !in.readsOthers(d.To)
	}
	return !in.readByOthers(d.From)
}

// samePlace reports whether the later access of a dependence has the address of the store: the same register with the same offset, which nothing changes in between,
// as in rounds that the compiler laid one behind the other.
func (in *Input) samePlace(d *profiler.Dependence) bool {
	from, to := nodeOf(d.From), nodeOf(d.To)
	if from.Code != to.Code || in.codes[from.Code] == nil || from.Inst >= to.Inst || d.Carried {
		return false
	}
	store, stored := wordOf(in.Inst(from))
	load, loaded := wordOf(in.Inst(to))
	if load.op = store.op; !stored || !loaded || store != load {
		return false
	}
	for i := from.Inst + 1; i < to.Inst; i++ {
		if x := in.Inst(blamer.Node{Code: from.Code, Inst: i}); writesRegister(x, store.base) || x.Op == sass.CALL || ordersMemory(x.Op) {
			return false
		}
	}
	return true
}

// readsOthers reports whether a load reads what other threads have stored.
func (in *Input) readsOthers(load profiler.Place) bool {
	return slices.ContainsFunc(in.Launch.Record.Dependences, func(d profiler.Dependence) bool {
		return d.Kind == profiler.FlowDependence && d.To == load && d.Party != profiler.SameThread
	})
}

// keptWithLoadsFirst is the matches with the loads in front that stand behind stores which go: these might have changed what they read.
func (in *Input) keptWithLoadsFirst(matches []*Match, kept map[blamer.Node]bool) (list []*Match) {
	_, behind := in.reloads()
	in.dropWritten(behind)
	in.dropHeldBack(behind, kept)
	loops := make(map[*cfg.Loop]bool)
	for n := range kept {
		loops[in.Loop(n)] = true
	}
	var loads []blamer.Node
	for _, n := range sortedKeys(behind) {
		if l := in.Loop(n); !kept[n] && l != nil && loops[l] {
			loads = append(loads, n)
		}
	}
	if len(loads) == 0 {
		return nil
	}
	for _, m := range matches {
		first := *m
		first.Variant, m.Variant = "loads first", "kept"
		first.Change = m.Change.with(in.hoisted(loads))
		list = append(list, &first)
	}
	return list
}

// dropHeldBack drops loads before which their loop has other stores to global memory than some that go: as far as a compiler knows those might
// change what they read just as well.
func (in *Input) dropHeldBack(loads, gone map[blamer.Node]bool) {
	stores := in.executedNodes(func(op sass.Op) bool { return op.Properties().Writes&globalMemory != 0 })
	maps.DeleteFunc(loads, func(load blamer.Node, _ bool) bool {
		l := in.Loop(load)
		return slices.ContainsFunc(stores, func(n blamer.Node) bool { return n.Code == load.Code && in.Loop(n) == l && l != nil && !gone[n] })
	})
}

// storedEachRound matches running values that are stored in every round though the thread has them in a register. What is loaded behind
// such a store waits until it is issued, as it might read what was stored.
func (in *Input) storedEachRound() (matches []*Match) {
	_, behind := in.reloads()
	assumed := in.dropWritten(behind)
	in.dropHeldBack(behind, in.running)
	c := newCollector(in)
	for _, n := range sortedKeys(in.running) {
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(in.innermost(n), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
	}
	for _, m := range c.finish() {
		stores := m.allDefs()
		m.Samples += max(0, in.hiddenWithout(m.Scope, in.running)-in.hidden(m.Scope, freedom{}))
		for i := range in.Blame.Blames {
			if b := &in.Blame.Blames[i]; behind[b.Def] && b.Detail == blamer.GlobalMemory && in.Loop(b.Def) == m.Scope.Loop {
				m.Hotspots = append(m.Hotspots, Hotspot{Def: b.Def, Use: b.Use, Detail: b.Detail, Distance: b.Distance, Samples: b.Count})
			}
		}
		m.Hotspots = rankHotspots(in, m.Hotspots)
		m.Spares = L2 | IssueSlots
		m.Change = in.loadedFirst(m, nil, behind)
		m.Change.Gone = stores
		if assumed && len(behind) > 0 {
			m.assume(assumedUnwritten)
		}
		m.Suggestions = []string{
			fmt.Sprintf("A thread stores to the same place in every round of the loop (%s). Keep the value in a local variable and store it once, behind the loop: what later rounds load need then not wait for the stores, which might change it.",
				in.places(stores, 2)),
			"Not where other threads have to see the value in between.",
		}
		matches = append(matches, m)
		if unrolled := in.unrolledWithout(m, stores); unrolled != nil {
			matches = append(matches, unrolled)
		}
	}
	return matches
}

// unrolledWithout is such a match where the stores are all that keeps a compiler from unrolling the loop with its loads in front: without them bounds
// that are loaded anew in each round stay in registers, and rounds can be counted. nil where there is more to it.
func (in *Input) unrolledWithout(m *Match, stores []blamer.Node) *Match {
	l := m.Scope.Loop
	if l == nil || !in.isLeaf(m.Scope.Code, l) {
		return nil
	}
	var bounds []blamer.Node
	stays := false
	in.eachInst(m.Scope.Code, l, func(i int) {
		n := blamer.Node{Code: m.Scope.Code, Inst: i}
		op := in.Inst(n).Op
		written, known := in.written(n)
		switch {
		case op == sass.LDG && in.invariantAddress(n) && known && !written:
			bounds = append(bounds, n)
		case op != sass.LDG && movesGlobal(op) && in.counts(n).executions > 0 && !slices.Contains(stores, n):
			stays = true
		}
	})
	f := in.flowOf(m.Scope.Code, l)
	for _, n := range f.loaded(f.exits()...) {
		stays = stays || !slices.Contains(bounds, blamer.Node{Code: m.Scope.Code, Inst: n})
	}
	var blames []*blamer.Blame
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; in.Loop(b.Def) == l && b.Def.Code == m.Scope.Code && !slices.Contains(bounds, b.Def) {
			blames = append(blames, b)
		}
	}
	trips, known := in.TripCount(m.Scope.Code, l)
	rounds := in.rounds(l, blames, trips, known)
	if stays || rounds < 2 {
		return nil
	}
	ahead := in.overlapped(l, blames, rounds)
	if ahead == nil {
		return nil
	}
	unrolled := *m
	unrolled.Variant, m.Variant = "stored once, unrolled", "stored once"
	unrolled.Change = (&Change{Gone: slices.Concat(stores, bounds)}).with(ahead)
	unrolled.Suggestions = slices.Clone(m.Suggestions)
	unrolled.Suggestions[0] += " The compiler can then unroll the loop, with the loads of several rounds under way together."
	return &unrolled
}

// runningStores returns the stores to global memory by which a thread stores to the same place in every round of a loop, each time over
// the last one, and which nobody reads before the loop ends: running sums in arrays. The loop may be one that the compiler has unrolled in full.
func (in *Input) runningStores() map[blamer.Node]bool {
	stores, read := make(map[blamer.Node]bool), make(map[blamer.Node]bool)
	if in.Launch.Record == nil {
		return stores
	}
	known := make(map[blamer.Node]bool)
	storesInPlace := func(n blamer.Node) bool {
		inPlace, met := known[n]
		if !met {
			inPlace = in.storesInPlace(n)
			known[n] = inPlace
		}
		return inPlace
	}
	readBy := make(map[blamer.Node]bool) // by anybody
	for _, d := range in.Launch.Record.Dependences {
		readBy[nodeOf(d.From)] = readBy[nodeOf(d.From)] || d.Kind == profiler.FlowDependence
		if from, to := nodeOf(d.From), nodeOf(d.To); d.Kind == profiler.FlowDependence && storesInPlace(from) {
			read[from] = read[from] || d.Party != profiler.SameThread || d.Carried || in.Loop(from) == in.Loop(to)
		}
	}
	for _, d := range in.Launch.Record.Dependences {
		from, to := nodeOf(d.From), nodeOf(d.To)
		if d.Kind == profiler.OutputDependence && d.Party == profiler.SameThread && d.Space == "global" && storesInPlace(from) && storesInPlace(to) &&
			in.Loop(from) == in.Loop(to) && !read[from] && !read[to] {
			stores[from], stores[to] = true, true
		}
		if d.Kind == profiler.OutputDependence && d.Party == profiler.SameThread && d.Space == "global" && in.Loop(from) == nil && in.Loop(to) == nil && !readBy[from] && in.samePlace(&d) {
			stores[from] = true // rounds that the compiler laid one behind the other: the last store stays
		}
	}
	return stores
}

// storesInPlace reports whether an instruction stores to global memory, each round of its loop to the same place, or those rounds alone that find a new extreme.
func (in *Input) storesInPlace(n blamer.Node) bool {
	return in.codes[n.Code] != nil && in.Inst(n).Op == sass.STG && in.invariantAddress(n) && (in.Inst(n).Guard.Always() || in.guardedByExtreme(n))
}

// invariantAddress reports whether the address register of an access stays as it is in its innermost loop.
func (in *Input) invariantAddress(n blamer.Node) bool {
	l := in.Loop(n)
	if l == nil {
		return false
	}
	base := addressRegister(in.Inst(n))
	if base == sass.RZ {
		return true
	}
	changes := false
	in.eachInst(n.Code, l, func(i int) {
		changes = changes || writesRegister(in.Inst(blamer.Node{Code: n.Code, Inst: i}), base)
	})
	return !changes
}

// goneAccesses matches the stalls of accesses that go.
func (in *Input) goneAccesses(nodes map[blamer.Node]bool) []*Match {
	goes := func(n blamer.Node) bool { return nodes[n] }
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if goes(b.Def) && isStall(b) && b.Detail != blamer.InstructionFetch && !in.awaitsOthers(b, goes) {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = L2 | DRAM | IssueSlots
		m.Change = &Change{Gone: sortedKeys(nodes)}
	}
	return matches
}

// ahead lists the loads of a loop that can be issued a round ahead: those whose addresses no load of the loop has to bring first, and that
// every round makes. Where only some rounds do, what they load goes through a register that the others leave alone, and who hands it on
// waits for the load at once.
func (in *Input) ahead(code int, l *cfg.Loop) (loads []blamer.Node) {
	if l == nil {
		return nil
	}
	f := in.flowOf(code, l)
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		if in.Inst(n).Op == sass.LDG && in.Loop(n) == l && in.everyRound(n, l) && !f.loads(i) && !in.feedsBack(l, n) {
			loads = append(loads, n)
		}
	})
	return loads
}

// everyRound reports whether no round goes past an instruction.
func (in *Input) everyRound(n blamer.Node, l *cfg.Loop) bool {
	g := in.codes[n.Code].graph
	return !slices.ContainsFunc(g.Blocks[l.Header].Preds, func(latch int) bool {
		return l.Contains(latch) && !g.Dominates(n.Inst, g.Blocks[latch].Last)
	})
}

// prefetched is the change that issues loads of a loop a round ahead; nil where there are none.
func (in *Input) prefetched(code int, l *cfg.Loop, loads []blamer.Node) *Change {
	if len(loads) == 0 {
		return nil
	}
	return &Change{Streams: &Streams{Prefetched: []Prefetched{{Loads: loads, Loop: in.streamLoop(code, l), Rounds: 1}}}}
}

// registersAhead is the change of prefetched by way of registers: of the loads for which a thread can have them, those that are waited for
// most.
func (in *Input) registersAhead(code int, l *cfg.Loop, loads []blamer.Node) *Change {
	loads, waited := slices.Clone(loads), make(map[blamer.Node]float64)
	for i := range in.Blame.Blames {
		waited[in.Blame.Blames[i].Def] += in.Blame.Blames[i].Count
	}
	slices.SortStableFunc(loads, func(a, b blamer.Node) int { return cmp.Compare(waited[b], waited[a]) })
	registers, fits, most := in.Launch.Facts.Registers, 0, in.mostRegisters()
	for fits < len(loads) && registers+in.words(loads[fits]) <= most {
		registers += in.words(loads[fits])
		fits++
	}
	c := in.prefetched(code, l, slices.SortedFunc(slices.Values(loads[:fits]), compareNodes))
	if c != nil {
		c.Registers = registers
	}
	return c
}

// words is how many registers what a load brings takes.
func (in *Input) words(n blamer.Node) int { return max(1, in.Inst(n).AccessBytes()/4) }
