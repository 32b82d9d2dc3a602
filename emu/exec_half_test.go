package emu

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// A halfCase is an instruction on R1, R2 and R3 and what it computes for each half, from the halves that it selects.
type halfCase struct {
	text     string
	format   *floatFormat                       // f16 where nil
	selected [3]func(r uint32, half int) uint64 // nil: the half itself
	want     func(a, b, c uint64) uint64
}

func lowOf(r uint32, _ int) uint64     { return uint64(r & 0xffff) }
func highOf(r uint32, _ int) uint64    { return uint64(r >> 16) }
func halfOf(r uint32, half int) uint64 { return uint64(r >> (16 * half) & 0xffff) }
func negOf(r uint32, half int) uint64  { return halfOf(r^0x80008000, half) }
func absOf(r uint32, half int) uint64  { return halfOf(r&0x7fff7fff, half) }

// swappedOf is .H0_NH1, the second half of a product of complex numbers: ptxas makes a·b + c of two HFMA2, the real part of a
// times b plus c and then {-a.y·b.y, a.y·b.x} with a.H1_H1 and b.H0_NH1 (cuda_fp16.h, __hcmadd).
func swappedOf(r uint32, half int) uint64 {
	if half == 0 {
		return uint64(r>>16 ^ 0x8000)
	}
	return uint64(r & 0xffff)
}

// fromF32 is a single-precision source, which is converted toward zero.
func fromF32(r uint32, _ int) uint64 { return formatF16.convert(&formatF32, uint64(r), roundRZ) }

// flushingF16 is an operation as .FTZ does it.
func flushingF16(f func(a, b, c uint64) uint64, truncated func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	h := &formatF16
	return func(a, b, c uint64) uint64 {
		a, b, c = h.flush(a), h.flush(b), h.flush(c)
		if r := truncated(a, b, c); h.flush(r) != r {
			return h.flush(r)
		}
		return h.flush(f(a, b, c))
	}
}

// Packed arithmetic against integer arithmetic.
func TestHalfExecutors(t *testing.T) {
	h := &formatF16
	op := func(mode rounding) (add, mul, fma func(a, b, c uint64) uint64) {
		return func(a, b, _ uint64) uint64 { return h.plus(a, b, mode) },
			func(a, b, _ uint64) uint64 { return h.times(a, b, mode) },
			func(a, b, c uint64) uint64 { return h.fma(a, b, c, mode) }
	}
	add, mul, fma := op(roundRN)
	addRZ, mulRZ, fmaRZ := op(roundRZ)
	type selects = [3]func(r uint32, half int) uint64
	for _, c := range []halfCase{
		{"HADD2 R0, R1, R2", nil, selects{}, add},
		{"HADD2 R0, R1, -R2", nil, selects{nil, negOf}, add},
		{"HADD2 R0, |R1|, R2", nil, selects{absOf}, add},
		{"HADD2 R0, R1.H0_H0, R2.H1_H1", nil, selects{lowOf, highOf}, add},
		{"HADD2 R0, R1.F32, R2", nil, selects{fromF32}, add},
		{"HADD2.FTZ R0, R1, R2", nil, selects{}, flushingF16(add, addRZ)},
		{"HADD2.SAT R0, R1, R2", nil, selects{}, func(a, b, c uint64) uint64 { return uint64(saturateF16(uint16(add(a, b, c)))) }},
		{"HMUL2 R0, R1, R2", nil, selects{}, mul},
		{"HMUL2 R0, R1, R2.H0_H0", nil, selects{nil, lowOf}, mul},
		{"HFMA2 R0, R1, R2, R3", nil, selects{}, fma},
		{"HFMA2 R0, R1, -R2, R3.H1_H1", nil, selects{nil, negOf, highOf}, fma},
		{"HFMA2 R0, R1.H1_H1, R2.H0_NH1, R3", nil, selects{highOf, swappedOf}, fma},
		{"HFMA2.FTZ R0, R1, R2, R3", nil, selects{}, flushingF16(fma, fmaRZ)},
		{"HMUL2.FTZ R0, R1, R2", nil, selects{}, flushingF16(mul, mulRZ)},
		{"HMUL2.SAT R0, R1, R2", nil, selects{}, saturatedHalf(h, mul)},
		{"HFMA2.SAT R0, R1, R2, R3", nil, selects{}, saturatedHalf(h, fma)},
		{"HFMA2.MMA R0, R1, R2, R3", nil, selects{}, fma},
		{"HFMA2.MMA R0, R1, |R2|, -R3", nil, selects{nil, absOf, negOf}, fma},
	} {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) { checkHalves(t, a, c) })
	}
}

// Results in single precision: of the low halves, or of those that operands choose.
func TestHalvesToSingle(t *testing.T) {
	value := func(v uint32) float64 { return f16ToF64(uint16(v)) }
	for text, of := range map[string]func(a, b, c uint32) float64{
		"HMUL2.F32 R0, R1.H0_H0, R2.H1_H1":            func(a, b, _ uint32) float64 { return value(a) * value(b>>16) },
		"HMUL2.F32 R0, R1, R2":                        func(a, b, _ uint32) float64 { return value(a) * value(b) },
		"HFMA2.F32 R0, R1.H1_H1, R2.H0_H0, R3.H1_H1":  func(a, b, c uint32) float64 { return value(a>>16)*value(b) + value(c>>16) },
		"HFMA2.F32 R0, -R1.H0_H0, R2.H0_H0, R3.H0_H0": func(a, b, c uint32) float64 { return value(c) - value(a)*value(b) },
	} {
		onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
			r := rand.New(rand.NewPCG(81, 82))
			w := newTestWarp(t, a, text)
			for range 100 {
				w.pc = 0
				for n := 1; n <= 3; n++ {
					for lane := range 32 {
						w.regs[n][lane] = uint32(nearOne(r, &formatF16)) | uint32(nearOne(r, &formatF16))<<16
					}
				}
				w.runAll(t)
				for lane := range 32 {
					x := of(w.regs[1][lane], w.regs[2][lane], w.regs[3][lane])
					if got := math.Float32frombits(w.regs[0][lane]); got != float32(x) {
						t.Fatalf("%s: %g, want %g", text, got, x)
					}
				}
			}
		})
	}
}

// saturatedHalf is an operation with .SAT: negative results, -0 among them, are +0, and those above 1 are 1.
func saturatedHalf(f *floatFormat, of func(a, b, c uint64) uint64) func(a, b, c uint64) uint64 {
	one := uint64(f.bias()) << f.frac
	return func(a, b, c uint64) uint64 {
		r := of(a, b, c)
		if r&f.signBit() != 0 {
			return 0
		}
		return min(r, one)
	}
}

// bfloat16 arithmetic, which has no flushing, against integer arithmetic.
func TestBrainExecutors(t *testing.T) {
	f := &formatBF16
	add := func(a, b, _ uint64) uint64 { return f.plus(a, b, roundRN) }
	mul := func(a, b, _ uint64) uint64 { return f.times(a, b, roundRN) }
	fma := func(a, b, c uint64) uint64 { return f.fma(a, b, c, roundRN) }
	type selects = [3]func(r uint32, half int) uint64
	for _, c := range []halfCase{
		{"HADD2.BF16_V2 R0, R1, R2", f, selects{}, add},
		{"HADD2.BF16_V2 R0, -R1, R2.H1_H1", f, selects{negOf, highOf}, add},
		{"HMUL2.BF16_V2 R0, R1, R2", f, selects{}, mul},
		{"HMUL2.BF16_V2 R0, |R1|, R2.H0_H0", f, selects{absOf, lowOf}, mul},
		{"HFMA2.BF16_V2 R0, R1, R2, R3", f, selects{}, fma},
		{"HFMA2.BF16_V2 R0, R1, -R2, R3", f, selects{nil, negOf}, fma},
		{"HFMA2.BF16_V2 R0, R1.H1_H1, R2.H0_NH1, R3", f, selects{highOf, swappedOf}, fma},
		{"HFMA2.BF16_V2.SAT R0, R1, R2, R3", f, selects{}, saturatedHalf(f, fma)},
		{"HFMA2.MMA.BF16_V2 R0, R1, R2, R3", f, selects{}, fma},
		{"HFMA2.MMA.BF16_V2 R0, -R1, R2, |R3|", f, selects{negOf, nil, absOf}, fma},
	} {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) { checkHalves(t, a, c) })
	}
}

// Minima and maxima, on numbers, NaNs and infinities, against the order of their bits.
func TestMinima(t *testing.T) {
	for op, f := range map[string]*floatFormat{"HMNMX2": &formatF16, "HMNMX2.BF16_V2": &formatBF16, "FMNMX": &formatF32} {
		for _, nan := range []string{"", ".NAN"} {
			text := op + nan
			checkMinima(t, text+" R0, R1, -R2, P0", f, func(a, b uint64, smaller bool) uint64 { return extreme(f, a, b^f.signBit(), smaller, nan != "") })
			// The sign is that of both numbers' XOR unless the result is a NaN (PTX ISA, min.xorsign.abs).
			checkMinima(t, text+".XORSIGN R0, |R1|, |R2|, P0", f, func(a, b uint64, smaller bool) uint64 {
				r := extreme(f, a&^f.signBit(), b&^f.signBit(), smaller, nan != "")
				if r&^f.signBit() <= f.infinity() {
					r |= (a ^ b) & f.signBit()
				}
				return r
			})
		}
	}
	for op, f := range map[string]*floatFormat{"HMNMX2": &formatF16, "FMNMX": &formatF32} {
		checkMinima(t, op+".FTZ R0, R1, R2, P0", f, func(a, b uint64, smaller bool) uint64 {
			return extreme(f, f.flush(a), f.flush(b), smaller, false)
		})
	}
}

// extreme is the smaller or the larger of two numbers; -0 is less than +0. Of one NaN it is the other number, unless NaNs
// are to be kept.
func extreme(f *floatFormat, a, b uint64, smaller, keep bool) uint64 {
	nan := func(v uint64) bool { return v&^f.signBit() > f.infinity() }
	order := func(v uint64) int64 {
		if v&f.signBit() != 0 {
			return -1 - int64(v&^f.signBit())
		}
		return int64(v)
	}
	switch {
	case nan(a) && nan(b), keep && (nan(a) || nan(b)):
		return f.nan
	case nan(a):
		return b
	case nan(b):
		return a
	case (order(a) < order(b)) == smaller:
		return a
	}
	return b
}

// checkMinima runs an instruction on numbers of all kinds in R1 and R2, one or two in a register; the smaller ones are
// wanted where P0 holds.
func checkMinima(t *testing.T, text string, f *floatFormat, want func(a, b uint64, smaller bool) uint64) {
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
		r := rand.New(rand.NewPCG(33, 34))
		bits := 1 + f.exp + f.frac
		s, mask := side{format: f, bits: bits}, uint64(1)<<bits-1
		w := newTestWarp(t, a, text)
		for range 300 {
			w.preds[0] = r.Uint32()
			for n := 1; n <= 2; n++ {
				for lane := range 32 {
					w.regs[n][lane] = uint32(s.random(r)&mask | s.random(r)<<16&^mask)
				}
			}
			w.runAll(t)
			for lane := range 32 {
				for at := uint(0); at < 32; at += bits {
					part := func(n int) uint64 { return uint64(w.regs[n][lane]) >> at & mask }
					if got, want := part(0), want(part(1), part(2), w.preds[0]>>lane&1 != 0); got != want {
						t.Fatalf("%s: %08x and %08x, P0 = %d: %04x, want %04x",
							text, w.regs[1][lane], w.regs[2][lane], w.preds[0]>>lane&1, got, want)
					}
				}
			}
		}
	})
}

func checkHalves(t *testing.T, a sass.Arch, c halfCase) {
	f := cmp.Or(c.format, &formatF16)
	r := rand.New(rand.NewPCG(23, 24))
	w := newTestWarp(t, a, c.text)
	for range 500 {
		for lane := range 32 {
			var regs [3]uint32
			for half := range 2 {
				a := randomFinite(r, f, r.Uint64())
				b := randomFinite(r, f, a)
				for k, v := range []uint64{a, b, randomFinite(r, f, f.times(a, b, roundRZ))} {
					regs[k] |= uint32(v) << (16 * half)
				}
			}
			w.regs[1][lane], w.regs[2][lane], w.regs[3][lane] = regs[0], regs[1], regs[2]
		}
		w.runAll(t)
		for lane := range 32 {
			for half := range 2 {
				var in [3]uint64
				for k := range in {
					if in[k] = halfOf(w.regs[1+k][lane], half); c.selected[k] != nil {
						in[k] = c.selected[k](w.regs[1+k][lane], half)
					}
				}
				if got, want := halfOf(w.regs[0][lane], half), c.want(in[0], in[1], in[2]); got != want {
					t.Fatalf("half %d of %08x, %08x, %08x: %04x, want %04x", half, w.regs[1][lane], w.regs[2][lane], w.regs[3][lane], got, want)
				}
			}
		}
	}
}

// Comparisons of halves set a predicate for each, or one for both; others give a value in a register.
func TestFloatComparisons(t *testing.T) {
	for _, c := range []struct {
		text string
		a, b uint32
		want uint32 // R0, or P0 in bit 0 and P1 in bit 1
	}{
		{"HSETP2.LT.AND P0, P1, R1, R2, PT", 0x3c003c00, 0x3c004000, 1},
		{"HSETP2.LT.AND P0, P1, R1, R2, PT", 0x3c003c00, 0x40003c00, 2},
		{"HSETP2.NE.AND P0, P1, R1, R2, PT", 0x7e003c00, 0x3c007e00, 0},
		{"HSETP2.NEU.AND P0, P1, R1, R2, PT", 0x7e003c00, 0x3c007e00, 3},
		{"HSETP2.EQ.AND P0, P1, R1, R2, PT", 0x80000000, 0x00000001, 2},
		{"HSETP2.EQ.FTZ.AND P0, P1, R1, R2, PT", 0x80000000, 0x00000001, 3},
		{"HSETP2.GE.OR P0, P1, R1, R2, !PT", 0x3c00bc00, 0x3c003c00, 2},
		{"HSETP2.GE.H_AND.AND P0, P1, R1, R2, PT", 0x3c00bc00, 0x3c003c00, 2},
		{"HSETP2.GE.H_AND.AND P0, P1, R1, R2, PT", 0x3c004000, 0x3c003c00, 1},
		{"HSET2.GT.AND R0, R1, R2, PT", 0x40003c00, 0x3c003c00, 0xffff0000},
		{"HSET2.BF.GT.AND R0, R1, R2, PT", 0x3c004000, 0x3c003c00, 0x00003c00},
		{"HSETP2.BF16_V2.LT.AND P0, P1, R1, R2, PT", 0x3f803f80, 0x3f804000, 1},
		{"HSETP2.BF16_V2.NEU.AND P0, P1, R1, R2, PT", 0x7fc03f80, 0x3f804000, 3},
		{"HSET2.BF16_V2.GT.AND R0, R1, R2, PT", 0x40003f80, 0x3f803f80, 0xffff0000},
		{"HSET2.BF16_V2.BF.GT.AND R0, R1, R2, PT", 0x3f804000, 0x3f803f80, 0x00003f80},
		{"FSET.BF.GT.AND R0, R1, R2, PT", 0x40000000, 0x3f800000, oneF32},
		{"FSET.BF.LTU.AND R0, R1, R2, PT", 0x7fc00000, 0x3f800000, oneF32},
		{"FSET.BF.LT.AND R0, R1, R2, PT", 0x7fc00000, 0x3f800000, 0},
		{"FSETP.EQ.XOR P0, P1, R1, R2, PT", 0x00000000, 0x80000000, 2},
	} {
		onArchitectures(t, c.text, func(t *testing.T, arch sass.Arch) {
			w := newTestWarp(t, arch, c.text)
			w.regs[1][3], w.regs[2][3] = c.a, c.b
			w.runAll(t)
			got := w.regs[0][3]
			if c.text[:4] != "HSET" && c.text[:4] != "FSET" || c.text[4] == 'P' {
				got = w.preds[0]>>3&1 | w.preds[1]>>3&1<<1
			}
			if got != c.want {
				t.Errorf("%s of %08x, %08x = %08x, want %08x", c.text, c.a, c.b, got, c.want)
			}
		})
	}
}
