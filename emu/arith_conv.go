package emu

import "math"

// Conversions of single lanes. Every f16 and f32 is an f64, so conversions from floating point start from an f64.

// roundIntegral rounds to an integral value, keeping the sign of zero.
func roundIntegral(x float64, mode rounding) float64 {
	switch mode {
	case roundRM:
		return math.Floor(x)
	case roundRP:
		return math.Ceil(x)
	case roundRZ:
		return math.Trunc(x)
	}
	return math.RoundToEven(x)
}

// An intType is an integer type of 8 to 64 bits.
type intType struct {
	bits   uint
	signed bool
}

// fromFloat rounds x to an integer and clamps it to the type. A NaN becomes zero or, without nanToZero, the type's
// highest bit. The result is extended to 64 bits by sign or zeros.
func (t intType) fromFloat(x float64, mode rounding, nanToZero bool) uint64 {
	if x != x {
		if nanToZero {
			return 0
		}
		return t.extend(1 << (t.bits - 1))
	}
	x = roundIntegral(x, mode)
	if !t.signed {
		switch {
		case x <= 0:
			return 0
		case x >= math.Ldexp(1, int(t.bits)):
			return math.MaxUint64 >> (64 - t.bits)
		}
		return uint64(x)
	}
	limit := math.Ldexp(1, int(t.bits)-1)
	switch {
	case x >= limit:
		return math.MaxInt64 >> (64 - t.bits)
	case x < -limit:
		return t.extend(1 << (t.bits - 1))
	}
	return uint64(int64(x))
}

// extend returns the low bits of v extended to 64 bits.
func (t intType) extend(v uint64) uint64 {
	n := 64 - t.bits
	if t.signed {
		return uint64(int64(v<<n) >> n)
	}
	return v << n >> n
}

// magnitude splits an extended integer into sign and absolute value.
func (t intType) magnitude(v uint64) (neg bool, mag uint64) {
	if t.signed && int64(v) < 0 {
		return true, -v
	}
	return false, v
}

// toFloat rounds the low bits of v to a floating-point format.
func (t intType) toFloat(v uint64, to *floatFormat, mode rounding) uint64 {
	return to.pack(numberOf(t.magnitude(t.extend(v))), mode)
}

// flush turns a denormal into a zero of the same sign.
func (f *floatFormat) flush(b uint64) uint64 {
	if b&f.infinity() == 0 {
		return b & f.signBit()
	}
	return b
}
