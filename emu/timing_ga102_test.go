package emu

import (
	"fmt"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// ga102 is the RTX A6000, on which Huerta et al. (MICRO 2025) measured, with the encoding of sm_70 so that the programs of
// these tests can be written in it: the timing is the model's.
func ga102(t *testing.T) *arch.Model { return ga102As(t, sass.SM70) }

// ga102As is that GPU with the encoding of an architecture.
func ga102As(t *testing.T, isa sass.Arch) *arch.Model {
	t.Helper()
	m, err := arch.ByName("rtxa6000")
	if err != nil {
		t.Fatal(err)
	}
	m.Arch = int(isa)
	return m
}

// TestRegisterBankListing holds the cycles between two readings of the clock around two FFMA whose operands share a bank
// (Huerta et al., Listing 1).
func TestRegisterBankListing(t *testing.T) {
	for _, tt := range []struct {
		x, y string
		want int64
	}{{"R19", "R21", 5}, {"R18", "R21", 6}, {"R18", "R20", 7}} {
		p := timedProgram{model: ga102(t), text: twice(fmt.Sprintf(`
			CS2R.32 R2, SR_CLOCKLO
			NOP
			FFMA R11, R10, R12, R14
			FFMA R13, R16, %s, %s
			NOP
			[B------:R-:W-:-:S11] CS2R.32 R3, SR_CLOCKLO`, tt.x, tt.y))}
		tr, _ := p.traced(t)
		if got := tr.at(t, 6) - tr.at(t, 1); got != tt.want {
			t.Errorf("%s, %s: %d cycles, want %d", tt.x, tt.y, got, tt.want)
		}
	}
}

// TestStallListing holds the cycles between two readings of the clock around a dependent pair whose first stalls for a
// number of cycles (Huerta et al., Listing 2).
func TestStallListing(t *testing.T) {
	for stall, want := range map[string]int64{"S01": 5, "S04": 8} {
		p := timedProgram{model: ga102(t), text: twice(fmt.Sprintf(`
			CS2R.32 R2, SR_CLOCKLO
			NOP
			[B------:R-:W-:-:%s] FADD R11, R12, R13
			FFMA R15, R11, R11, R11
			NOP
			[B------:R-:W-:-:S11] CS2R.32 R3, SR_CLOCKLO`, stall))}
		tr, _ := p.traced(t)
		if got := tr.at(t, 6) - tr.at(t, 1); got != want {
			t.Errorf("%s: %d cycles, want %d", stall, got, want)
		}
	}
}

// TestReuseCache holds that an operand kept by .reuse does not take a port: with one of three kept, two FFMA whose
// operands all lie in one bank are a cycle closer (Huerta et al., section 5.3.1).
func TestReuseCache(t *testing.T) {
	for _, tt := range []struct {
		first, second string
		want          int64
	}{
		{"FFMA R11, R10, R12, R14", "FFMA R13, R10, R18, R20", 7},
		{"FFMA R11, R10.reuse, R12, R14", "FFMA R13, R10, R18, R20", 6},
		{"FFMA R11, R10.reuse, R12.reuse, R14", "FFMA R13, R10, R12, R20", 5},
		{"FFMA R11, R10.reuse, R12, R14", "FFMA R13, R18, R10, R20", 7}, // another slot
	} {
		p := timedProgram{model: ga102(t), text: twice(fmt.Sprintf(`
			CS2R.32 R2, SR_CLOCKLO
			NOP
			%s
			%s
			NOP
			[B------:R-:W-:-:S11] CS2R.32 R3, SR_CLOCKLO`, tt.first, tt.second))}
		tr, _ := p.traced(t)
		if got := tr.at(t, 6) - tr.at(t, 1); got != tt.want {
			t.Errorf("%s; %s: %d cycles, want %d", tt.first, tt.second, got, tt.want)
		}
	}
}

// TestWritePort holds that a load whose result comes in the cycle in which results of fixed latency are written to the same bank
// waits for the port, and for one cycle alone where there is one of them (Huerta et al., section 5.3).
func TestWritePort(t *testing.T) {
	const alone = 24 // LDS of 32 bits
	for _, tt := range []struct {
		load, others string // the others issue 15, 16, 17 and 18 cycles after the load
		late         int64
	}{
		{"LDS.U R8, [R16]", "NOP;IADD3 R10, R17, 0x1, RZ;NOP;NOP", 1},
		{"LDS.U R8, [R16]", "NOP;IADD3 R11, R17, 0x1, RZ;NOP;NOP", 0},
		{"LDS.U R8, [R16]", "IADD3 R10, R17, 0x1, RZ;NOP;IADD3 R10, R17, 0x1, RZ;NOP", 0},
		{"LDS.U R8, [R16]", "NOP;IADD3 R10, R17, 0x1, RZ;FADD R12, R17, R17;NOP", 2},
		{"LDS.U R8, [R16]", "NOP;IADD3 R10, R17, 0x1, RZ;NOP;IADD3 R10, R17, 0x1, RZ", 1},
		{"LDS.U R8, [R16]", "NOP;IMAD.WIDE.U32 R10, R17, R17, RZ;NOP;NOP", 1},
		{"LDS.U R9, [R16]", "NOP;IMAD.WIDE.U32 R10, R17, R17, RZ;NOP;NOP", 1},
		{"LDS.U.64 R8, [R16]", "NOP;IADD3 R11, R17, 0x1, RZ;NOP;NOP", 1},
		{"LDS.U.64 R8, [R16]", "NOP;IADD3 R10, R17, 0x1, RZ;NOP;NOP", 0},
		{"LDS.U R8, [R16]", "NOP;ISETP.NE.AND P0, PT, R17, RZ, PT;NOP;NOP", 0},
	} {
		p := timedProgram{model: ga102As(t, sass.SM75), shared: 256, text: twice(fmt.Sprintf(`
			[B------:R-:W-:-:S11] MOV R16, 0x0
			[B------:R-:W-:-:S11] NOP
			[B------:R-:W0:-:S11] %s
			[B------:R-:W-:-:S04] NOP
			%s
			[B0-----:R-:W-:-:S11] NOP`, tt.load, strings.ReplaceAll(tt.others, ";", "\n")))}
		tr, _ := p.traced(t)
		const load = 3
		if got := tr.at(t, load+6) - tr.at(t, load); got != alone+tt.late {
			t.Errorf("%s with %s: %d cycles, want %d", tt.load, tt.others, got, alone+tt.late)
		}
	}
}

// TestYieldBubble holds that a warp alone loses a cycle by yielding after a stall count of 1, and that its dependent chain
// takes the sum of its stall counts else (Huerta et al., section 4).
func TestYieldBubble(t *testing.T) {
	for control, want := range map[string]int64{"-:S01": 1, "Y:S01": 2, "Y:S02": 2, "-:S04": 4, "-:S05": 5, "-:S11": 11} {
		p := timedProgram{model: ga102(t), text: twice(fmt.Sprintf(`
			[B------:R-:W-:%[1]s] IADD3 R4, R4, 0x1, RZ
			[B------:R-:W-:%[1]s] IADD3 R4, R4, 0x1, RZ
			[B------:R-:W-:%[1]s] IADD3 R4, R4, 0x1, RZ
			[B------:R-:W-:-:S11] IADD3 R4, R4, 0x1, RZ`, control))}
		if want == 1 { // the ALU takes an instruction every second cycle: alternate with the FMA pipe
			p.text = twice(`
				IADD3 R4, R5, 0x1, RZ
				FADD R6, R7, R9
				IADD3 R4, R5, 0x1, RZ
				[B------:R-:W-:-:S11] FADD R6, R7, R9`)
		}
		tr, _ := p.traced(t)
		if got := tr.at(t, 4) - tr.at(t, 1); got != 3*want {
			t.Errorf("%s: %d cycles, want %d", control, got, 3*want)
		}
	}
}

// TestMemoryLatencies holds the cycles from the issue of a memory instruction to the issue of one that waits for its
// result (RAW) or overwrites its operands (WAR), all of Huerta et al., table 2. The encoding is that of sm_75,
// which has forms with an address of uniform registers alone; LDGSTS, which sm_80 has, follows below.
func TestMemoryLatencies(t *testing.T) {
	for _, tt := range []struct {
		name, op string
		raw, war int64
	}{
		{"load, global, 32 bits", "LDG.E.SYS R8, [R2]", 32, 11},
		{"load, global, 64 bits", "LDG.E.64.SYS R8, [R2]", 34, 11},
		{"load, global, 128 bits", "LDG.E.128.SYS R8, [R2]", 38, 11},
		{"store, global, 32 bits", "STG.E.SYS [R2], R8", 0, 14},
		{"store, global, 64 bits", "STG.E.64.SYS [R2], R8", 0, 16},
		{"store, global, 128 bits", "STG.E.128.SYS [R2], R8", 0, 20},
		{"load, shared, 32 bits", "LDS.U R8, [R16]", 24, 9},
		{"load, shared, 64 bits", "LDS.U.64 R8, [R16]", 24, 9},
		{"load, shared, 128 bits", "LDS.U.128 R8, [R16]", 26, 9},
		{"store, shared, 32 bits", "STS [R16], R8", 0, 12},
		{"store, shared, 64 bits", "STS.64 [R16], R8", 0, 14},
		{"store, shared, 128 bits", "STS.128 [R16], R8", 0, 18},
		{"load, global, uniform, 32 bits", "LDG.E.SYS R8, [UR4]", 29, 9},
		{"load, global, uniform, 64 bits", "LDG.E.64.SYS R8, [UR4]", 31, 9},
		{"load, global, uniform, 128 bits", "LDG.E.128.SYS R8, [UR4]", 35, 9},
		{"store, global, uniform, 32 bits", "STG.E.SYS [UR4], R8", 0, 10},
		{"store, global, uniform, 64 bits", "STG.E.64.SYS [UR4], R8", 0, 12},
		{"store, global, uniform, 128 bits", "STG.E.128.SYS [UR4], R8", 0, 16},
		{"load, shared, uniform, 32 bits", "LDS R8, [UR6]", 23, 9},
		{"load, shared, uniform, 64 bits", "LDS.64 R8, [UR6]", 23, 9},
		{"load, shared, uniform, 128 bits", "LDS.128 R8, [UR6]", 25, 9},
		{"store, shared, uniform, 32 bits", "STS [UR6], R8", 0, 10},
		{"store, shared, uniform, 64 bits", "STS.64 [UR6], R8", 0, 12},
		{"store, shared, uniform, 128 bits", "STS.128 [UR6], R8", 0, 16},
		{"load, constant, fixed, 32 bits", "LDC R8, c[0x0][0x160]", 26, 10},
		{"load, constant, 32 bits", "LDC R8, c[0x0][R17]", 29, 29},
		{"load, constant, 64 bits", "LDC.64 R8, c[0x0][R17]", 29, 29},
	} {
		for _, kind := range []struct {
			control string
			want    int64
		}{{"R-:W0", tt.raw}, {"R0:W-", tt.war}} {
			if kind.want == 0 {
				continue
			}
			p := timedProgram{model: ga102As(t, sass.SM75), shared: 256, buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + uniformPointer + twice(fmt.Sprintf(`
				[B------:R-:W-:-:S04] MOV R17, 0x160
				[B------:R-:W-:-:S11] MOV R16, 0x0
				[B------:R-:W-:-:S11] NOP
				[B------:%s:-:S02] %s
				[B0-----:R-:W-:-:S11] NOP`, kind.control, tt.op))}
			tr, _ := p.traced(t)
			const op = 9
			if got := tr.at(t, op+1) - tr.at(t, op); got != kind.want {
				t.Errorf("%s, %s: %d cycles, want %d", tt.name, kind.control, got, kind.want)
			}
		}
	}
}

// uniformPointer puts the address of the first buffer into UR4 and UR5, 0 into UR6.
const uniformPointer = `
	[B------:R-:W-:-:S04] UMOV UR6, 0x0
	[B------:R-:W-:-:S04] ULDC.64 UR4, c[0x0][0x160]
	[B------:R-:W-:-:S11] NOP`

// TestCopyLatencies holds the same of LDGSTS (Huerta et al., table 2).
func TestCopyLatencies(t *testing.T) {
	const raw, war = 39, 13
	for _, op := range []string{"LDGSTS.E [R16], [R2.64]", "LDGSTS.E.64 [R16], [R2.64]", "LDGSTS.E.128 [R16], [R2.64]"} {
		for control, want := range map[string]int64{"R-:W0": raw, "R0:W-": war} {
			p := timedProgram{model: ga102As(t, sass.SM80), shared: 512, buffers: [][]uint32{make([]uint32, 64)}, text: loadPointer + twice(fmt.Sprintf(`
				[B------:R-:W-:-:S11] MOV R16, 0x0
				[B------:R-:W-:-:S11] NOP
				[B------:%s:-:S02] %s
				[B0-----:R-:W-:-:S11] NOP`, control, op))}
			tr, _ := p.traced(t)
			const at = 5
			if got := tr.at(t, at+1) - tr.at(t, at); got != want {
				t.Errorf("%s, %s: %d cycles, want %d", op, control, got, want)
			}
		}
	}
}
