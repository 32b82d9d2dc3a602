package emu

import (
	"errors"
	"fmt"
	"math"
)

// An Image is texels in global memory, one row after the other, as textures and surfaces see them.
type Image struct {
	Address  uint64
	Type     ChannelType
	Channels int    // 1, 2 or 4
	Size     [3]int // width, height and depth; 0 for the dimensions that there are not
	Layers   int    // 0 for an image without layers; six for each cube
	Cube     bool
	Pitch    uint64 // bytes from a row to the next
	Slice    uint64 // bytes from a plane, or a layer, to the next
}

// ChannelType is the type of a channel of a texel.
type ChannelType uint8

// The types of channels.
const (
	ChannelU8 ChannelType = iota
	ChannelI8
	ChannelU16
	ChannelI16
	ChannelU32
	ChannelI32
	ChannelF16
	ChannelF32
	NumChannelTypes
)

// channelTypes say of each type how many bytes it has and what numbers they are.
var channelTypes = [NumChannelTypes]struct {
	bytes         int
	signed, float bool
}{{1, false, false}, {1, true, false}, {2, false, false}, {2, true, false}, {4, false, false}, {4, true, false}, {2, true, true}, {4, true, true}}

// AddressMode says what a coordinate outside a texture stands for (CUDA C++ Programming Guide, texture memory).
type AddressMode uint8

// The modes.
const (
	AddressWrap AddressMode = iota
	AddressClamp
	AddressMirror
	AddressBorder
)

// A Sampler is how fetches read a texture.
type Sampler struct {
	Address    [3]AddressMode // of each dimension
	Linear     bool           // filtering, of points otherwise
	Normalized bool           // coordinates go from 0 to 1
	Fractions  bool           // channels of 8 and 16 bits are read as numbers from 0, or -1, to 1
	SRGB       bool           // bytes of the first three channels are made linear, by the curve of sRGB
	Border     [4]float32
	Mipmaps    MipmapSampler
}

// A MipmapSampler is how fetches choose between the levels of a texture that has some.
type MipmapSampler struct {
	Linear      bool    // filtering between two levels, of the nearest otherwise
	Bias        float32 // is added to the level of detail
	Least, Most float32 // of the sum
}

// An Object is a texture object, or a surface object, which has no sampler.
type Object struct {
	Image   Image
	Mipmaps []Image
	Sampler *Sampler
}

// mostImages and mostSamplers are what the two parts of a handle can name: an image in the low 20 bits of it, as code that ptxas makes of
// txq.array_size takes it apart, and a sampler in the twelve above (Mesa, NVK's descriptors).
const (
	imageBits    = 20
	mostImages   = 1 << imageBits
	mostSamplers = 1 << 12
)

// headers are the texture and surface objects of a memory. The first image and sampler are none, so that 0 is no handle.
type headers struct {
	images   []header
	samplers []Sampler
	unused   []uint32 // elements of images
}

// A header is an image as an object has it.
type header struct {
	Image
	mipmaps          []Image // the levels behind the first
	texture, surface bool
}

// levels returns how many levels of detail there are.
func (h *header) levels() int { return 1 + len(h.mipmaps) }

// level returns one of them.
func (h *header) level(n int) *Image {
	if n == 0 {
		return &h.Image
	}
	return &h.mipmaps[n-1]
}

// halved returns the size of the level behind one of a size (CUDA driver API, cuMipmappedArrayCreate).
func halved(size [3]int) [3]int {
	for k, n := range size {
		if n > 0 {
			size[k] = max(1, n/2)
		}
	}
	return size
}

// TexelBytes returns the size of a texel.
func (i *Image) TexelBytes() int { return channelTypes[i.Type].bytes * i.Channels }

// dimensions returns how many of the coordinates x, y and z there are.
func (i *Image) dimensions() int {
	switch {
	case i.Size[2] > 0:
		return 3
	case i.Size[1] > 0:
		return 2
	}
	return 1
}

// Bytes returns the bytes from the first texel to behind the last.
func (i *Image) Bytes() uint64 {
	rows, planes := uint64(max(i.Size[1], 1)), uint64(max(i.Size[2], i.Layers, 1))
	return (planes-1)*i.Slice + (rows-1)*i.Pitch + uint64(i.Size[0]*i.TexelBytes())
}

// Check reports what is no image.
func (i *Image) Check() error {
	if i.Type >= NumChannelTypes || i.Channels != 1 && i.Channels != 2 && i.Channels != 4 {
		return fmt.Errorf("texels have 1, 2 or 4 channels of one of %d types, not %d of type %d", NumChannelTypes, i.Channels, i.Type)
	}
	texel, most := uint64(i.TexelBytes()), [3]int{131072, 65536, 16384}
	if i.dimensions() == 1 {
		most[0] = 1 << 28 // of linear memory
	}
	for k, n := range i.Size {
		if n < 0 || n > most[k] || n == 0 && (k == 0 || k == 1 && i.Size[2] > 0) {
			return fmt.Errorf("an image of %v texels", i.Size)
		}
	}
	row := uint64(i.Size[0]) * texel
	switch {
	case i.Layers < 0 || i.Layers > 2048 || i.Layers > 0 && i.Size[2] > 0:
		return fmt.Errorf("an image of %v texels with %d layers", i.Size, i.Layers)
	case i.Cube && (i.Size[0] != i.Size[1] || i.Layers == 0 || i.Layers%6 != 0):
		return errors.New("a cube has six square layers, or six for each layer of cubes")
	case i.Address%512 != 0:
		return fmt.Errorf("the address %#x is not a multiple of 512", i.Address)
	case i.Pitch%texel != 0 || i.Slice%texel != 0:
		return fmt.Errorf("%d bytes to the next row and %d to the next plane are no multiples of the %d of a texel", i.Pitch, i.Slice, texel)
	case i.Size[1] > 1 && i.Pitch < row:
		return fmt.Errorf("a row has %d bytes and the next begins after %d", row, i.Pitch)
	case max(i.Size[2], i.Layers) > 1 && i.Slice < i.Pitch*uint64(max(i.Size[1], 1)):
		return fmt.Errorf("a plane has %d bytes and the next begins after %d", i.Pitch*uint64(max(i.Size[1], 1)), i.Slice)
	}
	return nil
}

// CheckFor reports why a sampler cannot read an image.
func (s *Sampler) CheckFor(i *Image) error {
	t := channelTypes[i.Type]
	floats := t.float || s.Fractions
	switch {
	case s.Fractions && (t.float || t.bytes == 4):
		return errors.New("channels of 8 and 16 bits alone are read as fractions")
	case s.SRGB && (i.Type != ChannelU8 || !s.Fractions):
		return errors.New("sRGB is of bytes without sign that are read as fractions")
	case s.Linear && !floats:
		return errors.New("integers cannot be filtered, unless they are read as fractions")
	case !floats && s.Border != [4]float32{}:
		return errors.New("the border of integers is 0")
	case i.Cube && !s.Normalized:
		return errors.New("the coordinates of cubes are normalized")
	}
	for _, a := range s.Address[:i.dimensions()] {
		if !s.Normalized && (a == AddressWrap || a == AddressMirror) {
			return errors.New("coordinates that are not normalized neither wrap nor mirror")
		}
	}
	return nil
}

// CreateTexture makes a texture object and returns its handle. Its further levels of detail are mipmaps, each half as large as the one before.
func (m *Memory) CreateTexture(i Image, s Sampler, mipmaps ...Image) (handle uint64, err error) {
	return m.objects.texture(i, s, mipmaps...)
}

// CreateSurface makes a surface object and returns its handle.
func (m *Memory) CreateSurface(i Image) (handle uint64, err error) { return m.objects.surface(i) }

// DestroyObject makes the handle of a texture or a surface object one of nothing. It reports whether there was an object.
func (m *Memory) DestroyObject(handle uint64) bool {
	n := handle % mostImages
	if m.objects.image(uint32(n)) == nil {
		return false
	}
	m.objects.images[n] = header{}
	m.objects.unused = append(m.objects.unused, uint32(n))
	return true
}

// CreateTexture makes a texture object in the machine's memory: see [Memory.CreateTexture].
func (m *Machine) CreateTexture(i Image, s Sampler) (handle uint64, err error) {
	return m.objects.texture(i, s)
}

// CreateSurface makes a surface object in the machine's memory.
func (m *Machine) CreateSurface(i Image) (handle uint64, err error) { return m.objects.surface(i) }

// texture adds a texture object.
func (h *headers) texture(i Image, s Sampler, mipmaps ...Image) (handle uint64, err error) {
	if err := i.Check(); err != nil {
		return 0, err
	}
	before := &i
	for k := range mipmaps {
		m := &mipmaps[k]
		if err := m.Check(); err != nil {
			return 0, fmt.Errorf("level %d: %w", k+1, err)
		}
		if m.Size != halved(before.Size) || m.Type != i.Type || m.Channels != i.Channels || m.Layers != i.Layers || m.Cube != i.Cube {
			return 0, fmt.Errorf("level %d is not the level before made half as large", k+1)
		}
		before = m
	}
	if len(mipmaps) > 0 && !s.Normalized {
		return 0, errors.New("the coordinates of textures with mipmaps are normalized")
	}
	if err := s.CheckFor(&i); err != nil {
		return 0, err
	}
	sampler, err := h.sampler(s)
	if err != nil {
		return 0, err
	}
	n, err := h.add(header{Image: i, mipmaps: mipmaps, texture: true})
	return uint64(sampler)<<imageBits | uint64(n), err
}

// surface adds a surface object.
func (h *headers) surface(i Image) (handle uint64, err error) {
	if err := i.Check(); err != nil {
		return 0, err
	}
	n, err := h.add(header{Image: i, surface: true})
	return uint64(n), err
}

// sampler finds a sampler or adds it.
func (h *headers) sampler(s Sampler) (int, error) {
	for n := 1; n < len(h.samplers); n++ {
		if h.samplers[n] == s {
			return n, nil
		}
	}
	if len(h.samplers) == 0 {
		h.samplers = append(h.samplers, Sampler{})
	}
	if len(h.samplers) == mostSamplers {
		return 0, fmt.Errorf("there are %d different samplers already", mostSamplers-1)
	}
	h.samplers = append(h.samplers, s)
	return len(h.samplers) - 1, nil
}

// add adds an image.
func (h *headers) add(i header) (uint32, error) {
	if n := len(h.unused); n > 0 {
		at := h.unused[n-1]
		h.unused = h.unused[:n-1]
		h.images[at] = i
		return at, nil
	}
	if len(h.images) == 0 {
		h.images = append(h.images, header{})
	}
	if len(h.images) == mostImages {
		return 0, fmt.Errorf("there are %d texture and surface objects already", mostImages-1)
	}
	h.images = append(h.images, i)
	return uint32(len(h.images) - 1), nil
}

// image returns the image that a handle names, nil where there is none.
func (h *headers) image(handle uint32) *header {
	n := handle % mostImages
	if int(n) >= len(h.images) || !h.images[n].texture && !h.images[n].surface {
		return nil
	}
	return &h.images[n]
}

// samplerOf returns the sampler that a handle names, nil where there is none.
func (h *headers) samplerOf(handle uint32) *Sampler {
	n := handle >> imageBits
	if n == 0 || int(n) >= len(h.samplers) {
		return nil
	}
	return &h.samplers[n]
}

// A texelPlace is where a texel lies: its coordinates in whole texels, and its layer.
type texelPlace struct {
	at    [3]int64
	layer int64
}

// address returns where a texel that is in the image lies.
func (i *Image) address(p texelPlace) uint64 {
	return i.Address + uint64(p.at[0])*uint64(i.TexelBytes()) + uint64(p.at[1])*i.Pitch + uint64(p.at[2]+p.layer)*i.Slice
}

// layer returns the layer that a number means: layers are clamped.
func (i *Image) layer(n uint32, face int64) int64 {
	per := int64(1)
	if i.Cube {
		per = 6
	}
	last := max(int64(i.Layers)/per-1, 0)
	return min(int64(n), last)*per + face
}

// wrapped returns the coordinate of the texel that one stands for; inside is false for the border.
func (m AddressMode) wrapped(c, size int64) (at int64, inside bool) {
	switch m {
	case AddressWrap:
		return ((c % size) + size) % size, true
	case AddressMirror:
		if c = ((c % (2 * size)) + 2*size) % (2 * size); c >= size {
			c = 2*size - 1 - c
		}
		return c, true
	case AddressBorder:
		return c, c >= 0 && c < size
	}
	return min(max(c, 0), size-1), true
}

// decode returns the channels of a texel as fetches return them: integers and floats of 32 bits. Channels that there are not are 0, of the
// last one 1.
func (i *Image) decode(texel []byte, s *Sampler) (channels [4]uint32) {
	t := channelTypes[i.Type]
	floats := t.float || s.Fractions
	if channels[3] = 1; floats {
		channels[3] = math.Float32bits(1)
	}
	for k := range i.Channels {
		v := load(texel[k*t.bytes : (k+1)*t.bytes])
		if t.signed && t.bytes < 4 {
			v = uint32(int32(v<<(32-8*t.bytes)) >> (32 - 8*t.bytes))
		}
		switch {
		case i.Type == ChannelF16:
			v = math.Float32bits(float32(f16ToF64(uint16(v))))
		case s.Fractions && t.signed:
			v = math.Float32bits(float32(max(float64(int32(v))/float64(int(1)<<(8*t.bytes-1)-1), -1)))
		case s.Fractions:
			f := float64(v) / float64(int(1)<<(8*t.bytes)-1)
			if s.SRGB && k < 3 {
				f = linearised(f)
			}
			v = math.Float32bits(float32(f))
		}
		channels[k] = v
	}
	return channels
}

// linearised returns the linear value of one of sRGB (IEC 61966-2-1).
func linearised(c float64) float64 {
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

// border returns the channels of a texel outside.
func (s *Sampler) border() (channels [4]uint32) {
	for k, v := range s.Border {
		channels[k] = math.Float32bits(v)
	}
	return channels
}

// faceOf returns the face of a cube that a direction hits, in the order +x, -x, +y, -y, +z, -z, and where on it, from 0 to 1
// (CUDA C++ Programming Guide, cubemap textures, table of faces).
func faceOf(x, y, z float64) (face int64, u, v float64) {
	ax, ay, az := math.Abs(x), math.Abs(y), math.Abs(z)
	var s, t, m float64
	switch {
	case ax >= ay && ax >= az:
		m, t = ax, -y
		if face, s = 0, -z; x < 0 {
			face, s = 1, z
		}
	case ay >= az:
		m, s = ay, x
		if face, t = 2, z; y < 0 {
			face, t = 3, -z
		}
	default:
		m, t = az, -y
		if face, s = 4, x; z < 0 {
			face, s = 5, -x
		}
	}
	return face, (s/m + 1) / 2, (t/m + 1) / 2
}
