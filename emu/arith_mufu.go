package emu

import "math"

// The functions of the special function unit (MUFU) on single lanes. The hardware's are table look-ups with quadratic
// interpolation (Oberman and Siu 2005) whose last bits are not published. Here each is the f64 result rounded to
// nearest: inside PTX's bounds for the .approx.ftz instructions, and exact enough for the compiled division and square
// root sequences, which are correctly rounded when the reciprocal and the reciprocal square root are. Denormal inputs
// and results are flushed to zero.

// mufuResult rounds the value of a function.
func mufuResult(x float64) uint32 {
	r := roundF32(x, roundRN)
	if math.Abs(x) < tinyF32 {
		r &= signF32
	}
	return r
}

func mufuRCP(b uint32) uint32 {
	return mufuResult(1 / float64(math.Float32frombits(flushF32(b))))
}

func mufuSQRT(b uint32) uint32 {
	return mufuResult(math.Sqrt(float64(math.Float32frombits(flushF32(b)))))
}

// mufuRSQ keeps the sign of a zero in its infinity.
func mufuRSQ(b uint32) uint32 {
	return mufuResult(1 / math.Sqrt(float64(math.Float32frombits(flushF32(b)))))
}

func mufuLG2(b uint32) uint32 {
	x := float64(math.Float32frombits(flushF32(b)))
	if x == 0 {
		return signF32 | infF32
	}
	return mufuResult(math.Log(x) * math.Log2E)
}

func mufuEX2(b uint32) uint32 {
	return mufuResult(math.Exp2(float64(math.Float32frombits(flushF32(b)))))
}

// mufuSIN and mufuCOS take their argument in turns: compiled code multiplies by 1/2π first.
func mufuSIN(b uint32) uint32 {
	t := fractionOfTurn(b)
	if t == 0 {
		return b & signF32
	}
	return mufuResult(math.Sin(2 * math.Pi * t))
}

func mufuCOS(b uint32) uint32 { return mufuResult(math.Cos(2 * math.Pi * fractionOfTurn(b))) }

// fractionOfTurn returns the argument modulo 1 in [-1/2, 1/2], exactly.
func fractionOfTurn(b uint32) float64 {
	x := float64(math.Float32frombits(flushF32(b)))
	return x - math.RoundToEven(x)
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
