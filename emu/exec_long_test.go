package emu

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"gpa/cubin/sass"
)

func runLong(t *testing.T, text string, set func(w *warp)) *warp {
	t.Helper()
	in, err := sass.Parse(sass.SM120, 0, text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{bases: []int32{0, 1}, ops: make([]op, 2), registers: 32, uniforms: 16}
	for i := range p.banks {
		p.banks[i] = zeroBank
	}
	o := &op{inst: &in, guard: sass.PT, pd: sass.PT, pe: sass.PT, pp: predicate{reg: sass.PT}, pq: predicate{reg: sass.PT}}
	if err := compilers[in.Op](p, o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	p.place(o)
	w := &warp{regs: make([]lanes, p.rows()), mask: allLanes, scratch: &scratch{}}
	w.preds[sass.PT] = allLanes
	set(w)
	if err := o.run(w, o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return w
}

func setPair(w *warp, reg int, v uint64) {
	w.regs[reg], w.regs[reg+1] = *broadcast(uint32(v)), *broadcast(uint32(v >> 32))
}

func pairAt(w *warp, reg int) uint64 { return joined(w.regs[reg][5], w.regs[reg+1][5]) }

// longValues are numbers of all kinds, among them those next to each other at the ends.
func longValues(r *rand.Rand) uint64 {
	edges := []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 1}
	if n := r.IntN(2 * len(edges)); n < len(edges) {
		return edges[n]
	}
	return r.Uint64()
}

// TestLongIntegers compares the 64-bit forms of sm_120 with Go's arithmetic.
func TestLongIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 64))
	for range 500 {
		a, b, carry := longValues(r), longValues(r), r.IntN(2) == 1
		set := func(w *warp) {
			setPair(w, 2, a)
			setPair(w, 4, b)
			if carry {
				w.preds[3] = allLanes
			}
		}
		in := uint64(0)
		if carry {
			in = 1
		}
		sum, out := bits.Add64(a, b, 0)
		sumX, outX := bits.Add64(a, b, in)
		chosen := b
		if carry {
			chosen = a
		}
		for _, test := range []struct {
			text  string
			want  uint64
			carry int // out, in P1; -1 where there is none
		}{
			{"IADD.64 R8, R2, R4", sum, -1},
			{"IADD.64 R8, P1, R2, R4", sum, int(out)},
			{"IADD.64 R8, R2, -R4", a - b, -1},
			{"IADD.64 R8, R2, -0x5", a - 5, -1},
			{"IADD.64.X R8, P1, R2, R4, P3", sumX, int(outX)},
			{"MOV.64 R8, R4", b, -1},
			{"MOV.64 R8, 0xbfe8000000000001", 0xbfe8000000000001, -1},
			{"SEL.64 R8, R2, R4, P3", chosen, -1},
			{"SEL.64 R8, R2, -0x1, PT", a, -1},
			{"SEL.64 R8, R2, -0x1, !PT", ^uint64(0), -1},
		} {
			w := runLong(t, test.text, set)
			if got := pairAt(w, 8); got != test.want || test.carry >= 0 && w.preds[1]>>5&1 != uint32(test.carry) {
				t.Fatalf("%s of %#x and %#x: %#x, predicate %#x, want %#x, %d", test.text, a, b, got, w.preds[1], test.want, test.carry)
			}
		}
		compareLong(t, set, a, b)
	}
}

func compareLong(t *testing.T, set func(w *warp), a, b uint64) {
	t.Helper()
	for _, test := range []struct {
		text string
		want bool
	}{
		{"ISETP.LT.S64.AND P1, PT, R2, R4, PT", int64(a) < int64(b)},
		{"ISETP.GE.S64.AND P1, PT, R2, R4, PT", int64(a) >= int64(b)},
		{"ISETP.GT.U64.AND P1, PT, R2, R4, PT", a > b},
		{"ISETP.LE.U64.AND P1, PT, R2, R4, PT", a <= b},
		{"ISETP.EQ.S64.AND P1, PT, R2, R4, PT", a == b},
		{"ISETP.NE.U64.AND P1, PT, R2, 0x1, PT", a != 1},
		{"ISETP.GT.S64.AND P1, PT, R2, -0x1, PT", int64(a) > -1},
	} {
		if got := runLong(t, test.text, set).preds[1]>>5&1 != 0; got != test.want {
			t.Fatalf("%s of %#x and %#x: %v", test.text, a, b, got)
		}
	}
}
