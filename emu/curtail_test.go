package emu

import (
	"context"
	"testing"
)

// TestCurtailed holds that a launch of which a part is timed leaves memory and executions as it does whole, comes near its cycles, and is the same
// for any number of workers; and that one which ends before its share is used up is timed whole.
func TestCurtailed(t *testing.T) {
	for _, blocks := range []int{2000, 2010, 4000} {
		whole := streamed(t, blocks, 32, 1, Extrapolation{Off: true}, false)
		weight := whole.weight()
		whole.holdPart(t, Extrapolation{Most: weight / 2}, 3*blocks/4, Extrapolation{Most: 2 * weight}, Extrapolation{Most: weight / 2, Off: true})
	}
}

// TestDispensable holds that of a launch whose memory nobody wants some blocks are executed, and tell what all execute; and that one which is executed
// fast leaves memory as always.
func TestDispensable(t *testing.T) {
	run := func(dispensable bool, most int64) streamedRun {
		return streamed(t, 8000, 4, 0, Extrapolation{Most: most}, dispensable)
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

// TestCurtailedMemory holds that a launch is timed whole whose memory others know by its place: it had to be copied for each launch, and what they
// write meanwhile would be lost.
func TestCurtailedMemory(t *testing.T) {
	const blocks, threads = 2000, 256
	p := timedProgram{text: wordStream, blocks: blocks, threads: threads, buffers: [][]uint32{words(blocks * threads), make([]uint32, blocks*threads)}}
	for _, others := range []bool{false, true} {
		model := *testModel(t)
		model.SMs.Value = 4
		m, l, _ := p.start(t, &model, Options{Timing: TimingFull, Extrapolation: Extrapolation{Most: 1 << 16}})
		m.memory.others = m.memory.others || others
		r, err := m.Launch(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		if whole := r.TimedBlocks == 0; whole != others {
			t.Errorf("others know the memory: %v, timed whole: %v", others, whole)
		}
	}
}
