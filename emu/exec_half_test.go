package emu

import (
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// A halfCase is an instruction on R1, R2 and R3 and what it computes for each half, from the halves that it selects.
type halfCase struct {
	text     string
	selected [3]func(r uint32, half int) uint64 // nil: the half itself
	want     func(a, b, c uint64) uint64
}

func lowOf(r uint32, _ int) uint64     { return uint64(r & 0xffff) }
func highOf(r uint32, _ int) uint64    { return uint64(r >> 16) }
func halfOf(r uint32, half int) uint64 { return uint64(r >> (16 * half) & 0xffff) }
func negOf(r uint32, half int) uint64  { return halfOf(r^0x80008000, half) }
func absOf(r uint32, half int) uint64  { return halfOf(r&0x7fff7fff, half) }

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
	addRZ, _, fmaRZ := op(roundRZ)
	type selects = [3]func(r uint32, half int) uint64
	for _, c := range []halfCase{
		{"HADD2 R0, R1, R2", selects{}, add},
		{"HADD2 R0, R1, -R2", selects{nil, negOf}, add},
		{"HADD2 R0, |R1|, R2", selects{absOf}, add},
		{"HADD2 R0, R1.H0_H0, R2.H1_H1", selects{lowOf, highOf}, add},
		{"HADD2 R0, R1.F32, R2", selects{fromF32}, add},
		{"HADD2.FTZ R0, R1, R2", selects{}, flushingF16(add, addRZ)},
		{"HADD2.SAT R0, R1, R2", selects{}, func(a, b, c uint64) uint64 { return uint64(saturateF16(uint16(add(a, b, c)))) }},
		{"HMUL2 R0, R1, R2", selects{}, mul},
		{"HMUL2 R0, R1, R2.H0_H0", selects{nil, lowOf}, mul},
		{"HFMA2 R0, R1, R2, R3", selects{}, fma},
		{"HFMA2 R0, R1, -R2, R3.H1_H1", selects{nil, negOf, highOf}, fma},
		{"HFMA2.FTZ R0, R1, R2, R3", selects{}, flushingF16(fma, fmaRZ)},
	} {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) { checkHalves(t, a, c) })
	}
}

func checkHalves(t *testing.T, a sass.Arch, c halfCase) {
	r := rand.New(rand.NewPCG(23, 24))
	w := newTestWarp(t, a, c.text)
	for range 500 {
		for lane := range 32 {
			var regs [3]uint32
			for half := range 2 {
				a := randomFinite(r, &formatF16, r.Uint64())
				b := randomFinite(r, &formatF16, a)
				for k, v := range []uint64{a, b, randomFinite(r, &formatF16, formatF16.times(a, b, roundRZ))} {
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
		{"FSET.BF.GT.AND R0, R1, R2, PT", 0x40000000, 0x3f800000, oneF32},
		{"FSET.BF.LTU.AND R0, R1, R2, PT", 0x7fc00000, 0x3f800000, oneF32},
		{"FSET.BF.LT.AND R0, R1, R2, PT", 0x7fc00000, 0x3f800000, 0},
		{"FSETP.EQ.XOR P0, P1, R1, R2, PT", 0x00000000, 0x80000000, 2},
	} {
		w := newTestWarp(t, sass.SM70, c.text)
		w.regs[1][3], w.regs[2][3] = c.a, c.b
		w.runAll(t)
		got := w.regs[0][3]
		if c.text[:4] != "HSET" && c.text[:4] != "FSET" || c.text[4] == 'P' {
			got = w.preds[0]>>3&1 | w.preds[1]>>3&1<<1
		}
		if got != c.want {
			t.Errorf("%s of %08x, %08x = %08x, want %08x", c.text, c.a, c.b, got, c.want)
		}
	}
}
