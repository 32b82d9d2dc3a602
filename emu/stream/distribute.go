package stream

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Transpose divides the rounds of loops that a thread goes through among Width neighbouring lanes: a warp or a block for each row where
// a thread had one. Of a loop lane j does the rounds j, j+Width, …, so that in one step a new warp has the addresses of what were
// different rounds; of accesses that a round makes several of, at equal distances, as unrolled loops do, neighbouring lanes get
// neighbouring ones. All else is done by every lane, but that of the lanes of a thread only the first stores. Behind each loop the
// lanes add up what they have, where that is wanted: by shuffles, and where Width is more than a warp by shared memory, two barriers
// and shuffles again.
//
// The grid grows along x, by so much that there are threads enough. A barrier within the loops, or a block whose threads do not fill
// whole new blocks, is an error.
type Transpose struct {
	Loops   []Loop
	Width   int // 2 to 1024, a power of two
	Threads int // of a new block, 0 for as many as before
	Combine bool
	Results int // that the lanes combine behind each loop, 0 for one
	// Scan: the lanes combine what they have in every round, as a scan does (prefix sums), of which each takes its own.
	Scan bool
	// Added: stores to global memory that become atomic additions.
	Added map[int32]bool
	// Own: Width neighbouring lanes, which all go through the same rounds, share them, and stay the lanes that they are, with all else that they do.
	Own bool

	atomic bool // stores to global memory behind the first of the loops become atomic additions
	pool   Pool
}

// Divide divides the rounds of loops among Parts blocks, as split-K products do: part p does the rounds p, p+Parts, … or, where they
// are to be Contiguous, the p-th of Parts equal runs. All else is done by each of the blocks. Where Atomic is set, stores to global
// memory behind the first of the loops become atomic additions. The grid grows along x; a block's parts follow each other.
//
// A barrier at which not all warps that came there come any more is an error.
type Divide struct {
	Loops      []Loop
	Parts      int
	Contiguous bool
	Atomic     bool
	// Added: stores to global memory within the loops that become atomic additions.
	Added map[int32]bool

	pool Pool
}

// warpLanes is the number of lanes of a warp.
const warpLanes = 32

// Reshape makes as many blocks of one as its threads need.
func (t *Transpose) Reshape(s Shape) (Shape, int, error) {
	threads := cmp.Or(t.Threads, s.Threads)
	switch {
	case len(t.Loops) == 0:
		return s, 0, errors.New("transpose: no loop is named")
	case t.Own && (t.Width > warpLanes || s.Threads%t.Width != 0):
		return s, 0, fmt.Errorf("transpose: %d threads have no groups of %d lanes", s.Threads, t.Width)
	case t.Own:
		return s, 1, nil
	case t.Width < 2 || t.Width > 1024 || t.Width&(t.Width-1) != 0:
		return s, 0, fmt.Errorf("transpose: a width of %d, it can be a power of two from 2 to 1024", t.Width)
	case s.Threads*t.Width%threads != 0:
		return s, 0, fmt.Errorf("transpose: %d threads do not fill blocks of %d", s.Threads*t.Width, threads)
	case threads%max(t.Width, warpLanes) != 0 && threads != s.Threads*t.Width: // a block of less than a warp becomes one that may be, too
		return s, 0, fmt.Errorf("transpose: a block of %d threads is no multiple of %d", threads, max(t.Width, warpLanes))
	}
	made := s.Threads * t.Width / threads
	s.Grid[0] *= made
	s.Threads = threads
	return s, made, nil
}

// Inputs takes blocks one by one.
func (t *Transpose) Inputs(_ Shape, n int) []int { return []int{n} }

// Reshape makes Parts blocks of one.
func (d *Divide) Reshape(s Shape) (Shape, int, error) {
	if len(d.Loops) == 0 {
		return s, 0, errors.New("divide: no loop is named")
	}
	if d.Parts < 2 {
		return s, 0, fmt.Errorf("divide: into %d parts", d.Parts)
	}
	s.Grid[0] *= d.Parts
	return s, d.Parts, nil
}

// Inputs takes blocks one by one.
func (d *Divide) Inputs(_ Shape, n int) []int { return []int{n} }

// Apply makes the blocks that have some lanes for each thread.
func (t *Transpose) Apply(p Program, blocks []*Block) ([]*Block, error) {
	old := blocks[0]
	if err := old.withoutWork(p, "transpose"); err != nil {
		return nil, err
	}
	lanes, err := t.lanesOf(old)
	if err != nil {
		return nil, err
	}
	if n := repeated(old, t.Loops, lanes); n > mostRepeated {
		return nil, fmt.Errorf("transpose: the threads of a block would repeat %d instructions outside of the loops", n)
	}
	threads := 0
	for w := range old.Warps {
		threads += bits.OnesCount32(old.exists(w))
	}
	out := t.pool.distributed(old, t.Loops, t.Added, lanes, cmp.Or(t.Threads, threads), t)
	old.Release()
	return out, nil
}

// distributed makes blocks of so many threads whose warps do rounds of those of an old block. Behind loops the lanes combine as t says, nil for not at all.
func (p *Pool) distributed(old *Block, loops []Loop, added map[int32]bool, warps []newWarp, threads int, t *Transpose) (out []*Block) {
	var last cut
	perBlock := (threads + warpLanes - 1) / warpLanes
	for len(warps) > 0 {
		n := min(perBlock, len(warps))
		b := &builder{Block: p.Block(n), old: old, loops: loops, cut: &last, added: added}
		b.Gates = append(b.Gates, old.Gates...)
		for i := range n {
			b.distribute(i, &warps[i], t)
			if t != nil && t.atomic {
				b.addUp(i)
			}
		}
		out, warps = append(out, b.Block), warps[n:]
	}
	return out
}

// mostRepeated is how many instructions outside of loops the warps that a block becomes may have together: the new blocks of one are
// made at once, and this many take a few hundred megabytes and a second.
const mostRepeated = 1 << 23

// repeated is the number of them.
func repeated(old *Block, loops []Loop, warps []newWarp) (n int) {
	outside := make([]int, len(old.Warps))
	for w := range old.Warps {
		for _, s := range segments(old.Warps[w].Events, loops) {
			if s.loop < 0 {
				outside[w] += s.last - s.first
			}
		}
	}
	for i := range warps {
		n += outside[warps[i].old]
	}
	return n
}

// lanesOf lays the lanes out that a block's threads become, in order.
func (t *Transpose) lanesOf(old *Block) ([]newWarp, error) {
	var all []newWarp
	var w *newWarp
	next := warpLanes
	for i := range old.Warps {
		if err := withoutBarriers(old, i, t.Loops); err != nil {
			return nil, fmt.Errorf("transpose: %w", err)
		}
		if t.Own {
			own := newWarp{old: i}
			for m := old.exists(i); m != 0; m &= m - 1 {
				k := bits.TrailingZeros32(m)
				own.set(k, newLane{old: int8(k), part: k % t.Width, parts: t.Width, exists: true, stores: true})
			}
			all = append(all, own)
			continue
		}
		for m := old.exists(i); m != 0; m &= m - 1 {
			for j := range t.Width {
				if next == warpLanes || w.old != i {
					all = append(all, newWarp{old: i})
					w, next = &all[len(all)-1], 0
				}
				w.set(next, newLane{old: int8(bits.TrailingZeros32(m)), part: j, parts: t.Width, exists: true})
				next++
			}
		}
	}
	return all, nil
}

// withoutBarriers makes sure that a warp comes to no barrier within loops.
func withoutBarriers(b *Block, w int, loops []Loop) error {
	for i := range b.Warps[w].Events {
		if e := &b.Warps[w].Events[i]; e.Kind == RefSync && loopOf(e.Op, loops) >= 0 {
			return errors.New("there is a barrier within the loops")
		}
	}
	return nil
}

// Apply makes the blocks that share out the rounds.
func (d *Divide) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	old := blocks[0]
	var out []*Block
	var last cut
	for p := range d.Parts {
		b := &builder{Block: d.pool.Block(len(old.Warps)), old: old, loops: d.Loops, cut: &last, added: d.Added}
		b.Gates = append(b.Gates, old.Gates...)
		for w := range old.Warps {
			lanes := newWarp{old: w}
			exists := old.exists(w)
			for i := range lanes.lanes {
				lanes.set(i, newLane{old: int8(i), part: p, parts: d.Parts, contiguous: d.Contiguous, stores: true, exists: exists>>i&1 != 0})
			}
			b.distribute(w, &lanes, nil)
			if d.Atomic {
				b.addUp(w)
			}
		}
		if err := b.whole(); err != nil {
			return nil, fmt.Errorf("divide: %w", err)
		}
		out = append(out, b.Block)
	}
	old.Release()
	return out, nil
}

// addUp makes the stores of a warp behind its first loop atomic additions.
func (b *builder) addUp(w int) {
	inside := false
	for i := range b.Warps[w].Events {
		e := &b.Warps[w].Events[i]
		k := loopOf(e.Op, b.loops)
		inside = inside || k >= 0
		if inside && k < 0 && e.Kind == RefAccess {
			if a := &b.Access[e.Ref]; a.Kind == store && a.Space == global {
				e.As = Added
			}
		}
	}
}

// whole makes sure that all come to a barrier who came there before, or nobody does.
func (b *builder) whole() error {
	b.Close()
	for i := range b.Gates {
		if n := b.Gates[i].Arrivals; n != 0 && n != b.old.Gates[i].Arrivals {
			return fmt.Errorf("of %d arrivals at a barrier %d are left", b.old.Gates[i].Arrivals, n)
		}
	}
	return nil
}

// A newWarp says whose work the lanes of a new warp do.
type newWarp struct {
	old   int // warp of the old block
	lanes [warpLanes]newLane

	olds   uint32            // old lanes that new ones stand for
	stands [warpLanes]uint32 // by old lane: the new ones
}

// set lays a lane out.
func (w *newWarp) set(i int, l newLane) {
	if w.lanes[i] = l; l.exists {
		w.olds |= 1 << l.old
		w.stands[l.old] |= 1 << i
	}
}

// A newLane does the rounds of an old lane that are its part of them.
type newLane struct {
	old         int8
	exists      bool
	stores      bool // though not the first of its parts
	contiguous  bool
	part, parts int
}

// takes returns which of n rounds the lane does: every step-th from the first up to the last.
func (l *newLane) takes(n int) (first, last, step int) {
	if l.contiguous {
		return (l.part*n + l.parts - 1) / l.parts, ((l.part+1)*n + l.parts - 1) / l.parts, 1
	}
	return l.part, n, l.parts
}

// A builder makes a block whose warps do rounds of those of an old one.
type builder struct {
	*Block
	old   *Block
	loops []Loop
	addr  [warpLanes]uint64
	from  [warpLanes]uint64

	met   []int32 // gates of barriers that were added
	meets int     // of these, that the last warp has come to
	last  int

	cut   *cut
	added map[int32]bool // stores that become atomic additions
}

// A cut is the segments of the old warp whose work was laid out last: new warps that share it follow each other.
type cut struct {
	old      int
	segments []segment
	own      [][warpLanes][]int // by segment and lane: the rounds that it does
}

// of returns the cut of an old warp.
func (c *cut) of(w int, b *builder) *cut {
	if c.segments != nil && c.old == w {
		return c
	}
	events := b.old.Warps[w].Events
	*c = cut{old: w, segments: segments(events, b.loops)}
	c.own = make([][warpLanes][]int, len(c.segments))
	for i := range c.segments {
		for r, first := range c.segments[i].rounds {
			for m := b.old.Lanes[events[first].Lanes].Active; m != 0; m &= m - 1 {
				k := bits.TrailingZeros32(m)
				c.own[i][k] = append(c.own[i][k], r)
			}
		}
	}
	return c
}

// distribute fills in the i-th warp. Behind loops the lanes combine as t says, if it does.
func (b *builder) distribute(i int, w *newWarp, t *Transpose) {
	events := b.old.Warps[w.old].Events
	c := b.cut.of(w.old, b)
	for j := range c.segments {
		s := &c.segments[j]
		if s.loop < 0 {
			for k := s.first; k < s.last; k++ {
				b.outside(i, w, &events[k])
			}
			continue
		}
		b.inside(i, w, s, &c.own[j], t)
		if t != nil && t.Combine {
			for range max(1, t.Results) {
				b.combine(i, events[s.last-1].Op, t.Width)
			}
		}
	}
}

// spread gives new lanes the bits of the old ones that they stand for.
func (w *newWarp) spread(mask uint32) (m uint32) {
	for olds := mask & w.olds; olds != 0; olds &= olds - 1 {
		m |= w.stands[bits.TrailingZeros32(olds)&31]
	}
	return m
}

// outside adds an event that is in no loop.
func (b *builder) outside(i int, w *newWarp, e *Event) {
	l := b.old.Lanes[e.Lanes]
	active := w.spread(l.Active)
	if active == 0 {
		return
	}
	mask := w.spread(l.Mask)
	n := *e
	switch e.Kind {
	case RefAccess:
		a := &b.old.Access[e.Ref]
		if a.Kind >= store {
			mask &= w.storing()
		}
		n.Ref = b.move(a, w, mask&w.spread(a.Mask))
	case RefSync:
		n.Ref = b.AddSync(b.old.Syncs[e.Ref])
	}
	n.Lanes = b.LanesOf(Lanes{active, mask, l.Cost})
	b.Warps[i].Events = append(b.Warps[i].Events, n)
}

// storing is the lanes that store what a thread stored.
func (w *newWarp) storing() (m uint32) {
	for i := range w.lanes {
		if l := &w.lanes[i]; l.exists && (l.part == 0 || l.stores) {
			m |= 1 << i
		}
	}
	return m
}

// move adds an access that new lanes make in the place of the old ones.
func (b *builder) move(a *Access, w *newWarp, mask uint32) int32 {
	if mask != 0 {
		b.old.Addresses(a, &b.from)
	}
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		b.addr[i] = b.from[w.lanes[i].old] + a.shift(i, int(w.lanes[i].old))
	}
	return b.AddAccess(Access{Kind: a.Kind, Space: a.Space, Size: a.Size}, mask, &b.addr)
}

// shift is by how much the address of a lane lies behind that of another where each has its own: local memory is interleaved.
func (a *Access) shift(lane, old int) uint64 {
	if a.Space != local {
		return 0
	}
	return uint64(int64(lane-old) * int64(a.Size))
}

// inside adds the rounds of a loop that the lanes of a new warp do, of those that old lanes do as their own.
func (b *builder) inside(i int, w *newWarp, s *segment, own *[warpLanes][]int, t *Transpose) {
	events := b.old.Warps[w.old].Events
	var todo [warpLanes][]int // by new lane
	most := 0
	for k := range w.lanes {
		l := &w.lanes[k]
		if !l.exists {
			continue
		}
		rounds := own[l.old]
		first, last, step := l.takes(len(rounds))
		for n := first; n < last; n += step {
			todo[k] = append(todo[k], rounds[n])
		}
		most = max(most, len(todo[k]))
	}
	for q := range most {
		round := newRound{builder: b, warp: i, lanes: w, segment: s}
		for k := range todo {
			if q < len(todo[k]) {
				round.add(k, todo[k][q])
			}
		}
		round.emit()
		if t != nil && t.Scan {
			b.combine(i, events[s.last-1].Op, t.Width)
		}
	}
}

// A newRound is a round of a loop of a new warp: lanes that do different rounds of an old one.
type newRound struct {
	*builder
	warp    int
	lanes   *newWarp
	segment *segment
	parts   []part
}

// A part of a new round is an old round and the new lanes that do it.
type part struct {
	events []Event
	lanes  uint32
}

// add makes a lane do an old round.
func (r *newRound) add(lane, round int) {
	first, last := r.segment.round(round)
	events := r.old.Warps[r.lanes.old].Events[first:last:last]
	for k := range r.parts {
		if &r.parts[k].events[0] == &events[0] {
			r.parts[k].lanes |= 1 << lane
			return
		}
	}
	r.parts = append(r.parts, part{events, 1 << lane})
}

// emit adds the events of the round. Where the old rounds went different ways, the instruction that comes first in the code goes
// first, as where threads of a warp come together at thread frontiers.
func (r *newRound) emit() {
	if r.aligned() {
		runs := r.runs()
		for k := range r.parts[0].events {
			r.event(k, runs)
		}
		return
	}
	at := newRound{builder: r.builder, warp: r.warp, lanes: r.lanes}
	for {
		first := int32(-1)
		for k := range r.parts {
			if p := &r.parts[k]; len(p.events) > 0 && (first < 0 || p.events[0].Op < first) {
				first = p.events[0].Op
			}
		}
		if first < 0 {
			return
		}
		at.parts = at.parts[:0]
		for k := range r.parts {
			if p := &r.parts[k]; len(p.events) > 0 && p.events[0].Op == first {
				at.parts = append(at.parts, part{p.events[:1], p.lanes})
				p.events = p.events[1:]
			}
		}
		at.event(0, nil)
	}
}

// aligned reports whether the old rounds have the same instructions.
func (r *newRound) aligned() bool {
	first := r.parts[0].events
	for _, p := range r.parts[1:] {
		if len(p.events) != len(first) {
			return false
		}
		for k := range first {
			if p.events[k].Op != first[k].Op {
				return false
			}
		}
	}
	return true
}

// event adds the k-th event of all old rounds. What lanes access that take part in a run is dealt out anew.
func (r *newRound) event(k int, runs [][]int) {
	first := &r.parts[0].events[k]
	n := *first
	lanes := Lanes{Cost: r.old.Lanes[first.Lanes].Cost}
	for _, p := range r.parts {
		l := r.old.Lanes[p.events[k].Lanes]
		lanes.Active |= r.lanes.spread(l.Active) & p.lanes
		lanes.Mask |= r.lanes.spread(l.Mask) & p.lanes
	}
	if lanes.Active == 0 {
		return
	}
	n.Kind, n.Ref = RefNone, -1
	if r.added[n.Op] {
		n.As = Added
	}
	r.access(&n, k, runOf(k, runs))
	switch first.Kind {
	case RefSync:
		n.Kind, n.Ref = RefSync, r.AddSync(r.old.Syncs[first.Ref])
	case RefWork: // of all lanes: only blocks that share out rounds have works
		n.Kind, n.Ref = RefWork, first.Ref
	}
	n.Lanes = r.LanesOf(lanes)
	r.Warps[r.warp].Events = append(r.Warps[r.warp].Events, n)
}

// access adds what the lanes access in the k-th event.
func (r *newRound) access(n *Event, k int, run []int) {
	var mask uint32
	var like *Access
	for _, p := range r.parts {
		e := &p.events[k]
		if e.Kind != RefAccess {
			continue
		}
		a := &r.old.Access[e.Ref]
		like = a
		for m := r.lanes.spread(a.Mask) & p.lanes; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			old := int(r.lanes.lanes[i].old)
			r.addr[i] = r.old.address(a, old) + a.shift(i, old)
			mask |= 1 << i
		}
	}
	if like == nil {
		return
	}
	if run != nil {
		r.deal(mask, slices.Index(run, k), run)
	}
	n.Kind, n.Ref = RefAccess, r.AddAccess(Access{Kind: like.Kind, Space: like.Space, Size: like.Size}, mask, &r.addr)
}

// deal gives neighbouring lanes of a thread neighbouring ones of the addresses that a run of accesses has in all old rounds.
func (r *newRound) deal(mask uint32, step int, run []int) {
	for mask != 0 {
		old := r.lanes.lanes[bits.TrailingZeros32(mask)].old
		var mine []int
		var all []uint64
		for m := mask; m != 0; m &= m - 1 {
			if i := bits.TrailingZeros32(m); r.lanes.lanes[i].old == old {
				mine = append(mine, i)
				all = r.dealt(all, i, run)
				mask &^= 1 << i
			}
		}
		if len(all) != len(mine)*len(run) {
			continue // a lane does not make all accesses of the run
		}
		slices.Sort(all)
		for n, i := range mine {
			r.addr[i] = all[step*len(mine)+n]
		}
	}
}

// dealt appends the addresses that a new lane's round has in a run.
func (r *newRound) dealt(all []uint64, lane int, run []int) []uint64 {
	old := int(r.lanes.lanes[lane].old)
	for _, p := range r.parts {
		if p.lanes>>lane&1 == 0 {
			continue
		}
		for _, k := range run {
			if p.events[k].Kind != RefAccess {
				continue
			}
			if a := &r.old.Access[p.events[k].Ref]; a.Mask>>old&1 != 0 {
				all = append(all, r.old.address(a, old))
			}
		}
	}
	return all
}

// runs finds accesses of a round that an unrolled loop makes to elements which follow each other: same kind and size, and the same
// distance between them, also from the last one of a round to the first one of the next.
func (r *newRound) runs() (runs [][]int) {
	if len(r.parts) < 2 {
		return nil
	}
	lane := bits.TrailingZeros32(r.parts[0].lanes)
	old := r.lanes.lanes[lane].old
	second := -1
	for k := range r.parts[1:] {
		if m := r.parts[k+1].lanes; r.lanes.lanes[bits.TrailingZeros32(m)].old == old {
			second = k + 1
			break
		}
	}
	if second < 0 {
		return nil
	}
	var list []candidate
	a, b := r.parts[0].events, r.parts[second].events
	for k := range a {
		if a[k].Kind != RefAccess || b[k].Kind != RefAccess {
			continue
		}
		x, y := &r.old.Access[a[k].Ref], &r.old.Access[b[k].Ref]
		if x.Space != global || x.Mask>>old&1 == 0 || y.Mask>>old&1 == 0 {
			continue
		}
		at := r.old.address(x, int(old))
		list = append(list, candidate{k, at, int64(r.old.address(y, int(old)) - at), x.Kind, x.Size})
	}
	return runsOf(list)
}

// A candidate for a run is an access of a round and how far its address is in the next.
type candidate struct {
	event      int
	addr       uint64
	stride     int64
	kind, size uint8
}

// runsOf groups candidates.
func runsOf(list []candidate) (runs [][]int) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.size, b.size), cmp.Compare(a.stride, b.stride), cmp.Compare(a.addr, b.addr))
	})
	for len(list) > 0 {
		c := list[0]
		n := 1
		span := uint64(max(c.stride, -c.stride))
		for n < len(list) && list[n].kind == c.kind && list[n].size == c.size && list[n].stride == c.stride && list[n].addr-c.addr < span {
			n++
		}
		if run := list[:n]; n > 1 && even(run, span) {
			var events []int
			for _, x := range run {
				events = append(events, x.event)
			}
			slices.Sort(events)
			runs = append(runs, events)
		}
		list = list[n:]
	}
	return runs
}

// even reports whether addresses divide a span evenly.
func even(run []candidate, span uint64) bool {
	step := span / uint64(len(run))
	for i := range run {
		if run[i].addr != run[0].addr+uint64(i)*step {
			return false
		}
	}
	return step*uint64(len(run)) == span
}

// runOf returns the run that an event is in.
func runOf(k int, runs [][]int) []int {
	for _, run := range runs {
		if slices.Contains(run, k) {
			return run
		}
	}
	return nil
}

// combine adds what the lanes of a thread need to add up their results.
func (b *builder) combine(i int, op int32, width int) {
	events := b.Warps[i].Events
	if len(events) == 0 {
		return
	}
	all := Lanes{Active: b.Lanes[events[0].Lanes].Active}
	all.Mask = all.Active
	lanes := b.LanesOf(all)
	add := func(as Form, kind RefKind, ref int32) {
		b.Warps[i].Events = append(b.Warps[i].Events, Event{Op: op, Lanes: lanes, Ref: ref, Kind: kind, As: as})
	}
	shuffles := func(width int) {
		for w := width; w > 1; w /= 2 {
			add(Shuffle, RefNone, -1)
			add(Sum, RefNone, -1)
		}
	}
	shuffles(min(width, warpLanes))
	if width <= warpLanes {
		return
	}
	for n := range b.addr {
		b.addr[n] = uint64(4 * n)
	}
	one := Access{Kind: store, Space: shared, Size: 4}
	add(SharedStore, RefAccess, b.AddAccess(one, 1, &b.addr))
	b.meet(add, i)
	one.Kind = load
	add(SharedLoad, RefAccess, b.AddAccess(one, all.Mask, &b.addr))
	shuffles(min(width/warpLanes, warpLanes))
	b.meet(add, i)
}

// meet adds a barrier that all warps come to in the same order.
func (b *builder) meet(add func(Form, RefKind, int32), i int) {
	if b.last != i {
		b.last, b.meets = i, 0
	}
	if b.meets == len(b.met) {
		b.met = append(b.met, b.addGate())
	}
	gate := b.met[b.meets]
	b.meets++
	add(Barrier, RefSync, b.AddSync(Sync{Arrives: gate, Waits: gate}))
}
