package check

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// A grid is what orders the accesses of different blocks to global memory, and the shadow of that memory. Blocks know of each
// other what fences and strong accesses of the GPU's scope tell (PTX ISA, memory consistency model: scope, morally strong
// operations, fence-fence synchronisation), and that they are of different launches.
type grid struct {
	launch   int32
	pages    map[uint64]*page
	last     *page // that an access hit
	lastAt   uint64
	shadow   int // pages
	told     map[uint64]*notice
	pointers map[word]party
}

// begin forgets what the launch before did: launches follow each other.
func (g *grid) begin(launch int32) {
	g.launch, g.last = launch, nil
	g.told, g.pointers = make(map[uint64]*notice), make(map[word]party)
	if g.pages == nil {
		g.pages = make(map[uint64]*page)
	}
}

// A reach is what an access to global memory orders.
type reach struct {
	synchronises bool // it tells or takes what others know
	strong       bool // it may meet other strong accesses
	wide         bool // those of other blocks too
}

// reachOf returns the reach of an instruction of a section. A load of what the same code tries to replace by a compare-and-swap is
// only a guess, which the swap verifies (CUDA C++ Programming Guide, atomic functions); so it counts as strong.
func reachOf(in *sass.Inst, section []sass.Inst) reach {
	const spaces = sass.SpaceGlobal | sass.SpaceGeneric
	p := in.Op.Properties()
	switch {
	case p.Loads(spaces), p.Stores(spaces):
		if address := in.Address(); address != nil && p.Loads(spaces) && swapped(address, section) {
			return reach{false, true, true}
		}
		strong := in.Mod(sass.Order) >= sass.OrderStrong
		return reach{strong, strong, strong && in.Mod(sass.Scope) >= sass.ScopeGPU}
	case p.Atomic(spaces):
		return reach{true, true, !in.HasMod(sass.Scope) || in.Mod(sass.Scope) >= sass.ScopeGPU}
	}
	return reach{}
}

// swapped reports whether a section has a compare-and-swap at an address as the code writes it.
func swapped(address *sass.Operand, section []sass.Inst) bool {
	for i := range section {
		in := &section[i]
		if in.Op != sass.ATOM && in.Op != sass.ATOMG || in.Mod(sass.AtomOp) != sass.AtomCAS {
			continue
		}
		if a := in.Address(); a != nil && a.Reg == address.Reg && a.Offset == address.Offset {
			return true
		}
	}
	return false
}

// A notice is what warps of the grid have told through a word of global memory.
type notice struct {
	told   int // how often
	by     map[int32][]telling
	others knowledge // what those who told knew
}

// A telling is what one warp told of its block.
type telling struct {
	at  int // as how manieth
	now clock
}

// knowledge is what a warp has been told of other blocks: of notices, the first so many tellings.
type knowledge []heard

type heard struct {
	notice *notice
	upTo   int
}

// with adds what another one knows.
func (k knowledge) with(other knowledge) knowledge {
	for _, o := range other {
		k = k.and(o)
	}
	return k
}

// mostHeard is how many notices a warp keeps apart. One that has heard more counts as knowing all.
const mostHeard = 256

// everything is what such a warp knows: a notice that is not there.
func everything() knowledge { return knowledge{{}} }

func (k knowledge) and(o heard) knowledge {
	if o.notice == nil || len(k) >= mostHeard || len(k) > 0 && k[0].notice == nil {
		return everything()
	}
	for i := range k {
		if k[i].notice == o.notice {
			if k[i].upTo >= o.upTo {
				return k
			}
			k = append(knowledge(nil), k...) // others may have the same
			k[i].upTo = o.upTo
			return k
		}
	}
	return append(k[:len(k):len(k)], o)
}

// knows reports whether an access of a warp of another block is known to have happened. A chain of blocks that tell each other
// is followed for some way; what is further away counts as known.
func (k knowledge) knows(old *visit, depth int) bool {
	const far = 8
	for _, h := range k {
		if h.notice == nil {
			return true
		}
		for _, t := range h.notice.by[old.block] {
			if t.at < h.upTo && t.now[old.warp] >= old.stamp {
				return true
			}
		}
		if len(h.notice.others) > 0 && (depth == far || h.notice.others.knows(old, depth+1)) {
			return true
		}
	}
	return false
}

// public is what a warp tells other blocks: what it knew of its own at the last fence of the GPU's scope, and of others.
type public struct {
	now clock
	far knowledge
}

// publish is a fence of the GPU's scope, after which the warp's strong accesses tell what it knows.
func (w *warp) publish() {
	w.acquireGrid()
	w.public = public{append(clock(nil), w.now...), w.far}
}

// acquireGrid makes what strong accesses have been told known.
func (w *warp) acquireGrid() {
	if w.gainedFar != nil {
		w.far, w.gainedFar = w.far.with(w.gainedFar), nil
	}
}

// synchronise passes on what is known through a word of global memory.
func (c *Checker) synchronise(b *block, w *warp, s *emu.Step, at *site, kind emu.AccessKind, addr uint64) {
	takes, gives := kind != emu.Store, kind != emu.Load
	b.atomic(s.Warp, emu.Global, addr, takes, gives)
	if !at.wide {
		w.acquire() // an acquire of the block's scope leaves no trace in the code
		return
	}
	n := c.grid.told[addr]
	if takes && n != nil {
		w.gainedFar = w.gainedFar.and(heard{n, n.told})
	}
	if !gives || w.public.now == nil {
		return
	}
	if n == nil {
		n = &notice{by: make(map[int32][]telling)}
		c.grid.told[addr] = n
	}
	n.tell(int32(s.Block), w)
}

// mostTold is how many tellings of a block a notice keeps apart; of more the first ones count as one.
const mostTold = 64

// tell adds what a warp tells, unless it is what it told before.
func (n *notice) tell(block int32, w *warp) {
	mine := n.by[block]
	if len(mine) > 0 && &mine[len(mine)-1].now[0] == &w.public.now[0] {
		return
	}
	if len(mine) == mostTold {
		mine[1].now = append(clock(nil), mine[1].now...)
		mine[1].now.join(mine[0].now)
		mine[1].at = mine[0].at
		mine = append([]telling(nil), mine[1:]...)
	}
	n.by[block] = append(mine, telling{n.told, w.public.now})
	n.told++
	for _, h := range w.public.far {
		if h.notice != n {
			n.others = n.others.and(h)
		}
	}
}

// pageWords is the number of words of global memory that a page of its shadow has.
const pageWords = 1 << 10

// maxPages is how much of the shadow there is at most, about 700 MB. Accesses to more memory than that are not remembered.
const maxPages = 1 << 13

// A visit is an access to a word of global memory.
type visit struct {
	site        siteID // 0 for none
	block       int32
	stamp, step uint32 // step: its lower 32 bits
	value       uint32 // that was stored
	warp        uint16
	lane, bytes uint8
	flags       visitFlags
}

type visitFlags uint8

const (
	visitValued visitFlags = 1 << iota // value is what was stored
	visitStrong                        // atomic or strong
	visitWide                          // of the GPU's scope or more
	visitAtomic
)

// A page is the shadow of pageWords words: the last write of each and up to two reads, of different warps.
type page struct {
	launch int32
	writes []visit
	reads  [2][]visit
}

// page returns the shadow of an address, nil where there is no more room.
func (g *grid) page(addr uint64) *page {
	at := addr / (4 * pageWords)
	if g.last != nil && g.lastAt == at {
		return g.last
	}
	p := g.pages[at]
	if p == nil {
		if g.shadow >= maxPages {
			return nil
		}
		p = &page{launch: g.launch}
		g.pages[at] = p
		g.shadow++
	}
	if p.launch != g.launch {
		p.launch = g.launch
		clear(p.writes)
		clear(p.reads[0])
		clear(p.reads[1])
	}
	g.last, g.lastAt = p, at
	return p
}

// raceGlobal looks for accesses to global memory that the present one is not ordered with, and remembers it.
func (c *Checker) raceGlobal(b *block, w *warp, s *emu.Step, now *visit, kind emu.AccessKind, lane int, addr uint64, size int) {
	now.lane = uint8(lane)
	var values [emu.MostWords]uint32
	n := 0
	if kind == emu.Store {
		if values, n = s.Values(lane); size < 4 {
			if v, ok := s.Stored(lane); ok { // in its place in the word
				values[0], n = v&(1<<(8*size)-1)<<(8*(addr&3)), 1
			}
		}
	}
	end := addr + uint64(size)
	for from := addr &^ 3; from < end; from += 4 {
		p := c.grid.page(from)
		if p == nil {
			return
		}
		now.bytes = bytesOf(from, addr, size)
		now.flags &^= visitValued
		if k := int(from-addr&^3) / 4; k < n {
			now.value = values[k]
			now.flags |= visitValued
		}
		c.visit(p, b, w, s, now, int(from/4%pageWords), kind, addr, size)
	}
}

// visitOf is an access to global memory, of whichever lane.
func (c *Checker) visitOf(w *warp, s *emu.Step, at siteID, kind emu.AccessKind) visit {
	r := c.sites[at-1].reach
	now := visit{site: at, block: int32(s.Block), stamp: w.stamp(s.Warp), step: uint32(w.step), warp: uint16(s.Warp)}
	if r.strong {
		now.flags |= visitStrong
	}
	if r.wide {
		now.flags |= visitWide
	}
	if kind == emu.Atomic {
		now.flags |= visitAtomic
	}
	return now
}

// visit compares an access to a word with those before it.
func (c *Checker) visit(p *page, b *block, w *warp, s *emu.Step, now *visit, i int, kind emu.AccessKind, addr uint64, size int) {
	if p.writes != nil {
		if old := &p.writes[i]; old.site != 0 && old.races(now, kind == emu.Load) && !old.happened(b, w, now) {
			c.reportGlobal(b, s, now, old, false, kind, addr, size)
		}
	}
	if kind == emu.Load {
		p.read(i, now)
		return
	}
	for k := range p.reads {
		if p.reads[k] == nil {
			break
		}
		if old := &p.reads[k][i]; old.site != 0 && old.races(now, true) && !old.happened(b, w, now) {
			c.reportGlobal(b, s, now, old, true, kind, addr, size)
		}
	}
	if p.writes == nil {
		p.writes = make([]visit, pageWords)
	}
	p.writes[i] = *now
}

// read remembers a read: in the place of an earlier one of its warp, else in the first place, and from the second on of the words'
// readers in the second.
func (p *page) read(i int, now *visit) {
	if p.reads[0] == nil {
		p.reads[0] = make([]visit, pageWords)
	}
	if first := &p.reads[0][i]; first.site == 0 || first.block == now.block && first.warp == now.warp {
		*first = *now
		return
	}
	if p.reads[1] == nil {
		p.reads[1] = make([]visit, pageWords)
	}
	p.reads[1][i] = *now
}

// races reports whether it matters which of two accesses is the first, at least one of which is a write; reads says that the other
// one is a read.
func (old *visit) races(now *visit, reads bool) bool {
	switch {
	case old.bytes&now.bytes == 0:
		return false
	case !reads && old.flags&now.flags&visitValued != 0 && old.value == now.value:
		return false
	case old.flags&now.flags&visitStrong == 0:
		return true
	case old.block == now.block:
		return false
	}
	return old.flags&now.flags&visitWide == 0
}

// happened reports whether an access has happened before the present one.
func (old *visit) happened(b *block, w *warp, now *visit) bool {
	switch {
	case old.block != now.block:
		return w.far.knows(old, 0)
	case old.warp != now.warp:
		return w.now[old.warp] >= old.stamp
	case old.lane == now.lane:
		return true
	case old.step == now.step: // of the same instruction
		return false
	}
	return w.ordered(w.step-int64(now.step-old.step), old.lane, now.lane)
}

// reportGlobal makes a finding of two accesses to global memory.
func (c *Checker) reportGlobal(b *block, s *emu.Step, now, old *visit, read bool, kind emu.AccessKind, addr uint64, size int) {
	what := RaceRAW
	switch {
	case read:
		what = RaceWAR
	case kind != emu.Load:
		what = RaceWAW
	}
	f := c.report(what, now.site, old.site, s.Block, s.Warp, int(now.lane))
	f.address(emu.Global, addr, size)
	if f.Other != nil {
		return
	}
	f.Other = new(Place)
	*f.Other = c.at(party{old.site, old.block, int32(old.warp), int32(old.lane)})
	switch {
	case old.block != now.block && old.flags&now.flags&visitStrong != 0:
		f.Detail = "an atomic of the block's scope where other blocks take part"
	case old.block != now.block:
		f.Detail = "threads of different blocks: no fence of the GPU's scope and atomic or volatile access between them"
	case old.warp != now.warp:
		f.Detail = "no barrier between them"
	case old.step == now.step:
		f.Detail = "two lanes of one instruction store different values"
	default:
		f.Detail = "lanes of one warp that have parted, no __syncwarp between them"
	}
}
