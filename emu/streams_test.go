package emu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/stream"
)

// streamsProgram sums up a word of each of eight rows, with a barrier behind the loop.
func streamsProgram() *timedProgram {
	return &timedProgram{threads: 128, blocks: 8, shared: 1024, buffers: [][]uint32{words(8 * 1024), words(1024)}, text: `
		[B------:R-:W0:-:S01] S2R R0, SR_TID.X
		[B------:R-:W1:-:S01] S2R R8, SR_CTAID.X
		[B------:R-:W-:-:S04] MOV R1, 0x8
		[B------:R-:W-:-:S04] MOV R9, RZ
		[B01----:R-:W-:-:S06] IMAD R2, R8, 0x80, R0
		[B------:R-:W-:-:S06] IMAD R2, R2, 0x4, RZ
		[B------:R-:W-:-:S06] IADD3 R4, P0, R2, c[0x0][0x160], RZ
		[B------:R-:W-:-:S06] IADD3.X R5, RZ, c[0x0][0x164], RZ, P0, !PT
		loop:
		[B------:R-:W2:-:S02] LDG.E.SYS R6, [R4]
		[B------:R-:W-:-:S04] IADD3 R1, R1, -0x1, RZ
		[B------:R-:W-:-:S04] IADD3 R4, P0, R4, 0x1000, RZ
		[B------:R-:W-:-:S06] IADD3.X R5, RZ, R5, RZ, P0, !PT
		[B--2---:R-:W-:-:S04] FADD R9, R9, R6
		[B------:R-:W-:Y:S12] ISETP.NE.AND P1, PT, R1, RZ, PT
		[B------:R-:W-:-:S05] @P1 BRA loop
		[B------:R-:W-:-:S05] BAR.SYNC 0x0
		[B------:R-:W-:-:S06] IADD3 R4, P0, R2, c[0x0][0x168], RZ
		[B------:R-:W-:-:S06] IADD3.X R5, RZ, c[0x0][0x16c], RZ, P0, !PT
		[B------:R-:W-:-:S02] STG.E.SYS [R4], R9
		[B------:R-:W-:-:S05] EXIT`}
}

// The instructions of streamsProgram's loop, and its load.
const streamsLoad, streamsLoopEnd, streamsBarrier = 8, 14, 15

// streamsLoop is the loop, up to some instruction.
func streamsLoop(last int) Loop {
	l := Loop{Header: InstAt{PC: streamsLoad * sass.InstSize}}
	for i := streamsLoad; i <= last; i++ {
		l.Body = append(l.Body, InstAt{PC: uint64(i * sass.InstSize)})
	}
	return l
}

// TestStreamsErrors holds which edits a launch refuses, and that the error says why.
func TestStreamsErrors(t *testing.T) {
	loop := []Loop{streamsLoop(streamsLoopEnd)}
	load := []InstAt{{PC: streamsLoad * sass.InstSize}}
	for _, c := range []struct {
		what WhatIf
		want string
	}{
		{WhatIf{Streams: &Streams{Transpose: &Transpose{Loops: loop, Width: 3}}}, "power of two"},
		{WhatIf{Streams: &Streams{Transpose: &Transpose{Width: 4}}}, "no loop"},
		{WhatIf{Streams: &Streams{Transpose: &Transpose{Loops: loop, Width: 256}}}, "no multiple of 256"},
		{WhatIf{Streams: &Streams{Transpose: &Transpose{Loops: []Loop{streamsLoop(streamsBarrier)}, Width: 4}}}, "a barrier within the loops"},
		{WhatIf{Streams: &Streams{Transpose: &Transpose{Loops: []Loop{{Header: load[0]}}, Width: 4}}}, "no part of it"},
		{WhatIf{Streams: &Streams{Keep: []InstAt{{PC: 1 << 20}}}}, "no instruction"},
		{WhatIf{Streams: &Streams{Divide: &Divide{Loops: loop, Parts: 1}}}, "into 1 parts"},
		{WhatIf{Streams: &Streams{Prefetch: []LoopLoads{{Loads: load, Loop: loop[0]}}}}, "0 rounds"},
		{WhatIf{Streams: &Streams{Merge: []stream.Merge{{Factor: 3}}}}, "cannot be divided by 3"},
		{WhatIf{Streams: &Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.GridY}}}}, "cannot be divided by 2"},
		{WhatIf{Streams: &Streams{Divide: &Divide{Loops: loop, Parts: 2}, Merge: []stream.Merge{{Factor: 2}}}}, "cannot be merged"},
		{WhatIf{Registers: 300}, "does not fit"},
		{WhatIf{Streams: &Streams{}, Registers: 300}, "fit"},
		{WhatIf{Streams: &Streams{}, Shared: 1 << 20}, "fit"},
	} {
		m, l, _ := streamsProgram().start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = &c.what
		if _, err := m.Launch(context.Background(), l); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}

// TestStreamsWaiting holds that a block which waits for another one is an error: it cannot be recorded alone.
func TestStreamsWaiting(t *testing.T) {
	p := timedProgram{blocks: 2, buffers: [][]uint32{{0}}, text: `
		[B------:R-:W0:-:S01] S2R R0, SR_CTAID.X
		[B------:R-:W-:-:S04] MOV R4, c[0x0][0x160]
		[B------:R-:W-:-:S04] MOV R5, c[0x0][0x164]
		[B------:R-:W-:-:S04] MOV R7, 0x1
		[B0-----:R-:W-:Y:S12] ISETP.NE.AND P0, PT, R0, RZ, PT
		[B------:R-:W-:-:S05] @P0 STG.E.STRONG.GPU [R4], R7
		[B------:R-:W-:-:S05] @P0 EXIT
		loop:
		[B------:R-:W1:-:S02] LDG.E.STRONG.GPU R6, [R4]
		[B-1----:R-:W-:Y:S12] ISETP.EQ.AND P0, PT, R6, RZ, PT
		[B------:R-:W-:-:S05] @P0 BRA loop
		[B------:R-:W-:-:S05] EXIT`}
	m, l, _ := p.start(t, testModel(t), Options{Timing: TimingFull, MaxInstructions: 1 << 22})
	l.WhatIf = &WhatIf{Streams: &Streams{}}
	if _, err := m.Launch(context.Background(), l); err == nil || !strings.Contains(err.Error(), "waits for another one") {
		t.Errorf("got %v", err)
	}
}

// TestStreamsShape holds how edits change the instructions that are issued and the shape of the launch.
func TestStreamsShape(t *testing.T) {
	loop := []Loop{streamsLoop(streamsLoopEnd)}
	const warps, before, rounds, inRound, behind = 32, 8, 8, 7, 5
	run := func(w *WhatIf) *Result {
		m, l, _ := streamsProgram().start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = w
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		name         string
		streams      Streams
		instructions int64
		grid, block  int
	}{
		{"as it is", Streams{}, warps * (before + rounds*inRound + behind), 8, 128},
		{"four lanes a thread", Streams{Transpose: &Transpose{Loops: loop, Width: 4, Combine: true}}, 4 * warps * (before + rounds/4*inRound + behind + 4), 32, 128},
		{"smaller blocks", Streams{Transpose: &Transpose{Loops: loop, Width: 4, Threads: 64}}, 4 * warps * (before + rounds/4*inRound + behind), 64, 64},
		{"two parts", Streams{Divide: &Divide{Loops: loop, Parts: 2}}, 2 * warps * (before + rounds/2*inRound + behind), 16, 128},
		// Of two warps the load, the sum and the store are each one's own; addresses differ by what is known.
		{"two threads in one", Streams{Merge: []stream.Merge{{Factor: 2}}}, warps / 2 * (before + rounds*(inRound+2) + behind + 1), 8, 64},
		{"wide accesses", Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.Threads}}}, warps / 2 * (before + rounds*(inRound+1) + behind), 8, 64},
		{"two blocks in one", Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.GridX}}}, warps / 2 * (before + rounds*(inRound+2) + behind + 1), 4, 128},
		{"two threads in one, far apart", Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.Strided}}}, warps / 2 * (before + rounds*(inRound+2) + behind + 1), 8, 64},
		{"loads ahead", Streams{Prefetch: []LoopLoads{{Loads: loop[0].Body[:1], Loop: loop[0], Rounds: 2}}}, warps * (before + rounds*inRound + behind), 8, 128},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(&WhatIf{Streams: &c.streams})
			if r.WarpInstructions != c.instructions {
				t.Errorf("%d instructions, want %d", r.WarpInstructions, c.instructions)
			}
			if r.Facts.Grid != [3]int{c.grid, 1, 1} || r.Facts.Block != [3]int{c.block, 1, 1} {
				t.Errorf("grid %v of blocks %v", r.Facts.Grid, r.Facts.Block)
			}
		})
	}
	same, asIs := run(&WhatIf{Streams: &Streams{}}), run(nil)
	if same.Cycles != asIs.Cycles {
		t.Errorf("%d cycles without an edit, %d as it is", same.Cycles, asIs.Cycles)
	}
	// Two warps read each word: once is enough for the second of the eight rounds only where it is the same word, which it never is.
	if kept := run(&WhatIf{Streams: &Streams{Keep: loop[0].Body[:1]}}); kept.Cycles != asIs.Cycles {
		t.Errorf("%d cycles where no word is read twice, %d as it is", kept.Cycles, asIs.Cycles)
	}
}

// TestStreamsApart holds that threads whose work becomes one thread's share nothing behind a branch that each takes for itself, where
// they do behind one that they take together.
func TestStreamsApart(t *testing.T) {
	const before, behind = 7, 3
	for _, c := range []struct {
		name, tested string
		once         int // of the instructions up to and behind the branch, those that are issued once for both
		inside       int // issues of the two between it and BSYNC
	}{
		{"by the number of the block times one that no compiler knows", "IMAD R3, R8, c[0x0][0x0], R0", 5, 4},
		{"by a parameter", "IMAD R3, R0, c[0x0][0x0], R0", 7, 2},
	} {
		p := timedProgram{threads: 32, blocks: 8, buffers: [][]uint32{words(64)}, text: `
			[B------:R-:W0:-:S01] S2R R0, SR_TID.X
			[B------:R-:W1:-:S01] S2R R8, SR_CTAID.X
			[B------:R-:W-:-:S04] MOV R1, c[0x0][0x160]
			[B01----:R-:W-:-:S06] ` + c.tested + `
			[B------:R-:W-:Y:S12] ISETP.EQ.AND P0, PT, R3, 0x7fffffff, PT
			[B------:R-:W-:-:S05] BSSY B0, join
			[B------:R-:W-:-:S05] @P0 BRA join
			[B------:R-:W-:-:S04] IADD3 R5, R1, 0x1, RZ
			[B------:R-:W-:-:S04] IADD3 R6, R1, 0x2, RZ
			join:
			[B------:R-:W-:-:S05] BSYNC B0
			[B------:R-:W-:-:S04] IADD3 R7, R1, 0x3, RZ
			[B------:R-:W-:-:S05] EXIT`}
		m, l, _ := p.start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = &WhatIf{Streams: &Streams{Merge: []stream.Merge{{Factor: 2, Axis: stream.GridX}}}}
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := r.WarpInstructions, int64(4*(c.once+2*(before-c.once)+c.inside+behind)); got != want {
			t.Errorf("%s: %d instructions, want %d", c.name, got, want)
		}
	}
}

// TestThinned holds that what a warp does once takes its time however many warps share it, and of the rounds of a loop one in so many.
func TestThinned(t *testing.T) {
	cycles := func(pc int, by float64) int64 {
		m, l, _ := streamsProgram().start(t, testModel(t), Options{Timing: TimingFull})
		if by > 0 {
			l.WhatIf = &WhatIf{Thinned: map[InstAt]float64{{PC: uint64(pc * sass.InstSize)}: by}}
		}
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	asIs := cycles(0, 0)
	if got := cycles(0, 32); got != asIs {
		t.Errorf("%d cycles where an instruction that is executed once is thinned, %d as it is", got, asIs)
	}
	half, eighth := cycles(streamsLoad, 2), cycles(streamsLoad, 8)
	if !(eighth < half && half < asIs) || asIs-half < (asIs-eighth)/3 {
		t.Errorf("%d cycles as it is, %d with every other load, %d with one in eight", asIs, half, eighth)
	}
}

// TestStreamsLimit holds that a launch whose edit takes more instructions than it may execute ends with a fault, whichever warp comes to the
// limit: blocks may have more warps than the launch had.
func TestStreamsLimit(t *testing.T) {
	for limit := int64(2300); limit < 3900; limit += 100 {
		m, l, _ := streamsProgram().start(t, testModel(t), Options{Timing: TimingFull, MaxInstructions: limit})
		l.WhatIf = &WhatIf{Streams: &Streams{Transpose: &Transpose{Loops: []Loop{streamsLoop(streamsLoopEnd)}, Width: 4, Threads: 512, Combine: true}}}
		_, err := m.Launch(context.Background(), l)
		var fault *Fault
		if !errors.As(err, &fault) || fault.Kind != InstructionLimit {
			t.Errorf("with %d instructions: %v", limit, err)
		}
	}
}

// TestHiddenCounter holds that a launch ends in which an instruction waits for loads so soon that it does not see the last of them.
func TestHiddenCounter(t *testing.T) {
	p := timedProgram{buffers: [][]uint32{words(4096)}, text: `
		[B------:R-:W-:-:S04] MOV R4, c[0x0][0x160]
		[B------:R-:W-:-:S04] MOV R5, c[0x0][0x164]
		[B------:R-:W0:-:S01] LDG.E.SYS R6, [R4]
		[B------:R-:W0:-:S01] LDG.E.SYS R7, [R4+0x1000]
		[B0-----:R-:W-:-:S04] FADD R8, R6, R7
		[B------:R-:W-:-:S05] EXIT`}
	m, l, _ := p.start(t, testModel(t), Options{Timing: TimingFull})
	if _, err := m.Launch(context.Background(), l); err != nil {
		t.Error(err)
	}
}

// TestStreamsKeep holds that a load whose word the thread has read before is gone, once it has.
func TestStreamsKeep(t *testing.T) {
	p := streamsProgram()
	p.text = strings.Replace(p.text, "R4, 0x1000", "R4, 0x0", 1) // the same word in every round
	cycles := func(w *WhatIf) int64 {
		m, l, _ := p.start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = w
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	kept, gone := cycles(&WhatIf{Streams: &Streams{Keep: streamsLoop(streamsLoopEnd).Body[:1]}}), cycles(&WhatIf{Suppositions: map[InstAt]Supposition{{PC: streamsLoad * sass.InstSize}: Gone}})
	if as := cycles(nil); kept >= as || kept <= gone {
		t.Errorf("%d cycles, %d with all loads and %d without any", kept, as, gone)
	}
}

// TestStreamsSteady holds that a large grid is extrapolated when it is replayed, and comes to the cycles of the launch as it is.
func TestStreamsSteady(t *testing.T) {
	p := streamsProgram()
	p.blocks = 2_000
	model := testModel(t)
	model.SMs.Value = 8
	p.text = strings.Replace(p.text, "R1, 0x8", "R1, 0x2", 1)
	p.buffers = [][]uint32{words(p.blocks*128 + 8*1024), words(p.blocks * 128)}
	run := func(w *WhatIf) *Result {
		m, l, _ := p.start(t, model, Options{Timing: TimingFull, Extrapolation: Extrapolation{After: 1 << 16}})
		l.WhatIf = w
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	as, by := run(nil), run(&WhatIf{Streams: &Streams{}})
	if as.TimedBlocks == 0 || by.TimedBlocks != as.TimedBlocks || by.Cycles != as.Cycles || by.WarpInstructions != as.WarpInstructions {
		t.Errorf("%d cycles and %d instructions, %d blocks timed; as it is %d, %d and %d", by.Cycles, by.WarpInstructions, by.TimedBlocks,
			as.Cycles, as.WarpInstructions, as.TimedBlocks)
	}
	divided := run(&WhatIf{Streams: &Streams{Divide: &Divide{Loops: []Loop{streamsLoop(streamsLoopEnd)}, Parts: 2}}})
	const parts = 2
	want := int64(parts * p.blocks * 4 * (8 + 7 + 5))
	if divided.TimedBlocks == 0 || divided.WarpInstructions < want*99/100 || divided.WarpInstructions > want*101/100 {
		t.Errorf("%d instructions, %d blocks timed, want about %d", divided.WarpInstructions, divided.TimedBlocks, want)
	}
}
