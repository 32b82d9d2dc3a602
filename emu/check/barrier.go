package check

import (
	"fmt"
	"math/bits"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
)

// A barrier is a CTA barrier between two completions.
type barrier struct {
	known   clock // by those who have arrived
	far     knowledge
	sites   []firstArrival
	threads int // that have arrived
	count   int // threads, in whole warps, that the first arrival says the barrier is for
}

// A firstArrival is the first arrival at a barrier from an instruction.
type firstArrival struct {
	site       siteID
	warp, lane int
}

// An arrival is the lanes of a warp that wait at a barrier, or for each other at a WARPSYNC.
type arrival struct {
	lanes   uint32
	missing uint32 // lanes that were elsewhere when the first ones arrived
	site    siteID
}

// Arrive takes what the warp knows to the barrier, and looks for lanes that are left behind. BAR and __syncthreads are for
// all threads of a warp at once (PTX ISA, bar.sync: barrier{.cta} with .aligned).
func (c *Checker) Arrive(a *emu.Arrival) {
	b := c.blocks[a.Block]
	if rank := b.rank(a.Block); rank > 0 {
		of := *a
		of.Block, of.Warp = b.number, a.Warp+rank*b.warpsOf()
		a = &of
	}
	w, bar := &b.warps[a.Warp], b.barrier(a.Warp, a.Barrier)
	at := c.siteAt(a.Code, a.PC)
	if at == 0 {
		return
	}
	if bar.known == nil {
		bar.known = newClock(len(b.warps))
	}
	w.tick(a.Warp)
	bar.known.join(w.now)
	bar.far = bar.far.with(w.far).with(w.gainedFar) // the barrier is a fence for its block
	first := firstArrival{at, a.Warp, bits.TrailingZeros32(a.Lanes)}
	c.checkCount(b, bar, a, first)
	bar.threads += bits.OnesCount32(a.Lanes)
	if a.Waits && a.Count == 0 && !slices.ContainsFunc(bar.sites, func(f firstArrival) bool { return f.site == at }) {
		bar.sites = append(bar.sites, first)
	}
	if !a.Waits {
		return
	}
	wait := &w.waiting[a.Barrier]
	if wait.lanes == 0 {
		*wait = arrival{missing: a.Live &^ a.Lanes, site: at}
	} else if late := wait.missing & a.Lanes; late != 0 {
		c.divergent(b, a.Warp, wait, at, late, "arrive apart from the others")
	}
	wait.lanes |= a.Lanes
}

// checkCount checks the number of threads that a barrier is for (PTX ISA, bar.sync: a multiple of the warp size, and the same for
// all who meet at the barrier).
func (c *Checker) checkCount(b *block, bar *barrier, a *emu.Arrival, first firstArrival) {
	count := a.Count
	if count == 0 {
		count = 32 * b.warpsOf()
	}
	detail := ""
	switch {
	case count%32 != 0:
		detail = fmt.Sprintf("for %d threads, which are no whole warps", count)
	case bar.threads > 0 && bar.count != count:
		detail = fmt.Sprintf("barrier %d is for %d threads here, and for %d where others have arrived", a.Barrier, count, bar.count)
	}
	if bar.threads == 0 {
		bar.count = count
	}
	if detail != "" {
		c.about(Kind(emu.InvalidBarrier), party{first.site, int32(b.number), int32(first.warp), int32(first.lane)}, party{}).Detail = detail
	}
}

// checkExited looks for threads of the block that have ended without coming to a barrier for all of it. The hardware does not
// wait for them; the language asks that all or none come (CUDA C++ Programming Guide, __syncthreads).
func (c *Checker) checkExited(b *block, bar *barrier) {
	if len(bar.sites) == 0 || bar.threads >= b.threads || b.firstExit.site == 0 {
		return
	}
	first := bar.sites[0]
	f := c.about(PartialBarrier, party{first.site, int32(b.number), int32(first.warp), int32(first.lane)}, b.firstExit)
	f.Detail = fmt.Sprintf("%d of the block's %d threads come, the others have ended", bar.threads, b.threads)
}

// divergent reports lanes that were elsewhere when others of their warp arrived at a barrier.
func (c *Checker) divergent(b *block, warp int, wait *arrival, went siteID, lanes uint32, what string) {
	f := c.report(DivergentBarrier, wait.site, went, b.number, warp, bits.TrailingZeros32(wait.lanes))
	if f.Other == nil {
		other := c.place(went, b.number, warp, bits.TrailingZeros32(lanes))
		f.Other = &other
		f.Detail = fmt.Sprintf("lanes %#08x of warp %d arrive, lanes %#08x %s", wait.lanes, warp, lanes, what)
	}
}

// exited looks for lanes that end while others of their warp wait at a barrier.
func (c *Checker) exited(b *block, s *emu.Step) {
	ended := s.Exited()
	if ended == 0 {
		return
	}
	end := party{c.site(s.Code, s.Inst), int32(s.Block), int32(s.Warp), int32(bits.TrailingZeros32(ended))}
	if b.firstExit.site == 0 {
		b.firstExit = end
	}
	w := &b.warps[s.Warp]
	w.end, b.ends[s.Warp/b.warpsOf()] = end, end
	if wait := &w.syncing; wait.lanes != 0 && wait.missing&ended != 0 {
		c.missing(s, wait, wait.missing&ended)
	}
	for n := range w.waiting {
		if wait := &w.waiting[n]; wait.lanes != 0 && wait.missing&ended != 0 {
			c.divergent(b, s.Warp, wait, c.site(s.Code, s.Inst), wait.missing&ended, "exit meanwhile")
		}
	}
}

// missing reports lanes that others wait for at a WARPSYNC and that end instead. Before a barrier of the block the compiler gathers
// a warp that may have parted by one.
func (c *Checker) missing(s *emu.Step, wait *arrival, lanes uint32) {
	kind := MissingLanes
	if c.beforeBarrier(&c.sites[wait.site-1]) {
		kind = DivergentBarrier
	}
	at := party{wait.site, int32(s.Block), int32(s.Warp), int32(bits.TrailingZeros32(wait.lanes))}
	f := c.about(kind, at, party{c.site(s.Code, s.Inst), at.block, at.warp, int32(bits.TrailingZeros32(lanes))})
	f.Detail = fmt.Sprintf("lanes %#08x of warp %d wait, lanes %#08x end meanwhile", wait.lanes, s.Warp, lanes)
}

// beforeBarrier reports whether a WARPSYNC is there for the barrier of the block behind it.
func (c *Checker) beforeBarrier(s *site) bool {
	const few = 4 // instructions
	section := c.facts.Module.Codes[s.code]
	next := int(s.inst.PC/sass.InstSize) + 1
	for i := next; i < min(next+few, len(section.Insts)); i++ {
		if section.Insts[i].Op == sass.BAR {
			return true
		}
	}
	return false
}

// Release lets the warps at a barrier know what all of them know. At that of the cluster they may not wait yet.
func (c *Checker) Release(blockNumber, number int) {
	b := c.blocks[blockNumber]
	first := b.rank(blockNumber) * b.warpsOf()
	bar, warps := b.barrier(first, number), b.warps[first:first+b.warpsOf()]
	if number == emu.ClusterBarrier { // which opens for all blocks at a time
		warps = b.warps
	}
	if number == 0 { // that of __syncthreads; others have numbers so that code for some of the warps can meet code for the rest
		c.checkSites(b, bar)
	}
	c.checkExited(b, bar)
	for i := range warps {
		w := &warps[i]
		if w.waiting[number].lanes == 0 {
			continue
		}
		lanes := w.waiting[number].lanes
		w.waiting[number] = arrival{}
		if number == emu.ClusterBarrier && !w.awaits {
			w.due = *bar
			continue
		}
		w.learn(bar)
		w.execute(lanes)
		w.awaits = false
	}
	*bar = barrier{}
}

// learn takes over what all know who have arrived at a barrier.
func (w *warp) learn(bar *barrier) {
	if bar.known != nil {
		w.now.join(bar.known)
		w.far = w.far.with(bar.far)
	}
}

// await is a wait at the barrier of the cluster, which may be complete.
func (w *warp) await() {
	if w.waiting[emu.ClusterBarrier].lanes != 0 {
		w.awaits = true
		return
	}
	w.learn(&w.due)
	w.due = barrier{}
}

// checkSites reports threads that wait for each other at different places of the source. The compiler may have copied one
// barrier; then the places have the same line. Barriers for a number of threads are used from several places on purpose.
func (c *Checker) checkSites(b *block, bar *barrier) {
	if len(bar.sites) < 2 {
		return
	}
	first := bar.sites[0]
	for _, next := range bar.sites[1:] {
		if c.sameLine(c.caller(first.site, &b.warps[first.warp]), c.caller(next.site, &b.warps[next.warp])) {
			continue
		}
		f := c.report(MixedBarriers, first.site, next.site, b.number, first.warp, first.lane)
		if f.Other == nil {
			other := c.place(next.site, b.number, next.warp, next.lane)
			f.Other = &other
			f.Detail = "threads of one block wait for each other at different barriers"
		}
	}
}

func (c *Checker) sameLine(a, b siteID) bool {
	x, y := c.frames(a), c.frames(b)
	return len(x) > 0 && slices.EqualFunc(x, y, func(p, q cubin.Frame) bool { return p.File == q.File && p.Line == q.Line })
}

// sync notes who waits at a WARPSYNC, which the compiler puts before a barrier that lanes may reach apart, and for whom.
func (c *Checker) sync(w *warp, s *emu.Step) {
	c.checkSyncMask(s)
	if s.Mask == 0 {
		return
	}
	missing := s.SyncMask(bits.TrailingZeros32(s.Mask)) & s.Live &^ s.Mask
	if w.syncing.lanes == 0 {
		w.syncing = arrival{site: c.site(s.Code, s.Inst), missing: missing}
	}
	w.syncing.lanes |= s.Mask
	w.syncing.missing &= missing
}

// checkSyncMask looks for lanes that wait for others but are not in the mask themselves (CUDA programming guide, __syncwarp: the
// executing thread must have its bit set), and for lanes that wait for each other with different masks (the same place: all
// threads named in the mask have to execute it with the same mask).
func (c *Checker) checkSyncMask(s *emu.Step) {
	for m := s.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		mask := s.SyncMask(lane)
		at := party{c.site(s.Code, s.Inst), int32(s.Block), int32(s.Warp), int32(lane)}
		if mask>>lane&1 == 0 {
			if f := c.about(BadSyncMask, at, party{}); f.Count == 1 {
				f.Detail = fmt.Sprintf("lane %d waits for lanes %#08x", lane, mask)
			}
		}
		for o := mask & s.Mask; o != 0; o &= o - 1 {
			if other := bits.TrailingZeros32(o); s.SyncMask(other) != mask {
				if f := c.about(DifferentMasks, at, party{}); f.Count == 1 {
					f.Detail = fmt.Sprintf("lane %d waits for lanes %#08x, of which lane %d waits for %#08x", lane, mask, other, s.SyncMask(other))
				}
				break
			}
		}
	}
}
