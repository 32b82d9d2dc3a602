package stream

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// An Axis says whose work a Merge makes that of one thread.
type Axis uint8

// The axes.
const (
	Warps       Axis = iota // so many warps of a block that follow each other
	Strided                 // warps of a block as far apart as there are warps left
	Threads                 // neighbouring threads; accesses to elements that follow each other become wide ones
	GridX                   // neighbouring blocks along x
	GridY                   // along y
	GridZ                   // along z
	GridThreads             // as Threads, with as many neighbouring blocks along x in one, which keeps its size
)

// Merge makes the work of Factor threads that of one, as kernels do that compute several results a thread. Their streams are laid side
// by side. What is the same for all of the threads is issued once: accesses to the same addresses (a common load), control flow, and
// arithmetic that gives the same results, or integers that differ by what is known when the program is compiled, as such a difference
// is part of later instructions' offsets. All else is issued once for each, one after another: the more of them, the less each waits
// for the one before.
//
// What comes from data that differ is never the same, whatever the data of this launch are. So it goes for words of shared memory that
// differ between blocks which are merged. Nor is anything issued once between a branch that each of the threads takes for itself and the
// place where its ways meet: a compiler lays such branches one behind the other.
//
// Blocks have fewer threads then, or there are fewer of them. Streams whose instructions differ are an error, but for a few, as at the
// edges of a problem.
type Merge struct {
	Factor int
	Axis   Axis
	// Folded: behind the last load from global memory, or atomic to several words of shared memory, everything is done once, as where a
	// thread adds up what it loads of several items, or counts them, before the block puts together what its threads have.
	Folded bool
	// Loads is how many words of global memory a thread has under way at most, 0 for any number: compilers do not spend more registers on what
	// they load because there is more to load.
	Loads int
	// InOrder: loads stay where they are in the code, for an edit of the loop behind this one.
	InOrder bool

	warps, apart int // of the launch after the merge, and those of them whose streams differed
	pool         Pool
}

// mostApart is the part of the instructions in which the streams of merged threads may differ, and of the warps in which they may differ by
// more, as at the edges of a problem.
const mostApart = 0.1

// mostAlone is that part where the first thread executes alone all that differs, as what the first warp of a block does for all: it goes on doing it.
const mostAlone = 0.5

// Reshape makes blocks smaller, or takes several for one.
func (m *Merge) Reshape(s Shape) (Shape, int, error) {
	if m.Factor < 2 || m.Factor > warpLanes {
		return s, 0, fmt.Errorf("merge: %d threads, it can be 2 to %d", m.Factor, warpLanes)
	}
	switch m.Axis {
	case GridX, GridY, GridZ, GridThreads:
		axis := 0
		if m.Axis == GridY || m.Axis == GridZ {
			axis = int(m.Axis - GridX)
		}
		if s.Grid[axis]%m.Factor != 0 && m.Axis != GridX {
			return s, 0, fmt.Errorf("merge: a grid of %v cannot be divided by %d", s.Grid, m.Factor)
		}
		s.Grid[axis] = (s.Grid[axis] + m.Factor - 1) / m.Factor
	default: // within a block
		if s.Threads%(warpLanes*m.Factor) != 0 {
			return s, 0, fmt.Errorf("merge: the warps of a block of %d threads cannot be divided by %d", s.Threads, m.Factor)
		}
		s.Threads /= m.Factor
	}
	m.warps = s.blocks() * ((s.Threads + warpLanes - 1) / warpLanes)
	return s, 1, nil
}

// Inputs takes neighbouring blocks together, or one.
func (m *Merge) Inputs(s Shape, n int) (list []int) {
	switch m.Axis {
	case GridX, GridThreads:
		columns := s.Grid[0]
		groups := (columns + m.Factor - 1) / m.Factor // of a row; the last may be of fewer blocks
		first, step := n%groups*m.Factor, 1
		last := min(first+m.Factor, columns)
		if m.Folded { // as a grid-stride loop does
			first, step, last = n%groups, groups, columns
		}
		for x := first; x < last; x += step {
			list = append(list, n/groups*columns+x)
		}
	case GridY:
		x, y := n%s.Grid[0], n/s.Grid[0]
		for k := range m.Factor {
			list = append(list, x+s.Grid[0]*(y*m.Factor+k))
		}
	case GridZ:
		plane := s.Grid[0] * s.Grid[1]
		for k := range m.Factor {
			list = append(list, n%plane+plane*(n/plane*m.Factor+k))
		}
	default:
		list = append(list, n)
	}
	return list
}

// Apply makes a block of the blocks.
func (m *Merge) Apply(p Program, blocks []*Block) ([]*Block, error) {
	contents := make(map[uint64]bool)
	for {
		g := &merger{Merge: m, program: p, blocks: blocks, differs: contents}
		out, err := g.block()
		if err != nil {
			return nil, err
		}
		if !g.found { // words of shared memory that differ, which may have been read before
			m.apart += g.parted
			for _, b := range blocks {
				b.Release()
			}
			return []*Block{out}, nil
		}
		out.Release()
	}
}

// A merger makes one block.
type merger struct {
	*Merge
	program Program
	blocks  []*Block
	out     *Block
	differs map[uint64]bool // words of shared memory that hold something else in each of the blocks
	found   bool            // another such word

	warp     int // of out
	items    []item
	classes  [sass.NumRes]class
	tested   [sass.NumRes]bool // predicates that each of the threads has found for itself, be they the same
	meeting  []meeting         // BSSYs that are open, the innermost last
	uses     []sass.Resource
	value    Value           // of the first of the threads
	parted   int             // warps whose streams differ
	differ   int             // instructions of the warp that not all threads execute
	alone    bool            // all of these the first of the threads executes alone
	unrolled int             // loads that are under way together where a thread takes items in a loop
	folding  bool            // the instruction is behind the last load, and done for all
	sums     map[uint64]bool // words of shared memory with results of reductions, where these are folded
	addr     [warpLanes]uint64
	turns    []int // by event of the warp: which of the threads it is of, -1 for all
}

// An item is the stream of one of the warps that are merged.
type item struct {
	block  *Block
	warp   int // of block
	events []Event
	values []Value
	own    int // what it does last with an item, see lastOwn
}

// A meeting is a place where the ways of a branch meet.
type meeting struct {
	barrier uint8
	apart   bool // the branch is one that each of the threads takes for itself
}

// A class says how what a register holds differs between the threads that are merged.
type class uint8

const (
	known  class = iota // not at all: a number in the program
	same                // not at all
	folded              // it is the result of a reduction of what all of them have
	fixed               // by a number that is known when the program is compiled
	varied              // by a number
	own                 // it depends on data that differ
)

// block merges the warps.
func (g *merger) block() (*Block, error) {
	first := g.blocks[0]
	n := len(first.Warps)
	if g.Axis < GridX {
		n /= g.Factor
	}
	if g.Axis < GridX || g.neighbours() {
		for _, b := range g.blocks {
			if err := b.withoutWork(g.program, "merge"); err != nil {
				return nil, err
			}
		}
	}
	if g.Axis == GridThreads && len(first.Gates) > 0 {
		return nil, errors.New("merge: the threads of several blocks meet at barriers")
	}
	g.out = g.pool.Block(n)
	g.out.Gates = append(g.out.Gates, first.Gates...)
	g.sums = make(map[uint64]bool)
	for g.warp = range n {
		g.items = g.items[:0]
		for k := range g.threads() {
			b, w := first, 0
			switch g.Axis {
			case GridX, GridY, GridZ:
				b, w = g.blocks[k], g.warp
				if len(b.Warps) != n || len(b.Gates) != len(first.Gates) {
					return nil, errors.New("merge: the blocks meet at other barriers")
				}
			case Strided:
				w = k*n + g.warp
			default:
				w = g.warp*g.Factor + k
				b, w = g.blocks[w/len(first.Warps)], w%len(first.Warps)
			}
			g.items = append(g.items, item{block: b, warp: w, events: b.Warps[w].Events, values: b.Warps[w].Values})
		}
		if err := g.merge(); err != nil {
			return nil, err
		}
	}
	return g.out, nil
}

// threads is how many are merged: fewer than asked for where the rest of a grid is left.
func (g *merger) threads() int {
	if g.Axis == GridX {
		return len(g.blocks)
	}
	return g.Factor
}

// merge merges the streams of the items.
func (g *merger) merge() error {
	clear(g.classes[:])
	clear(g.tested[:])
	g.meeting = g.meeting[:0]
	g.differ, g.alone, g.folding, g.turns = 0, g.Axis < GridX, false, g.turns[:0]
	total := 0
	for k := range g.items {
		g.items[k].own = g.items[k].lastOwn()
	}
	if g.unrolled = unrolledLoads; g.items[0].own >= 0 && g.items[0].counts(g.items[0].own) {
		g.unrolled = 1
	}
	at := make([]int, 0, g.Factor) // items with the next instruction
	for {
		first := g.next()
		if first < 0 {
			break
		}
		at = at[:0]
		for k := range g.items {
			if it := &g.items[k]; len(it.events) > 0 && it.events[0].Op == first {
				at = append(at, k)
			}
		}
		total++
		g.folding = g.Folded && !slices.ContainsFunc(at, func(k int) bool { return !g.items[k].behindOwn() })
		if len(at) < len(g.items) && !g.folding && !(g.folds() && g.warp == 0) { // the first warp ends reductions by itself
			g.differ++
			g.alone = g.alone && len(at) == 1 && at[0] == 0
		}
		if len(g.items[at[0]].values) == 0 {
			return errors.New("merge: it is not known what the instructions compute, as another edit has moved them")
		}
		g.value = g.items[at[0]].values[0]
		g.instruction(first, at)
		for _, k := range at {
			g.items[k].events = g.items[k].events[1:]
			g.items[k].values = g.items[k].values[1:]
		}
	}
	if float64(g.differ) > mostApart*float64(total) && !(g.alone && float64(g.differ) <= mostAlone*float64(total)) {
		g.parted++
	}
	if float64(g.apart+g.parted) > mostApart*float64(g.warps) {
		return fmt.Errorf("merge: %d of %d instructions are not those of all %d threads", g.differ, total, g.Factor)
	}
	if !g.InOrder {
		g.loadInTurn()
	}
	if g.Loads > 0 {
		g.limitLoads()
	}
	return nil
}

// limitLoads lets loads wait for those before them where more words would be under way than may be.
func (g *merger) limitLoads() {
	w := &g.out.Warps[g.warp]
	var under []Event // loads that nothing has waited for
	words := 0
	for i := range w.Events {
		e := &w.Events[i]
		in := g.program.Inst(e.Op)
		if a := e.access(g.out); a == nil || a.Kind != load || a.Space != global {
			under = slices.DeleteFunc(under, func(l Event) bool {
				waited := in.Control.WaitMask>>max(0, g.program.Inst(l.Op).Control.WriteBarrier)&1 != 0
				if waited {
					words -= l.access(g.out).registers()
				}
				return waited
			})
			continue
		}
		more := e.access(g.out).registers()
		if words+more > g.Loads && len(under) > 0 && e.Wait == 0 {
			e.Wait = g.out.waitsOf(g.awaits(under))
			under, words = under[:0], 0
		}
		under, words = append(under, *e), words+more
	}
}

// access is the access of an event, nil where it is none.
func (e *Event) access(b *Block) *Access {
	if e.Kind != RefAccess {
		return nil
	}
	return &b.Access[e.Ref]
}

// registers is how many of them an access has for the data of a thread.
func (a *Access) registers() int { return max(1, int(a.Size)/4) }

// loadInTurn orders loads that follow each other by the threads that they were of: a loop over items, unrolled, loads all of one before
// the next, and what a thread loads of one lies together.
func (g *merger) loadInTurn() {
	w := &g.out.Warps[g.warp]
	loads := func(i int) bool {
		e := &w.Events[i]
		if g.turns[i] < 0 || e.Kind != RefAccess || e.Wait > 0 {
			return false
		}
		a := &g.out.Access[e.Ref]
		return a.Kind == load && a.Space == global
	}
	for first := 0; first < len(w.Events); first++ {
		end := first
		for end < len(w.Events) && loads(end) {
			end++
		}
		if end-first > 1 {
			order := make([]int, end-first)
			for i := range order {
				order[i] = first + i
			}
			slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(g.turns[x], g.turns[y]) })
			events, values := slices.Clone(w.Events[first:end]), slices.Clone(w.Values[first:end])
			for i, from := range order {
				w.Events[first+i], w.Values[first+i] = events[from-first], values[from-first]
				if g.Folded && i > 0 && i%g.unrolled == 0 {
					w.Events[first+i].Wait = g.out.waitsOf(g.awaits(w.Events[first : first+i]))
				}
			}
			first = end
		}
	}
}

// unrolledLoads is how many loads of a loop that adds up what it loads are under way together: NVIDIA's compiler unrolls such a loop by
// four. It does not unroll one that counts in shared memory by atomics.
const unrolledLoads = 4

// awaits is the wait for loads to be complete.
func (g *merger) awaits(loads []Event) Waits {
	w := ownWaits
	for i := range loads {
		if counter := g.program.Inst(loads[i].Op).Control.WriteBarrier; counter >= 0 {
			w[counter] = 0
		}
	}
	return w
}

// behindOwn reports whether the next instruction is behind all that the stream does with an item of its own.
func (it *item) behindOwn() bool {
	return len(it.events) < len(it.block.Warps[it.warp].Events)-it.own
}

// lastOwn is the place of what the stream does last with an item of its own, -1 where there is none: it loads from global memory, or counts in
// shared memory by what it has loaded. Where all lanes add to one word they put their results together.
func (it *item) lastOwn() int {
	for i := len(it.events) - 1; i >= 0; i-- {
		if e := &it.events[i]; e.Kind == RefAccess {
			if a := &it.block.Access[e.Ref]; a.Kind == load && a.Space == global || it.counts(i) {
				return i
			}
		}
	}
	return -1
}

// counts reports whether an access adds to several words of shared memory.
func (it *item) counts(i int) bool {
	a := &it.block.Access[it.events[i].Ref]
	return a.Kind == atomic && a.Space == shared && it.block.apart(a)
}

// apart reports whether the lanes of an access have several addresses.
func (b *Block) apart(a *Access) bool {
	first := bits.TrailingZeros32(a.Mask)
	for m := a.Mask; m != 0; m &= m - 1 {
		if b.address(a, bits.TrailingZeros32(m)) != b.address(a, first) {
			return true
		}
	}
	return false
}

// next is the instruction that is merged next: that of all streams or, where they have gone different ways, the first in the code. A barrier comes when
// all streams are at one, also where the code of another way lies behind it.
func (g *merger) next() int32 {
	first, barrier := int32(-1), int32(-1)
	for k := range g.items {
		e := g.items[k].events
		if len(e) == 0 {
			continue
		}
		at := &first
		if e[0].Kind == RefSync {
			at = &barrier
		}
		if *at < 0 || e[0].Op < *at {
			*at = e[0].Op
		}
	}
	if first < 0 {
		return barrier
	}
	return first
}

// instruction merges the instruction that some of the streams are at.
func (g *merger) instruction(op int32, at []int) {
	in := g.program.Inst(op)
	e := &g.items[at[0]].events[0]
	switch {
	case slices.ContainsFunc(at, func(k int) bool { return g.items[k].events[0].Kind == RefWork }):
		g.works(in, at)
		return
	case e.As >= Load || g.folding: // added by another edit, or done for all
		g.once(at)
		return
	}
	switch {
	case e.Kind == RefAccess:
		g.accesses(in, at)
	case e.Kind == RefSync:
		g.once(at)
	default:
		g.arithmetic(in, at)
	}
}

// once issues the instruction for all.
func (g *merger) once(at []int) {
	n, l := g.merged(at)
	switch n.Kind {
	case RefAccess:
		n.Ref = g.access(at[0], at, -1)
	case RefSync:
		b := g.items[at[0]].block
		n.Ref = g.out.AddSync(b.Syncs[n.Ref])
	}
	g.add(n, l)
}

// works issues what is each one's own: a copy, a product, an arrival at a barrier of its block or a wait for one.
func (g *merger) works(in *sass.Inst, at []int) {
	g.define(in, own)
	for _, k := range at {
		n, l := g.merged([]int{k})
		if n.Kind == RefAccess {
			n.Ref = g.access(k, []int{k}, -1)
		}
		g.add(n, l)
		g.turns[len(g.turns)-1] = k
	}
}

// merged is the event that stands for those of several items.
func (g *merger) merged(at []int) (Event, Lanes) {
	first := g.items[at[0]]
	n := first.events[0]
	l := Lanes{Cost: first.block.Lanes[n.Lanes].Cost}
	for _, k := range at {
		it := &g.items[k]
		old := it.block.Lanes[it.events[0].Lanes]
		l.Active |= g.place(k, -1, old.Active)
		l.Mask |= g.place(k, -1, old.Mask)
	}
	if n.Wait > 0 {
		n.Wait = g.out.waitsOf(first.block.Waits[n.Wait-1])
	}
	return n, l
}

func (g *merger) add(n Event, l Lanes) {
	n.Lanes = g.out.LanesOf(l)
	g.out.Warps[g.warp].Events = append(g.out.Warps[g.warp].Events, n)
	g.out.Warps[g.warp].Values = append(g.out.Warps[g.warp].Values, g.value) // for a merge after this one
	g.turns = append(g.turns, -1)
}

// place says which new lanes the lanes of an item's warp become: those whose part-th thread they are, or any for -1.
func (g *merger) place(k, part int, mask uint32) (m uint32) {
	if !g.neighbours() {
		if part >= 0 && part != k {
			return 0
		}
		return mask
	}
	for ; mask != 0; mask &= mask - 1 {
		thread := k*warpLanes + bits.TrailingZeros32(mask)
		if part < 0 || thread%g.Factor == part {
			m |= 1 << (thread / g.Factor)
		}
	}
	return m
}

// neighbours reports whether neighbouring threads are merged.
func (m *Merge) neighbours() bool { return m.Axis == Threads || m.Axis == GridThreads }

// each issues the instruction once for each of the threads. An instruction waits the less for the one before the more copies of that
// there are.
func (g *merger) each(at []int) {
	n, l := g.merged(at)
	control := &g.program.Inst(n.Op).Control
	stall, least := int(control.Stall), 1
	if control.WriteBarrier >= 0 || control.ReadBarrier >= 0 {
		least = 2 // a dependence counter is seen two cycles after the issue
	}
	parts := g.parts(at)
	for i, part := range parts {
		c, lanes := n, Lanes{Active: l.Active}
		if i == 0 {
			lanes.Cost = l.Cost
		}
		for _, k := range at {
			it := &g.items[k]
			lanes.Mask |= g.place(k, part, it.block.Lanes[it.events[0].Lanes].Mask)
		}
		if n.Kind == RefAccess {
			c.Ref = g.access(at[0], at, part)
		}
		if stall > 1 {
			c.Stall = 1
			if i == len(parts)-1 {
				c.Stall = uint8(max(least, stall-i))
			}
		}
		g.add(c, lanes)
		g.turns[len(g.turns)-1] = part
	}
}

// parts is which of the merged threads have the instruction.
func (g *merger) parts(at []int) []int {
	if !g.neighbours() {
		return at
	}
	all := make([]int, g.Factor)
	for i := range all {
		all[i] = i
	}
	return all
}

// access adds the access of one of the merged threads, or that of all to the same addresses for part -1.
func (g *merger) access(first int, at []int, part int) int32 {
	like := &g.items[first].block.Access[g.items[first].events[0].Ref]
	if one := g.single(at, part); one != nil {
		a := one.block.Access[one.events[0].Ref]
		a.Kind, a.Space, a.Size = like.Kind, like.Space, like.Size
		return g.out.addCopy(one.block, a)
	}
	return g.out.AddAccess(Access{Kind: like.Kind, Space: like.Space, Size: like.Size}, g.addresses(at, part), &g.addr)
}

// single is the item whose access is that of a part as it is, nil where there is none.
func (g *merger) single(at []int, part int) *item {
	if g.neighbours() || part < 0 && !g.together(at) {
		return nil
	}
	it := &g.items[max(part, at[0])]
	if it.events[0].Kind != RefAccess {
		return nil
	}
	return it
}

// addresses fills in those of a part in the new lanes.
func (g *merger) addresses(at []int, part int) (mask uint32) {
	for _, k := range at {
		it := &g.items[k]
		if it.events[0].Kind != RefAccess {
			continue
		}
		a := &it.block.Access[it.events[0].Ref]
		for m := a.Mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			if to := g.place(k, part, 1<<i); to != 0 {
				n := bits.TrailingZeros32(to)
				mask |= to
				g.addr[n] = it.block.address(a, i) + a.shift(n, i)
			}
		}
	}
	return mask
}

// accesses merges an instruction that accesses memory.
func (g *merger) accesses(in *sass.Inst, at []int) {
	it := &g.items[at[0]]
	a := &it.block.Access[it.events[0].Ref]
	common := len(at) == len(g.items) && !g.takenApart() && g.together(at)
	apart := len(g.blocks) > 1 && a.Space == shared
	source := g.sources(in)
	if a.Space == shared && g.folds() && g.sum(at, a, source) {
		g.once(at)
		g.define(in, folded)
		return
	}
	switch {
	case a.Kind == store && apart:
		if source == own {
			g.mark(at)
		}
		common = common && source < own
	case a.Kind == store:
		common = common && source < own
	case a.Kind == atomic, a.Space == local && source == own:
		common = false
	case apart && common:
		common = !g.differing(at)
	}
	result := own
	if common {
		result = same
		g.once(at)
	} else if width := g.wide(at, a); width > 0 {
		g.widened(at, width)
	} else {
		g.each(at)
	}
	g.define(in, result)
}

// together reports whether the threads access the same addresses.
func (g *merger) together(at []int) bool {
	if g.neighbours() {
		return g.alike(at, 0)
	}
	first := &g.items[at[0]]
	a := &first.block.Access[first.events[0].Ref]
	for _, k := range at[1:] {
		it := &g.items[k]
		if it.events[0].Kind != RefAccess || !equal(first.block, a, it.block, &it.block.Access[it.events[0].Ref]) {
			return false
		}
	}
	return true
}

// alike reports whether the addresses of the merged threads are some bytes apart.
func (g *merger) alike(at []int, apart uint64) bool {
	var base [warpLanes]uint64
	mask := g.addresses(at, 0)
	base = g.addr
	for part := 1; part < g.Factor; part++ {
		if g.addresses(at, part) != mask {
			return false
		}
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m) & 31; g.addr[i] != base[i]+uint64(part)*apart {
				return false
			}
		}
	}
	return true
}

// mostBytes is the widest access of a thread, bytes.
const mostBytes = 16

// wide returns how many neighbouring threads' accesses one instruction makes, 0 where they are no neighbours.
func (g *merger) wide(at []int, a *Access) int {
	if !g.neighbours() || a.Kind == atomic || a.Kind == 0 || len(at) < g.Factor || !g.alike(at, uint64(a.Size)) {
		return 0
	}
	width := min(g.Factor, max(1, mostBytes/int(a.Size)))
	mask := g.addresses(at, 0)
	for m := mask; m != 0; m &= m - 1 {
		if g.addr[bits.TrailingZeros32(m)]%(uint64(width)*uint64(a.Size)) != 0 {
			return 0
		}
	}
	return width
}

// widened issues wide accesses in the place of those of neighbouring threads.
func (g *merger) widened(at []int, width int) {
	n, l := g.merged(at)
	it := &g.items[at[0]]
	like := it.block.Access[it.events[0].Ref]
	for part := 0; part < g.Factor; part += width {
		mask := g.addresses(at, part)
		n.Ref = g.out.AddAccess(Access{Kind: like.Kind, Space: like.Space, Size: like.Size * uint8(width)}, mask, &g.addr)
		g.add(n, l)
		l.Cost = 0
	}
}

// mark takes note of the words of shared memory that hold something else in each block.
func (g *merger) mark(at []int) {
	for _, word := range g.words(at) {
		if !g.differs[word] {
			g.differs[word], g.found = true, true
		}
	}
}

// differing reports whether one of the words that an instruction accesses does.
func (g *merger) differing(at []int) bool {
	return slices.ContainsFunc(g.words(at), func(w uint64) bool { return g.differs[w] })
}

// words are those that an instruction accesses in the first of the blocks.
func (g *merger) words(at []int) (list []uint64) {
	const word = 4
	it := &g.items[at[0]]
	a := &it.block.Access[it.events[0].Ref]
	for m := a.Mask; m != 0; m &= m - 1 {
		addr := it.block.address(a, bits.TrailingZeros32(m))
		for n := addr / word; n <= (addr+uint64(a.Size)-1)/word; n++ {
			list = append(list, n)
		}
	}
	return list
}

// sources is the class of what an instruction reads.
func (g *merger) sources(in *sass.Inst) (c class) {
	g.uses = in.Uses(g.uses[:0])
	for _, r := range g.uses {
		c = max(c, g.classes[r])
	}
	return c
}

// define notes the class of what an instruction writes; where its guard may be false, what was there may be left.
func (g *merger) define(in *sass.Inst, c class) {
	g.uses = in.Defs(g.uses[:0])
	for _, r := range g.uses {
		if r >= sass.ResSB {
			continue
		}
		if in.Guard.Reg != sass.PT {
			c = max(c, g.classes[r])
		}
		g.classes[r], g.tested[r] = c, false
	}
}

// branches takes note of what an instruction of control flow says about the ways that the threads go.
func (g *merger) branches(in *sass.Inst) {
	switch b := in.ConvBar(); {
	case in.Op == sass.BSSY && b != nil:
		g.meeting = append(g.meeting, meeting{barrier: b.Reg})
	case in.Op == sass.BSYNC && b != nil:
		if i := slices.IndexFunc(g.meeting, func(m meeting) bool { return m.barrier == b.Reg }); i >= 0 {
			g.meeting = g.meeting[:i]
		}
	case in.Op == sass.BRA:
		if n := len(g.meeting); n > 0 {
			for _, r := range in.Uses(g.uses[:0]) {
				g.meeting[n-1].apart = g.meeting[n-1].apart || g.tested[r] || g.classes[r] > same
			}
		}
	}
}

// takenApart reports whether the instruction lies behind a branch that each of the threads takes for itself.
func (g *merger) takenApart() bool {
	return slices.ContainsFunc(g.meeting, func(m meeting) bool { return m.apart })
}

// arithmetic merges an instruction that accesses no memory.
func (g *merger) arithmetic(in *sass.Inst, at []int) {
	if in.Form.Pipe == sass.PipeCBU || in.Op == sass.NOP {
		g.branches(in)
		g.once(at)
		return
	}
	source, result := g.sources(in), g.compare(at)
	_, special := in.Special()
	integer := !floating(in)
	switch {
	case source == folded, source == own && g.folds() && g.reduces(in, at[0]):
		g.define(in, folded)
		g.once(at)
		return
	case source == own && g.folds() && g.combined(in):
		g.define(in, folded)
		g.each(at)
		return
	case source == own, result == own && source <= same && !special:
		result = own
	case result == same && source == varied && !setsPredicate(in): // by chance
		result = varied
	case result == same && (source <= same || integer && !in.Conditional() && !setsPredicate(in)):
		if source == known && literal(in) {
			result = known
		}
	case setsPredicate(in), !integer:
		if result = own; source < own && setsPredicate(in) {
			result = same // it is tested for each, and the outcome is taken to be one
		}
		g.define(in, result)
		for _, r := range in.Defs(g.uses[:0]) {
			g.tested[r] = true
		}
		g.each(at)
		return
	case result == fixed:
		result = max(fixed, g.multiplied(in), min(source, varied))
	}
	g.define(in, result)
	if result <= fixed && !g.takenApart() {
		g.once(at)
	} else {
		g.each(at)
	}
}

// literal reports whether an instruction computes from registers and numbers in the code alone.
func literal(in *sass.Inst) bool {
	if _, special := in.Special(); special || in.Op.Properties().Crosses {
		return false
	}
	for i := range in.Operands {
		if in.Operands[i].Kind == sass.KindConst {
			return false
		}
	}
	return true
}

// floating reports whether an instruction computes floating-point numbers.
func floating(in *sass.Inst) bool {
	switch in.Form.Pipe {
	case sass.PipeFP16, sass.PipeFP64, sass.PipeTensor, sass.PipeXU:
		return true
	}
	return in.Op.Properties().Floats()
}

// setsPredicate reports whether an instruction's result is a predicate alone.
func setsPredicate(in *sass.Inst) bool {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Dest && (o.Kind == sass.KindReg && o.Reg != sass.RZ || o.Kind == sass.KindUReg && o.Reg != sass.URZ) {
			return false
		}
	}
	return true
}

// compare says how the results of the threads differ.
func (g *merger) compare(at []int) class {
	first := g.items[at[0]].values[0]
	c := same
	for _, k := range at {
		v := g.items[k].values[0]
		switch {
		case g.neighbours() && v.Stride == NoStride, v.Shape != first.Shape:
			return own
		case g.neighbours() && v.Stride != 0, v.First != first.First:
			c = fixed
		}
	}
	return c
}

// multiplied is the class of the result where an integer that differs is multiplied: by a number in the instruction the difference
// stays known.
func (g *merger) multiplied(in *sass.Inst) class {
	if in.Op != sass.IMAD && in.Op != sass.UIMAD {
		return same
	}
	var factors []*sass.Operand
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Source && (o.Kind == sass.KindReg || o.Kind == sass.KindUReg || o.Kind == sass.KindImm || o.Kind == sass.KindConst) {
			factors = append(factors, o)
		}
	}
	if len(factors) < 2 {
		return same
	}
	a, b := factors[0], factors[1]
	if g.of(a) <= same && g.of(b) <= same || g.of(a) == known || g.of(b) == known {
		return same
	}
	return varied
}

// of is the class of a source register.
func (g *merger) of(o *sass.Operand) class {
	switch {
	case o.Kind == sass.KindReg && o.Reg != sass.RZ:
		return g.classes[sass.ResReg+sass.Resource(o.Reg)]
	case o.Kind == sass.KindUReg && o.Reg != sass.URZ:
		return g.classes[sass.ResUReg+sass.Resource(o.Reg)]
	case o.Kind == sass.KindConst:
		return same
	}
	return known
}
