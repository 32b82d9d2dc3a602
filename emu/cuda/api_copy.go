package cuda

import "math"

var copyFunctions = []function{
	{"cuMemcpy", "nnn", currentContext, func(c *call) Result { return c.copyBytes(c.a[0], c.a[1], c.a[2]) }},
	{"cuMemcpyAsync", "nnnn", currentContext, onStream(3, func(c *call) Result { return c.copyBytes(c.a[0], c.a[1], c.a[2]) })},
	{"cuMemcpyHtoD_v2", "nnn", currentContext, copyToDevice},
	{"cuMemcpyHtoDAsync_v2", "nnnn", currentContext, onStream(3, copyToDevice)},
	{"cuMemcpyDtoH_v2", "nnn", currentContext, copyToHost},
	{"cuMemcpyDtoHAsync_v2", "nnnn", currentContext, onStream(3, copyToHost)},
	{"cuMemcpyDtoD_v2", "nnn", currentContext, copyOnDevice},
	{"cuMemcpyDtoDAsync_v2", "nnnn", currentContext, onStream(3, copyOnDevice)},
	{"cuMemcpyPeer", "nnnnn", currentContext, copyPeer},
	{"cuMemcpyPeerAsync", "nnnnnn", currentContext, onStream(5, copyPeer)},
	{"cuMemcpy2D_v2", "p", currentContext, copy2D},
	{"cuMemcpy2DUnaligned_v2", "p", currentContext, copy2D},
	{"cuMemcpy2DAsync_v2", "pn", currentContext, onStream(1, copy2D)},
	{"cuMemcpy3D_v2", "p", currentContext, copy3D},
	{"cuMemcpy3DAsync_v2", "pn", currentContext, onStream(1, copy3D)},
}

func copyToDevice(c *call) Result {
	if c.a[2] == 0 {
		return Success
	}
	if _, ok := c.device.reachable(c.a[0], c.a[2]); !ok {
		return ErrInvalidValue
	}
	return c.copyBytes(c.a[0], c.a[1], c.a[2])
}

func copyToHost(c *call) Result {
	if c.a[2] == 0 {
		return Success
	}
	if _, ok := c.device.reachable(c.a[1], c.a[2]); !ok {
		return ErrInvalidValue
	}
	return c.copyBytes(c.a[0], c.a[1], c.a[2])
}

func copyOnDevice(c *call) Result {
	if c.a[2] == 0 {
		return Success
	}
	to, ok := c.device.reachable(c.a[0], c.a[2])
	from, ok2 := c.device.reachable(c.a[1], c.a[2])
	if !ok || !ok2 {
		return ErrInvalidValue
	}
	copy(to, from)
	return Success
}

// copyPeer copies between contexts, whose addresses are unified.
func copyPeer(c *call) Result {
	for _, handle := range []uint64{c.a[1], c.a[3]} {
		if _, r := c.contextOf(handle); r != Success {
			return r
		}
	}
	c.a[1], c.a[2] = c.a[2], c.a[4]
	return copyOnDevice(c)
}

// reachable is bytes for memory that may not be there at all.
func (d *deviceMemory) reachable(addr, size uint64) ([]byte, bool) {
	if d == nil {
		return nil, false
	}
	return d.bytes(addr, size)
}

// copyBytes copies between any two places: an address says itself whether it is of the device.
func (c *call) copyBytes(to, from, size uint64) Result {
	if size == 0 {
		return Success
	}
	target, onDevice := c.device.reachable(to, size)
	source, ofDevice := c.device.reachable(from, size)
	switch {
	case onDevice && ofDevice:
		copy(target, source)
		return Success
	case onDevice:
		return c.load(from, target)
	case ofDevice:
		return c.store(to, source)
	}
	if c.inDevice(to) || c.inDevice(from) || size > math.MaxInt32 {
		return ErrInvalidValue
	}
	between := make([]byte, size)
	if r := c.load(from, between); r != Success {
		return r
	}
	return c.store(to, between)
}

// inDevice says whether an address is one that device memory may have.
func (c *call) inDevice(addr uint64) bool {
	return c.device != nil && addr-deviceBase < uint64(len(c.device.shared.Data))
}

// A rectangle is one side of a copy in two or three dimensions.
type rectangle struct {
	base          uint64
	x, y, z       uint64
	pitch, height uint64
}

// row returns the address of a row.
func (r *rectangle) row(y, z uint64) uint64 {
	return r.base + ((z+r.z)*r.height+y+r.y)*r.pitch + r.x
}

// Memory types (CUmemorytype).
const (
	memoryHost    = 1
	memoryDevice  = 2
	memoryUnified = 4
)

// side makes a rectangle of the words of CUDA_MEMCPY2D or CUDA_MEMCPY3D that describe it.
func side(kind, host, device uint64) (base uint64, r Result) {
	switch uint32(kind) {
	case memoryHost:
		return host, Success
	case memoryDevice, memoryUnified:
		return device, Success
	}
	return 0, ErrNotSupported // an array
}

// words reads a structure of 64-bit words.
func (c *call) words(addr uint64, n int) ([]uint64, Result) {
	b := make([]byte, 8*n)
	if r := c.load(addr, b); r != Success {
		return nil, r
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = le.Uint64(b[8*i:])
	}
	return list, Success
}

// copy2D copies as CUDA_MEMCPY2D says: x, y, type, host, device, array and pitch of the source, the same of the destination, width, height.
func copy2D(c *call) Result {
	w, r := c.words(c.a[0], 16)
	if r != Success {
		return r
	}
	from, to := rectangle{x: w[0], y: w[1], pitch: w[6], height: 1}, rectangle{x: w[7], y: w[8], pitch: w[13], height: 1}
	if from.base, r = side(w[2], w[3], w[4]); r == Success {
		to.base, r = side(w[9], w[10], w[11])
	}
	if r == ErrNotSupported {
		return c.server.lack(c.function.name + " with arrays")
	}
	return c.copyBox(&to, &from, [3]uint64{w[14], w[15], 1})
}

// copy3D copies as CUDA_MEMCPY3D says: x, y, z, level, type, host, device, array, reserved, pitch and height of the source, the same of the
// destination, width, height, depth.
func copy3D(c *call) Result {
	w, r := c.words(c.a[0], 25)
	if r != Success {
		return r
	}
	from := rectangle{x: w[0], y: w[1], z: w[2], pitch: w[9], height: w[10]}
	to := rectangle{x: w[11], y: w[12], z: w[13], pitch: w[20], height: w[21]}
	if from.base, r = side(w[4], w[5], w[6]); r == Success {
		to.base, r = side(w[15], w[16], w[17])
	}
	if r == ErrNotSupported {
		return c.server.lack(c.function.name + " with arrays")
	}
	return c.copyBox(&to, &from, [3]uint64{w[22], w[23], w[24]})
}

// copyBox copies row by row. A pitch of 0 is that of rows without space between them.
func (c *call) copyBox(to, from *rectangle, size [3]uint64) Result {
	const most = 1 << 40
	if size[0] > most || size[1] > most || size[2] > most {
		return ErrInvalidValue
	}
	for _, r := range []*rectangle{to, from} {
		if r.pitch == 0 {
			r.pitch = size[0]
		}
		if r.height == 0 {
			r.height = size[1]
		}
		if r.x > r.pitch || size[0] > r.pitch-r.x && (size[1] > 1 || size[2] > 1) {
			return ErrInvalidValue
		}
	}
	if size[0] == 0 {
		return Success
	}
	for z := range size[2] {
		for y := range size[1] {
			if r := c.copyBytes(to.row(y, z), from.row(y, z), size[0]); r != Success {
				return r
			}
		}
	}
	return Success
}
