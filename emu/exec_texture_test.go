package emu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// testTexel is a channel of a texel of the images that tests fetch from: an equal step from each to the next, so that what lies between texels
// is known without any filter.
func testTexel(x, y, plane float64, channel int) float32 {
	return float32(x + 16*y + 256*plane + 4096*float64(channel))
}

// newObjectTest makes a warp that executes one instruction, with an object over an image of four floats a texel, whose handle is the parameter
// at c[0x0][0x168], and memory behind the image.
func newObjectTest(t *testing.T, in sass.Inst, size [3]int, layers int, cube, surface bool) (w *warp, memory *buffer, handle uint64) {
	t.Helper()
	w, handle = newHandleTest(t, in, func(m *Machine) (handle uint64, err error) {
		var image Image
		image, memory = testImage(t, m, size, layers, cube, 0)
		if surface {
			return m.CreateSurface(image)
		}
		return m.CreateTexture(image, Sampler{Linear: true, Normalized: cube, Address: [3]AddressMode{AddressClamp, AddressClamp, AddressClamp}})
	})
	return w, memory, handle
}

// testImage makes an image of texels of a plane in memory, the first layer of which has a number.
func testImage(t *testing.T, m *Machine, size [3]int, layers int, cube bool, first int) (image Image, memory *buffer) {
	t.Helper()
	image = Image{Type: ChannelF32, Channels: 4, Size: size, Layers: layers, Cube: cube, Pitch: uint64(16*size[0]) + 32}
	image.Slice = image.Pitch * uint64(max(size[1], 1))
	memory, err := m.memory.alloc("texels", int64(image.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for at := range image.Bytes() / 4 {
		rest := 4 * at % image.Slice
		value := testTexel(float64(rest%image.Pitch/16), float64(rest/image.Pitch), float64(first)+float64(4*at/image.Slice), int(at%4))
		binary.LittleEndian.PutUint32(memory.data[4*at:], math.Float32bits(value))
	}
	image.Address = memory.addr
	return image, memory
}

// newHandleTest makes a warp that executes one instruction, with a handle as the parameter at c[0x0][0x168].
func newHandleTest(t *testing.T, in sass.Inst, create func(m *Machine) (handle uint64, err error)) (w *warp, handle uint64) {
	t.Helper()
	tested.Store(in.Form, true)
	registers, err := parseTest(in.Arch, fmt.Sprintf("MOV R%d, RZ", formRegisters-1)) // so many at least
	if err != nil {
		t.Fatal(err)
	}
	code := &cubin.Code{Name: "one", Insts: []sass.Inst{in}}
	kernel := &cubin.Kernel{Name: "one", Code: code, ParamBase: 0x160, ParamSize: 16}
	m, err := New(modelOf(in.Arch), &cubin.File{Arch: in.Arch, Codes: []*cubin.Code{code, {Name: "registers", Index: 1, Insts: registers}}, Kernels: []*cubin.Kernel{kernel}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if handle, err = create(m); err != nil {
		t.Fatal(err)
	}
	params := binary.LittleEndian.AppendUint64(make([]byte, 8), handle)
	run, err := m.prepare(&Launch{Kernel: kernel, Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return run.newBlock(0).warps[0], handle
}

// hold sets a register, of all lanes where it is a uniform one.
func (w *warp) hold(register string, lane int, v uint32) {
	var n int
	if _, err := fmt.Sscanf(register, "UR%d", &n); err == nil {
		*w.uniformRegister(n) = *broadcast(v)
		return
	}
	fmt.Sscanf(register, "R%d", &n)
	w.regs[n][lane] = v
}

// A fetchPoint is where a lane fetches.
type fetchPoint struct {
	at     [3]float64 // in texels, or a direction
	whole  bool       // texels, counted by integers
	layer  int
	offset [3]int
	want   [3]float64 // the place between texels that is meant
}

// between draws a point of an image, and beyond its edges, in 256ths of a texel: there, clamped, is the edge's middle.
func (p *fetchPoint) between(r *rand.Rand, size [3]int, offsets bool) {
	for k, n := range size {
		if n == 0 {
			continue
		}
		p.at[k] = float64(r.IntN(256*(n+4))-512) / 256
		if offsets {
			p.offset[k] = r.IntN(16) - 8
		}
		p.want[k] = min(max(p.at[k]+float64(p.offset[k]), 0.5), float64(n)-0.5) - 0.5
	}
}

// on draws a direction to a point of a cube's faces (CUDA C++ Programming Guide, table of faces, solved for the direction).
func (p *fetchPoint) on(r *rand.Rand, n int) (face int) {
	u, v, m := float64(1+r.IntN(31))/32, float64(1+r.IntN(31))/32, math.Ldexp(1, r.IntN(9)-4)
	s, t := (2*u-1)*m, (2*v-1)*m
	face = r.IntN(6)
	p.at = [6][3]float64{{m, -t, -s}, {-m, -t, s}, {s, m, t}, {s, -m, -t}, {s, -t, m}, {-s, -t, -m}}[face]
	p.want = [3]float64{min(max(u*float64(n), 0.5), float64(n)-0.5) - 0.5, min(max(v*float64(n), 0.5), float64(n)-0.5) - 0.5}
	return face
}

// TestFetches: instructions as ptxas writes them, what it puts into their registers, and what between the texels of a plane there is.
func TestFetches(t *testing.T) {
	picture := [3]int{13, 9}
	for _, c := range []struct {
		text, holds string // registers and what they hold
		size        [3]int
		layers      int
		components  []int // all four where there are none
	}{
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, 2D", holds: "R4 x, R5 y, R6 level", size: picture},
		{text: "TEX.SCR.LL RZ, R20, R4, R6, 0x0, 0x5a, 2D, 0x4", holds: "R4 x, R5 y, R6 level", size: picture, components: []int{2}},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, 2D, 0xd", holds: "R4 x, R5 y, R6 level", size: picture, components: []int{0, 2, 3}},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, 2D", holds: "R4 x, R5 zero, R6 level", size: [3]int{13}},
		{text: "TEX.SCR.B.LL R22, R20, R4, R6, 2D", holds: "R4 x, R5 y, R6 handle, R7 level", size: picture},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, 3D", holds: "R4 x, R5 y, R6 z, R7 level", size: [3]int{7, 5, 4}},
		{text: "TEX.B.LL R22, R20, R8, R4, 3D", holds: "R8 x, R9 y, R10 z, R4 handle, R5 level", size: [3]int{7, 5, 4}},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, ARRAY_1D", holds: "R4 layer, R5 x, R6 level", size: [3]int{13}, layers: 5},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, ARRAY_2D", holds: "R4 layer, R5 x, R6 y, R7 level", size: picture, layers: 5},
		{text: "TEX.B.LL R22, R20, R8, R4, ARRAY_2D", holds: "R8 layer, R9 x, R10 y, R4 handle, R5 level", size: picture, layers: 5},
		{text: "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, CUBE", holds: "R4 x, R5 y, R6 z, R7 level", size: [3]int{8, 8}, layers: 6},
		{text: "TEX.LL R22, R20, R4, R8, 0x0, 0x5a, ARRAY_CUBE", holds: "R4 layer, R5 x, R6 y, R7 z, R8 level", size: [3]int{8, 8}, layers: 18},
		{text: "TEX.SCR.LL.AOFFI R22, R20, R4, R6, 0x0, 0x5a, 2D", holds: "R4 x, R5 y, R6 level, R7 offset", size: picture},
		{text: "TEX.B.LL.AOFFI R22, R20, R8, R4, 2D", holds: "R8 x, R9 y, R4 handle, R5 level, R6 offset", size: picture},
		{text: "TEX.LL.AOFFI R22, R20, R6, R4, UR4, 0x0, 2D", holds: "R6 x, R7 y, R4 level, R5 offset, UR4 handle, UR5 zero", size: picture},
		{text: "TEX.LL R22, R20, R4, R7, UR4, 0x0, ARRAY_2D", holds: "R4 layer, R5 x, R6 y, R7 level, UR4 handle, UR5 zero", size: picture, layers: 5},
		{text: "TLD.SCR.LZ R22, R20, R4, 0x0, 0x5a, 1D", holds: "R4 x", size: [3]int{13}},
		{text: "TLD.SCR.LZ R22, R20, R4, R5, 0x0, 0x5a, 2D", holds: "R4 x, R5 y", size: picture},
		{text: "TLD.SCR.B.LZ R22, R20, R4, R6, 3D", holds: "R4 x, R5 y, R6 z, R7 handle", size: [3]int{7, 5, 4}},
		{text: "TLD.LZ R22, R20, R4, UR4, 0x0, 2D", holds: "R4 x, R5 y, UR4 handle, UR5 zero", size: picture},
		{text: "TXD R22, R20, R4, R8, 0x0, 0x5a, 2D", holds: "R4 x, R5 y", size: picture},
		{text: "TXD.B R22, R20, R4, R8, 2D", holds: "R4 handle, R5 x, R6 y", size: picture},
		{text: "TXD R22, R20, R4, R8, 0x0, 0x5a, ARRAY_2D", holds: "R4 x, R5 y, R6 layer", size: picture, layers: 5},
		{text: "TXD.B R22, R20, R4, R8, ARRAY_2D", holds: "R4 handle, R5 x, R6 y, R7 layer", size: picture, layers: 5},
		{text: "TXD R22, R20, R4, R8, UR4, 0x0, ARRAY_2D", holds: "R4 x, R5 y, R6 layer, UR4 handle, UR5 zero", size: picture, layers: 5},
	} {
		t.Run(c.text, func(t *testing.T) {
			r := rand.New(rand.NewPCG(20, 25))
			onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
				list, err := parseTest(a, c.text)
				if err != nil {
					t.Fatal(err)
				}
				in, cube := list[0], strings.Contains(c.text, "CUBE")
				w, _, handle := newObjectTest(t, in, c.size, c.layers, cube, false)
				var want [32][4]uint32
				for lane := range 32 {
					var p fetchPoint
					face := 0
					if cube {
						face = p.on(r, c.size[0])
					} else {
						p.between(r, c.size, strings.Contains(c.text, "AOFFI"))
					}
					inside := true
					if in.Op == sass.TLD {
						for k, n := range c.size {
							p.whole, p.want[k] = true, math.Floor(p.at[k])
							inside = inside && (n == 0 || p.want[k] >= 0 && p.want[k] < float64(n))
						}
					}
					plane := p.want[2]
					if c.layers > 0 {
						each := 1
						if cube {
							each = 6
						}
						p.layer = r.IntN(c.layers/each + 2)
						plane = float64(min(p.layer, c.layers/each-1)*each + face)
						if !strings.Contains(c.holds, "layer") {
							plane = float64(face)
						}
					}
					for _, hold := range strings.Split(c.holds, ", ") {
						register, what, _ := strings.Cut(hold, " ")
						w.hold(register, lane, p.word(what, r, handle))
					}
					for k := range 4 {
						want[lane][k] = untouched
						w.regs[20+k][lane] = untouched
					}
					components := c.components
					if components == nil {
						components = []int{0, 1, 2, 3}
					}
					for k, channel := range components {
						if want[lane][k] = 0; inside {
							want[lane][k] = math.Float32bits(testTexel(p.want[0], p.want[1], plane, channel))
						}
					}
				}
				checkFetch(t, w, r, &want)
			})
		})
	}
}

// word is what a register holds. A level decides nothing, as there is one.
func (p *fetchPoint) word(what string, r *rand.Rand, handle uint64) uint32 {
	switch what {
	case "x", "y", "z":
		if p.whole {
			return uint32(int32(math.Floor(p.at[what[0]-'x'])))
		}
		return math.Float32bits(float32(p.at[what[0]-'x']))
	case "layer":
		return uint32(p.layer)
	case "offset":
		return uint32(p.offset[0]&15 | p.offset[1]&15<<4 | p.offset[2]&15<<8)
	case "handle":
		return uint32(handle)
	case "level":
		return math.Float32bits(float32(r.IntN(9) - 4))
	}
	return 0
}

// checkFetch executes a fetch in some lanes and compares R20 to R23 of those, and that the others keep theirs.
func checkFetch(t *testing.T, w *warp, r *rand.Rand, want *[32][4]uint32) {
	t.Helper()
	w.active = r.Uint32() | 1
	if err := w.step(); err != nil {
		t.Fatal(err)
	}
	for lane := range 32 {
		var got [4]uint32
		for k := range got {
			got[k] = w.regs[20+k][lane]
		}
		expected := want[lane]
		if w.active>>lane&1 == 0 {
			expected = [4]uint32{untouched, untouched, untouched, untouched}
		}
		if got != expected {
			t.Errorf("lane %d: %v (%#x), want %v", lane, floatsOf(got), got, floatsOf(expected))
		}
	}
}

func floatsOf(words [4]uint32) (numbers [4]float32) {
	for k, v := range words {
		numbers[k] = math.Float32frombits(v)
	}
	return numbers
}

// TestGathers: the four texels around a point, the lower left one last, and from there against the clock.
func TestGathers(t *testing.T) {
	for _, c := range []struct {
		text, holds string
		channel     int
	}{
		{"TLD4.SCR.G R22, R20, R4, R5, 0x0, 0x5a, 2D", "R4 x, R5 y", 1},
		{"TLD4.SCR.A.B R22, R20, R4, R6, 2D", "R4 x, R5 y, R6 handle", 3},
		{"TLD4.R R22, R20, R4, R6, UR4, 0x0, 2D", "R4 x, R5 y, UR4 handle, UR5 zero", 0},
	} {
		t.Run(c.text, func(t *testing.T) {
			r := rand.New(rand.NewPCG(20, 26))
			onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
				list, err := parseTest(a, c.text)
				if err != nil {
					t.Fatal(err)
				}
				w, _, handle := newObjectTest(t, list[0], [3]int{13, 9}, 0, false, false)
				var want [32][4]uint32
				for lane := range 32 {
					var p fetchPoint
					p.between(r, [3]int{13, 9}, false)
					left, lower := math.Floor(p.at[0]-0.5), math.Floor(p.at[1]-0.5)
					for k, corner := range [4][2]float64{{left, lower + 1}, {left + 1, lower + 1}, {left + 1, lower}, {left, lower}} {
						want[lane][k] = math.Float32bits(testTexel(min(max(corner[0], 0), 12), min(max(corner[1], 0), 8), 0, c.channel))
						w.regs[20+k][lane] = untouched
					}
					for _, hold := range strings.Split(c.holds, ", ") {
						register, what, _ := strings.Cut(hold, " ")
						w.hold(register, lane, p.word(what, r, handle))
					}
				}
				checkFetch(t, w, r, &want)
			})
		})
	}
}

// TestQueries: width, height and depth of a texture or how many layers it has.
func TestQueries(t *testing.T) {
	for _, c := range []struct {
		text   string
		handle string
		size   [3]int
		layers int
		want   [4]uint32
	}{
		{"TXQ RZ, R20, R5, TEX_HEADER_DIMENSION, 0x0, 0x5a, 0x2", "", [3]int{13, 9}, 0, [4]uint32{9, untouched, untouched, untouched}},
		{"TXQ.B R22, R20, R4, TEX_HEADER_DIMENSION, 0x7", "R4", [3]int{7, 5, 4}, 0, [4]uint32{7, 5, 4, untouched}},
		{"TXQ.B R22, R20, R4, TEX_HEADER_DIMENSION, 0xf", "R4", [3]int{13, 9}, 5, [4]uint32{13, 9, 5, 1}},
		{"TXQ RZ, R20, R5, TEX_HEADER_DIMENSION, UR4, 0x0, 0x1", "UR4", [3]int{13}, 0, [4]uint32{13, untouched, untouched, untouched}},
	} {
		t.Run(c.text, func(t *testing.T) {
			onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
				list, err := parseTest(a, c.text)
				if err != nil {
					t.Fatal(err)
				}
				w, _, handle := newObjectTest(t, list[0], c.size, c.layers, false, false)
				var want [32][4]uint32
				for lane := range 32 {
					if want[lane] = c.want; c.handle != "" {
						w.hold(c.handle, lane, uint32(handle))
					}
					for k := range 4 {
						w.regs[20+k][lane] = untouched
					}
				}
				checkFetch(t, w, rand.New(rand.NewPCG(20, 27)), &want)
			})
		})
	}
}

// testSurfaces are the kinds of surfaces with the names that instructions have for them.
var testSurfaces = []struct {
	dim        string
	size       [3]int
	layers     int
	dimensions int // coordinates
}{
	{".1D", [3]int{6}, 0, 1}, {".1D_ARRAY", [3]int{6}, 3, 2}, {".2D", [3]int{6, 5}, 0, 2}, {".2D_ARRAY", [3]int{6, 5}, 3, 3}, {".3D", [3]int{6, 5, 4}, 0, 3},
}

// TestSurfaces executes loads and stores of every size, order and way to name the surface, in it and outside.
func TestSurfaces(t *testing.T) {
	sizes := []struct {
		name  string
		bytes int
	}{{".U8", 1}, {".S8", 1}, {".U16", 2}, {".S16", 2}, {"", 4}, {".64", 8}, {".128", 16}}
	r := rand.New(rand.NewPCG(20, 28))
	done := 0
	for _, op := range []string{"SULD", "SUST"} {
		for _, header := range []string{"0x0, 0x5a", "R10", "UR4, 0x0"} {
			for _, order := range []string{"", ".STRONG.CTA", ".STRONG.SM", ".STRONG.GPU", ".MMIO.SYS", ".MMIO.GPU", ".CONSTANT"} {
				for _, clamp := range []string{".IGN", "", ".TRAP"} {
					shape, size := testSurfaces[r.IntN(len(testSurfaces))], sizes[r.IntN(len(sizes))]
					text := fmt.Sprintf("%s.D.BA%s%s%s%s R20, [R4], %s", op, shape.dim, size.name, order, clamp, header)
					if op == "SUST" {
						text = fmt.Sprintf("%s.D.BA%s%s%s%s [R4], R20, %s", op, shape.dim, size.name, order, clamp, header)
					}
					for _, a := range architectures {
						list, err := parseTest(a, text)
						if err != nil {
							continue // an order or a header that it has not
						}
						done++
						w, memory, handle := newObjectTest(t, list[0], shape.size, shape.layers, false, true)
						s := &surfaceTest{w: w, texels: memory.data, size: shape.size, layers: shape.layers, dimensions: shape.dimensions, bytes: size.bytes, clamp: clamp}
						if header == "R10" || header[0] == 'U' {
							for lane := range 32 {
								w.hold(strings.TrimSuffix(header, ", 0x0"), lane, uint32(handle))
							}
						}
						s.check(t, fmt.Sprintf("sm_%d %s", a, text), r, op == "SUST", strings.HasPrefix(size.name, ".S"))
					}
				}
			}
		}
	}
	if done < 200 {
		t.Errorf("%d instructions", done)
	}
}

// A surfaceTest is a warp that executes an access to a surface of texels of 16 bytes.
type surfaceTest struct {
	w          *warp
	texels     []byte
	size       [3]int
	layers     int
	dimensions int
	bytes      int
	clamp      string
}

// place draws where a lane goes and sets its registers so. at is -1 for an access outside that does nothing.
func (s *surfaceTest) place(r *rand.Rand, lane int) (at int) {
	limits := []int{16 * s.size[0] / s.bytes} // in pieces of the access
	for _, n := range s.size[1:] {
		if n > 0 {
			limits = append(limits, n)
		}
	}
	if s.layers > 0 {
		limits = append(limits, s.layers)
	}
	pitch := 16*s.size[0] + 32
	strides := []int{s.bytes, pitch, pitch * s.size[1]}
	if s.size[1] == 0 {
		strides = []int{s.bytes, pitch}
	}
	outside := false
	for k, limit := range limits {
		c := r.IntN(limit)
		if s.clamp != ".TRAP" && r.IntN(3) == 0 {
			c = r.IntN(3*limit) - limit
		}
		v := c
		if k == 0 {
			v *= s.bytes
		}
		s.w.regs[4+k][lane] = uint32(int32(v))
		outside = outside || c < 0 || c >= limit
		at += min(max(c, 0), limit-1) * strides[k]
	}
	if outside && s.clamp == ".IGN" {
		return -1
	}
	return at
}

func (s *surfaceTest) check(t *testing.T, name string, r *rand.Rand, store, signed bool) {
	t.Helper()
	w := s.w
	w.active = r.Uint32() | 1
	for at := range s.texels {
		s.texels[at] = byte(r.Uint32())
	}
	words := max(1, s.bytes/4)
	want, wantTexels := [32][4]uint32{}, slices.Clone(s.texels)
	for lane := range 32 {
		at := s.place(r, lane)
		for k := range 4 {
			w.regs[20+k][lane] = r.Uint32()
			want[lane][k] = w.regs[20+k][lane]
		}
		if w.active>>lane&1 == 0 {
			continue
		}
		var data [16]byte
		switch {
		case store:
			for k := range 4 {
				binary.LittleEndian.PutUint32(data[4*k:], want[lane][k])
			}
			if at >= 0 {
				copy(wantTexels[at:at+s.bytes], data[:])
			}
			continue
		case at >= 0:
			copy(data[:], s.texels[at:at+s.bytes])
		}
		if signed && data[s.bytes-1] >= 0x80 {
			binary.LittleEndian.PutUint32(data[s.bytes:], math.MaxUint32)
		}
		for k := range words {
			want[lane][k] = binary.LittleEndian.Uint32(data[4*k:])
		}
	}
	if err := w.step(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for lane := range 32 {
		if got := [4]uint32{w.regs[20][lane], w.regs[21][lane], w.regs[22][lane], w.regs[23][lane]}; got != want[lane] {
			t.Errorf("%s: lane %d: %#x, want %#x", name, lane, got, want[lane])
		}
	}
	if !bytes.Equal(s.texels, wantTexels) {
		t.Errorf("%s: other bytes in memory", name)
	}
}

// TestObjectFaults: handles and places that there are not stop the launch with what is wrong.
func TestObjectFaults(t *testing.T) {
	const load, fetch = "SULD.D.BA.2D.64.STRONG.CTA.TRAP R20, [R4], R10", "TEX.SCR.B.LL R22, R20, R4, R6, 2D"
	for _, c := range []struct {
		text    string
		surface bool
		holds   string
		values  []uint32
		size    [3]int
		want    string
	}{
		{fetch, false, "R6", []uint32{0}, [3]int{13, 9}, "0x0 is no handle of a texture object"},
		{fetch, false, "R6", []uint32{1}, [3]int{13, 9}, "0x1 is no handle of a texture object"}, // an image without a sampler
		{fetch, true, "R6", []uint32{1}, [3]int{13, 9}, "0x1 is the handle of a surface object, not of a texture"},
		{fetch, false, "R6", []uint32{1 | 1<<imageBits}, [3]int{7, 5, 4}, "the texture has 3 dimensions"},
		{load, true, "R10", []uint32{7}, [3]int{13, 9}, "0x7 is no handle of a surface object"},
		{load, false, "R10", []uint32{1 | 1<<imageBits}, [3]int{13, 9}, "is the handle of a texture object, not of a surface"},
		{load, true, "R10", []uint32{1}, [3]int{7, 5, 4}, "the surface has 3 dimensions"},
		{load, true, "R10 R4 R5", []uint32{1, 13 * 16, 0}, [3]int{13, 9}, "byte 208 of a surface"},
		{load, true, "R10 R4 R5", []uint32{1, 0, math.MaxUint32}, [3]int{13, 9}, "row -1 of a surface"},
		{load, true, "R10 R4 R5", []uint32{1, 4, 0}, [3]int{13, 9}, "misaligned"},
	} {
		list, err := parseTest(sass.SM70, c.text)
		if err != nil {
			t.Fatal(err)
		}
		w, _, _ := newObjectTest(t, list[0], c.size, 0, false, c.surface)
		for lane := range 32 {
			for k, register := range strings.Fields(c.holds) {
				w.hold(register, lane, c.values[k])
			}
		}
		if err := w.step(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a fault with %q", c.text, err, c.want)
		}
	}
}

// TestObjects: handles are used again when their objects are gone, and samplers that are the same are one.
func TestObjects(t *testing.T) {
	var h headers
	image := Image{Type: ChannelU8, Channels: 1, Size: [3]int{4}}
	first, err1 := h.texture(image, Sampler{Normalized: true})
	second, err2 := h.texture(image, Sampler{Normalized: true})
	third, err3 := h.texture(image, Sampler{Normalized: true, Linear: true, Fractions: true})
	if err1 != nil || err2 != nil || err3 != nil || first == second || first>>imageBits != second>>imageBits || third>>imageBits == first>>imageBits {
		t.Errorf("handles %#x, %#x, %#x; %v, %v, %v", first, second, third, err1, err2, err3)
	}
	m := &Memory{objects: h}
	if !m.DestroyObject(first) || m.DestroyObject(first) || m.DestroyObject(0) {
		t.Error("an object is destroyed twice, or what is none is")
	}
	if s, err := m.CreateSurface(image); err != nil || s != first%mostImages {
		t.Errorf("the surface is %#x, %v", s, err)
	}
}

// TestTexelTypes: what a texel of each type is, as an element and as fractions.
func TestTexelTypes(t *testing.T) {
	one := math.Float32bits(1)
	texel := []byte{0x00, 0x40, 0x80, 0x80, 0x01, 0x3c, 0xff, 0x7f, 0x00, 0x00, 0x20, 0xc0, 0x00, 0x00, 0x00, 0x00}
	for _, c := range []struct {
		name     string
		kind     ChannelType
		channels int
		sampler  Sampler
		want     [4]uint32
	}{
		{"u8", ChannelU8, 4, Sampler{}, [4]uint32{0, 0x40, 0x80, 0x80}},
		{"i8", ChannelI8, 4, Sampler{}, [4]uint32{0, 0x40, 0xffffff80, 0xffffff80}},
		{"u16", ChannelU16, 2, Sampler{}, [4]uint32{0x4000, 0x8080, 0, 1}},
		{"i16", ChannelI16, 2, Sampler{}, [4]uint32{0x4000, 0xffff8080, 0, 1}},
		{"u32", ChannelU32, 1, Sampler{}, [4]uint32{0x80804000, 0, 0, 1}},
		{"f16", ChannelF16, 1, Sampler{}, [4]uint32{math.Float32bits(2), 0, 0, one}},
		{"f32", ChannelF32, 2, Sampler{}, [4]uint32{0x80804000, 0x7fff3c01, 0, one}},
		{"u8 as fractions", ChannelU8, 4, Sampler{Fractions: true}, [4]uint32{0, math.Float32bits(64. / 255), math.Float32bits(128. / 255), math.Float32bits(128. / 255)}},
		{"i8 as fractions", ChannelI8, 4, Sampler{Fractions: true}, [4]uint32{0, math.Float32bits(64. / 127), math.Float32bits(-1), math.Float32bits(-1)}},
		{"u16 as fractions", ChannelU16, 1, Sampler{Fractions: true}, [4]uint32{math.Float32bits(0x4000 / 65535.), 0, 0, one}},
		{"i16 as fractions", ChannelI16, 2, Sampler{Fractions: true}, [4]uint32{math.Float32bits(0x4000 / 32767.), math.Float32bits(-0x7f80 / 32767.), 0, one}},
		{"sRGB", ChannelU8, 4, Sampler{Fractions: true, SRGB: true}, [4]uint32{0, math.Float32bits(0.051269457), math.Float32bits(0.21586050), math.Float32bits(128. / 255)}},
	} {
		image := Image{Type: c.kind, Channels: c.channels, Size: [3]int{1}}
		c.sampler.Normalized = true
		if err := c.sampler.CheckFor(&image); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		got := image.decode(texel, &c.sampler)
		for k := range got {
			near := math.Abs(float64(math.Float32frombits(got[k]))-float64(math.Float32frombits(c.want[k]))) < 1e-7
			if got[k] != c.want[k] && !(c.sampler.SRGB && near) {
				t.Errorf("%s: channel %d is %#x (%g), want %#x (%g)", c.name, k, got[k], math.Float32frombits(got[k]), c.want[k], math.Float32frombits(c.want[k]))
			}
		}
	}
}

// TestMipmaps: levels of detail by a word of the operands and by derivatives, within bounds, of which the nearest is fetched from, or two.
func TestMipmaps(t *testing.T) {
	const level, slope = "TEX.SCR.LL R22, R20, R4, R6, 0x0, 0x5a, 2D", "TXD R22, R20, R4, R8, 0x0, 0x5a, 2D"
	size := [3]int{16, 8}
	for _, c := range []struct {
		text    string
		mipmaps MipmapSampler
		words   []float32 // of R6, or from R8 on
		lower   int
		share   float64 // of the next level
	}{
		{level, MipmapSampler{Most: 9}, []float32{-32}, 0, 0},
		{level, MipmapSampler{Most: 9}, []float32{0.25}, 0, 0},
		{level, MipmapSampler{Most: 9}, []float32{0.75}, 1, 0},
		{level, MipmapSampler{Most: 9}, []float32{2}, 2, 0},
		{level, MipmapSampler{Most: 9}, []float32{7}, 3, 0},
		{level, MipmapSampler{Most: 9, Linear: true}, []float32{1.75}, 1, 0.75},
		{level, MipmapSampler{Most: 9, Linear: true}, []float32{8.5}, 3, 0},
		{level, MipmapSampler{Most: 9, Linear: true, Bias: 0.5}, []float32{1.75}, 2, 0.25},
		{level, MipmapSampler{Least: 1.5, Most: 9, Linear: true}, []float32{-32}, 1, 0.5},
		{level, MipmapSampler{Most: 0.5, Linear: true}, []float32{3}, 0, 0.5},
		{slope, MipmapSampler{Most: 9}, []float32{4. / 16, 0, 0, 1. / 8}, 2, 0},    // by x four texels, by y one
		{slope, MipmapSampler{Most: 9}, []float32{0, 0, 0, 2. / 8}, 1, 0},          // by y two
		{slope, MipmapSampler{Most: 9, Linear: true}, []float32{0, 0, 0, 0}, 0, 0}, // none
	} {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
			list, err := parseTest(a, c.text)
			if err != nil {
				t.Fatal(err)
			}
			sizes := [4][3]int{size, {8, 4}, {4, 2}, {2, 1}}
			w, _ := newHandleTest(t, list[0], func(m *Machine) (uint64, error) {
				var levels [4]Image
				for k := range levels {
					levels[k], _ = testImage(t, m, sizes[k], 0, false, k)
				}
				return m.objects.texture(levels[0], Sampler{Linear: true, Normalized: true, Address: [3]AddressMode{AddressClamp, AddressClamp}, Mipmaps: c.mipmaps}, levels[1:]...)
			})
			r := rand.New(rand.NewPCG(20, 29))
			var want [32][4]uint32
			for lane := range 32 {
				u, v := float64(r.IntN(513)-128)/256, float64(r.IntN(513)-128)/256
				w.hold("R4", lane, math.Float32bits(float32(u)))
				w.hold("R5", lane, math.Float32bits(float32(v)))
				for k, word := range c.words {
					register := 6
					if c.text == slope {
						register = 8 + k
					}
					w.hold(fmt.Sprintf("R%d", register), lane, math.Float32bits(word))
				}
				at := func(n, channel int) float64 {
					x, y := float64(sizes[n][0]), float64(sizes[n][1])
					return float64(testTexel(min(max(u*x, 0.5), x-0.5)-0.5, min(max(v*y, 0.5), y-0.5)-0.5, float64(n), channel))
				}
				for channel := range 4 {
					w.regs[20+channel][lane] = untouched
					want[lane][channel] = math.Float32bits(float32((1-c.share)*at(c.lower, channel) + c.share*at(min(c.lower+1, 3), channel)))
				}
			}
			checkFetch(t, w, r, &want)
		})
	}
}

// TestMipmapFaults: what mipmaps cannot be, and levels from coordinates of other lanes, which are only known where there is one level.
func TestMipmapFaults(t *testing.T) {
	list, err := parseTest(sass.SM80, "TEX.SCR R22, R20, R4, R5, 0x0, 0x5a, 2D")
	if err != nil {
		t.Fatal(err)
	}
	w, _ := newHandleTest(t, list[0], func(m *Machine) (uint64, error) {
		image, _ := testImage(t, m, [3]int{8, 8}, 0, false, 0)
		next, _ := testImage(t, m, [3]int{4, 4}, 0, false, 0)
		if _, err := m.objects.texture(image, Sampler{Normalized: true}, image); err == nil || !strings.Contains(err.Error(), "half as large") {
			t.Errorf("a level as large as the one before: %v", err)
		}
		if _, err := m.objects.texture(image, Sampler{Address: [3]AddressMode{AddressClamp, AddressClamp}}, next); err == nil || !strings.Contains(err.Error(), "normalized") {
			t.Errorf("coordinates that are not normalized: %v", err)
		}
		return m.objects.texture(image, Sampler{Normalized: true}, next)
	})
	if err := w.step(); err == nil || !strings.Contains(err.Error(), "neighbouring lanes") {
		t.Errorf("%v", err)
	}
	query, err := parseTest(sass.SM80, "TXQ.B R22, R20, R4, TEX_HEADER_DIMENSION, 0xf")
	if err != nil {
		t.Fatal(err)
	}
	w, handle := newHandleTest(t, query[0], func(m *Machine) (uint64, error) {
		image, _ := testImage(t, m, [3]int{9, 8}, 0, false, 0)
		next, _ := testImage(t, m, [3]int{4, 4}, 0, false, 0)
		return m.objects.texture(image, Sampler{Normalized: true}, next)
	})
	var want [32][4]uint32
	for lane := range 32 {
		w.hold("R4", lane, uint32(handle))
		w.hold("R5", lane, uint32(lane%2))
		want[lane] = [4]uint32{9 >> (lane % 2), 8 >> (lane % 2), 1, 2}
		for k := range 4 {
			w.regs[20+k][lane] = untouched
		}
	}
	checkFetch(t, w, rand.New(rand.NewPCG(20, 30)), &want)
}
