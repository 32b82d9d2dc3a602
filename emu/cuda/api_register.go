package cuda

import (
	"bytes"
	"slices"
)

// A registration is host memory that the program has registered (page-locked). Device memory stands for it while a kernel or a copy is at
// work: it takes over what the program's memory holds before, and what has changed goes back after. Between calls the program's memory is the
// truth. So nothing in the program's address space is moved, and kernels reach the memory by an address of its own
// (CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM is 0).
type registration struct {
	addr       uint64 // in the program
	allocation *allocation
	before     []byte // what the device memory held before the call
}

var registerFunctions = []function{
	{"cuMemHostRegister_v2", "pni", currentContext, hostRegister},
	{"cuMemHostRegister", "pni", currentContext, hostRegister},
	{"cuMemHostUnregister", "p", currentContext, hostUnregister},
}

// Flags of registrations: PORTABLE and DEVICEMAP make no difference, as does READ_ONLY. IOMEMORY is memory of other devices.
const (
	registerAllowed  = 0xf
	registerIOMemory = 4
)

func hostRegister(c *call) Result {
	addr, size, flags := c.a[0], c.a[1], c.a[2]
	switch {
	case flags&^registerAllowed != 0 || size == 0 || addr+size < addr:
		return ErrInvalidValue
	case flags&registerIOMemory != 0:
		return c.server.lack(c.function.name + " of memory of other devices")
	}
	for _, r := range c.registered {
		if addr < r.addr+r.allocation.size && r.addr < addr+size {
			return ErrHostMemoryAlreadyRegistered
		}
	}
	a, r := c.alloc(size, hostMemory, c.context)
	if r != Success {
		return r
	}
	if r := c.load(addr, a.data); r != Success {
		c.release(a)
		return r
	}
	a.host = addr
	c.registered = append(c.registered, &registration{addr: addr, allocation: a})
	return Success
}

func hostUnregister(c *call) Result {
	i := slices.IndexFunc(c.registered, func(r *registration) bool { return r.addr == c.a[0] })
	if i < 0 {
		return ErrHostMemoryNotRegistered
	}
	a := c.registered[i].allocation
	c.process.registered = slices.Delete(c.registered, i, i+1)
	return c.release(a)
}

// registeredAt returns the device memory that stands for an address of the program, and the address in it.
func (p *process) registeredAt(addr uint64) (*allocation, uint64) {
	for _, r := range p.registered {
		if addr-r.addr < r.allocation.size {
			return r.allocation, r.allocation.addr + addr - r.addr
		}
	}
	return nil, 0
}

// mirrored makes functions that touch device memory see what registered memory holds, and leave there what they change.
func mirrored(rows []function) []function {
	list := slices.Clone(rows)
	for i := range list {
		run := list[i].run
		list[i].run = func(c *call) Result {
			if r := c.takeOver(); r != Success {
				return r
			}
			r := run(c)
			if back := c.giveBack(); r == Success {
				r = back
			}
			return r
		}
	}
	return list
}

func (c *call) takeOver() Result {
	for _, r := range c.registered {
		if result := c.load(r.addr, r.allocation.data); result != Success {
			return result
		}
		r.before = append(r.before[:0], r.allocation.data...)
	}
	return Success
}

// giveBack stores what has changed, and nothing else: the program may be at work on the rest.
func (c *call) giveBack() Result {
	for _, r := range c.registered {
		after := r.allocation.data
		for at := 0; at < len(after); {
			if end := min(at+pageSize, len(after)); bytes.Equal(after[at:end], r.before[at:end]) {
				at = end
				continue
			}
			for at < len(after) && after[at] == r.before[at] {
				at++
			}
			from := at
			for at < len(after) && after[at] != r.before[at] {
				at++
			}
			if result := c.store(r.addr+uint64(from), after[from:at]); result != Success {
				return result
			}
		}
	}
	return Success
}
