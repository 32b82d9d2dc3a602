package cuda

// A pool is a CUmemoryPool. What is freed is free at once, in the order of the calls; so nothing is ever held back.
type pool struct {
	handle    uint64
	place     poolPlace
	most      uint64 // bytes that it may have at a time, 0 for any number
	threshold uint64
	reuse     [4]uint32 // by attribute
	used      uint64
	high      uint64
	isDefault bool
}

// A poolPlace is where a pool has its memory: CUmemAllocationType, and CUmemLocation (type and number).
type poolPlace struct{ allocation, location, id uint32 }

// Types of allocations (CUmemAllocationType) and of places (CUmemLocationType).
const (
	allocationPinned  = 1
	allocationManaged = 2

	locationNone       = 0
	locationDevice     = 1
	locationHost       = 2
	locationHostNode   = 3 // the part of the host's memory with a number, of which there is one
	locationHostNearby = 4
)

// devicePlace is that of pools of device memory.
var devicePlace = poolPlace{allocation: allocationPinned, location: locationDevice}

// known says whether memory can be at a place.
func (p poolPlace) known() bool {
	if p.allocation != allocationPinned && p.allocation != allocationManaged {
		return false
	}
	switch p.location {
	case locationDevice, locationHostNode:
		return p.id == 0
	case locationHost, locationHostNearby:
		return true
	case locationNone:
		return p.allocation == allocationManaged
	}
	return false
}

// kind is that of allocations at a place.
func (p poolPlace) kind() memoryKind {
	switch {
	case p.allocation == allocationManaged:
		return managedMemory
	case p.location == locationDevice:
		return plainMemory
	}
	return hostMemory
}

var poolFunctions = []function{
	{"cuDeviceGetDefaultMemPool", "pi", initialized, ofDevice(1, defaultPool)},
	{"cuDeviceGetMemPool", "pi", initialized, ofDevice(1, currentPool)},
	{"cuDeviceSetMemPool", "in", initialized, ofDevice(0, setPool)},
	{"cuMemGetDefaultMemPool", "ppi", initialized, func(c *call) Result { return c.poolOfPlace((*process).defaultPoolOf) }},
	{"cuMemGetMemPool", "ppi", initialized, func(c *call) Result { return c.poolOfPlace((*process).currentPool) }},
	{"cuMemSetMemPool", "pin", initialized, setPoolOfPlace},
	{"cuMemPoolCreate", "pp", currentContext, poolCreate},
	{"cuMemPoolDestroy", "n", currentContext, poolDestroy},
	{"cuMemPoolGetAttribute", "nip", currentContext, ofPool(0, poolAttribute)},
	{"cuMemPoolSetAttribute", "nip", currentContext, ofPool(0, poolSetAttribute)},
	{"cuMemPoolTrimTo", "nn", currentContext, ofPool(0, func(*call, *pool) Result { return Success })},
	{"cuMemPoolGetAccess", "pnp", currentContext, ofPool(1, func(c *call, _ *pool) Result { return c.out32(c.a[0], 3) })},
	{"cuMemPoolSetAccess", "non", currentContext, ofPool(0, func(*call, *pool) Result { return Success })},
	{"cuMemAllocAsync", "pnn", currentContext, func(c *call) Result { return c.allocateFrom(c.currentPool(devicePlace), c.a[2]) }},
	{"cuMemAllocFromPoolAsync", "pnnn", currentContext, ofPool(2, func(c *call, p *pool) Result { return c.allocateFrom(p, c.a[3]) })},
	{"cuMemFreeAsync", "nn", currentContext, freeAsync},
}

// defaultPoolOf returns the pool that there is for a place from the beginning.
func (p *process) defaultPoolOf(place poolPlace) *pool {
	for _, handle := range sortedHandles(p.handles) {
		if q, ok := p.handles[handle].(*pool); ok && q.isDefault && q.place == place {
			return q
		}
	}
	q := p.newPool(place)
	q.isDefault = true
	return q
}

func (p *process) newPool(place poolPlace) *pool {
	q := &pool{place: place, reuse: [4]uint32{1: 1, 2: 1, 3: 1}}
	q.handle = p.add(q)
	return q
}

// currentPool is the pool that allocations without one are made from.
func (p *process) currentPool(place poolPlace) *pool {
	if q := p.pools[place]; q != nil {
		return q
	}
	return p.defaultPoolOf(place)
}

func defaultPool(c *call) Result { return c.out64(c.a[0], c.defaultPoolOf(devicePlace).handle) }
func currentPool(c *call) Result { return c.out64(c.a[0], c.currentPool(devicePlace).handle) }

func setPool(c *call) Result { return c.setPool(devicePlace, c.a[1]) }

// setPool makes a pool of a place the one that allocations there are made from.
func (c *call) setPool(place poolPlace, handle uint64) Result {
	p, ok := find[*pool](c.process, handle)
	if !ok || p.place != place {
		return ErrInvalidValue
	}
	if c.pools == nil {
		c.process.pools = make(map[poolPlace]*pool)
	}
	c.pools[place] = p
	return Success
}

// placeAt reads a CUmemLocation of an allocation type.
func (c *call) placeAt(addr, allocation uint64) (poolPlace, Result) {
	w, r := c.words(addr, 1)
	if r != Success {
		return poolPlace{}, r
	}
	p := poolPlace{uint32(allocation), uint32(w[0]), uint32(w[0] >> 32)}
	if !p.known() {
		return p, ErrInvalidValue
	}
	if p.location == locationNone || p.location == locationHost || p.location == locationHostNearby {
		p.id = 0
	}
	return p, Success
}

// poolOfPlace returns a pool of a place: pool, CUmemLocation, allocation type.
func (c *call) poolOfPlace(of func(*process, poolPlace) *pool) Result {
	p, r := c.placeAt(c.a[1], c.a[2])
	if r != Success {
		return r
	}
	return c.out64(c.a[0], of(c.process, p).handle)
}

// setPoolOfPlace: CUmemLocation, allocation type, pool.
func setPoolOfPlace(c *call) Result {
	p, r := c.placeAt(c.a[0], c.a[1])
	if r != Success {
		return r
	}
	return c.setPool(p, c.a[2])
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

// poolCreate makes a pool (CUmemPoolProps: type, handle types, location, security, the most bytes). Pools that other processes can open are not
// supported.
func poolCreate(c *call) Result {
	var b [32]byte
	if r := c.load(c.a[1], b[:]); r != Success {
		return r
	}
	place, r := c.placeAt(c.a[1]+8, uint64(le.Uint32(b[0:])))
	if r != Success {
		return r
	}
	if le.Uint32(b[4:]) != 0 {
		return c.server.lack(c.function.name + " with handles for other processes")
	}
	p := c.newPool(place)
	p.most = le.Uint64(b[24:])
	return c.out64(c.a[0], p.handle)
}

func poolDestroy(c *call) Result {
	p, ok := find[*pool](c.process, c.a[0])
	if !ok || p.isDefault {
		return ErrInvalidValue
	}
	if c.pools[p.place] == p {
		delete(c.pools, p.place)
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
	poolAllocation   = 9
	poolHandleTypes  = 10
	poolLocationID   = 11
	poolLocation     = 12
	poolMost         = 13
	poolDecompress   = 14
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
	case poolAllocation:
		return c.out32(c.a[2], p.place.allocation)
	case poolHandleTypes, poolDecompress:
		return c.out32(c.a[2], 0)
	case poolLocationID:
		return c.out32(c.a[2], p.place.id)
	case poolLocation:
		return c.out32(c.a[2], p.place.location)
	case poolMost:
		return c.out64(c.a[2], p.most)
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

// allocateFrom allocates on a stream. Nothing is allocated of 0 bytes.
func (c *call) allocateFrom(p *pool, stream uint64) Result {
	s, r := c.streamOf(stream)
	if r != Success {
		return r
	}
	if c.a[1] == 0 {
		return c.out64(c.a[0], 0)
	}
	if s.capture != nil {
		return c.captureAlloc(s, p.place, c.a[0], c.a[1])
	}
	kind := p.place.kind()
	if kind != plainMemory {
		if r := c.mapDevice(); r != Success {
			return r
		}
	}
	if p.most > 0 && c.a[1] > p.most-min(p.used, p.most) {
		return ErrOutOfMemory
	}
	a, r := c.alloc(c.a[1], kind, c.context)
	if r != Success {
		return r
	}
	a.pool = p
	p.used += a.size
	p.high = max(p.high, p.used)
	return c.out64(c.a[0], a.addr)
}

// freeAsync frees on a stream; a captured one frees what graphs allocate.
func freeAsync(c *call) Result {
	s, r := c.streamOf(c.a[1])
	if r != Success || c.a[0] == 0 {
		return r
	}
	if s.capture != nil {
		w, r := freeOf(c, c.a[0])
		if r != Success {
			return r
		}
		return s.capture.record(c, s, w)
	}
	a := c.device.find(c.a[0])
	if a == nil || a.addr != c.a[0] || a.dormant || a.kind != plainMemory && a.graph == nil && a.pool == nil {
		return ErrInvalidValue
	}
	return c.release(a)
}
