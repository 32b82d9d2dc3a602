package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

// result runs a program without timing and returns the words of its i-th buffer.
func (p *timedProgram) result(tb testing.TB, i int) []uint32 {
	tb.Helper()
	model := p.model
	if model == nil {
		model = testModel(tb)
	}
	m, l, addrs := p.start(tb, model, Options{MaxInstructions: 1 << 22})
	if _, err := m.Launch(context.Background(), l); err != nil {
		tb.Fatal(err)
	}
	for _, in := range m.module.Codes[0].Insts {
		tested.Store(in.Form, true)
	}
	return memoryWords(tb, m, addrs[i], len(p.buffers[i]))
}

// storeR9 ends a program: each thread of the launch stores R9 at its place in the buffer.
const storeR9 = `
	S2R R0, SR_TID.X
	S2R R1, SR_CTAID.X
	IMAD R0, R1, c[0x0][0x0], R0
	IMAD.WIDE.U32 R2, R0, R10, c[0x0][0x160]
	STG.E.SYS [R2], R9
	EXIT`

// figure1 is the unstructured example of the thread frontiers paper (Diamos et al. 2011, Figure 1) as NVRTC 12.9 compiles
// it for sm_70: block 1 goes to 2 or 3, 2 to 3 or the exit, 3 to 4 or 5, 4 to 5 or the exit. Each branch follows what
// the thread loads.
const figure1 = `
	IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
	@!PT SHFL.IDX PT, RZ, RZ, RZ, RZ
	S2R R4, SR_TID.X
	MOV R7, 0x4
	IMAD.MOV.U32 R9, RZ, RZ, 0x1
	IMAD.WIDE R2, R4, R7, c[0x0][0x168]
	IMAD.WIDE R4, R4, R7, c[0x0][0x160]
	STG.E.STRONG.SYS [R2], R9
	LDG.E.STRONG.SYS R0, [R4]
	BMOV.32.CLEAR RZ, B0
	BSSY B0, block6
	BMOV.32.CLEAR RZ, B1
	BSSY B1, block3
	ISETP.NE.AND P0, PT, R0, RZ, PT
	@P0 BRA join3
	MOV R9, 0x2
	STG.E.STRONG.SYS [R2], R9
	LDG.E.STRONG.SYS R0, [R4+0x80]
	ISETP.NE.AND P0, PT, R0, RZ, PT
	@P0 BREAK B1
	@P0 BRA join6
	join3:
	BSYNC B1
	block3:
	IMAD.MOV.U32 R9, RZ, RZ, 0x3
	STG.E.STRONG.SYS [R2], R9
	LDG.E.STRONG.SYS R0, [R4+0x100]
	BMOV.32.CLEAR RZ, B2
	BSSY B2, block5
	ISETP.NE.AND P0, PT, R0, RZ, PT
	@P0 BRA join5
	STG.E.STRONG.SYS [R2], R7
	LDG.E.STRONG.SYS R4, [R4+0x180]
	ISETP.NE.AND P0, PT, R4, RZ, PT
	@P0 BREAK B2
	@P0 BRA join6
	join5:
	BSYNC B2
	block5:
	MOV R5, 0x5
	STG.E.STRONG.SYS [R2], R5
	join6:
	BSYNC B0
	block6:
	IMAD.MOV.U32 R5, RZ, RZ, 0x6
	STG.E.STRONG.SYS [R2], R5
	EXIT`

// The paper's four threads take the paths 1 3 4 5, 1 2, 1 2 3 5 and 1 2 3 4. The counts were computed by hand from the
// code and by an independent model of it.
func TestFigure1(t *testing.T) {
	choices := make([]uint32, 128)
	for thread, path := range [][4]uint32{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}} {
		for i, taken := range path {
			choices[32*i+thread] = taken
		}
	}
	p := &timedProgram{text: figure1, threads: 32, buffers: [][]uint32{choices, make([]uint32, 32)}}
	m, l, addrs := p.start(t, testModel(t), Options{})
	l.Block[0] = 4
	r, err := m.prepare(l)
	if err != nil {
		t.Fatal(err)
	}
	w := r.newBlock(0).warps[0]
	instructions, threads := 0, 0
	var blocks []string // of stores, by the lanes that execute them
	for w.status == warpRunning {
		if o := w.next(); o.inst.Op.String() == "STG" {
			blocks = append(blocks, fmt.Sprintf("%d[%04b]", w.regs[o.b.reg][bits.TrailingZeros32(w.active)], w.active))
		}
		instructions++
		threads += bits.OnesCount32(w.active)
		if err := w.step(); err != nil {
			t.Fatal(err)
		}
	}
	if instructions != 45 || threads != 134 {
		t.Errorf("%d warp and %d thread instructions, want 45 and 134", instructions, threads)
	}
	want := []string{"1[1111]", "2[1110]", "3[1101]", "4[1001]", "5[0101]", "6[1111]"}
	if !slices.Equal(blocks, want) {
		t.Errorf("blocks %v, want %v", blocks, want)
	}
	if got := memoryWords(t, m, addrs[1], 4); !slices.Equal(got, []uint32{6, 6, 6, 6}) {
		t.Errorf("result %v", got)
	}
}

// A spin lock within one warp, without any YIELD: groups take turns.
func TestSpinLock(t *testing.T) {
	p := &timedProgram{text: `
		MOV R2, c[0x0][0x160]
		MOV R3, c[0x0][0x164]
		MOV R5, 0x1
		MOV R6, RZ
		wait:
		ATOMG.E.CAS.STRONG.GPU PT, R4, [R2], R6, R5
		ISETP.NE.AND P0, PT, R4, RZ, PT
		@P0 BRA wait
		LDG.E.SYS R7, [R2+0x4]
		IADD3 R7, R7, 0x1, RZ
		STG.E.SYS [R2+0x4], R7
		ATOMG.E.EXCH.STRONG.GPU PT, RZ, [R2], RZ
		EXIT`, threads: 96, blocks: 5, buffers: [][]uint32{{0, 0}}}
	if got := p.result(t, 0); got[0] != 0 || got[1] != 5*96 {
		t.Errorf("lock %d, count %d, want 0, 480", got[0], got[1])
	}
}

// Blocks that wait for a later one get it to run.
func TestBlocksWaitForLaterOnes(t *testing.T) {
	p := &timedProgram{text: `
		MOV R2, c[0x0][0x160]
		MOV R3, c[0x0][0x164]
		S2R R1, SR_CTAID.X
		MOV R9, 0x3
		IADD3 R9, R9, -R1, RZ
		wait:
		LDG.E.STRONG.SYS R4, [R2]
		ISETP.NE.AND P0, PT, R4, R9, PT
		@P0 BRA wait
		S2R R0, SR_TID.X
		ISETP.EQ.AND P1, PT, R0, RZ, PT
		MOV R5, 0x1
		@P1 RED.E.ADD.STRONG.GPU [R2], R5
		EXIT`, blocks: 4, buffers: [][]uint32{{0}}}
	if got := p.result(t, 0); got[0] != 4 {
		t.Errorf("got %d, want 4", got[0])
	}
}

func TestBarriers(t *testing.T) {
	tests := []struct {
		name, text string
		threads    int
		want       func(thread uint32) uint32
	}{
		{"all threads of a partial warp", `
			S2R R0, SR_TID.X
			SHF.L.U32 R1, R0, 0x2, RZ
			STS [R1], R0
			BAR.SYNC 0x0
			LDS.U R9, [0x9c]`, 40, func(uint32) uint32 { return 39 }},
		{"threads that have exited are not waited for", `
			S2R R0, SR_TID.X
			MOV R9, 0x5
			ISETP.GE.AND P0, PT, R0, 0x10, PT
			@P0 EXIT
			BAR.SYNC 0x0
			MOV R9, 0x6`, 64, func(thread uint32) uint32 {
			if thread < 16 {
				return 6
			}
			return 0
		}},
		{"reductions", `
			S2R R0, SR_TID.X
			ISETP.LT.AND P0, PT, R0, 0x23, PT
			BAR.RED.POPC 0x0, P0
			B2R.RESULT R9
			BAR.RED.OR 0x0, P0
			B2R.RESULT RZ, P1
			BAR.RED.AND 0x0, P0
			B2R.RESULT RZ, P2
			SEL R4, RZ, 0x64, !P1
			SEL R5, RZ, 0x3e8, !P2
			IADD3 R9, R9, R4, R5`, 40, func(uint32) uint32 { return 35 + 100 }},
		{"producers arrive, consumers wait", `
			S2R R0, SR_TID.X
			ISETP.GE.AND P0, PT, R0, 0x20, PT
			@!P0 BRA consume
			SHF.L.U32 R1, R0, 0x2, RZ
			IMAD R4, R0, R0, RZ
			STS [R1+-0x80], R4
			BAR.ARV 0x3, 0x40
			MOV R9, 0x1
			BRA end
			consume:
			BAR.SYNC 0x3, 0x40
			SHF.L.U32 R1, R0, 0x2, RZ
			LDS.U R9, [R1]
			end:
			NOP`, 64, func(thread uint32) uint32 {
			if thread < 32 {
				return (thread + 32) * (thread + 32)
			}
			return 1
		}},
		{"halves of a warp at barriers of their own", `
			S2R R0, SR_TID.X
			LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT
			ISETP.LT.AND P0, PT, R1, 0x10, PT
			@P0 BRA low
			BAR.SYNC 0x2, 0x20
			MOV R9, 0x2
			BRA end
			low:
			BAR.SYNC 0x1, 0x20
			MOV R9, 0x1
			end:
			BAR.SYNC 0x0`, 64, func(thread uint32) uint32 { return 2 - (31-thread%32)/16 }},
		{"a barrier number in a register", `
			MOV R4, 0x400007
			BAR.SYNC R4
			MOV R9, 0x7`, 64, func(uint32) uint32 { return 7 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &timedProgram{text: "MOV R10, 0x4\n" + tt.text + storeR9, shared: 256, buffers: [][]uint32{make([]uint32, tt.threads)}}
			m, l, addrs := p.start(t, testModel(t), Options{MaxInstructions: 1 << 20})
			l.Block[0] = tt.threads
			if _, err := m.Launch(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			for thread, got := range memoryWords(t, m, addrs[0], tt.threads) {
				if want := tt.want(uint32(thread)); got != want {
					t.Fatalf("thread %d: got %d, want %d", thread, got, want)
				}
			}
		})
	}
}

// Each half of the warp goes on with what it is doing when a barrier lets the other half go.
func TestBarrierWhileRunning(t *testing.T) {
	p := &timedProgram{text: `
		MOV R10, 0x4
		S2R R0, SR_TID.X
		ISETP.GE.AND P0, PT, R0, 0x20, PT
		ISETP.GE.AND P1, PT, R0, 0x10, PT
		@P0 BRA second
		@P1 BRA work
		BAR.SYNC 0x1, 0x30
		MOV R9, 0x1
		BRA end
		work:
		MOV R9, RZ
		more:
		IADD3 R9, R9, 0x1, RZ
		ISETP.LT.AND P2, PT, R9, 0x400, PT
		@P2 BRA more
		BRA end
		second:
		BAR.ARV 0x1, 0x30
		MOV R9, 0x3
		end:
		NOP` + storeR9, threads: 64, buffers: [][]uint32{make([]uint32, 64)}}
	for thread, got := range p.result(t, 0) {
		want := uint32(3)
		switch {
		case thread < 16:
			want = 1
		case thread < 32:
			want = 0x400
		}
		if got != want {
			t.Fatalf("thread %d: got %d, want %d", thread, got, want)
		}
	}
}

// Calls go through registers; each lane returns to where it came from.
func TestCallsAndReturns(t *testing.T) {
	p := &timedProgram{text: `
		MOV R10, 0x4
		S2R R0, SR_TID.X
		MOV R21, RZ
		LOP3.LUT R4, R0, 0x1, RZ, 0xc0, !PT
		ISETP.NE.AND P0, PT, R4, RZ, PT
		@P0 BRA other
		MOV R20, afterEven
		CALL.REL.NOINC square
		afterEven:
		IADD3 R9, R9, 0x64, RZ
		BRA end
		other:
		MOV R20, afterOther
		CALL.REL.NOINC square
		afterOther:
		IADD3 R9, R9, 0xc8, RZ
		BRA end
		square:
		IMAD R9, R0, R0, RZ
		RET.REL.NODEC R20 0x0
		end:
		NOP` + storeR9, buffers: [][]uint32{make([]uint32, 32)}}
	for thread, got := range p.result(t, 0) {
		if want := uint32(thread*thread + 100 + 100*(thread&1)); got != want {
			t.Fatalf("thread %d: got %d, want %d", thread, got, want)
		}
	}
}

// memoryWords reads n words of device memory.
func memoryWords(tb testing.TB, m *Machine, addr uint64, n int) []uint32 {
	tb.Helper()
	data := make([]byte, 4*n)
	if err := m.Read(addr, data); err != nil {
		tb.Fatal(err)
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return list
}
