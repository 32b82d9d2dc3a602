package record

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/profiler"
)

// A place is an instruction by its index.
type place struct{ code, inst int }

// A block is the record of a block, as it runs.
type block struct {
	recorder *Recorder
	number   int
	work     int
	full     bool
	alone    bool // of what other warps than the leader load nothing is noted any more
	leader   int  // the warp that has made the most accesses when that begins
	done     bool

	now      moment
	warps    []warp
	sections map[int]*sectionRounds
	barriers barriers

	lines     map[lineKey]*line
	cells     int // of all lines
	recent    *line
	recentKey lineKey
	spare     []cell

	followed [followedThreads][]uint64 // see single

	loads  map[int]*load // by instruction, 1 for the first of the module
	stores map[int]int64 // bytes
	beyond map[int]bool
	pairs  map[pair]*int64

	// Of the present instruction.
	at       place
	site     int
	lane     int
	touched  []touched
	load     *load
	last     pair
	sum      *int64 // of it
	inStep   bool   // all lanes of the warp are in the same rounds
	outcomes [numRelations]outcome
	ordered  [2]uint32 // the last epoch, plus 1, for which the barriers know that there is such a dependence: within a warp and between
}

// A warp is a warp of the block.
type warp struct {
	copies   copies
	accesses int
}

// A load is what a load has read.
type load struct {
	bytes, apart int64
	rounds       [profiler.NumParties]int64
	earlier      [profiler.NumParties]int64
	distances    [33]int64
	lines        map[uint64]uint32 // of global memory: the words read, a bit each
	line         uint64            // the last of them
	words        uint32
}

// A pair is what tells dependences apart.
type pair struct {
	kind     profiler.DependenceKind
	from, to int
	party    profiler.Party
	space    emu.Space
	loop     int16
	next     bool
}

func newBlock(r *Recorder, number, warps, threads, sharedBytes int) *block {
	return &block{recorder: r, number: number, now: 1, warps: make([]warp, warps), sections: map[int]*sectionRounds{},
		barriers: barriers{threads: threads, sets: map[uint64]bool{}}, lines: make(map[lineKey]*line, sharedBytes/lineBytes+64),
		loads: map[int]*load{}, stores: map[int]int64{}, beyond: map[int]bool{}, pairs: map[pair]*int64{}}
}

// Done reports that enough of the block has been seen.
func (b *block) Done() bool { return b.done }

// Step takes note of an instruction.
func (b *block) Step(s *emu.Step) {
	c := &b.recorder.codes[s.Code]
	rounds := b.sections[s.Code]
	if rounds == nil {
		rounds = b.section(s.Code)
	}
	at := place{s.Code, int(s.Inst.PC / instSize)}
	if len(c.loops) > 0 && c.insts[at.inst].leader {
		b.follow(rounds, at, s.Warp, s.Active)
	}
	w := &b.warps[s.Warp]
	b.await(&w.copies, s.Inst)
	site := c.first + at.inst + 1
	if s.Inst.Op.Properties().Class == sass.ClassDouble && !b.beyond[site] && s.BeyondSingle() {
		b.beyond[site] = true
	}
	kind, size, lanes := s.Access()
	copySize, copyLanes := s.Copied()
	if kind == emu.NoAccess && copyLanes == 0 && len(s.Spans) == 0 {
		return
	}
	w.accesses++
	if b.alone && s.Warp != b.leader && kind == emu.Load && copyLanes == 0 && len(s.Spans) == 0 {
		return
	}
	b.at, b.site, b.load = at, site, nil
	if kind != emu.NoAccess {
		b.access(s, kind, size, lanes)
	}
	if copyLanes != 0 {
		b.copy(s, copySize, copyLanes)
	}
	if len(s.Spans) > 0 {
		b.spans(s)
	}
	most := maxWork
	if b.alone {
		most = maxAlone
	}
	switch {
	case !b.full && b.work < most:
	case b.alone:
		b.done = true
	default:
		b.thin()
	}
}

// thin goes on with what one warp loads and with what any warp stores: where threads go through long rows by themselves, what they read
// again they read long after the bounds. Who else reads what is not known from then on, nor what barriers order.
func (b *block) thin() {
	b.alone, b.full, b.work, b.cells, b.recent = true, false, 0, 0, nil
	for i := range b.warps {
		if b.warps[i].accesses > b.warps[b.leader].accesses {
			b.leader = i
		}
	}
	for key, l := range b.lines {
		if l.concerns(key, b.leader) {
			b.cells += len(l.cells)
		} else {
			delete(b.lines, key)
		}
	}
	b.done = b.cells > maxCells/2
}

// spans takes note of what the copy engine, or the tensor cores for a warpgroup, accessed for an instruction: as accesses of the first of
// its lanes, at once. What is in the shared memory of other blocks is not followed.
func (b *block) spans(s *emu.Step) {
	const piece = 16
	by := access{time: b.now, epoch: b.barriers.epoch, warp: uint8(s.Warp)}
	b.lane = bits.TrailingZeros32(s.Mask | 1<<31)
	by.lanes = 1 << b.lane
	b.forget(by.warp)
	for i := range s.Spans {
		x := &s.Spans[i]
		if x.Space == emu.Shared && x.Block != b.number {
			continue
		}
		for at := 0; at < x.Size; at += piece {
			b.span(s, x, by, x.Addr+uint64(at), min(piece, x.Size-at))
		}
		b.now += moment(x.Size)
		if x.Kind != emu.Store {
			b.reading().bytes += int64(x.Size)
		}
		if x.Kind != emu.Load {
			b.stores[b.site] += int64(x.Size)
		}
	}
}

// span takes note of a part of a span that lies in one line.
func (b *block) span(s *emu.Step, x *emu.Span, by access, addr uint64, size int) {
	b.touched = b.touched[:0]
	b.touch(x.Space, uint16(32*s.Warp+b.lane), addr, size)
	if x.Space == emu.Global && x.Kind != emu.Store {
		b.reading().word(addr, size)
	}
	for i := range b.touched {
		t := &b.touched[i]
		if x.Kind != emu.Store {
			b.loaded(t, by, x.Space, x.Kind == emu.Atomic)
		}
		if x.Kind != emu.Load {
			b.overwrites(t, by, x.Space, x.Kind == emu.Atomic)
		}
		if x.Kind == emu.Load {
			t.cell.read(b.site, by)
		} else {
			t.cell.wrote(b.site, by, x.Kind == emu.Atomic)
		}
	}
}

// section prepares for the loops of a section.
func (b *block) section(number int) *sectionRounds {
	c := &b.recorder.codes[number]
	c.analyse()
	s := &sectionRounds{loops: make([][]rounds, len(c.loops)), last: make([]whereabouts, len(b.warps))}
	for i := range s.loops {
		s.loops[i] = make([]rounds, len(b.warps))
	}
	b.sections[number] = s
	return s
}

// access takes note of a load, a store or an atomic: first of what was before it in all lanes, then of itself.
func (b *block) access(s *emu.Step, kind emu.AccessKind, size int, lanes uint32) {
	by := access{time: b.now, epoch: b.barriers.epoch, warp: uint8(s.Warp)}
	space := emu.Global
	b.touched, b.load = b.touched[:0], nil
	first, apart := uint64(0), false
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		var addr uint64
		space, addr = s.Lane(lane)
		b.lane = lane
		if m == lanes {
			first = addr
		}
		apart = apart || addr != first
		b.touch(space, uint16(32*s.Warp+lane), addr, size)
		if space == emu.Global && kind != emu.Store {
			b.reading().word(addr, size)
		}
	}
	if space == emu.Global && kind == emu.Load && s.Warp == 0 && b.recorder.Trail != nil {
		b.single(s, size, lanes)
	}
	b.forget(by.warp)
	for i := range b.touched {
		t := &b.touched[i]
		if kind != emu.Store {
			b.loaded(t, by, space, kind == emu.Atomic)
		}
		if kind != emu.Load {
			b.overwrites(t, by, space, kind == emu.Atomic)
		}
	}
	for i := range b.touched {
		t := &b.touched[i]
		by.lanes = 1 << t.lane
		switch {
		case kind == emu.Load:
			t.cell.read(b.site, by)
		default:
			t.cell.wrote(b.site, by, kind == emu.Atomic)
		}
	}
	n := size * bits.OnesCount32(lanes)
	b.now += moment(n)
	if kind != emu.Store {
		b.reading().bytes += int64(n)
	}
	if kind == emu.Load && apart {
		b.reading().apart += int64(n)
	}
	if kind != emu.Load {
		b.stores[b.site] += int64(n)
	}
}

// forget begins with another instruction of a warp.
func (b *block) forget(warp uint8) {
	b.last, b.outcomes, b.ordered = pair{}, [numRelations]outcome{}, [2]uint32{}
	b.inStep = b.together(b.at, warp)
}

// reading returns the load that the present instruction is.
func (b *block) reading() *load {
	if b.load == nil {
		if b.load = b.loads[b.site]; b.load == nil {
			b.load = &load{lines: map[uint64]uint32{}}
			b.loads[b.site] = b.load
		}
	}
	return b.load
}

// word notes the words of global memory that a lane reads.
func (l *load) word(addr uint64, size int) {
	number := addr >> lineShift
	if l.words == 0 || number != l.line {
		l.flush()
		l.line, l.words = number, l.lines[number]
	}
	l.words |= wordsOf(addr, size)
}

func (l *load) flush() {
	if l.words != 0 {
		l.lines[l.line] = l.words
		l.words = 0
	}
}

// loaded takes note of what a lane loads: who has read it before, and who has stored it.
func (b *block) loaded(t *touched, by access, space emu.Space, atomic bool) {
	c := t.cell
	if i := c.lastRead(by.warp); i >= 0 && !atomic {
		l, from := b.reading(), &c.reads[i]
		p := profiler.SameBlock
		switch {
		case c.warps>>by.warp&1 == 0:
		case c.lanesOf(by.warp, from)>>t.lane&1 != 0:
			p = profiler.SameThread
		default:
			p = profiler.SameWarp
		}
		lane := t.lane
		if from.lanes>>lane&1 == 0 {
			lane = uint8(bits.TrailingZeros32(from.lanes))
		}
		if b.carried(readAgain, origin{int(c.loads[i]), from.warp, lane, from.time}, by.warp, t.lane).loop >= 0 {
			l.rounds[p] += int64(t.bytes)
		} else {
			l.earlier[p] += int64(t.bytes)
		}
		l.distances[bits.Len32(uint32(by.time-from.time))] += int64(t.bytes)
	}
	if c.store == 0 || atomic && c.atomic {
		return
	}
	from := origin{int(c.store), c.stored.warp, uint8(bits.TrailingZeros32(c.stored.lanes)), c.stored.time}
	b.depends(profiler.FlowDependence, from, c.stored.epoch, t, by, space)
}

// overwrites takes note of whose value a lane overwrites, and who has read it.
func (b *block) overwrites(t *touched, by access, space emu.Space, atomic bool) {
	c := t.cell
	if c.store != 0 && !(atomic && c.atomic) {
		from := origin{int(c.store), c.stored.warp, uint8(bits.TrailingZeros32(c.stored.lanes)), c.stored.time}
		b.depends(profiler.OutputDependence, from, c.stored.epoch, t, by, space)
	}
	for i := range c.reads {
		r := &c.reads[i]
		if c.loads[i] == 0 {
			continue
		}
		from := origin{int(c.loads[i]), r.warp, t.lane, r.time}
		if others := r.lanes &^ (1 << t.lane); r.warp != by.warp || others != 0 {
			from.lane = uint8(bits.TrailingZeros32(r.lanes))
			if r.warp == by.warp {
				from.lane = uint8(bits.TrailingZeros32(others))
			}
		}
		b.depends(profiler.AntiDependence, from, r.epoch, t, by, space)
	}
}

// depends adds to a dependence on an earlier access.
func (b *block) depends(kind profiler.DependenceKind, from origin, epoch uint32, t *touched, by access, space emu.Space) {
	p := profiler.SameBlock
	switch {
	case from.warp != by.warp:
	case from.lane == t.lane:
		p = profiler.SameThread
	default:
		p = profiler.SameWarp
	}
	if p != profiler.SameThread {
		if k := p - profiler.SameWarp; b.ordered[k] != epoch+1 {
			b.ordered[k] = epoch + 1
			b.barriers.order(epoch, p == profiler.SameWarp)
		}
	}
	c := b.carried(relation(kind), from, by.warp, t.lane)
	key := pair{kind, from.site, b.site, p, space, c.loop, c.next}
	if key != b.last || b.sum == nil {
		if b.sum = b.pairs[key]; b.sum == nil {
			b.full = b.full || len(b.pairs) >= maxPairs
			b.sum = new(int64)
			b.pairs[key] = b.sum
		}
		b.last = key
	}
	*b.sum += int64(t.bytes)
}

// copy takes note of what an asynchronous copy overwrites now, and of what it will have stored when its warp has waited for it.
func (b *block) copy(s *emu.Step, size int, lanes uint32) {
	by := access{time: b.now, epoch: b.barriers.epoch, warp: uint8(s.Warp)}
	w := &b.warps[s.Warp]
	b.touched = b.touched[:0]
	for m := lanes; m != 0; m &= m - 1 {
		b.lane = bits.TrailingZeros32(m)
		addr := s.CopiedTo(b.lane)
		b.touch(emu.Shared, 0, addr, size)
		by.lanes = 1 << b.lane
		w.copies.pending = append(w.copies.pending, copied{addr, size, w.copies.closed + 1, b.site, by})
	}
	b.forget(by.warp)
	for i := range b.touched {
		t := &b.touched[i]
		b.overwrites(t, by, emu.Shared, false)
	}
	n := size * bits.OnesCount32(lanes)
	b.now += moment(n)
	b.stores[b.site] += int64(n)
}

// await stores what copies have brought that an instruction has waited for.
func (b *block) await(c *copies, in *sass.Inst) {
	if c.step(in); len(c.pending) > 0 {
		b.land(c)
	}
}

// Arrive takes note of lanes at a barrier. They have waited for what the instruction waits for.
func (b *block) Arrive(a *emu.Arrival) {
	at := place{a.Code, int(a.PC / instSize)}
	b.await(&b.warps[a.Warp].copies, &b.recorder.codes[at.code].code.Insts[at.inst])
	if !b.alone {
		b.barriers.arrive(at, a)
	}
}

// Release ends an episode of a barrier.
func (b *block) Release(barrier int) {
	if !b.alone {
		b.barriers.release(barrier)
	}
}
