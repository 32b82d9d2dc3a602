package emu

import "context"

// Without timing, blocks run one after another, and the warps of a block in turns. A block that makes no headway may
// wait for a later one: then that begins too, as far as the GPU has places for it.

const (
	turn     = 256     // instructions that a warp executes before another one gets its turn
	quiet    = 64      // rounds without a change after which the blocks may wait for another one
	patience = 1 << 12 // rounds after which they may wait for another one although they change memory
)

// A functionalRun is a launch that runs without timing.
type functionalRun struct {
	*launchRun
	running  []*block // that have begun and not ended, in their order
	next     int      // number of the next block
	resident int      // blocks that the GPU holds at a time
	began    int64    // round in which the last block began or ended
	changed  int64    // round in which memory last changed
	end      int      // number of the block at which to stop
	tape     *tape
}

// runFunctional runs the launch without timing.
func (r *launchRun) runFunctional(ctx context.Context) error {
	f := &functionalRun{launchRun: r, end: r.blocks}
	if r.launch.Tracer != nil {
		r.launch.Tracer.Begin(&r.facts)
	}
	return f.run(ctx)
}

// run runs the blocks from f.next on.
func (f *functionalRun) run(ctx context.Context) error {
	f.resident = f.facts.Occupancy.BlocksPerSM * f.machine.gpu.SMs.Int()
	for round := int64(0); ; round++ {
		if f.wantsBlock(round) {
			f.begin(round)
		}
		if len(f.running) == 0 {
			return nil
		}
		if round%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.machine.room.look(); err != nil {
			return err
		}
		if err := f.round(round); err != nil {
			return err
		}
	}
}

// wantsBlock says whether the next block is to begin.
func (f *functionalRun) wantsBlock(round int64) bool {
	if f.next == f.end || len(f.running) >= f.resident {
		return false
	}
	return len(f.running) == 0 || round-max(f.began, f.changed) > quiet || round-f.began > patience
}

func (f *functionalRun) begin(round int64) {
	b := f.newBlock(f.next)
	b.sm = f.next % f.machine.gpu.SMs.Int()
	if b.tape = f.tape; f.tape != nil {
		b.sm = f.tape.sm
	}
	f.running = append(f.running, b)
	if f.launch.Tracer != nil {
		f.launch.Tracer.BeginBlock(b.number, len(b.shared))
	}
	f.next++
	f.began = round
}

// round gives each warp of each block its turn.
func (f *functionalRun) round(round int64) error {
	before := f.changes
	kept := f.running[:0]
	for _, b := range f.running {
		if err := b.round(); err != nil {
			return err
		}
		if b.done() {
			f.began = round
			if f.launch.Tracer != nil {
				f.launch.Tracer.EndBlock(b.number)
			}
			f.recycle(b)
		} else {
			kept = append(kept, b)
		}
	}
	f.running, f.changes = kept, f.domain.changes
	f.machine.progress.instructions.Add(f.left - f.domain.budget)
	f.left = f.domain.budget
	if f.changes != before {
		f.changed = round
	} else if round-f.changed > quiet {
		return f.checkLivelock()
	}
	return nil
}

// round gives each warp of the block its turn.
func (b *block) round() error {
	progress, step := false, (*warp).step
	switch {
	case b.run.launch.Tracer != nil:
		step = (*warp).trace
	case b.run.launch.Recorder != nil:
		step = (*warp).stepRecorded
	}
	if b.tape != nil {
		step = (*warp).keep
	}
	for _, w := range b.warps {
		for n := 0; n < turn && w.status == warpRunning; n++ {
			if err := step(w); err != nil {
				return err
			}
			progress = true
		}
	}
	if progress || b.done() {
		return nil
	}
	return b.unblock()
}

// checkLivelock ends a launch in which nothing can change any more.
func (f *functionalRun) checkLivelock() error {
	if f.next < f.end && len(f.running) < f.resident {
		return nil
	}
	var s spinners
	for _, b := range f.running {
		for _, w := range b.warps {
			if w.status == warpRunning {
				s.watch(w)
			}
		}
	}
	return s.livelock(f.blocks - f.next)
}
