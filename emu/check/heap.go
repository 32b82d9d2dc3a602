package check

import "gpa/emu"

// An allocation is memory from the heap whose call has not been seen yet.
type allocation struct {
	lane       int
	addr, size uint64
}

// Alloc notes that nobody has written what malloc returned.
func (c *Checker) Alloc(lane int, addr, size uint64) {
	c.allocated = append(c.allocated, allocation{lane, addr, size})
}

// called makes regions of what the call of malloc that a step is has returned.
func (c *Checker) called(s *emu.Step) {
	at := c.site(s.Code, s.Inst)
	for _, a := range c.allocated {
		c.Uninitialised("what malloc returned", a.addr, a.size)
		place := c.place(at, s.Block, s.Warp, a.lane)
		c.global.find(a.addr).from = &place
	}
	c.allocated = c.allocated[:0]
}

// origin returns where the memory at an address, or that which ends a little before it, was allocated; nil where it did not
// come from the heap.
func (g *regions) origin(addr uint64) *Place {
	const near = 1 << 12
	at, found := g.search(addr)
	if !found {
		at--
	}
	if at < 0 || addr-g.list[at].addr >= uint64(len(g.list[at].written))+near {
		return nil
	}
	return g.list[at].from
}
