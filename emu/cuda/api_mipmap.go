package cuda

import (
	"math/bits"

	"gpa/emu"
)

var mipmapFunctions = []function{
	{"cuMipmappedArrayCreate", "ppi", currentContext, createMipmaps},
	{"cuMipmappedArrayDestroy", "n", currentContext, ofMipmaps(0, mipmapsDestroy)},
	{"cuMipmappedArrayGetLevel", "pni", currentContext, ofMipmaps(1, func(c *call, m *mipmaps) Result {
		if c.a[2] >= uint64(len(m.levels)) {
			return ErrInvalidValue
		}
		return c.out64(c.a[0], m.levels[c.a[2]].handle)
	})},
}

// A mipmaps is a CUmipmappedArray: an array for each level of detail.
type mipmaps struct {
	handle  uint64
	context *driverContext
	levels  []*array
}

func (m *mipmaps) owner() *driverContext { return m.context }
func (m *mipmaps) discard(*process)      {} // its arrays are the context's

// createMipmaps: the handle, a CUDA_ARRAY3D_DESCRIPTOR, the number of levels.
func createMipmaps(c *call) Result {
	a, r := c.describedArray(true)
	if r != Success {
		return r
	}
	return c.makeMipmaps(a, c.a[2])
}

// mallocMipmaps: the handle, a cudaChannelFormatDesc, a cudaExtent, the number of levels, flags.
func mallocMipmaps(c *call) Result {
	a, r := c.channelArray([3]uint64(c.a[2:5]), uint32(c.a[6]))
	if r != Success {
		return r
	}
	return c.makeMipmaps(a, c.a[5])
}

// makeMipmaps makes an array and those behind it, each half as large as the one before, down to one element or so many as are asked for.
func (c *call) makeMipmaps(first *array, levels uint64) Result {
	size := max(first.width, first.height)
	if !first.layered() {
		size = max(size, first.depth)
	}
	m := &mipmaps{context: c.context}
	next := *first
	for range min(max(levels, 1), uint64(bits.Len64(size))) {
		level := next
		level.mipmaps = m
		if r := c.allocArray(&level); r != Success {
			c.dropMipmaps(m)
			return r
		}
		m.levels = append(m.levels, &level)
		next.width, next.height = max(1, next.width/2), min(next.height, max(1, next.height/2))
		if !first.layered() {
			next.depth = min(next.depth, max(1, next.depth/2))
		}
	}
	m.handle = c.add(m)
	return c.out64(c.a[0], m.handle)
}

// dropMipmaps frees the arrays of the levels.
func (c *call) dropMipmaps(m *mipmaps) (r Result) {
	for _, a := range m.levels {
		delete(c.handles, a.handle)
		if freed := c.release(a.memory); freed != Success {
			r = freed
		}
	}
	return r
}

// ofMipmaps finds the mipmaps that an argument names.
func ofMipmaps(arg int, run func(*call, *mipmaps) Result) func(*call) Result {
	return func(c *call) Result {
		m, ok := find[*mipmaps](c.process, c.a[arg])
		if !ok {
			return ErrInvalidHandle
		}
		return run(c, m)
	}
}

func mipmapsDestroy(c *call, m *mipmaps) Result {
	delete(c.handles, m.handle)
	return c.dropMipmaps(m)
}

// images are what textures see of the levels.
func (m *mipmaps) images() (first emu.Image, more []emu.Image) {
	for _, a := range m.levels[1:] {
		more = append(more, a.image())
	}
	return m.levels[0].image(), more
}
