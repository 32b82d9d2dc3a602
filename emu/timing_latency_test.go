package emu

import (
	"fmt"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// TestDependentChain holds that a single warp's code of fixed latency takes exactly the sum of its stall counts.
func TestDependentChain(t *testing.T) {
	tests := []struct {
		name   string
		op     string
		stalls []int
	}{
		{"FFMA", "FFMA R4, R4, R5, R6", []int{4, 4, 4, 4, 4}},
		{"IADD3 and gaps", "IADD3 R4, R4, R5, RZ", []int{4, 6, 11, 2, 15, 4}},
		{"HFMA2", "HFMA2 R4, R4, R5, R6", []int{6, 6, 6}},
		{"independent", "IMAD R4, R4, R5, R6", []int{2, 2, 2, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var body strings.Builder
			for _, s := range tt.stalls {
				yield := "-"
				if s > 11 {
					yield = "Y"
				}
				fmt.Fprintf(&body, "[B------:R-:W-:%s:S%02d] %s\n", yield, s, tt.op)
			}
			p := timedProgram{text: twice(body.String())}
			tr, _ := p.traced(t)
			for i, s := range tt.stalls {
				if got := tr.at(t, i+2) - tr.at(t, i+1); got != int64(s) {
					t.Errorf("%d cycles after instruction %d, its stall count is %d", got, i, s)
				}
			}
		})
	}
}

// TestYield holds that a warp cannot issue in the cycle after an instruction with the yield bit, even when it is alone.
func TestYield(t *testing.T) {
	p := timedProgram{text: twice(`
		[B------:R-:W-:Y:S01] FADD R4, R5, R6
		[B------:R-:W-:-:S02] IADD3 R7, R8, R9, RZ
		[B------:R-:W-:-:S02] IADD3 R7, R8, R9, RZ`)}
	tr, _ := p.traced(t)
	if got := tr.at(t, 2) - tr.at(t, 1); got != 2 {
		t.Errorf("%d cycles, want 2", got)
	}
}

// TestVariableLatency measures how long a consumer waits for the dependence counter of its producer.
func TestVariableLatency(t *testing.T) {
	l := &testModel(t).Latencies
	tests := []struct {
		producer string
		want     arch.Figure
	}{
		{"DFMA R4, R4, R6, R8", l.FP64},
		{"MUFU.RCP R4, R4", l.MUFU},
		{"F2I.TRUNC.NTZ R4, R4", l.Convert},
		{"POPC R4, R4", l.BitCount},
		{"SHFL.IDX PT, R4, R4, R5, 0x1f", l.Shuffle},
		{"S2R R4, SR_TID.X", l.Special},
		{"LDS R4, [RZ]", l.Shared},
		{"LDC R4, c[0x0][R5]", l.Constant},
		{"LDC R4, c[0x0][0x160]", l.ConstantFixed},
	}
	for _, tt := range tests {
		t.Run(tt.producer, func(t *testing.T) {
			p := timedProgram{shared: 128, text: twice(
				"[B------:R-:W0:-:S02] " + tt.producer + `
				[B0-----:R-:W-:-:S04] IADD3 R10, R4, R5, RZ`)}
			tr, _ := p.traced(t)
			if got := tr.at(t, 2) - tr.at(t, 1); got != tt.want.Cycles() {
				t.Errorf("%d cycles, want %g", got, tt.want.Value)
			}
		})
	}
}

// TestUniformLatency measures how long a consumer waits for what is brought to the uniform datapath: as long on GPUs whose sub-cores
// share units for double precision as on others.
func TestUniformLatency(t *testing.T) {
	for _, name := range []string{"t4", "a100", "rtx3090", "rtx4090"} {
		m, err := arch.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		l := &m.Latencies
		for producer, want := range map[string]arch.Figure{
			"S2UR UR4, SR_CTAID.X": l.Special, "R2UR UR4, R2": l.Cross, "REDUX.SUM UR4, R2": l.Reduce,
		} {
			if producer[:5] == "REDUX" && m.Arch < int(sass.SM80) {
				continue
			}
			p := timedProgram{model: m, text: twice(
				"[B------:R-:W0:-:S02] " + producer + `
				[B0-----:R-:W-:-:S04] IADD3 R10, R4, R5, RZ`)}
			tr, _ := p.traced(t)
			if got := tr.at(t, 2) - tr.at(t, 1); got != want.Cycles() {
				t.Errorf("%s on %s: %d cycles, want %g", producer, name, got, want.Value)
			}
		}
	}
}

// loadPointer puts the address of the first buffer into R2 and R3.
const loadPointer = `
	[B------:R-:W-:-:S04] MOV R2, c[0x0][0x160]
	[B------:R-:W-:-:S08] MOV R3, c[0x0][0x164]`

// evenDRAM is the V100 with the same latency for every line of DRAM.
func evenDRAM(t *testing.T) *arch.Model {
	m := testModel(t)
	m.DRAM.Spread.Value = 0
	m.TLB.FirstMiss.Value = 0
	return m
}

// TestGlobalLatency chases pointers: the first access of a line goes to DRAM, then it is in L1; an access that bypasses
// L1 finds it in L2.
func TestGlobalLatency(t *testing.T) {
	m := evenDRAM(t)
	l := &m.Latencies
	p := timedProgram{model: m, buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + `
		[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
		[B0-----:R-:W0:-:S02] LDG.E.SYS R4, [R2]
		[B0-----:R-:W0:-:S02] LDG.E.STRONG.GPU R4, [R2]
		[B0-----:R-:W0:-:S02] ATOMG.E.ADD.STRONG.GPU PT, R4, [R2], R5
		[B0-----:R-:W-:-:S04] IADD3 R10, R4, R5, RZ
		[B------:R-:W-:Y:S05] EXIT`}
	tr, _ := p.traced(t)
	for i, want := range []arch.Figure{l.DRAM, l.L1, l.L2, l.Global} {
		got := tr.at(t, i+3) - tr.at(t, i+2)
		if i == 3 { // 32 lanes at one address take turns
			want.Value += 31
		}
		if got != want.Cycles() {
			t.Errorf("access %d took %d cycles, want %g", i, got, want.Value)
		}
	}
}

// TestSharedConflicts holds the latency of shared memory with conflicts.
func TestSharedConflicts(t *testing.T) {
	for _, tt := range []struct {
		shift int // lanes access words 1<<shift apart
		want  int64
	}{{0, 19}, {1, 21}, {2, 25}, {5, 19 + 62}} {
		p := timedProgram{shared: 4096, text: fmt.Sprintf(twice(`
			[B------:R-:W0:-:S02] S2R R4, SR_TID.X
			[B0-----:R-:W-:-:S08] IMAD.SHL.U32 R4, R4, %#x, RZ
			[B------:R-:W0:-:S02] LDS R5, [R4]
			[B0-----:R-:W-:-:S04] IADD3 R10, R5, R5, RZ`), 4<<tt.shift)}
		tr, r := p.traced(t)
		if got := tr.at(t, 4) - tr.at(t, 3); got != tt.want {
			t.Errorf("stride of %d words: %d cycles, want %d", 1<<tt.shift, got, tt.want)
		}
		for _, c := range r.Counters {
			if c.PC == 0x30 && (c.SharedWavefronts != 2<<tt.shift || c.SharedWavefrontsIdeal != 2) {
				t.Errorf("stride of %d words: %d wavefronts, %d ideal", 1<<tt.shift, c.SharedWavefronts, c.SharedWavefrontsIdeal)
			}
		}
	}
}

// TestCounterVisibility holds that an instruction that issues in the next cycle does not see the increment yet.
func TestCounterVisibility(t *testing.T) {
	for stallCount, want := range map[int]int64{1: 1, 2: 17} {
		p := timedProgram{text: twice(fmt.Sprintf(`
			[B------:R-:W0:-:S%02d] MUFU.RCP R4, R4
			[B0-----:R-:W-:-:S04] IADD3 R10, R5, R5, RZ
			[B0-----:R-:W-:-:S15] IADD3 R10, R5, R5, RZ`, stallCount))}
		p.text = strings.Replace(p.text, "-:S15", "Y:S15", 1)
		tr, _ := p.traced(t)
		if got := tr.at(t, 2) - tr.at(t, 1); got != want {
			t.Errorf("stall count %d: the consumer issues after %d cycles, want %d", stallCount, got, want)
		}
	}
}

// TestDepbar holds that DEPBAR lets the newest loads be outstanding.
func TestDepbar(t *testing.T) {
	m := evenDRAM(t)
	p := timedProgram{model: m, buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + `
		[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
		[B0-----:R-:W-:-:S02] IADD3 R10, R4, R5, RZ
		[B------:R-:W1:-:S02] LDG.E.SYS R5, [R2]
		[B------:R-:W1:-:S02] LDG.E.SYS R6, [R2+0x80]
		[B------:R-:W-:-:S04] DEPBAR.LE SB1, 0x1
		[B------:R-:W-:-:S04] IADD3 R10, R5, R5, RZ
		[B-1----:R-:W-:-:S04] IADD3 R10, R6, R5, RZ
		[B------:R-:W-:Y:S05] EXIT`}
	tr, _ := p.traced(t)
	if got := tr.at(t, 6) - tr.at(t, 4); got != 28 {
		t.Errorf("DEPBAR with one load outstanding issues %d cycles after the first, want 28", got)
	}
	// The address unit takes an instruction every 4 cycles; the loads are 2 apart.
	if got := tr.at(t, 8) - tr.at(t, 5); got != m.Latencies.DRAM.Cycles()+2 {
		t.Errorf("the second load is waited for %d cycles, want 2 more than %g", got, m.Latencies.DRAM.Value)
	}
}

// TestDepbarStall holds that a DEPBAR with a stall count under four is not waited at (Huerta et al., section 4).
func TestDepbarStall(t *testing.T) {
	for stall, waits := range map[string]bool{"S02": false, "S03": false, "S04": true} {
		p := timedProgram{model: evenDRAM(t), buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + `
			[B------:R-:W1:-:S02] LDG.E.SYS R5, [R2]
			[B------:R-:W-:-:` + stall + `] DEPBAR.LE SB1, 0x0
			[B------:R-:W-:-:S04] IADD3 R10, R11, R12, RZ
			[B------:R-:W-:Y:S05] EXIT`}
		tr, _ := p.traced(t)
		if got := tr.at(t, 4) - tr.at(t, 2); (got >= p.model.Latencies.DRAM.Cycles()) != waits {
			t.Errorf("%s: what follows DEPBAR issues %d cycles after the load", stall, got)
		}
	}
}

// TestCounterIsFull holds that no more than 63 increments of a dependence counter are outstanding: the 64th load that takes one
// waits for the first to come back, another that takes none does not.
func TestCounterIsFull(t *testing.T) {
	m := evenDRAM(t)
	for control, late := range map[string]bool{"W0": true, "W-": false} {
		body := ""
		for i := range maxCount {
			body += fmt.Sprintf("\n[B------:R-:W0:-:S02] LDG.E.SYS R5, [R2+%#x]", i*128)
		}
		p := timedProgram{model: m, buffers: [][]uint32{make([]uint32, 64*32)}, text: loadPointer + body + `
			[B------:R-:` + control + `:-:S02] LDG.E.SYS R6, [R2]
			[B0-----:R-:W-:-:S11] NOP
			[B------:R-:W-:Y:S05] EXIT`}
		tr, _ := p.traced(t)
		first := tr.at(t, 2)
		if got := tr.at(t, 2+maxCount) - first; (got >= m.Latencies.DRAM.Cycles()) != late {
			t.Errorf("%s: the 64th load issues %d cycles after the first, loads take %g", control, got, m.Latencies.DRAM.Value)
		}
	}
}

// TestStallZeroYield holds that a warp waits 45 cycles after an instruction with stall count 0 and yield (Huerta et al., section 4).
func TestStallZeroYield(t *testing.T) {
	p := timedProgram{model: ga102(t), text: twice(`
		[B------:R-:W-:Y:S00] NOP
		[B------:R-:W-:-:S11] IADD3 R4, R4, 0x1, RZ`)}
	tr, _ := p.traced(t)
	if got := tr.at(t, 2) - tr.at(t, 1); got != 45 {
		t.Errorf("%d cycles, want 45", got)
	}
}

// TestBarrierArrivals holds that arrivals at a barrier are counted one warp every two cycles of an SM.
func TestBarrierArrivals(t *testing.T) {
	m := testModel(t)
	arrive := m.Queues.Barrier.Cycles()
	for _, warps := range []int{1, 8, 16, 32} {
		p := timedProgram{threads: 32 * warps, text: repeated(`
			[B------:R-:W-:-:S05] BAR.SYNC 0x0
			[B------:R-:W-:-:S11] NOP`, 3)}
		tr, _ := p.traced(t)
		const bar, behind = 1, 2
		first := tr.issues[bar*16][2*warps] // of the third time
		got := tr.issues[behind*16][2*warps] - first
		if want := m.Issue.Barrier.Cycles() + int64(warps-1)*arrive; got < want || got > want+4*arrive {
			t.Errorf("%d warps: the first goes on after %d cycles, want about %d", warps, got, want)
		}
	}
}
