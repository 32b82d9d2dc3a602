package record

import (
	"gpa/cubin/sass"
	"gpa/emu"
)

// copies are what a warp copies to shared memory asynchronously (LDGSTS). Each LDGDEPBAR closes a group; a group is complete when the
// warp has waited for the dependence counter that LDGDEPBAR names (PTX ISA, cp.async.commit_group and cp.async.wait_group), or has
// let an mbarrier know (cp.async.mbarrier.arrive). Only then is its data in shared memory for certain.
type copies struct {
	closed, complete uint32 // groups
	counter          int8   // dependence counter of the last LDGDEPBAR
	pending          []copied
}

// A copied is what a lane copies.
type copied struct {
	addr  uint64 // in shared memory
	size  int
	group uint32
	site  int
	by    access
}

// step follows what closes groups and what waits for them.
func (c *copies) step(in *sass.Inst) {
	if c.closed > 0 && c.counter >= 0 && in.Control.WaitMask>>c.counter&1 != 0 {
		c.complete = c.closed
	}
	switch in.Op {
	case sass.ARRIVES:
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

// land stores what the complete groups of a warp copy. That it was the copy of an earlier round stays known.
func (b *block) land(c *copies) {
	n := 0
	for n < len(c.pending) && c.pending[n].group <= c.complete {
		p := &c.pending[n]
		p.by.epoch = b.barriers.epoch
		b.touched = b.touched[:0]
		b.touch(emu.Shared, 0, p.addr, p.size)
		for i := range b.touched {
			b.touched[i].cell.wrote(p.site, p.by, false)
		}
		n++
	}
	c.pending = c.pending[:copy(c.pending, c.pending[n:])]
}
