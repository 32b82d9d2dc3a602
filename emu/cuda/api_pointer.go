package cuda

var pointerFunctions = []function{
	{"cuPointerGetAttribute", "pin", initialized, pointerAttribute},
	{"cuPointerGetAttributes", "ippn", initialized, pointerAttributes},
	{"cuPointerSetAttribute", "pin", currentContext, pointerSetAttribute},
}

// Attributes of pointers (CUpointer_attribute).
const (
	pointerContext    = 1
	pointerMemoryType = 2
	pointerDevice     = 3
	pointerHost       = 4
	pointerSyncs      = 6
	pointerBufferID   = 7
	pointerManaged    = 8
	pointerOrdinal    = 9
	pointerIPC        = 10
	pointerStart      = 11
	pointerSize       = 12
	pointerMapped     = 13
	pointerHandles    = 14
	pointerRDMA       = 15
	pointerAccess     = 16
	pointerPool       = 17
	pointerMapping    = 18
	pointerMapBase    = 19
	pointerBlock      = 20
	pointerDecompress = 21
)

// attribute returns an attribute of an address in an allocation, as a number of a size. ok is false where it has none.
func (a *allocation) attribute(number int, addr uint64) (value uint64, size int, ok bool) {
	switch number {
	case pointerContext:
		if a.context == nil {
			return 0, 8, true
		}
		return a.context.handle, 8, true
	case pointerMemoryType:
		if a.kind == hostMemory {
			return memoryHost, 4, true
		}
		return memoryDevice, 4, true
	case pointerDevice:
		return addr, 8, true
	case pointerHost:
		if a.host != 0 {
			return a.host + addr - a.addr, 8, true
		}
		return addr, 8, a.kind == hostMemory || a.kind == managedMemory
	case pointerIPC:
		return uint64(btoi(a.shareable())), 1, true
	case pointerSyncs, pointerRDMA, pointerDecompress:
		return 0, 1, true
	case pointerBufferID, pointerBlock:
		return uint64(a.number), 8, true
	case pointerManaged:
		return uint64(btoi(a.kind == managedMemory)), 1, true
	case pointerOrdinal:
		return 0, 4, true
	case pointerStart, pointerMapBase:
		return a.addr, 8, true
	case pointerSize, pointerMapping:
		return a.size, 8, true
	case pointerMapped:
		return 1, 1, true
	case pointerHandles:
		return 0, 8, true
	case pointerAccess:
		return 3, 4, true // to read and to write
	case pointerPool:
		if a.pool == nil {
			return 0, 8, true
		}
		return a.pool.handle, 8, true
	}
	return 0, 0, false
}

// pointed finds the memory that an address of the device or of registered memory lies in, and where in it.
func (c *call) pointed(addr uint64) (*allocation, uint64) {
	if a, at := c.registeredAt(addr); a != nil {
		return a, at
	}
	return c.device.find(addr), addr
}

func pointerAttribute(c *call) Result {
	a, at := c.pointed(c.a[2])
	if a == nil {
		return ErrInvalidValue
	}
	v, size, ok := a.attribute(c.integer(1), at)
	if !ok {
		return ErrInvalidValue
	}
	return c.out(c.a[0], le.AppendUint64(nil, v)[:size])
}

// pointerAttributes returns several attributes. Those that an address does not have, as one of ordinary host memory, are 0.
func pointerAttributes(c *call) Result {
	n := int(c.a[0])
	if n == 0 || n > pointerDecompress {
		return ErrInvalidValue
	}
	numbers := make([]byte, 4*n)
	if r := c.load(c.a[1], numbers); r != Success {
		return r
	}
	targets, r := c.words(c.a[2], n)
	if r != Success {
		return r
	}
	for i, to := range targets {
		number := int(int32(le.Uint32(numbers[4*i:])))
		a, at := c.pointed(c.a[3])
		if a == nil {
			a = &allocation{}
			_, size, ok := a.attribute(number, 0)
			if !ok && number != pointerHost {
				return ErrInvalidValue
			}
			v := uint64(0)
			if number == pointerOrdinal {
				v = 0xfffffffe // CU_DEVICE_INVALID
			}
			c.out(to, le.AppendUint64(nil, v)[:size])
			continue
		}
		v, size, ok := a.attribute(number, at)
		if !ok {
			if number != pointerHost {
				return ErrInvalidValue
			}
			v, size = 0, 8
		}
		c.out(to, le.AppendUint64(nil, v)[:size])
	}
	return Success
}

// pointerSetAttribute: all copies are synchronous.
func pointerSetAttribute(c *call) Result {
	if c.device.find(c.a[2]) == nil || c.integer(1) != pointerSyncs {
		return ErrInvalidValue
	}
	return Success
}
