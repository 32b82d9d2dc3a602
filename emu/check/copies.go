package check

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// copies are what a warp has copied to shared memory without registers in between (LDGSTS). Each LDGDEPBAR closes a group; a
// group is complete for the warp when it has waited for the dependence counter that LDGDEPBAR names (PTX ISA,
// cp.async.commit_group and cp.async.wait_group), and for others when they are ordered behind that wait.
type copies struct {
	closed  uint32 // groups
	counter int8   // dependence counter of the last LDGDEPBAR
}

// copied follows what closes groups of copies and what waits for them.
func (w *warp) copied(s *emu.Step) {
	c, in := &w.copies, s.Inst
	complete := uint32(0)
	if c.closed > 0 && c.counter >= 0 && in.Control.WaitMask>>c.counter&1 != 0 {
		complete = c.closed
	}
	switch in.Op {
	case sass.ARRIVES: // who sees it at the barrier, sees the copies before it: see mbarrier
		c.closed++
	case sass.LDGDEPBAR:
		c.closed++
		c.counter = in.Control.WriteBarrier
	case sass.DEPBAR:
		if in.Mod(sass.LE) == 0 || int8(in.Operands[0].Reg) != c.counter {
			return
		}
		if left := uint32(in.Operands[1].Imm); c.closed > left {
			complete = max(complete, c.closed-left)
		}
	}
	if complete > 0 {
		w.know(copyGroups, s.Warp, complete)
	}
}

// copied checks what a copy writes to shared memory.
func (c *Checker) copied(b *block, s *emu.Step, size int, lanes uint32) {
	at := c.site(s.Code, s.Inst)
	for lane := range 32 {
		if lanes>>lane&1 == 0 {
			continue
		}
		addr := b.at(s.Owner(lane), s.CopiedTo(lane))
		b.accessShared(emu.Store, addr, size)
		if c.faulted>>lane&1 == 0 {
			now := b.slot(s, at, emu.Store, lane)
			now.group, now.bank = b.warps[s.Warp].copies.closed+1, copyGroups
			c.raceOf(b, s, &now, addr, size)
		}
	}
}
