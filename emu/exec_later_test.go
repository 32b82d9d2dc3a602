package emu

import (
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// TestLaterExecutors compares instructions that sm_70 does not have with what their definitions say, on numbers of every kind.
func TestLaterExecutors(t *testing.T) {
	half := func(f func(a, b int16) int16) func(a, b, c uint32) uint32 {
		return func(a, b, _ uint32) uint32 {
			return uint32(uint16(f(int16(a), int16(b)))) | uint32(uint16(f(int16(a>>16), int16(b>>16))))<<16
		}
	}
	for _, c := range []struct {
		arch sass.Arch
		text string
		want func(a, b, c uint32) uint32
	}{
		{sass.SM90, "VIMNMX R0, R1, R2, PT", func(a, b, _ uint32) uint32 { return uint32(min(int32(a), int32(b))) }},
		{sass.SM90, "VIMNMX.U32 R0, R1, R2, !PT", func(a, b, _ uint32) uint32 { return max(a, b) }},
		{sass.SM90, "VIMNMX.RELU R0, R1, R2, PT", func(a, b, _ uint32) uint32 { return uint32(max(0, min(int32(a), int32(b)))) }},
		{sass.SM90, "VIMNMX.S16x2 R0, R1, R2, !PT", half(func(a, b int16) int16 { return max(a, b) })},
		{sass.SM90, "VIMNMX.S16x2.RELU R0, R1, R2, PT", half(func(a, b int16) int16 { return max(0, min(a, b)) })},
		{sass.SM90, "VIADD.16x2 R0, R1, R2", half(func(a, b int16) int16 { return a + b })},
		{sass.SM90, "VIMNMX3 R0, R1, R2, R3, PT", func(a, b, c uint32) uint32 { return uint32(min(int32(a), int32(b), int32(c))) }},
		{sass.SM90, "VIADDMNMX.U32 R0, R1, R2, R3, !PT", func(a, b, c uint32) uint32 { return max(a+b, c) }},
	} {
		t.Run(c.text, func(t *testing.T) {
			r := rand.New(rand.NewPCG(90, 16))
			w := newTestWarp(t, c.arch, c.text)
			for range 200 {
				for n := 1; n < 4 && n < len(w.regs); n++ {
					for lane := range 32 {
						w.regs[n][lane] = interesting(r)
					}
				}
				in := append([]lanes(nil), w.regs...)
				in = append(in, lanes{}, lanes{}, lanes{})
				w.runAll(t)
				for lane := range 32 {
					if want := c.want(in[1][lane], in[2][lane], in[3][lane]); w.regs[0][lane] != want {
						t.Fatalf("of %#x, %#x, %#x is %#x, want %#x", in[1][lane], in[2][lane], in[3][lane], w.regs[0][lane], want)
					}
				}
			}
		})
	}
}
