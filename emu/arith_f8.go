package emu

import "math"

// An f8Format is a floating-point format of 8 bits (OCP 8-bit Floating Point Specification, revision 1.0). What is above the
// largest number, but for the sign, is a NaN, or the infinity of E5M2.
type f8Format struct {
	frac     int  // bits of the fraction
	bias     int  // of the exponent
	largest  byte // the code of the largest number
	infinity byte // its code, 0 where there is none
}

var (
	formatE4M3 = f8Format{frac: 3, bias: 7, largest: 0x7e}
	formatE5M2 = f8Format{frac: 2, bias: 15, largest: 0x7b, infinity: 0x7c}
)

// nanF8 is the NaN that conversions return in both formats (cuda_fp8.hpp, which does without the instructions where there are
// none).
const nanF8 = 0x7f

// finite rounds to nearest, ties to even, and takes the largest number for what is larger (PTX ISA, cvt.rn.satfinite).
func (f *f8Format) finite(x float64) byte {
	if x != x {
		return nanF8
	}
	var sign byte
	if math.Signbit(x) {
		sign = 0x80
	}
	x = math.Abs(x)
	if x >= 0x1p16 {
		return sign | f.largest
	}
	// The unit of the last place is that of the smallest normal number for all that are smaller.
	exp := 1 - f.bias
	if x > 0 {
		exp = max(exp, math.Ilogb(x))
	}
	units := math.RoundToEven(math.Ldexp(x, f.frac-exp))
	code := int(units) + (exp+f.bias-1)<<f.frac // a carry out of the fraction goes to the exponent
	return sign | byte(min(code, int(f.largest)))
}

// value is the number of a code.
func (f *f8Format) value(code byte) float64 {
	sign := 1.0
	if code&0x80 != 0 {
		sign = -1
	}
	switch code &= 0x7f; {
	case f.infinity != 0 && code == f.infinity:
		return math.Inf(int(sign))
	case code > f.largest:
		return math.NaN()
	}
	exp, units := int(code>>f.frac), int(code)&(1<<f.frac-1)
	if exp > 0 {
		units += 1 << f.frac
	}
	return sign * math.Ldexp(float64(units), max(exp, 1)-f.bias-f.frac)
}
