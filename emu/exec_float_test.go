package emu

import (
	"fmt"
	"math"
	"math/big"
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

// saturated is an operation with .SAT: what is negative, -0 among it, is +0, and what is above 1 is 1.
func saturated(f *floatFormat, of func(a, b, c uint64, mode rounding) uint64) func(a, b, c uint64, mode rounding) uint64 {
	one := uint64(f.bias()) << f.frac
	return func(a, b, c uint64, mode rounding) uint64 {
		if r := of(a, b, c, mode); r&f.signBit() == 0 {
			return min(r, one)
		}
		return 0
	}
}

// Executors of f32 arithmetic in all modes against integer arithmetic, on operands that round, cancel, overflow and underflow.
func TestFloatExecutors(t *testing.T) {
	f := &formatF32
	for op, exact := range map[string]func(a, b, c uint64, mode rounding) uint64{
		"FADD": func(a, b, _ uint64, mode rounding) uint64 { return f.plus(a, b, mode) },
		"FMUL": func(a, b, _ uint64, mode rounding) uint64 { return f.times(a, b, mode) },
		"FFMA": f.fma,
	} {
		operands := " R0, R1, R2"
		if op == "FFMA" {
			operands += ", R3"
		}
		for mode, round := range roundings {
			checkFloat(t, op+round+operands, exact, mode)
			checkFloat(t, op+".FTZ"+round+operands, flushing(exact), mode)
			checkFloat(t, op+round+".SAT"+operands, saturated(f, exact), mode)
			checkFloat(t, op+".FTZ"+round+".SAT"+operands, saturated(f, flushing(exact)), mode)
		}
	}
}

// A product with a factor is rounded once: the factor goes to the exponent of what is rounded.
func TestScaledProducts(t *testing.T) {
	f := &formatF32
	for name, shift := range map[string]int{"D8": -3, "D4": -2, "D2": -1, "M2": 1, "M4": 2, "M8": 3} {
		for mode, round := range roundings {
			checkFloat(t, "FMUL."+name+round+" R0, R1, R2", func(a, b, _ uint64, mode rounding) uint64 {
				x := new(big.Float).Mul(valueOf(f, a), valueOf(f, b))
				if x.Sign() == 0 {
					return (a ^ b) & f.signBit()
				}
				x.SetMantExp(x, shift)
				exact, _ := x.Float64() // two significands of 24 bits
				return f.convert(&formatF64, math.Float64bits(exact), mode)
			}, mode)
		}
	}
}

func checkFloat(t *testing.T, text string, want func(a, b, c uint64, mode rounding) uint64, mode rounding) {
	t.Helper()
	f := &formatF32
	onArchitectures(t, text, func(t *testing.T, arch sass.Arch) {
		r := rand.New(rand.NewPCG(15, 16))
		w := newTestWarp(t, arch, text)
		for range 150 {
			for lane := range 32 {
				a := randomFinite(r, f, r.Uint64())
				b := randomFinite(r, f, a)
				w.regs[1][lane], w.regs[2][lane] = uint32(a), uint32(b)
				w.regs[3][lane] = uint32(randomFinite(r, f, f.times(a, b, roundRZ)))
			}
			w.runAll(t)
			for lane := range 32 {
				a, b, c := w.regs[1][lane], w.regs[2][lane], w.regs[3][lane]
				if want := uint32(want(uint64(a), uint64(b), uint64(c), mode)); w.regs[0][lane] != want {
					t.Fatalf("%s: %08x, %08x, %08x give %08x, want %08x", text, a, b, c, w.regs[0][lane], want)
				}
			}
		}
	})
}

// A comparison holds for numbers in some order, and for a NaN if it is one of those that end in U, or NAN.
type comparison struct {
	less, equal, greater, unordered bool
}

var comparisons = map[string]comparison{
	"LT": {less: true}, "EQ": {equal: true}, "LE": {less: true, equal: true}, "GT": {greater: true}, "NE": {less: true, greater: true},
	"GE": {equal: true, greater: true}, "NUM": {less: true, equal: true, greater: true}, "NAN": {unordered: true},
	"LTU": {less: true, unordered: true}, "EQU": {equal: true, unordered: true}, "LEU": {less: true, equal: true, unordered: true},
	"GTU": {greater: true, unordered: true}, "NEU": {less: true, greater: true, unordered: true}, "GEU": {equal: true, greater: true, unordered: true},
	"F": {}, "T": {true, true, true, true},
}

// holds compares bits by their order; the zeros are equal.
func (c comparison) holds(f *floatFormat, a, b uint64) bool {
	order := func(v uint64) int64 {
		if v&f.signBit() != 0 {
			return -int64(v &^ f.signBit())
		}
		return int64(v)
	}
	magnitude := f.signBit() - 1
	switch x, y := order(a), order(b); {
	case a&magnitude > f.infinity() || b&magnitude > f.infinity():
		return c.unordered
	case x < y:
		return c.less
	case x == y:
		return c.equal
	}
	return c.greater
}

// Every comparison of every format, on numbers of all kinds and NaNs.
func TestEveryComparison(t *testing.T) {
	for name, c := range comparisons {
		for _, k := range []struct {
			text   string
			format *floatFormat
			flush  bool
		}{
			{"FSETP.%s.AND P0, PT, R2, R4, PT", &formatF32, false},
			{"FSETP.%s.FTZ.AND P0, PT, R2, R4, PT", &formatF32, true},
			{"DSETP.%s.AND P0, PT, R2, R4, PT", &formatF64, false},
			{"HSETP2.%s.AND P0, PT, R2, R4, PT", &formatF16, false},
		} {
			text := fmt.Sprintf(k.text, name)
			if k.format == &formatF64 && (name == "F" || name == "T") {
				continue // DSETP has .MIN and .MAX in their place
			}
			checkComparison(t, text, k.format, func(a, b uint64) bool {
				if k.flush {
					a, b = k.format.flush(a), k.format.flush(b)
				}
				return c.holds(k.format, a, b)
			})
		}
	}
}

// checkComparison runs a comparison of R2 and R4, which are pairs of registers for wide formats.
func checkComparison(t *testing.T, text string, f *floatFormat, want func(a, b uint64) bool) {
	t.Helper()
	onArchitectures(t, text, func(t *testing.T, arch sass.Arch) {
		r := rand.New(rand.NewPCG(51, 52))
		w := newTestWarp(t, arch, text)
		s := side{format: f, bits: 1 + f.exp + f.frac}
		mask := f.signBit()<<1 - 1
		for range 50 {
			for lane := range 32 {
				a := s.random(r)
				b := s.random(r)
				switch r.IntN(4) {
				case 0:
					b = a
				case 1:
					b = a ^ f.signBit()
				}
				for n, v := range map[int]uint64{2: a, 4: b} {
					w.regs[n][lane], w.regs[n+1][lane] = uint32(v), uint32(v>>32)
				}
			}
			w.runAll(t)
			for lane := range 32 {
				a, b := pair(w, 2, lane)&mask, pair(w, 4, lane)&mask
				if got := w.preds[0]>>lane&1 != 0; got != want(a, b) {
					t.Fatalf("%s of %x and %x is %v", text, a, b, got)
				}
			}
		}
	})
}
