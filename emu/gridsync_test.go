package emu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gpa/cubin/sass"
)

// gridProgram has every thread add 1 to a word, synchronise the grid by the system calls of cooperative groups, and store what it finds
// there then.
func gridProgram() *timedProgram {
	call := func(function string) int64 {
		for i := range systemCalls {
			if systemCalls[i].name == function {
				return syscallBase + int64(i)*sass.InstSize
			}
		}
		return 0
	}
	return &timedProgram{blocks: 3, threads: 64, buffers: [][]uint32{{0}, make([]uint32, 3*64)}, text: fmt.Sprintf(`
		MOV R2, c[0x0][0x160]
		MOV R3, c[0x0][0x164]
		MOV R6, 0x1
		RED.E.ADD.STRONG.GPU [R2], R6
		MOV R4, 0x1
		MOV R20, handled
		MOV R21, 0x7fa0
		CALL.ABS.NOINC %#x
		handled:
		MOV R20, synced
		MOV R21, 0x7fa0
		CALL.ABS.NOINC %#x
		synced:
		LDG.E.STRONG.SYS R6, [R2]
		S2R R7, SR_TID.X
		S2R R8, SR_CTAID.X
		MOV R9, 0x4
		IMAD R7, R8, 0x40, R7
		IMAD.WIDE.U32 R10, R7, R9, c[0x0][0x168]
		STG.E.SYS [R10], R6
		EXIT`, call("__cuda_syscall_CGS_get_intrinsic_handle"), call("__cuda_syscall_CGS_sync"))}
}

// All threads of a grid come to its barrier before one goes on, without timing and with it.
func TestGridSync(t *testing.T) {
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		p := gridProgram()
		m, l, addrs := p.start(t, testModel(t), Options{Timing: level, MaxInstructions: 1 << 22})
		l.Cooperative = true
		if _, err := m.Launch(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		for i, v := range memoryWords(t, m, addrs[1], 3*64) {
			if v != 3*64 {
				t.Fatalf("timing %s: thread %d finds %d, want %d", level, i, v, 3*64)
			}
		}
	}
}

// Threads that have exited are not waited for, whether they did so before the others came to the barrier or while those wait, as where a grid has
// more threads than there is data.
func TestGridSyncAfterExit(t *testing.T) {
	const left = 10 // of the last block
	for name, wait := range map[string]string{"before": "", "while": "MOV R12, 0x400\nspin:\nIADD3 R12, R12, -0x1, RZ\nISETP.NE.AND P1, PT, R12, RZ, PT\n@P1 BRA spin\n"} {
		for _, level := range []TimingLevel{TimingNone, TimingFull} {
			p := gridProgram()
			p.text = fmt.Sprintf(`
				S2R R7, SR_TID.X
				S2R R8, SR_CTAID.X
				IMAD R7, R8, 0x40, R7
				ISETP.LT.AND P0, PT, R7, %#x, PT
				@P0 BRA stay
				%s
				EXIT
				stay:`, 2*64+left, wait) + p.text
			m, l, addrs := p.start(t, testModel(t), Options{Timing: level, MaxInstructions: 1 << 22})
			l.Cooperative = true
			if _, err := m.Launch(context.Background(), l); err != nil {
				t.Fatalf("%s, timing %s: %v", name, level, err)
			}
			for i, v := range memoryWords(t, m, addrs[1], 3*64)[:2*64+left] {
				if v != 2*64+left {
					t.Fatalf("%s, timing %s: thread %d finds %d, want %d", name, level, i, v, 2*64+left)
				}
			}
		}
	}
}

// Blocks that count themselves in the word that the driver provides, as cooperative groups do in code that is linked without the device
// runtime: block 0 adds what makes the highest bit flip when the others, one each, have come.
func TestGridWorkspace(t *testing.T) {
	text := `
		MOV R2, c[0x0][0x160]
		MOV R3, c[0x0][0x164]
		MOV R6, 0x1
		RED.E.ADD.STRONG.GPU [R2], R6
		BAR.SYNC 0x0
		S2R R7, SR_TID.X
		S2R R8, SR_CTAID.X
		ISETP.NE.AND P0, PT, R7, RZ, PT
		@P0 BRA done
		MOV R4, c[0x0][0x90]
		MOV R5, c[0x0][0x8c]
		LDG.E.SYS R12, [R4]
		ISETP.NE.AND P2, PT, R12, 0x8, PT
		@P2 EXIT
		ISETP.NE.AND P1, PT, R8, RZ, PT
		@!P1 MOV R6, 0x7ffffffe
		ATOM.E.ADD.STRONG.GPU P2, R10, [R4+0x4], R6
		again:
		LDG.E.STRONG.GPU R11, [R4+0x4]
		LOP3.LUT R11, R11, R10, RZ, 0x3c, !PT
		ISETP.GE.AND P1, PT, R11, RZ, PT
		@P1 BRA again
		done:
		BAR.SYNC 0x0
		LDG.E.STRONG.SYS R6, [R2]
		MOV R9, 0x4
		IMAD R7, R8, 0x40, R7
		IMAD.WIDE.U32 R10, R7, R9, c[0x0][0x168]
		STG.E.SYS [R10], R6
		EXIT`
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		p := &timedProgram{blocks: 3, threads: 64, buffers: [][]uint32{{0}, make([]uint32, 3*64)}, text: text}
		m, l, addrs := p.start(t, testModel(t), Options{Timing: level, MaxInstructions: 1 << 22})
		l.Cooperative = true
		before := m.Contents()
		if _, err := m.Launch(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		for i, v := range memoryWords(t, m, addrs[1], 3*64) {
			if v != 3*64 {
				t.Fatalf("timing %s: thread %d finds %d, want %d", level, i, v, 3*64)
			}
		}
		if m.Enter(before); !m.In(before) {
			t.Errorf("timing %s: the launch has left memory behind", level)
		}
	}
}

// A grid of which a thread never comes waits for ever, which is a fault and not an endless run.
func TestGridSyncOfMissing(t *testing.T) {
	p := gridProgram()
	p.text = `
		S2R R0, SR_CTAID.X
		ISETP.NE.AND P0, PT, R0, RZ, PT
		@!P0 EXIT` + p.text
	m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 24})
	l.Cooperative = true
	_, err := m.Launch(context.Background(), l)
	var f *Fault
	if !errors.As(err, &f) || f.Kind != Livelock {
		t.Errorf("%v, want a livelock", err)
	}
}
