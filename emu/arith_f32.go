package emu

import "math"

// f32 arithmetic of single lanes on register bits. The sum and the product of two f32 are computed in f64, where the
// product is exact and the sum is rounded to odd (Boldo and Melquiond 2008), so that one rounding to f32 follows.

const (
	nanF32   uint32 = 0x7fffffff // the NaN that every f32 instruction returns
	infF32   uint32 = 0x7f800000
	signF32  uint32 = 0x80000000
	oneF32   uint32 = 0x3f800000
	tinyF32         = 0x1p-126 // the smallest normal f32
	fracOdd  uint64 = 1<<29 - 1
	fracHalf uint64 = 1 << 28 // what f64 has below f32 when it lies between two f32
)

// An f32Mode is how an f32 instruction rounds and what it does to denormals and to the result.
type f32Mode struct {
	round rounding
	ftz   bool // denormal inputs and results become zero
	sat   bool // the result is clamped to [+0, 1], NaN becomes +0
}

// input returns an operand as f64.
func (m f32Mode) input(b uint32) float64 {
	if m.ftz {
		b = flushF32(b)
	}
	return float64(math.Float32frombits(b))
}

// result rounds x, an exact value or one rounded to odd, and applies what the mode says.
func (m f32Mode) result(x float64) uint32 {
	r := roundF32(x, m.round)
	if m.ftz && math.Abs(x) < tinyF32 {
		r &= signF32
	}
	if m.sat {
		r = saturateF32(r)
	}
	return r
}

func (m f32Mode) add(a, b uint32) uint32 {
	return m.result(addOdd(m.input(a), m.input(b), m.round))
}

func (m f32Mode) mul(a, b uint32) uint32 {
	return m.result(m.input(a) * m.input(b))
}

func (m f32Mode) fma(a, b, c uint32) uint32 {
	return m.result(addOdd(float64(m.input(a)*m.input(b)), m.input(c), m.round))
}

// addOdd returns x+y rounded to odd: of the two f64 around an inexact sum, the one whose last bit is set. The mode
// decides the sign of an exact zero. Neither overflows: operands are products of f32.
func addOdd(x, y float64, mode rounding) float64 {
	s := x + y
	if s == 0 {
		if mode == roundRM && (x != 0 || math.Signbit(x) != math.Signbit(y)) {
			return math.Copysign(0, -1)
		}
		return s
	}
	// The error of the sum is exact (Knuth, TwoSum).
	v := s - x
	e := float64(x-float64(s-v)) + float64(y-v)
	if e == 0 || e != e {
		return s
	}
	b := math.Float64bits(s)
	if math.Signbit(e) != math.Signbit(s) { // |s| is too large: truncate
		b--
	}
	return math.Float64frombits(b | 1)
}

// roundF32 rounds an f64 to f32.
func roundF32(x float64, mode rounding) uint32 {
	f := float32(x)
	r := math.Float32bits(f)
	if f != f {
		return nanF32
	}
	y := float64(f)
	if mode == roundRN || y == x {
		return r
	}
	neg := math.Signbit(x)
	switch {
	case math.Abs(y) < math.Abs(x) && mode.away(neg):
		return r + 1
	case math.Abs(y) > math.Abs(x) && !mode.away(neg):
		return r - 1
	}
	return r
}

// flushF32 turns a denormal into a zero of the same sign.
func flushF32(b uint32) uint32 {
	if b&infF32 == 0 {
		return b & signF32
	}
	return b
}

// saturateF32 clamps to [+0, 1]; NaN and negative values become +0.
func saturateF32(b uint32) uint32 {
	f := math.Float32frombits(b)
	switch {
	case !(f > 0):
		return 0
	case f > 1:
		return oneF32
	}
	return b
}

// bitsF32 returns the bits of a result, NaN in its canonical form.
func bitsF32(f float32) uint32 {
	if f != f {
		return nanF32
	}
	return math.Float32bits(f)
}

// roundFlush rounds to nearest; what is below the smallest normal number beforehand becomes a zero of its sign.
func roundFlush(x float64) uint32 {
	if math.Abs(x) < tinyF32 {
		return uint32(math.Float64bits(x)>>32) & signF32
	}
	return bitsF32(float32(x))
}

func isNaNF32(b uint32) bool { return b&^signF32 > infF32 }

// canonicalF32 replaces a NaN by the one that instructions return.
func canonicalF32(b uint32) uint32 {
	if isNaNF32(b) {
		return nanF32
	}
	return b
}

// productSum returns a×b+c rounded to f64.
func productSum(a, b, c uint32) float64 {
	x, y, z := math.Float32frombits(a), math.Float32frombits(b), math.Float32frombits(c)
	return float64(float64(x)*float64(y)) + float64(z)
}

// singleRounding reports whether rounding the f64 sum s of f32 values, or their products, to f32 is as good as
// rounding the exact sum: s is a normal f32 and does not lie halfway between two.
func singleRounding(s float64) bool {
	b := math.Float64bits(s)
	return b&fracOdd != fracHalf && b<<1-896<<53-1<<53 < 254<<53
}

// minF32 and maxF32 return the other operand for a NaN and order -0 before +0.
func minF32(a, b uint32) uint32 {
	if isNaNF32(a) {
		return canonicalF32(b)
	}
	if isNaNF32(b) || orderF32(a) <= orderF32(b) {
		return a
	}
	return b
}

func maxF32(a, b uint32) uint32 {
	if isNaNF32(a) {
		return canonicalF32(b)
	}
	if isNaNF32(b) || orderF32(a) >= orderF32(b) {
		return a
	}
	return b
}

// orderF32 maps f32 bits to integers of the same order, -0 before +0.
func orderF32(b uint32) int32 { return int32(b ^ uint32(int32(b)>>31)>>1) }

// divideUnsafe is FCHK's test: whether the short division sequence a/b (reciprocal, Newton steps, correction) may give
// a wrong result, so that the complete routine has to run. The hardware's thresholds are not published; these were
// found by running the sequence with a correctly rounded reciprocal over all pairs of exponents. Saying true too often
// changes the path that is taken, not the quotient.
func divideUnsafe(a, b uint32) bool {
	ea, eb := int(a>>23&0xff), int(b>>23&0xff)
	return eb == 0 || eb >= 253 || ea == 255 || ea <= 24 || ea-eb >= 126 || ea-eb <= -125
}
