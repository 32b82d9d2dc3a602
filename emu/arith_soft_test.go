package emu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// exactPrec is enough for any fused product of f64 values.
const exactPrec = 6000

func exact(x float64) *big.Float { return new(big.Float).SetPrec(exactPrec).SetFloat64(x) }

// valueOf returns the value of finite bits, and for an infinity what would be the next value of a wider format.
func valueOf(f *floatFormat, b uint64) *big.Float {
	exp := int(b >> f.frac & (1<<f.exp - 1))
	sig := int64(b & (1<<f.frac - 1))
	if exp == 0 {
		exp = 1
	} else {
		sig |= 1 << f.frac
	}
	if b&f.signBit() != 0 {
		sig = -sig
	}
	v := new(big.Float).SetPrec(exactPrec).SetInt64(sig)
	return v.SetMantExp(v, exp-f.bias()-int(f.frac))
}

// checkRounded verifies that b is x, which is not zero, rounded: by the definition of the mode and b's neighbours.
func checkRounded(f *floatFormat, x *big.Float, b uint64, mode rounding) bool {
	sign := b & f.signBit()
	if (sign != 0) != (x.Sign() < 0) {
		return false
	}
	mag := new(big.Float).Abs(x)
	low := b &^ f.signBit() // the largest magnitude not above |x|
	for valueOf(f, low).Cmp(mag) > 0 {
		low--
	}
	if low > b&^f.signBit() || b&^f.signBit()-low > 1 {
		return false
	}
	if low >= f.infinity() {
		low = f.infinity() - 1
	}
	c := compareToMiddle(f, low, mag)
	want := low
	switch {
	case valueOf(f, low).Cmp(mag) == 0:
	case mode == roundRN && (c > 0 || c == 0 && low&1 != 0), mode == roundRM && sign != 0, mode == roundRP && sign == 0:
		want++
	}
	return b == sign|want
}

// compareToMiddle compares x with the middle between low and the next larger value.
func compareToMiddle(f *floatFormat, low uint64, x *big.Float) int {
	mid := valueOf(f, low)
	mid.Add(mid, valueOf(f, low+1))
	return x.Cmp(mid.Quo(mid, big.NewFloat(2)))
}

var allModes = []rounding{roundRN, roundRM, roundRP, roundRZ}

var formats = []struct {
	name string
	*floatFormat
}{{"f16", &formatF16}, {"bf16", &formatBF16}, {"f32", &formatF32}, {"f64", &formatF64}}

// randomFinite returns finite bits, often close to a limit, to halfway cases and to each other's exponents.
func randomFinite(r *rand.Rand, f *floatFormat, near uint64) uint64 {
	b := r.Uint64() & (f.signBit()<<1 - 1)
	switch r.IntN(6) {
	case 0:
		b &= f.signBit() | 1<<f.frac - 1 // denormal
	case 1:
		b = f.infinity() - 1 - b&3
	case 2: // few significant bits
		b &= ^uint64(0) << (f.frac - uint(r.IntN(4)))
	case 3, 4: // an exponent close to the other operand's
		exp := int(near>>f.frac&(1<<f.exp-1)) + r.IntN(2*int(f.frac)+6) - int(f.frac) - 3
		exp = min(max(exp, 0), 1<<f.exp-2)
		b = b&(f.signBit()|1<<f.frac-1) | uint64(exp)<<f.frac
	}
	if b&f.infinity() == f.infinity() {
		b &^= 1 << f.frac
	}
	return b
}

func TestSoftAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for range 2000 {
				a := randomFinite(r, f.floatFormat, r.Uint64())
				b := randomFinite(r, f.floatFormat, a)
				c := randomFinite(r, f.floatFormat, f.times(a, b, roundRZ))
				for _, mode := range allModes {
					checkOperations(t, f.floatFormat, a, b, c, mode)
				}
			}
		})
	}
}

func checkOperations(t *testing.T, f *floatFormat, a, b, c uint64, mode rounding) {
	t.Helper()
	va, vb, vc := valueOf(f, a), valueOf(f, b), valueOf(f, c)
	product := new(big.Float).Mul(va, vb)
	fused := new(big.Float).Add(product, vc)
	for _, op := range []struct {
		name string
		x    *big.Float
		got  uint64
	}{
		{"plus", new(big.Float).Add(va, vc), f.plus(a, c, mode)},
		{"times", product, f.times(a, b, mode)},
		{"fma", fused, f.fma(a, b, c, mode)},
	} {
		if op.x.Sign() != 0 && !checkRounded(f, op.x, op.got, mode) {
			t.Errorf("%s(%x, %x, %x) mode %d = %x", op.name, a, b, c, mode, op.got)
		}
	}
}

func TestSoftSpecialValues(t *testing.T) {
	inf, nan, zero, neg0, one := uint64(0x7f800000), uint64(0x7fc00001), uint64(0), uint64(0x80000000), uint64(0x3f800000)
	f := &formatF32
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"inf-inf", f.plus(inf, inf|neg0, roundRN), f.nan},
		{"inf+1", f.plus(inf, one, roundRN), inf},
		{"1-inf", f.plus(one, inf|neg0, roundRN), inf | neg0},
		{"nan+1", f.plus(nan, one, roundRN), f.nan},
		{"0*inf", f.times(zero, inf, roundRN), f.nan},
		{"-1*inf", f.times(one|neg0, inf, roundRN), inf | neg0},
		{"-0*1", f.times(neg0, one, roundRN), neg0},
		{"1-1 RN", f.plus(one, one|neg0, roundRN), zero},
		{"1-1 RM", f.plus(one, one|neg0, roundRM), neg0},
		{"0-0 RN", f.plus(zero, neg0, roundRN), zero},
		{"0-0 RM", f.plus(zero, neg0, roundRM), neg0},
		{"-0-0 RP", f.plus(neg0, neg0, roundRP), neg0},
		{"max+max RZ", f.plus(0x7f7fffff, 0x7f7fffff, roundRZ), 0x7f7fffff},
		{"max+max RP", f.plus(0x7f7fffff, 0x7f7fffff, roundRP), inf},
	} {
		if c.got != c.want {
			t.Errorf("%s = %x, want %x", c.name, c.got, c.want)
		}
	}
}

// The host's arithmetic and the soft one are independent of each other: they have to agree.
func TestHostAgainstSoft(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		a := randomFinite(r, &formatF32, r.Uint64())
		b := randomFinite(r, &formatF32, a)
		c := randomFinite(r, &formatF32, formatF32.times(a, b, roundRZ))
		checkF32(t, uint32(a), uint32(b), uint32(c))
	}
	for range 50000 {
		a := randomFinite(r, &formatF64, r.Uint64())
		b := randomFinite(r, &formatF64, a)
		c := randomFinite(r, &formatF64, formatF64.times(a, b, roundRZ))
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		if g, w := fmaF64(x, y, z, roundRN), formatF64.fma(a, b, c, roundRN); g != w {
			t.Errorf("fma(%x, %x, %x) = %x, want %x", a, b, c, g, w)
		}
	}
}

func checkF32(t *testing.T, a, b, c uint32) {
	t.Helper()
	A, B, C := uint64(a), uint64(b), uint64(c)
	for _, mode := range allModes {
		m := f32Mode{round: mode}
		if g, w := m.add(a, c), uint32(formatF32.plus(A, C, mode)); g != w {
			t.Errorf("add(%x, %x) mode %d = %x, want %x", a, c, mode, g, w)
		}
		if g, w := m.mul(a, b), uint32(formatF32.times(A, B, mode)); g != w {
			t.Errorf("mul(%x, %x) mode %d = %x, want %x", a, b, mode, g, w)
		}
		if g, w := m.fma(a, b, c), uint32(formatF32.fma(A, B, C, mode)); g != w {
			t.Errorf("fma(%x, %x, %x) mode %d = %x, want %x", a, b, c, mode, g, w)
		}
	}
}

// Halfway sums that one rounding to f64 hides: the product's tail decides.
func TestFFMADoubleRounding(t *testing.T) {
	for _, c := range []struct{ a, b, c, want uint32 }{
		{0x3f800001, 0x33800000, 0x3f800000, 0x3f800001}, // 1 + 2^-24(1+2^-23): just above halfway
		{0x3f7fffff, 0x33800000, 0x3f800000, 0x3f800000}, // just below
		{0x20000001, 0x20000001, 0x3f800001, 0x3f800001}, // a product far below
		{0x1a000001, 0x1a000000, 0x00000002, 0x00000003}, // denormal: 2.5 steps and a little, and less
		{0x19ffffff, 0x1a000000, 0x00000002, 0x00000002},
	} {
		w := newTestWarp(t, sass.SM70, "FFMA R0, R1, R2, R3")
		w.regs[1][0], w.regs[2][0], w.regs[3][0] = c.a, c.b, c.c
		w.runAll(t)
		if got := w.regs[0][0]; got != c.want {
			t.Errorf("fma(%x, %x, %x) = %x, want %x", c.a, c.b, c.c, got, c.want)
		}
	}
}

func TestIntegersToFloat(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		v := r.Uint64() >> r.IntN(64)
		for _, f := range formats {
			for _, mode := range allModes {
				got := f.pack(numberOf(true, v), mode)
				x := new(big.Float).SetPrec(exactPrec).SetUint64(v)
				if v != 0 && !checkRounded(f.floatFormat, x.Neg(x), got, mode) {
					t.Errorf("%s(-%d) mode %d = %x", f.name, v, mode, got)
				}
			}
		}
	}
}
