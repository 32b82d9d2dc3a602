package launch

import "math"

// float16Bits rounds to the nearest binary16 value, ties to even. Scaling by a power of two puts the last place of the
// result at 1, so that one RoundToEven does the rounding, for normal and subnormal results alike.
func float16Bits(f float64) uint16 {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	a := math.Abs(f)
	switch {
	case a != a:
		return 0x7fff
	case a >= 65520: // rounds past the largest finite value, 65504
		return sign | 0x7c00
	}
	exponent := -14
	if a >= 0x1p-14 {
		exponent = math.Ilogb(a)
	}
	units := uint16(math.RoundToEven(math.Ldexp(a, 10-exponent))) // of 2^(exponent-10); a carry moves to the exponent
	return sign | uint16(exponent+14)<<10 + units
}

// float16Value is the value of a binary16 number.
func float16Value(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&0x3ff)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h&0x8000 != 0 {
		v = -v
	}
	return v
}

// bfloat16Bits rounds to the nearest bfloat16 value, ties to even. The first rounding is to odd, with all the bits of
// float32 in reserve, so that the second one is correct.
func bfloat16Bits(f float64) uint16 {
	if f != f {
		return 0x7fff
	}
	single := float32(f)
	bits := math.Float32bits(single)
	if back := float64(single); back != f && !math.IsInf(back, 0) {
		if math.Abs(back) > math.Abs(f) {
			bits--
		}
		bits |= 1
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
