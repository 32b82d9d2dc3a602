package launch

import (
	"fmt"
	"slices"
	"strings"

	"gpa/emu"
)

// A Texture describes a texture object of an argument.
type Texture struct {
	Image   emu.Image // its Address is an offset in the argument's buffer
	Sampler emu.Sampler
}

// The names of what textures are made of, by their values in package emu.
var (
	channelTypes = []string{"u8", "i8", "u16", "i16", "u32", "i32", "f16", "f32"}
	addressModes = []string{"wrap", "clamp", "mirror", "border"}
	filters      = []string{"point", "linear"}
	reads        = []string{"element", "normalized_float"}
)

// choice reads one of some names.
func (d *decoder) choice(n node, names []string) int {
	i := slices.Index(names, d.text(n))
	if i < 0 {
		d.fail(n, "%q is none of %s", d.text(n), strings.Join(names, ", "))
		return 0
	}
	return i
}

// imageFields are the keys that textures and surfaces share: buffer, offset, type, channels, dims, layers, cube, pitch and slice.
func (d *decoder) imageFields(a *Arg, m *emu.Image) map[string]func(node) {
	m.Channels = 1
	return map[string]func(node){
		"buffer":   func(v node) { a.Buffer = d.text(v) },
		"offset":   func(v node) { a.Offset = d.integer(v, 0, maxBufferBytes) },
		"type":     func(v node) { m.Type = emu.ChannelType(d.choice(v, channelTypes)) },
		"channels": func(v node) { m.Channels = int(d.integer(v, 1, 4)) },
		"dims": func(v node) {
			items := d.items(v)
			if len(items) < 1 || len(items) > 3 {
				d.fail(v, "one to three numbers are expected here")
				return
			}
			for k, item := range items {
				m.Size[k] = int(d.integer(item, 1, maxDimension))
			}
		},
		"layers": func(v node) { m.Layers = int(d.integer(v, 1, maxDimension)) },
		"cube":   func(v node) { m.Cube = d.boolean(v) },
		"pitch":  func(v node) { m.Pitch = uint64(d.integer(v, 1, maxBufferBytes)) },
		"slice":  func(v node) { m.Slice = uint64(d.integer(v, 1, maxBufferBytes)) },
	}
}

// decodeImage reads the keys of an image, with those of a sampler beside them.
func (d *decoder) decodeImage(n node, a *Arg, m *emu.Image, more map[string]func(node)) {
	fields := d.imageFields(a, m)
	typed := false
	typeOf := fields["type"]
	fields["type"] = func(v node) { typed = true; typeOf(v) }
	for key, read := range more {
		fields[key] = read
	}
	d.fields(n, fields)
	switch {
	case a.Buffer == "":
		d.fail(n, "the buffer is missing")
	case !typed:
		d.fail(n, "the type is missing")
	case m.Size[0] == 0:
		d.fail(n, "the dims are missing")
	}
	if m.Pitch == 0 {
		m.Pitch = uint64(m.Size[0] * m.TexelBytes())
	}
	if m.Slice == 0 {
		m.Slice = m.Pitch * uint64(max(m.Size[1], 1))
	}
	m.Address = uint64(a.Offset) // buffers are aligned as textures have to be
	if d.err != nil {
		return
	}
	if err := m.Check(); err != nil {
		d.fail(n, "%v", err)
	}
}

// decodeTexture reads a texture object: the keys of its image, address, filter, normalized, read, srgb and border.
func (d *decoder) decodeTexture(n node, a *Arg) {
	t := &Texture{}
	s := &t.Sampler
	s.Address = [3]emu.AddressMode{emu.AddressClamp, emu.AddressClamp, emu.AddressClamp}
	d.decodeImage(n, a, &t.Image, map[string]func(node){
		"address": func(v node) {
			items := d.items(v)
			if len(items) < 1 || len(items) > 3 {
				d.fail(v, "one to three modes are expected here")
				return
			}
			for k := range s.Address {
				s.Address[k] = emu.AddressMode(d.choice(items[min(k, len(items)-1)], addressModes))
			}
		},
		"filter":     func(v node) { s.Linear = d.choice(v, filters) == 1 },
		"normalized": func(v node) { s.Normalized = d.boolean(v) },
		"read":       func(v node) { s.Fractions = d.choice(v, reads) == 1 },
		"srgb":       func(v node) { s.SRGB = d.boolean(v) },
		"border": func(v node) {
			items := d.items(v)
			if len(items) != 4 {
				d.fail(v, "four numbers are expected here")
				return
			}
			for k, item := range items {
				s.Border[k] = float32(d.number(item).f)
			}
		},
	})
	if d.err == nil {
		if err := s.CheckFor(&t.Image); err != nil {
			d.fail(n, "%v", err)
		}
	}
	a.Texture = t
}

// decodeSurface reads a surface object.
func (d *decoder) decodeSurface(n node, a *Arg) {
	a.Surface = &emu.Image{}
	d.decodeImage(n, a, a.Surface, nil)
}

// image returns the image of an argument that is a texture or a surface object, nil of others.
func (a *Arg) image() *emu.Image {
	if a.Texture != nil {
		return &a.Texture.Image
	}
	return a.Surface
}

// createObjects makes the texture and surface objects of the arguments, in the order of the file.
func (s *Session) createObjects() error {
	for i := range s.File.Launches {
		args := s.File.Launches[i].Args
		for k := range args {
			a := &args[k]
			if a.image() == nil {
				continue
			}
			handle, err := s.createObject(a)
			if err != nil {
				return s.File.errorAt(a.at, err)
			}
			s.objects[a] = handle
		}
	}
	return nil
}

func (s *Session) createObject(a *Arg) (handle uint64, err error) {
	at, i := s.buffers[a.Buffer], *a.image()
	if end := i.Address + i.Bytes(); end > uint64(at.bytes) {
		return 0, fmt.Errorf("the texels end at byte %d of buffer %s, which has %d", end, a.Buffer, at.bytes)
	}
	i.Address += at.addr
	if a.Texture != nil {
		return s.Machine.CreateTexture(i, a.Texture.Sampler)
	}
	return s.Machine.CreateSurface(i)
}

// writtenImage is a texture or a surface object as a launch file has it.
func (a *Arg) writtenImage() string {
	i := a.image()
	size := slices.DeleteFunc(slices.Clone(i.Size[:]), func(n int) bool { return n == 0 })
	parts := []string{"buffer: " + quoted(a.Buffer), fmt.Sprintf("offset: %d", a.Offset), "type: " + channelTypes[i.Type], fmt.Sprintf("channels: %d", i.Channels),
		"dims: " + numbers(size)}
	if i.Layers > 0 {
		parts = append(parts, fmt.Sprintf("layers: %d", i.Layers))
	}
	if i.Cube {
		parts = append(parts, "cube: true")
	}
	parts = append(parts, fmt.Sprintf("pitch: %d", i.Pitch), fmt.Sprintf("slice: %d", i.Slice))
	if a.Texture == nil {
		return "{surface: " + flow("{", parts, "}") + "}"
	}
	s := &a.Texture.Sampler
	var modes []string
	for _, m := range s.Address {
		modes = append(modes, addressModes[m])
	}
	parts = append(parts, "address: "+flow("[", modes, "]"))
	if s.Linear {
		parts = append(parts, "filter: linear")
	}
	if s.Normalized {
		parts = append(parts, "normalized: true")
	}
	if s.Fractions {
		parts = append(parts, "read: normalized_float")
	}
	if s.SRGB {
		parts = append(parts, "srgb: true")
	}
	if s.Border != [4]float32{} {
		var border []string
		for _, v := range s.Border {
			border = append(border, floatNumber(float64(v)).written())
		}
		parts = append(parts, "border: "+flow("[", border, "]"))
	}
	return "{texture: " + flow("{", parts, "}") + "}"
}
