package cuda

import "math"

// An array is a CUarray. It lies row by row in device memory, for textures and surfaces too.
type array struct {
	handle               uint64
	context              *driverContext
	width, height, depth uint64 // in elements; 0 for dimensions that it does not have
	format               uint32
	channels             uint32
	flags                uint32
	memory               *allocation
	mipmaps              *mipmaps // that it is a level of, nil for an array of its own
}

func (a *array) owner() *driverContext { return a.context }
func (a *array) discard(*process)      {} // its memory is the context's

var arrayFunctions = []function{
	{"cuArrayCreate_v2", "pp", currentContext, func(c *call) Result { return c.createArray(false) }},
	{"cuArray3DCreate_v2", "pp", currentContext, func(c *call) Result { return c.createArray(true) }},
	{"cuArrayGetDescriptor_v2", "pn", currentContext, ofArray(1, func(c *call, a *array) Result { return c.out(c.a[0], a.descriptor(false)) })},
	{"cuArray3DGetDescriptor_v2", "pn", currentContext, ofArray(1, func(c *call, a *array) Result { return c.out(c.a[0], a.descriptor(true)) })},
	{"cuArrayDestroy", "n", currentContext, ofArray(0, arrayDestroy)},
	{"cuMemcpyDtoA_v2", "nnnn", currentContext, copyArray(0, 2, toDevice|fromDevice, inOrder)},
	{"cuMemcpyHtoA_v2", "nnnn", currentContext, copyArray(0, 2, anywhere, inOrder)},
	{"cuMemcpyHtoAAsync_v2", "nnnnn", currentContext, copyArray(0, 2, anywhere, 4)},
	{"cuMemcpyAtoD_v2", "nnnn", currentContext, copyArray(1, 0, toDevice|fromDevice, inOrder)},
	{"cuMemcpyAtoH_v2", "nnnn", currentContext, copyArray(1, 0, anywhere, inOrder)},
	{"cuMemcpyAtoA_v2", "nnnnn", currentContext, copyArrays},
	{"cuMemcpyAtoHAsync_v2", "nnnnn", currentContext, copyArray(1, 0, anywhere, 4)},
}

// formatBytes are the sizes of channels by format (CUarray_format).
var formatBytes = map[uint32]uint64{0x01: 1, 0x02: 2, 0x03: 4, 0x08: 1, 0x09: 2, 0x0a: 4, 0x10: 2, 0x20: 4}

func (a *array) rowBytes() uint64 { return a.width * formatBytes[a.format] * uint64(a.channels) }

func (a *array) bytes() uint64 { return a.rowBytes() * max(1, a.height) * max(1, a.depth) }

// layered reports whether the depth is a number of layers, or of faces.
func (a *array) layered() bool {
	const layered, cube = 0x1, 0x4
	return a.flags&(layered|cube) != 0
}

// holds says whether a box lies in the array.
func (a *array) holds(r *rectangle, size [3]uint64) bool {
	in := func(at, n, of uint64) bool { return n <= of && at <= of-n }
	return in(r.x, size[0], a.rowBytes()) && in(r.y, size[1], max(1, a.height)) && in(r.z, size[2], max(1, a.depth))
}

// Flags of arrays (CUDA_ARRAY3D_...). Layers, cubes and surfaces lie as other arrays do; SPARSE, DEFERRED_MAPPING and so on are not supported.
const arrayAllowed = 0x1 | 0x2 | 0x4 | 0x8

// createArray makes the array that is described.
func (c *call) createArray(deep bool) Result {
	a, r := c.describedArray(deep)
	if r != Success {
		return r
	}
	return c.makeArray(a)
}

// describedArray reads CUDA_ARRAY_DESCRIPTOR (width, height, format, channels) or CUDA_ARRAY3D_DESCRIPTOR (width, height, depth, format, channels, flags).
func (c *call) describedArray(deep bool) (*array, Result) {
	var b [40]byte
	size := 24
	if deep {
		size = 40
	}
	if r := c.load(c.a[1], b[:size]); r != Success {
		return nil, r
	}
	a := &array{context: c.context, width: le.Uint64(b[0:]), height: le.Uint64(b[8:])}
	tail := b[16:]
	if deep {
		a.depth, a.flags, tail = le.Uint64(b[16:]), le.Uint32(b[32:]), b[24:]
	}
	a.format, a.channels = le.Uint32(tail), le.Uint32(tail[4:])
	return a, Success
}

// makeArray makes an array and returns its handle.
func (c *call) makeArray(a *array) Result {
	if r := c.allocArray(a); r != Success {
		return r
	}
	return c.out64(c.a[0], a.handle)
}

// allocArray gives an array memory and a handle.
func (c *call) allocArray(a *array) Result {
	switch {
	case max(a.width, a.height, a.depth) > math.MaxInt32, a.width == 0, a.format == 0:
		return ErrInvalidValue
	case formatBytes[a.format] == 0 || a.flags&^arrayAllowed != 0:
		return c.lackOf("with such a format or such flags")
	}
	if i := a.image(); i.Check() != nil {
		return ErrInvalidValue
	}
	m, r := c.alloc(a.bytes(), arrayMemory, c.context)
	if r != Success {
		return r
	}
	a.memory = m
	a.handle = c.add(a)
	return Success
}

// box is the side of a copy that lies in the array, at a byte of a row.
func (a *array) box(x, y, z uint64) rectangle {
	return rectangle{base: a.memory.addr, x: x, y: y, z: z, pitch: a.rowBytes(), height: max(1, a.height), kind: memoryArray, array: a}
}

func (a *array) descriptor(deep bool) []byte {
	b := le.AppendUint64(le.AppendUint64(nil, a.width), a.height)
	if deep {
		b = le.AppendUint64(b, a.depth)
	}
	b = le.AppendUint32(le.AppendUint32(b, a.format), a.channels)
	if deep {
		b = le.AppendUint64(b, uint64(a.flags))
	}
	return b
}

// ofArray finds the array that an argument names.
func ofArray(arg int, run func(*call, *array) Result) func(*call) Result {
	return func(c *call) Result {
		a, ok := find[*array](c.process, c.a[arg])
		if !ok {
			return ErrInvalidHandle
		}
		return run(c, a)
	}
}

func arrayDestroy(c *call, a *array) Result {
	if a.mipmaps != nil {
		return ErrInvalidValue
	}
	delete(c.handles, a.handle)
	return c.release(a.memory)
}

// copyArrays copies bytes between arrays: to, offset, from, offset, size.
func copyArrays(c *call) Result {
	to, ok1 := find[*array](c.process, c.a[0])
	from, ok2 := find[*array](c.process, c.a[2])
	if !ok1 || !ok2 {
		return ErrInvalidHandle
	}
	size := c.a[4]
	for k, a := range []*array{to, from} {
		if at := c.a[2*k+1]; a.height > 1 || at > a.bytes() || size > a.bytes()-at {
			return ErrInvalidValue
		}
	}
	return c.copyLinear(anywhere, inOrder, to.memory.addr+c.a[1], from.memory.addr+c.a[3], size)
}

// copyArray copies bytes between an array, the argument behind which is an offset in it, and an address.
func copyArray(arg, other int, sides copySide, stream int) func(*call) Result {
	return ofArray(arg, func(c *call, a *array) Result {
		at, size := c.a[arg+1], c.a[3]
		if a.height > 1 || at > a.bytes() || size > a.bytes()-at {
			return ErrInvalidValue
		}
		to, from := a.memory.addr+at, c.a[other]
		if arg != 0 {
			to, from = from, to
		}
		return c.copyLinear(sides, stream, to, from, size)
	})
}
