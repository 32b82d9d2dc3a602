package emu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// referenceDot is c plus the dot product in rational numbers, rounded once by math/big.
func referenceDot(a, b []float64, c float64) (f32 uint32, f64 uint64) {
	sum := new(big.Rat).SetFloat64(c)
	for k := range a {
		sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(a[k]), new(big.Rat).SetFloat64(b[k])))
	}
	single, _ := sum.Float32()
	double, _ := sum.Float64()
	return math.Float32bits(single), math.Float64bits(double)
}

// TestExactDot compares dot products of numbers of very different magnitudes, whose sums cancel, with rational arithmetic.
func TestExactDot(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 8))
	for _, c := range []struct {
		name  string
		bits  uint // of the significands of the factors
		scale int  // of exponents: from -scale to scale
		to    target
		exact bool
	}{
		{"halves to single", 11, 14, toF32, true},
		{"bfloat16 to single", 8, 60, toF32, true},
		{"tf32 to single", 11, 60, toF32, true},
		{"double", 53, 3, toF64, false},
		{"double, far apart", 53, 200, toF64, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3000 {
				m := &mma{depth: 16, exact: c.exact}
				var a, b [maxDepth]float64
				for k := range m.depth {
					a[k], b[k] = randomFactor(r, c.bits, c.scale), randomFactor(r, c.bits, c.scale)
					if k%2 == 1 && r.IntN(2) == 0 { // cancels the product before
						a[k], b[k] = -a[k-1], b[k-1]
					}
				}
				addend := randomFactor(r, 24, c.scale)
				got := m.dot(&a, &b, addend, c.to)
				f32, f64 := referenceDot(a[:m.depth], b[:m.depth], addend)
				want := uint64(f32)
				if c.to == toF64 {
					want = f64
				}
				if got != want && want<<1 != 0 { // zeros: the sign is not the sum's
					t.Fatalf("%v · %v + %g = %#x, want %#x", a[:m.depth], b[:m.depth], addend, got, want)
				}
			}
		})
	}
}

// randomFactor draws a number with a significand of so many bits.
func randomFactor(r *rand.Rand, bits uint, scale int) float64 {
	x := math.Ldexp(float64(r.Uint64()>>(64-bits)), r.IntN(2*scale+1)-scale-int(bits))
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// TestSpecialDot holds what infinities, NaNs and overflow make of dot products.
func TestSpecialDot(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name    string
		a, b, c float64
		to      target
		want    uint64
	}{
		{"infinity", inf, 2, 1, toF32, uint64(infF32)},
		{"infinity less infinity", inf, 2, -inf, toF32, uint64(nanF32)},
		{"infinity times zero", inf, 0, 1, toF32, uint64(nanF32)},
		{"NaN", nan, 1, 1, toF16, uint64(nanF16)},
		{"too large for a half", 0x1p10, 0x1p10, 0, toF16, uint64(infF16)},
		{"too large for double precision", 0x1p1000, 0x1p1000, 0, toF64, 0x7ff << 52},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &mma{depth: 1, exact: c.to != toF64}
			if got := m.dot(&[maxDepth]float64{c.a}, &[maxDepth]float64{c.b}, c.c, c.to); got != c.want {
				t.Errorf("%g × %g + %g = %#x, want %#x", c.a, c.b, c.c, got, c.want)
			}
		})
	}
}
