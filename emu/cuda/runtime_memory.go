package cuda

import "math"

var memoryRuntimeFunctions = []function{
	{"cudaMalloc", "pn", runtimeContext, runtimeMalloc},
	{"cudaFree", "n", runtimeContext, memoryFree},
	{"cudaFreeHost", "n", runtimeContext, func(c *call) Result {
		if c.a[0] == 0 {
			return Success
		}
		return memoryFreeHost(c)
	}},
	{"cudaMallocPitch", "ppnn", runtimeContext, func(c *call) Result { c.a[4] = 4; return memoryAllocPitch(c) }},
	{"cudaMalloc3D", "ps..", runtimeContext, malloc3D},
	{"cudaMemset3D", "s...is..", runtimeContext, func(c *call) Result { return c.set3D(inOrder) }},
	{"cudaMemset3DAsync", "s...is..n", runtimeContext, func(c *call) Result { return c.set3D(8) }},
	{"cudaMallocArray", "ppnni", runtimeContext, func(c *call) Result { return c.mallocArray([3]uint64{c.a[2], c.a[3], 0}, uint32(c.a[4])) }},
	{"cudaMalloc3DArray", "pps..i", runtimeContext, func(c *call) Result { return c.mallocArray([3]uint64(c.a[2:5]), uint32(c.a[5])) }},
	{"cudaCreateChannelDesc", "riiiii", runtimeCall, createChannels},
	{"cudaPointerGetAttributes", "pn", runtimeContext, pointerAttributesOf},
	{"cudaGetSymbolAddress", "pn", runtimeContext, func(c *call) Result { return c.symbolInfo(false) }},
	{"cudaGetSymbolSize", "pn", runtimeContext, func(c *call) Result { return c.symbolInfo(true) }},
}

// runtimeMalloc gives out no memory where none is asked for.
func runtimeMalloc(c *call) Result {
	if c.a[1] == 0 {
		return c.out64(c.a[0], 0)
	}
	return memoryAlloc(c)
}

// malloc3D allocates rows for a cudaExtent, and returns a cudaPitchedPtr.
func malloc3D(c *call) Result {
	width, height, depth := c.a[1], c.a[2], c.a[3]
	if width == 0 || height == 0 || depth == 0 || width > math.MaxInt32 || height > math.MaxInt32 || depth > math.MaxInt32 {
		return ErrInvalidValue
	}
	pitch := (width + pitchUnit - 1) &^ (pitchUnit - 1)
	if height*depth > math.MaxInt64/pitch {
		return ErrOutOfMemory
	}
	c.out64(c.a[0]+8, pitch)
	c.out64(c.a[0]+16, width)
	c.out64(c.a[0]+24, height)
	return c.allocate(c.a[0], pitch*height*depth, plainMemory, 0)
}

// set3D sets the bytes of an extent in what malloc3D has allocated: address, pitch, width and height of a cudaPitchedPtr, the value, a
// cudaExtent.
func (c *call) set3D(stream int) Result {
	to, pitch, height, extent := c.a[0], c.a[1], c.a[3], c.a[5:8]
	if extent[0] == 0 || extent[1] == 0 || extent[2] == 0 {
		return Success
	}
	if extent[1] > height && extent[2] > 1 {
		return ErrInvalidValue
	}
	return c.onStreamOf(stream, &setWork{to: to, pitch: pitch, value: c.a[4], size: 1, width: extent[0], height: extent[1], slices: extent[2] - 1, slice: pitch * height})
}

// Kinds of channels (cudaChannelFormatKind).
const (
	channelSigned   = 0
	channelUnsigned = 1
	channelFloat    = 2
)

// channelFormats are formats of arrays by kind and bits of a channel.
var channelFormats = map[[2]uint32]uint32{
	{channelUnsigned, 8}: 0x01, {channelUnsigned, 16}: 0x02, {channelUnsigned, 32}: 0x03,
	{channelSigned, 8}: 0x08, {channelSigned, 16}: 0x09, {channelSigned, 32}: 0x0a, {channelFloat, 16}: 0x10, {channelFloat, 32}: 0x20,
}

// mallocArray makes an array of elements that a cudaChannelFormatDesc describes.
func (c *call) mallocArray(size [3]uint64, flags uint32) Result {
	a, r := c.channelArray(size, flags)
	if r != Success {
		return r
	}
	return c.makeArray(a)
}

// channelArray is an array of elements that a cudaChannelFormatDesc describes.
func (c *call) channelArray(size [3]uint64, flags uint32) (a *array, r Result) {
	var b [20]byte
	if r := c.load(c.a[1], b[:]); r != Success {
		return nil, r
	}
	a = &array{context: c.context, width: size[0], height: size[1], depth: size[2], flags: flags}
	a.format, a.channels, r = c.channels(b[:])
	return a, r
}

// channels reads a cudaChannelFormatDesc: bits of four channels, and their kind.
func (c *call) channels(b []byte) (format, channels uint32, r Result) {
	bits := le.Uint32(b)
	for i := range 4 {
		switch n := le.Uint32(b[4*i:]); {
		case n == 0:
		case n != bits:
			return 0, 0, c.lackOf("with such channels")
		default:
			channels++
		}
	}
	format, ok := channelFormats[[2]uint32{le.Uint32(b[16:]), bits}]
	if !ok {
		return 0, 0, c.lackOf("with such channels")
	}
	return format, channels, Success
}

// createChannels returns a cudaChannelFormatDesc, which is five numbers, at the address that comes before its arguments.
func createChannels(c *call) Result {
	var b []byte
	for _, v := range c.a[1:6] {
		b = le.AppendUint32(b, uint32(v))
	}
	c.out(c.a[0], b)
	return c.give(c.a[0])
}

// pointerAttributesOf returns a cudaPointerAttributes: type of memory, device, address on the device, in the program.
func pointerAttributesOf(c *call) Result {
	const unregistered, host, onDevice, managed = 0, 1, 2, 3
	size := 24
	if c.library == runtime13Library {
		size = 88
	}
	b := make([]byte, size)
	a, at := c.registeredAt(c.a[1])
	if a == nil {
		a, at = c.device.find(c.a[1]), c.a[1]
	}
	kind := unregistered
	switch {
	case a == nil:
		le.PutUint64(b[16:], c.a[1])
	case a.kind == hostMemory:
		kind = host
	case a.kind == managedMemory:
		kind = managed
	default:
		kind = onDevice
	}
	le.PutUint32(b, uint32(kind))
	if kind == unregistered {
		le.PutUint32(b[4:], math.MaxUint32) // no device
	} else {
		le.PutUint64(b[8:], at)
		if kind != onDevice {
			le.PutUint64(b[16:], c.a[1])
		}
	}
	return c.out(c.a[0], b)
}

func (c *call) symbolInfo(size bool) Result {
	addr, n, r := c.variableAt(c.a[1])
	switch {
	case r != Success:
		return r
	case size:
		return c.out64(c.a[0], n)
	}
	return c.out64(c.a[0], addr)
}
