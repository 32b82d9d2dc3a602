package emu

import (
	"errors"
	"strings"
	"testing"
)

// TestSpinThatWrites runs threads that wait for what nobody writes and write themselves meanwhile.
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
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &timedProgram{text: addressOf + c.text, blocks: 3, threads: 96, shared: 64, buffers: [][]uint32{make([]uint32, 4)}}
			m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 28})
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

// TestLongLoops holds that loops which come to an end are not taken for threads that wait, whatever they write: a count in memory, or what
// they have written before.
func TestLongLoops(t *testing.T) {
	const loop = addressOf + `
		MOV R6, RZ
		again:
		IADD3 R6, R6, 0x1, RZ
		%
		ISETP.LT.U32.AND P1, PT, R6, 0x180000, PT
		@P1 BRA again
		EXIT`
	for name, text := range map[string]string{
		"a count in a register": "STG.E.SYS [R2], R3",
		"a count in memory": `
			LDG.E.SYS R6, [R2]
			IADD3 R6, R6, 0x1, RZ
			STG.E.SYS [R2], R6`,
		"a count in bytes": `
			LDG.E.SYS R6, [R2]
			IADD3 R6, R6, 0x1, RZ
			STG.E.U8.SYS [R2], R6
			SHF.R.U32.HI R7, RZ, 0x8, R6
			STG.E.U8.SYS [R2+0x1], R7
			SHF.R.U32.HI R7, RZ, 0x8, R7
			STG.E.U8.SYS [R2+0x2], R7`,
	} {
		t.Run(name, func(t *testing.T) {
			p := &timedProgram{text: strings.Replace(loop, "%", text, 1), buffers: [][]uint32{make([]uint32, 4)}}
			m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 25})
			if r, err := m.Launch(t.Context(), l); err != nil || r.WarpInstructions < firstWindow {
				t.Error(err, r)
			}
		})
	}
}
