package check

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/emu"
)

// A heap is what device-side malloc and free did.
type heap struct {
	calls []emu.HeapCall         // of the step that is still to come
	all   map[uint64]*allocation // by address, which malloc gives out once
	addrs []uint64               // of all, in ascending order
}

// An allocation is what a call of malloc returned.
type allocation struct {
	addr, size uint64
	by, freed  party
	facts      *emu.LaunchFacts // of the launch that by is of
	later      *emu.LaunchFacts // and freed
}

// Heap notes a call of malloc or free.
func (c *Checker) Heap(call *emu.HeapCall) { c.heap.calls = append(c.heap.calls, *call) }

// called gives the calls of malloc and free that a step did their place.
func (c *Checker) called(s *emu.Step) {
	at := c.site(s.Code, s.Inst)
	for _, call := range c.heap.calls {
		who := party{at, int32(s.Block), int32(s.Warp), int32(call.Lane)}
		switch {
		case call.Free:
			if a := c.heap.all[call.Addr]; a != nil {
				a.freed, a.later = who, c.facts
				c.global.remove(call.Addr)
			}
		case call.Addr == 0:
			f := c.about(MallocFailed, who, party{})
			f.Detail = fmt.Sprintf("%d bytes; heap: in the launch file makes the heap larger", call.Size)
		default:
			c.heap.add(&allocation{addr: call.Addr, size: call.Size, by: who, facts: c.facts})
			c.Uninitialised("what malloc returned", call.Addr, call.Size)
		}
	}
	c.heap.calls = c.heap.calls[:0]
}

func (h *heap) add(a *allocation) {
	if h.all == nil {
		h.all = make(map[uint64]*allocation)
	}
	h.all[a.addr] = a
	at, _ := slices.BinarySearch(h.addrs, a.addr)
	h.addrs = slices.Insert(h.addrs, at, a.addr)
}

// find returns the allocation that an address lies in or a little behind, nil where there is none.
func (h *heap) find(addr uint64) *allocation {
	const near = 1 << 12
	at, found := slices.BinarySearch(h.addrs, addr)
	if !found {
		at--
	}
	if at < 0 {
		return nil
	}
	if a := h.all[h.addrs[at]]; addr-a.addr < a.size+near {
		return a
	}
	return nil
}

// placeOf describes a party of an earlier launch.
func (c *Checker) placeOf(p party, facts *emu.LaunchFacts) *Place {
	place := c.at(p)
	place.Block, place.Thread = facts.Thread(int(p.block), int(p.warp), int(p.lane))
	return &place
}

// origin returns where the memory at an address was allocated, nil where it did not come from the heap.
func (c *Checker) origin(addr uint64) *Place {
	if a := c.heap.find(addr); a != nil {
		return c.placeOf(a.by, a.facts)
	}
	return nil
}

// freed says where the memory at an address was freed, "" where it was not.
func (c *Checker) freed(addr uint64) string {
	a := c.heap.find(addr)
	if a == nil || a.freed.site == 0 || addr-a.addr >= a.size {
		return ""
	}
	p := c.placeOf(a.freed, a.later)
	where := fmt.Sprintf("pc %#x", p.PC)
	if len(p.Frames) > 0 && p.Frames[0].Line > 0 {
		where = fmt.Sprintf("%s:%d", p.Frames[0].File, p.Frames[0].Line)
	}
	return fmt.Sprintf("freed at %s by block (%d,%d,%d) thread (%d,%d,%d)", where,
		p.Block[0], p.Block[1], p.Block[2], p.Thread[0], p.Thread[1], p.Thread[2])
}

// Leaks reports what malloc returned and nobody freed. It is called after the last launch: the heap outlives a launch.
func (c *Checker) Leaks() {
	bytes := make(map[*Finding]uint64)
	left := make([]*allocation, 0, len(c.heap.all))
	for _, a := range c.heap.all {
		if a.freed.site == 0 {
			left = append(left, a)
		}
	}
	slices.SortFunc(left, func(a, b *allocation) int { return cmp.Compare(a.addr, b.addr) })
	for _, a := range left {
		c.facts = a.facts
		f := c.about(Leak, a.by, party{})
		bytes[f] += a.size
		f.Detail = fmt.Sprintf("%d bytes from malloc that nobody has freed", bytes[f])
	}
}

// localPointer follows addresses of local memory through shared and global memory: every thread has its own memory at such an
// address, so that another thread does not find there what the one that wrote the address has (CUDA C++ Programming Guide, local
// memory). What is reported is that another thread loads it.
func (c *Checker) localPointer(b *block, s *emu.Step, at siteID, kind emu.AccessKind, lane int, space emu.Space, addr uint64, size int) {
	owners := b.pointers
	if space == emu.Global {
		owners = c.grid.pointers
	}
	if kind == emu.Load && len(owners) == 0 {
		return
	}
	values, n := s.Values(lane)
	for k := 0; k+1 < n && 4*k < size; k += 2 {
		where := word{space, addr + uint64(4*k)}
		if !emu.IsLocal(uint64(values[k+1])<<32 | uint64(values[k])) {
			continue
		}
		who := party{at, int32(s.Block), int32(s.Warp), int32(lane)}
		owner, known := owners[where]
		switch {
		case kind == emu.Store:
			owners[where] = who
		case known && kind == emu.Load && (owner.block != who.block || owner.warp != who.warp || owner.lane != who.lane):
			f := c.about(ForeignLocal, who, owner)
			f.address(space, where.addr, 8)
			f.Detail = "the word holds an address of the other thread's local memory; here it stands for this thread's own"
		}
	}
}
