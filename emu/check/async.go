package check

import (
	"math/bits"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu"
)

// async checks what the tensor cores read for a product of a warpgroup, and what the copy engine reads and writes.
func (c *Checker) async(b *block, w *warp, s *emu.Step) {
	if n, ok := s.Inst.AwaitsGroups(); ok && w.products > uint32(n) {
		w.know(productGroups, b.firstOfGroup(s.Warp), w.products-uint32(n))
	}
	if len(s.Spans) > 0 {
		c.spans(b, w, s)
	}
	if p := s.Inst.Op.Properties(); p.Async == sass.AsyncMatrix && s.Inst.ClosesGroup() || p.Async == sass.AsyncTensor {
		w.products++
	}
}

// spans checks the accesses one after the other. What is stored in shared memory is complete for those that the transaction barrier has
// told so, and what products read for those behind a wait for their group. When a copy from shared memory has read it is not followed.
func (c *Checker) spans(b *block, w *warp, s *emu.Step) {
	at, lane := c.site(s.Code, s.Inst), bits.TrailingZeros32(s.Mask)
	if s.Inst.Op.Properties().Async == sass.CommitsTensor {
		c.commits(b, w, s)
		return
	}
	if slices.ContainsFunc(s.Spans, func(x emu.Span) bool { return x.Space == emu.Shared && x.Kind != emu.Load }) {
		w.transfers++
	}
	for i := range s.Spans {
		x := &s.Spans[i]
		if x.Space == emu.Global {
			if !c.global.access(x.Kind, x.Addr, x.Size) {
				c.unwritten(b, s, at, lane, x.Space, x.Addr, x.Size)
			}
			c.use(x.Kind, x.Addr, x.Size)
			continue
		}
		addr := b.at(x.Block, x.Addr)
		now := b.slot(s, at, x.Kind, lane)
		now.proxied = true
		switch {
		case s.Inst.Op.Properties().Async == sass.AsyncMatrix:
			now.group, now.bank = w.products+1, productGroups
			now.warp = uint16(b.firstOfGroup(s.Warp))
		case s.Inst.Op.Properties().Async == sass.AsyncTensor:
			now.group, now.bank = w.products+1, productGroups
		case x.Kind != emu.Load:
			b.tell(transferGroups, s.Warp, b.at(x.Counting, x.Barrier), w.transfers)
			now.group, now.bank = w.transfers, transferGroups
			c.visitPeer(b, s, at, lane, x.Block, w.transfers)
		}
		if !b.accessShared(x.Kind, addr, x.Size) {
			c.unwritten(b, s, at, lane, x.Space, addr, x.Size)
		}
		c.raceOf(b, s, &now, addr, x.Size)
	}
}

// remote checks a store or an operation that a transaction barrier counts: like a copy it is complete for those whom the barrier tells.
func (c *Checker) remote(b *block, s *emu.Step, at siteID, kind emu.AccessKind, lane int, addr uint64, size int, barrier uint64) {
	w := &b.warps[s.Warp]
	w.transfers++
	b.tell(transferGroups, s.Warp, barrier, w.transfers)
	now := b.slot(s, at, kind, lane)
	if s.Inst.Op == sass.REDAS { // operations of several blocks on one word do not race
		now.kind = emu.Atomic
	}
	now.group, now.bank = w.transfers, transferGroups
	c.raceOf(b, s, &now, addr, size)
}

// commits is an arrival at transaction barriers when the products and copies that a thread has begun are complete (PTX ISA, tcgen05.commit): who
// sees the phase complete knows that they are.
func (c *Checker) commits(b *block, w *warp, s *emu.Step) {
	for i := range s.Spans {
		at := b.at(s.Spans[i].Block, s.Spans[i].Addr)
		if b.words[at] == nil {
			b.words[at] = &mbarrier{}
		}
		w.fence(s.Warp)
		b.atomic(s.Warp, emu.Shared, at, false, true)
		b.tell(productGroups, s.Warp, at, w.products)
	}
}

// tell makes a transaction barrier tell of the copies or the products of a warp so far.
func (b *block) tell(n bank, warp int, barrier uint64, group uint32) {
	at := word{emu.Shared, barrier &^ 7}
	if b.told[at] == nil {
		b.told[at] = newClock(len(b.warps))
	}
	*b.told[at].at(n, warp) = group
}

// know notes that groups of a warp are complete.
func (w *warp) know(n bank, warp int, groups uint32) {
	mine := w.now.at(n, warp)
	*mine = max(*mine, groups)
}

// at is what the warp knows of another.
func (w *warp) at(n bank, warp int) *uint32 { return w.now.at(n, warp) }

// complete reports whether a warp knows an asynchronous access to be complete.
func (w *warp) complete(old *slot) bool { return *w.at(old.bank, int(old.warp)) >= old.group }

// unfinished reports whether an access is one that its own warp has not waited for yet.
func (b *block) unfinished(old *slot) bool { return old.group > 0 && !b.warps[old.warp].complete(old) }

// proxyFence is fence.proxy.async: what is known to be written, the asynchronous proxy sees from now on.
func (w *warp) proxyFence(id int) {
	for warp := range len(w.now) / int(numBanks) {
		*w.at(fences, warp) = *w.at(stamps, warp)
	}
	*w.at(fences, id) = w.stamp(id)
	w.tick(id)
}

func (c *Checker) reportUnfenced(s *emu.Step, now, old *slot, addr uint64, size int) {
	f := c.report(MissingProxyFence, now.site, old.site, s.Block, s.Warp, int(now.lane))
	c.address(f, s, emu.Shared, addr, size)
	if f.Other == nil {
		other := c.place(old.site, s.Block, int(old.warp), int(old.lane))
		f.Other = &other
		f.Detail = "no fence.proxy.async behind the store"
	}
}
