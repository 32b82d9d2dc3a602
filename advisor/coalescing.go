package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// minExcess is the share of excess sectors or wavefronts from which on an access counts as wasteful. The paper's tool takes an
// efficiency of less than a half.
const minExcess = 0.4

// memoryCoalescing matches the stalls of accesses to global memory that ask for more sectors than the bytes that they use would
// fill: waiting for their results and the queue that they clog.
type memoryCoalescing struct{}

func (memoryCoalescing) Name() string { return "memory-coalescing" }
func (memoryCoalescing) Class() Class { return StallElimination }

// storeExcess returns the share of excess sectors in all that stores write, and the store with the most of them.
func (in *Input) storeExcess() (share float64, worst blamer.Node) {
	used, ideal, most := 0.0, 0.0, 0.0
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for inst := range s.counters {
			n := blamer.Node{Code: code, Inst: inst}
			if op := in.Inst(n).Op; op != sass.STG && op != sass.ST {
				continue
			}
			k := in.counts(n)
			used += k.sectors
			ideal += k.sectorsIdeal
			if k.sectors-k.sectorsIdeal > most {
				most, worst = k.sectors-k.sectorsIdeal, n
			}
		}
	}
	return excess(used, ideal), worst
}

// losesSectors reports whether L1 loses sectors before all that is wanted of them has been accessed: L2 is then asked for much more
// than the bytes that are used would fill.
func (in *Input) losesSectors() bool {
	const much = 2
	ideal := in.idealBytes()
	return ideal > 0 && float64(in.Launch.Facts.L2Bytes) > much*ideal
}

// idealBytes are those of the sectors that the bytes used by all accesses would fill.
func (in *Input) idealBytes() float64 {
	sectors := 0.0
	for _, s := range in.codes {
		if s == nil {
			continue
		}
		for i := range s.counters {
			sectors += s.counters[i].sectorsIdeal
		}
	}
	return in.Model.L1.Sector.Value * sectors
}

// scattered returns the accesses that ask for too many sectors, and could do with fewer.
func (in *Input) scattered() []blamer.Node {
	var nodes []blamer.Node
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for inst := range s.counters {
			n := blamer.Node{Code: code, Inst: inst}
			if k := &s.counters[inst]; excess(k.sectors, k.sectorsIdeal) >= minExcess && !in.gathers(n) && !in.isSharedByLanes(n) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes
}

// isSharedByLanes reports whether many lanes of an access read the same word, and few sectors hold all of them, as where the threads of a row of a
// block read an element each row has in common: no other order of threads or elements makes those sectors fewer, but a tile in shared memory does.
func (in *Input) isSharedByLanes(n blamer.Node) bool {
	const many, few = 4, 4 // lanes a word, sectors an access
	k := in.counts(n)
	return k.threads*float64(in.Inst(n).AccessBytes()) >= many*in.Model.L1.Sector.Value*k.sectorsIdeal && k.sectors <= few*k.executions
}

func (memoryCoalescing) Match(in *Input) []*Match {
	c := newCollector(in)
	stores, worst := in.storeExcess()
	neighbours := savedBy(in.vectorGroups())
	lost := in.losesSectors()
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if b.Detail != blamer.GlobalMemory && b.Detail != blamer.MemoryThrottle {
			continue
		}
		if in.Inst(b.Def).Op == sass.EXIT { // a warp that has ended waits for its stores
			if stores >= minExcess {
				drained := *b
				drained.Def = worst
				c.addShare(in.kernelScope(), &drained, stores)
			}
			continue
		}
		n := in.counts(b.Def)
		ideal := n.sectorsIdeal
		if saved := neighbours[b.Def]; saved > 0 && !lost && (b.Detail != blamer.MemoryThrottle || !in.hasRows()) {
			ideal /= 1 - saved // the other accesses of the group use more of the sectors; the queue is as full as it is, unless vectors empty it
		}
		share := excess(n.sectors, ideal)
		if share < minExcess || in.gathers(b.Def) || in.isSharedByLanes(b.Def) {
			continue
		}
		if b.Detail == blamer.GlobalMemory {
			share *= in.queuedShare(b) // fewer sectors shorten the queue, not the way to memory
		}
		c.addShare(in.kernelScope(), b, share)
	}
	matches := c.finish()
	if len(matches) == 0 {
		return nil
	}
	change := in.transposed(&Change{Coalesced: in.scattered()})
	for _, m := range matches {
		if m.Spares, m.Change = Sectors, change; !slices.ContainsFunc(m.defs(), func(n blamer.Node) bool { return !in.beginsAnywhere(n) }) {
			m.Least = leastOfLists
		}
		first := m.Hotspots[0].Def
		n := in.counts(first)
		m.Suggestions = []string{
			fmt.Sprintf("A warp's access at %s takes %.1f sectors of 32 bytes, where the bytes that it uses would fill %.1f. Let neighbouring threads access neighbouring elements: "+
				"give threadIdx.x the fastest index, make arrays of structures into structures of arrays (what was tried has them so: it does not count a launch that rearranges them). Where a thread would have to divide by a value unknown to the compiler to find its element (k / n, k %% n), read or write tiles instead.",
				in.places(slices.Concat(m.defs(), in.bySamples(in.scattered())), 5), n.sectors/max(1, n.executions), n.sectorsIdeal/max(1, n.executions)),
			"Where the layout is fixed, as in a transposition, read tiles in rows into shared memory, with rows one element longer than the tile (" + in.paddedTile() + "), or their columns lie in one bank, and take the columns from there: a tile for each warp, between two __syncwarp(), where threads take a row each, and its loops of constant length, unrolled, with one test for the edge a tile. Not of accesses that follow the data (indices, pointers): they stay as they are.",
		}
		if b, rows := in.Launch.Block, warpSize/max(1, in.Launch.Block[0]); in.language != triton && in.hasRows() && rows > 1 && b[1]%rows == 0 && n.sectors <= 1.5*float64(rows)*n.sectorsIdeal {
			m.Suggestions = slices.Insert(m.Suggestions, 0, fmt.Sprintf("A warp has %d rows of a block of %d x %d threads, and reads %d places: blocks of %d x %d threads have a warp along each row.",
				rows, b[0], b[1], rows, b[0]*rows, b[1]/rows))
		}
	}
	return append(matches, in.swapped(matches)...)
}

// paddedTile is a tile of the size of a square block, or of a warp's.
func (in *Input) paddedTile() string {
	side := warpSize
	if b := in.Launch.Block; in.language == cudaC && b[0] == b[1] && b[2] == 1 && b[0] > 1 {
		side = b[0]
	}
	return fmt.Sprintf("float tile[%d][%d]", side, side+1)
}

// hasRows reports whether blocks have threads along x and along y, which could change their roles.
func (in *Input) hasRows() bool {
	b := in.Launch.Block
	return b[0] > 1 && b[1] > 1 && b[2] == 1 && b[0]*b[1]%warpSize == 0
}

// swapped is the matches with x and y of the threads changed, where blocks have both and that can be all that is wrong.
func (in *Input) swapped(matches []*Match) (list []*Match) {
	b := in.Launch.Block
	if !in.hasRows() {
		return nil
	}
	for _, m := range matches {
		if m.Change.Streams != nil {
			continue // a transposition is one either way
		}
		swap := *m
		m.Variant, swap.Variant = "neighbours", "x and y"
		swap.Change = &Change{Streams: &Streams{Regrouped: [2]int{b[0], b[1]}}}
		swap.Suggestions = []string{
			m.Suggestions[0] + " Here it is enough that threadIdx.x and threadIdx.y (and the blocks' x and y) change their roles.", m.Suggestions[1],
		}
		list = append(list, &swap)
	}
	return list
}

// leastOfLists is what another layout has to promise of rows that begin where data say: of many lengths they leave gaps side by side, and a tile of
// them takes a pass of its own (1.12x tried was 0.81x by hand for the edges of a graph). A default.
const leastOfLists = 1.3
