package emu

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/stream"
)

// copyLoop copies eight times 4 KB to shared memory, with some arithmetic before it waits for each: the instructions of the loop, and of these those that
// compute, are returned.
func copyLoop(sums int) (p *timedProgram, loop Loop, gone []InstAt) {
	const first = 12 // instruction of the loop
	var sum strings.Builder
	for range sums {
		fmt.Fprintln(&sum, "[B------:R-:W-:-:S04] FFMA R9, R9, R9, R9")
		gone = append(gone, InstAt{PC: uint64((first + 2 + len(gone)) * sass.InstSize)})
	}
	p = &timedProgram{model: modelOf(sass.SM90), blocks: 2, shared: 8192, buffers: [][]uint32{make([]uint32, 1024)}, text: `
		UMOV UR4, 0x1fffc0
		UMOV UR5, 0x7fff0000
		UMOV UR6, 0x1000
		UMOV UR7, URZ
		ULDC UR8, c[0x0][0x160]
		ULDC UR9, c[0x0][0x164]
		UMOV UR10, 0x100
		MOV R2, 0x80
		MOV R3, RZ
		MOV R1, 0x8
		[B------:R-:W-:Y:S12] MOV R9, RZ
		[B------:R-:W0:Y:S12] SYNCS.EXCH.64 URZ, [UR7], UR4
		loop:
		[B0-----:R-:W-:-:S06] SYNCS.ARRIVE.TRANS64 RZ, [UR7], R2
		[B------:R-:W-:-:S06] UBLKCP.S.G [UR6], [UR8], UR10
		` + sum.String() + `
		again:
		[B------:R-:W1:-:S06] SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR7], R3
		[B-1----:R-:W-:-:S06] @!P1 BRA again
		[B------:R-:W-:-:S04] IADD3 R3, R3, -0x80000000, RZ
		[B------:R-:W-:-:S04] IADD3 R1, R1, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P0, PT, R1, RZ, PT
		[B------:R-:W-:-:S06] @P0 BRA loop
		EXIT`}
	loop = Loop{Header: InstAt{PC: first * sass.InstSize}}
	for i := first; i < first+sums+8; i++ {
		loop.Body = append(loop.Body, InstAt{PC: uint64(i * sass.InstSize)})
	}
	return p, loop, gone
}

// pipelineLoops have one warp copy what another one waits for, eight times, by a barrier each way; loads are the other one's.
func pipelineLoops() (p *timedProgram, waits Loop, load InstAt) {
	p = &timedProgram{model: modelOf(sass.SM90), threads: 64, shared: 8192, buffers: [][]uint32{make([]uint32, 1024)}, text: `
		S2R R0, SR_TID.X
		UMOV UR4, 0x1fffc0
		UMOV UR5, 0x7fff0000
		UMOV UR6, 0x1000
		UMOV UR7, URZ
		UMOV UR11, 0x8
		ULDC UR8, c[0x0][0x160]
		ULDC UR9, c[0x0][0x164]
		UMOV UR10, 0x100
		MOV R4, c[0x0][0x160]
		MOV R5, c[0x0][0x164]
		MOV R2, 0x80
		MOV R1, 0x8
		[B0-----:R-:W-:Y:S12] ISETP.GE.AND P0, PT, R0, 0x20, PT
		[B------:R-:W-:-:S06] @P0 BRA ready
		[B------:R-:W0:Y:S12] SYNCS.EXCH.64 URZ, [UR7], UR4
		[B------:R-:W0:Y:S12] SYNCS.EXCH.64 URZ, [UR11], UR4
		ready:
		[B0-----:R-:W-:-:S06] BAR.SYNC.DEFER_BLOCKING 0x0
		[B------:R-:W-:-:S06] @P0 BRA copies
		MOV R3, RZ
		loop:
		[B------:R-:W1:-:S06] SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR7], R3
		[B-1----:R-:W-:-:S06] @!P1 BRA loop
		[B------:R-:W2:-:S06] LDG.E R6, [R4]
		[B--2---:R-:W-:-:S06] SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR11], RZ
		[B------:R-:W-:-:S04] IADD3 R3, R3, -0x80000000, RZ
		[B------:R-:W-:-:S04] IADD3 R1, R1, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P0, PT, R1, RZ, PT
		[B------:R-:W-:-:S06] @P0 BRA loop
		EXIT
		copies:
		MOV R3, 0x80000000
		next:
		[B------:R-:W1:-:S06] SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR11], R3
		[B-1----:R-:W-:-:S06] @!P1 BRA next
		[B0-----:R-:W-:-:S06] SYNCS.ARRIVE.TRANS64 RZ, [UR7], R2
		[B------:R-:W-:-:S06] UBLKCP.S.G [UR6], [UR8], UR10
		[B------:R-:W-:-:S04] IADD3 R3, R3, -0x80000000, RZ
		[B------:R-:W-:-:S04] IADD3 R1, R1, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P0, PT, R1, RZ, PT
		[B------:R-:W-:-:S06] @P0 BRA next
		EXIT`}
	const first, last = 20, 27
	waits.Header = InstAt{PC: first * sass.InstSize}
	for i := uint64(first); i <= last; i++ {
		waits.Body = append(waits.Body, InstAt{PC: i * sass.InstSize})
	}
	return p, waits, InstAt{PC: 22 * sass.InstSize}
}

// try launches a program with a change.
func try(t *testing.T, p *timedProgram, w *WhatIf) (*Result, error) {
	t.Helper()
	m, l, _ := p.start(t, p.model, Options{Timing: TimingFull, MaxInstructions: 1 << 16})
	l.WhatIf = w
	return m.Launch(context.Background(), l)
}

// The copies of a loop take their time whatever is taken away between them.
func TestReplayKeepsCopies(t *testing.T) {
	within := func(what string, got, want int64, by float64) {
		t.Helper()
		if off := float64(got)/float64(want) - 1; math.Abs(off) > by {
			t.Errorf("%s: %d cycles, want %d", what, got, want)
		}
	}
	p, loop, sums := copyLoop(300)
	cycles := func(p *timedProgram, w *WhatIf) int64 {
		t.Helper()
		r, err := try(t, p, w)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	as := cycles(p, nil)
	within("unchanged", cycles(p, &WhatIf{Streams: new(Streams)}), as, 0)
	bare, bareLoop, _ := copyLoop(0)
	want := cycles(bare, nil)
	if want > as*9/10 || want < as/4 {
		t.Fatalf("%d cycles with arithmetic, %d without", as, want)
	}
	gone := make(map[InstAt]Supposition)
	for _, at := range sums {
		gone[at] = Gone
	}
	within("no arithmetic", cycles(p, &WhatIf{Suppositions: gone, Streams: new(Streams)}), want, .03)
	// Half of the rounds take half as long as all of them, those of either block where two share them out.
	empty, err := try(t, bare, &WhatIf{Streams: &Streams{Cut: &Cut{Loop: bareLoop, Every: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	half := empty.Cycles + (want-empty.Cycles)*3/7
	within("half of the rounds", cycles(bare, &WhatIf{Streams: &Streams{Cut: &Cut{Loop: bareLoop, Every: 2}}}), half, .03)
	within("rounds shared out", cycles(bare, &WhatIf{Streams: &Streams{Divide: &Divide{Loops: []Loop{bareLoop}, Parts: 2}}}), half, .1)
	within("with arithmetic", cycles(p, &WhatIf{Streams: &Streams{Cut: &Cut{Loop: loop, Every: 2}}}), as*4/8+empty.Cycles/2, .1)
}

// An edit that takes arrivals away for which a warp waits, or has warps wait for each other, is an error.
func TestReplayWithoutArrivals(t *testing.T) {
	p, loop, load := pipelineLoops()
	as, err := try(t, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	same, err := try(t, p, &WhatIf{Streams: new(Streams)})
	if err != nil {
		t.Fatal(err)
	}
	if same.Cycles != as.Cycles {
		t.Errorf("%d cycles, %d repeated", as.Cycles, same.Cycles)
	}
	for _, c := range []struct {
		streams Streams
		want    string
	}{
		{Streams{Cut: &Cut{Loop: loop, Every: 2}}, "of 32 arrivals"},
		{Streams{Tile: []LoopLoads{{Loads: []InstAt{load}, Rounds: 1, Index: 1}}}, "wait for each other"}, // at barriers until the other warp ends
		{Streams{Transpose: &Transpose{Loops: []Loop{loop}, Width: 4}}, "for its block"},
		{Streams{Merge: []stream.Merge{{Factor: 2}}}, "for its block"},
	} {
		if _, err := try(t, p, &WhatIf{Streams: &c.streams}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
}
