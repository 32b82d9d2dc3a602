package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

// f8Codes are the formats of 8 bits as the OCP's specification defines them: the value of a code with exponent E and
// fraction M is 2^(E-bias)·1.M, or 2^(1-bias)·0.M where E is zero. NaN is S.1111.111 in E4M3; E5M2 is as IEEE 754 says.
var f8Codes = map[string][256]float64{
	"E4M3": f8Table(3, 7, func(exp, frac int) (float64, bool) { return math.NaN(), exp == 15 && frac == 7 }),
	"E5M2": f8Table(2, 15, func(exp, frac int) (float64, bool) {
		if frac == 0 {
			return math.Inf(1), exp == 31
		}
		return math.NaN(), exp == 31
	}),
}

func f8Table(bits, bias int, special func(exp, frac int) (float64, bool)) (table [256]float64) {
	for code := range table {
		exp, frac := code>>bits&(1<<(7-bits)-1), code&(1<<bits-1)
		x, ok := special(exp, frac)
		switch {
		case ok:
		case exp == 0:
			x = math.Pow(2, float64(1-bias)) * float64(frac) / float64(int(1)<<bits)
		default:
			x = math.Pow(2, float64(exp-bias)) * (1 + float64(frac)/float64(int(1)<<bits))
		}
		table[code] = math.Copysign(x, 1-2*float64(code>>7))
	}
	return table
}

// nearestF8 looks for the finite number that is nearest to x, the even one of two, by trying all.
func nearestF8(table *[256]float64, x float64) uint32 {
	if x != x {
		return 0x7f
	}
	best, distance := -1, new(big.Float)
	for code := range 128 {
		if v := table[code]; v-v == 0 {
			d := new(big.Float).SetPrec(exactPrec).Sub(big.NewFloat(v), big.NewFloat(min(math.Abs(x), math.MaxFloat32)))
			d.Abs(d)
			if c := d.Cmp(distance); best < 0 || c < 0 || c == 0 && code&1 == 0 {
				best, distance = code, d
			}
		}
	}
	if math.Signbit(x) {
		best |= 0x80
	}
	return uint32(best)
}

// aroundF8 returns numbers of a format: any, near those of 8 bits, or between two of them.
func aroundF8(r *rand.Rand, table *[256]float64, f *floatFormat) uint64 {
	if r.IntN(4) == 0 {
		return side{format: f, bits: f.exp + f.frac + 1}.random(r)
	}
	x, y := table[r.IntN(256)], table[r.IntN(256)]
	if r.IntN(2) == 0 {
		y = x
	}
	v := f.convert(&formatF64, math.Float64bits(x/2+y/2), roundRN)
	return v + uint64(r.IntN(3)) - 1*uint64(r.IntN(2))&v
}

func TestF8Packing(t *testing.T) {
	for name, table := range f8Codes {
		for _, relu := range []string{"", ".RELU"} {
			narrow := func(x float64) uint32 {
				if relu != "" && math.Signbit(x) && x == x {
					return 0
				}
				return nearestF8(&table, x)
			}
			for i, half := range []string{"", ".H1"} {
				check := func(text string, f *floatFormat, value func(a, b uint32) (high, low float64)) {
					onArchitectures(t, text, func(t *testing.T, a sass.Arch) {
						r := rand.New(rand.NewPCG(8, 43))
						w := newTestWarp(t, a, text)
						for range 20 {
							for lane := range 32 {
								for n := 1; n <= 2; n++ {
									v := aroundF8(r, &table, f)
									if f == &formatF16 {
										v = v&0xffff | aroundF8(r, &table, f)<<16
									}
									w.regs[n][lane] = uint32(v)
								}
								w.regs[3][lane] = r.Uint32()
							}
							w.runAll(t)
							for lane := range 32 {
								high, low := value(w.regs[1][lane], w.regs[2][lane])
								want := narrow(low) | narrow(high)<<8 | w.regs[3][lane]>>(16*i)<<16
								if got := w.regs[0][lane]; got != want {
									t.Fatalf("%s of %g and %g: %08x, want %08x", text, high, low, got, want)
								}
							}
						}
					})
				}
				check(fmt.Sprintf("F2FP.SATFINITE%s.%s.F32.PACK_AB_MERGE_C R0, R1, R2, R3%s", relu, name, half), &formatF32,
					func(a, b uint32) (float64, float64) {
						return float64(math.Float32frombits(a)), float64(math.Float32frombits(b))
					})
				check(fmt.Sprintf("F2FP.SATFINITE%s.%s.F16.UNPACK_B_MERGE_C R0, R2, R3%s", relu, name, half), &formatF16,
					func(_, b uint32) (float64, float64) { return f16ToF64(uint16(b >> 16)), f16ToF64(uint16(b)) })
			}
		}
	}
}

// Numbers of 8 bits are f16 as they are; NaNs become the one that PTX documents for f16.
func TestF8Unpacking(t *testing.T) {
	for name, table := range f8Codes {
		for _, relu := range []string{"", ".RELU"} {
			widen := func(code uint32) uint32 {
				x := table[code&255]
				switch {
				case x != x:
					return 0x7fff
				case relu != "" && math.Signbit(x):
					return 0
				}
				return uint32(formatF16.convert(&formatF64, math.Float64bits(x), roundRZ))
			}
			for i, half := range []string{"", ".H1"} {
				text := fmt.Sprintf("F2FP%s.F16.%s.UNPACK_B R0, R1%s", relu, name, half)
				checkLanes(t, text, side{bits: 32}, func(a, _, _ uint32) uint32 {
					a >>= 16 * i
					return widen(a) | widen(a>>8)<<16
				})
			}
		}
	}
}

// Numbers of 6 and 4 bits are halves as they are; as bfloat16 they and those of 8 bits are multiplied with powers of two, and may become too large.
func TestNarrowUnpacking(t *testing.T) {
	bits := func(x float32) uint32 { return math.Float32bits(x) >> 16 }
	for text, want := range map[string]uint32{
		"F2FP.F16.E2M1.UNPACK_B R0, R5":                        0x4600_3c00, // 6, 1
		"F2FP.RELU.F16.E2M3.UNPACK_B R0, R6":                   0x0000_4780, // -7.5, 7.5
		"F2FP.F16.E3M2.UNPACK_B R0, R7":                        0xcf00_2c00, // -28, 0.0625
		"F2FP.BF16.E2M1.UNPACK_B R0, R1.B1, R2.H1":             bits(-6*4)<<16 | bits(0.5*2),
		"F2FP.BF16.E4M3.UNPACK_B R0, R1.H1, R2.H0":             bits(448)<<16 | 0x7fff,
		"F2FP.BF16.E5M2.UNPACK_B R0, R3, R2.H1":                0x7f80<<16 | bits(2),
		"F2FP.SATFINITE.BF16.E5M2.UNPACK_B R0, R3, R2.H1":      0x7f7f<<16 | bits(2),
		"F2FP.SATFINITE.BF16.E5M2.UNPACK_B R0, R3.H1, R4.H0":   0x7f7f<<16 | 0x7fff,
		"F2FP.SATFINITE.E4M3.BF16.UNPACK_B_MERGE_C R0, R8, RZ": 0x3840, // of 1 and 2
	} {
		t.Run(text, func(t *testing.T) {
			w := newTestWarp(t, sass.SM120, text)
			for r, v := range []uint32{0, 0x7e7ff100, 0x8180_7fff, 0x7b7b7c3c, 0xfeff, 0x72, 0x3f1f, 0x3f01, 0x3f80_4000} {
				w.regs[r] = *broadcast(v)
			}
			w.runAll(t)
			if got := w.regs[0][7]; got != want {
				t.Errorf("%08x, want %08x", got, want)
			}
		})
	}
}

// A tf32 is a f32 whose last 13 bits are zero.
func TestTF32(t *testing.T) {
	f := &floatFormat{exp: 8, frac: 10, nan: 0x3ffff}
	for mode, name := range map[rounding]string{roundRN: "", roundRZ: ".RZ"} {
		for _, relu := range []string{"", ".RELU"} {
			text := fmt.Sprintf("F2FP%s.TF32.F32.PACK_B%s R0, R1", relu, name)
			checkLanes(t, text, side{format: &formatF32, bits: 32}, func(a, _, _ uint32) uint32 {
				x := math.Float32frombits(a)
				switch {
				case x != x:
					return nanF32
				case relu != "" && math.Signbit(float64(x)):
					return 0
				}
				return uint32(f.convert(&formatF32, uint64(a), mode)) << 13
			})
		}
	}
}

// PTX ISA, cvt.pack: the results of a and b, clamped, and above them the lower bits of c.
func TestPackedClampedIntegers(t *testing.T) {
	for _, c := range []struct {
		name      string
		low, high int64
		bits      uint
		c         string
	}{
		{"U8", 0, 255, 8, "R3"}, {"S8", -128, 127, 8, "R3"}, {"U16", 0, 65535, 16, "RZ"}, {"S16", -32768, 32767, 16, "RZ"},
		{"U4", 0, 15, 4, "R3.24"}, {"S4", -8, 7, 4, "R3.24"}, {"U2", 0, 3, 2, "R3.28"}, {"S2", -2, 1, 2, "R3.28"},
	} {
		want := func(relu bool) func(a, b, d uint32) uint32 {
			return func(a, b, d uint32) uint32 {
				clamp := func(v uint32) uint32 {
					x := max(c.low, min(c.high, int64(int32(v))))
					if relu {
						x = max(x, 0)
					}
					return uint32(x) & uint32(1<<c.bits-1)
				}
				r := uint64(clamp(a))<<c.bits + uint64(clamp(b))
				if c.bits < 16 {
					r += uint64(d) << (2 * c.bits)
				}
				return uint32(r)
			}
		}
		edges := side{bits: 32}
		checkLanes(t, fmt.Sprintf("I2IP.%s.S32.SAT R0, R1, R2, %s", c.name, c.c), edges, want(false))
		checkLanes(t, fmt.Sprintf("I2IP.%s.S32.SATRELU R0, R1, R2, %s", c.name, c.c), edges, want(true))
	}
}

// F2IP is cvt.rni or cvt.rzi to s32, where a NaN becomes zero, and cvt.pack, into which ptxas splits nothing.
func TestPackedBytes(t *testing.T) {
	for name, limits := range map[string][2]float64{"U8": {0, 255}, "S8": {-128, 127}} {
		for mode, round := range map[string]func(float64) float64{"": math.RoundToEven, ".TRUNC": math.Trunc} {
			for _, relu := range []string{"", ".RELU"} {
				narrow := func(v uint32) uint32 {
					x := float64(math.Float32frombits(v))
					if x != x || relu != "" && x < 0 {
						return 0
					}
					return uint32(int32(max(limits[0], min(limits[1], round(x))))) & 0xff
				}
				text := fmt.Sprintf("F2IP%s.%s.F32%s.NTZ R0, R1, R2, R3", relu, name, mode)
				if !parsesAnywhere(text) {
					text = fmt.Sprintf("F2IP.%s.F32%s.NTZ%s R0, R1, R2, R3", name, mode, relu)
				}
				checkLanes(t, text, side{format: &formatF32, bits: 32}, func(a, b, c uint32) uint32 {
					return c<<16 | narrow(a)<<8 | narrow(b)
				})
			}
		}
	}
}

// Elements of 6 bits are the lower bits of bytes, those of 4 bits the middle ones; the others do not count.
func TestNarrowMMA(t *testing.T) {
	for types, c := range map[string]struct {
		a, b uint32
		want float32
	}{
		"E3M2.E4M3": {0xcc, 0x38, 32}, "E5M2.E2M3": {0x3c, 0x1f, 32 * 7.5}, "E2M1.E2M1": {0xfe, 0x09, 32 * -6}, "E4M3.E2M1": {0x38, 0x1c, 32 * 6},
	} {
		w := newTestWarp(t, sass.SM120, "QMMA.16832.F32."+types+" R0, R8, R24, RZ")
		for n := range 4 {
			w.regs[8+n], w.regs[24+n] = *broadcast(c.a * 0x01010101), *broadcast(c.b * 0x01010101)
		}
		w.runAll(t)
		if got := w.regs[2]; got != *broadcast(math.Float32bits(c.want)) {
			t.Errorf("%s: %v, want %v", types, got, c.want)
		}
	}
}

// Products of 8-bit numbers, with the sum rounded once.
func TestF8MMA(t *testing.T) {
	for _, types := range [][2]string{{"E4M3", "E4M3"}, {"E4M3", "E5M2"}, {"E5M2", "E4M3"}, {"E5M2", "E5M2"}} {
		for _, c := range []struct {
			name  string
			shape mmaCase
			to    *floatFormat
		}{
			{"QMMA.16816.F16", tallMMA(4, 1, 8, 16), &formatF16}, {"QMMA.16816.F32", tallMMA(4, 1, 8, 32), &formatF32},
			{"QMMA.16832.F16", tallMMA(4, 2, 8, 16), &formatF16}, {"QMMA.16832.F32", tallMMA(4, 2, 8, 32), &formatF32},
		} {
			tables := [2][256]float64{f8Codes[types[0]], f8Codes[types[1]]}
			text := fmt.Sprintf("%s.%s.%s%s", c.name, types[0], types[1], immaOperands)
			random := func(r *rand.Rand, f *fragment) uint64 {
				if f.register == mmaC {
					return nearOne(r, c.to)
				}
				for { // no infinities, no NaNs, and nothing large in halves
					v := r.Uint64() & 0xff
					if x := math.Abs(tables[0][v]) + math.Abs(tables[1][v]); x < 64 {
						return v
					}
				}
			}
			value := func(n int) func(v uint64) *big.Float {
				return func(v uint64) *big.Float { return new(big.Float).SetPrec(exactPrec).SetFloat64(tables[n][v]) }
			}
			runMMA(t, text, c.shape, random, func(w *warp) func(row, column int, addend, got uint64) error {
				m := gather(w, &c.shape, value(0), value(1))
				return func(row, column int, addend, got uint64) error {
					sum := valueOf(c.to, addend)
					for k := range c.shape.depth {
						sum.Add(sum, new(big.Float).SetPrec(exactPrec).Mul(m.a[row][k], m.b[column][k]))
					}
					if sum.Sign() != 0 && !checkRounded(c.to, sum, got, roundRN) {
						return fmt.Errorf("%#x is not %g rounded", got, sum)
					}
					return nil
				}
			})
		}
	}
}

// With a false uniform predicate C counts as zero, whatever is in its registers.
func TestMMAWithoutAddend(t *testing.T) {
	for _, c := range []struct {
		text  string
		archs []sass.Arch
	}{
		{"QMMA.16832.F32.E4M3.E4M3 R0, R8.ROW, R24.COL, R32, UP1", []sass.Arch{sass.SM89}},
		{"QMMA.16832.F32.E4M3.E4M3 R0, R8, R24, R32, UP1", []sass.Arch{sass.SM120}},
		{"HMMA.16816.F32 R0, R8, R24, R32, UP1", []sass.Arch{sass.SM86, sass.SM89, sass.SM90}},
		{"IMMA.16832.S8.S8 R0, R8.ROW, R24.COL, R32, UP1", []sass.Arch{sass.SM86, sass.SM89, sass.SM90}},
		{"DMMA.16x8x16 R0, R8, R24, R32, UP1", []sass.Arch{sass.SM90}},
	} {
		const addend = 0x40100000 // A and B are zero
		for _, a := range c.archs {
			for p, want := range []uint32{0, addend} {
				w := newTestWarp(t, a, c.text)
				for n := range 8 {
					w.regs[mmaC+n] = *broadcast(addend)
				}
				w.preds[uniformPredicate(1)] = -uint32(p)
				w.runAll(t)
				if got := w.regs[1]; got != *broadcast(want) {
					t.Errorf("sm_%d: %s, UP1 %d: %#x", a, c.text, p, got)
				}
			}
		}
	}
}

// What is converted may stand in the instruction, where the compiler knows it: 0x38 is 1 in E4M3, 0x3c00 in f16.
func TestF8OfImmediates(t *testing.T) {
	for text, want := range map[string]uint32{
		"F2FP.F16.E4M3.UNPACK_B R0, 7.8472714002189755972e-44":                       0x3c00,
		"F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C R0, 2.1523944412029190209e-41, RZ": 0x38,
	} {
		checkLanes(t, text, side{bits: 32}, func(_, _, _ uint32) uint32 { return want })
	}
}
