package emu

import (
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// flushing wraps an operation on f32 bits as .FTZ does it: what it rounds is flushed if it is below the smallest normal
// number beforehand, which a rounding toward zero shows.
func flushing(f func(a, b, c uint64, mode rounding) uint64) func(a, b, c uint64, mode rounding) uint64 {
	return func(a, b, c uint64, mode rounding) uint64 {
		a, b, c = formatF32.flush(a), formatF32.flush(b), formatF32.flush(c)
		if truncated := f(a, b, c, roundRZ); formatF32.flush(truncated) != truncated {
			return formatF32.flush(truncated)
		}
		return formatF32.flush(f(a, b, c, mode))
	}
}

// Executors of f32 arithmetic against integer arithmetic, on operands that round, cancel, overflow and underflow.
func TestFloatExecutors(t *testing.T) {
	f := &formatF32
	fadd := func(a, b, _ uint64, mode rounding) uint64 { return f.plus(a, b, mode) }
	fmul := func(a, b, _ uint64, mode rounding) uint64 { return f.times(a, b, mode) }
	for _, c := range []struct {
		text string
		f    func(a, b, c uint64, mode rounding) uint64
		mode rounding
	}{
		{"FADD R0, R1, R2", fadd, roundRN},
		{"FADD.RM R0, R1, R2", fadd, roundRM},
		{"FADD.FTZ R0, R1, R2", flushing(fadd), roundRN},
		{"FADD.FTZ.RZ R0, R1, R2", flushing(fadd), roundRZ},
		{"FMUL R0, R1, R2", fmul, roundRN},
		{"FMUL.RP R0, R1, R2", fmul, roundRP},
		{"FMUL.FTZ R0, R1, R2", flushing(fmul), roundRN},
		{"FMUL.FTZ.RP R0, R1, R2", flushing(fmul), roundRP},
		{"FFMA R0, R1, R2, R3", f.fma, roundRN},
		{"FFMA.RZ R0, R1, R2, R3", f.fma, roundRZ},
		{"FFMA.FTZ R0, R1, R2, R3", flushing(f.fma), roundRN},
		{"FFMA.FTZ.RM R0, R1, R2, R3", flushing(f.fma), roundRM},
	} {
		onArchitectures(t, c.text, func(t *testing.T, a sass.Arch) {
			r := rand.New(rand.NewPCG(15, 16))
			w := newTestWarp(t, a, c.text)
			for range 500 {
				for lane := range 32 {
					a := randomFinite(r, f, r.Uint64())
					b := randomFinite(r, f, a)
					w.regs[1][lane], w.regs[2][lane] = uint32(a), uint32(b)
					w.regs[3][lane] = uint32(randomFinite(r, f, f.times(a, b, roundRZ)))
				}
				w.runAll(t)
				for lane := range 32 {
					a, b, d := w.regs[1][lane], w.regs[2][lane], w.regs[3][lane]
					if want := uint32(c.f(uint64(a), uint64(b), uint64(d), c.mode)); w.regs[0][lane] != want {
						t.Fatalf("%08x, %08x, %08x give %08x, want %08x", a, b, d, w.regs[0][lane], want)
					}
				}
			}
		})
	}
}
