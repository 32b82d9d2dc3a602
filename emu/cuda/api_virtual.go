package cuda

import (
	"cmp"
	"fmt"
	"slices"
)

// Virtual memory management: addresses are reserved, memory is made, mapped to addresses and made accessible, each by a call of its own. Device memory
// lies at one place for each address (device.go), so that what memory holds is kept beside while it is not mapped, and it can be mapped at one place only
// at a time.

// A reservation is a range of addresses that is taken.
type reservation struct{ addr, size uint64 }

// A physical is memory that can be mapped (CUmemGenericAllocationHandle).
type physical struct {
	handle   uint64
	size     uint64
	number   int
	released bool
	contents []byte      // while it is not mapped, nil for zeros
	mapped   *allocation // where it is mapped, nil for nowhere
}

// granularity is what sizes and places of such memory are multiples of, bytes.
const granularity = 2 << 20

var virtualFunctions = []function{
	{"cuMemGetAllocationGranularity", "ppi", initialized, func(c *call) Result { return c.out64(c.a[0], granularity) }},
	{"cuMemAddressReserve", "pnnnn", initialized, addressReserve},
	{"cuMemAddressFree", "nn", initialized, addressFree},
	{"cuMemCreate", "pnpn", initialized, physicalCreate},
	{"cuMemRelease", "n", initialized, physicalRelease},
	{"cuMemMap", "nnnnn", initialized, physicalMap},
	{"cuMemUnmap", "nn", initialized, physicalUnmap},
	{"cuMemSetAccess", "nnpn", initialized, setAccess},
	{"cuMemGetAccess", "ppn", initialized, getAccess},
	{"cuMemRetainAllocationHandle", "pn", initialized, retainHandle},
	{"cuMemGetAllocationPropertiesFromHandle", "pn", initialized, physicalProperties},
}

// aligned says whether sizes and addresses are multiples of the granularity, and the first is not 0.
func aligned(size uint64, others ...uint64) bool {
	return size > 0 && size%granularity == 0 && !slices.ContainsFunc(others, func(v uint64) bool { return v%granularity != 0 })
}

// addressReserve: address, size, alignment, wish, flags. The wish is granted where the place is free.
func addressReserve(c *call) Result {
	size, alignment, wish := c.a[1], max(c.a[2], granularity), c.a[3]
	if !aligned(size) || alignment&(alignment-1) != 0 || c.a[4] != 0 {
		return ErrInvalidValue
	}
	if err := c.open(); err != nil {
		c.server.problem(err)
		return ErrOutOfMemory
	}
	addr, ok := c.device.reserve(size, alignment, wish)
	if !ok {
		return ErrOutOfMemory
	}
	c.process.reservations = append(c.reservations, reservation{addr, size})
	return c.out64(c.a[0], addr)
}

// reserve takes a range out of the gaps, at an address that is wished for if that is free.
func (d *deviceMemory) reserve(size, alignment, wish uint64) (addr uint64, ok bool) {
	for _, wished := range []bool{true, false} {
		for i, g := range d.gaps {
			at := (g.addr + alignment - 1) &^ (alignment - 1)
			if wished {
				at = wish
			}
			if at < g.addr || at%alignment != 0 || at-g.addr > g.size || size > g.size-(at-g.addr) {
				continue
			}
			d.gaps = slices.Delete(d.gaps, i, i+1)
			for _, rest := range []gap{{g.addr, at - g.addr}, {at + size, g.addr + g.size - at - size}} {
				if rest.size > 0 {
					d.free(rest)
				}
			}
			return at, true
		}
	}
	return 0, false
}

func addressFree(c *call) Result {
	i := slices.Index(c.reservations, reservation{c.a[0], c.a[1]})
	if i < 0 || len(c.mappedIn(c.a[0], c.a[1])) > 0 {
		return ErrInvalidValue
	}
	c.process.reservations = slices.Delete(c.reservations, i, i+1)
	c.device.free(gap{c.a[0], c.a[1]})
	return Success
}

// mappedIn lists the memory that is mapped in a range of addresses.
func (c *call) mappedIn(addr, size uint64) (list []*allocation) {
	if c.device == nil {
		return nil
	}
	for _, a := range c.device.list {
		if a.kind == mappedMemory && a.addr < addr+size && addr < a.end() {
			list = append(list, a)
		}
	}
	return list
}

// physicalCreate: handle, size, CUmemAllocationProp (type, handle types, location), flags. Memory for other processes is not supported.
func physicalCreate(c *call) Result {
	var b [16]byte
	if r := c.load(c.a[2], b[:]); r != Success {
		return r
	}
	const pinned, onDevice = 1, 1
	switch {
	case !aligned(c.a[1]) || le.Uint32(b[0:]) != pinned || c.a[3] != 0:
		return ErrInvalidValue
	case le.Uint32(b[4:]) != 0:
		return c.server.lack(c.function.name + " with handles for other processes")
	case le.Uint32(b[8:]) != onDevice:
		return c.server.lack(c.function.name + " of memory of the host")
	case le.Uint32(b[12:]) != 0:
		return ErrInvalidDevice
	}
	if err := c.open(); err != nil {
		c.server.problem(err)
		return ErrOutOfMemory
	}
	d := c.device
	if c.a[1] > d.size-min(d.used, d.size) {
		c.server.problem(fmt.Errorf("%s: %d bytes, of which the GPU's memory has %d free", c.function.name, c.a[1], d.size-min(d.used, d.size)))
		return ErrOutOfMemory
	}
	d.used += c.a[1]
	d.made++
	p := &physical{size: c.a[1], number: d.made}
	p.handle = c.add(p)
	return c.out64(c.a[0], p.handle)
}

func physicalRelease(c *call) Result {
	p, ok := find[*physical](c.process, c.a[0])
	if !ok || p.released {
		return ErrInvalidValue
	}
	p.released = true
	c.retire(p)
	return Success
}

// retire forgets memory that has been released and is mapped nowhere.
func (c *call) retire(p *physical) {
	if p.released && p.mapped == nil {
		c.device.used -= p.size
		delete(c.handles, p.handle)
	}
}

// physicalMap: address, size, offset, handle, flags.
func physicalMap(c *call) Result {
	addr, size := c.a[0], c.a[1]
	p, ok := find[*physical](c.process, c.a[3])
	within := slices.ContainsFunc(c.reservations, func(r reservation) bool {
		return addr >= r.addr && size <= r.size && addr-r.addr <= r.size-size
	})
	switch {
	case !ok || p.released || !aligned(size, addr) || size != p.size || c.a[2] != 0 || c.a[4] != 0 || !within || len(c.mappedIn(addr, size)) > 0:
		return ErrInvalidValue
	case p.mapped != nil:
		return c.server.lack(c.function.name + " of memory that is mapped elsewhere")
	}
	at := addr - deviceBase
	a := &allocation{addr: addr, size: size, data: c.device.shared.Data[at : at+size : at+size], kind: mappedMemory, number: p.number, physical: p}
	place, _ := c.device.search(addr)
	c.device.list = slices.Insert(c.device.list, place, a)
	copy(a.data, p.contents)
	p.contents, p.mapped = nil, a
	return Success
}

// exactly lists the memory that is mapped in a range, if it fills that from the beginning to the end.
func (c *call) exactly(addr, size uint64) ([]*allocation, bool) {
	list := c.mappedIn(addr, size)
	at := addr
	for _, a := range list {
		if a.addr != at {
			return nil, false
		}
		at = a.end()
	}
	return list, len(list) > 0 && at == addr+size
}

func physicalUnmap(c *call) Result {
	list, ok := c.exactly(c.a[0], c.a[1])
	if !ok {
		return ErrInvalidValue
	}
	for _, a := range list {
		if r := c.access(a, false); r != Success {
			return r
		}
		if !a.physical.released {
			a.physical.contents = slices.Clone(a.data)
		}
		place, _ := c.device.search(a.addr)
		c.device.list = slices.Delete(c.device.list, place, place+1)
		if err := c.device.shared.Discard(int64(a.addr-deviceBase), int64(a.size)); err != nil {
			c.server.problem(err)
		}
		a.physical.mapped = nil
		c.retire(a.physical)
	}
	return Success
}

// access lets kernels reach memory, or not.
func (c *call) access(a *allocation, on bool) Result {
	if a.accessible == on {
		return Success
	}
	var err error
	if on {
		err = c.memory.Map(fmt.Sprintf("mapped memory %d of %d bytes", a.number, a.size), a.addr, a.data)
	} else {
		err = c.memory.Unmap(a.addr)
	}
	if err != nil {
		c.server.problem(err)
		return ErrUnknown
	}
	a.accessible = on
	return Success
}

// Access to memory (CUmemAccess_flags), and the size of CUmemAccessDesc: type and number of the place, access.
const (
	accessNone      = 0
	accessReadWrite = 3
	accessBytes     = 12
)

// setAccess: address, size, descriptions, count. That of the host makes no difference: it cannot reach such memory.
func setAccess(c *call) Result {
	const most, onDevice = 64, 1
	list, ok := c.exactly(c.a[0], c.a[1])
	if !ok || c.a[3] == 0 || c.a[3] > most {
		return ErrInvalidValue
	}
	b := make([]byte, accessBytes*c.a[3])
	if r := c.load(c.a[2], b); r != Success {
		return r
	}
	for ; len(b) > 0; b = b[accessBytes:] {
		if le.Uint32(b) != onDevice {
			continue
		}
		if le.Uint32(b[4:]) != 0 {
			return ErrInvalidDevice
		}
		for _, a := range list {
			if r := c.access(a, le.Uint32(b[8:]) != accessNone); r != Success {
				return r
			}
		}
	}
	return Success
}

// getAccess: access, place, address.
func getAccess(c *call) Result {
	a := c.device.find(c.a[2])
	if a == nil || a.kind != mappedMemory {
		return ErrInvalidValue
	}
	return c.out64(c.a[0], uint64(btoi(a.accessible)*accessReadWrite))
}

func retainHandle(c *call) Result {
	a := c.device.find(c.a[1])
	if a == nil || a.kind != mappedMemory || a.physical.released {
		return ErrInvalidValue
	}
	return c.server.lack(c.function.name)
}

// physicalProperties returns a CUmemAllocationProp.
func physicalProperties(c *call) Result {
	if _, ok := find[*physical](c.process, c.a[1]); !ok {
		return ErrInvalidValue
	}
	b := make([]byte, 32)
	b[0], b[8] = 1, 1 // pinned, on the device
	return c.out(c.a[0], b)
}

// through returns bytes that lie in several pieces of mapped memory, one behind the other.
func (d *deviceMemory) through(a *allocation, addr, size uint64) ([]byte, bool) {
	i, _ := slices.BinarySearchFunc(d.list, a.addr, func(x *allocation, addr uint64) int { return cmp.Compare(x.addr, addr) })
	end := a.addr
	for ; i < len(d.list) && d.list[i].kind == mappedMemory && d.list[i].addr == end && end < addr+size; i++ {
		end = d.list[i].end()
	}
	if end < addr+size || addr+size < addr {
		return nil, false
	}
	at := addr - deviceBase
	return d.shared.Data[at : at+size : at+size], true
}
