package emu

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/stream"
)

// A tape runs the blocks of a launch one by one without timing and keeps what their warps execute. It has counts and a limit of
// its own.
type tape struct {
	run    *launchRun // the launch as it is
	ctx    context.Context
	values bool // what instructions compute is kept too
	pool   stream.Pool

	done     []bool // blocks that have been executed
	executed int64  // warp instructions

	sm      int // that the block is for
	block   *stream.Block
	open    [NumBarriers]int32 // gates that have been arrived at and are not open, -1 for none
	cluster []int32            // by warp: the gate of the cluster's barrier at which it arrived last

	stepping *warp // that executes
	arrives  int32 // gate at which it has arrived, -1 for none
	waits    int32 // gate at which it would have waited had it not been the last to arrive
}

// mostEvents is how many events of blocks that have a place the tape keeps, about a gigabyte of them.
const mostEvents = 1 << 26

// newTape prepares a launch to be recorded beside the one that is timed.
func newTape(ctx context.Context, r *launchRun, values bool) *tape {
	own := *r
	own.allow(r.machine.options.MaxInstructions)
	own.ended, own.states, own.timed = nil, nil, nil
	return &tape{run: &own, ctx: ctx, values: values, done: make([]bool, r.launch.Grid[0]*r.launch.Grid[1]*r.launch.Grid[2])}
}

// Block executes a block to its end. A block that waits for another one cannot be recorded.
func (c *tape) Block(n int) (*stream.Block, error) {
	r := c.run
	c.block = c.pool.Block(len(r.threads))
	c.cluster = make([]int32, len(r.threads))
	for i := range c.open {
		c.open[i] = -1
	}
	for i := range c.cluster {
		c.cluster[i] = -1
	}
	before := r.domain.budget
	f := functionalRun{launchRun: r, next: n, end: n + 1, tape: c}
	err := f.run(c.ctx)
	c.executed += before - r.domain.budget
	c.done[n] = true
	var fault *Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == Livelock:
		return nil, fmt.Errorf("block %d waits for another one, so that its instructions cannot be recorded: %w", n, err)
	case err != nil:
		return nil, fmt.Errorf("recording block %d: %w", n, err)
	}
	c.block.Close()
	b := c.block
	c.block = nil
	return b, nil
}

// A Tape is what the blocks of a launch have executed, for what-if runs of a launch behind it: see [Streams.Behind]. Its zero value is ready.
type Tape struct {
	blocks []*stream.Block
	shape  stream.Shape
	entry  int32
}

// Block returns the n-th block, once.
func (t *Tape) Block(n int) (*stream.Block, error) {
	if n >= len(t.blocks) || t.blocks[n] == nil {
		return nil, fmt.Errorf("block %d was not kept", n)
	}
	b := t.blocks[n]
	t.blocks[n] = nil
	return b, nil
}

// shape is the launch's as it is.
func (l *Launch) shape() stream.Shape {
	return stream.Shape{Grid: l.Grid, Threads: l.Block[0] * l.Block[1] * l.Block[2]}
}

// runTaped executes the blocks one after another and keeps what they execute.
func (r *launchRun) runTaped(ctx context.Context) error {
	if r.launch.Cooperative || r.launch.clusterBlocks() > 1 {
		return errors.New("blocks that wait for each other cannot be recorded one by one")
	}
	t, kept := newTape(ctx, r, true), 0
	r.launch.Tape.shape, r.launch.Tape.entry = r.launch.shape(), r.entry
	for n := range r.launch.blocks() {
		b, err := t.Block(n)
		if err != nil {
			return err
		}
		if kept += b.Events(); kept > mostEvents {
			return fmt.Errorf("the launch executes over %d instructions, more than can be kept", mostEvents)
		}
		b.Keep()
		r.launch.Tape.blocks = append(r.launch.Tape.blocks, b)
	}
	return nil
}

// keep executes one instruction and keeps it.
func (w *warp) keep() error {
	c, o, active := w.block.tape, w.next(), w.active
	if o.t.path == pathTransfer || o.t.path == pathTensor {
		return fmt.Errorf("%s at pc %#x: what transaction barriers count is not repeated by runs with an edited stream", o.inst.Op, o.inst.PC)
	}
	c.stepping, c.arrives, c.waits = w, -1, -1
	if err := w.step(); err != nil {
		return err
	}
	s := &c.block.Warps[w.id]
	if len(s.Events) >= mostEvents {
		return fmt.Errorf("a warp executes over %d instructions, more than can be kept", mostEvents)
	}
	e := stream.Event{Op: o.index, Ref: -1, Lanes: c.block.LanesOf(stream.Lanes{Active: active, Mask: w.mask, Cost: int32(w.cost)})}
	w.cost = 0
	if a := &w.acc; a.kind != accessNone || o.t.path == pathConst {
		e.Kind, e.Ref = stream.RefAccess, c.access(w, a)
	}
	if o.inst.Op == sass.UCGABAR_WAIT && c.waits < 0 {
		c.waits = c.cluster[w.id]
	}
	if c.arrives >= 0 || c.waits >= 0 {
		e.Kind, e.Ref = stream.RefSync, c.block.AddSync(stream.Sync{Arrives: c.arrives, Waits: c.waits})
	}
	s.Events = append(s.Events, e)
	if c.values {
		s.Values = append(s.Values, w.value(o))
	}
	c.stepping = nil
	return nil
}

// access keeps an access. Those to local memory are kept as offsets in that of the warp.
func (c *tape) access(w *warp, a *access) int32 {
	kept := stream.Access{Kind: uint8(a.kind), Space: uint8(a.space), Size: a.size}
	if a.kind == accessNone { // a load from a constant bank
		kept.Space = stream.Constant
	}
	if a.space != spaceLocal {
		return c.block.AddAccess(kept, a.mask, &a.addr)
	}
	offsets := a.addr
	for i := range offsets {
		offsets[i] -= w.localBase()
	}
	return c.block.AddAccess(kept, a.mask, &offsets)
}

// value summarises the first destination of what the warp has just executed.
func (w *warp) value(o *op) (v stream.Value) {
	if w.mask == 0 || !o.hasResult() {
		return v
	}
	row := &w.regs[o.dst]
	first := bits.TrailingZeros32(w.mask) & 31
	v.First = row[first]
	if rest := w.mask & (w.mask - 1); rest != 0 {
		second := bits.TrailingZeros32(rest)
		v.Stride = int32(row[second]-v.First) / int32(second-first)
	}
	const prime = 0x01000193
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d := row[i] - v.First
		v.Shape = (v.Shape ^ d) * prime
		if v.Stride != stream.NoStride && d != uint32(v.Stride)*uint32(i-first) {
			v.Stride = stream.NoStride
		}
	}
	return v
}

// hasResult reports whether the first destination is a register that somebody may read.
func (o *op) hasResult() bool {
	for i := range o.inst.Operands {
		if d := &o.inst.Operands[i]; d.Dest {
			return d.Kind == sass.KindReg && d.Reg != sass.RZ || d.Kind == sass.KindUReg && d.Reg != sass.URZ
		}
	}
	return false
}

// arrived takes note that the warp that executes arrives at a barrier, for all threads of the block or for a number of them.
func (c *tape) arrived(w *warp, barrier, count int) {
	if c.open[barrier] < 0 {
		c.open[barrier] = int32(len(c.block.Gates))
		c.block.Gates = append(c.block.Gates, stream.Gate{All: count == 0})
	}
	c.arrives = c.open[barrier]
	if barrier == clusterBarrier {
		c.cluster[w.id] = c.arrives
	}
}

// resumed takes note that a warp that no group of could run goes on as a barrier opens.
func (c *tape) resumed(w *warp, barrier int) {
	gate := c.open[barrier]
	events := c.block.Warps[w.id].Events
	switch {
	case w == c.stepping:
		c.waits = gate
	case len(events) > 0:
		e := &events[len(events)-1]
		if e.Kind != stream.RefSync {
			e.Kind, e.Ref = stream.RefSync, c.block.AddSync(stream.Sync{Arrives: -1})
		}
		c.block.Syncs[e.Ref].Waits = gate
	}
}

// opened takes note that a barrier has opened.
func (c *tape) opened(barrier int) { c.open[barrier] = -1 }
