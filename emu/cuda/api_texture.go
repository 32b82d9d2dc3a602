package cuda

import (
	"fmt"
	"math"

	"gpa/emu"
)

var textureFunctions = []function{
	{"cuTexObjectCreate", "pppo", currentContext, func(c *call) Result { return c.createTexture(driverObjects) }},
	{"cuTexObjectDestroy", "n", currentContext, ofObject(0, false, destroyObject)},
	{"cuTexObjectGetResourceDesc", "pn", currentContext, ofObject(1, false, describeResource(driverObjects))},
	{"cuTexObjectGetTextureDesc", "pn", currentContext, ofObject(1, false, describeTexture(driverObjects))},
	{"cuTexObjectGetResourceViewDesc", "pn", currentContext, ofObject(1, false, describeView)},
	{"cuSurfObjectCreate", "pp", currentContext, func(c *call) Result { return c.createSurface(driverObjects) }},
	{"cuSurfObjectDestroy", "n", currentContext, ofObject(0, true, destroyObject)},
	{"cuSurfObjectGetResourceDesc", "pn", currentContext, ofObject(1, true, describeResource(driverObjects))},
}

// A textureObject is a CUtexObject or a CUsurfObject. Its handle is what kernels have in registers, a number of the memory and not of the process.
type textureObject struct {
	handle    uint64
	context   *driverContext
	surface   bool
	form      *objectForm
	described [2][]byte // its resource and how it is read, as the program has described them
}

func (o *textureObject) owner() *driverContext { return o.context }
func (o *textureObject) discard(p *process)    { p.memory.DestroyObject(o.handle) }

// objectHandles is added to the handles of texture and surface objects where they stand among those of the process.
const objectHandles = 1 << 40

// An objectForm is how one of the two interfaces describes objects.
type objectForm struct {
	resource, texture int // bytes of the structures
	// element reads what a texel of linear memory is, and returns what comes behind.
	element func(c *call, b []byte) (format, channels uint32, rest []byte, r Result)
	sampler func(b []byte) samplerWords
}

// samplerWords are the fields of a description of how a texture is read that both interfaces have.
type samplerWords struct {
	address    [3]uint32
	filter     uint32
	anisotropy uint32
	border     [4]float32
	mipmaps    emu.MipmapSampler
	integers   bool // are not read as fractions
	normalized bool
	srgb       bool
	seamless   bool
}

// driverObjects: CUDA_RESOURCE_DESC and CUDA_TEXTURE_DESC.
var driverObjects = &objectForm{
	resource: 144, texture: 104,
	element: func(c *call, b []byte) (format, channels uint32, rest []byte, r Result) {
		return le.Uint32(b), le.Uint32(b[4:]), b[8:], Success
	},
	sampler: func(b []byte) (s samplerWords) {
		const readAsInteger, normalized, srgb, seamless = 0x1, 0x2, 0x10, 0x40
		s.fill(b, b[40:], b[24:])
		flags := le.Uint32(b[16:])
		s.anisotropy = le.Uint32(b[20:])
		s.integers, s.normalized, s.srgb, s.seamless = flags&readAsInteger != 0, flags&normalized != 0, flags&srgb != 0, flags&seamless != 0
		return s
	},
}

// fill reads the address modes, the filter, the border, and how levels of detail are chosen: a filter, a bias and bounds.
func (s *samplerWords) fill(b, border, mipmaps []byte) {
	for k := range s.address {
		s.address[k] = le.Uint32(b[4*k:])
	}
	s.filter = le.Uint32(b[12:])
	number := func(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) }
	for k := range s.border {
		s.border[k] = number(border[4*k:])
	}
	s.mipmaps = emu.MipmapSampler{Linear: le.Uint32(mipmaps) != 0, Bias: number(mipmaps[4:]), Least: number(mipmaps[8:]), Most: number(mipmaps[12:])}
}

// formatTypes are the types of channels by format (CUarray_format).
var formatTypes = map[uint32]emu.ChannelType{
	0x01: emu.ChannelU8, 0x02: emu.ChannelU16, 0x03: emu.ChannelU32, 0x08: emu.ChannelI8, 0x09: emu.ChannelI16, 0x0a: emu.ChannelI32,
	0x10: emu.ChannelF16, 0x20: emu.ChannelF32,
}

// Types of resources (CUresourcetype).
const (
	resourceArray   = 0
	resourceMipmaps = 1
	resourceLinear  = 2
	resourcePitched = 3
)

// lackOf counts a part of the function that is not supported.
func (c *call) lackOf(what string) Result { return c.server.lack(c.function.name + " " + what) }

// wrong explains why an object cannot be made.
func (c *call) wrong(err error) Result {
	c.server.problem(fmt.Errorf("%s: %w", c.function.name, err))
	return ErrInvalidValue
}

// image is what textures and surfaces see of the array.
func (a *array) image() emu.Image {
	const cube = 0x4
	i := emu.Image{Type: formatTypes[a.format], Channels: int(a.channels), Size: [3]int{int(a.width), int(a.height), int(a.depth)}, Pitch: a.rowBytes()}
	i.Slice = i.Pitch * max(1, a.height)
	if i.Cube = a.flags&cube != 0; a.layered() {
		i.Layers, i.Size[2] = i.Size[2], 0
	}
	if a.memory != nil {
		i.Address = a.memory.addr
	}
	return i
}

// A resource is what an object is made of.
type resource struct {
	kind    uint32
	image   emu.Image
	mipmaps []emu.Image
	array   *array // nil where it is none
}

// resource reads the description of a resource: its type, and behind 4 bytes an array, or an address, an element, and the bytes, or the width,
// height and pitch.
func (c *call) resource(f *objectForm, b []byte) (x resource, r Result) {
	x.kind = le.Uint32(b)
	at := le.Uint64(b[8:])
	switch x.kind {
	case resourceArray:
		a, ok := find[*array](c.process, at)
		if !ok {
			return x, ErrInvalidHandle
		}
		x.array, x.image = a, a.image()
		return x, Success
	case resourceMipmaps:
		m, ok := find[*mipmaps](c.process, at)
		if !ok {
			return x, ErrInvalidHandle
		}
		x.image, x.mipmaps = m.images()
		return x, Success
	case resourceLinear, resourcePitched:
		x.image, r = c.linearImage(f, x.kind, at, b[16:])
		return x, r
	}
	return x, ErrInvalidValue
}

// linearImage reads the description of texels in linear memory.
func (c *call) linearImage(f *objectForm, kind uint32, at uint64, b []byte) (i emu.Image, r Result) {
	format, channels, rest, r := f.element(c, b)
	if r != Success {
		return i, r
	}
	var ok bool
	if i.Type, ok = formatTypes[format]; !ok {
		return i, c.lackOf("with such a format")
	}
	if channels != 1 && channels != 2 && channels != 4 {
		return i, ErrInvalidValue
	}
	i.Address, i.Channels = at, int(channels)
	texel := uint64(i.TexelBytes())
	width, height := le.Uint64(rest)/texel, uint64(0)
	i.Pitch = width * texel
	if kind == resourcePitched {
		width, height, i.Pitch = le.Uint64(rest), le.Uint64(rest[8:]), le.Uint64(rest[16:])
		if height == 0 {
			return i, ErrInvalidValue
		}
	}
	if max(width, height) > math.MaxInt32 || i.Pitch > math.MaxInt32*texel {
		return i, ErrInvalidValue
	}
	i.Size, i.Slice = [3]int{int(width), int(height)}, i.Pitch*max(1, height)
	if _, ok := c.device.reachable(i.Address, i.Bytes()); !ok {
		return i, ErrInvalidValue
	}
	return i, Success
}

// sampler reads how a texture is read, as far as its resource goes with that (cuTexObjectCreate in CUDA's documentation of the driver).
func (c *call) sampler(w *samplerWords, x *resource) (s emu.Sampler, r Result) {
	i := &x.image
	s.Fractions = !w.integers && i.Type <= emu.ChannelI16
	if x.kind == resourceLinear { // fetched from by numbers of texels
		s.Address = [3]emu.AddressMode{emu.AddressClamp, emu.AddressClamp, emu.AddressClamp}
		return s, Success
	}
	s.Linear, s.Normalized, s.SRGB = w.filter != 0, w.normalized, w.srgb
	if x.kind == resourceMipmaps {
		s.Mipmaps = w.mipmaps
	}
	bordered := false
	for k, mode := range w.address {
		if mode > uint32(emu.AddressBorder) || w.filter > 1 {
			return s, ErrInvalidValue
		}
		s.Address[k] = emu.AddressMode(mode)
		if !w.normalized && s.Address[k] != emu.AddressBorder {
			s.Address[k] = emu.AddressClamp
		}
		bordered = bordered || s.Address[k] == emu.AddressBorder
	}
	if bordered {
		s.Border = w.border
	}
	switch {
	case w.srgb && (i.Type != emu.ChannelU8 || !s.Fractions):
		return s, c.lackOf("of sRGB of other texels than bytes as fractions")
	case w.anisotropy > 1 && s.Linear:
		return s, c.lackOf("with anisotropy")
	case w.seamless && i.Cube && s.Linear:
		return s, c.lackOf("of seamless cubes")
	}
	return s, Success
}

// createTexture: the handle, a resource, how it is read, a view of the resource or none.
func (c *call) createTexture(f *objectForm) Result {
	resource, texture := make([]byte, f.resource), make([]byte, f.texture)
	if r := c.load(c.a[1], resource); r != Success {
		return r
	}
	if r := c.load(c.a[2], texture); r != Success {
		return r
	}
	if c.a[3] != 0 {
		return c.lackOf("with a view of the resource")
	}
	x, r := c.resource(f, resource)
	if r != Success {
		return r
	}
	words := f.sampler(texture)
	s, r := c.sampler(&words, &x)
	if r != Success {
		return r
	}
	handle, err := c.memory.CreateTexture(x.image, s, x.mipmaps...)
	if err != nil {
		return c.wrong(err)
	}
	return c.addObject(&textureObject{handle: handle, form: f, described: [2][]byte{resource, texture}})
}

// createSurface: the handle, a resource, which has to be an array made for that.
func (c *call) createSurface(f *objectForm) Result {
	const surfaces = 0x2 // CUDA_ARRAY3D_SURFACE_LDST
	resource := make([]byte, f.resource)
	if r := c.load(c.a[1], resource); r != Success {
		return r
	}
	x, r := c.resource(f, resource)
	switch {
	case r != Success:
		return r
	case x.array == nil || x.array.flags&surfaces == 0:
		return ErrInvalidValue
	}
	handle, err := c.memory.CreateSurface(x.image)
	if err != nil {
		return c.wrong(err)
	}
	return c.addObject(&textureObject{handle: handle, surface: true, form: f, described: [2][]byte{resource}})
}

func (c *call) addObject(o *textureObject) Result {
	o.context = c.context
	c.handles[objectHandles|o.handle] = o
	return c.out64(c.a[0], o.handle)
}

// ofObject finds the texture or surface object that an argument names.
func ofObject(arg int, surface bool, run func(*call, *textureObject) Result) func(*call) Result {
	return func(c *call) Result {
		if c.a[arg] >= objectHandles {
			return ErrInvalidValue
		}
		o, ok := find[*textureObject](c.process, objectHandles|c.a[arg])
		if !ok || o.surface != surface {
			return ErrInvalidValue
		}
		return run(c, o)
	}
}

func destroyObject(c *call, o *textureObject) Result {
	o.discard(c.process)
	delete(c.handles, objectHandles|o.handle)
	return Success
}

// describe returns a structure of an object, in the form in which the program has given it.
func describe(part int, f *objectForm) func(*call, *textureObject) Result {
	return func(c *call, o *textureObject) Result {
		if o.form != f {
			return c.lackOf("of an object that the other interface has made")
		}
		return c.out(c.a[0], o.described[part])
	}
}

func describeResource(f *objectForm) func(*call, *textureObject) Result { return describe(0, f) }
func describeTexture(f *objectForm) func(*call, *textureObject) Result  { return describe(1, f) }

// describeView: no object has a view.
func describeView(*call, *textureObject) Result { return ErrInvalidValue }
