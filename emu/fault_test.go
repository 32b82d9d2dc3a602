package emu

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// faultOf runs a program with and without timing, which must end with the same fault, and returns it.
func faultOf(t *testing.T, p *timedProgram, o Options) *Fault {
	t.Helper()
	var first *Fault
	for _, level := range []TimingLevel{TimingNone, TimingFull} {
		o.Timing = level
		if o.MaxInstructions == 0 {
			o.MaxInstructions = 1 << 20
		}
		m, l, _ := p.start(t, testModel(t), o)
		_, err := m.Launch(context.Background(), l)
		var f *Fault
		if !errors.As(err, &f) {
			t.Fatalf("timing %s: %v, want a fault", level, err)
		}
		if first == nil {
			first = f
		} else if f.Error() != first.Error() {
			t.Errorf("with timing:    %v\nwithout timing: %v", f, first)
		}
	}
	return first
}

// addressOf puts a parameter, the address of a buffer, and threadIdx into registers.
const addressOf = `
	MOV R2, c[0x0][0x160]
	MOV R3, c[0x0][0x164]
	S2R R0, SR_TID.X
`

func TestAddressFaults(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		kind   FaultKind
		pc     int // instruction
		thread int
		says   string
	}{
		{"past the end", `
			IMAD.WIDE.U32 R4, R0, 0x10, R2
			LDG.E.SYS R6, [R4+0x10]
			EXIT`, OutOfBounds, 4, 15, "0 bytes past the end of a, which has 256"},
		{"across the end", `
			ISETP.EQ.AND P0, PT, R0, 0x5, PT
			@P0 STG.E.128.SYS [R2+0xf8], R4
			EXIT`, Misaligned, 4, 5, "byte 248 of a, which has 256"},
		{"before the start", `
			LDG.E.U8.SYS R6, [R2+-0x1]
			EXIT`, OutOfBounds, 3, 0, "1 bytes before the start of a"},
		{"null", `
			MOV R4, RZ
			MOV R5, RZ
			STG.E.SYS [R4+0x8], R0
			EXIT`, NullPointer, 5, 0, "a null pointer"},
		{"misaligned", `
			LDG.E.64.SYS R6, [R2+0x4]
			EXIT`, Misaligned, 3, 0, "byte 4 of a, which has 256"},
		{"atomic", `
			ATOMG.E.ADD.STRONG.GPU PT, R6, [R2+0x100], R0
			EXIT`, OutOfBounds, 3, 0, "0 bytes past the end of a, which has 256"},
		{"generic", `
			LD.E.SYS R6, [R2+0x200]
			EXIT`, OutOfBounds, 3, 0, "256 bytes past the end of a"},
		{"shared", `
			SHF.L.U32 R4, R0, 0x3, RZ
			STS [R4], R0
			EXIT`, OutOfBounds, 4, 16, "in shared memory, of which the block has 128 bytes"},
		{"shared, misaligned", `
			LDS.U.64 R4, [0xc]
			EXIT`, Misaligned, 3, 0, "in shared memory"},
		{"shared through its window", `
			MOV R4, 0x80
			IADD3 R4, P0, R4, c[0x0][0x18], RZ
			IADD3.X R5, RZ, c[0x0][0x1c], RZ, P0, !PT
			ST.E.SYS [R4], R0
			EXIT`, OutOfBounds, 6, 0, "in shared memory, of which the block has 128 bytes"},
		{"stack overflow", `
			MOV R1, c[0x0][0x28]
			IADD3 R1, R1, -0x80, RZ
			STL [R1], R0
			EXIT`, StackOverflow, 5, 0, "in local memory, of which a thread has 64 bytes (stack: in the launch file makes it more)"},
		{"constant", `
			MOV R4, 0x10000
			LDC R4, c[0x0][R4]
			EXIT`, OutOfBounds, 4, 0, "in a constant bank"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := faultOf(t, &timedProgram{text: addressOf + tt.text, buffers: [][]uint32{make([]uint32, 64)}, shared: 128}, Options{})
			if f.Kind != tt.kind || f.PC != uint64(tt.pc*sass.InstSize) || f.Thread != [3]int{tt.thread, 0, 0} || !f.HasAddress {
				t.Errorf("kind %q pc %#x thread %v address %v, want %q, %#x, %d", f.Kind, f.PC, f.Thread, f.HasAddress, tt.kind,
					tt.pc*sass.InstSize, tt.thread)
			}
			if !strings.Contains(f.Error(), tt.says) {
				t.Errorf("the message is %q, want %q in it", f, tt.says)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name    string
		program timedProgram
		kind    FaultKind
		says    string
	}{
		{"runs off the end", timedProgram{text: `MOV R0, RZ`}, BadJump, "execution ran past the end of the section"},
		{"branch out of the section", timedProgram{text: `
			@!PT BRA 0x1000
			BRA 0x1000
			EXIT`}, BadJump, "pc 0x10 BRA 0x1000, block (0,0,0) thread (0,0,0)"},
		{"indirect branch", timedProgram{text: `
			S2R R4, SR_TID.X
			MOV R5, RZ
			BRX R4 -0x30
			EXIT`}, BadJump, "thread (1,0,0), address 0x1"},
		{"trap", timedProgram{text: `
			S2R R0, SR_TID.X
			ISETP.GT.AND P0, PT, R0, 0x28, PT
			@P0 BPT.TRAP 0x1
			EXIT`, threads: 64}, Trap, "thread (41,0,0)"},
		{"unsupported", timedProgram{text: `
			BAR.SCAN 0x1, 0x20, P0
			EXIT`}, Unsupported, "is not supported"},
		{"barrier deadlock", timedProgram{text: `
			S2R R0, SR_TID.X
			ISETP.GE.AND P0, PT, R0, 0x20, PT
			@P0 BAR.SYNC 0x1
			@!P0 BAR.SYNC 0x0
			EXIT`, threads: 64}, BarrierDeadlock, "no thread of the block can go on: warp 0 lanes 0xffffffff wait at BAR 0, pc 0x30; " +
			"warp 1 lanes 0xffffffff wait at BAR 1, pc 0x20"},
		{"lanes that wait for each other", timedProgram{text: `
			S2R R0, SR_TID.X
			BSSY B0, join
			ISETP.GE.AND P0, PT, R0, 0x8, PT
			@P0 BRA sync
			BAR.SYNC 0x0
			sync:
			BSYNC B0
			join:
			EXIT`}, BarrierDeadlock, "warp 0 lanes 0x000000ff wait at BAR 0, pc 0x40; " +
			"warp 0 lanes 0xffffff00 wait at BSYNC B0, pc 0x50, for lanes 0x000000ff"},
		{"instruction limit", timedProgram{text: `
			loop:
			IADD3 R0, R0, 0x1, RZ
			ISETP.NE.AND P0, PT, R0, RZ, PT
			@P0 BRA loop
			EXIT`}, InstructionLimit, "the launch may execute 1048576 warp instructions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := faultOf(t, &tt.program, Options{})
			if f.Kind != tt.kind || !strings.Contains(f.Error(), tt.says) {
				t.Errorf("the fault is %v, want %s with %q", f, tt.kind, tt.says)
			}
		})
	}
}

// An instruction that no lane executes does nothing, whatever it is.
func TestGuardedOff(t *testing.T) {
	p := &timedProgram{text: `
		@!PT BAR.SCAN 0x1, 0x20, P0
		@!PT BPT.TRAP 0x1
		@!PT LDG.E.SYS R0, [RZ]
		@!PT EXIT
		@!PT BRA 0x1000
		@!PT YIELD
		@!PT BAR.SYNC 0x0
		EXIT`}
	r, _, _ := p.run(t, nil)
	if r.WarpInstructions != 8 || r.ThreadInstructions != 32 {
		t.Errorf("%d warp instructions, %d thread instructions, want 8, 32", r.WarpInstructions, r.ThreadInstructions)
	}
}

func TestLivelock(t *testing.T) {
	tests := []struct {
		name, text string
		blocks     int
	}{
		{"one block", `
			MOV R2, c[0x0][0x160]
			MOV R3, c[0x0][0x164]
			S2R R0, SR_TID.X
			ISETP.EQ.AND P0, PT, R0, 0x3, PT
			wait:
			LDG.E.STRONG.SYS R4, [R2]
			IADD3 R5, R4, 0x7, RZ
			ISETP.EQ.AND P1, PT, R4, RZ, PT
			@P1 BRA wait
			EXIT`, 1},
		{"a lock that is not given back", `
			MOV R2, c[0x0][0x160]
			MOV R3, c[0x0][0x164]
			MOV R5, 0x1
			wait:
			ATOMG.E.CAS.STRONG.GPU PT, R4, [R2], RZ, R5
			ISETP.NE.AND P1, PT, R4, RZ, PT
			@P1 BRA wait
			EXIT`, 3},
		{"a flag that a block without a place would set, and a count of the looks at it", `
			MOV R2, c[0x0][0x160]
			MOV R3, c[0x0][0x164]
			MOV R8, RZ
			MOV R9, 0x1
			S2R R0, SR_CTAID.X
			ISETP.EQ.AND P0, PT, R0, 0xfff, PT
			@P0 STG.E.SYS [R2], R9
			wait:
			IADD3 R8, R8, 0x1, RZ
			CS2R R6, SR_CLOCKLO
			LDG.E.STRONG.SYS R4, [R2]
			ISETP.EQ.AND P1, PT, R4, RZ, PT
			@P1 BRA wait
			STG.E.SYS [R2+0x4], R8
			EXIT`, 0x1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &timedProgram{text: tt.text, blocks: tt.blocks, buffers: [][]uint32{{0}}}
			m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 26})
			_, err := m.Launch(context.Background(), l)
			var f *Fault
			if !errors.As(err, &f) || f.Kind != Livelock {
				t.Fatalf("%v, want a livelock", err)
			}
			if !strings.Contains(f.Error(), "no thread changes memory any more") || !strings.Contains(f.Error(), "they read 0x7f1000000000") {
				t.Error(f)
			}
		})
	}
}

// Without timing a wait for the clock ends after few instructions, however long it is, and in its time.
func TestClockWait(t *testing.T) {
	wait := func(clock string) string {
		return addressOf + `
			CS2R ` + clock + `
			MOV R4, R6
			wait:
			CS2R ` + clock + `
			IADD3 R7, R6, -R4, RZ
			ISETP.LT.U32.AND P1, PT, R7, 0x3b9aca00, PT
			@P1 BRA wait
			IMAD.WIDE.U32 R4, R0, 0x4, R2
			STG.E.SYS [R4], R7
			EXIT`
	}
	for _, text := range []string{wait("R6, SR_CLOCKLO"), wait("R6, SR_GLOBALTIMERLO")} {
		out := make([]uint32, 64)
		p := &timedProgram{text: text, threads: 64, buffers: [][]uint32{out}}
		m, l, at := p.start(t, testModel(t), Options{MaxInstructions: 1 << 20})
		if _, err := m.Launch(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		for i := range out {
			var word [4]byte
			if err := m.Read(at[0]+uint64(4*i), word[:]); err != nil {
				t.Fatal(err)
			}
			if waited := binary.LittleEndian.Uint32(word[:]); waited < 1e9 || waited > 4e9 {
				t.Errorf("thread %d waited %d cycles", i, waited)
			}
		}
	}
}

// With timing a long wait for the clock is not simulated cycle by cycle either, and ends a little late at most. Warps of several blocks
// wait for different times; one looks at memory too.
func TestTimedClockWait(t *testing.T) {
	const text = addressOf + `
		S2R R9, SR_CTAID.X
		IMAD R9, R9, 0x5f5e100, R10
		CS2R R6, SR_CLOCKLO
		MOV R4, R6
		wait:
		LDG.E.STRONG.SYS R8, [R2]
		CS2R R6, SR_CLOCKLO
		IADD3 R7, R6, -R4, RZ
		ISETP.LT.U32.AND P1, PT, R7, R9, PT
		@P1 BRA wait
		S2R R0, SR_CTAID.X
		IMAD.WIDE.U32 R4, R0, 0x4, R2
		STG.E.SYS [R4], R7
		EXIT`
	for _, level := range []TimingLevel{TimingFast, TimingFull} {
		out := make([]uint32, 3)
		p := &timedProgram{text: "MOV R10, 0x3b9aca00\n" + text, blocks: len(out), threads: 64, buffers: [][]uint32{out}}
		m, l, at := p.start(t, testModel(t), Options{Timing: level, MaxInstructions: 1 << 22})
		r, err := m.Launch(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for i, waited := range memoryWords(t, m, at[0], len(out)) {
			if least := uint32(1e9 + 1e8*float64(i)); waited < least || waited > least/32*33+waitCycles {
				t.Errorf("timing %s: block %d waited %d cycles", level, i, waited)
			}
		}
		if r.Cycles < 1.2e9 || r.Cycles > 1.3e9 || r.SMActiveCycles < 3.3e9 || r.SMActiveCycles > 3*r.Cycles || r.WarpActiveCycles < 2*r.SMActiveCycles-1e6 {
			t.Errorf("timing %s: %d cycles, %d of SMs, %d of warps", level, r.Cycles, r.SMActiveCycles, r.WarpActiveCycles)
		}
	}
}

// A count of the looks at the clock is the hardware's: such a wait is simulated whole.
func TestTimedClockCount(t *testing.T) {
	const text = addressOf + `
		CS2R R6, SR_CLOCKLO
		MOV R4, R6
		MOV R8, RZ
		wait:
		IADD3 R8, R8, 0x1, RZ
		CS2R R6, SR_CLOCKLO
		IADD3 R7, R6, -R4, RZ
		ISETP.LT.U32.AND P1, PT, R7, 0x200000, PT
		@P1 BRA wait
		STG.E.SYS [R2], R8
		EXIT`
	p := &timedProgram{text: text, buffers: [][]uint32{{0}}}
	m, l, at := p.start(t, testModel(t), Options{Timing: TimingFull})
	r, err := m.Launch(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(memoryWords(t, m, at[0], 1)[0]); n < r.WarpInstructions/6 || n < 1e4 {
		t.Errorf("%d looks in %d instructions and %d cycles", n, r.WarpInstructions, r.Cycles)
	} else if perLook := float64(r.Cycles) / float64(n); perLook > 100 {
		t.Errorf("%v cycles a look", perLook)
	}
}

// A tolerant tracer lets all go on.
type tolerant struct {
	Tracer
	faults map[FaultKind]int
}

func (*tolerant) Begin(*LaunchFacts)    {}
func (*tolerant) BeginBlock(int, int)   {}
func (*tolerant) EndBlock(int)          {}
func (*tolerant) Step(*Step)            {}
func (x *tolerant) Fault(f *Fault) bool { x.faults[f.Kind]++; return true }

// A thread whose stack overflows ends there, also where the launch goes on.
func TestStackOverflow(t *testing.T) {
	p := &timedProgram{text: `
			MOV R1, c[0x0][0x28]
			S2R R0, SR_TID.X
			ISETP.EQ.AND P0, PT, R0, 0x3, PT
			@P0 EXIT
			deeper:
			IADD3 R1, R1, -0x10, RZ
			STL [R1], R0
			LDL R0, [R1]
			BRA deeper`}
	m, l, _ := p.start(t, testModel(t), Options{MaxInstructions: 1 << 20})
	l.Stack = 4096
	x := &tolerant{faults: make(map[FaultKind]int)}
	l.Tracer = x
	if _, err := m.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if len(x.faults) != 1 || x.faults[StackOverflow] != 31 {
		t.Error(x.faults)
	}
}

// The whole message, once.
func TestFaultMessage(t *testing.T) {
	p := &timedProgram{text: addressOf + `
		S2R R7, SR_CTAID.X
		IMAD R0, R7, 0x20, R0
		IMAD.WIDE.U32 R4, R0, 0x4, R2
		LDG.E.SYS R6, [R4]
		EXIT`, blocks: 3, buffers: [][]uint32{make([]uint32, 40)}}
	f := faultOf(t, p, Options{})
	const want = "out of bounds in kernel program, pc 0x60 LDG.E.SYS R6, [R4], block (1,0,0) thread (8,0,0), " +
		"address 0x7f10000000a0: 0 bytes past the end of a, which has 160"
	if f.Error() != want {
		t.Errorf("got  %s\nwant %s", f, want)
	}
}
