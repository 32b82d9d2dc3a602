package emu

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Maps packed by an independent model of what ptxas' code for tensormap.replace writes: testdata/tensormap.tsv.
func TestTensorMapEncoding(t *testing.T) {
	data, err := os.ReadFile("testdata/tensormap.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		fields, want, _ := strings.Cut(strings.TrimSpace(line), "\t")
		var v struct {
			Addr                      uint64
			Elem, Swizzle, Interleave uint8
			Fill                      int
			Dims, Strides             []uint64
			Box, Estr                 []uint32
		}
		if err := json.Unmarshal([]byte(strings.ReplaceAll(fields, "'", `"`)), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		m := TensorMap{Address: v.Addr, Type: TensorType(v.Elem), Sizes: v.Dims, Strides: v.Strides, Box: v.Box, ElementStrides: v.Estr,
			Swizzle: TensorSwizzle(v.Swizzle), Interleave: v.Interleave, NaN: v.Fill != 0}
		got := m.Encode()
		if hex.EncodeToString(got[:64]) != want {
			t.Errorf("%s: %x", line, got[:64])
		}
		n++
	}
	if n != 60 {
		t.Errorf("%d maps", n)
	}
}

func testMap() TensorMap {
	return TensorMap{Address: globalBase, Type: TensorF32, Sizes: []uint64{20, 6}, Strides: []uint64{96}, Box: []uint32{8, 4}, ElementStrides: []uint32{1, 2}, Swizzle: Swizzle32}
}

func TestTensorMapRoundTrip(t *testing.T) {
	m := testMap()
	b := m.Encode()
	got, err := decodeTensorMap(b[:])
	if err != nil {
		t.Fatal(err)
	}
	if got.Address != m.Address || !slices.Equal(got.Sizes, m.Sizes) || !slices.Equal(got.Strides, m.Strides) || !slices.Equal(got.Box, m.Box) ||
		!slices.Equal(got.ElementStrides, m.ElementStrides) || got.Swizzle != m.Swizzle {
		t.Errorf("%+v, want %+v", got, m)
	}
}

// A box of every second row that hangs over two edges.
func TestTensorBox(t *testing.T) {
	m := testMap()
	b, err := m.at([]int32{16, -2})
	if err != nil {
		t.Fatal(err)
	}
	if b.bytes() != 8*2*4 {
		t.Errorf("%d bytes", b.bytes())
	}
	for k, want := range map[uint64]uint64{0: 0, 8: globalBase + 64, 11: globalBase + 76, 12: 0} {
		if got, ok := b.element(k); got != want || ok != (want != 0) {
			t.Errorf("element %d at %#x, %t, want %#x", k, got, ok, want)
		}
	}
}

// Elements of 4 and 6 bits, 16 of which are copied together: those of a row of global memory lie side by side, in shared memory they may begin every 16
// bytes. A barrier counts what is copied.
func TestTensorBoxOfUnits(t *testing.T) {
	for _, c := range []struct {
		typ           TensorType
		global, moved uint64 // bytes of a unit, of a box of four rows of 128 elements
	}{{TensorB4x16, 8, 256}, {TensorB4x16Padded, 8, 256}, {TensorB6x16Padded, 12, 384}} {
		m := TensorMap{Address: globalBase, Type: c.typ, Sizes: []uint64{256, 6}, Strides: []uint64{192}, Box: []uint32{128, 4}, ElementStrides: []uint32{1, 1}}
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		b, err := m.at([]int32{128, 3})
		if err != nil {
			t.Fatal(err)
		}
		if b.bytes() != c.moved {
			t.Errorf("type %d: %d bytes, want %d", c.typ, b.bytes(), c.moved)
		}
		for k, want := range map[uint64]uint64{0: globalBase + 3*192 + 8*c.global, 7: globalBase + 3*192 + 15*c.global, 8: globalBase + 4*192 + 8*c.global, 24: 0} {
			if got, ok := b.element(k); got != want || ok != (want != 0) {
				t.Errorf("type %d: unit %d at %#x, %t, want %#x", c.typ, k, got, ok, want)
			}
		}
		if _, err := m.at([]int32{8, 0}); err == nil {
			t.Errorf("type %d: a box that begins within a unit", c.typ)
		}
		if m.Sizes[0] = 250; m.Check() == nil {
			t.Errorf("type %d: a row that ends within a unit", c.typ)
		}
	}
}

func TestTensorMapErrors(t *testing.T) {
	for want, change := range map[string]func(*TensorMap){
		"1 to 5 dimensions":          func(m *TensorMap) { m.Sizes = nil },
		"not a multiple of 16 below": func(m *TensorMap) { m.Strides[0] = 100 },
		"address":                    func(m *TensorMap) { m.Address = 8 },
		"a row of the box has 64":    func(m *TensorMap) { m.Box[0] = 16 },
		"element stride":             func(m *TensorMap) { m.ElementStrides[1] = 9 },
		"interleaved":                func(m *TensorMap) { m.Interleave = 1 },
		"filled with NaN":            func(m *TensorMap) { m.Type, m.NaN, m.Box[0] = TensorU32, true, 4 },
	} {
		m := testMap()
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A map of tf32 is one of f32 with a bit besides, as ptxas' code for tensormap.replace makes it.
func TestTensorMapOfTF32(t *testing.T) {
	for typ, of := range map[TensorType]TensorType{TensorTF32: TensorF32, TensorTF32FTZ: TensorF32FTZ} {
		m := testMap()
		m.Type = of
		plain := m.Encode()
		m.Type = typ
		b := m.Encode()
		if b[10] ^= 1; b != plain {
			t.Errorf("type %d: %x, and of f32 %x", typ, b, plain)
		}
		b[10] ^= 1
		if got, err := decodeTensorMap(b[:]); err != nil || got.Type != typ {
			t.Errorf("type %d: %+v, %v", typ, got, err)
		}
	}
	m := testMap()
	m.Type = TensorU32
	b := m.Encode()
	b[10] |= 1
	if _, err := decodeTensorMap(b[:]); err == nil {
		t.Error("a map rounds integers")
	}
	m.Type = TensorU8
	b = m.Encode()
	b[8], b[9] = b[8]&0x7f, b[9]&^7|7 // type 14
	if _, err := decodeTensorMap(b[:]); err == nil {
		t.Error("a map has a type that there is not")
	}
}

// Loads make the nearest tf32 of a f32, an even one of two, and zeros of subnormal numbers where a type flushes them.
func TestTensorLoaded(t *testing.T) {
	for _, c := range []struct{ in, f32ftz, tf32, tf32ftz uint32 }{
		{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800000},
		{0x3f800fff, 0x3f800fff, 0x3f800000, 0x3f800000}, // below half
		{0x3f801000, 0x3f801000, 0x3f800000, 0x3f800000}, // half, to even
		{0x3f801001, 0x3f801001, 0x3f802000, 0x3f802000},
		{0xbf803000, 0xbf803000, 0xbf804000, 0xbf804000}, // half, to even
		{0x3ffff000, 0x3ffff000, 0x40000000, 0x40000000}, // into the exponent
		{0x7f7fffff, 0x7f7fffff, 0x7f800000, 0x7f800000},
		{0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
		{0xff800001, 0xff800001, 0xff800001, 0xff800001}, // NaN
		{0x807ff000, 0x80000000, 0x80800000, 0x80000000}, // subnormal
		{0x00000001, 0, 0, 0},
	} {
		var from, room [4]byte
		binary.LittleEndian.PutUint32(from[:], c.in)
		for typ, want := range map[TensorType]uint32{TensorF32: c.in, TensorU32: c.in, TensorF32FTZ: c.f32ftz, TensorTF32: c.tf32, TensorTF32FTZ: c.tf32ftz} {
			if got := binary.LittleEndian.Uint32(typ.loaded(from[:], room[:])); got != want {
				t.Errorf("type %d: %#08x of %#08x, want %#08x", typ, got, c.in, want)
			}
			if binary.LittleEndian.Uint32(from[:]) != c.in {
				t.Errorf("type %d: the tensor itself has changed", typ)
			}
		}
	}
}
