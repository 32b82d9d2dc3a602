package emu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// Rows that the other tests of executors leave out, each against what its definition says.

func TestSelections(t *testing.T) {
	for _, c := range []struct {
		text string
		a, b func(v uint32) uint32
	}{
		{"FSEL R0, R1, R2, P0", same, same},
		{"FSEL R0, |R1|, -R2, P0", func(v uint32) uint32 { return v &^ signF32 }, func(v uint32) uint32 { return v ^ signF32 }},
		{"SEL R0, R1, R2, P0", same, same},
	} {
		t.Run(c.text, func(t *testing.T) {
			runRandom(t, c.text, func(w *warp, lane int) error {
				want := c.b(w.regs[2][lane])
				if w.preds[0]>>lane&1 != 0 {
					want = c.a(w.regs[1][lane])
				}
				return differ("R0", w.regs[0][lane], want)
			})
		})
	}
}

func same(v uint32) uint32 { return v }

// FCHK has to hold wherever the division of normal numbers by reciprocal and correction can go wrong, and must not where
// dividend, divisor and quotient are well inside the normal range.
func TestFCHK(t *testing.T) {
	exponent := func(v uint32) int { return int(v >> 23 & 255) }
	runRandom(t, "FCHK P0, R1, R2", func(w *warp, lane int) error {
		a, b := exponent(w.regs[1][lane]), exponent(w.regs[2][lane])
		slow := w.preds[0]>>lane&1 != 0
		switch {
		case b == 0 || b >= 253 || a == 255 || a-b >= 127 || a-b <= -126:
			if !slow {
				return fmt.Errorf("the fast path is taken for exponents %d and %d", a, b)
			}
		case a > 64 && a < 192 && b > 64 && b < 192 && slow:
			return fmt.Errorf("the slow path is taken for exponents %d and %d", a, b)
		}
		return nil
	})
}

// The functions of MUFU within the errors that the PTX ISA states for the instructions that they make.
func TestMUFUExecutors(t *testing.T) {
	for _, c := range []struct {
		fn            string
		low, high     float64 // of arguments
		f             func(x float64) float64
		relative, abs float64
	}{
		{"RCP", 0x1p-100, 0x1p100, func(x float64) float64 { return 1 / x }, 0x1p-23, 0},
		{"RSQ", 0x1p-100, 0x1p100, func(x float64) float64 { return 1 / math.Sqrt(x) }, 0x1p-22, 0},
		{"SQRT", 0x1p-100, 0x1p100, math.Sqrt, 0x1p-22, 0},
		{"EX2", -100, 100, math.Exp2, 0x1p-22, 0},
		{"LG2", 0x1p-100, 0x1p100, math.Log2, 0x1p-22, 0x1p-22},
		{"SIN", -1, 1, func(x float64) float64 { return math.Sin(2 * math.Pi * x) }, 0, 0x1p-20},
		{"COS", -1, 1, func(x float64) float64 { return math.Cos(2 * math.Pi * x) }, 0, 0x1p-20},
	} {
		t.Run(c.fn, func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, 6))
			w := newTestWarp(t, sass.SM70, "MUFU."+c.fn+" R0, R1")
			for range 200 {
				for lane := range 32 {
					w.regs[1][lane] = math.Float32bits(float32(between(r, c.low, c.high)))
				}
				w.runAll(t)
				for lane := range 32 {
					x := float64(math.Float32frombits(w.regs[1][lane]))
					got, want := float64(math.Float32frombits(w.regs[0][lane])), c.f(x)
					if !(math.Abs(got-want) <= c.abs+c.relative*math.Abs(want)) {
						t.Fatalf("of %g is %g, want %g", x, got, want)
					}
				}
			}
		})
	}
}

// between draws a number, by its logarithm where the bounds are positive.
func between(r *rand.Rand, low, high float64) float64 {
	if low > 0 {
		return low * math.Pow(high/low, r.Float64())
	}
	return low + r.Float64()*(high-low)
}

func TestZeroRegister(t *testing.T) {
	runRandom(t, "CS2R R2, SRZ", func(w *warp, lane int) error { return differ("R2", pair(w, 2, lane), 0) })
}

// matrixWarp has small integers, whose products and sums are exact, as f16 in the two registers of A and of B.
func matrixWarp(t *testing.T, text string, r *rand.Rand) (w *warp, a, b *[32][4]float64) {
	w, a, b = newTestWarp(t, sass.SM70, text), new([32][4]float64), new([32][4]float64)
	for lane := range 32 {
		for i := range 4 {
			a[lane][i], b[lane][i] = float64(r.IntN(17)-8), float64(r.IntN(17)-8)
			for n, v := range map[int]float64{24: a[lane][i], 28: b[lane][i]} {
				w.regs[n+i/2][lane] |= uint32(f16FromF64(v, roundRN)) << (16 * (i & 1))
			}
		}
	}
	return w, a, b
}

// matrixProduct is the element of the product of a quad pair: A by rows, B by columns (PTX ISA, mma.m8n8k4).
func matrixProduct(a, b *[32][4]float64, lane, row, col int) (sum float64) {
	quad := lane & 0xc
	at := func(n int) int { return quad + n&3 + n>>2*16 }
	for k := range 4 {
		sum += a[at(row)][k] * b[at(col)][k]
	}
	return sum
}

func TestHMMA884F32(t *testing.T) {
	const text = `HMMA.884.F32.F32.STEP0 R16, R24.ROW, R28.COL, R8 ; HMMA.884.F32.F32.STEP1 R18, R24.ROW, R28.COL, R10 ;
		HMMA.884.F32.F32.STEP2 R20, R24.ROW, R28.COL, R12 ; HMMA.884.F32.F32.STEP3 R22, R24.ROW, R28.COL, R14`
	r := rand.New(rand.NewPCG(8, 84))
	w, a, b := matrixWarp(t, text, r)
	for lane := range 32 {
		for i := range 8 {
			w.regs[8+i][lane] = math.Float32bits(float32(r.IntN(100)))
		}
	}
	w.runAll(t)
	for lane := range 32 {
		for i := range 8 {
			row, col := lane&1+i&2+lane>>4*4, i&4+lane&2+i&1
			want := matrixProduct(a, b, lane, row, col) + float64(math.Float32frombits(w.regs[8+i][lane]))
			if got := float64(math.Float32frombits(w.regs[16+i][lane])); got != want {
				t.Errorf("lane %d: element %d is %g, want %g", lane, i, got, want)
			}
		}
	}
}

func TestHMMA884F16(t *testing.T) {
	const text = `HMMA.884.F16.F16.STEP0 R16, R24.ROW, R28.COL, R8 ; HMMA.884.F16.F16.STEP1 R18, R24.ROW, R28.COL, R10`
	r := rand.New(rand.NewPCG(8, 85))
	w, a, b := matrixWarp(t, text, r)
	for lane := range 32 {
		for i := range 8 {
			w.regs[8+i/2][lane] |= uint32(f16FromF64(float64(r.IntN(100)), roundRN)) << (16 * (i & 1))
		}
	}
	w.runAll(t)
	for lane := range 32 {
		for i := range 8 {
			half := func(n int) float64 { return f16ToF64(uint16(w.regs[n+i/2][lane] >> (16 * (i & 1)))) }
			want := matrixProduct(a, b, lane, lane&3+lane>>4*4, i) + half(8)
			if got := half(16); got != want {
				t.Errorf("lane %d: element %d is %g, want %g", lane, i, got, want)
			}
		}
	}
}

// Convergence barriers by way of registers, and calls through them. The value is what every thread stores.
func TestRegisterControl(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       uint32
	}{
		{"barrier restored", `
	MOV R10, 0x4
	S2R R0, SR_TID.X
	ISETP.LT.AND P0, PT, R0, 0x10, PT
	BSSY B0, join
	BMOV.32.CLEAR R5, B0
	BMOV.32 B6, R5
	@P0 BRA join
	NOP
	join:
	BSYNC B6
	VOTE.ANY R9, PT, PT` + storeR9, allLanes},
		{"mask in a register", `
	MOV R10, 0x4
	MOV R11, 0xffffffff
	S2R R0, SR_TID.X
	ISETP.LT.AND P0, PT, R0, 0x10, PT
	@P0 BRA join
	NOP
	join:
	WARPSYNC R11
	VOTE.ANY R9, PT, PT` + storeR9, allLanes},
		{"call", `
	MOV R10, 0x4
	MOV R9, 0x1
	MOV R6, 0x10
	MOV R7, RZ
	LEPC R20
	IADD3 R20, P0, R20, 0x50, RZ
	IADD3.X R21, RZ, R21, RZ, P0, !PT
	CALL.REL.NOINC R6 function
	BPT.TRAP 0x1
	IADD3 R9, R9, 0x20, RZ` + storeR9 + `
	function:
	BPT.TRAP 0x1
	IMAD R9, R9, 0x3, RZ
	RET.ABS.NODEC R20 0x0`, 35},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &timedProgram{text: c.text, threads: 32, buffers: [][]uint32{make([]uint32, 32)}}
			for thread, got := range p.result(t, 0) {
				if got != c.want {
					t.Errorf("thread %d stores %#x, want %#x", thread, got, c.want)
				}
			}
		})
	}
}

// The functions on high words of doubles. Compiled divisions and roots are right for errors up to 2^-10; the result has 20
// bits of fraction.
func TestMUFU64HExecutors(t *testing.T) {
	double := func(high uint32) float64 { return math.Float64frombits(uint64(high) << 32) }
	for fn, f := range map[string]func(x float64) float64{
		"RCP64H": func(x float64) float64 { return 1 / x },
		"RSQ64H": func(x float64) float64 { return 1 / math.Sqrt(x) },
	} {
		t.Run(fn, func(t *testing.T) {
			r := rand.New(rand.NewPCG(6, 4))
			w := newTestWarp(t, sass.SM70, "MUFU."+fn+" R0, R1")
			for range 200 {
				for lane := range 32 {
					w.regs[1][lane] = uint32(math.Float64bits(between(r, 0x1p-900, 0x1p900)) >> 32)
				}
				w.runAll(t)
				for lane := range 32 {
					x := double(w.regs[1][lane])
					if got, want := double(w.regs[0][lane]), f(x); !(math.Abs(got-want) <= 0x1p-19*want) {
						t.Fatalf("of %g is %g, want %g", x, got, want)
					}
				}
			}
		})
	}
}

// Predicates to and from registers, and logic on the signs of registers.
func TestPredicateSetRegisters(t *testing.T) {
	runRandom(t, "P2R R0, PR, R1, R2", func(w *warp, lane int) error {
		var set uint32
		for p := range 7 {
			set |= w.preds[p] >> lane & 1 << p
		}
		mask := w.regs[2][lane] & 0xff
		return differ("R0", w.regs[0][lane], w.regs[1][lane]&^mask|set&mask)
	})
	runRandom(t, "R2P PR, R1, R2", func(w *warp, lane int) error {
		for p := range 7 {
			if w.regs[2][lane]>>p&1 != 0 {
				if err := differ(fmt.Sprintf("P%d", p), w.preds[p]>>lane&1, w.regs[1][lane]>>p&1); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// IMAD.HI is the high word of a product plus a 64-bit addend.
func TestIMADHigh(t *testing.T) {
	runRandom(t, "IMAD.HI.U32 R0, R1, R2, R4", func(w *warp, lane int) error {
		sum := uint64(w.regs[1][lane])*uint64(w.regs[2][lane]) + pair(w, 4, lane)
		return differ("R0", w.regs[0][lane], uint32(sum>>32))
	})
	runRandom(t, "IMAD.HI R0, R1, R2, R4", func(w *warp, lane int) error {
		sum := int64(int32(w.regs[1][lane]))*int64(int32(w.regs[2][lane])) + int64(pair(w, 4, lane))
		return differ("R0", w.regs[0][lane], uint32(uint64(sum)>>32))
	})
}
