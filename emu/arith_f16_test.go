package emu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every f16 survives the way to f64 and back in every mode, and agrees with the integer conversion.
func TestF16AllValues(t *testing.T) {
	for h := range 1 << 16 {
		h := uint16(h)
		x := f16ToF64(h)
		if want := formatF64.convert(&formatF16, uint64(h), roundRN); bitsF64(x) != want {
			t.Fatalf("f64(%04x) = %016x, want %016x", h, bitsF64(x), want)
		}
		want := h
		if h&^signF16 > infF16 {
			want = nanF16
		}
		for _, mode := range allModes {
			if got := f16FromF64(x, mode); got != want {
				t.Fatalf("f16(f64(%04x)) mode %d = %04x", h, mode, got)
			}
		}
	}
}

// Between every two neighbours: the middle, and a little to either side of it.
func TestF16Rounding(t *testing.T) {
	for h := range uint16(infF16) {
		lo, hi := f16ToF64(h), f16ToF64(h+1)
		if h+1 == infF16 {
			hi = 65536
		}
		mid := (lo + hi) / 2
		for _, x := range []float64{mid, math.Nextafter(mid, 0), math.Nextafter(mid, hi), math.Nextafter(lo, hi)} {
			for _, mode := range allModes {
				for _, x := range []float64{x, -x} {
					want := uint16(formatF16.convert(&formatF64, math.Float64bits(x), mode))
					if got := f16FromF64(x, mode); got != want {
						t.Fatalf("f16(%v) mode %d = %04x, want %04x", x, mode, got, want)
					}
				}
			}
		}
	}
}

// Sums and fused products through f64 equal those rounded once, for random operands and for the largest gaps.
func TestF16Arithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var m f16Mode
	for range 300000 {
		a := randomFinite(r, &formatF16, r.Uint64())
		b := randomFinite(r, &formatF16, a)
		c := randomFinite(r, &formatF16, formatF16.times(a, b, roundRZ))
		if g, w := m.fma(uint16(a), uint16(b), uint16(c)), uint16(formatF16.fma(a, b, c, roundRN)); g != w {
			t.Fatalf("fma(%04x, %04x, %04x) = %04x, want %04x", a, b, c, g, w)
		}
		if g, w := m.add(uint16(a), uint16(b)), uint16(formatF16.plus(a, b, roundRN)); g != w {
			t.Fatalf("add(%04x, %04x) = %04x, want %04x", a, b, g, w)
		}
		if g, w := m.mul(uint16(a), uint16(b)), uint16(formatF16.times(a, b, roundRN)); g != w {
			t.Fatalf("mul(%04x, %04x) = %04x, want %04x", a, b, g, w)
		}
	}
}
