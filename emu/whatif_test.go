package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// whatIfProgram loads words 512 bytes apart, and some from shared memory whose banks conflict, converts and adds them in a loop.
func whatIfProgram() *timedProgram {
	words := make([]uint32, 32*128+64)
	for i := range words {
		words[i] = uint32(i)
	}
	return &timedProgram{threads: 128, shared: 16384, buffers: [][]uint32{words}, text: `
		[B------:R-:W0:-:S01] S2R R0, SR_TID.X
		[B------:R-:W-:-:S04] MOV R1, 0x8
		[B0-----:R-:W-:-:S04] LOP3.LUT R0, R0, 0x1f, RZ, 0xc0, !PT
		[B------:R-:W-:-:S06] IMAD R2, R0, 0x200, RZ
		[B------:R-:W-:-:S06] IADD3 R4, P0, R2, c[0x0][0x160], RZ
		[B------:R-:W-:-:S06] IADD3.X R5, RZ, c[0x0][0x164], RZ, P0, !PT
		loop:
		[B------:R-:W1:-:S02] LDG.E.SYS R6, [R4]
		[B------:R-:W2:-:S02] LDS R7, [R2]
		[B-12---:R-:W3:-:S02] I2F R8, R7
		[B---3--:R-:W-:-:S04] FADD R9, R8, R6
		[B------:R-:W-:-:S05] BAR.SYNC 0x0
		[B------:R-:W-:-:S04] IADD3 R4, R4, 0x20, RZ
		[B------:R-:W-:-:S04] IADD3 R1, R1, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P1, PT, R1, RZ, PT
		[B------:R-:W-:-:S05] @P1 BRA loop
		[B------:R-:W-:-:S05] EXIT`}
}

// TestWhatIf holds that each supposition makes the launch faster, and by which cause.
func TestWhatIf(t *testing.T) {
	const ldg, lds, i2f, bar = 6, 7, 8, 10
	at := func(inst int) InstAt { return InstAt{PC: uint64(inst * sass.InstSize)} }
	suppose := func(inst int, s Supposition) *WhatIf {
		return &WhatIf{Suppositions: map[InstAt]Supposition{at(inst): s}}
	}
	noLoad := suppose(ldg, Gone) // nothing hides shared memory then
	for _, c := range []struct {
		name  string
		base  *WhatIf
		what  *WhatIf
		least float64
	}{
		{"load is gone", nil, suppose(ldg, Gone), 1.3},
		{"load is coalesced", nil, suppose(ldg, Coalesced), 1.08},
		{"load finds its value in the constant cache", nil, suppose(ldg, Constant), 1.3},
		{"load is shared by rounds", nil, &WhatIf{Rounds: map[InstAt]float64{at(ldg): 4}}, 1.2},
		{"no bank conflicts", noLoad, &WhatIf{Suppositions: map[InstAt]Supposition{at(ldg): Gone, at(lds): ConflictFree}}, 1.1},
		{"conversion is cheap", nil, suppose(i2f, Cheap), 1.01},
		{"barrier is gone", nil, suppose(bar, Gone), 1.01},
		{"load is packed, of full warps", suppose(ldg, Packed), nil, .999},
		{"everything is fetched", nil, &WhatIf{PerfectFetch: true}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := float64(whatIfCycles(t, c.base)) / float64(whatIfCycles(t, c.what)); got < c.least {
				t.Errorf("speedup %.3f, want at least %g", got, c.least)
			}
		})
	}
}

// TestWhatIfNothing holds that suppositions that change nothing take the same cycles.
func TestWhatIfNothing(t *testing.T) {
	base := whatIfCycles(t, nil)
	if got := whatIfCycles(t, &WhatIf{}); got != base {
		t.Errorf("%d cycles instead of %d", got, base)
	}
}

// TestWhatIfUnplaced holds that code that never runs separates what runs no longer: fewer lines are fetched, but not none.
func TestWhatIfUnplaced(t *testing.T) {
	const parts, between = 12, 40
	var text strings.Builder
	unplaced, at := &WhatIf{Suppositions: map[InstAt]Supposition{}}, 0
	for part := range parts {
		fmt.Fprintf(&text, "[B------:R-:W-:-:S05] BRA part%c\n", 'a'+part)
		at++
		for range between {
			text.WriteString("[B------:R-:W-:-:S01] NOP\n")
			unplaced.Suppositions[InstAt{PC: uint64(at * sass.InstSize)}] = Unplaced
			at++
		}
		fmt.Fprintf(&text, "part%c:\n[B------:R-:W-:-:S04] IADD3 R4, R4, 0x20, RZ\n", 'a'+part)
		at++
	}
	text.WriteString("[B------:R-:W-:-:S05] EXIT")
	cycles := func(w *WhatIf) int64 {
		p := &timedProgram{threads: 128, text: text.String()}
		m, l, _ := p.start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = w
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	apart, together, fetched := cycles(nil), cycles(unplaced), cycles(&WhatIf{PerfectFetch: true})
	if together > apart*3/4 || fetched >= together {
		t.Errorf("%d cycles with the code between, %d without its place, %d where all is fetched", apart, together, fetched)
	}
}

// TestWhatIfUnknown holds that an instruction that does not exist is an error.
func TestWhatIfUnknown(t *testing.T) {
	for _, at := range []InstAt{{Code: 1}, {Code: -1}, {PC: 8}, {PC: 1 << 20}} {
		m, l, _ := whatIfProgram().start(t, testModel(t), Options{Timing: TimingFull})
		l.WhatIf = &WhatIf{Suppositions: map[InstAt]Supposition{at: Gone}}
		if _, err := m.Launch(context.Background(), l); err == nil {
			t.Errorf("%+v was accepted", at)
		}
	}
}

// TestWhatIfGone holds that the more instructions are gone, the shorter the launch is, and that it ends.
func TestWhatIfGone(t *testing.T) {
	order := rand.New(rand.NewPCG(1, 2)).Perm(14)
	w := &WhatIf{Suppositions: map[InstAt]Supposition{}}
	before := whatIfCycles(t, w)
	for _, i := range order {
		w.Suppositions[InstAt{PC: uint64(i * sass.InstSize)}] = Gone
		const noise = 40 // cycles: another order of the warps
		now := whatIfCycles(t, w)
		if now > before+noise {
			t.Errorf("without instruction %d %d cycles, with it %d", i, now, before)
		}
		before = now
	}
}

// TestWhatIfResident holds that with fewer blocks on an SM a launch takes longer, and that a number that fits changes nothing.
func TestWhatIfResident(t *testing.T) {
	cycles := func(resident int) int64 {
		m, l, _ := whatIfProgram().start(t, testModel(t), Options{Timing: TimingFull, MaxInstructions: 1 << 22})
		l.Grid[0] = 4 * m.gpu.SMs.Int()
		l.WhatIf = &WhatIf{Resident: resident}
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Cycles
	}
	if one, fits := cycles(1), cycles(0); one < fits*3/2 {
		t.Errorf("%d cycles with a block at a time, %d with those that fit", one, fits)
	}
	if many, fits := cycles(1000), cycles(0); many > fits {
		t.Errorf("%d cycles with as many as there are, %d with those that fit", many, fits)
	}
}

func whatIfCycles(t *testing.T, w *WhatIf) int64 {
	t.Helper()
	m, l, _ := whatIfProgram().start(t, testModel(t), Options{Timing: TimingFull, MaxInstructions: 1 << 20})
	l.WhatIf = w
	r, err := m.Launch(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r.Cycles
}
