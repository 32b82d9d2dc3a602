package sass

import (
	"math"
	"strconv"
	"strings"
)

// integer reads a number, hexadecimal with 0x or decimal, with or without a minus sign.
func (p *parser) integer() (int64, bool) {
	q := *p
	negative := q.accept("-")
	base := 10
	if q.accept("0x") {
		base = 16
	}
	end := 0
	for rest := q.rest(); end < len(rest) && digit(rest[end], base); end++ {
	}
	n, err := strconv.ParseUint(q.rest()[:end], base, 63)
	if err != nil {
		return 0, false
	}
	q.pos += end
	*p = q
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}

func digit(c byte, base int) bool {
	return c >= '0' && c <= '9' || base == 16 && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
}

// target reads a code address.
func (p *parser) target(o *Operand) *SyntaxError {
	n, ok := p.integer()
	if !ok {
		return p.fail(p.pos, "a code address")
	}
	o.Imm = uint64(n)
	return nil
}

// immediate reads an immediate as its format prints it.
func (p *parser) immediate(s *Slot, o *Operand) *SyntaxError {
	switch {
	case s.names != nil:
		return p.name(s, o)
	case s.Format == bitSet:
		return p.bitSet(o)
	case (s.Format == float16s || s.Format == bfloat16s) && !strings.HasPrefix(p.rest(), "0x"):
		return p.halves(s, o)
	case s.Format.isFloat():
		v, ok := p.float(s.Format)
		if !ok {
			return p.fail(p.pos, "a floating-point number that the immediate can hold")
		}
		o.Imm = v
		return nil
	}
	start := p.pos
	if s.Bits.N == 64 {
		return p.whole(o)
	}
	n, ok := p.integer()
	if s.Format == signed64 && ok && signExtend(uint64(n), s.Bits.N) == n {
		o.Imm = uint64(n)
		return nil
	}
	limit := int64(Bits{N: s.Bits.N + s.Bits2.N + s.Bits3.N}.max())
	if !ok || n > limit || n < 0 && (s.Bits.N != 32 || n < math.MinInt32) {
		return p.fail(start, "an integer of "+strconv.Itoa(int(s.Bits.N+s.Bits2.N+s.Bits3.N))+" bits")
	}
	o.Imm = uint64(n & limit)
	return nil
}

// whole reads an immediate of 64 bits.
func (p *parser) whole(o *Operand) *SyntaxError {
	w := p.word()
	n, err := strconv.ParseUint(w, 0, 64)
	if err != nil {
		return p.fail(p.pos, "an integer of 64 bits")
	}
	o.Imm = n
	p.pos += len(w)
	return nil
}

// isFloat reports whether the immediate is a floating-point number.
func (f format) isFloat() bool {
	return f == float32s || f == float64s || f == float16 || f == bfloat16 || f == float16s || f == bfloat16s
}

// halves reads two half-precision numbers.
func (p *parser) halves(s *Slot, o *Operand) *SyntaxError {
	format := float16
	if s.Format == bfloat16s {
		format = bfloat16
	}
	high, ok := p.float(format)
	if !ok || p.separator(s, false) != nil {
		return p.fail(p.pos, "two half-precision numbers, high half first")
	}
	low, ok := p.float(format)
	if !ok {
		return p.fail(p.pos, "a half-precision number")
	}
	o.Imm = high<<16 | low
	return nil
}

// float reads a number in the format f and returns its immediate. Hexadecimal numbers are the bits of the field.
func (p *parser) float(f format) (uint64, bool) {
	if strings.HasPrefix(p.rest(), "0x") {
		n, ok := p.integer()
		if f == float64s {
			n <<= 32
		}
		return uint64(n), ok
	}
	end := strings.IndexAny(p.rest(), ", \t;")
	if end < 0 {
		end = len(p.rest())
	}
	word, _, _ := strings.Cut(p.rest()[:end], ".H") // a selector may follow
	word, _, _ = strings.Cut(word, ".B")
	word, _, _ = strings.Cut(word, ".NP")
	end = len(word)
	if bits, ok := namedFloats[word]; ok {
		p.pos += end
		return bits.of(f), true
	}
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, false
	}
	bits, ok := floatBits(f, x)
	if ok {
		p.pos += end
	}
	return bits, ok
}

// floatBits returns the immediate with the value x, if there is one.
func floatBits(f format, x float64) (uint64, bool) {
	switch f {
	case float64s:
		b := math.Float64bits(x)
		return b, b<<32 == 0
	case float16:
		b, ok := float16Bits(x)
		return uint64(b), ok
	case bfloat16:
		b := math.Float32bits(float32(x))
		return uint64(b >> 16), float64(float32(x)) == x && b<<16 == 0
	}
	y := float32(x)
	return uint64(math.Float32bits(y)), float64(y) == x
}

// A namedFloat is the bits of a number that prints as a name.
type namedFloat struct {
	half   uint16
	single uint32
	double uint64
}

func (n namedFloat) of(f format) uint64 {
	switch f {
	case float64s:
		return n.double
	case float16:
		return uint64(n.half)
	case bfloat16:
		return uint64(n.single >> 16)
	}
	return uint64(n.single)
}

// namedFloats are the numbers that print as names. The NaNs are those that NVIDIA's compilers write.
var namedFloats = map[string]namedFloat{
	"+INF":  {0x7c00, 0x7f800000, 0x7ff0000000000000},
	"-INF":  {0xfc00, 0xff800000, 0xfff0000000000000},
	"-0.0":  {0x8000, 0x80000000, 0x8000000000000000},
	"+QNAN": {0x7fff, 0x7fffffff, 0x7ff8000000000000},
	"-QNAN": {0xffff, 0xffc00000, 0xfff8000000000000},
	"+SNAN": {0x7d00, 0x7fa00000, 0x7ff4000000000000},
	"-SNAN": {0xfd00, 0xffa00000, 0xfff4000000000000},
}
