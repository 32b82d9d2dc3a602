package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// threadCoarsening matches grids of many short blocks: what every thread does beside its accesses to memory (its index, the arguments,
// the steps in which a block puts results together) is done less often where a thread takes several items. Of items that lie next to each other
// vectorized-access tells.
type threadCoarsening struct{}

func (threadCoarsening) Name() string { return "thread-coarsening" }
func (threadCoarsening) Class() Class { return Parallel }

// coarsened is the number of items that a thread is told to take, half of them where blocks are too few for that.
const coarsened = 4

func (threadCoarsening) Match(in *Input) []*Match { return in.coarser(false) }

// coarser matches such grids: for items that lie next to each other, so that a thread accesses all of them as one vector, or for others.
func (in *Input) coarser(vectors bool) []*Match {
	f := &in.Launch.Facts
	blocks, threads := volume(in.Launch.Grid), volume(in.Launch.Block)
	if f.SMs <= 0 || threads <= 0 || in.Total == 0 || in.longLoops() {
		return nil
	}
	wave := in.wave()
	items := coarsened
	if blocks < items*wave/2 { // half of the places at least stay taken
		items /= 2
	}
	if blocks <= wave {
		return nil
	}
	memory := 0.0 // waits that there will be as many of
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; b.Detail == blamer.GlobalMemory {
			memory += b.Count
		}
	}
	type way struct {
		axis  MergeAxis
		items int
	}
	folds := in.putsTogether() && !in.standsForItself()
	var ways []way
	switch {
	case folds:
		if rest := ceilDiv(blocks, items); rest > wave && rest < 2*wave { // a second wave of a few
			items = ceilDiv(blocks, wave)
		}
		ways = append(ways, way{MergeX, items})
		if n := ceilDiv(blocks, wave); !in.countsInShared() && n > items && n <= warpSize && in.Launch.Grid[0] > wave {
			ways = append(ways, way{MergeX, n}) // as many blocks as there is room for
		}
	default:
		if in.Launch.Block[1]%items == 0 && threads%(items*warpSize) == 0 {
			ways = append(ways, way{MergeStrided, items})
		}
		for n := items; n > 1; n /= 2 { // what is left over would be another kernel
			if in.Launch.Grid[0]%n == 0 {
				ways = append(ways, way{MergeX, n})
				break
			}
		}
		if n := max(2, items*in.vectorItems()/coarsened); threads%(n*warpSize) == 0 && !in.apartInMemory() {
			ways = append(ways, way{MergeLanes, n})
		}
	}
	also := in.forSeveral()
	var matches []*Match
	for _, w := range ways {
		if (w.axis == MergeLanes) != vectors {
			continue
		}
		axis, items, registers := w.axis, w.items, in.coarserRegisters(w.items, folds)
		for items > 2 && registers > in.mostRegisters() {
			items /= 2
			registers = in.coarserRegisters(items, folds)
		}
		if registers > in.mostRegisters() {
			continue
		}
		gone := (in.Total - memory) * (1 - 1/float64(items))
		m := in.launchMatch(in.ofLaunch(EliminateStalls(in.Total, gone)))
		m.Samples, m.Spares = gone, IssueSlots|SharedMemory|L2
		m.Change = &Change{Streams: &Streams{Merged: []Merged{{Factor: items, Axis: axis, Folded: folds}}}, Registers: registers}
		m.Variant, m.Suggestions = in.coarserWords(axis, items, folds, blocks, threads)
		m.Suggestions[0] += also
		if !vectors {
			if !folds {
				m.Suggestions[0] += loadWithoutTests
			}
			matches = append(matches, m)
			continue
		}
		if m.Hotspots = in.accessed(); len(m.Hotspots) == 0 {
			continue
		}
		if in.readsNeighbours() {
			m.Least = leastOfWindow
		}
		matches = append(matches, m)
		if left := threads / items; left < usualThreads/2 && blocks >= items*wave/2 && volume(in.Launch.Grid)%items == 0 {
			together := *m // small blocks end before others take their places
			together.Change = &Change{Streams: &Streams{Merged: m.Change.Streams.Merged, Gathered: items}, Registers: registers, Shared: items * in.shared()}
			together.Variant += ", blocks together"
			together.Suggestions = slices.Clone(m.Suggestions)
			together.Suggestions[0] = fmt.Sprintf("Each of %d blocks does little beside its index and its accesses. Let a thread take %d neighbouring items, with accesses to all of them at once as vectors (double2, float4, int4, uint4 of 8 halves), and a block of %d threads, as now, the items of %d blocks (threadIdx.y, or an index that counts on): blocks of %d threads would end before others take their places.",
				blocks, items, threads, items, left) + also
			matches = append(matches, &together)
		}
	}
	return matches
}

// readsNeighbours reports whether threads read elements beside their own, from the same address but for less than the widest vector: as a vector of
// items these stand at no multiple of its size (1.09x tried was 1.00x).
func (in *Input) readsNeighbours() bool {
	offsets := make(map[wordAccess]int32) // of the first access by a base
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		a, ok := guardedWordOf(in.Inst(n))
		if !ok {
			continue
		}
		at := a.offset
		a.offset = 0
		first, seen := offsets[a]
		if !seen {
			offsets[a] = at
		} else if first != at && max(first-at, at-first) < widestAccess {
			return true
		}
	}
	return false
}

// loadWithoutTests is said where a thread takes items any of which may lie outside: a test of each keeps its loads apart from those of the others.
const loadWithoutTests = " Where an item may lie outside the array, load without tests, at indices that are kept within it (min, max), or behind one test for all of the thread's items, and test the stores alone: behind a test of its own each item waits for its loads by itself."

// accessed are the accesses to global memory, with the samples in which they were issued.
func (in *Input) accessed() (spots []Hotspot) {
	for _, n := range in.executedNodes(movesGlobal) {
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			spots = append(spots, Hotspot{Def: n, Use: n, Detail: blamer.NotSelected, Samples: issued})
		}
	}
	return rankHotspots(in, spots)
}

// vectorItems is how many elements of the largest type that a thread accesses one by one the widest access has room for: 2 doubles, 4 floats, 8 halves.
func (in *Input) vectorItems() int {
	size := 0
	for _, n := range in.executedNodes(movesGlobal) {
		size = max(size, in.Inst(n).AccessBytes())
	}
	return max(2, min(widestAccess/max(1, size), 2*coarsened))
}

// apartInMemory reports whether many accesses are not of neighbouring threads to neighbouring words, or hit the same banks: then they do not
// become vectors, and what another layout of threads would gain, better addresses gain as well.
func (in *Input) apartInMemory() bool {
	var all counts
	for _, c := range in.codes {
		if c == nil {
			continue
		}
		for i := range c.counters {
			k := &c.counters[i]
			all.sectors += k.sectors
			all.sectorsIdeal += k.sectorsIdeal
			all.wavefronts += k.wavefronts
			all.wavefrontsIdeal += k.wavefrontsIdeal
		}
	}
	return excess(all.sectors, all.sectorsIdeal) >= minExcess || excess(all.wavefronts, all.wavefrontsIdeal) >= minExcess
}

// coarserRegisters is what a thread takes for its items: of sums one more each, else nearly all that it takes for one, as they are under
// way together, but no more than compilers give to what is loaded early, and to what the items store.
func (in *Input) coarserRegisters(items int, folds bool) int {
	const once = 10 // for what items have in common: indices, bounds
	now, more := in.Launch.Facts.Registers, items-1
	if folds {
		return now + registersAResult*more
	}
	stored := 0 // words of an item
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op.Properties().Stores(sass.SpaceGlobal) }) {
		stored += in.words(n)
	}
	return now + min(max(now-once, 0)*more, hoistedWords+stored*more)
}

// longLoops reports whether threads spend most of their time in loops of many rounds of the source, so that what they do once hardly counts.
func (in *Input) longLoops() bool {
	const many = 16
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		for _, l := range c.graph.Loops {
			if rounds, known := in.TripCount(code, l); l.Parent == nil && known && in.samplesInLoop(code, l) >= in.Total/2 && rounds*float64(in.unrolledBy(code, l)) >= many {
				return true
			}
		}
	}
	return false
}

// movesGlobal reports whether an instruction loads from global memory, or stores or changes what is there.
func movesGlobal(op sass.Op) bool {
	p := op.Properties()
	return p.Loads(sass.SpaceGlobal) || p.Stores(sass.SpaceGlobal) || p.Atomic(sass.SpaceGlobal|sass.SpaceGeneric)
}

// putsTogether reports whether each block writes one result of much that it reads, as where it sums up, or adds several to those of the other
// blocks, as where it has counted by itself.
func (in *Input) putsTogether() bool {
	const much = 16
	read, written, added := 0.0, 0.0, true
	for _, n := range in.executedNodes(movesGlobal) {
		switch threads := in.counts(n).threads; in.Inst(n).Op {
		case sass.LDG:
			read += threads
		default:
			written += threads
			added = added && in.addsToOthers(n)
		}
	}
	return read > 0 && (added && written > 0 || read >= much*written && written <= float64(volume(in.Launch.Grid)))
}

// countsInShared reports whether blocks add to words of shared memory by atomics: their threads wait for each item by itself then.
func (in *Input) countsInShared() bool {
	return len(in.executedNodes(func(op sass.Op) bool { return op.Properties().Atomic(sass.SpaceShared) })) > 0
}

// standsForItself reports whether what a block puts together is for its own result, as a row of a matrix times a vector: the blocks then read
// something in common, which parts of one sum do not.
func (in *Input) standsForItself() bool {
	return slices.ContainsFunc(in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }), func(n blamer.Node) bool {
		return readByBlocks(in.recorded(n))
	})
}

// readByBlocks reports whether other blocks access most of what a load or an atomic operation of a block does, by its record, nil for none.
func readByBlocks(r *profiler.LoadRecord) bool {
	return r != nil && r.Distinct > 0 && 2*r.Shared >= r.Distinct
}

// addsToOthers reports whether an atomic of each block changes what other blocks change as well, by the record, each word once a block.
func (in *Input) addsToOthers(n blamer.Node) bool {
	r := in.recorded(n)
	return r != nil && isAtomic(in.Inst(n).Op) && r.Bytes <= r.Distinct && readByBlocks(r)
}

// itemsApart says where the other items of a thread lie that takes so many, by the shape of the grid.
func (in *Input) itemsApart(items int) string {
	g := in.Launch.Grid
	if g[1]*g[2] == 1 {
		return fmt.Sprintf("a grid of %d blocks apart", ceilDiv(g[0], items))
	}
	shape := fmt.Sprintf("%d x %d", ceilDiv(g[0], items), g[1])
	if g[2] > 1 {
		shape += fmt.Sprintf(" x %d", g[2])
	}
	return fmt.Sprintf("blockDim.x apart along x in a grid of %s blocks", shape)
}

// coarserWords tells how a thread takes more items.
func (in *Input) coarserWords(axis MergeAxis, items int, folds bool, blocks, threads int) (variant string, text []string) {
	last := "Not where the grid then has too few blocks for the SMs, or the registers for more items leave room for fewer warps."
	switch {
	case folds:
		return fmt.Sprintf("sums of %d", items), []string{
			fmt.Sprintf("Blocks of %d threads read few items a thread and then put them together, %d times over. Let each thread add up %d times as many items while it loads them (a grid-stride loop over a grid of %d blocks): the steps behind are then done by %d times fewer blocks. There are then %d results of blocks, not %d, for who puts them together.", threads, blocks, items, ceilDiv(blocks, items), items, ceilDiv(blocks, items), blocks),
			fmt.Sprintf("That is for results of blocks which are put together afterwards. Where each stands for itself, as for a row, let a block take %d rows side by side: as many sums in each thread's registers, and one set of barriers for all of them; a loop of rows around the barriers gains nothing. ", items) + last,
		}
	case axis == MergeStrided:
		b := in.Launch.Block
		return "rows", []string{
			fmt.Sprintf("Each of %d blocks does little beside its index and its accesses. Let a block of %d x %d threads do what one of %d x %d does now, each thread %d rows of it that are %d apart, side by side: load the elements of all of them first (in loops that are unrolled), then compute, then store. What the rows have in common is done once, and their loads are under way together.",
				blocks, b[0], b[1]/items, b[0], b[1], items, b[1]/items),
			"A loop that stores one item before it loads the next gains nothing where compilers keep loads behind stores. Between two __syncthreads() do the step of all rows. " + last,
		}
	case axis == MergeLanes:
		return "neighbours", []string{
			fmt.Sprintf("Each of %d blocks does little beside its index and its accesses. Let a thread take %d neighbouring items, with accesses to all of them at once as vectors (double2, float4, int4, uint4 of 8 halves). A block then has %d threads for the items of %d now.", blocks, items, threads/items, threads),
			"Load all that the items need before computing with it, and do once what they have in common (indices, what does not differ between them). Their number and the addresses have to be multiples of the vector's size: not where a thread reads neighbours of its item as well, at addresses that are none. " + last,
		}
	}
	how := "A loop that stores one item before it loads the next gains nothing, as compilers keep loads behind stores."
	if len(in.executedNodes(func(op sass.Op) bool { return op == sass.BAR })) > 0 {
		how += " Between two __syncthreads() do the step of all items, each in shared memory of its own (so many times as much of it): a loop around the barriers would wait as often as now."
	}
	return "items", []string{
		fmt.Sprintf("Each of %d blocks does little beside its index and its accesses. Let a thread take %d items, %s, side by side: load all of them into registers first (an array of %d, in loops that are unrolled), then compute, then store, so that their loads are under way together.", blocks, items, in.itemsApart(items), items),
		"Compute once what is the same for all items (powers, divisions, tests) and the index of the first, and add a constant step for the others, and keep indices in 32 bits where that is enough. " + how + " " + last,
	}
}
