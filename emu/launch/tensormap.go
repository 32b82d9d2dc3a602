package launch

import (
	"math"
	"slices"
	"strings"

	"gpa/emu"
)

// tensorTypes are the names of the element types of tensor maps.
var tensorTypes = []string{"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "b4x16", "b4x16_p64", "b6x16_p32", "tf32", "tf32.ftz"}

// swizzleBytes are the rows of the swizzles.
var swizzleBytes = []int64{0, 32, 64, 128}

// decodeTensorMap reads a tensor map: buffer, offset, type, dims, strides, box, element_strides, swizzle and fill.
func (d *decoder) decodeTensorMap(n node, a *Arg) {
	m := &TensorMap{}
	d.fields(n, map[string]func(node){
		"buffer": func(v node) { a.Buffer = d.text(v) },
		"offset": func(v node) { a.Offset = d.integer(v, 0, maxBufferBytes) },
		"type": func(v node) {
			i := slices.Index(tensorTypes, d.text(v))
			if i < 0 {
				d.fail(v, "%q is no type of a tensor; the types are %s", d.text(v), strings.Join(tensorTypes, " "))
				return
			}
			m.Type = emu.TensorType(i)
		},
		"dims":            func(v node) { m.Sizes = list[uint64](d, v) },
		"strides":         func(v node) { m.Strides = list[uint64](d, v) },
		"box":             func(v node) { m.Box = list[uint32](d, v) },
		"element_strides": func(v node) { m.ElementStrides = list[uint32](d, v) },
		"swizzle": func(v node) {
			i := slices.Index(swizzleBytes, d.integer(v, 0, 128))
			if i < 0 {
				d.fail(v, "a swizzle is 0, 32, 64 or 128 bytes")
				return
			}
			m.Swizzle = emu.TensorSwizzle(i)
		},
		"fill": func(v node) {
			switch d.text(v) {
			case "zero":
			case "nan":
				m.NaN = true
			default:
				d.fail(v, "fill is zero or nan")
			}
		},
	})
	if m.ElementStrides == nil {
		m.ElementStrides = slices.Repeat([]uint32{1}, len(m.Sizes))
	}
	if a.Buffer == "" {
		d.fail(n, "a tensor map needs a buffer")
	}
	m.Address = uint64(a.Offset) // buffers are aligned to more than any map asks for
	if err := m.Check(); err != nil {
		d.fail(n, "%v", err)
	}
	a.Map = m
}

// list reads numbers of a tensor map, from 0 to what 32 bits count.
func list[T uint32 | uint64](d *decoder, n node) []T {
	numbers := []T{}
	for _, item := range d.items(n) {
		numbers = append(numbers, T(d.integer(item, 0, math.MaxUint32)))
	}
	return numbers
}
