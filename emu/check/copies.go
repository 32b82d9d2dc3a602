package check

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// copies are what a warp has copied to shared memory without registers in between (LDGSTS). Each LDGDEPBAR closes a group; a
// group is complete when the warp has waited for the dependence counter that LDGDEPBAR names (PTX ISA, cp.async.commit_group
// and cp.async.wait_group).
type copies struct {
	closed, complete uint32 // groups
	counter          int8   // dependence counter of the last LDGDEPBAR
}

// step follows what closes groups and what waits for them.
func (c *copies) step(in *sass.Inst) {
	if c.closed > 0 && c.counter >= 0 && in.Control.WaitMask>>c.counter&1 != 0 {
		c.complete = c.closed
	}
	switch in.Op {
	case sass.ARRIVES: // who sees it at the barrier, sees the copies before it
		c.closed++
		c.complete = c.closed
	case sass.LDGDEPBAR:
		c.closed++
		c.counter = in.Control.WriteBarrier
	case sass.DEPBAR:
		if in.Mod(sass.LE) == 0 || int8(in.Operands[0].Reg) != c.counter {
			return
		}
		if left := uint32(in.Operands[1].Imm); c.closed > left {
			c.complete = max(c.complete, c.closed-left)
		}
	}
}

// copied checks what a copy writes to shared memory.
func (c *Checker) copied(b *block, s *emu.Step, size int, lanes uint32) {
	at := c.site(s.Code, s.Inst)
	for lane := range 32 {
		if lanes>>lane&1 == 0 {
			continue
		}
		addr := s.CopiedTo(lane)
		b.accessShared(emu.Store, addr, size)
		c.race(b, s, at, emu.Store, lane, addr, size)
	}
}

// unfinished reports whether an access is a copy that its warp has not waited for yet.
func (b *block) unfinished(old *slot) bool {
	return old.group > 0 && old.group > b.warps[old.warp].copies.complete
}
