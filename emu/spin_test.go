package emu

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestSpinThatWrites runs threads that wait for what nobody writes and write themselves meanwhile, without timing and with.
func TestSpinThatWrites(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"a lock that is taken to look, and given back", `
			MOV R8, 0x1
			again:
			ATOMG.E.CAS.STRONG.GPU PT, R4, [R2], RZ, R8
			ISETP.NE.AND P1, PT, R4, RZ, PT
			@P1 BRA again
			LDG.E.STRONG.SYS R5, [R2+0x4]
			ISETP.EQ.AND P2, PT, R5, RZ, PT
			STG.E.STRONG.SYS [R2], RZ
			@P2 BRA again
			EXIT`},
		{"a sign of life, in memory of the block too", `
			MOV R8, 0x1
			S2R R9, SR_TID.X
			again:
			STG.E.STRONG.SYS [R2+0x8], R9
			STS [RZ], R8
			LDG.E.STRONG.SYS R5, [R2+0x4]
			ISETP.EQ.AND P2, PT, R5, RZ, PT
			STS [RZ], R5
			@P2 BRA again
			EXIT`},
		{"a register that is kept in local memory, and a barrier", `
			MOV R1, c[0x0][0x28]
			again:
			STL [R1+-0x8], R2
			BAR.SYNC 0x0
			LDL R6, [R1+-0x8]
			IADD3 R7, R6, 0x4, RZ
			MOV R6, R7
			MOV R7, R3
			LDG.E.STRONG.SYS R5, [R6]
			ISETP.EQ.AND P2, PT, R5, RZ, PT
			@P2 BRA again
			EXIT`},
		{"a byte", `
			S2R R9, SR_TID.X
			again:
			STG.E.U8.STRONG.SYS [R2+0x9], R9
			STG.E.U8.STRONG.SYS [R2+0x9], RZ
			LDG.E.U8.STRONG.SYS R5, [R2+0x4]
			ISETP.EQ.AND P2, PT, R5, RZ, PT
			@P2 BRA again
			EXIT`},
		{"some wait at a barrier meanwhile", `
			S2R R9, SR_TID.X
			ISETP.GE.U32.AND P1, PT, R9, 0x20, PT
			@P1 BRA behind
			again:
			STG.E.STRONG.SYS [R2+0x8], R9
			LDG.E.STRONG.SYS R5, [R2+0x4]
			ISETP.EQ.AND P2, PT, R5, RZ, PT
			@P2 BRA again
			behind:
			BAR.SYNC 0x0
			EXIT`},
	} {
		for timing, limit := range map[TimingLevel]int64{TimingNone: 1 << 28, TimingFull: 4 * laneOrbits} {
			t.Run(fmt.Sprintf("%s, %v", c.name, timing), func(t *testing.T) {
				p := &timedProgram{text: addressOf + c.text, blocks: 3, threads: 96, shared: 64, buffers: [][]uint32{make([]uint32, 4)}}
				m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: limit, Timing: timing})
				l.Stack = 64
				_, err := m.Launch(t.Context(), l)
				var f *Fault
				if !errors.As(err, &f) || f.Kind != Livelock {
					t.Fatalf("%v, want a livelock", err)
				}
				if !strings.Contains(f.Error(), "leave memory as it was") || !strings.Contains(f.Error(), "they read 0x7f10000000") {
					t.Error(f)
				}
			})
		}
	}
}

// TestLongLoops holds that loops which come to an end are not taken for threads that wait, whatever they write: a count in memory, or what
// they have written before.
func TestLongLoops(t *testing.T) {
	const loop = addressOf + `
		MOV R6, RZ
		again:
		IADD3 R6, R6, 0x1, RZ
		%
		ISETP.LT.U32.AND P1, PT, R6, LIMIT, PT
		@P1 BRA again
		EXIT`
	for _, c := range []struct {
		name, text string
		limits     [2]string // without timing and with
	}{
		{"a count in a register", "STG.E.SYS [R2], R3", [2]string{"0x180000", "0x50000"}},
		{"a count in memory", `
			LDG.E.SYS R6, [R2]
			IADD3 R6, R6, 0x1, RZ
			STG.E.SYS [R2], R6`, [2]string{"0x180000", "0x50000"}},
		{"a count in bytes", `
			LDG.E.SYS R6, [R2]
			IADD3 R6, R6, 0x1, RZ
			STG.E.U8.SYS [R2], R6
			SHF.R.U32.HI R7, RZ, 0x8, R6
			STG.E.U8.SYS [R2+0x1], R7
			SHF.R.U32.HI R7, RZ, 0x8, R7
			STG.E.U8.SYS [R2+0x2], R7`, [2]string{"0x180000", "0x50000"}},
		{"a count of words that are 0 or 1, in local memory", `
			MOV R1, RZ
			MOV R9, RZ
			MOV R10, 0x1
			digits:
			LDL R8, [R1]
			LOP3.LUT R11, R8, R10, RZ, 0x3c, !PT
			STL [R1], R11
			LOP3.LUT R10, R8, R10, RZ, 0xc0, !PT
			IADD3 R1, R1, 0x4, RZ
			IADD3 R9, R9, 0x1, RZ
			ISETP.LT.U32.AND P1, PT, R9, LIMIT, PT
			@P1 BRA digits
			SHF.L.U32 R6, R11, 0x1f, RZ`, [2]string{"0x10", "0xf"}},
	} {
		for i, timing := range []TimingLevel{TimingNone, TimingFull} {
			t.Run(fmt.Sprintf("%s, %v", c.name, timing), func(t *testing.T) {
				text := strings.ReplaceAll(strings.Replace(loop, "%", c.text, 1), "LIMIT", c.limits[i])
				p := &timedProgram{text: text, buffers: [][]uint32{make([]uint32, 4)}}
				m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 25, Timing: timing})
				l.Stack = 128
				least := map[TimingLevel]int64{TimingNone: firstWindow, TimingFull: firstOrbits + leastOrbits}[timing]
				if r, err := m.Launch(t.Context(), l); err != nil || r.WarpInstructions < least {
					t.Error(err, r)
				}
			})
		}
	}
}
