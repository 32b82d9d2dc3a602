package emu

import "math"

// f16 arithmetic of single lanes. Sums, products and fused products of f16 are computed in f64, from where one
// rounding to f16 gives the correctly rounded result: the f64 sum is exact unless the terms are more than 31 binades
// apart, and then the smaller one is far below half an f16 step of the larger.

const (
	nanF16  uint16 = 0x7fff
	infF16  uint16 = 0x7c00
	signF16 uint16 = 0x8000
	oneF16  uint16 = 0x3c00
)

// f16ToF64 converts exactly. The bits of an f16, moved to where f64 has them, are those of a value 2^1008 times
// smaller; denormals come out right too.
func f16ToF64(h uint16) float64 {
	b := uint64(h&signF16)<<48 | uint64(h&^signF16)<<42
	if h&infF16 == infF16 {
		b |= 0x7ff << 52
	}
	return math.Float64frombits(b) * 0x1p1008
}

// f16FromF64 rounds to f16.
func f16FromF64(x float64, mode rounding) uint16 {
	if mode != roundRN {
		return uint16(formatF16.convert(&formatF64, math.Float64bits(x), mode))
	}
	b := math.Float64bits(x)
	if normalF16(b) {
		return roundNormalF16(b)
	}
	sign := uint16(b>>48) & signF16
	b &^= 1 << 63
	switch exp := int(b >> 52); {
	case exp == 0x7ff && b<<12 != 0:
		return nanF16
	case exp >= 1023+16:
		return sign | infF16
	case exp >= 1023-25: // denormal: add a constant whose last bit weighs 2^-24
		return sign | uint16(math.Float64bits(math.Float64frombits(b)+0x1p28)&0x7ff)
	}
	return sign
}

// normalF16 reports whether f64 bits have an exponent that normal f16 values have.
func normalF16(b uint64) bool { return b<<1-(1023-14)<<53 < 30<<53 }

// roundNormalF16 rounds such bits to nearest. The carry may run into the exponent, up to infinity.
func roundNormalF16(b uint64) uint16 {
	sign := uint16(b>>48) & signF16
	b += 1<<41 - 1 + b>>42&1 - (1023-15)<<52
	return sign | uint16(b>>42)&^signF16
}

// An f16Mode says what an f16 instruction does to denormals and to the result.
type f16Mode struct {
	ftz   bool
	sat   bool
	brain bool // the halves are bf16
	relu  bool // negative results become zero
}

// widen converts exactly.
func (m f16Mode) widen(h uint16) float64 {
	if m.brain {
		return bf16ToF64(h)
	}
	return m.input(h)
}

func (m f16Mode) input(h uint16) float64 {
	if m.ftz {
		h = flushF16(h)
	}
	return f16ToF64(h)
}

func (m f16Mode) result(x float64) uint16 {
	if m.relu && (x < 0 || x == 0) {
		return 0
	}
	if m.brain {
		return m.brainResult(x)
	}
	r := f16FromF64(x, roundRN)
	if m.ftz && math.Abs(x) < 0x1p-14 {
		r &= signF16
	}
	if m.sat {
		r = saturateF16(r)
	}
	return r
}

// brainResult rounds to bf16, whose denormals are never flushed.
func (m f16Mode) brainResult(x float64) uint16 {
	const one = 0x3f80
	r := bf16FromF64(x)
	switch {
	case m.sat && (r&signF16 != 0 || r > uint16(formatBF16.infinity())):
		return 0
	case m.sat && r > one:
		return one
	}
	return r
}

func (m f16Mode) add(a, b uint16) uint16 { return m.result(m.input(a) + m.input(b)) }
func (m f16Mode) mul(a, b uint16) uint16 { return m.result(m.input(a) * m.input(b)) }
func (m f16Mode) fma(a, b, c uint16) uint16 {
	return m.result(float64(m.input(a)*m.input(b)) + m.input(c))
}

func flushF16(h uint16) uint16 {
	if h&infF16 == 0 {
		return h & signF16
	}
	return h
}

// saturateF16 clamps to [+0, 1]; NaN and negative values become +0.
func saturateF16(h uint16) uint16 {
	switch {
	case h&signF16 != 0 || h > infF16:
		return 0
	case h > oneF16:
		return oneF16
	}
	return h
}

// halves splits a register into its low and high half.
func halves(r uint32) (lo, hi uint16) { return uint16(r), uint16(r >> 16) }

// packHalves puts two halves into a register.
func packHalves(lo, hi uint16) uint32 { return uint32(hi)<<16 | uint32(lo) }
