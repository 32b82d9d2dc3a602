package cuda

import "math"

var memoryFunctions = []function{
	{"cuMemGetInfo_v2", "pp", currentContext, memoryInfo},
	{"cuMemAlloc_v2", "pn", currentContext, memoryAlloc},
	{"cuMemAllocPitch_v2", "ppnni", currentContext, memoryAllocPitch},
	{"cuMemFree_v2", "n", currentContext, memoryFree},
	{"cuMemGetAddressRange_v2", "oon", currentContext, addressRange},
	{"cuMemAllocHost_v2", "pn", currentContext, func(c *call) Result { return c.allocHost(0) }},
	{"cuMemHostAlloc", "pni", currentContext, func(c *call) Result { return c.allocHost(uint32(c.a[2])) }},
	{"cuMemFreeHost", "n", currentContext, memoryFreeHost},
	{"cuMemHostGetDevicePointer_v2", "pni", currentContext, hostDevicePointer},
	{"cuMemHostGetFlags", "pn", currentContext, hostFlags},
	{"cuMemAllocManaged", "pni", currentContext, memoryAllocManaged},
}

func memoryInfo(c *call) Result {
	total := uint64(c.gpu().DRAM.Size.Value)
	free := total
	if c.device != nil {
		free -= min(c.device.used, total)
	}
	c.out64(c.a[0], free)
	return c.out64(c.a[1], total)
}

func memoryAlloc(c *call) Result { return c.allocate(c.a[0], c.a[1], plainMemory, 0) }

// allocate makes an allocation and returns its address.
func (c *call) allocate(to, size uint64, kind memoryKind, flags uint32) Result {
	if size == 0 {
		return ErrInvalidValue
	}
	a, r := c.alloc(size, kind, c.context)
	if r != Success {
		return r
	}
	a.flags = flags
	return c.out64(to, a.addr)
}

// pitchUnit is what the lengths of rows are multiples of, bytes.
const pitchUnit = 512

func memoryAllocPitch(c *call) Result {
	width, height := c.a[2], c.a[3]
	if element := c.a[4]; element != 4 && element != 8 && element != 16 || width == 0 || height == 0 || width > math.MaxInt32 {
		return ErrInvalidValue
	}
	pitch := (width + pitchUnit - 1) &^ (pitchUnit - 1)
	if height > math.MaxInt64/pitch {
		return ErrOutOfMemory
	}
	c.out64(c.a[1], pitch)
	return c.allocate(c.a[0], pitch*height, plainMemory, 0)
}

func memoryFree(c *call) Result {
	if c.a[0] == 0 {
		return Success
	}
	a := c.device.find(c.a[0])
	if a == nil || a.addr != c.a[0] || a.dormant || a.kind != plainMemory && a.kind != managedMemory {
		return ErrInvalidValue
	}
	return c.release(a)
}

func addressRange(c *call) Result {
	a := c.device.find(c.a[2])
	if a == nil {
		return ErrNotFound
	}
	c.out64(c.a[0], a.addr)
	return c.out64(c.a[1], a.size)
}

// hostFlagsAllowed are PORTABLE, DEVICEMAP and WRITECOMBINED.
const hostFlagsAllowed = 7

// allocHost makes memory that host and device reach by the same address.
func (c *call) allocHost(flags uint32) Result {
	if flags&^hostFlagsAllowed != 0 {
		return ErrInvalidValue
	}
	if r := c.mapDevice(); r != Success {
		return r
	}
	return c.allocate(c.a[0], c.a[1], hostMemory, flags)
}

func memoryFreeHost(c *call) Result {
	a := c.device.find(c.a[0])
	if a == nil || a.addr != c.a[0] || a.kind != hostMemory || a.host != 0 {
		return ErrInvalidValue
	}
	return c.release(a)
}

func hostDevicePointer(c *call) Result {
	if _, at := c.registeredAt(c.a[1]); at != 0 && c.a[2] == 0 {
		return c.out64(c.a[0], at)
	}
	a := c.device.find(c.a[1])
	if a == nil || a.kind != hostMemory || c.a[2] != 0 {
		return ErrInvalidValue
	}
	return c.out64(c.a[0], c.a[1])
}

func hostFlags(c *call) Result {
	a, _ := c.registeredAt(c.a[1])
	if a == nil {
		a = c.device.find(c.a[1])
	}
	if a == nil || a.kind != hostMemory {
		return ErrInvalidValue
	}
	const deviceMap = 2 // always, as addresses are unified
	return c.out32(c.a[0], a.flags|deviceMap)
}

// Flags of managed memory (CUmemAttach_flags): which streams may touch it makes no difference.
const attachGlobal, attachHost = 1, 2

func memoryAllocManaged(c *call) Result {
	if flags := c.a[2]; flags != attachGlobal && flags != attachHost {
		return ErrInvalidValue
	}
	if r := c.mapDevice(); r != Success {
		return r
	}
	return c.allocate(c.a[0], c.a[1], managedMemory, uint32(c.a[2]))
}
