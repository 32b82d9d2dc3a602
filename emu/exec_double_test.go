package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// Double precision in all modes against integer arithmetic.
func TestDoubleExecutors(t *testing.T) {
	f := &formatF64
	type operation struct {
		text string
		want func(a, b, c uint64) uint64
	}
	cases := []operation{
		{"DADD R10, -R2, |R4|", func(a, b, _ uint64) uint64 { return f.plus(a^1<<63, b&^(1<<63), roundRN) }},
		{"DFMA.RZ R10, R2, -R4, R6", func(a, b, c uint64) uint64 { return f.fma(a, b^1<<63, c, roundRZ) }},
	}
	for mode, round := range roundings {
		cases = append(cases,
			operation{"DADD" + round + " R10, R2, R4", func(a, b, _ uint64) uint64 { return f.plus(a, b, mode) }},
			operation{"DMUL" + round + " R10, R2, R4", func(a, b, _ uint64) uint64 { return f.times(a, b, mode) }},
			operation{"DFMA" + round + " R10, R2, R4, R6", func(a, b, c uint64) uint64 { return f.fma(a, b, c, mode) }})
	}
	for _, c := range cases {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
			r := rand.New(rand.NewPCG(25, 26))
			w := newTestWarp(t, a, c.text)
			for range 200 {
				var in [32][3]uint64
				for lane := range in {
					a := randomFinite(r, f, r.Uint64())
					b := randomFinite(r, f, a)
					in[lane] = [3]uint64{a, b, randomFinite(r, f, f.times(a, b, roundRZ))}
					for k := range in[lane] {
						if n := 2 + 2*k; n < len(w.regs)-1 {
							w.regs[n][lane], w.regs[n+1][lane] = uint32(in[lane][k]), uint32(in[lane][k]>>32)
						}
					}
				}
				w.runAll(t)
				for lane, v := range in {
					if got, want := pair(w, 10, lane), c.want(v[0], v[1], v[2]); got != want {
						t.Fatalf("%x: %016x, want %016x", v, got, want)
					}
				}
			}
		})
	}
}

// DSETP.MIN and .MAX say which operand is the result, and whether neither is a number.
func TestDoubleSelection(t *testing.T) {
	nan, zero, minus := math.NaN(), 0.0, math.Copysign(0, -1)
	for _, c := range []struct {
		text string
		a, b float64
		want [2]bool
	}{
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", 1, 2, [2]bool{true, false}},
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", 2, 1, [2]bool{false, false}},
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", zero, minus, [2]bool{false, false}},
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", minus, zero, [2]bool{true, false}},
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", nan, 1, [2]bool{false, false}},
		{"DSETP.MIN.AND P0, P1, R2, R4, PT", 1, nan, [2]bool{true, false}},
		{"DSETP.MAX.AND P0, P1, R2, R4, PT", 1, 2, [2]bool{false, false}},
		{"DSETP.MAX.AND P0, P1, R2, R4, PT", minus, zero, [2]bool{false, false}},
		{"DSETP.MAX.AND P0, P1, R2, R4, PT", nan, nan, [2]bool{true, true}},
	} {
		w := newTestWarp(t, sass.SM70, c.text)
		a, b := math.Float64bits(c.a), math.Float64bits(c.b)
		w.regs[2][0], w.regs[3][0], w.regs[4][0], w.regs[5][0] = uint32(a), uint32(a>>32), uint32(b), uint32(b>>32)
		w.runAll(t)
		if got := [2]bool{w.preds[0]&1 != 0, w.preds[1]&1 != 0}; got != c.want {
			t.Errorf("%s of %v, %v = %v, want %v", c.text, c.a, c.b, got, c.want)
		}
	}
}
