package emu

import (
	"testing"

	"gpa/emu/arch"
	"gpa/emu/stall"
)

// TestDrain holds that a warp on Turing drains until the LSU has the data of its stores, however busy L2 is, but that its atomics
// must have reached L2.
func TestDrain(t *testing.T) {
	for _, tt := range []struct {
		name, op string
		longer   bool // with a slower L2
	}{{"stores", "STG.E.SYS [R2], R4", false}, {"atomics", "RED.E.ADD.STRONG.GPU [R2], R4", true}} {
		t.Run(tt.name, func(t *testing.T) {
			drain := func(slower float64) int {
				m, err := arch.ByName("t4")
				if err != nil {
					t.Fatal(err)
				}
				m.L2.SliceWidth.Value /= slower
				p := timedProgram{model: m, blocks: 40, threads: 64, buffers: [][]uint32{make([]uint32, 64*8)}, text: loadPointer + `
					[B------:R-:W0:-:S02] S2R R4, SR_TID.X
					[B0-----:R-:W-:-:S05] MOV R5, 0x20
					[B------:R-:W-:-:S08] IMAD.WIDE R2, R4, R5, R2
					[B------:R-:W-:-:S02] ` + tt.op + `
					[B------:R-:W-:Y:S05] EXIT`}
				tr, _ := p.traced(t)
				n := 0
				for _, reasons := range tr.reasons {
					n += reasons[stall.Drain]
				}
				return n
			}
			fast, slow := drain(1), drain(16)
			if fast == 0 || tt.longer != (slow > fast) {
				t.Errorf("%d samples of drain, %d with a slower L2", fast, slow)
			}
		})
	}
}
