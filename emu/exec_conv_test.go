package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// A side is one side of a conversion in a test.
type side struct {
	text   string
	format *floatFormat // nil for integers
	bits   uint
	signed bool
}

var (
	floatSides = []side{{".F16", &formatF16, 16, true}, {".F32", &formatF32, 32, true}, {".F64", &formatF64, 64, true}}
	brainSide  = side{".BF16", &formatBF16, 16, true}
	intSides   = []side{{".U8", nil, 8, false}, {".S8", nil, 8, true}, {".U16", nil, 16, false}, {".S16", nil, 16, true},
		{".U32", nil, 32, false}, {"", nil, 32, true}, {".U64", nil, 64, false}, {".S64", nil, 64, true}}
	roundings   = map[rounding]string{roundRN: "", roundRM: ".RM", roundRP: ".RP", roundRZ: ".RZ"}
	directions  = map[rounding]string{roundRN: "", roundRM: ".FLOOR", roundRP: ".CEIL", roundRZ: ".TRUNC"}
	bigRounding = map[rounding]big.RoundingMode{roundRN: big.ToNearestEven, roundRM: big.ToNegativeInf, roundRP: big.ToPositiveInf, roundRZ: big.ToZero}
)

// random returns bits of the type, of floating-point ones often a NaN, an infinity, or near the range of an integer.
func (s side) random(r *rand.Rand) uint64 {
	if s.format == nil {
		return uint64(interesting(r)) | uint64(interesting(r))<<32
	}
	switch r.IntN(8) {
	case 0:
		return s.format.infinity() | r.Uint64()&s.format.signBit()
	case 1:
		return s.format.nan ^ r.Uint64()&s.format.signBit()
	case 2, 3, 4:
		return s.format.pack(numberOf(r.IntN(2) == 0, r.Uint64()>>r.IntN(64)), allModes[r.IntN(4)])
	}
	return randomFinite(r, s.format, r.Uint64())
}

// checkConversion runs a conversion from R2 to R4 on random operands, and has each result checked.
func checkConversion(t *testing.T, text string, from, to side, want func(v uint64) uint64) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, a sass.Arch) { checkConversionOn(t, a, text, from, to, want) })
}

func checkConversionOn(t *testing.T, a sass.Arch, text string, from, to side, want func(v uint64) uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(21, 22))
	w := newTestWarp(t, a, text)
	for range 20 {
		var in [32]uint64
		for lane := range in {
			in[lane] = from.random(r)
			w.regs[2][lane], w.regs[3][lane] = uint32(in[lane]), uint32(in[lane]>>32)
		}
		w.runAll(t)
		for lane, v := range in {
			got := (uint64(w.regs[5][lane])<<32 | uint64(w.regs[4][lane])) << (64 - to.bits) >> (64 - to.bits)
			v = v << (64 - from.bits) >> (64 - from.bits)
			if want := want(v); got != want {
				t.Fatalf("%s of %x is %x, want %x", text, v, got, want)
			}
		}
	}
}

// Between formats: by integer arithmetic.
func TestF2FExecutors(t *testing.T) {
	sides := append(slices.Clone(floatSides), brainSide)
	for _, from := range sides {
		for _, to := range sides {
			for mode, name := range roundings {
				if from.text == to.text {
					continue
				}
				text := "F2F" + to.text + from.text + name + " R4, R2"
				checkConversion(t, text, from, to, func(v uint64) uint64 { return to.format.convert(from.format, v, mode) })
			}
		}
	}
}

// To integers: the value in arithmetic of any precision, rounded and clamped.
func TestF2IExecutors(t *testing.T) {
	for _, from := range floatSides {
		for _, to := range intSides {
			for mode, name := range directions {
				for _, ntz := range []string{"", ".NTZ"} {
					text := "F2I" + to.text + strings.TrimPrefix(from.text, ".F32") + name + ntz + " R4, R2"
					checkConversion(t, text, from, to, func(v uint64) uint64 { return integerOf(from, to, v, mode, ntz != "") })
				}
			}
		}
	}
}

func integerOf(from, to side, v uint64, mode rounding, nanToZero bool) uint64 {
	mask := uint64(math.MaxUint64) >> (64 - to.bits)
	low, high := new(big.Int), new(big.Int).SetUint64(mask)
	if to.signed {
		high.Rsh(high, 1)
		low.Not(high)
	}
	switch x := from.format.unpack(v); {
	case x.class == classNaN && nanToZero:
		return 0
	case x.class == classNaN:
		return 1 << (to.bits - 1)
	case x.class == classInfinity && x.neg:
		return new(big.Int).And(low, new(big.Int).SetUint64(mask)).Uint64()
	case x.class == classInfinity:
		return high.Uint64()
	}
	n := roundedInteger(valueOf(from.format, v), mode)
	switch {
	case n.Cmp(low) < 0:
		n = low
	case n.Cmp(high) > 0:
		n = high
	}
	return new(big.Int).And(n, new(big.Int).SetUint64(mask)).Uint64()
}

// roundedInteger rounds by comparing with the integers on both sides.
func roundedInteger(x *big.Float, mode rounding) *big.Int {
	n, _ := x.Int(nil) // toward zero
	rest := new(big.Float).Sub(x, new(big.Float).SetPrec(exactPrec).SetInt(n))
	away := big.NewInt(int64(x.Sign()))
	half := new(big.Float).Abs(rest).Cmp(big.NewFloat(0.5))
	switch up := rest.Sign() != 0; {
	case up && mode == roundRN && (half > 0 || half == 0 && n.Bit(0) != 0),
		up && mode == roundRM && x.Sign() < 0, up && mode == roundRP && x.Sign() > 0:
		n.Add(n, away)
	}
	return n
}

// From integers: big.Float rounds them, but to f16 as a number without limits.
func TestI2FExecutors(t *testing.T) {
	for _, from := range intSides {
		for _, to := range floatSides {
			for mode, name := range roundings {
				text := "I2F" + strings.TrimPrefix(to.text, ".F32") + from.text + name + " R4, R2"
				checkConversion(t, text, from, to, func(v uint64) uint64 {
					n := new(big.Int).SetUint64(v)
					if from.signed && v>>(from.bits-1) != 0 {
						n.Sub(n, new(big.Int).Lsh(big.NewInt(1), from.bits))
					}
					x := new(big.Float).SetPrec(to.format.frac + 1).SetMode(bigRounding[mode]).SetInt(n)
					f, _ := x.Float64()
					return to.format.convert(&formatF64, math.Float64bits(f), mode)
				})
			}
		}
	}
}

// Rounding to an integral value keeps the sign of zero, infinities, and what has no fraction.
func TestFRNDExecutors(t *testing.T) {
	for _, s := range append(slices.Clone(floatSides), brainSide) {
		for mode, name := range directions {
			text := fmt.Sprintf("FRND%s%s R4, R2", strings.TrimPrefix(s.text, ".F32"), name)
			checkConversion(t, text, s, s, func(v uint64) uint64 {
				switch x := s.format.unpack(v); x.class {
				case classNaN:
					return s.format.nan
				case classFinite:
					n := roundedInteger(valueOf(s.format, v), mode)
					f, _ := new(big.Float).SetInt(n).Float64()
					return s.format.convert(&formatF64, math.Float64bits(math.Copysign(f, float64(1-2*int(bit(x.neg))))), mode)
				}
				return v
			})
		}
	}
}

// Bytes and halves of a register.
func TestSelectedSources(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint32
	}{
		{"I2F.U8 R0, R1", 0x43090000},     // 137
		{"I2F.S8 R0, R1.B1", 0xc2cc0000},  // -102
		{"I2F.U8 R0, R1.B3", 0x42700000},  // 60
		{"I2F.S16 R0, R1.H1", 0x46702000}, // 15368
		{"F2F.F32.F16 R0, R1.H1", 0x3f810000},
		{"F2F.F32.F16 R0, -R1.H1", 0xbf810000},
		{"F2I.F16.CEIL.NTZ R0, R1.H1", 2},
	} {
		w := newTestWarp(t, sass.SM70, c.text)
		w.regs[1][7] = 0x3c089a89
		w.runAll(t)
		if got := w.regs[0][7]; got != c.want {
			t.Errorf("%s = %08x, want %08x", c.text, got, c.want)
		}
	}
}
