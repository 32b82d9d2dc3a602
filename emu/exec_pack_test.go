package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// checkLanes runs an instruction on single-precision numbers of all kinds, or integers, in R1, R2 and R3, and compares R0.
func checkLanes(t *testing.T, text string, from side, want func(a, b, c uint32) uint32) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
		r := rand.New(rand.NewPCG(35, 36))
		w := newTestWarp(t, a, text)
		for range 200 {
			for n := 1; n <= 3; n++ {
				for lane := range 32 {
					w.regs[n][lane] = uint32(from.random(r))
				}
			}
			w.runAll(t)
			for lane := range 32 {
				a, b, c := w.regs[1][lane], w.regs[2][lane], w.regs[3][lane]
				if got, want := w.regs[0][lane], want(a, b, c); got != want {
					t.Fatalf("%s of %08x, %08x, %08x: %08x, want %08x", text, a, b, c, got, want)
				}
			}
		}
	})
}

// F2FP packs two numbers, the first one high, rounded by integer arithmetic; with .RELU what is negative becomes zero.
func TestPackedConversions(t *testing.T) {
	single := side{format: &formatF32, bits: 32}
	for name, f := range map[string]*floatFormat{"": &formatF16, ".BF16": &formatBF16} {
		for mode, rounds := range map[rounding]string{roundRN: "", roundRZ: ".RZ"} {
			for _, relu := range []string{"", ".RELU"} {
				narrow := func(v uint32) uint32 {
					r := f.convert(&formatF32, uint64(v), mode)
					if relu != "" && r&f.signBit() != 0 {
						return 0
					}
					return uint32(r)
				}
				want := func(a, b, _ uint32) uint32 { return narrow(a)<<16 | narrow(b) }
				checkLanes(t, fmt.Sprintf("F2FP%s%s.PACK_AB%s R0, R1, R2", relu, name, rounds), single, want)
				long := name
				if long == "" {
					long = ".F16"
				}
				checkLanes(t, fmt.Sprintf("F2FP%s%s.F32.PACK_AB%s R0, R1, R2", relu, long, rounds), single, want)
			}
		}
	}
	for mode, name := range roundings {
		checkLanes(t, "F2F.BF16.F32"+name+" R0, R1", single, func(a, _, _ uint32) uint32 {
			return uint32(formatBF16.convert(&formatF32, uint64(a), mode))
		})
	}
}

// Integers to single precision at full rate, as math/big rounds them, and integers clamped to narrower ones.
func TestPackedIntegers(t *testing.T) {
	integer := side{bits: 32}
	for mode, name := range roundings {
		rounded := func(n int64) uint32 {
			x, _ := new(big.Float).SetPrec(24).SetMode(bigRounding[mode]).SetInt64(n).Float32()
			return math.Float32bits(x)
		}
		checkLanes(t, "I2FP.F32.S32"+name+" R0, R1", integer, func(a, _, _ uint32) uint32 { return rounded(int64(int32(a))) })
		checkLanes(t, "I2FP.F32.U32"+name+" R0, R1", integer, func(a, _, _ uint32) uint32 { return rounded(int64(a)) })
	}
	for name, limits := range map[string][2]int32{"U8": {0, 255}, "S8": {-128, 127}, "U16": {0, 65535}, "S16": {-32768, 32767}} {
		checkLanes(t, "I2I."+name+".S32.SAT R0, R1", integer, func(a, _, _ uint32) uint32 {
			return uint32(max(limits[0], min(limits[1], int32(a))))
		})
	}
}
