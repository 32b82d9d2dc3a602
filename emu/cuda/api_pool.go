package cuda

// A pool is a CUmemoryPool. What is freed is free at once, in the order of the calls; so nothing is ever held back.
type pool struct {
	handle    uint64
	threshold uint64
	reuse     [4]uint32 // by attribute
	used      uint64
	high      uint64
	isDefault bool
}

var poolFunctions = []function{
	{"cuDeviceGetDefaultMemPool", "pi", initialized, ofDevice(1, defaultPool)},
	{"cuDeviceGetMemPool", "pi", initialized, ofDevice(1, currentPool)},
	{"cuDeviceSetMemPool", "in", initialized, ofDevice(0, setPool)},
	{"cuMemPoolCreate", "pp", currentContext, poolCreate},
	{"cuMemPoolDestroy", "n", currentContext, poolDestroy},
	{"cuMemPoolGetAttribute", "nip", currentContext, ofPool(0, poolAttribute)},
	{"cuMemPoolSetAttribute", "nip", currentContext, ofPool(0, poolSetAttribute)},
	{"cuMemPoolTrimTo", "nn", currentContext, ofPool(0, func(*call, *pool) Result { return Success })},
	{"cuMemPoolGetAccess", "pnp", currentContext, ofPool(1, func(c *call, _ *pool) Result { return c.out32(c.a[0], 3) })},
	{"cuMemPoolSetAccess", "non", currentContext, ofPool(0, func(*call, *pool) Result { return Success })},
	{"cuMemAllocAsync", "pnn", currentContext, onStream(2, func(c *call) Result { return c.allocateFrom(c.currentPool()) })},
	{"cuMemAllocFromPoolAsync", "pnnn", currentContext, onStream(3, ofPool(2, func(c *call, p *pool) Result { return c.allocateFrom(p) }))},
	{"cuMemFreeAsync", "nn", currentContext, onStream(1, freeAsync)},
}

// defaultPoolOf returns the pool that the device begins with.
func (p *process) defaultPoolOf() *pool {
	for _, handle := range sortedHandles(p.handles) {
		if q, ok := p.handles[handle].(*pool); ok && q.isDefault {
			return q
		}
	}
	q := p.newPool()
	q.isDefault = true
	return q
}

func (p *process) newPool() *pool {
	q := &pool{reuse: [4]uint32{1: 1, 2: 1, 3: 1}}
	q.handle = p.add(q)
	return q
}

// currentPool is the pool that allocations without one are made from.
func (p *process) currentPool() *pool {
	if p.pool == nil {
		p.pool = p.defaultPoolOf()
	}
	return p.pool
}

func defaultPool(c *call) Result { return c.out64(c.a[0], c.defaultPoolOf().handle) }
func currentPool(c *call) Result { return c.out64(c.a[0], c.currentPool().handle) }

func setPool(c *call) Result {
	p, ok := find[*pool](c.process, c.a[1])
	if !ok {
		return ErrInvalidValue
	}
	c.pool = p
	return Success
}

// ofPool finds the pool that an argument names.
func ofPool(arg int, run func(*call, *pool) Result) func(*call) Result {
	return func(c *call) Result {
		p, ok := find[*pool](c.process, c.a[arg])
		if !ok {
			return ErrInvalidValue
		}
		return run(c, p)
	}
}

// poolCreate makes a pool of device memory (CUmemPoolProps: type, handle types, location). Pools that other processes can open are not
// supported.
func poolCreate(c *call) Result {
	var b [16]byte
	if r := c.load(c.a[1], b[:]); r != Success {
		return r
	}
	const pinned, onDevice = 1, 1
	if le.Uint32(b[0:]) != pinned || le.Uint32(b[8:]) != onDevice || le.Uint32(b[12:]) != 0 {
		return ErrInvalidValue
	}
	if le.Uint32(b[4:]) != 0 {
		return c.server.lack(c.function.name + " with handles for other processes")
	}
	return c.out64(c.a[0], c.newPool().handle)
}

func poolDestroy(c *call) Result {
	p, ok := find[*pool](c.process, c.a[0])
	if !ok || p.isDefault {
		return ErrInvalidValue
	}
	if c.pool == p {
		c.pool = nil
	}
	delete(c.handles, p.handle)
	return Success
}

// Attributes of pools (CUmemPool_attribute). Those below poolThreshold are 32-bit rules for reuse.
const (
	poolThreshold    = 4
	poolReserved     = 5
	poolReservedHigh = 6
	poolUsed         = 7
	poolUsedHigh     = 8
)

func poolAttribute(c *call, p *pool) Result {
	switch n := c.integer(1); n {
	case 1, 2, 3:
		return c.out32(c.a[2], p.reuse[n])
	case poolThreshold:
		return c.out64(c.a[2], p.threshold)
	case poolReserved, poolUsed:
		return c.out64(c.a[2], p.used)
	case poolReservedHigh, poolUsedHigh:
		return c.out64(c.a[2], p.high)
	}
	return ErrInvalidValue
}

func poolSetAttribute(c *call, p *pool) Result {
	var b [8]byte
	n := c.integer(1)
	size := 8
	if n < poolThreshold {
		size = 4
	}
	if r := c.load(c.a[2], b[:size]); r != Success {
		return r
	}
	v := le.Uint64(b[:])
	switch {
	case n >= 1 && n < poolThreshold:
		p.reuse[n] = uint32(btoi(v != 0))
	case n == poolThreshold:
		p.threshold = v
	case (n == poolReservedHigh || n == poolUsedHigh) && v == 0:
		p.high = p.used
	default:
		return ErrInvalidValue
	}
	return Success
}

func (c *call) allocateFrom(p *pool) Result {
	if c.a[1] == 0 {
		return ErrInvalidValue
	}
	a, r := c.alloc(c.a[1], plainMemory, c.context)
	if r != Success {
		return r
	}
	a.pool = p
	p.used += a.size
	p.high = max(p.high, p.used)
	return c.out64(c.a[0], a.addr)
}

func freeAsync(c *call) Result {
	if c.a[0] == 0 {
		return Success
	}
	a := c.device.find(c.a[0])
	if a == nil || a.addr != c.a[0] || a.kind != plainMemory {
		return ErrInvalidValue
	}
	return c.release(a)
}
