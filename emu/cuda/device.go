package cuda

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/emu"
	"gpa/emu/cuda/wire"
)

const (
	// deviceBase is the address of device memory, in clients too where they map it: far from what programs, loaders and sanitizers use.
	deviceBase = 0x2000_0000_0000
	memoryName = "gpa-device"
	// guard is how many bytes are free behind an allocation at least, so that running past its end does not hit the next.
	guard = 1 << 16
	// unit is what places of allocations are multiples of: pages, so that what is freed goes back to the system.
	unit = pageSize
	// grain is the unit in which the driver gives memory out. Kernels reach all of it: programs run that read a little too far, as they do
	// on hardware.
	grain = 512
	// defaultHeap is for device-side malloc, bytes (cudaLimitMallocHeapSize).
	defaultHeap = 8 << 20
)

// A memoryKind is what an allocation was made for.
type memoryKind uint8

const (
	plainMemory   memoryKind = iota // cuMemAlloc
	managedMemory                   // cuMemAllocManaged
	hostMemory                      // cuMemHostAlloc
	arrayMemory                     // cuArrayCreate
	mappedMemory                    // cuMemMap
	openedMemory                    // cuIpcOpenMemHandle
	codeMemory                      // variables and constants of a module
	stagingMemory                   // gpa's own; no kernel can reach it
)

// An allocation is a piece of device memory.
type allocation struct {
	addr       uint64
	size       uint64 // as asked for
	data       []byte
	kind       memoryKind
	number     int
	context    *driverContext
	pool       *pool
	flags      uint32
	physical   *physical    // of mapped memory
	accessible bool         // mapped memory that kernels can reach
	advice     advice       // of managed memory
	graph      *graphMemory // that allocates it, nil for none
	dormant    bool         // of a graph: not allocated now, so that nothing can reach it
	host       uint64       // where the memory lies in the program that it stands for, 0 for where it lies itself
	share      *share       // with which other processes can open it, nil if nobody asked
	opened     *opening     // of memory of another process
}

func (a *allocation) end() uint64 { return a.addr + a.size }

// room is what an allocation takes of the address space.
func room(size uint64) uint64 { return (size + guard + unit - 1) &^ (unit - 1) }

// A gap is free address space.
type gap struct{ addr, size uint64 }

// A deviceMemory is the memory of the GPU as a process has it.
type deviceMemory struct {
	shared *wire.Shared
	size   uint64        // of the GPU's memory
	used   uint64        // bytes of allocations
	list   []*allocation // by address
	gaps   []gap         // by address
	made   int
	// holders are the process that it is the memory of, and who has opened some of it, each time. Under the server's lock.
	holders int
}

// newDeviceMemory returns memory of a size. The addresses span twice as much, for what lies between allocations.
func newDeviceMemory(size int64) (*deviceMemory, error) {
	shared, err := wire.NewShared(memoryName, 2*size)
	if err != nil {
		return nil, err
	}
	return &deviceMemory{shared: shared, size: uint64(size), gaps: []gap{{deviceBase, uint64(2 * size)}}, holders: 1}, nil
}

// mostUnseen is the size of an allocation up to which nobody looks whether this computer has room for it.
const mostUnseen = 64 << 20

// take makes an allocation, of zeros, at the first place where there is one.
func (d *deviceMemory) take(size uint64, kind memoryKind, what string) (*allocation, error) {
	if size > d.size-min(d.used, d.size) {
		return nil, fmt.Errorf("%s: %d bytes, of which the GPU's memory has %d free", what, size, d.size-min(d.used, d.size))
	}
	if size > mostUnseen && int64(size) > emu.FreeMemory() {
		return nil, fmt.Errorf("%s: %d bytes, and this computer has %d left", what, size, emu.FreeMemory())
	}
	a, err := d.place(size, kind, what)
	if err != nil {
		return nil, err
	}
	at := a.addr - deviceBase
	a.data = d.shared.Data[at : at+size : at+size]
	d.used += size
	return a, nil
}

// place gives an allocation its addresses, at the first place where there is room, and no bytes.
func (d *deviceMemory) place(size uint64, kind memoryKind, what string) (*allocation, error) {
	need := room(size)
	i := slices.IndexFunc(d.gaps, func(g gap) bool { return g.size >= need })
	if i < 0 {
		return nil, fmt.Errorf("%s: %d bytes, and no free place is so large", what, size)
	}
	g := &d.gaps[i]
	a := &allocation{addr: g.addr, size: size, kind: kind}
	if g.addr, g.size = g.addr+need, g.size-need; g.size == 0 {
		d.gaps = slices.Delete(d.gaps, i, i+1)
	}
	if kind != stagingMemory {
		d.made++
		a.number = d.made
	}
	at, _ := d.search(a.addr)
	d.list = slices.Insert(d.list, at, a)
	return a, nil
}

// grains are the bytes of an allocation up to the end of the unit that it ends in, which is before the next.
func (d *deviceMemory) grains(a *allocation) []byte {
	at := a.addr - deviceBase
	end := at + (a.size+grain-1)&^(grain-1)
	return d.shared.Data[at:end:end]
}

// give takes an allocation back.
func (d *deviceMemory) give(a *allocation) error {
	at, found := d.search(a.addr)
	if !found {
		return fmt.Errorf("there is no memory at %#x", a.addr)
	}
	d.list = slices.Delete(d.list, at, at+1)
	d.free(gap{a.addr, room(a.size)})
	if a.kind == openedMemory {
		return nil
	}
	d.used -= a.size
	return d.discard(a)
}

// discard gives the pages of an allocation back; it reads as zeros then.
func (d *deviceMemory) discard(a *allocation) error {
	return d.shared.Discard(int64(a.addr-deviceBase), int64((a.size+unit-1)&^(unit-1)))
}

// free adds a gap, in one with its neighbours.
func (d *deviceMemory) free(g gap) {
	i, _ := slices.BinarySearchFunc(d.gaps, g.addr, func(x gap, addr uint64) int { return cmp.Compare(x.addr, addr) })
	if i < len(d.gaps) && g.addr+g.size == d.gaps[i].addr {
		g.size += d.gaps[i].size
		d.gaps = slices.Delete(d.gaps, i, i+1)
	}
	if i > 0 && d.gaps[i-1].addr+d.gaps[i-1].size == g.addr {
		d.gaps[i-1].size += g.size
		return
	}
	d.gaps = slices.Insert(d.gaps, i, g)
}

func (d *deviceMemory) search(addr uint64) (at int, found bool) {
	return slices.BinarySearchFunc(d.list, addr, func(a *allocation, addr uint64) int { return cmp.Compare(a.addr, addr) })
}

// find returns the allocation that an address lies in, nil where there is none.
func (d *deviceMemory) find(addr uint64) *allocation {
	if d == nil {
		return nil
	}
	at, found := d.search(addr)
	if !found {
		at--
	}
	if at < 0 || addr-d.list[at].addr >= d.list[at].size || d.list[at].kind == stagingMemory {
		return nil
	}
	return d.list[at]
}

// bytes returns size bytes at an address, where they are all in one allocation.
func (d *deviceMemory) bytes(addr, size uint64) ([]byte, bool) {
	a := d.find(addr)
	switch {
	case a == nil || a.dormant:
		return nil, false
	case a.kind == mappedMemory:
		return d.through(a, addr, size)
	case a.end()-addr < size:
		return nil, false
	}
	at := addr - a.addr
	return a.data[at : at+size], true
}

// alloc makes an allocation that kernels can reach.
func (p *process) alloc(size uint64, kind memoryKind, c *driverContext) (*allocation, Result) {
	if err := p.open(); err != nil {
		p.server.problem(err)
		return nil, ErrOutOfMemory
	}
	a, err := p.device.take(size, kind, "allocation")
	if err != nil {
		p.server.problem(err)
		return nil, ErrOutOfMemory
	}
	a.context = c
	return a, p.reach(a)
}

// reach lets kernels reach an allocation.
func (p *process) reach(a *allocation) Result {
	if err := p.memory.Map(fmt.Sprintf("allocation %d of %d bytes", a.number, a.size), a.addr, p.reached(a)); err != nil {
		p.server.problem(err)
		return ErrUnknown
	}
	return Success
}

// reached are the bytes that kernels reach by the addresses of an allocation.
func (p *process) reached(a *allocation) []byte {
	if p.server.options.Exact {
		return a.data
	}
	return p.device.grains(a)
}

// release frees an allocation.
func (p *process) release(a *allocation) Result {
	if a.graph != nil {
		return p.sleep(a)
	}
	if a.pool != nil {
		a.pool.used -= a.size
	}
	p.server.unshare(a.share)
	err := p.memory.Unmap(a.addr)
	if err == nil {
		err = p.device.give(a)
	}
	if a.opened != nil {
		p.server.letGo(a.opened.share.device)
	}
	if err != nil {
		p.server.problem(err)
		return ErrUnknown
	}
	return Success
}

// moduleMemory gives out memory for what modules hold.
type moduleMemory struct{ *process }

// Take returns size bytes of zeros and their address.
func (m moduleMemory) Take(name string, size int64) (uint64, []byte, error) {
	a, err := m.device.take(uint64(size), codeMemory, name)
	if err != nil {
		return 0, nil, err
	}
	return a.addr, a.data, nil
}

// Return takes them back.
func (m moduleMemory) Return(addr uint64) {
	if at, found := m.device.search(addr); found {
		if err := m.device.give(m.device.list[at]); err != nil {
			m.server.problem(err)
		}
	}
}
