package emu

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"
)

// rounds is a program that repeats a body as many times as an instruction sets R31 to, from its block's number in R30.
func rounds(count, body string) string {
	return `
		[B------:R-:W0:-:S02] S2R R30, SR_CTAID.X
		[B------:R-:W1:-:S02] S2R R1, SR_TID.X
		[B01----:R-:W-:-:S08] IMAD R0, R30, c[0x0][0x0], R1
		[B------:R-:W-:-:S04] MOV R2, c[0x0][0x160]
		[B------:R-:W-:-:S04] MOV R3, c[0x0][0x164]
		[B------:R-:W-:-:S08] IMAD.WIDE R2, R0, 0x4, R2
		[B------:R-:W-:-:S08] ` + count + `
		loop:
		` + body + `
		[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.GT.AND P6, PT, R31, RZ, PT
		[B------:R-:W-:Y:S05] @P6 BRA loop
		[B------:R-:W-:-:S02] STG.E.SYS [R2], R4
		[B------:R-:W-:Y:S05] EXIT`
}

// TestExtrapolation runs large grids in full and with the blocks timed only until they are steady. The error of the cycles
// lies within the bound that the result names, and everything else is the same; -v prints the table.
func TestExtrapolation(t *testing.T) {
	const arithmetic = `
		[B------:R-:W-:-:S04] FFMA R4, R4, R5, R6
		[B------:R-:W-:-:S02] FFMA R7, R4, R5, R6
		[B------:R-:W-:-:S04] IADD3 R4, R4, R7, RZ`
	const loading = `
		[B------:R-:W0:-:S02] LDG.E.SYS R5, [R2]
		[B0-----:R-:W-:-:S04] IADD3 R4, R4, R5, RZ`
	for _, tt := range []struct {
		name, text string
		blocks     int
		steady     string // whether the blocks are: always, never, or perhaps where they are at the limit
	}{
		{"stream", wordStream, 4000, "always"},
		{"arithmetic", rounds("MOV R31, 0x10", arithmetic), 1200, "always"},
		{"loads in L1", rounds("MOV R31, 0x8", loading), 2000, "always"},
		{"blocks of many lengths", rounds("LOP3.LUT R31, R30, 0x7, RZ, 0xc0, !PT", arithmetic), 2400, "always"},
		{"blocks that grow", rounds("SHF.R.U32.HI R31, RZ, 0x4, R30", loading), 900, "perhaps"},
		{"few blocks", wordStream, 300, "never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := timedProgram{text: tt.text, blocks: tt.blocks, threads: 256}
			n := tt.blocks * p.threads
			p.buffers = [][]uint32{words(n), make([]uint32, n)}
			run := func(e Extrapolation) (*Result, []byte) {
				model := *testModel(t)
				model.SMs.Value = 4
				m, l, addrs := p.start(t, &model, Options{Timing: TimingFull, Extrapolation: e})
				r, err := m.Launch(context.Background(), l)
				if err != nil {
					t.Fatal(err)
				}
				data := make([]byte, 4*n)
				for i := range addrs {
					if err := m.Read(addrs[i], data); err != nil {
						t.Fatal(err)
					}
				}
				return r, data
			}
			whole, wantData := run(Extrapolation{Off: true})
			part, data := run(Extrapolation{After: 1})
			if whole.TimedBlocks != 0 || whole.ErrorBound != 0 {
				t.Errorf("%d blocks timed where all are to be", whole.TimedBlocks)
			}
			if want := map[bool]string{true: "always", false: "never"}[part.TimedBlocks > 0]; tt.steady != "perhaps" && tt.steady != want || part.TimedBlocks >= tt.blocks {
				t.Errorf("%d of %d blocks were timed", part.TimedBlocks, tt.blocks)
			}
			e := float64(part.Cycles)/float64(whole.Cycles) - 1
			t.Logf("%d of %d blocks timed, %d cycles for %d, %+.2f %%, within %.2f %%",
				part.TimedBlocks, tt.blocks, part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound)
			if math.Abs(e) > part.ErrorBound {
				t.Errorf("%d cycles instead of %d: %.2f %%, the bound is %.2f %%", part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound)
			}
			if !bytes.Equal(data, wantData) {
				t.Error("other results")
			}
			if part.WarpInstructions != whole.WarpInstructions || part.ThreadInstructions != whole.ThreadInstructions ||
				!slices.Equal(part.Counters, whole.Counters) {
				t.Error("other counters")
			}
		})
	}
}

// TestExtrapolationWaits holds that a launch is timed to its end where blocks on the GPU wait for its last one.
func TestExtrapolationWaits(t *testing.T) {
	p := timedProgram{blocks: 700, threads: 256, buffers: [][]uint32{make([]uint32, 1)}, text: `
		[B------:R-:W0:-:S02] S2R R0, SR_CTAID.X
		[B------:R-:W-:-:S04] MOV R2, c[0x0][0x160]
		[B------:R-:W-:-:S04] MOV R3, c[0x0][0x164]
		[B------:R-:W-:-:S04] MOV R5, 0x1
		[B0-----:R-:W-:Y:S12] ISETP.EQ.AND P0, PT, R0, 0x2bb, PT
		[B------:R-:W-:-:S02] @P0 STG.E.SYS [R2], R5
		[B------:R-:W-:Y:S12] ISETP.LT.OR P1, PT, R0, 0x40, P0
		[B------:R-:W-:Y:S12] ISETP.GE.OR P1, PT, R0, 0x44, P1
		[B------:R-:W-:Y:S05] @P1 EXIT
		loop:
		[B------:R-:W0:-:S02] LDG.E.STRONG.GPU R4, [R2]
		[B0-----:R-:W-:Y:S12] ISETP.EQ.AND P0, PT, R4, RZ, PT
		[B------:R-:W-:Y:S05] @P0 BRA loop
		[B------:R-:W-:Y:S05] EXIT`}
	model := *testModel(t)
	model.SMs.Value = 4
	m, l, _ := p.start(t, &model, Options{Timing: TimingFull, MaxInstructions: 1 << 24, Extrapolation: Extrapolation{After: 1}})
	r, err := m.Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if r.TimedBlocks != 0 {
		t.Errorf("%d blocks were timed", r.TimedBlocks)
	}
}
