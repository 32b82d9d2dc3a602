package emu

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// significand returns the 24-bit integer and the power of two whose product a normal f32 is.
func significand(b uint32) (sig uint64, exp int) {
	return uint64(b&0x7fffff | 0x800000), int(b>>23&0xff) - 127 - 23
}

// compareProduct compares a*b*2^exp with 1, where exp <= 0.
func compareProduct(a, b uint64, exp int) int {
	hi, lo := bits.Mul64(a, b)
	one := uint128{0, 1}.shl(-exp)
	switch p := (uint128{hi, lo}); {
	case p.less(one):
		return -1
	case one.less(p):
		return 1
	}
	return 0
}

// The reciprocal is correctly rounded for every significand, as the compiled division requires: the exact one lies
// between the middles to both neighbours.
func TestRCPCorrectlyRounded(t *testing.T) {
	for b := oneF32; b < oneF32+1<<23; b++ {
		x, ex := significand(b)
		y, ey := significand(mufuRCP(b))
		// (2y-1)/2 <= 1/x <= (2y+1)/2; below a power of two the middle is nearer, and only 1/1 is one.
		if compareProduct(2*y-1, x, ex+ey-1) > 0 || compareProduct(2*y+1, x, ex+ey-1) < 0 {
			t.Fatalf("RCP(%08x) = %08x", b, mufuRCP(b))
		}
	}
}

// The reciprocal square root is correctly rounded for every significand and both parities of the exponent.
func TestRSQCorrectlyRounded(t *testing.T) {
	for b := oneF32; b < oneF32+2<<23; b++ {
		x, ex := significand(b)
		y, ey := significand(mufuRSQ(b))
		below, above := (2*y-1)*(2*y-1), (2*y+1)*(2*y+1)
		if compareProduct(below, x, ex+2*ey-2) > 0 || compareProduct(above, x, ex+2*ey-2) < 0 {
			t.Fatalf("RSQ(%08x) = %08x", b, mufuRSQ(b))
		}
	}
}

// mufuPrec is the precision of the references below.
const mufuPrec = 120

// bigExp returns e^x by its series, for |x| <= 1.
func bigExp(x *big.Float) *big.Float {
	sum, term := big.NewFloat(1).SetPrec(mufuPrec), big.NewFloat(1).SetPrec(mufuPrec)
	for i := 1; i < 40; i++ {
		term.Mul(term, x).Quo(term, big.NewFloat(float64(i)))
		sum.Add(sum, term)
	}
	return sum
}

// bigSin returns sin x by its series, for |x| <= 4.
func bigSin(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(mufuPrec), new(big.Float).Set(x)
	for i := 1; i < 80; i += 2 {
		sum.Add(sum, term)
		term.Mul(term, x).Mul(term, x).Quo(term, big.NewFloat(-float64((i+1)*(i+2))))
	}
	return sum
}

func bigConst(s string) *big.Float {
	f, _, err := big.ParseFloat(s, 10, mufuPrec, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

func toBig(b uint32) *big.Float {
	return new(big.Float).SetPrec(mufuPrec).SetFloat64(float64(math.Float32frombits(b)))
}

// absError returns |got - want|.
func absError(got uint32, want *big.Float) float64 {
	d := new(big.Float).Sub(toBig(got), want)
	e, _ := d.Abs(d).Float64()
	return e
}

// The bounds are those of the PTX ISA for ex2, lg2, sin and cos with .approx.ftz.
func TestMUFUBounds(t *testing.T) {
	ln2 := bigConst("0.693147180559945309417232121458176568075500134360255254120680009")
	pi2 := bigConst("6.283185307179586476925286766559005768394338798750211641949889184")
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		x := float32(r.Float64()*252 - 126)
		b := math.Float32bits(x)
		n := math.Floor(float64(x))
		frac := exact(float64(x) - n)
		want := bigExp(frac.Mul(frac.SetPrec(mufuPrec), ln2))
		want.SetMantExp(want, int(n))
		w, _ := want.Float64()
		if e := absError(mufuEX2(b), want); e > 0x1p-22*w {
			t.Errorf("EX2(%v): relative error %g", x, e/w)
		}
		checkLG2(t, math.Float32bits(float32(math.Exp2(float64(x)))), ln2)
		turns := float32(r.Float64()*2 - 1)
		b = math.Float32bits(turns)
		angle := toBig(b)
		angle.Mul(angle, pi2)
		if e := absError(mufuSIN(b), bigSin(angle)); e > math.Exp2(-20.5) {
			t.Errorf("SIN(%v turns): error %g", turns, e)
		}
		quarter := new(big.Float).SetPrec(mufuPrec).Quo(pi2, big.NewFloat(4))
		if e := absError(mufuCOS(b), bigSin(quarter.Sub(quarter, angle.Abs(angle)))); e > math.Exp2(-20.5) {
			t.Errorf("COS(%v turns): error %g", turns, e)
		}
	}
}

// checkLG2 verifies y = log2 x by 2^y: an error e of y makes one of e·ln 2, relatively, in 2^y.
func checkLG2(t *testing.T, x uint32, ln2 *big.Float) {
	t.Helper()
	y := float64(math.Float32frombits(mufuLG2(x)))
	n := math.Floor(y)
	frac := exact(y - n)
	power := bigExp(frac.Mul(frac.SetPrec(mufuPrec), ln2))
	power.SetMantExp(power, int(n)).Quo(power, toBig(x)).Sub(power, big.NewFloat(1))
	e, _ := power.Float64()
	if math.Abs(e)/math.Ln2 > 0x1p-22*max(1, math.Abs(y)) {
		t.Errorf("LG2(%08x) = %v: error %g", x, y, e/math.Ln2)
	}
}

func TestMUFU64H(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 10000 {
		hi := r.Uint32()>>1%0x7fd00000 + 0x00200000
		x := math.Float64frombits(uint64(hi) << 32)
		if hi >= 0x7fc00000 { // the reciprocal is denormal
			continue
		}
		got := math.Float64frombits(uint64(mufuRCP64H(hi)) << 32)
		if e := math.Abs(got*x - 1); e > 0x1p-20 {
			t.Errorf("RCP64H(%08x): relative error %g", hi, e)
		}
		got = math.Float64frombits(uint64(mufuRSQ64H(hi)) << 32)
		if e := math.Abs(got*math.Sqrt(x) - 1); e > 0x1p-20 {
			t.Errorf("RSQ64H(%08x): relative error %g", hi, e)
		}
	}
	for _, c := range []struct {
		name      string
		got, want uint32
	}{
		{"RCP64H(0)", mufuRCP64H(0), 0x7ff00000},
		{"RCP64H(-0)", mufuRCP64H(0x80000000), 0xfff00000},
		{"RCP64H(denormal)", mufuRCP64H(0x000fffff), 0x7ff00000},
		{"RCP64H(inf)", mufuRCP64H(0x7ff00000), 0},
		{"RCP64H(max)", mufuRCP64H(0x7fefffff), 0},
		{"RSQ64H(-1)", mufuRSQ64H(0xbff00000), uint32(nanF64 >> 32)},
		{"RSQ64H(4)", mufuRSQ64H(0x40100000), 0x3fe00000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %08x, want %08x", c.name, c.got, c.want)
		}
	}
}
