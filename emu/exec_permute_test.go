package emu

import (
	"fmt"
	"testing"
)

// permutations are the bytes, of B above A, that the modes of PRMT take, the lowest first, by the two low bits of the selector
// (PTX ISA, prmt).
var permutations = map[string][4][4]uint{
	"F4E":  {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
	"B4E":  {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
	"RC8":  {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
	"ECL":  {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
	"ECR":  {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
	"RC16": {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}},
}

// Every mode of PRMT with its selector in a register and as an immediate.
func TestPermutations(t *testing.T) {
	for mode, rows := range permutations {
		selected := func(a, b, selector uint32) uint32 {
			both, want := uint64(b)<<32|uint64(a), uint32(0)
			for k, n := range rows[selector&3] {
				want |= uint32(both>>(8*n)&0xff) << (8 * k)
			}
			return want
		}
		runRandom(t, fmt.Sprintf("PRMT.%s R0, R1, R2, R3", mode), func(w *warp, lane int) error {
			return differ("R0", w.regs[0][lane], selected(w.regs[1][lane], w.regs[3][lane], w.regs[2][lane]))
		})
		for selector := range uint32(8) {
			runRandom(t, fmt.Sprintf("PRMT.%s R0, R1, %#x, R3", mode, selector), func(w *warp, lane int) error {
				return differ("R0", w.regs[0][lane], selected(w.regs[1][lane], w.regs[3][lane], selector))
			})
		}
	}
}

// PRMT without a mode takes, for each byte of the result, the one that four bits of the selector name, or eight copies of its
// sign where the highest of them is set.
func TestPermutationsByIndex(t *testing.T) {
	indexed := func(a, b, selector uint32) (want uint32) {
		for k := range 4 {
			n := selector >> (4 * k) & 0xf
			from := a
			if n&4 != 0 {
				from = b
			}
			v := int32(int8(from >> (8 * (n & 3))))
			if n&8 != 0 {
				v >>= 8
			}
			want |= uint32(uint8(v)) << (8 * k)
		}
		return want
	}
	runRandom(t, "PRMT R0, R1, R2, R3", func(w *warp, lane int) error {
		return differ("R0", w.regs[0][lane], indexed(w.regs[1][lane], w.regs[3][lane], w.regs[2][lane]))
	})
	for _, selector := range []uint32{0x3210, 0x7654, 0x0123, 0x5410, 0x9180, 0xfedc, 0x8765, 0x4444} {
		runRandom(t, fmt.Sprintf("PRMT R0, R1, %#x, R3", selector), func(w *warp, lane int) error {
			return differ("R0", w.regs[0][lane], indexed(w.regs[1][lane], w.regs[3][lane], selector))
		})
	}
}
