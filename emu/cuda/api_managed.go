package cuda

// What a program says of managed memory, where it is best and who touches it, makes no difference: it is where it is. It is kept, for a whole allocation, for
// whoever asks.

// An advice is what a program has said of managed memory.
type advice struct {
	readMostly bool
	preferred  location
	prefetched location
	accessed   []location
}

// A location is a CUmemLocation. The zero value is none.
type location struct{ kind, id uint32 }

// Numbers of devices in old functions.
const (
	deviceHost    = 0xffffffff // CU_DEVICE_CPU
	deviceInvalid = 0xfffffffe // CU_DEVICE_INVALID
)

// locationOf is the location that old functions name by the number of a device.
func locationOf(device uint64) location {
	if uint32(device) == deviceHost {
		return location{kind: locationHost}
	}
	return location{locationDevice, uint32(device)}
}

// unpacked is a location that is passed by value.
func unpacked(v uint64) location { return location{uint32(v), uint32(v >> 32)} }

// device is the number by which old functions name a location.
func (l location) device() uint32 {
	switch l.kind {
	case locationDevice:
		return l.id
	case locationHost:
		return deviceHost
	}
	return deviceInvalid
}

// valid says whether memory can be at a location.
func (l location) valid() bool {
	return l.kind != locationNone && poolPlace{allocation: allocationManaged, location: l.kind, id: l.id}.known()
}

var managedFunctions = []function{
	{"cuMemAdvise", "nnii", currentContext, func(c *call) Result { return c.advise(locationOf(c.a[3])) }},
	{"cuMemAdvise_v2", "nnin", currentContext, func(c *call) Result { return c.advise(unpacked(c.a[3])) }},
	{"cuMemPrefetchAsync", "nnin", currentContext, onStream(3, func(c *call) Result { return c.prefetch(c.a[0], c.a[1], locationOf(c.a[2])) })},
	{"cuMemPrefetchAsync_v2", "nnnin", currentContext, onStream(4, func(c *call) Result { return c.prefetch(c.a[0], c.a[1], unpacked(c.a[2])) })},
	{"cuMemPrefetchBatchAsync", "ppnppnnn", currentContext, onStream(7, prefetchBatch)},
	{"cuMemDiscardBatchAsync", "ppnnn", currentContext, onStream(4, discardBatch)},
	{"cuMemDiscardAndPrefetchBatchAsync", "ppnppnnn", currentContext, onStream(7, prefetchBatch)},
	{"cuMemRangeGetAttribute", "pninn", currentContext, func(c *call) Result { return c.rangeAttribute(c.a[0], c.a[1], c.a[2], c.a[3], c.a[4]) }},
	{"cuMemRangeGetAttributes", "pppnnn", currentContext, rangeAttributes},
}

// managedAt finds the managed memory that a range lies in.
func (c *call) managedAt(addr, size uint64) (*allocation, Result) {
	a := c.device.find(addr)
	if a == nil || a.kind != managedMemory || size == 0 || size > a.end()-addr {
		return nil, ErrInvalidValue
	}
	return a, Success
}

// Pieces of advice (CUmem_advise). Each but the first is taken back by the one behind it.
const (
	adviseReadMostly = 1
	adviseNoMostly   = 2
	advisePreferred  = 3
	adviseNoPlace    = 4
	adviseAccessed   = 5
	adviseNoAccess   = 6
)

// advise: address, size, advice; the location is what the last argument says.
func (c *call) advise(at location) Result {
	a, r := c.managedAt(c.a[0], c.a[1])
	if r != Success {
		return r
	}
	s := &a.advice
	switch c.a[2] {
	case adviseReadMostly, adviseNoMostly:
		s.readMostly = c.a[2] == adviseReadMostly
		return Success
	case adviseNoPlace:
		s.preferred = location{}
		return Success
	}
	if !at.valid() {
		return ErrInvalidDevice
	}
	switch c.a[2] {
	case advisePreferred:
		s.preferred = at
	case adviseAccessed, adviseNoAccess:
		if at.kind != locationDevice && at.kind != locationHost {
			return ErrInvalidValue
		}
		var list []location
		for _, l := range s.accessed {
			if l != at {
				list = append(list, l)
			}
		}
		if c.a[2] == adviseAccessed {
			list = append(list, at)
		}
		s.accessed = list
	default:
		return ErrInvalidValue
	}
	return Success
}

func (c *call) prefetch(addr, size uint64, at location) Result {
	a, r := c.managedAt(addr, size)
	if r != Success {
		return r
	}
	if !at.valid() {
		return ErrInvalidDevice
	}
	a.advice.prefetched = at
	return Success
}

// maxRanges bounds the ranges of one call.
const maxRanges = 1 << 16

// ranges reads addresses and sizes.
func (c *call) rangesAt() (addrs, sizes []uint64, r Result) {
	if c.a[2] == 0 || c.a[2] > maxRanges {
		return nil, nil, ErrInvalidValue
	}
	if addrs, r = c.words(c.a[0], int(c.a[2])); r == Success {
		sizes, r = c.words(c.a[1], int(c.a[2]))
	}
	return addrs, sizes, r
}

// prefetchBatch: addresses, sizes, count, locations, the range at which each location begins, number of locations, flags, stream.
func prefetchBatch(c *call) Result {
	addrs, sizes, r := c.rangesAt()
	if r != Success {
		return r
	}
	if c.a[5] == 0 || c.a[5] > c.a[2] || c.a[6] != 0 {
		return ErrInvalidValue
	}
	places, r := c.words(c.a[3], int(c.a[5]))
	if r != Success {
		return r
	}
	starts, r := c.words(c.a[4], int(c.a[5]))
	if r != Success {
		return r
	}
	if starts[0] != 0 {
		return ErrInvalidValue
	}
	place := 0
	for i := range addrs {
		for place+1 < len(starts) && starts[place+1] <= uint64(i) {
			place++
		}
		if r := c.prefetch(addrs[i], sizes[i], unpacked(places[place])); r != Success {
			return r
		}
	}
	return Success
}

// discardBatch: addresses, sizes, count, flags, stream. What is discarded may still be there.
func discardBatch(c *call) Result {
	addrs, sizes, r := c.rangesAt()
	if r != Success {
		return r
	}
	if c.a[3] != 0 {
		return ErrInvalidValue
	}
	for i := range addrs {
		if _, r := c.managedAt(addrs[i], sizes[i]); r != Success {
			return r
		}
	}
	return Success
}

// Attributes of ranges (CUmem_range_attribute).
const (
	rangeReadMostly    = 1
	rangePreferred     = 2
	rangeAccessed      = 3
	rangePrefetched    = 4
	rangePreferredKind = 5
	rangePreferredID   = 6
	rangePrefetchKind  = 7
	rangePrefetchID    = 8
)

// rangeAttribute returns an attribute in so many bytes: one number, or for the devices that touch memory as many as there is room for.
func (c *call) rangeAttribute(to, size, attribute, addr, count uint64) Result {
	const most = 1 << 12
	a, r := c.managedAt(addr, count)
	if r != Success {
		return r
	}
	s := &a.advice
	var v uint32
	switch attribute {
	case rangeReadMostly:
		v = uint32(btoi(s.readMostly))
	case rangePreferred:
		v = s.preferred.device()
	case rangePrefetched:
		v = s.prefetched.device()
	case rangePreferredKind:
		v = s.preferred.kind
	case rangePreferredID:
		v = s.preferred.id
	case rangePrefetchKind:
		v = s.prefetched.kind
	case rangePrefetchID:
		v = s.prefetched.id
	case rangeAccessed:
		if size == 0 || size%4 != 0 || size > most {
			return ErrInvalidValue
		}
		var b []byte
		for i := range int(size / 4) {
			l := location{}
			if i < len(s.accessed) {
				l = s.accessed[i]
			}
			b = le.AppendUint32(b, l.device())
		}
		return c.out(to, b)
	default:
		return ErrInvalidValue
	}
	if size != 4 {
		return ErrInvalidValue
	}
	return c.out32(to, v)
}

// rangeAttributes: addresses and sizes of the answers, attributes, their number, address, size.
func rangeAttributes(c *call) Result {
	if c.a[3] == 0 || c.a[3] > maxRanges {
		return ErrInvalidValue
	}
	n := int(c.a[3])
	to, r := c.words(c.a[0], n)
	if r != Success {
		return r
	}
	sizes, r := c.words(c.a[1], n)
	if r != Success {
		return r
	}
	numbers := make([]byte, 4*n)
	if r := c.load(c.a[2], numbers); r != Success {
		return r
	}
	for i := range n {
		if r := c.rangeAttribute(to[i], sizes[i], uint64(le.Uint32(numbers[4*i:])), c.a[4], c.a[5]); r != Success {
			return r
		}
	}
	return Success
}
