package emu

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gpa/cubin"
)

// TensorMapBytes and TensorMapAlign are the size of a tensor map and what its address is a multiple of.
const (
	TensorMapBytes = cubin.TensorMapBytes
	TensorMapAlign = cubin.TensorMapAlign
)

// A TensorMap describes a tensor in global memory and the box of it that the copy engine moves (CUDA driver API,
// cuTensorMapEncodeTiled). Dimension 0 is the one whose elements are next to each other.
type TensorMap struct {
	Address        uint64
	Type           TensorType
	Sizes          []uint64 // elements of each dimension, 1 to 5 of them
	Strides        []uint64 // bytes from one element to the next of each dimension but the first
	Box            []uint32 // elements of each dimension that are covered
	ElementStrides []uint32 // every how many elements one is copied
	Swizzle        TensorSwizzle
	Interleave     uint8 // 0 for none
	NaN            bool  // elements outside the tensor are NaN, not zero
}

// TensorType is the type of the elements of a tensor. The numbers of the first are those of tensor maps: code that edits them on the device (PTX ISA,
// tensormap.replace) makes 11 to 13 of .b4x16, .b4x16_p64 and .b6x16_p32. Of .tf32 it makes the number of a f32, and a bit besides.
type TensorType uint8

// The types of elements.
const (
	TensorU8 TensorType = iota
	TensorU16
	TensorU32
	TensorS32
	TensorU64
	TensorS64
	TensorF16
	TensorF32
	TensorF32FTZ
	TensorF64
	TensorBF16
	TensorB4x16       // 16 elements of 4 bits in 8 bytes
	TensorB4x16Padded // as it, in the first half of 16 bytes of shared memory
	TensorB6x16Padded // 16 elements of 6 bits in 12 bytes, in the first ones of 16 bytes of shared memory
	TensorTF32        // f32 in global memory, tf32 in shared memory
	TensorTF32FTZ
	numTensorTypes
)

// A boxUnit is what of a type is copied at a time: elements and their bytes in global and in shared memory.
type boxUnit struct{ elements, global, shared uint64 }

var boxUnits = [numTensorTypes]boxUnit{
	{1, 1, 1}, {1, 2, 2}, {1, 4, 4}, {1, 4, 4}, {1, 8, 8}, {1, 8, 8}, {1, 2, 2}, {1, 4, 4}, {1, 4, 4}, {1, 8, 8}, {1, 2, 2},
	TensorB4x16: {16, 8, 8}, TensorB4x16Padded: {16, 8, 16}, TensorB6x16Padded: {16, 12, 16}, TensorTF32: {1, 4, 4}, TensorTF32FTZ: {1, 4, 4},
}

// roundedTypes are the types that a map gives another number and tensorMapRounded.
var roundedTypes = map[TensorType]TensorType{TensorTF32: TensorF32, TensorTF32FTZ: TensorF32FTZ}

// tensorMapRounded is the bit of a map's flags that makes tf32 of f32.
const tensorMapRounded = 1 << 16

// TensorSwizzle is how the 16-byte units of a box are permuted in shared memory.
type TensorSwizzle uint8

// The swizzles: over rows of so many bytes.
const (
	SwizzleNone TensorSwizzle = iota
	Swizzle32
	Swizzle64
	Swizzle128
)

// mask are the bits of an address that are added without carry to its bits 4 and up.
func (s TensorSwizzle) mask() uint64 { return 1<<s - 1 }

// of returns where a byte lies in shared memory.
func (s TensorSwizzle) of(a uint64) uint64 { return a ^ (a>>7&s.mask())<<4 }

// Check reports what the CUDA driver refuses to encode (driver API, cuTensorMapEncodeTiled).
func (m *TensorMap) Check() error {
	rank := len(m.Sizes)
	switch {
	case rank < 1 || rank > 5:
		return fmt.Errorf("a tensor has 1 to 5 dimensions, not %d", rank)
	case len(m.Strides) != rank-1 || len(m.Box) != rank || len(m.ElementStrides) != rank:
		return fmt.Errorf("a tensor of %d dimensions needs %d strides, %d box sizes and %d element strides", rank, rank-1, rank, rank)
	case m.Type >= numTensorTypes:
		return fmt.Errorf("there is no tensor type %d", m.Type)
	case m.Interleave != 0:
		return fmt.Errorf("interleaved tensors are not supported")
	case m.Address%16 != 0:
		return fmt.Errorf("the address %#x is not a multiple of 16", m.Address)
	}
	for i, n := range m.Sizes {
		if n < 1 || n > 1<<32 {
			return fmt.Errorf("dimension %d has %d elements, not 1 to 2^32", i, n)
		}
		if m.Box[i] < 1 || m.Box[i] > 256 {
			return fmt.Errorf("the box has %d elements of dimension %d, not 1 to 256", m.Box[i], i)
		}
		if m.ElementStrides[i] < 1 || m.ElementStrides[i] > 8 {
			return fmt.Errorf("the element stride of dimension %d is %d, not 1 to 8", i, m.ElementStrides[i])
		}
	}
	for i, n := range m.Strides {
		if n%16 != 0 || n >= 1<<40 {
			return fmt.Errorf("the stride of dimension %d is %d bytes, not a multiple of 16 below 2^40", i+1, n)
		}
	}
	return m.checkRow()
}

func (m *TensorMap) unit() boxUnit { return boxUnits[m.Type] }

// checkRow checks the bytes of a row of the box.
func (m *TensorMap) checkRow() error {
	u := m.unit()
	row := uint64(m.Box[0]) / u.elements * u.shared
	switch {
	case uint64(m.Box[0])%u.elements != 0 || m.Sizes[0]%u.elements != 0:
		return fmt.Errorf("a row of %d elements and one of the box of %d of a type of which %d are copied at a time", m.Sizes[0], m.Box[0], u.elements)
	case row%16 != 0:
		return fmt.Errorf("a row of the box has %d bytes, not a multiple of 16", row)
	case m.Swizzle > Swizzle128:
		return fmt.Errorf("there is no swizzle %d", m.Swizzle)
	case m.Swizzle != SwizzleNone && row > 16<<m.Swizzle:
		return fmt.Errorf("a row of the box has %d bytes, more than the %d of the swizzle", row, 16<<m.Swizzle)
	case m.NaN && (m.Type < TensorF16 || u.elements > 1):
		return fmt.Errorf("elements of integers cannot be filled with NaN")
	}
	return nil
}

// Encode writes the map as the copy engine and code on the device read it. The places of the fields are those that ptxas' code for
// tensormap.replace writes. The map has to pass Check.
func (m *TensorMap) Encode() [TensorMapBytes]byte {
	var b [TensorMapBytes]byte
	word := func(at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }
	binary.LittleEndian.PutUint64(b[:], m.Address)
	flags := uint32(len(m.Sizes)-1)<<4 | uint32(m.Interleave)<<11 | uint32(m.Swizzle)<<13
	if stored, rounded := roundedTypes[m.Type]; rounded {
		flags |= uint32(stored)<<7 | tensorMapRounded
	} else {
		flags |= uint32(m.Type) << 7
	}
	if m.NaN {
		flags |= 1 << 15
	}
	word(8, flags)
	var high, steps uint32
	for i, s := range m.Strides {
		word(12+4*i, uint32(s>>4))
		high |= uint32(s>>36) << (4 * i)
	}
	word(28, high)
	for i, n := range m.Sizes {
		word(32+4*i, uint32(n-1))
		steps |= (m.ElementStrides[i] - 1) << (3 * i)
		b[55+i] = byte(m.Box[i] - 1)
	}
	word(52, steps|uint32(b[55])<<24)
	return b
}

// decodeTensorMap reads a map of 128 bytes. The error names what the emulator does not know.
func decodeTensorMap(b []byte) (*TensorMap, error) {
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	flags, high, steps := word(8), word(28), word(52)
	rank := int(flags>>4&7) + 1
	m := &TensorMap{Address: binary.LittleEndian.Uint64(b), Type: TensorType(flags >> 7 & 15), Interleave: uint8(flags >> 11 & 3),
		Swizzle: TensorSwizzle(flags >> 13 & 3), NaN: flags>>15&1 != 0}
	if rank > 5 {
		return nil, fmt.Errorf("a tensor map with %d dimensions", rank)
	}
	for i := range rank {
		if i > 0 {
			m.Strides = append(m.Strides, (uint64(high>>(4*(i-1))&15)<<32|uint64(word(8+4*i)))<<4)
		}
		m.Sizes = append(m.Sizes, uint64(word(32+4*i))+1)
		m.Box = append(m.Box, uint32(b[55+i])+1)
		m.ElementStrides = append(m.ElementStrides, steps>>(3*i)&7+1)
	}
	if flags&tensorMapRounded != 0 {
		stored := m.Type
		m.Type = numTensorTypes
		for typ, of := range roundedTypes {
			if of == stored {
				m.Type = typ
			}
		}
	} else if m.Type >= TensorTF32 {
		m.Type = numTensorTypes // what a map has as these numbers is something else
	}
	return m, m.Check()
}

// A tensorBox is a box of a tensor at coordinates.
type tensorBox struct {
	*TensorMap
	first  []int32  // coordinates, of units in dimension 0
	counts []uint64 // elements of each dimension that are moved, of dimension 0 units
}

// at returns the box at coordinates; an error tells where it begins within a unit.
func (m *TensorMap) at(first []int32) (*tensorBox, error) {
	unit := int32(m.unit().elements)
	if first[0]%unit != 0 {
		return nil, fmt.Errorf("a box that begins at element %d of a type of which %d are copied at a time", first[0], unit)
	}
	b := &tensorBox{TensorMap: m, first: slices.Clone(first), counts: []uint64{uint64(m.Box[0]) / uint64(unit)}} // without interleaving the step of dimension 0 is ignored
	b.first[0] /= unit
	for i, n := range m.Box[1:] {
		step := m.ElementStrides[i+1]
		b.counts = append(b.counts, uint64((n+step-1)/step))
	}
	return b, nil
}

// units returns how many units the box has, those outside the tensor too.
func (b *tensorBox) units() uint64 {
	n := uint64(1)
	for _, count := range b.counts {
		n *= count
	}
	return n
}

// bytes returns how many a copy of the box counts at a barrier: what it moves, without what it leaves free in shared memory, those outside the tensor
// too (as Triton and CUTLASS expect of elements of 4 bits).
func (b *tensorBox) bytes() uint64 { return b.units() * b.unit().global }

// element returns the address of the k-th unit of the box in global memory; ok is false for one outside the tensor.
func (b *tensorBox) element(k uint64) (addr uint64, ok bool) {
	addr, unit := b.Address, b.unit()
	for i, count := range b.counts {
		step, stride, size := int64(b.ElementStrides[i]), unit.global, b.Sizes[i]
		if i == 0 {
			step, size = 1, size/unit.elements
		} else {
			stride = b.Strides[i-1]
		}
		c := int64(b.first[i]) + int64(k%count)*step
		k /= count
		if c < 0 || uint64(c) >= size {
			return 0, false
		}
		addr += uint64(c) * stride
	}
	return addr, true
}

// touch notes the elements of the box that are in the tensor.
func (b *tensorBox) touch(c *bulkCopy) {
	for k := range b.units() {
		if addr, inside := b.element(k); inside {
			c.touch(addr, b.unit().global)
		}
	}
}

// loaded is what a load makes of an element of global memory. Numbers of types with .ftz that are subnormal become zeros with their sign, as elsewhere
// (PTX ISA). A tf32 is the nearest one, an even one of two, and infinities and NaN stay as they are: Triton's test of host descriptors with
// round_f32_to_tf32 holds that on hardware (triton-lang/triton, pull request 11751).
func (t TensorType) loaded(from []byte, room []byte) []byte {
	switch t {
	case TensorF32FTZ, TensorTF32, TensorTF32FTZ:
	default:
		return from
	}
	const cut, exponent = 13, 0x7f800000
	v := binary.LittleEndian.Uint32(from)
	if t != TensorTF32 && v&exponent == 0 {
		v &= signF32
	}
	if t != TensorF32FTZ && v&exponent != exponent {
		v = (v + 1<<(cut-1) - 1 + v>>cut&1) &^ (1<<cut - 1)
	}
	binary.LittleEndian.PutUint32(room, v)
	return room[:4]
}

// fill writes an element outside the tensor: zero, or a NaN, whose bits are not documented.
func (b *tensorBox) fill(to []byte) {
	clear(to)
	if !b.NaN {
		return
	}
	for i := range to {
		to[i] = 0xff
	}
	to[len(to)-1] = 0x7f
}
