package emu

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/stream"
)

// A tape runs the blocks of a launch one by one, or the clusters, without timing and keeps what their warps execute. It has counts and a limit of
// its own.
type tape struct {
	run    *launchRun // the launch as it is
	ctx    context.Context
	values bool // what instructions compute is kept too
	pool   stream.Pool

	done     []bool // blocks that have been executed
	executed int64  // warp instructions
	sm       int    // that the block is for

	blocks   []*blockTape          // that are executed, in the order in which they began
	clusters map[int]int           // by block: the place of the first block of its cluster in their order; nil where there are no clusters
	pending  map[int]*stream.Block // executed with others of their cluster, and not asked for yet

	works    *stream.Works // nil where the launch is to be one with another
	barriers map[told]*phaseCount
	barrier  int32 // the last one of those
	repeated int64 // instructions that warps executed while they asked in vain, which are in no stream

	stepping *warp // that executes
	arrives  int32 // gate at which it has arrived, -1 for none
	waits    int32 // gate at which it would have waited had it not been the last to arrive
	arrivals []stream.Arrival
}

// A blockTape keeps what the warps of a block execute.
type blockTape struct {
	*tape
	number    int
	block     *stream.Block
	open      [NumBarriers]int32 // gates that have been arrived at and are not open, -1 for none
	cluster   []int32            // by warp: the gate of the cluster's barrier at which it arrived last
	met       int32              // gates of the cluster's barrier
	questions []question         // by warp
}

// mostEvents is how many events of blocks that have a place the tape keeps, about a gigabyte of them.
const mostEvents = 1 << 26

// newTape prepares a launch to be recorded beside the one that is timed.
func newTape(ctx context.Context, r *launchRun, values bool) *tape {
	own := *r
	own.allow(r.machine.options.MaxInstructions)
	own.ended, own.states, own.timed = nil, nil, nil
	c := &tape{run: &own, ctx: ctx, values: values, barriers: make(map[told]*phaseCount), pending: make(map[int]*stream.Block),
		done: make([]bool, r.launch.Grid[0]*r.launch.Grid[1]*r.launch.Grid[2])}
	if size := r.launch.clusterBlocks(); size > 1 {
		c.clusters = make(map[int]int)
		for n := range c.done {
			c.clusters[r.clusterNumber(n)] = n / size * size
		}
	}
	return c
}

// Block executes a block to its end, with those of its cluster. A block that waits for another one cannot be recorded.
func (c *tape) Block(n int) (*stream.Block, error) {
	if b := c.pending[n]; b != nil {
		delete(c.pending, n)
		return b, nil
	}
	r, first, blocks := c.run, n, 1
	if c.clusters != nil {
		first, blocks = c.clusters[n], r.launch.clusterBlocks()
	}
	c.blocks = c.blocks[:0]
	clear(c.barriers)
	if c.works != nil {
		c.works.Begin()
	}
	before, repeated := r.domain.budget, c.repeated
	f := functionalRun{launchRun: r, next: first, end: first + blocks, tape: c}
	err := f.run(c.ctx)
	c.executed += before - r.domain.budget - (c.repeated - repeated)
	var fault *Fault
	switch {
	case errors.As(err, &fault) && fault.Kind == Livelock:
		return nil, fmt.Errorf("block %d waits for another one, so that its instructions cannot be recorded: %w", n, err)
	case err != nil:
		return nil, fmt.Errorf("recording block %d: %w", n, err)
	}
	for _, b := range c.blocks {
		c.done[b.number] = true
		b.block.Close()
		c.pending[b.number] = b.block
	}
	b := c.pending[n]
	delete(c.pending, n)
	if b == nil {
		return nil, fmt.Errorf("block %d was not recorded", n)
	}
	return b, nil
}

// begin makes what keeps a block.
func (c *tape) begin(b *block) *blockTape {
	t := &blockTape{tape: c, number: b.number, block: c.pool.Block(len(b.warps)), cluster: make([]int32, len(b.warps)), questions: make([]question, len(b.warps))}
	for i := range t.open {
		t.open[i] = -1
	}
	for i := range t.cluster {
		t.cluster[i] = -1
	}
	c.blocks = append(c.blocks, t)
	return t
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
	c.stepping, c.arrives, c.waits, c.arrivals = w, -1, -1, c.arrivals[:0]
	w.asked, w.bulk.lines, w.tensor = asked{}, w.bulk.lines[:0], tensorWork{}
	before := w.possession()
	if err := w.step(); err != nil {
		return err
	}
	s := &c.block.Warps[w.id]
	if c.leftOut(w, o) {
		c.stepping, w.cost = nil, 0
		return nil
	}
	if len(s.Events) >= mostEvents {
		return fmt.Errorf("a warp executes over %d instructions, more than can be kept", mostEvents)
	}
	e := stream.Event{Op: o.index, Ref: -1, Lanes: c.block.LanesOf(stream.Lanes{Active: active, Mask: w.mask, Cost: int32(w.cost)})}
	w.cost = 0
	if o.inst.Op == sass.UCGABAR_WAIT && c.waits < 0 {
		c.waits = c.cluster[w.id]
	}
	if work, ok := c.work(w, o, before); ok {
		if c.works == nil {
			return fmt.Errorf("%s at pc %#x: %w", o.inst.Op, o.inst.PC, errAsynchronous)
		}
		e.Kind = stream.RefWork
		var err error
		if e.Ref, err = c.works.Add(work); err != nil {
			return err
		}
	} else if a := &w.acc; a.kind != accessNone || o.t.path == pathConst {
		e.Kind, e.Ref = stream.RefAccess, c.access(w, a)
	}
	if c.arrives >= 0 || c.waits >= 0 {
		e.Kind, e.Ref = stream.RefSync, c.block.AddSync(stream.Sync{Arrives: c.arrives, Waits: c.waits})
	}
	c.stepping = nil
	if o.asks && !c.ask(w, o, &e, active, w.failed(o, before)) {
		return nil
	}
	s.Events = append(s.Events, e)
	if c.values {
		s.Values = append(s.Values, w.value(o))
	}
	return nil
}

// access keeps an access. Those to local memory are kept as offsets in that of the warp.
func (c *blockTape) access(w *warp, a *access) int32 {
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
func (c *blockTape) arrived(w *warp, barrier, count int) {
	if c.open[barrier] < 0 {
		c.open[barrier] = int32(len(c.block.Gates))
		g := stream.Gate{All: count == 0}
		if barrier == clusterBarrier && w.block.cluster != nil {
			c.met++
			g.Cluster = c.met
		}
		c.block.Gates = append(c.block.Gates, g)
	}
	c.arrives = c.open[barrier]
	if barrier == clusterBarrier {
		c.cluster[w.id] = c.arrives
	}
}

// resumed takes note that a warp that no group of could run goes on as a barrier opens.
func (c *blockTape) resumed(w *warp, barrier int) {
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
func (c *blockTape) opened(barrier int) { c.open[barrier] = -1 }
