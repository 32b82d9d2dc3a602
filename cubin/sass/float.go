package sass

import (
	"math"
	"strconv"
)

// nvdisasm prints a floating-point immediate with printf's %.20g, or %.20e from 1e9 on; infinities, NaNs and minus zero
// by name with a space behind. The payload of a NaN is lost.

// scientificFrom is the magnitude from which on the exponent is printed.
const scientificFrom = 1e9

// appendFloat appends a number. Its zero has no sign: minus zero is a name.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case x == 0 && math.Signbit(x):
		return append(dst, "-0.0 "...)
	case math.IsInf(x, 1):
		return append(dst, "+INF "...)
	case math.IsInf(x, -1):
		return append(dst, "-INF "...)
	case math.Abs(x) >= scientificFrom:
		return strconv.AppendFloat(dst, x, 'e', 20, 64)
	}
	return strconv.AppendFloat(dst, x, 'g', 20, 64)
}

// appendNaN appends the name of a NaN.
func appendNaN(dst []byte, negative, quiet bool) []byte {
	switch {
	case negative && quiet:
		return append(dst, "-QNAN "...)
	case negative:
		return append(dst, "-SNAN "...)
	case quiet:
		return append(dst, "+QNAN "...)
	}
	return append(dst, "+SNAN "...)
}

func appendFloat32(dst []byte, bits uint32) []byte {
	x := math.Float32frombits(bits)
	if x != x {
		return appendNaN(dst, bits>>31 != 0, true)
	}
	return appendFloat(dst, float64(x))
}

func appendFloat64(dst []byte, bits uint64) []byte {
	x := math.Float64frombits(bits)
	if x != x {
		return appendNaN(dst, bits>>63 != 0, bits>>51&1 != 0)
	}
	return appendFloat(dst, x)
}

func appendFloat16(dst []byte, bits uint16) []byte {
	x := float16Value(bits)
	if x != x {
		return appendNaN(dst, bits>>15 != 0, true)
	}
	return appendFloat(dst, x)
}

// float16Value returns the value of a half-precision number.
func float16Value(bits uint16) float64 {
	exp, frac := int(bits>>10&0x1f), float64(bits&0x3ff)
	var x float64
	switch exp {
	case 0:
		x = math.Ldexp(frac, -24)
	case 31:
		x = math.Inf(1)
		if frac != 0 {
			return math.NaN()
		}
	default:
		x = math.Ldexp(1024+frac, exp-25)
	}
	if bits>>15 != 0 {
		return math.Copysign(x, -1)
	}
	return x
}

// float16Bits returns the half-precision number that has the value x, if there is one.
func float16Bits(x float64) (uint16, bool) {
	sign := uint16(0)
	if math.Signbit(x) {
		sign, x = 1<<15, -x
	}
	if math.IsInf(x, 1) {
		return sign | 0x7c00, true
	}
	frac, exp := math.Frexp(x) // x = frac * 2^exp, frac in [0.5, 1)
	var bits float64
	if exp < -13 {
		bits = math.Ldexp(x, 24) // subnormal
	} else {
		bits = (frac*2-1)*1024 + float64(exp+14)*1024
	}
	if x == 0 {
		bits = 0
	}
	return sign | uint16(bits), bits == math.Trunc(bits) && bits < 0x7c00
}
