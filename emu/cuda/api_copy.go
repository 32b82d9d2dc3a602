package cuda

import "math"

var copyFunctions = []function{
	{"cuMemcpy", "nnn", currentContext, copyLinear(anywhere, inOrder)},
	{"cuMemcpyAsync", "nnnn", currentContext, copyLinear(anywhere, 3)},
	{"cuMemcpyHtoD_v2", "nnn", currentContext, copyLinear(toDevice, inOrder)},
	{"cuMemcpyHtoDAsync_v2", "nnnn", currentContext, copyLinear(toDevice, 3)},
	{"cuMemcpyDtoH_v2", "nnn", currentContext, copyLinear(fromDevice, inOrder)},
	{"cuMemcpyDtoHAsync_v2", "nnnn", currentContext, copyLinear(fromDevice, 3)},
	{"cuMemcpyDtoD_v2", "nnn", currentContext, copyLinear(toDevice|fromDevice, inOrder)},
	{"cuMemcpyDtoDAsync_v2", "nnnn", currentContext, copyLinear(toDevice|fromDevice, 3)},
	{"cuMemcpyPeer", "nnnnn", currentContext, copyPeer(inOrder)},
	{"cuMemcpyPeerAsync", "nnnnnn", currentContext, copyPeer(5)},
	{"cuMemcpy2D_v2", "p", currentContext, copy2D(inOrder)},
	{"cuMemcpy2DUnaligned_v2", "p", currentContext, copy2D(inOrder)},
	{"cuMemcpy2DAsync_v2", "pn", currentContext, copy2D(1)},
	{"cuMemcpy3D_v2", "p", currentContext, copy3D(inOrder)},
	{"cuMemcpy3DAsync_v2", "pn", currentContext, copy3D(1)},
}

// A copySide says which sides of a copy have to be of the device.
type copySide int

const (
	anywhere   copySide = 0
	toDevice   copySide = 1
	fromDevice copySide = 2
)

// inOrder stands for the argument that names the stream where a function has none: it works in the order of the null stream.
const inOrder = -1

// onStreamOf submits work to the stream that an argument names.
func (c *call) onStreamOf(arg int, w work) Result {
	if arg == inOrder {
		return c.submit(nullStream, w)
	}
	return c.submit(c.a[arg], w)
}

// A copyWork copies rows of bytes: size is bytes of a row, rows, and layers of rows.
type copyWork struct {
	to, from rectangle
	size     [3]uint64
}

func (*copyWork) kind() nodeKind { return copyNode }

func (w *copyWork) run(c *call) Result {
	to, from := w.to, w.from
	return c.copyBox(&to, &from, w.size)
}

// linear copies bytes that lie in one piece.
func linear(to, from, size uint64) *copyWork {
	return &copyWork{rectangle{base: to, pitch: size, height: 1, kind: memoryUnified}, rectangle{base: from, pitch: size, height: 1, kind: memoryUnified}, [3]uint64{size, 1, 1}}
}

// copyLinear copies: to, from, size.
func copyLinear(sides copySide, stream int) func(*call) Result {
	return func(c *call) Result { return c.copyLinear(sides, stream, c.a[0], c.a[1], c.a[2]) }
}

func (c *call) copyLinear(sides copySide, stream int, to, from, size uint64) Result {
	onDevice, ofDevice := c.device.taken(to, size), c.device.taken(from, size)
	if size > 0 && (sides&toDevice != 0 && !onDevice || sides&fromDevice != 0 && !ofDevice) {
		return ErrInvalidValue
	}
	return c.onStreamOf(stream, linear(to, from, size))
}

// copyPeer copies between contexts, whose addresses are unified: to, its context, from, its context, size.
func copyPeer(stream int) func(*call) Result {
	return func(c *call) Result {
		for _, handle := range []uint64{c.a[1], c.a[3]} {
			if _, r := c.contextOf(handle); r != Success {
				return r
			}
		}
		return c.copyLinear(toDevice|fromDevice, stream, c.a[0], c.a[2], c.a[4])
	}
}

// reachable is bytes for memory that may not be there at all.
func (d *deviceMemory) reachable(addr, size uint64) ([]byte, bool) {
	if d == nil {
		return nil, false
	}
	return d.bytes(addr, size)
}

// taken says whether memory is the device's, also where it is a graph's that is not allocated before the graph is launched.
func (d *deviceMemory) taken(addr, size uint64) bool {
	if a := d.find(addr); a != nil && a.dormant {
		return a.end()-addr >= size
	}
	_, ok := d.reachable(addr, size)
	return ok
}

// copyBytes copies between any two places: an address says itself whether it is of the device.
func (c *call) copyBytes(to, from, size uint64) Result {
	if size == 0 {
		return Success
	}
	target, onDevice := c.device.reachable(to, size)
	source, ofDevice := c.device.reachable(from, size)
	for _, addr := range []uint64{to, from} {
		if a := c.device.find(addr); a != nil && a.dormant {
			return ErrInvalidValue
		}
	}
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
	kind          uint32 // as the program has named it
	array         *array // that it is of, or nil
}

// row returns the address of a row.
func (r *rectangle) row(y, z uint64) uint64 {
	return r.base + ((z+r.z)*r.height+y+r.y)*r.pitch + r.x
}

// Memory types (CUmemorytype).
const (
	memoryHost    = 1
	memoryDevice  = 2
	memoryArray   = 3
	memoryUnified = 4
)

// place finds where a rectangle lies, of the words of CUDA_MEMCPY2D or CUDA_MEMCPY3D that say so: type, host, device, array.
func (c *call) place(r *rectangle, w []uint64) Result {
	switch r.kind = uint32(w[0]); r.kind {
	case memoryHost:
		r.base = w[1]
	case memoryDevice, memoryUnified:
		r.base = w[2]
	case memoryArray:
		a, ok := find[*array](c.process, w[3])
		if !ok {
			return ErrInvalidHandle
		}
		*r = a.box(r.x, r.y, r.z)
	default:
		return ErrInvalidValue
	}
	return Success
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
func copy2D(stream int) func(*call) Result {
	return func(c *call) Result {
		w, r := c.words(c.a[0], 16)
		if r != Success {
			return r
		}
		k := &copyWork{from: rectangle{x: w[0], y: w[1], pitch: w[6], height: 1}, to: rectangle{x: w[7], y: w[8], pitch: w[13], height: 1},
			size: [3]uint64{w[14], w[15], 1}}
		if r = c.place(&k.from, w[2:6]); r == Success {
			r = c.place(&k.to, w[9:13])
		}
		if r != Success {
			return r
		}
		return c.onStreamOf(stream, k)
	}
}

// copyWords are the 64-bit words of CUDA_MEMCPY3D.
const copyWords = 25

func copy3D(stream int) func(*call) Result {
	return func(c *call) Result {
		k, r := c.copyOf(c.a[0])
		if r != Success {
			return r
		}
		return c.onStreamOf(stream, k)
	}
}

// copyOf reads a CUDA_MEMCPY3D: x, y, z, level, type, host, device, array, reserved, pitch and height of the source, the same of the
// destination, width, height, depth.
func (c *call) copyOf(addr uint64) (*copyWork, Result) {
	w, r := c.words(addr, copyWords)
	if r != Success {
		return nil, r
	}
	k := &copyWork{from: rectangle{x: w[0], y: w[1], z: w[2], pitch: w[9], height: w[10]}, to: rectangle{x: w[11], y: w[12], z: w[13], pitch: w[20], height: w[21]},
		size: [3]uint64{w[22], w[23], w[24]}}
	if r = c.place(&k.from, w[4:8]); r == Success {
		r = c.place(&k.to, w[15:19])
	}
	return k, r
}

// words is the CUDA_MEMCPY3D that describes the copy.
func (w *copyWork) words() []uint64 {
	side := func(r *rectangle) []uint64 {
		list := []uint64{r.x, r.y, r.z, 0, uint64(r.kind), 0, 0, 0, 0, r.pitch, r.height}
		switch r.kind {
		case memoryHost:
			list[5] = r.base
		case memoryArray:
			list[7], list[9], list[10] = r.array.handle, 0, 0
		default:
			list[6] = r.base
		}
		return list
	}
	return append(append(side(&w.from), side(&w.to)...), w.size[:]...)
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
		if r.array != nil && !r.array.holds(r, size) {
			return ErrInvalidValue
		}
		if r.x > r.pitch || size[0] > r.pitch-r.x && (size[1] > 1 || size[2] > 1) {
			return ErrInvalidValue
		}
	}
	if size[0] == 0 {
		return Success
	}
	if size[1] == 1 && size[2] == 1 {
		return c.copyBytes(to.row(0, 0), from.row(0, 0), size[0])
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
