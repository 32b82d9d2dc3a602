package emu

import (
	"bytes"
	"context"
	"math"
	"reflect"
	"slices"
	"testing"
)

// TestCurtailed holds that a launch of which a part is timed leaves memory and executions as it does whole, comes near its cycles, and is the same
// for any number of workers; and that one which ends before its share is used up is timed whole.
func TestCurtailed(t *testing.T) {
	const threads = 256
	for _, blocks := range []int{2000, 2010, 4000} {
		p := timedProgram{text: wordStream, blocks: blocks, threads: threads}
		n := blocks * threads
		p.buffers = [][]uint32{words(n), make([]uint32, n)}
		run := func(workers int, e Extrapolation) (*Result, []byte) {
			model := *testModel(t)
			model.SMs.Value = 32
			m, l, addrs := p.start(t, &model, Options{Timing: TimingFull, Workers: workers, Extrapolation: e})
			r, err := m.Launch(context.Background(), l)
			if err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 4*n)
			if err := m.Read(addrs[1], data); err != nil {
				t.Fatal(err)
			}
			return r, data
		}
		whole, want := run(1, Extrapolation{Off: true})
		weight := whole.weight()
		part, data := run(1, Extrapolation{Most: weight / 2})
		again, _ := run(3, Extrapolation{Most: weight / 2})
		if part.TimedBlocks == 0 || part.TimedBlocks > 3*blocks/4 {
			t.Errorf("%d of %d blocks were timed", part.TimedBlocks, blocks)
		}
		part.Facts.Model, again.Facts.Model = nil, nil
		part.Facts.Kernel, again.Facts.Kernel, part.Facts.Module, again.Facts.Module = nil, nil, nil, nil
		if !reflect.DeepEqual(part, again) {
			t.Error("three workers come to another result than one")
		}
		if !bytes.Equal(data, want) || part.WarpInstructions != whole.WarpInstructions ||
			!slices.EqualFunc(part.Counters, whole.Counters, func(a, b Counter) bool { return a.PC == b.PC && a.Executions == b.Executions }) {
			t.Error("other results or counters")
		}
		e := float64(part.Cycles)/float64(whole.Cycles) - 1
		t.Logf("%d blocks: %d cycles for %d, %+.2f %%, within %.2f %%", blocks, part.Cycles, whole.Cycles, 100*e, 100*part.ErrorBound)
		if math.Abs(e) > part.ErrorBound {
			t.Errorf("%d cycles for %d, the bound is %.2f %%", part.Cycles, whole.Cycles, 100*part.ErrorBound)
		}
		for _, x := range []Extrapolation{{Most: 2 * weight}, {Most: weight / 2, Off: true}} {
			if r, _ := run(1, x); r.TimedBlocks != 0 || r.Cycles != whole.Cycles {
				t.Errorf("%+v: %d blocks timed, %d cycles for %d", x, r.TimedBlocks, r.Cycles, whole.Cycles)
			}
		}
	}
}

// TestDispensable holds that of a launch whose memory nobody wants some blocks are executed, and tell what all execute; and that one which is executed
// fast leaves memory as always.
func TestDispensable(t *testing.T) {
	const blocks, threads = 8000, 256
	p := timedProgram{text: wordStream, blocks: blocks, threads: threads}
	n := blocks * threads
	p.buffers = [][]uint32{words(n), make([]uint32, n)}
	run := func(dispensable bool, most int64) *Result {
		model := *testModel(t)
		model.SMs.Value = 4
		m, l, _ := p.start(t, &model, Options{Timing: TimingFull, Extrapolation: Extrapolation{Most: most}})
		l.Dispensable = dispensable
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := run(false, 1<<17)
	if all.Partial || all.TimedBlocks == 0 {
		t.Fatalf("%d blocks timed", all.TimedBlocks)
	}
	part := run(true, 1<<17)
	if !part.Partial || part.WarpInstructions != all.WarpInstructions || part.Cycles != all.Cycles {
		t.Errorf("partial: %v, %d warp instructions for %d, %d cycles for %d", part.Partial, part.WarpInstructions, all.WarpInstructions, part.Cycles, all.Cycles)
	}
	if fast := run(true, all.WarpInstructions/2+1); fast.Partial {
		t.Error("not all of a launch was executed for which there is time")
	}
}
