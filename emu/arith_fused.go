package emu

import (
	"math"
	"math/bits"
)

// A fusedSum is how tensor cores add the products of one instruction and its addend: MMA-Sim (arXiv 2511.10909) found it by comparing
// bits with hardware. All terms are aligned to the largest exponent among them, where that of a product is the sum of its factors'; what
// lies below so many bits of fraction is cut off each term; the sum of what remains is exact and loses its lowest bits.
type fusedSum struct {
	align int  // bits of the fraction that terms keep
	keep  int  // bits of the fraction that a sum in single precision keeps
	half  bool // the sum is rounded to half precision, to nearest even
}

// A term is a number or a product of two: its significand times 2^(exp-frac), where frac is that of its format.
type term struct {
	significand int64
	exp         int32
	special     uint8 // specialNaN, or an infinity
}

const (
	specialNaN uint8 = 1 << iota
	specialPlus
	specialMinus
)

// zeroExponent is the exponent that a zero counts with.
const zeroExponent = -126

// A numberFormat says how a number of a type counts in a fusedSum: the bits of its fraction, and the exponent of its smallest normal number, which
// is that of the smaller ones too.
type numberFormat struct {
	frac int
	exp  int32
}

// termOf takes a number apart.
func (f numberFormat) termOf(x float64) term {
	switch {
	case x != x:
		return term{special: specialNaN}
	case math.IsInf(x, 1):
		return term{special: specialPlus}
	case math.IsInf(x, -1):
		return term{special: specialMinus}
	case x == 0:
		return term{exp: zeroExponent}
	}
	exp := f.exponent(x)
	return term{significand: int64(math.Ldexp(x, f.frac-int(exp))), exp: exp}
}

// exponent is the exponent by which a finite number counts.
func (f numberFormat) exponent(x float64) int32 {
	if x == 0 {
		return zeroExponent
	}
	return max(int32(math.Float64bits(x)>>52&0x7ff)-1023, f.exp)
}

// times multiplies two terms.
func (a term) times(b term) term {
	p := term{significand: a.significand * b.significand, exp: a.exp + b.exp}
	if a.special|b.special == 0 {
		return p
	}
	zero := a.special == 0 && a.significand == 0 || b.special == 0 && b.significand == 0
	if (a.special|b.special)&specialNaN != 0 || zero {
		return term{special: specialNaN}
	}
	if a.negative() != b.negative() {
		return term{special: specialMinus}
	}
	return term{special: specialPlus}
}

func (a term) negative() bool { return a.special == specialMinus || a.significand < 0 }

// minus is the term with the other sign.
func (a term) minus() term {
	a.significand = -a.significand
	if a.special&(specialPlus|specialMinus) != 0 {
		a.special ^= specialPlus | specialMinus
	}
	return a
}

// dot adds products, whose fractions have frac bits, and c, whose fraction has cFrac. The result is single precision, or half.
func (f *fusedSum) dot(a, b []term, frac int, c term, cFrac int) uint32 {
	var products [maxDepth]term
	for k := range a {
		p := &products[k]
		p.significand, p.exp = a[k].significand*b[k].significand, a[k].exp+b[k].exp
		if a[k].special|b[k].special != 0 {
			*p = a[k].times(b[k])
		}
	}
	return f.add(products[:len(a)], frac, c, cFrac)
}

// add is dot for products that are made.
func (f *fusedSum) add(products []term, frac int, c term, cFrac int) uint32 {
	largest, special := c.exp, c.special
	for k := range products {
		special |= products[k].special
		largest = max(largest, products[k].exp)
	}
	if special != 0 {
		return f.special(special)
	}
	sum := cut(c.significand, f.align-cFrac-int(largest-c.exp))
	for k := range products {
		sum += cut(products[k].significand, f.align-frac-int(largest-products[k].exp))
	}
	return f.result(sum, int(largest)-f.align)
}

// cut shifts a significand to the left or, towards zero, to the right.
func cut(s int64, left int) int64 {
	switch {
	case left >= 0:
		return s << left
	case left <= -63:
		return 0
	case s < 0:
		return -(-s >> -left)
	}
	return s >> -left
}

// special is the result where there is a NaN or an infinity among the terms.
func (f *fusedSum) special(s uint8) uint32 {
	switch {
	case s == specialPlus && f.half:
		return 0x7c00
	case s == specialMinus && f.half:
		return 0xfc00
	case f.half:
		return 0x7fff
	case s == specialPlus:
		return 0x7f800000
	case s == specialMinus:
		return 0xff800000
	}
	return 0x7fffffff
}

// round is result for a sum that is a f64.
func (f *fusedSum) round(sum float64, unit int) uint32 {
	if !f.half && f.keep == 23 {
		x := math.Float64frombits(math.Float64bits(sum*math.Float64frombits(uint64(1023+unit)<<52)) &^ (1<<29 - 1)) // of 24 digits
		if e := math.Float64bits(x) >> 52 & 0x7ff; e >= 1023-126 && e <= 1023+127 {
			return math.Float32bits(float32(x))
		}
	}
	return f.result(int64(sum), unit)
}

// result is sum·2^unit.
func (f *fusedSum) result(sum int64, unit int) uint32 {
	if f.half {
		return uint32(f16FromF64(math.Ldexp(float64(sum), unit), roundRN))
	}
	if sum == 0 {
		return 0
	}
	negative := sum < 0
	if negative {
		sum = -sum
	}
	exp := max(bits.Len64(uint64(sum))-1+unit, -126)
	var word uint32
	if fraction := cut(sum, unit-exp+f.keep) << (23 - f.keep); exp > 127 {
		word = 0x7f800000
	} else if word = uint32(fraction); fraction>>23 != 0 {
		word = uint32(fraction)&(1<<23-1) | uint32(exp+127)<<23
	}
	if negative {
		word |= 1 << 31
	}
	return word
}
