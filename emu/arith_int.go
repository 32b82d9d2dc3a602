package emu

import "math/bits"

// Integer arithmetic of single lanes.

// addCarry returns a+b+c+carry and how often the sum passes 2^32. Each of a, b and c is a register or, for a negated
// operand, its complement with one added to carry: so that -0 counts 2^32, as a subtraction without borrow does.
func addCarry(a, b, c uint32, carry uint64) (sum uint32, carries uint32) {
	s := uint64(a) + uint64(b) + uint64(c) + carry
	return uint32(s), uint32(s >> 32)
}

// A shift is how SHF shifts the 64-bit value {hi, lo}.
type shift struct {
	right  bool
	signed bool // an arithmetic shift to the right
	wrap   bool // the distance is taken modulo the width, not clamped to it
	high   bool // the result is the high word
	width  uint32
}

// distances returns how a distance is brought into range: first the mask, then the limit.
func (s shift) distances() (mask, limit uint32) {
	if s.wrap {
		return s.width - 1, s.width
	}
	return ^uint32(0), s.width
}

// word returns the word of the shifted value that is the result.
func (s shift) word(v uint64) uint32 {
	if s.high {
		v >>= 32
	}
	return uint32(v)
}

// lutBits returns the value of a three-input truth table for every bit: bit (a<<2 | b<<1 | c) of lut.
func lutBits(lut uint8, a, b, c uint32) uint32 {
	var r uint32
	for i := range uint(8) {
		if lut>>i&1 != 0 {
			r |= minterm(a, i>>2&1) & minterm(b, i>>1&1) & minterm(c, i&1)
		}
	}
	return r
}

// minterm returns x where the table's input is 1 and its complement where it is 0.
func minterm(x uint32, input uint) uint32 { return x ^ (uint32(input) - 1) }

// permuteBytes is PRMT in index mode: byte i of the result is the byte of {b, a} that nibble i of the selector names; its
// bit 3 replicates the sign of that byte instead.
func permuteBytes(a, sel, b uint32) uint32 {
	v := uint64(b)<<32 | uint64(a)
	var r uint32
	for i := range 4 {
		n := sel >> (4 * i)
		x := uint32(v>>(8*(n&7))) & 0xff
		if n&8 != 0 {
			x = uint32(int32(int8(x))>>7) & 0xff
		}
		r |= x << (8 * i)
	}
	return r
}

// prmtSelectors gives the index-mode selector of each other mode of PRMT (forward and backward 4 extract, replicate 8,
// edge clamp left and right, replicate 16) for the two low bits of the selector operand.
var prmtSelectors = [...][4]uint32{
	1: {0x3210, 0x4321, 0x5432, 0x6543},
	2: {0x5670, 0x6701, 0x7012, 0x0123},
	3: {0x0000, 0x1111, 0x2222, 0x3333},
	4: {0x3210, 0x3211, 0x3222, 0x3333},
	5: {0x0000, 0x1110, 0x2210, 0x3210},
	6: {0x1010, 0x3232, 0x1010, 0x3232},
}

// bitMask is BMSK: width ones from bit pos on.
func bitMask(pos, width uint32, wrap bool) uint32 {
	if wrap {
		pos, width = pos&31, width&31
	}
	pos, width = min(pos, 32), min(width, 32)
	return uint32((uint64(1)<<width - 1) << pos)
}

// extend is SGXT: the low width bits of a, extended by sign or by zeros.
func extend(a, width uint32, wrap, unsigned bool) uint32 {
	if wrap {
		width &= 31
	}
	n := 32 - min(width, 32)
	if unsigned {
		return a << n >> n
	}
	return uint32(int32(a<<n) >> n)
}

// findLeading is FLO: the position of the highest one, of a negative number the highest zero; as a shift amount 31
// minus it. All ones where there is none.
func findLeading(a uint32, unsigned, amount bool) uint32 {
	if !unsigned {
		a ^= uint32(int32(a) >> 31)
	}
	switch {
	case a == 0:
		return ^uint32(0)
	case amount:
		return uint32(bits.LeadingZeros32(a))
	}
	return uint32(31 - bits.LeadingZeros32(a))
}

// absolute is IABS; the smallest integer stays.
func absolute(a uint32) uint32 {
	s := uint32(int32(a) >> 31)
	return a ^ s - s
}

// absDiff is VABSDIFF: the exact |a-b|, modulo 2^32.
func absDiff(a, b uint32, unsigned bool) uint32 {
	if unsigned && a < b || !unsigned && int32(a) < int32(b) {
		return b - a
	}
	return a - b
}

// field returns byte or halfword i of a register, extended to an integer.
func field(r uint32, i, width int, signed bool) int32 {
	n := 32 - width
	x := r << (n - i*width)
	if signed {
		return int32(x) >> n
	}
	return int32(x >> n)
}

// dot4 is IDP.4A: c plus the products of the bytes of a and b.
func dot4(a, b, c uint32, signedA, signedB bool) uint32 {
	for i := range 4 {
		c += uint32(field(a, i, 8, signedA) * field(b, i, 8, signedB))
	}
	return c
}

// dot2 is IDP.2A: c plus the products of the halfwords of a and two bytes of b, the low or the high two.
func dot2(a, b, c uint32, signedA, signedB bool, high int) uint32 {
	for i := range 2 {
		c += uint32(field(a, i, 16, signedA) * field(b, i+2*high, 8, signedB))
	}
	return c
}

// absDiff4 is VABSDIFF4: the byte differences |a-b|, each in its byte or, accumulated, summed up.
func absDiff4(a, b, c uint32, unsigned, sum bool) uint32 {
	var packed uint32
	for i := range 4 {
		d := field(a, i, 8, !unsigned) - field(b, i, 8, !unsigned)
		if d < 0 {
			d = -d
		}
		c += uint32(d)
		packed |= uint32(d) & 0xff << (8 * i)
	}
	if sum {
		return c
	}
	return packed
}
