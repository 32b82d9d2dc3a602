package emu

import "math/bits"

// Exact binary floating-point arithmetic in integers, for any IEEE 754 format of up to 53 significant bits and all four
// rounding modes. Instructions use the host's arithmetic where that gives the same bits; what is left (directed
// roundings of f64, narrow formats, wide integers) comes here.

// A rounding is one of the four rounding modes, numbered as instruction words number them.
type rounding uint8

const (
	roundRN rounding = iota // to nearest, ties to even
	roundRM                 // toward minus infinity
	roundRP                 // toward plus infinity
	roundRZ                 // toward zero
)

// away reports whether the mode rounds a value of that sign away from zero.
func (r rounding) away(neg bool) bool { return r == roundRM && neg || r == roundRP && !neg }

// A floatFormat is a binary floating-point format of IEEE 754.
type floatFormat struct {
	exp  uint   // bits of the exponent field
	frac uint   // bits of the fraction field
	nan  uint64 // the NaN that instructions return
}

// The formats of the hardware. The NaNs of f16, bf16 and f32 are the ones that PTX documents; that of f64 is the one
// that the compiled division and square root return for an invalid operand.
var (
	formatF16  = floatFormat{exp: 5, frac: 10, nan: 0x7fff}
	formatBF16 = floatFormat{exp: 8, frac: 7, nan: 0x7fff}
	formatF32  = floatFormat{exp: 8, frac: 23, nan: uint64(nanF32)}
	formatF64  = floatFormat{exp: 11, frac: 52, nan: nanF64}
)

func (f *floatFormat) bias() int        { return 1<<(f.exp-1) - 1 }
func (f *floatFormat) infinity() uint64 { return (1<<f.exp - 1) << f.frac }
func (f *floatFormat) signBit() uint64  { return 1 << (f.exp + f.frac) }

type numberClass uint8

const (
	classZero numberClass = iota
	classFinite
	classInfinity
	classNaN
)

// A number is an unpacked value. A finite one is (-1)^neg × sig × 2^(exp-126), where sig, a 128-bit integer, has its
// highest one at bit 126. The lowest bit may stand for any number of ones below it.
type number struct {
	class numberClass
	neg   bool
	exp   int
	sig   uint128
}

type uint128 struct{ hi, lo uint64 }

// shl shifts left by 0 <= n < 128.
func (u uint128) shl(n int) uint128 {
	if n >= 64 {
		return uint128{u.lo << (n - 64), 0}
	}
	return uint128{u.hi<<n | u.lo>>(64-n), u.lo << n}
}

// shr shifts right by n >= 0.
func (u uint128) shr(n int) uint128 {
	if n >= 64 {
		return uint128{0, u.hi >> (n - 64)}
	}
	return uint128{u.hi >> n, u.lo>>n | u.hi<<(64-n)}
}

// shrJam shifts right by n >= 0 and sets the lowest bit if a one fell out, so that rounding still sees it.
func (u uint128) shrJam(n int) uint128 {
	r := u.shr(n)
	if n >= 128 && u != (uint128{}) || n < 128 && r.shl(n) != u {
		r.lo |= 1
	}
	return r
}

func (u uint128) add(v uint128) uint128 {
	lo, c := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, c)
	return uint128{hi, lo}
}

func (u uint128) sub(v uint128) uint128 {
	lo, b := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, b)
	return uint128{hi, lo}
}

func (u uint128) less(v uint128) bool { return u.hi < v.hi || u.hi == v.hi && u.lo < v.lo }

// finite returns (-1)^neg × sig × 2^(exp-126) with its highest one moved to bit 126.
func finite(neg bool, exp int, sig uint128) number {
	if sig == (uint128{}) {
		return number{neg: neg}
	}
	n := bits.LeadingZeros64(sig.hi)
	if sig.hi == 0 {
		n = 64 + bits.LeadingZeros64(sig.lo)
	}
	if n == 0 {
		return number{classFinite, neg, exp + 1, sig.shrJam(1)}
	}
	return number{classFinite, neg, exp - (n - 1), sig.shl(n - 1)}
}

// numberOf returns the integer (-1)^neg × mag.
func numberOf(neg bool, mag uint64) number { return finite(neg, 126, uint128{0, mag}) }

// unpack returns the value that the bits mean in a format.
func (f *floatFormat) unpack(b uint64) number {
	neg := b&f.signBit() != 0
	exp := int(b >> f.frac & (1<<f.exp - 1))
	frac := b & (1<<f.frac - 1)
	switch {
	case exp == 1<<f.exp-1 && frac != 0:
		return number{class: classNaN}
	case exp == 1<<f.exp-1:
		return number{class: classInfinity, neg: neg}
	case exp == 0:
		exp++
	default:
		frac |= 1 << f.frac
	}
	return finite(neg, exp-f.bias()+126-int(f.frac), uint128{0, frac})
}

// pack rounds a value to a format.
func (f *floatFormat) pack(n number, mode rounding) uint64 {
	var sign uint64
	if n.neg {
		sign = f.signBit()
	}
	switch n.class {
	case classZero:
		return sign
	case classInfinity:
		return sign | f.infinity()
	case classNaN:
		return f.nan
	}
	drop := 126 - int(f.frac)
	biased := n.exp + f.bias()
	if biased <= 0 { // denormal: fewer bits are kept
		drop += 1 - biased
		biased = 0
	} else {
		biased-- // the leading one is added to the field
	}
	kept := roundShift(n.sig, min(drop, 128), mode, n.neg)
	if biased >= 1<<f.exp-1 {
		return sign | f.overflow(mode, n.neg)
	}
	b := uint64(biased)<<f.frac + kept
	if b >= f.infinity() {
		return sign | f.overflow(mode, n.neg)
	}
	return sign | b
}

// overflow returns what a value too large for the format becomes, without its sign.
func (f *floatFormat) overflow(mode rounding, neg bool) uint64 {
	if mode == roundRN || mode.away(neg) {
		return f.infinity()
	}
	return f.infinity() - 1
}

// roundShift returns u / 2^n, rounded, for 0 < n <= 128. What is kept must fit 64 bits.
func roundShift(u uint128, n int, mode rounding, neg bool) uint64 {
	var kept uint64
	if n < 128 {
		kept = u.shr(n).lo
	}
	rest := u.shl(128 - n&127)
	if n == 128 {
		rest = u
	}
	half := uint128{hi: 1 << 63}
	switch {
	case rest == (uint128{}):
	case mode == roundRN && (half.less(rest) || rest == half && kept&1 != 0), mode.away(neg):
		kept++
	}
	return kept
}

// mul returns the exact product of two values of at most 63 significant bits.
func (n number) mul(m number) number {
	neg := n.neg != m.neg
	switch {
	case n.class == classNaN || m.class == classNaN,
		n.class == classInfinity && m.class == classZero, n.class == classZero && m.class == classInfinity:
		return number{class: classNaN}
	case n.class == classInfinity || m.class == classInfinity:
		return number{class: classInfinity, neg: neg}
	case n.class == classZero || m.class == classZero:
		return number{neg: neg}
	}
	hi, lo := bits.Mul64(n.sig.hi, m.sig.hi)
	return finite(neg, n.exp+m.exp+2, uint128{hi, lo})
}

// add returns the sum, exact but for ones far below the lowest significant bit. The mode decides the sign of an exact
// zero.
func (n number) add(m number, mode rounding) number {
	switch {
	case n.class == classNaN || m.class == classNaN, n.class == classInfinity && m.class == classInfinity && n.neg != m.neg:
		return number{class: classNaN}
	case n.class == classInfinity || m.class == classZero && n.class != classZero:
		return n
	case m.class == classInfinity || n.class == classZero && m.class != classZero:
		return m
	case n.class == classZero && n.neg == m.neg:
		return n
	case n.class == classZero:
		return number{neg: mode == roundRM}
	}
	if n.exp < m.exp || n.exp == m.exp && n.sig.less(m.sig) {
		n, m = m, n
	}
	low := m.sig.shrJam(n.exp - m.exp)
	if n.neg == m.neg {
		return finite(n.neg, n.exp, n.sig.add(low))
	}
	sum := finite(n.neg, n.exp, n.sig.sub(low))
	if sum.class == classZero {
		sum.neg = mode == roundRM
	}
	return sum
}

// fma returns a×b+c rounded once.
func (f *floatFormat) fma(a, b, c uint64, mode rounding) uint64 {
	return f.pack(f.unpack(a).mul(f.unpack(b)).add(f.unpack(c), mode), mode)
}

// plus returns a+b rounded.
func (f *floatFormat) plus(a, b uint64, mode rounding) uint64 {
	return f.pack(f.unpack(a).add(f.unpack(b), mode), mode)
}

// times returns a×b rounded.
func (f *floatFormat) times(a, b uint64, mode rounding) uint64 {
	return f.pack(f.unpack(a).mul(f.unpack(b)), mode)
}

// convert returns a value of one format in another.
func (f *floatFormat) convert(from *floatFormat, b uint64, mode rounding) uint64 {
	return f.pack(from.unpack(b), mode)
}
