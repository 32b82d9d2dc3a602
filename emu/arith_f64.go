package emu

import "math"

// f64 arithmetic of single lanes.

const nanF64 uint64 = 0xfff8000000000000 // the NaN that f64 instructions return

func addF64(a, b float64, mode rounding) uint64 {
	if mode == roundRN {
		return bitsF64(a + b)
	}
	return formatF64.plus(math.Float64bits(a), math.Float64bits(b), mode)
}

func mulF64(a, b float64, mode rounding) uint64 {
	if mode == roundRN {
		return bitsF64(a * b)
	}
	return formatF64.times(math.Float64bits(a), math.Float64bits(b), mode)
}

func fmaF64(a, b, c float64, mode rounding) uint64 {
	if mode == roundRN {
		return bitsF64(math.FMA(a, b, c))
	}
	return formatF64.fma(math.Float64bits(a), math.Float64bits(b), math.Float64bits(c), mode)
}

// bitsF64 returns the bits of a result, NaN in its canonical form: hosts differ in theirs.
func bitsF64(x float64) uint64 {
	if x != x {
		return nanF64
	}
	return math.Float64bits(x)
}

// lessF64 orders as DSETP.MIN does: -0 before +0, false where one is NaN.
func lessF64(a, b float64) bool {
	return a < b || a == b && math.Signbit(a) && !math.Signbit(b)
}
