package emu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpa/emu/reconv"
)

// A dice writes programs of random control flow: a kernel and functions of blocks with branches forwards and backwards,
// calls of later functions and of themselves, and exits. What a thread computes, in R9, tells the way that it has gone.
//
// R5 is the thread's random number, R6 the blocks that it may still execute before it goes forwards only, R1 its stack.
type dice struct {
	*rand.Rand
	text strings.Builder
}

// Programs have some functions, of some blocks each.
const (
	diceFunctions = 4
	diceBlocks    = 7
)

func (d *dice) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

// label names a block; the last one is behind the function's end. Names are of one length: none begins another one.
func label(function, block int) string { return fmt.Sprintf("F%02dB%02d", function, block) }

// program writes a program.
func (d *dice) program() *timedProgram {
	d.line("MOV R10, 0x4")
	d.line("S2R R0, SR_TID.X")
	d.line("IMAD.WIDE.U32 R2, R0, R10, c[0x0][0x160]")
	d.line("IMAD R5, R0, 0x9e3779b1, R10")
	d.line("MOV R6, 0x28")
	d.line("MOV R7, 0x1f")
	d.line("MOV R8, 0x19660d")
	d.line("MOV R1, 0x1000")
	d.line("MOV R21, RZ")
	p := &timedProgram{buffers: [][]uint32{make([]uint32, 64)}}
	for f := range diceFunctions {
		d.function(f)
		if f > 0 {
			p.functions = append(p.functions, label(f, 0)+"x")
		}
	}
	p.text = d.text.String()
	return p
}

func (d *dice) function(f int) {
	if f > 0 {
		d.line("%sx:", label(f, 0))
		d.line("IADD3 R1, R1, -0x10, RZ")
		d.line("STL [R1], R20")
	}
	for b := range diceBlocks {
		d.block(f, b)
	}
	d.line("%s:", label(f, diceBlocks))
	if f == 0 {
		d.line("STG.E.SYS [R2], R9")
		d.line("EXIT")
		return
	}
	d.line("LDL R20, [R1]")
	d.line("IADD3 R1, R1, 0x10, RZ")
	d.line("RET.REL.NODEC R20 0x0")
}

// block writes a block: it counts itself, perhaps calls or exits, and branches.
func (d *dice) block(f, b int) {
	d.line("%s:", label(f, b))
	d.line("IMAD R9, R9, R7, %#x", 1+f*diceBlocks+b)
	d.line("IADD3 R6, R6, -0x1, RZ")
	d.line("IMAD R5, R5, R8, 0x3c6ef35f")
	d.flip(d.IntN(2) == 0)
	switch d.IntN(6) {
	case 0:
		d.call(f, b)
	case 1:
		if b > 2 && d.IntN(3) == 0 {
			d.line("@P0 STG.E.SYS [R2], R9")
			d.line("@P0 EXIT")
		}
	}
	d.flip(false)
	switch to := d.IntN(diceBlocks + 1); {
	case to > b+1 && d.IntN(4) == 0:
		d.line("BRA %s", label(f, to))
	case to > b:
		d.line("@P0 BRA %s", label(f, to))
	default:
		d.line("ISETP.GT.AND P0, PT, R6, RZ, P0")
		d.line("@P0 BRA %s", label(f, to))
	}
}

// flip sets P0 by a bit of the random number; with often in three of four threads.
func (d *dice) flip(often bool) {
	bits := 1 << (16 + d.IntN(12))
	if often {
		bits |= bits << 1
	}
	d.line("LOP3.LUT R4, R5, %#x, RZ, 0xc0, !PT", bits)
	d.line("ISETP.NE.AND P0, PT, R4, RZ, PT")
}

// call writes a call of a later function, or of the function itself while there is fuel, by the threads with P0.
func (d *dice) call(f, b int) {
	callee := f + 1 + d.IntN(diceFunctions)
	if callee >= diceFunctions {
		if f == 0 {
			return
		}
		callee = f
		d.line("ISETP.GT.AND P0, PT, R6, RZ, P0")
	}
	behind := fmt.Sprintf("R%02dB%02d", f, b)
	d.line("@P0 MOV R20, %s", behind)
	d.line("@P0 CALL.REL.NOINC %sx", label(callee, 0))
	d.line("%s:", behind)
}

// TestRandomPrograms runs random programs under every model, with and without timing: threads compute the same, and no
// model comes below the MIMD bound. Where the functions are not known, so that the control-flow graph misses edges, that
// is true as well.
func TestRandomPrograms(t *testing.T) {
	calls := 0
	for seed := range uint64(60) {
		d := dice{Rand: rand.New(rand.NewPCG(seed, 3))}
		p := d.program()
		calls += strings.Count(p.text, "CALL")
		if seed%4 == 3 {
			p.functions = nil
		}
		var want []uint32
		bound := int64(0)
		models := reconv.Models()
		slices.Reverse(models) // the bound first
		for _, model := range models {
			got, r := runDice(t, p, Options{Reconvergence: model, MaxInstructions: 1 << 22})
			if want == nil {
				want, bound = got, r.Reconvergence.Bound
			}
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: %s leaves %v, mimd %v", seed, model.Name(), got, want)
			}
			if r.WarpInstructions < bound || bound == 0 {
				t.Errorf("seed %d: %s executes %d warp instructions, the bound is %d", seed, model.Name(), r.WarpInstructions, bound)
			}
		}
		model := models[seed%uint64(len(models))]
		if got, _ := runDice(t, p, Options{Reconvergence: model, MaxInstructions: 1 << 22, Timing: TimingFast}); !slices.Equal(got, want) {
			t.Errorf("seed %d: %s with timing leaves %v, want %v", seed, model.Name(), got, want)
		}
		if t.Failed() {
			t.Fatal(p.text)
		}
	}
	if calls == 0 {
		t.Error("no calls")
	}
}

// runDice runs a program with 40 threads and returns what they computed.
func runDice(t *testing.T, p *timedProgram, o Options) ([]uint32, *Result) {
	t.Helper()
	const threads = 40
	m, l, addrs := p.start(t, testModel(t), o)
	l.Block[0], l.Stack = threads, 0x1000
	r, err := m.Launch(context.Background(), l)
	if err != nil {
		t.Fatalf("%s: %v\n%s", o.Reconvergence.Name(), err, p.text)
	}
	return memoryWords(t, m, addrs[0], threads), r
}
