package emu

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/reconv"
)

// A block is a thread block (CTA) that is running.
type block struct {
	run    *launchRun
	domain *domain
	number int    // linear index in the grid
	index  [3]int // blockIdx
	sm     int    // that it is on, for %smid
	warps  []*warp
	shared []byte
	live   int // threads that have not exited

	registers []lanes // of all warps
	tensor    *tensorMemory

	tape   *blockTape // that keeps what the warps execute, nil for none
	replay *replayed  // of a block that is not executed

	barriers     [NumBarriers]ctaBarrier
	clusterPhase uint32         // of the cluster's barrier, the same bit for all lanes
	cluster      *cluster       // nil for one of its own
	rank         int            // in it
	resident     *residentBlock // with timing

	pool     int           // registers of a thread of a warp that warps have given back
	recorder BlockRecorder // nil for nobody
	step     Step          // for it
}

// A ctaBarrier counts the threads that have arrived.
type ctaBarrier struct {
	threads int // that have arrived
	padded  int // the same, where the lanes that a partial last warp lacks count too
	count   int // threads that it waits for, in whole warps; 0 for all of the block
	red     uint16
	reduces bool
	total   int // threads whose predicate was true
}

// newBlock returns a block with its warps at the kernel's entry. Its storage is that of a block that has ended, if there
// is one: see recycle.
func (r *launchRun) newBlock(number int) *block {
	var b *block
	if last := len(r.ended) - 1; last >= 0 {
		b, r.ended = r.ended[last], r.ended[:last]
		clear(b.shared)
		clear(b.registers)
	} else {
		b = r.allocate()
		r.own(b)
	}
	b.restart(number, &r.domain)
	return b
}

// own takes note of the storage of a block.
func (r *launchRun) own(b *block) {
	for _, w := range b.warps {
		r.states = append(r.states, w.state)
	}
}

// restart makes a block whose memory is zero the one of a number, with its warps at the kernel's entry.
func (b *block) restart(number int, d *domain) {
	grid, size := b.run.launch.Grid, b.run.launch.Block
	b.number, b.live = number, size[0]*size[1]*size[2]
	b.index = [3]int{number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])}
	b.pool = 0
	b.barriers, b.clusterPhase, b.cluster, b.rank = [NumBarriers]ctaBarrier{}, 0, nil, 0
	if r := b.run.launch.Recorder; r != nil {
		b.recorder = r.Block(number, len(b.shared))
	}
	for _, w := range b.warps {
		w.restart()
	}
	b.enter(d)
}

// enter makes the block part of a domain.
func (b *block) enter(d *domain) {
	b.domain = d
	for _, w := range b.warps {
		w.scratch = d.scratch
	}
}

// recycle gives the storage of a block that has ended to one that is to begin, those of a cluster together.
func (r *launchRun) recycle(b *block) {
	r.machine.progress.ended.Add(1)
	if b.tensor != nil {
		b.tensor.release()
		b.tensor = nil
	}
	if b.cluster == nil {
		r.ended = append(r.ended, b)
	} else if b.cluster.left--; b.cluster.left == 0 {
		r.ended = append(r.ended, b.cluster.blocks...)
	}
}

// allocate makes a block's storage.
func (r *launchRun) allocate() *block {
	threads := r.launch.Block[0] * r.launch.Block[1] * r.launch.Block[2]
	rows, n := r.program.rows(), len(r.threads)
	b := &block{run: r, shared: make([]byte, r.sharedBytes), registers: make([]lanes, n*rows), warps: make([]*warp, n)}
	warps := make([]warp, n)
	for i := range warps {
		w := &warps[i]
		w.block, w.id, w.exists = b, i, allLanes>>(32-min(32, threads-32*i))
		w.regs = b.registers[i*rows : (i+1)*rows]
		w.local.size = r.localBytes
		w.state = r.plan.New(r.entry, w.exists)
		b.warps[i] = w
	}
	return b
}

// restart puts a warp at the kernel's entry; its registers are zero already.
func (w *warp) restart() {
	w.preds = [16]uint32{sass.PT: allLanes}
	w.budget = arch.RoundUp(w.block.run.launch.Kernel.Registers, registerUnit)
	w.result, w.lost, w.clusterPhase, w.cost, w.loop, w.shown, w.groups = 0, 0, 0, 0, loop{}, false, 0
	w.local.clear()
	w.state.Reset(w.block.run.entry, w.exists)
	w.group()
}

// sharedDetail says how much shared memory there is, for messages.
func (b *block) sharedDetail() string {
	return fmt.Sprintf("in shared memory, of which the block has %d bytes", len(b.shared))
}

func (w *warp) localDetail() string {
	return fmt.Sprintf("in local memory, of which a thread has %d bytes (stack: in the launch file makes it more)", w.local.size)
}

// localBase is where the warp's local memory lies behind the caches. Without timing every warp has its own.
func (w *warp) localBase() uint64 {
	if w.local.base > 0 {
		return w.local.base
	}
	b := w.block
	return localBacking + uint64(b.number*len(b.warps)+w.id)*32*uint64(w.local.size)
}

// residentLocal gives the warp the local memory of a place for warps on an SM: there is as much as the threads that the GPU holds at a
// time need, and who comes to a place gets the memory of who has left it ("MAX_THREADS_PER_SM x SMs x LOCAL_MEM_PER_THREAD": NVIDIA in
// its developers' forum, Local memory management, 2024). The stack grows down from the end of what a thread has. The places lie a line
// further apart, so that lines which warps use at the same time are in all slices of L2: the hash of a GPU sees to that, ours does not
// where they are a power of two apart.
func (w *warp) residentLocal(place int) {
	r := w.block.run
	const line = 128
	unused := r.localBytes - r.localPlace
	w.local.base = localBacking + uint64(place)*(32*uint64(r.localPlace)+line) - 32*uint64(unused)
}

// localBacking is where the caches see local memory.
const localBacking = 0x7000_0000_0000

// first is the lowest lane that executes, for messages; of the group where none does.
func (w *warp) first() int {
	if w.mask == 0 {
		return bits.TrailingZeros32(w.active|1<<31) & 31
	}
	return bits.TrailingZeros32(w.mask)
}

// compileBAR resolves the number of the barrier, the threads that it is for and the predicate to reduce.
func compileBAR(p *program, o *op) (err error) {
	in := o.inst
	if o.mode = in.Mod(sass.BarMode); o.mode == sass.BarSCAN || o.mode == sass.BarSYNCALL {
		return unsupported(o)
	}
	if o.a, err = p.source(barOperand(in, 0), intValue); err != nil {
		return err
	}
	if o.b, err = p.source(barOperand(in, 1), intValue); err != nil {
		return err
	}
	if at := findOperand(in, sass.KindPred); at >= 0 {
		o.pp = predicateOf(&in.Operands[at])
	}
	o.run = bar
	return nil
}

// barOperand is the barrier or the thread count; absent ones are 0.
func barOperand(in *sass.Inst, i int) *sass.Operand {
	if i < len(in.Operands) {
		if k := in.Operands[i].Kind; k == sass.KindReg || k == sass.KindImm {
			return &in.Operands[i]
		}
	}
	return &sass.Operand{}
}

// bar arrives at a CTA barrier. Its number and the threads are operands of their own, or ptxas packs both into one register,
// which the text names twice: the number in bits 0 to 3, the threads in bits 16 to 27.
func bar(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	number := w.uniform(&o.a)
	count := int(w.uniform(&o.b))
	if o.a.value == nil {
		if count == 0 || o.b.value == nil {
			count = int(number >> 16 & 0xfff)
		}
		number &= 0xffff
	}
	if number > 15 {
		return w.fault(o, w.first(), InvalidBarrier, fmt.Sprintf("there is no barrier %d: their numbers are 0 to 15", number))
	}
	w.arrive(o, int(number), count)
	b := &w.block.barriers[number]
	b.count = count
	b.threads += bits.OnesCount32(w.mask)
	b.padded += w.arriving()
	if o.mode == sass.BarRED {
		b.reduces, b.red = true, o.inst.Mod(sass.BarRed)
		b.total += bits.OnesCount32(w.get(o.pp) & w.mask)
	}
	if o.mode != sass.BarARV {
		w.state.Hold(int(number), w.mask, o.index+1)
		w.group()
	}
	w.block.release(int(number))
	return nil
}

// arriving is the number of threads that an arrival counts for where whole warps are counted: with the warp's lowest
// live thread come the lanes that never existed.
func (w *warp) arriving() int {
	n := bits.OnesCount32(w.mask)
	if live := w.state.Live(); w.mask&live&-live != 0 {
		n += bits.OnesCount32(^w.exists)
	}
	return n
}

// complete reports whether all threads have arrived that the barrier waits for. Threads that have exited are not waited
// for where it is for all of the block.
func (c *ctaBarrier) complete(live int) bool {
	if c.count > 0 {
		return c.padded >= c.count
	}
	return c.threads > 0 && c.threads >= live
}

// release lets the warps at a barrier go on if all threads have arrived.
func (b *block) release(number int) {
	if b.barriers[number].complete(b.live) {
		b.open(number)
	}
}

// open lets the warps at a barrier go on.
func (b *block) open(number int) {
	bar := &b.barriers[number]
	b.domain.changes++
	if j := b.domain.journal; j != nil {
		j.covered++
	}
	if number == clusterBarrier {
		b.clusterPhase = ^b.clusterPhase
	}
	if t := b.run.launch.Tracer; t != nil {
		t.Release(b.number, number)
	}
	if b.recorder != nil {
		b.recorder.Release(number)
	}
	result := bar.result()
	for _, w := range b.warps {
		if !w.state.Resume(number) {
			continue
		}
		if bar.reduces {
			w.result = result
		}
		if w.status != warpRunning { // a group that runs keeps its pc
			w.group()
			if b.tape != nil {
				b.tape.resumed(w, number)
			}
		}
	}
	if b.tape != nil {
		b.tape.opened(number)
	}
	*bar = ctaBarrier{}
}

// result is what BAR.RED gives.
func (c *ctaBarrier) result() uint32 {
	holds := false
	switch c.red {
	case sass.BarPOPC:
		return uint32(c.total)
	case sass.BarAND:
		holds = c.total >= c.threads
	case sass.BarOR:
		holds = c.total > 0
	}
	if holds {
		return allLanes
	}
	return 0
}

// exited takes note of threads that have ended; a barrier may have waited for them only.
func (b *block) exited(threads int) {
	b.live -= threads
	b.domain.changes++
	for number := range b.barriers {
		if b.barriers[number].threads > 0 {
			b.release(number)
		}
	}
	if b.cluster != nil {
		b.cluster.exited(threads)
	}
}

// done reports whether all threads have exited.
func (b *block) done() bool { return b.live == 0 }

// unblock is called when no warp of the block can execute. Warps whose lanes wait for each other at a BSYNC go on; else
// the threads wait for ever, and the fault says where.
func (b *block) unblock() error {
	if b.replay != nil {
		return fmt.Errorf("the warps of block %d wait for each other after their streams were edited", b.number)
	}
	for _, w := range b.warps {
		if w.status != warpBarrier {
			continue
		}
		missing := b.missing(w)
		if w.state.Unblock() {
			if missing != nil {
				b.run.launch.Tracer.Fault(missing)
			}
			w.group()
			if w.status == warpRunning {
				return nil
			}
		}
	}
	return b.deadlock()
}

// missing is what a tracer is told of a warp whose lanes wait for a WARPSYNC that others would never come to if no BSYNC gave way; nil
// where there is nothing to tell.
func (b *block) missing(w *warp) *Fault {
	if b.run.launch.Tracer == nil || !slices.ContainsFunc(w.state.Waiting(), func(g reconv.Waiting) bool {
		return !g.Queued && w.waitsAt(&g).inst.Op == sass.WARPSYNC
	}) {
		return nil
	}
	var fault *Fault
	errors.As(b.deadlock(), &fault)
	return fault
}

// deadlock makes the fault of a block that waits for ever.
func (b *block) deadlock() error {
	var where []string
	var fault *Fault
	for _, other := range b.group() {
		for _, w := range other.warps {
			for _, g := range w.state.Waiting() {
				where = append(where, w.describeWaiting(&g))
				if fault == nil {
					o := w.waitsAt(&g)
					fault = w.fault(o, bits.TrailingZeros32(g.Lanes), BarrierDeadlock, "")
				}
			}
		}
	}
	if fault == nil {
		return fmt.Errorf("block %v has threads that neither run nor wait", b.index)
	}
	const most = 4
	if len(where) > most {
		where = append(where[:most], fmt.Sprintf("and %d more groups", len(where)-most))
	}
	whose := "block"
	if b.cluster != nil {
		whose = "cluster"
	}
	fault.Detail = fmt.Sprintf("under %s no thread of the %s can go on: %s", b.run.machine.options.Reconvergence.Name(), whose, strings.Join(where, "; "))
	return fault
}

// waitsAt is the instruction at which a group waits.
func (w *warp) waitsAt(g *reconv.Waiting) *op {
	if g.Queued {
		return &w.block.run.program.ops[g.PC]
	}
	return &w.block.run.program.ops[g.PC-1]
}

// describeWaiting says where a group waits and for whom.
func (w *warp) describeWaiting(g *reconv.Waiting) string {
	o := w.waitsAt(g)
	s := fmt.Sprintf("warp %d lanes %#08x", w.id, g.Lanes)
	if w.block.cluster != nil {
		s = fmt.Sprintf("block %v %s", w.block.index, s)
	}
	if g.Queued {
		s += " cannot run before them"
	} else {
		s += " wait at " + g.At
	}
	s += fmt.Sprintf(", pc %#x", o.inst.PC)
	if frames := w.block.run.machine.module.Codes[o.code].Frames(o.inst.PC); len(frames) > 0 && frames[0].Line > 0 {
		s += fmt.Sprintf(" (%s:%d)", frames[0].File, frames[0].Line)
	}
	if missing := g.Mask &^ g.Lanes; missing != 0 {
		s += fmt.Sprintf(", for lanes %#08x", missing)
	}
	return s
}
