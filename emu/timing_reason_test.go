package emu

import (
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// TestReasons reaches every stall reason that the emulator gives, with the producer where there is one.
func TestReasons(t *testing.T) {
	buffer := [][]uint32{make([]uint32, 1<<12)}
	hopper, err := arch.ByName("h100pcie")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		program  timedProgram
		at       int // instruction whose samples show it
		reason   stall.Reason
		producer int // the instruction waited for, -1 for none
	}{
		{"selected", timedProgram{text: twice("FADD R4, R5, R6")}, 1, stall.Selected, -1},
		{"not selected", timedProgram{threads: 1024, text: twice(strings.Repeat("NOP\n", 6))}, 1, stall.NotSelected, -1},
		{"wait", timedProgram{text: twice("[B------:R-:W-:-:S06] FADD R4, R5, R6\nFADD R4, R4, R4")}, 2, stall.Wait, -1},
		{"a load", timedProgram{buffers: buffer, text: loadPointer + `
			[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
			[B0-----:R-:W-:-:S04] FADD R4, R4, R4
			[B------:R-:W-:Y:S05] EXIT`}, 3, stall.LongScoreboard, 2},
		{"the later of two loads", timedProgram{model: evenDRAM(t), buffers: buffer, text: loadPointer + `
			[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
			[B------:R-:W1:-:S02] LDG.E.SYS R5, [R2+0x100]
			[B01----:R-:W-:-:S04] FADD R4, R4, R4
			[B------:R-:W-:Y:S05] EXIT`}, 4, stall.LongScoreboard, 3},
		{"the operands of a store", timedProgram{buffers: buffer, text: loadPointer + `
			[B------:R0:W-:-:S02] STG.E.SYS [R2], R4
			[B0-----:R-:W-:-:S04] MOV R4, 0x1
			[B------:R-:W-:Y:S05] EXIT`}, 3, stall.LongScoreboard, 2},
		{"a load from local memory", timedProgram{text: twice(`
			[B------:R-:W0:-:S02] LDL R4, [RZ+0x8]
			[B0-----:R-:W-:-:S04] FADD R4, R4, R4`)}, 2, stall.LongScoreboard, 1},
		{"a load from shared memory", timedProgram{shared: 256, text: twice(`
			[B------:R-:W3:-:S02] LDS R4, [RZ]
			[B---3--:R-:W-:-:S04] FADD R4, R4, R4`)}, 2, stall.ShortScoreboard, 1},
		{"a special function", timedProgram{text: twice(`
			[B------:R-:W0:-:S02] MUFU.SQRT R4, R4
			[B0-----:R-:W-:-:S04] FADD R4, R4, R4`)}, 2, stall.ShortScoreboard, 1},
		{"a load before a special function", timedProgram{buffers: buffer, text: loadPointer + `
			[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
			[B------:R-:W1:-:S02] MUFU.SQRT R5, R5
			[B01----:R-:W-:-:S04] FADD R4, R4, R4
			[B------:R-:W-:Y:S05] EXIT`}, 4, stall.LongScoreboard, 2},
		{"a CTA barrier", timedProgram{threads: 64, text: `
			[B------:R-:W0:-:S02] S2R R4, SR_TID.X
			[B0-----:R-:W-:Y:S12] ISETP.GE.AND P0, PT, R4, 0x20, PT
			[B------:R-:W-:Y:S15] @P0 MOV R5, 0x1
			[B------:R-:W0:-:S02] @P0 MUFU.SQRT R5, R5
			[B0-----:R-:W-:-:S05] BAR.SYNC 0x0
			[B------:R-:W-:-:S04] MOV R5, 0x1
			[B------:R-:W-:Y:S05] EXIT`}, 5, stall.Barrier, -1},
		{"a memory barrier", timedProgram{buffers: buffer, text: loadPointer + `
			[B------:R-:W-:-:S02] STG.E.SYS [R2], R4
			[B------:R-:W-:-:S02] MEMBAR.SC.GPU
			[B------:R-:W-:-:S04] MOV R5, 0x1
			[B------:R-:W-:Y:S05] EXIT`}, 4, stall.Membar, -1},
		{"stores at the end", timedProgram{buffers: buffer, text: loadPointer + `
			[B------:R-:W-:-:S02] STG.E.SYS [R2], R4
			[B------:R-:W-:Y:S05] EXIT`}, 4, stall.Drain, -1}, // behind it
		{"the instruction cache", timedProgram{text: strings.Repeat("FADD R4, R5, R6\n", 20) + "[B------:R-:W-:Y:S05] EXIT"}, 0, stall.NoInstructions, -1},
		{"a branch", timedProgram{text: twice("FADD R4, R5, R6")}, 1, stall.BranchResolving, -1},
		{"the constant cache", timedProgram{text: "[B------:R-:W-:-:S04] MOV R4, c[0x0][0x0]\n[B------:R-:W-:Y:S05] EXIT"}, 0, stall.ImcMiss, -1},
		{"a pipe", timedProgram{text: twice("[B------:R-:W0:-:S01] DFMA R4, R6, R6, R6\n[B------:R-:W1:-:S01] DFMA R8, R6, R6, R6")}, 2, stall.MathPipeThrottle, -1},
		{"the MIO queue", timedProgram{text: twice(strings.Repeat("[B------:R-:W0:-:S01] MUFU.SQRT R4, R5\n", 8))}, 8, stall.MioThrottle, -1},
		{"the LG queue", timedProgram{buffers: buffer, text: loadPointer + "\n" + strings.Repeat("[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2]\n", 8) + `
			[B------:R-:W-:Y:S05] EXIT`}, 8, stall.LgThrottle, -1},
		{"three operands in a register bank", timedProgram{text: twice("[B------:R-:W-:-:S01] FFMA R4, R6, R8, R10\nIADD3 R5, R7, R9, RZ")}, 2, stall.DispatchStall, -1},
		{"three operands in a register bank, the pipe free in each cycle", timedProgram{model: ga102(t), text: twice("[B------:R-:W-:-:S01] FFMA R4, R6, R8, R10\n[B------:R-:W-:-:S01] FFMA R5, R12, R14, R16\n[B------:R-:W-:-:S01] FFMA R7, R18, R20, R22")}, 3, stall.DispatchStall, -1},
		{"a sleep", timedProgram{text: twice("[B------:R-:W-:-:S02] NANOSLEEP 0x20\nFADD R4, R5, R6")}, 2, stall.Sleeping, -1},
		{"a product of a warpgroup", timedProgram{model: hopper, threads: 128, text: `
			[B------:R-:W-:Y:S12] UMOV UR8, URZ
			[B------:R-:W-:Y:S12] UMOV UR9, URZ
			[B------:R-:W-:Y:S12] UMOV UR10, URZ
			[B------:R-:W-:Y:S12] UMOV UR11, URZ
			[B------:R-:W-:-:S02] HGMMA.64x8x16.F32 R4, gdesc[UR8], R4, gsb0
			[B------:R-:W-:-:S02] WARPGROUP.DEPBAR.LE gsb0, 0x0
			[B------:R-:W-:Y:S05] EXIT`, shared: 4096}, 5, stall.GMMA, 4},
		{"the launch", timedProgram{text: "[B------:R-:W-:Y:S05] EXIT"}, 0, stall.NoInstructions, -1},
	}
	seen := map[stall.Reason]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, _ := tt.program.traced(t)
			want := WarpState{PC: uint64(tt.at * sass.InstSize), Reason: tt.reason}
			if tt.producer >= 0 {
				want.HasProducer, want.ProducerPC = true, uint64(tt.producer*sass.InstSize)
			}
			if tr.states[want] == 0 {
				t.Errorf("no sample is %+v; at this instruction: %v", want, tr.reasons[want.PC])
			}
			if tt.producer >= 0 && tr.states[want] != tr.reasons[want.PC][tt.reason] {
				t.Errorf("%d of %d samples name another producer", tr.reasons[want.PC][tt.reason]-tr.states[want], tr.reasons[want.PC][tt.reason])
			}
			seen[tt.reason] = true
		})
	}
	for r := range stall.NumReasons {
		if !seen[r] && r != stall.TexThrottle && r != stall.Misc { // there are no textures, and nothing is without a name
			t.Errorf("%s is not reached", r)
		}
	}
}

// TestWaitLaw holds what hardware shows: an instruction has as many wait samples as selected ones for each cycle of the
// stall count before it after the first, whether or not it waits for a dependence counter too.
func TestWaitLaw(t *testing.T) {
	p := timedProgram{threads: 512, blocks: 200, buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + `
		[B------:R-:W-:-:S04] MOV R31, 0x20
		loop:
		[B------:R-:W-:-:S04] FADD R4, R5, R6
		[B------:R-:W-:-:S02] FADD R4, R4, R6
		[B------:R-:W0:-:S06] LDG.E.SYS R7, [R2]
		[B0-----:R-:W-:-:S01] FADD R8, R7, R6
		[B------:R-:W-:-:S11] IADD3 R9, R9, R9, RZ
		[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P6, PT, R31, RZ, PT
		[B------:R-:W-:Y:S05] @P6 BRA loop
		[B------:R-:W-:Y:S05] EXIT`}
	tr, _ := p.traced(t)
	stalls := map[int]int{4: 4, 5: 2, 6: 6, 7: 1, 8: 11, 9: 4, 10: 12}
	for at, count := range stalls {
		r := tr.reasons[uint64(at*sass.InstSize)]
		if want := (count - 1) * r[stall.Selected]; r[stall.Wait] != want {
			t.Errorf("instruction %d: %d wait samples, want %d × %d", at, r[stall.Wait], count-1, r[stall.Selected])
		}
	}
}

// TestSampleLaws holds that a sampled SM gives one sample for each of its active cycles and that selected samples are
// the issued instructions.
func TestSampleLaws(t *testing.T) {
	p := timedProgram{threads: 256, blocks: 300, shared: 4096, buffers: [][]uint32{make([]uint32, 1<<12)}, text: loadPointer + `
		[B------:R-:W0:-:S02] S2R R4, SR_TID.X
		[B0-----:R-:W-:-:S08] IMAD.WIDE R2, R4, 0x4, R2
		[B------:R-:W0:-:S02] LDG.E.SYS R5, [R2]
		[B0-----:R0:W-:-:S02] STS [RZ], R5
		[B0-----:R-:W-:-:S05] BAR.SYNC 0x0
		[B------:R-:W0:-:S02] LDS R5, [RZ]
		[B0-----:R0:W-:-:S02] STG.E.SYS [R2], R5
		[B------:R-:W-:Y:S05] EXIT`}
	counting := &cycleCounter{trace: newTrace()}
	r, _, _ := p.run(t, counting)
	if counting.cycles != r.SMActiveCycles {
		t.Errorf("%d cycles were sampled, SMs were active for %d", counting.cycles, r.SMActiveCycles)
	}
	if counting.selected != r.WarpInstructions {
		t.Errorf("%d selected samples, %d warp instructions", counting.selected, r.WarpInstructions)
	}
	if counting.dispatch > 0 {
		t.Errorf("%d dispatch_stall samples without a register conflict or a yield", counting.dispatch)
	}
}

// A cycleCounter counts what all SMs do in every cycle.
type cycleCounter struct {
	*trace
	cycles, selected, dispatch int64
}

func (c *cycleCounter) NextSample(_ int, cycle int64) int64 { return cycle }

func (c *cycleCounter) Sample(v SMView, _ int64) {
	c.cycles++
	for s := range v.Schedulers() {
		for i := range v.Warps(s) {
			switch v.Warp(s, i).Reason {
			case stall.Selected:
				c.selected++
			case stall.DispatchStall:
				c.dispatch++
			}
		}
	}
}
