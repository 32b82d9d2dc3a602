package emu

import (
	"fmt"
	"math/bits"
	"testing"

	"gpa/cubin/sass"
)

// shuffled is shfl.sync of the PTX ISA, from its pseudocode: the lane read from, and whether it is in range.
func shuffled(mode string, lane, b, c int) (from int, inRange bool) {
	bval, cval, mask := b&31, c&31, c>>8&31
	maxLane := lane&mask | cval&^mask
	minLane := lane & mask
	switch mode {
	case "UP":
		from, inRange = lane-bval, lane-bval >= maxLane
	case "DOWN":
		from, inRange = lane+bval, lane+bval <= maxLane
	case "BFLY":
		from, inRange = lane^bval, lane^bval <= maxLane
	default:
		from = minLane | bval&^mask
		inRange = from <= maxLane
	}
	if !inRange {
		from = lane
	}
	return from, inRange
}

func TestShuffle(t *testing.T) {
	for _, mode := range []string{"IDX", "UP", "DOWN", "BFLY"} {
		for _, width := range []int{32, 16, 8, 2} {
			for b := range 32 {
				c := (32 - width) << 8
				if mode != "UP" {
					c |= 31
				}
				t.Run(fmt.Sprintf("%s/%d/%d", mode, width, b), func(t *testing.T) {
					each(t, fmt.Sprintf(`
						IMAD R4, R0, R0, RZ
						SHFL.%s P0, R9, R4, %#x, %#x
						@P0 IADD3 R9, R9, 0x10000, RZ`, mode, b, c), nil, func(thread uint32) uint32 {
						from, ok := shuffled(mode, int(thread), b, c)
						v := uint32(from * from)
						if ok {
							v += 0x10000
						}
						return v
					})
				})
			}
		}
	}
}

// Lanes of the rest of the warp give 0, so that those that execute can be added up.
func TestShuffleOfSomeLanes(t *testing.T) {
	each(t, `
		MOV R9, 0x3e8
		ISETP.LT.AND P0, PT, R0, 0x8, PT
		@P0 SHFL.DOWN PT, R9, R0, 0x4, 0x1f`, nil, func(thread uint32) uint32 {
		switch {
		case thread < 4:
			return thread + 4
		case thread < 8:
			return 0
		}
		return 1000
	})
}

func TestVote(t *testing.T) {
	const some = 0xff0 // lanes with P1 true; those below 24 execute
	tests := []struct {
		mode string
		p    string
		want uint32 // R9, and 1<<31 for the predicate
	}{
		{"ANY", "P1", some | 1<<31},
		{"ALL", "P1", some},
		{"EQ", "P1", some},
		{"ALL", "PT", 0xffffff | 1<<31},
		{"ANY", "!PT", 0},
		{"EQ", "!PT", 0 | 1<<31},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" "+tt.p, func(t *testing.T) {
			each(t, fmt.Sprintf(`
				MOV R9, 0x5
				IADD3 R4, R0, -0x4, RZ
				ISETP.LT.U32.AND P1, PT, R4, 0x8, PT
				ISETP.LT.AND P0, PT, R0, 0x18, PT
				ISETP.EQ.AND P2, PT, RZ, 0x1, PT
				@P0 VOTE.%s R9, P2, %s
				@P2 LOP3.LUT R9, R9, 0x80000000, RZ, 0xfc, !PT`, tt.mode, tt.p), nil, func(thread uint32) uint32 {
				if thread >= 24 {
					return 5
				}
				return tt.want
			})
		})
	}
}

func TestMatch(t *testing.T) {
	key := func(thread uint32) uint32 { return thread * 7 % 5 }
	each(t, `
		IMAD R4, R0, 0x7, RZ
		loop:
		ISETP.GE.AND P1, PT, R4, 0x5, PT
		@P1 IADD3 R4, R4, -0x5, RZ
		@P1 BRA loop
		WARPSYNC 0xffffffff
		MATCH.ANY R9, R4`, nil, func(thread uint32) uint32 {
		var same uint32
		for l := range uint32(32) {
			if key(l) == key(thread) {
				same |= 1 << l
			}
		}
		return same
	})
	each(t, `
		MOV R5, R0
		MOV R4, RZ
		MATCH.ANY.U64 R9, R4`, nil, func(thread uint32) uint32 { return 1 << thread })
}

func TestSpecialRegisters(t *testing.T) {
	tests := []struct {
		name string
		want func(w *warp, lane int) uint32
	}{
		{"SR_TID.X", func(w *warp, lane int) uint32 { return uint32((w.id*32 + lane) % 5) }},
		{"SR_TID.Y", func(w *warp, lane int) uint32 { return uint32((w.id*32 + lane) / 5 % 4) }},
		{"SR_TID.Z", func(w *warp, lane int) uint32 { return uint32((w.id*32 + lane) / 20) }},
		{"SR_CTAID.X", func(w *warp, _ int) uint32 { return 1 }},
		{"SR_CTAID.Y", func(w *warp, _ int) uint32 { return 2 }},
		{"SR_CTAID.Z", func(w *warp, _ int) uint32 { return 3 }},
		{"SR_LANEID", func(_ *warp, lane int) uint32 { return uint32(lane) }},
		{"SR_EQMASK", func(_ *warp, lane int) uint32 { return bits.RotateLeft32(1, lane) }},
		{"SR_LTMASK", func(_ *warp, lane int) uint32 { return uint32(uint64(1)<<lane - 1) }},
		{"SR_LEMASK", func(_ *warp, lane int) uint32 { return uint32(uint64(2)<<lane - 1) }},
		{"SR_GTMASK", func(_ *warp, lane int) uint32 { return ^uint32(uint64(2)<<lane - 1) }},
		{"SR_GEMASK", func(_ *warp, lane int) uint32 { return ^uint32(uint64(1)<<lane - 1) }},
		{"SR_VIRTID", func(w *warp, _ int) uint32 { return uint32(w.id << 8) }},
		{"SR_LMEMHIOFF", func(*warp, int) uint32 { return 0 }},
	}
	for _, tt := range tests {
		for _, a := range architectures {
			t.Run(fmt.Sprintf("%s/sm_%d", tt.name, a), func(t *testing.T) {
				for _, w := range specialWarps(t, a, "S2R R9, "+tt.name) {
					if err := w.step(); err != nil {
						t.Fatal(err)
					}
					for m := w.exists; m != 0; m &= m - 1 {
						if lane := bits.TrailingZeros32(m); w.regs[9][lane] != tt.want(w, lane) {
							t.Fatalf("warp %d lane %d: got %#x, want %#x", w.id, lane, w.regs[9][lane], tt.want(w, lane))
						}
					}
				}
			})
		}
	}
}

// specialWarps are the warps of block (1,2,3) of 5 by 4 by 3 threads, which are to execute an instruction.
func specialWarps(t *testing.T, a sass.Arch, text string) []*warp {
	t.Helper()
	p := &timedProgram{text: text + "\nEXIT", model: modelOf(a)}
	m, l, _ := p.start(t, p.model, Options{})
	l.Grid, l.Block = [3]int{2, 3, 4}, [3]int{5, 4, 3}
	r, err := m.prepare(l)
	if err != nil {
		t.Fatal(err)
	}
	return r.newBlock(1 + 2*2 + 6*3).warps
}
