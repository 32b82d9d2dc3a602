package cuda

import (
	"fmt"

	"gpa/emu"
)

var tensorMapFunctions = []function{
	{"cuTensorMapEncodeTiled", "piinpoppiiii", nothing, encodeTiled},
	{"cuTensorMapReplaceAddress", "pn", nothing, replaceAddress},
}

// The values of CUtensorMapDataType, as tensor maps have them.
var tensorTypes = map[uint64]emu.TensorType{0: emu.TensorU8, 1: emu.TensorU16, 2: emu.TensorU32, 3: emu.TensorS32, 4: emu.TensorU64, 5: emu.TensorS64, 6: emu.TensorF16, 7: emu.TensorF32,
	8: emu.TensorF64, 9: emu.TensorBF16, 10: emu.TensorF32FTZ, 11: emu.TensorTF32, 12: emu.TensorTF32FTZ, 13: emu.TensorB4x16, 14: emu.TensorB4x16Padded, 15: emu.TensorB6x16Padded}

// The last values of CUtensorMapDataType and so on in cuda.h of CUDA 13. Of the swizzles the copy engine of the emulated GPU knows those of
// 16-byte units.
const (
	lastTensorType = 15
	lastSwizzle    = 6
	lastInterleave = 2
)

// The map may lie anywhere in the program's memory: what cuda.h says of its alignment kernels need, and cuda-core's objects do not have it.

// encodeTiled: the map, type, rank, address, sizes, strides, box, element strides, interleaving, swizzle, promotion in L2, what lies outside.
func encodeTiled(c *call) Result {
	kind, rank, swizzle := c.a[1], int(c.a[2]), c.a[9]
	typ, known := tensorTypes[kind]
	switch {
	case rank < 1 || rank > 5 || kind > lastTensorType || swizzle > lastSwizzle || c.a[8] > lastInterleave || c.a[11] > 1:
		return ErrInvalidValue
	case !known || swizzle > uint64(emu.Swizzle128) || c.a[8] != 0:
		return c.server.lack(fmt.Sprintf("%s with type %d, interleaving %d, swizzle %d", c.function.name, kind, c.a[8], swizzle))
	}
	m := &emu.TensorMap{Address: c.a[3], Type: typ, Swizzle: emu.TensorSwizzle(swizzle), NaN: c.a[11] != 0}
	var r Result
	if m.Sizes, r = c.words(c.a[4], rank); r != Success {
		return r
	}
	if m.Strides, r = c.words(c.a[5], rank-1); r != Success {
		return r
	}
	if m.Box, r = c.numbers(c.a[6], rank); r != Success {
		return r
	}
	if m.ElementStrides, r = c.numbers(c.a[7], rank); r != Success {
		return r
	}
	if m.Check() != nil {
		return ErrInvalidValue
	}
	b := m.Encode()
	return c.out(c.a[0], b[:])
}

// numbers reads an array of numbers of 32 bits.
func (c *call) numbers(addr uint64, n int) ([]uint32, Result) {
	data := make([]byte, 4*n)
	if r := c.load(addr, data); r != Success {
		return nil, r
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = le.Uint32(data[4*i:])
	}
	return list, Success
}

// replaceAddress: the map, the address, in its first word.
func replaceAddress(c *call) Result {
	const align = 16
	if c.a[1]%align != 0 {
		return ErrInvalidValue
	}
	return c.out64(c.a[0], c.a[1])
}
