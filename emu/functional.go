package emu

import (
	"context"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// Without timing, blocks run one after another, and the warps of a block in turns. A block that makes no headway may
// wait for a later one: then that begins too, as far as the GPU has places for it.

const (
	turn     = 256     // instructions that a warp executes before another one gets its turn
	quiet    = 64      // rounds without a change after which the blocks may wait for another one although they do not repeat themselves
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

	watching bool // for warps that repeat themselves
	ready    bool // there is a focus
	watch    watch
	awake    int   // warps that had a turn in the round and do not repeat themselves, as far as is known
	sleepers int   // warps that wait for the clock
	leap     int64 // cycles by which the clock moves next where all wait for it
	slept    int64 // cycles of the longest NANOSLEEP of the round
}

// runFunctional runs the launch without timing.
func (r *launchRun) runFunctional(ctx context.Context) error {
	if r.launch.Tracer != nil {
		r.launch.Tracer.Begin(&r.facts)
	}
	return r.execute(ctx, 0, r.blocks)
}

// execute runs the blocks from next to end without timing.
func (r *launchRun) execute(ctx context.Context, next, end int) error {
	f := functionalRun{launchRun: r, next: next, end: end}
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
		if err := f.machine.room.look(); err != nil {
			return err
		}
		if err := f.round(ctx, round); err != nil {
			return err
		}
	}
}

// wantsBlock says whether the next block is to begin.
func (f *functionalRun) wantsBlock(round int64) bool {
	if !f.room() {
		return false
	}
	return len(f.running) == 0 || round-max(f.began, f.changed) > quiet || round-f.began > patience
}

// room reports whether another block, or the blocks of another cluster, can begin.
func (f *functionalRun) room() bool {
	return f.next < f.end && len(f.running)+f.launch.clusterBlocks() <= f.resident
}

// begin begins a block, or the blocks of a cluster.
func (f *functionalRun) begin(round int64) {
	first := len(f.running)
	for range f.launch.clusterBlocks() {
		b := f.newBlock(f.clusterNumber(f.turnOf(f.next)))
		b.sm = f.next % f.machine.gpu.SMs.Int()
		if b.tape = nil; f.tape != nil {
			b.tape, b.sm = f.tape.begin(b), f.tape.sm
		}
		f.running = append(f.running, b)
		f.next++
	}
	f.join(slices.Clone(f.running[first:]))
	if f.launch.Tracer != nil {
		for _, b := range f.running[first:] {
			f.launch.Tracer.BeginBlock(b.number, len(b.shared))
		}
	}
	f.began = round
	f.watching = false
}

// turnOf is the block whose turn to begin comes as the i-th.
func (f *functionalRun) turnOf(i int) int {
	if !f.launch.Backwards {
		return i
	}
	size := f.launch.clusterBlocks()
	return (f.blocks/size-1-i/size)*size + i%size
}

// round gives each warp of each block its turn.
func (f *functionalRun) round(ctx context.Context, round int64) error {
	before := f.changes
	f.awake, f.sleepers, f.slept = 0, 0, 0
	f.observe(round)
	kept := f.running[:0]
	for _, b := range f.running {
		if err := f.turns(ctx, b); err != nil {
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
	f.launchRun.slept += f.slept
	f.machine.progress.instructions.Add(f.left - f.domain.budget)
	f.left = f.domain.budget
	if f.changes != before {
		f.changed, f.leap = round, 0
	} else if f.awake == 0 && len(f.running) > 0 {
		return f.stuck(round)
	}
	if len(f.running) > 0 && f.repeats() && !f.crowd(round) {
		return f.livelock(leavesMemory)
	}
	return nil
}

// quietRounds is the number of rounds without a change after which warps may repeat themselves.
const quietRounds = 2

// observe begins or ends to watch warps, and makes the focus.
func (f *functionalRun) observe(round int64) {
	if round-f.changed < quietRounds {
		f.watching, f.ready, f.domain.visited = false, false, nil
		return
	}
	if !f.watching {
		f.watching = true
		f.watch.begin(len(f.program.ops))
		f.domain.visited, f.domain.fresh = f.watch.visited, 0
	}
	f.ready = f.watch.ready(f.program, f.domain.fresh)
}

// turns gives each warp of a block its turn, but for those that repeat themselves and would change nothing.
func (f *functionalRun) turns(ctx context.Context, b *block) error {
	progress := false
	for i := range b.warps {
		w := b.warps[i]
		if f.launch.Backwards {
			w = b.warps[len(b.warps)-1-i]
		}
		if w.status != warpRunning {
			continue
		}
		progress = true
		if !w.asleep() {
			if err := f.turn(ctx, w); err != nil {
				return err
			}
		}
		if w.loop.timed {
			f.sleepers++
		}
	}
	if progress || b.done() || b.others() {
		return nil
	}
	f.awake++
	return b.unblock()
}

// turn gives a warp its turn.
func (f *functionalRun) turn(ctx context.Context, w *warp) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.turn(); err != nil {
		return err
	}
	f.slept = max(f.slept, w.sleeps)
	if f.ready && w.status == warpRunning && f.domain.fresh == f.watch.known {
		w.loop.watch(w, f.watch.focus, f.domain.changes)
	}
	if !w.asleep() || w.status != warpRunning {
		f.awake++
	}
	return nil
}

// turn executes some instructions of the warp, up to one that makes it sleep.
func (w *warp) turn() error {
	w.sleeps = 0
	step := (*warp).step
	switch l := w.block.run.launch; {
	case w.plain():
		return w.run(turn)
	case l.Tracer != nil:
		step = (*warp).trace
	case l.touches != nil:
		step = (*warp).stepTouching
	case l.Recorder != nil:
		step = (*warp).stepRecorded
	}
	if w.block.tape != nil {
		step = (*warp).keep
	}
	if j := w.block.domain.journal; j != nil {
		return j.turn(w, step)
	}
	for n := 0; n < turn && w.status == warpRunning && w.sleeps == 0 && !w.lets(w.next()); n++ {
		if err := step(w); err != nil {
			return err
		}
	}
	return nil
}

// lets reports whether a warp lets the others of its block have their turn before an instruction: before its first store that they may see.
// Warps that begin together have read what they read first before one of them has computed something from it, and programs
// whose threads write to one place what each has made of its contents count on that, knowing or not. And before it goes on behind products of its
// warpgroup that others have yet to issue. Who traces a launch learns more
// from warps that end before others have begun: package check finds barriers that some threads do not come to by that.
func (w *warp) lets(o *op) bool {
	if o.gathers {
		return w.ahead(o)
	}
	if w.shown || !o.shows || w.block.run.launch.Tracer != nil {
		return false
	}
	w.shown = true
	return true
}

// plain reports whether nobody wants to know of the warp's instructions, but for what they store.
func (w *warp) plain() bool {
	b := w.block
	l := b.run.launch
	return l.Tracer == nil && l.touches == nil && b.recorder == nil && b.tape == nil && b.domain.journal == nil && w.events == nil
}

// run executes up to n instructions of a warp that is plain, as step does, and tells the recorder of stores.
func (w *warp) run(n int) error {
	d, ops, recorded := w.block.domain, w.block.run.program.ops, w.block.run.launch.Recorder != nil
	counters := d.tally.ops[:len(ops)]
	for ; n > 0 && w.status == warpRunning && w.sleeps == 0; n-- {
		o := &ops[w.pc]
		if w.lets(o) {
			return nil
		}
		mask := w.active
		if o.guard != sass.PT || o.guardNot {
			g := w.preds[o.guard]
			if o.guardNot {
				g = ^g
			}
			mask &= g
		}
		w.acc.kind, w.mask = accessNone, mask
		if d.budget == 0 {
			return w.exhausted(o)
		}
		d.budget--
		d.visit(w.pc)
		c := &counters[w.pc]
		c.executions++
		c.threads += int64(bits.OnesCount32(mask))
		w.pc++
		if err := o.run(w, o); err != nil {
			return err
		}
		if recorded && w.acc.kind >= accessStore && w.acc.mask != 0 {
			w.recordStore(o)
		}
	}
	return nil
}

// stuck is called when all running warps repeat themselves. They may wait for blocks that have not begun: as many more begin
// as there are, so that all have after a few times. Else they may wait for the clock, which moves twice as far each time.
// Else the launch is in a livelock.
func (f *functionalRun) stuck(round int64) error {
	if f.crowd(round) {
		return nil
	}
	if f.sleepers > 0 {
		f.leap = min(2*f.leap+f.leap/4+turn, maxLeap)
		f.launchRun.slept += f.leap
		f.wake()
		return nil
	}
	return f.livelock(nothingChanges)
}

// crowd begins as many blocks more as there are, and reports whether any had a place.
func (f *functionalRun) crowd(round int64) bool {
	if !f.room() {
		return false
	}
	for n := len(f.running); n > 0 && f.room(); n-- {
		f.begin(round)
	}
	return true
}

// livelock is the fault of the launch, at the first warp that runs.
func (f *functionalRun) livelock(how string) error {
	for _, b := range f.running {
		for _, w := range b.warps {
			if w.status == warpRunning {
				return w.livelock(how, f.blocks-f.next)
			}
		}
	}
	return nil
}

// maxLeap keeps the clock from overflowing: it moves so far at most 2^20 times.
const maxLeap = 1 << 42

// wake gives those that wait for the clock another turn.
func (f *functionalRun) wake() {
	for _, b := range f.running {
		for _, w := range b.warps {
			if w.loop.timed {
				w.loop = loop{}
			}
		}
	}
}
