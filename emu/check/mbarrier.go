package check

import (
	"fmt"

	"gpa/cubin/sass"
	"gpa/emu"
)

// A mbarrier is a transaction barrier: a word of shared memory that threads arrive at.
type mbarrier struct {
	ready bool // initialised and not invalidated since; only code for sm_90 shows that
	ended bool // invalidated
	init  party
	stamp uint32 // of the initialisation
}

// mbarrier notes an access to a transaction barrier, which orders what threads did before they arrived with what others do after
// they have seen the phase complete (PTX ISA, mbarrier.arrive releases and mbarrier.test_wait acquires). It reports whether the
// access is one: an arrival, a query of the phase, or a load of a word that threads arrive at, as sm_80 queries it.
func (b *block) mbarrier(s *emu.Step, kind emu.AccessKind, addr uint64) bool {
	in := s.Inst
	at := word{emu.Shared, addr &^ 7}
	transfers := in.Op.Properties().Sync == sass.SyncTransfer
	switch {
	case kind == emu.Atomic && (transfers || in.Op == sass.ATOMS && in.Mod(sass.AtomOp) == sass.AtomARRIVE):
		w := &b.warps[s.Warp]
		w.fence(s.Warp)
		b.atomic(s.Warp, at.space, at.addr, false, true)
		if in.Op == sass.ARRIVES {
			*b.told[at].at(copyGroups, s.Warp) = w.copies.closed
		}
		if b.words[at.addr] == nil {
			b.words[at.addr] = &mbarrier{}
		}
	case kind == emu.Load && (transfers || b.words[at.addr] != nil):
		if told := b.told[at]; told != nil && complete(s) {
			b.warps[s.Warp].now.join(told)
		}
	default:
		return false
	}
	return true
}

// complete reports whether a query has seen the phase complete. What sm_80 concludes from the word that it loads is not seen.
func complete(s *emu.Step) bool {
	done := len(s.Mbarriers) == 0
	for _, u := range s.Mbarriers {
		done = done || u.Done
	}
	return done
}

// mbarriers follows the life of transaction barriers: each is initialised, used, and invalidated before its memory is used for
// anything else or it is initialised again (PTX ISA, mbarrier.init and mbarrier.inval).
func (c *Checker) mbarriers(b *block, s *emu.Step) {
	at := c.site(s.Code, s.Inst)
	w := &b.warps[s.Warp]
	for _, u := range s.Mbarriers {
		if u.Addr = b.at(u.Block, u.Addr); c.systemShared(b, u.Addr) {
			continue
		}
		c.visitPeer(b, s, at, u.Lane, u.Block, 0)
		bar := b.words[u.Addr]
		if bar == nil {
			bar = &mbarrier{}
			b.words[u.Addr] = bar
		}
		who := party{at, int32(s.Block), int32(s.Warp), int32(u.Lane)}
		switch u.Kind {
		case emu.MbarrierInit:
			c.initialised(bar, who, u.Count)
			bar.stamp = w.stamp(s.Warp)
			continue
		case emu.MbarrierInvalidate:
			bar.ready, bar.ended = false, bar.ready
			continue
		}
		switch {
		case !bar.ready && c.facts.Module.Arch >= sass.SM90:
			c.unready(bar, who)
		case int(bar.init.warp) != s.Warp && w.now[bar.init.warp] < bar.stamp:
			f := c.about(RaceRAW, who, bar.init)
			c.address(f, s, emu.Shared, u.Addr, 8)
			f.Detail = "the mbarrier is initialised, and no barrier makes sure that this is before its use"
		case u.Kind == emu.MbarrierArrive && u.Count > u.Pending:
			f := c.about(MbarrierCount, who, bar.init)
			f.Detail = fmt.Sprintf("%d arrivals where the phase waits for %d", u.Count, u.Pending)
		}
	}
}

// initialised checks an initialisation.
func (c *Checker) initialised(bar *mbarrier, who party, count uint32) {
	const most = 1<<20 - 1
	switch {
	case count > most:
		c.about(MbarrierCount, who, party{}).Detail = fmt.Sprintf("an mbarrier waits for 1 to %d arrivals", most)
	case bar.ready:
		c.about(MbarrierTwice, who, bar.init).Detail = "no mbarrier.inval between them"
	}
	*bar = mbarrier{ready: true, init: who}
}

// unready reports a use of what is no mbarrier.
func (c *Checker) unready(bar *mbarrier, who party) {
	detail := "no mbarrier.init before"
	if bar.ended {
		detail = "it has been invalidated"
	}
	c.about(MbarrierUnready, who, bar.init).Detail = detail
}

// about reports a finding of a party and, where there is one, another.
func (c *Checker) about(kind Kind, at, other party) *Finding {
	f := c.report(kind, at.site, other.site, int(at.block), int(at.warp), int(at.lane))
	if f.Other == nil && other.site != 0 {
		place := c.at(other)
		f.Other = &place
	}
	return f
}
