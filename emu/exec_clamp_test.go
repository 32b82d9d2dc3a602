package emu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// TestHalfRelu: HFMA2.RELU is HFMA2 with zero instead of what is negative; a NaN stays one (PTX ISA, fma.relu).
func TestHalfRelu(t *testing.T) {
	for _, c := range []struct {
		bare, relu string
		nan        func(h uint16) bool
	}{
		{"HFMA2 R0, R1, R2, R3", "HFMA2.RELU R0, R1, R2, R3", func(h uint16) bool { return h&0x7fff > 0x7c00 }},
		{"HFMA2.MMA R0, R1, R2, R3", "HFMA2.MMA.RELU R0, R1, R2, R3", func(h uint16) bool { return h&0x7fff > 0x7c00 }},
		{"HFMA2.MMA.BF16_V2 R0, R1, R2, R3", "HFMA2.MMA.BF16_V2.RELU R0, R1, R2, R3", func(h uint16) bool { return h&0x7fff > 0x7f80 }},
		{"HFMA2.BF16_V2 R0, R1, R2, R3", "HFMA2.BF16_V2.RELU R0, R1, R2, R3", func(h uint16) bool { return h&0x7fff > 0x7f80 }},
	} {
		onArchitectures(t, c.relu, func(t *testing.T, arch sass.Arch) {
			r := rand.New(rand.NewPCG(7, 8))
			bare, relu := newTestWarp(t, arch, c.bare), newTestWarp(t, arch, c.relu)
			for range 200 {
				for n := 1; n < 4; n++ {
					for lane := range 32 {
						v := interesting(r)
						bare.regs[n][lane], relu.regs[n][lane] = v, v
					}
				}
				bare.runAll(t)
				relu.runAll(t)
				for lane := range 32 {
					for _, at := range []int{0, 16} {
						x, y := uint16(bare.regs[0][lane]>>at), uint16(relu.regs[0][lane]>>at)
						want := x
						if x>>15 != 0 && !c.nan(x) {
							want = 0
						}
						if y != want {
							t.Fatalf("%#04x becomes %#04x, want %#04x", x, y, want)
						}
					}
				}
			}
		})
	}
}

// TestHalfFunctions: MUFU of a half within the errors that the PTX ISA states of ex2.approx and tanh.approx.
func TestHalfFunctions(t *testing.T) {
	for _, c := range []struct {
		arch     sass.Arch
		text     string
		shift    int
		value    func(h uint16) float64
		f        func(x float64) float64
		relative float64
	}{
		{sass.SM80, "MUFU.EX2.F16 R0, R1", 0, f16ToF64, math.Exp2, 0x1.1p-10},
		{sass.SM80, "MUFU.EX2.F16 R0, R1.H1", 16, f16ToF64, math.Exp2, 0x1.1p-10},
		{sass.SM80, "MUFU.TANH.F16 R0, -R1", 0, f16ToF64, func(x float64) float64 { return math.Tanh(-x) }, 0x1.1p-10},
		{sass.SM90, "MUFU.TANH.F16 R0, R1", 0, f16ToF64, math.Tanh, 0x1.1p-10},
		{sass.SM90, "MUFU.TANH.BF16 R0, |R1.H1|", 16, bf16ToF64, func(x float64) float64 { return math.Tanh(math.Abs(x)) }, 0x1p-8},
	} {
		t.Run(fmt.Sprintf("sm_%d %s", c.arch, c.text), func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 10))
			w := newTestWarp(t, c.arch, c.text)
			for range 200 {
				for lane := range 32 {
					w.regs[1][lane] = r.Uint32()
				}
				w.runAll(t)
				for lane := range 32 {
					x := c.value(uint16(w.regs[1][lane] >> c.shift))
					got, want := c.value(uint16(w.regs[0][lane])), c.f(x)
					if math.Abs(want) < 0x1p-13 || math.Abs(want) > 65000 || want != want { // denormals and overflows of f16
						continue
					}
					if math.Abs(got-want) > c.relative*math.Abs(want) {
						t.Fatalf("of %g is %g, want %g", x, got, want)
					}
				}
			}
		})
	}
}

// Comparisons of 64 bits are two instructions, the second of which takes the result of the low words.
func TestLongComparisons(t *testing.T) {
	long := func(w *warp, lane, n int) int64 { return int64(w.regs[n+1][lane])<<32 | int64(w.regs[n][lane]) }
	for _, c := range []struct {
		text string
		want func(a, b int64) bool
	}{
		{"ISETP.LT.U32.AND P0, PT, R1, R3, PT; ISETP.LT.AND.EX P1, PT, R2, R4, PT, P0", func(a, b int64) bool { return a < b }},
		{"ISETP.GE.U32.AND P0, PT, R1, R3, PT; ISETP.GE.U32.AND.EX P1, PT, R2, R4, PT, P0", func(a, b int64) bool { return uint64(a) >= uint64(b) }},
		{"ISETP.EQ.U32.AND P0, PT, R1, R3, PT; ISETP.EQ.AND.EX P1, PT, R2, R4, PT, P0", func(a, b int64) bool { return a == b }},
	} {
		runRandom(t, c.text, func(w *warp, lane int) error {
			if a, b := long(w, lane, 1), long(w, lane, 3); w.preds[1]>>lane&1 != 0 != c.want(a, b) {
				return fmt.Errorf("of %d and %d is not %v", a, b, c.want(a, b))
			}
			return nil
		})
	}
}
