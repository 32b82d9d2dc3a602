package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// windowTiles matches windows, as of stencils and filters, whose parts each thread finds by itself: with an address, tests at the border and
// conversions for every value that it reads. A block can put what its windows cover into shared memory once, the border and the conversions
// done, and read it from there at places that the compiler knows.
func (in *Input) windowTiles() []*Match {
	code, loads, first := in.overlappingWindows()
	if len(loads) < leastWindow {
		return nil
	}
	bytes := int(first) / max(1, len(in.Launch.Record.Blocks))
	if in.shared()+bytes > in.Model.Limits.SharedBlock.Int() {
		return nil
	}
	gone, each := in.windowOverhead(code, loads)
	c := newCollector(in)
	nearer := in.nearer()
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		switch {
		case gone[b.Def]:
			c.add(in.kernelScope(), b)
		case loads[b.Def] && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle):
			c.addShare(in.kernelScope(), b, nearer)
		}
	}
	c.addIssued(sortedKeys(gone))
	matches := c.finish()
	for _, m := range matches {
		m.Variant, m.Spares = "window", IssueSlots|L2|DRAM
		if 2*bytes/tileWord > 3*volume(in.Launch.Block) {
			m.Least = leastWithEdge
		}
		m.Change = &Change{Gone: sortedKeys(gone), Shared: in.shared() + bytes,
			Streams: &Streams{Staged: []Staged{{Loads: sortedKeys(loads), Rounds: 1, Index: max(windowIndex, each)}}}}
		m.Suggestions = []string{
			fmt.Sprintf("Each thread reads a window of the data around its element (%s), and finds the address of every value, tests whether it is inside, and converts it by itself. Let the block put its elements with the edge around them, as wide as the window reaches, into shared memory once: __shared__ float tile[BLOCK_Y + 2 * RADIUS][BLOCK_X + 2 * RADIUS], filled in a loop over its elements by all threads, with what counts outside of the data in its place (where it wraps around, by a comparison and a subtraction, not by %%) and in the type that is computed with. After __syncthreads() each thread reads its window from the tile, without tests.",
				in.places(sortedKeys(loads), 3)),
			"The size of the tile and of the window have to be constants of the program and the loops over the window unrolled, so that places in the tile are part of the instructions.",
		}
	}
	return matches
}

// leastWithEdge is what a tile has to promise that has over half as many values more than the block has threads: some of them put two or more there
// while the others wait (1.43x tried was 0.72x by hand for a cube of 10 by 10 by 18 and 1,024 threads, 1.69x was 1.79x for a square of 44 by 44).
const (
	leastWithEdge = 1.3
	tileWord      = 4
)

// windowIndex is what it takes to find the places of 32 neighbouring words that a block puts into its tile, as NVRTC 12.9 makes them for sm_80 of two
// nested loops over a tile with its edge (kernels/ladders/conv2d, version shared).
const windowIndex = 20

// windowLoads returns the loads of the function that reads most of them which read parts of windows: from global memory, what other threads of
// the block read as well and nobody stores to, in no loop or in loops over a window.
func (in *Input) windowLoads() (code int, loads map[blamer.Node]bool) {
	byCode := make(map[int]map[blamer.Node]bool)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op == sass.LDG }) {
		if r := in.recorded(n); r == nil || r.Stored > 0 || !in.ofWindow(n) || !in.sharedByThreads(n) || in.isBroadcast(n) || in.gathers(n) {
			continue
		}
		if byCode[n.Code] == nil {
			byCode[n.Code] = make(map[blamer.Node]bool)
		}
		byCode[n.Code][n] = true
		if len(byCode[n.Code]) > len(loads) {
			code, loads = n.Code, byCode[n.Code]
		}
	}
	return code, loads
}

// overlappingWindows are the window loads where their windows overlap, none else, and first as [Input.overlap] has it.
func (in *Input) overlappingWindows() (code int, loads map[blamer.Node]bool, first int64) {
	code, loads = in.windowLoads()
	first, overlap := in.overlap(loads)
	if !overlap {
		return code, nil, 0
	}
	return code, loads, first
}

// overlap reports whether loads read windows that overlap, so that each part is read by several of the loads, or by one of them in several rounds; and
// first is how many bytes they read in all that nobody of the block had read before. Threads may share what they read in other ways, as rows of a
// matrix or the weights of many rows.
func (in *Input) overlap(loads map[blamer.Node]bool) (first int64, overlap bool) {
	bytes, distinct, rounds := int64(0), int64(0), int64(0)
	for n := range loads {
		r := in.recorded(n)
		left := r.Bytes
		for p := range r.Earlier {
			left -= r.Earlier[p] + r.InEarlierRound[p]
		}
		bytes, distinct, first = bytes+r.Bytes, distinct+r.Distinct, first+max(0, min(left, r.Distinct))
		rounds += r.InEarlierRound[profiler.SameWarp] + r.InEarlierRound[profiler.SameBlock]
	}
	return first, distinct >= leastOverlap*first || 2*rounds >= bytes
}

// leastOverlap is how many loads read each part of windows at least: three points of a line are two of its neighbour's.
const leastOverlap = 2

// windowOverhead returns what threads do without that read a window from a tile: what finds the places of loads and tests whether they are inside
// of the data, and conversions of single values. each is how much of it there is for a value, which whoever puts one into the tile does as well.
func (in *Input) windowOverhead(code int, loads map[blamer.Node]bool) (nodes map[blamer.Node]bool, each int) {
	w := windowFinder{in: in, code: code, loads: make(map[int]bool), gone: make(map[int]bool), uses: make(map[int][]flowUse)}
	for n := range loads {
		w.loads[n.Inst] = true
	}
	whole := &cfg.Loop{}
	for id := range in.codes[code].graph.Blocks {
		whole.Blocks = append(whole.Blocks, id)
	}
	w.flow = in.flowOf(code, whole)
	in.eachInst(code, whole, func(i int) {
		for _, e := range w.flow.from[i] {
			w.uses[e.node] = append(w.uses[e.node], flowUse{i, e.resource})
		}
	})
	w.conversions()
	needed := w.flow.needs(slices.Sorted(maps.Keys(w.loads))...)
	for again := true; again; {
		again = false
		for _, i := range slices.Sorted(maps.Keys(needed)) {
			if i >= 0 && !w.gone[i] && w.isFor(i) {
				w.gone[i], again = true, true
			}
		}
	}
	nodes = make(map[blamer.Node]bool, len(w.gone))
	for i := range w.gone {
		nodes[blamer.Node{Code: code, Inst: i}] = true
	}
	for i := range w.loads {
		n := 0
		for k := range w.flow.needs(i) {
			if w.gone[k] {
				n++
			}
		}
		each = max(each, n)
	}
	return nodes, each
}

// A windowFinder looks for what a tile makes superfluous.
type windowFinder struct {
	in    *Input
	code  int
	flow  *registerFlow
	loads map[int]bool
	gone  map[int]bool
	uses  map[int][]flowUse // by definition
}

// A flowUse is an instruction that reads a resource.
type flowUse struct {
	inst     int
	resource sass.Resource
}

// conversions finds those of what was loaded alone: a tile holds what comes out.
func (w *windowFinder) conversions() {
	for i := range w.loads {
		for _, u := range w.uses[i] {
			x := w.flow.inst(u.inst)
			if x.Op.Properties().Class != sass.ClassConvert {
				continue
			}
			if !slices.ContainsFunc(w.flow.from[u.inst], func(e flowEdge) bool { return e.resource < sass.ResPred && !w.loads[e.node] }) {
				w.gone[u.inst] = true
			}
		}
	}
}

// isFor reports whether an instruction has no effect but on where loads read, and on what is done only for values inside of the data: a tile has
// others outside.
func (w *windowFinder) isFor(i int) bool {
	x := w.flow.inst(i)
	if effectOf(x) != 0 || x.Op.Properties().Memory() != sass.NoSpace || len(w.uses[i]) == 0 {
		return false
	}
	return !slices.ContainsFunc(w.uses[i], func(u flowUse) bool { return !w.loads[u.inst] && !w.gone[u.inst] && !w.onlyGuards(u) })
}

// onlyGuards reports whether a use is the guard of arithmetic or of a load alone.
func (w *windowFinder) onlyGuards(u flowUse) bool {
	x := w.flow.inst(u.inst)
	if u.resource < sass.ResPred || effectOf(x)&^loadGlobal != 0 {
		return false
	}
	guard := sass.ResPred + sass.Resource(x.Guard.Reg)
	if x.Guard.Uniform {
		guard = sass.ResUPred + sass.Resource(x.Guard.Reg)
	}
	return guard == u.resource && !slices.ContainsFunc(x.Operands, func(o sass.Operand) bool { return o.Source && isCondition(&o) && o.Reg == x.Guard.Reg })
}
