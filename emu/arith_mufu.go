package emu

import "math"

// The functions of the special function unit (MUFU) on single lanes. The hardware's are table look-ups with quadratic
// interpolation (Oberman and Siu 2005) whose last bits are not published. Here each is computed in f64 and rounded to
// nearest: inside PTX's bounds for the .approx.ftz instructions, and exact enough for the compiled division and square
// root sequences, which are correctly rounded when the reciprocal and the reciprocal square root are. Denormal inputs
// and results are flushed to zero.

// mufuInput returns an operand, flushed.
func mufuInput(b uint32) float64 { return float64(math.Float32frombits(flushF32(b))) }

func mufuRCP(b uint32) uint32 { return roundFlush(1 / mufuInput(b)) }

func mufuSQRT(b uint32) uint32 { return roundFlush(math.Sqrt(mufuInput(b))) }

// mufuRSQ keeps the sign of a zero in its infinity.
func mufuRSQ(b uint32) uint32 { return roundFlush(1 / math.Sqrt(mufuInput(b))) }

// mufuLG2 splits x into 2^n × m with m around 1, and takes log2 m = 2/ln 2 × artanh((m-1)/(m+1)) by its series, which
// converges like (1/34)^k for |m-1| below √2-1.
func mufuLG2(b uint32) uint32 {
	b = flushF32(b)
	switch {
	case b&^signF32 == 0:
		return signF32 | infF32
	case b >= infF32: // infinite, NaN or negative
		if b == infF32 {
			return infF32
		}
		return nanF32
	}
	const sqrtHalf = 0x3f3504f3 // bits of √½ in f32
	n := int32(b-sqrtHalf) >> 23
	m := float64(math.Float32frombits(b - uint32(n)<<23))
	s := (m - 1) / (m + 1)
	z := s * s
	return roundFlush(float64(n) + float64(2*math.Log2E*s*polynomial(artanhSeries[:], z)))
}

// mufuEX2 splits x into n + f with |f| at most 1/2 and takes 2^f = e^(f ln 2) by its series.
func mufuEX2(b uint32) uint32 {
	x := mufuInput(b)
	switch {
	case x != x:
		return nanF32
	case x >= 128:
		return infF32
	case x < -127:
		return 0
	}
	n := nearestInteger(x)
	y := (x - n) * math.Ln2
	return roundFlush(polynomial(expSeries[:], y) * math.Float64frombits(uint64(1023+int64(n))<<52))
}

// mufuSIN and mufuCOS take their argument in turns: compiled code multiplies by 1/2π first.
func mufuSIN(b uint32) uint32 {
	t := fractionOfTurn(b)
	if t == 0 {
		return b & signF32
	}
	return roundFlush(sineOfTurns(t))
}

// mufuCOS: cos of t turns is sin of a quarter less |t|.
func mufuCOS(b uint32) uint32 {
	return roundFlush(sineOfTurns(0.25 - math.Abs(fractionOfTurn(b))))
}

// mufuTANH passes denormals through, as the notes on tanh.approx.f32 in the PTX ISA say.
func mufuTANH(b uint32) uint32 {
	return roundF32(math.Tanh(float64(math.Float32frombits(b))), roundRN)
}

// fractionOfTurn returns the argument modulo 1 in [-1/2, 1/2], exactly.
func fractionOfTurn(b uint32) float64 {
	x := mufuInput(b)
	if math.Abs(x) < 1<<24 {
		return x - nearestInteger(x)
	}
	return x - x // an integer, infinite or NaN
}

// nearestInteger rounds a value below 2^51: where the last bit of the sum weighs 1, it has no bits for a fraction.
func nearestInteger(x float64) float64 {
	const big = 3 << 51
	return float64(x+big) - big
}

// sineOfTurns returns sin 2πt for |t| at most 1/2: by the sine's series for the part of t from the nearest half turn.
func sineOfTurns(t float64) float64 {
	switch {
	case t > 0.25:
		t = 0.5 - t
	case t < -0.25:
		t = -0.5 - t
	}
	y := 2 * math.Pi * t
	return y * polynomial(sineSeries[:], y*y)
}

// The first terms of the series of artanh x / x and sin x / x in x², and of e^x. What is left out is below 10^-10. There is an even
// number of terms.
var (
	artanhSeries = [...]float64{1, 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11}
	sineSeries   = [...]float64{1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800, -1. / 1307674368000}
	expSeries    = [...]float64{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880}
)

// polynomial evaluates a polynomial by Horner's rule, the even and the odd powers apart so
// that they do not wait for each other. Nothing is fused, which some hosts would do and round otherwise.
func polynomial(c []float64, x float64) float64 {
	var even, odd float64
	square := x * x
	for i := len(c) - 2; i >= 0; i -= 2 {
		odd = c[i+1] + float64(odd*square)
		even = c[i] + float64(even*square)
	}
	return even + float64(odd*x)
}

// mufuRCP64H and mufuRSQ64H map the high word of an f64 to the high word of the result, rounded to its 20 bits.
func mufuRCP64H(hi uint32) uint32 { return highWord(1 / fromHighWord(hi)) }

func mufuRSQ64H(hi uint32) uint32 { return highWord(1 / math.Sqrt(fromHighWord(hi))) }

func fromHighWord(hi uint32) float64 {
	return math.Float64frombits(formatF64.flush(uint64(hi) << 32))
}

func highWord(x float64) uint32 {
	b := formatF64.flush(bitsF64(x))
	if x-x != 0 { // NaN or infinity
		return uint32(b >> 32)
	}
	return uint32((b + 1<<31) >> 32)
}
