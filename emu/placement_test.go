package emu

import (
	"encoding/binary"
	"testing"
)

// TestPlacement holds which SMs the blocks of a grid come to, of which an SM of 80 holds two: one after the other until all are
// full, and then to places as they become free, so that no SM gets much more than its share. Successive blocks are given out at the
// rate of the model.
func TestPlacement(t *testing.T) {
	const sms = 80
	for _, blocks := range []int{50, 160, 800} {
		p := timedProgram{blocks: blocks, threads: 1024, buffers: [][]uint32{make([]uint32, 2*blocks)}, text: "[B------:R-:W-:-:S08] CS2R.32 R7, SR_CLOCKLO" + loadPointer + `
			[B------:R-:W0:-:S02] S2R R4, SR_CTAID.X
			[B------:R-:W1:-:S02] S2R R5, SR_TID.X
			[B------:R-:W2:-:S02] S2R R6, SR_VIRTUALSMID
			[B-1----:R-:W-:Y:S12] ISETP.NE.AND P0, PT, R5, RZ, PT
			[B------:R-:W-:Y:S05] @P0 EXIT
			[B0-----:R-:W-:-:S08] IMAD.WIDE R2, R4, 0x8, R2
			[B--2---:R-:W-:-:S02] STG.E.SYS [R2], R6
			[B------:R-:W-:-:S02] STG.E.SYS [R2+0x4], R7
			[B------:R-:W-:Y:S05] EXIT`}
		r, m, addrs := p.run(t, nil)
		if r.Facts.Occupancy.BlocksPerSM != min(2, (blocks+sms-1)/sms) {
			t.Fatalf("%d blocks an SM", r.Facts.Occupancy.BlocksPerSM)
		}
		data := make([]byte, 8*blocks)
		if err := m.Read(addrs[0], data); err != nil {
			t.Fatal(err)
		}
		word := func(i int) int { return int(binary.LittleEndian.Uint32(data[4*i:])) }
		held := make([]int, sms)
		for i := range blocks {
			held[word(2*i)]++
			if i < min(blocks, 2*sms) && word(2*i) != i%sms {
				t.Errorf("%d blocks: block %d is on SM %d, want %d", blocks, i, word(2*i), i%sms)
			}
		}
		for sm, n := range held {
			if share := float64(blocks) / sms; float64(n) < share-2 || float64(n) > share+2 {
				t.Errorf("%d blocks: SM %d got %d", blocks, sm, n)
			}
		}
		last := min(blocks, sms) - 1
		if got, want := word(2*last+1)-word(1), int(float64(last)*testModel(t).Launching.Block.Value); got < want-2 || got > want+2 {
			t.Errorf("%d blocks: block %d begins %d cycles after the first, want %d", blocks, last, got, want)
		}
	}
}
