package emu

import (
	"math"
	"math/big"
)

// Exact dot products, rounded once.

// A target rounds a real number, of which it gets f64 that are odd where they are not exact (see addOdd), to the bits of a
// format.
type target uint8

const (
	toF16 target = iota
	toF32
	toF64
)

// round rounds high+low, where low is much smaller.
func (t target) round(high, low float64) uint64 {
	switch t {
	case toF16:
		return uint64(f16FromF64(addOdd(high, low, roundRN), roundRN))
	case toF32:
		return uint64(roundF32(addOdd(high, low, roundRN), roundRN))
	}
	return bitsF64(high + low)
}

// A running sum is high+low, but for an error of at most slack.
type runningSum struct{ high, low, slack float64 }

// add adds a number. What the high part loses, which is exact (Knuth, TwoSum), goes to the low part.
func (s *runningSum) add(x float64) {
	t := s.high + x
	v := t - s.high
	e := float64(s.high-float64(t-v)) + float64(x-v)
	s.high = t
	if e != 0 {
		s.addLow(e)
	}
}

func (s *runningSum) addLow(e float64) {
	s.low += e
	s.slack += math.Abs(s.low) * 0x1p-52
}

// dot returns c plus the sum of the products, rounded once. Where the running sum leaves open how to round, all is added up
// exactly.
func (m *mma) dot(a, b *[maxDepth]float64, c float64, to target) uint64 {
	s := runningSum{high: c}
	for k := range m.depth {
		x := float64(a[k] * b[k])
		s.add(x)
		if !m.exact {
			if e := math.FMA(a[k], b[k], -x); e != 0 {
				s.addLow(e)
			}
		}
	}
	switch {
	case s.low == 0 && s.slack == 0:
		return to.round(s.high, 0)
	case s.high-s.high != 0: // an infinity, a NaN or an overflow
		return m.exactDot(a, b, c, to)
	}
	r := to.round(s.high, s.low-2*s.slack)
	if r == to.round(s.high, s.low+2*s.slack) && math.Abs(s.high) > 0x1p-900 { // errors of products are exact
		return r
	}
	return m.exactDot(a, b, c, to)
}

// A span says within what numbers lie: they are multiples of 2^low and less than 2^high. Zeros alone have the empty span; numbers that are not finite
// have one that nothing is exact in.
type span struct{ low, high int }

// emptySpan is beyond every exponent, so that products with it are empty too.
var emptySpan = span{1 << 16, -1 << 16}

// spanOf is the span of f64 of so many digits.
func spanOf(x []float64, digits int) span {
	low, high := uint64(0x7ff), uint64(0) // exponents as they are stored
	for _, v := range x {
		if e := math.Float64bits(v) >> 52 & 0x7ff; v != 0 {
			low, high = min(low, e), max(high, e)
		}
	}
	switch {
	case high == 0x7ff:
		return span{-1 << 16, 1 << 16}
	case high == 0:
		return emptySpan
	}
	return span{int(low) - 1023 - (digits - 1), int(high) - 1022}
}

// times is the span of products.
func (s span) times(t span) span { return span{s.low + t.low, s.high + t.high} }

// with is the span of numbers of either.
func (s span) with(t span) span { return span{min(s.low, t.low), max(s.high, t.high)} }

// dotOf adds up products where no order of the additions rounds.
func dotOf(x, y []float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += float64(x[0] * y[0])
		b += float64(x[1] * y[1])
		c += float64(x[2] * y[2])
		d += float64(x[3] * y[3])
		x, y = x[4:], y[4:]
	}
	return (a + b) + (c + d)
}

// exactDot is dot in arithmetic of as many bits as it takes. Infinities and NaNs are what IEEE 754 makes of them.
func (m *mma) exactDot(a, b *[maxDepth]float64, c float64, to target) uint64 {
	special, sum := c, newExact(c)
	for k := range m.depth {
		special += finiteZero(a[k], b[k])
		if sum != nil && isFinite(a[k]) && isFinite(b[k]) {
			sum.Add(sum, new(big.Float).SetPrec(128).Mul(newExact(a[k]), newExact(b[k])))
		}
	}
	if special-special != 0 {
		return to.round(special, 0)
	}
	// The f64 toward zero, and a little more where that is not all.
	high, _ := new(big.Float).SetPrec(53).SetMode(big.ToZero).Set(sum).Float64()
	if !isFinite(high) {
		return to.round(high, 0)
	}
	rest := new(big.Float).SetPrec(exactBits).Sub(sum, newExact(high))
	low, _ := rest.Float64()
	if to == toF64 {
		nearest, _ := sum.Float64()
		return bitsF64(nearest)
	}
	return to.round(high, low)
}

// exactBits is enough for any sum of products of f64.
const exactBits = 4400

// newExact returns x as a number of many bits; nil where it is not finite.
func newExact(x float64) *big.Float {
	if !isFinite(x) {
		return nil
	}
	return new(big.Float).SetPrec(exactBits).SetFloat64(x)
}

func isFinite(x float64) bool { return x-x == 0 }

// finiteZero returns the product where a factor is not finite, else zero.
func finiteZero(x, y float64) float64 {
	if isFinite(x) && isFinite(y) {
		return 0
	}
	return x * y
}
