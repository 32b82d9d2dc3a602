package emu

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/mem"
	"gpa/emu/reconv"
	"gpa/emu/stream"
)

// A warp is the architectural state of 32 threads. Whoever drives it, with timing or without, needs this much:
//
//   - status says whether it can execute: running, at a CTA barrier, or done;
//   - next is the instruction that it executes next, for as long as it is running;
//   - step executes that instruction, all of its effects included;
//   - acc then tells what a memory instruction touched.
type warp struct {
	block  *block
	id     int // in its block
	status warpStatus

	regs  []lanes    // registers, uniform registers (one value in all lanes), sinks
	preds [16]uint32 // predicates, then uniform predicates: none of the lanes or all
	local localMemory
	state reconv.State

	pc     int32  // of the running group
	active uint32 // lanes of the running group
	mask   uint32 // of those, the lanes whose guard is true
	exists uint32 // lanes that there were at the start

	taken  uint32    // lanes that took the last branch
	parted bool      // those of the last indirect branch went different ways
	absent uint32    // lanes whose shuffle was to read from a lane that does not execute it
	from   [32]uint8 // of a shuffle: the lane that each lane reads from

	regrouped bool // the instruction has told the re-convergence state where control goes
	bulk      bulkCopy
	tensor    tensorWork
	asked     asked
	spans     []Span // of the last instruction, for the recorder
	told      []told // barriers of other blocks that the last instruction has arrived at, for timing
	cost      int64  // cycles that re-convergence has cost since the warp last issued

	*scratch

	result uint32 // of BAR.RED
	lost   uint32 // lanes whose stack has overflowed: they hold no return address and end

	budget       int    // registers of a thread, see setMaxRegisters
	clusterPhase uint32 // of each lane: the phase of the cluster's barrier in which it has arrived last
	now          int64  // cycle of the last issue, with timing
	loop         loop   // whether the warp repeats itself
	orbit        *orbit // the same where it writes, with timing
	sleeps       int64  // without timing: cycles of the NANOSLEEP that has ended its turn
	shown        bool   // without timing: the warp has come to a store, see lets
	groups       uint32 // of products of the warpgroup that it has closed

	// Of a block that is replayed: what the warp issues, the next of it, and the barrier that it waits at.
	events []stream.Event
	cursor int
	gate   int32
	asking bool         // for what the next event needs, which was not there
	awaits stream.Phase // the phase that it asks for
	round  []*op        // of that: what it issues up to the next question
}

// A scratch is what an instruction leaves while it is executed and timed. All that one worker executes shares one, as it
// takes turns.
type scratch struct {
	acc  access
	tmp  [3][2]lanes // modified operands
	wide [5]doubles  // operands and results as f64
	res  [4]lanes    // results to be stored in some lanes only
	mma  product

	snapshot []byte // of a re-convergence state

	coalescer mem.Coalescer
	banks     mem.Banks
	texels    texels
	lines     []mem.Line // of texels
}

// warpStatus says whether a warp can execute.
type warpStatus uint8

const (
	warpRunning warpStatus = iota
	warpBarrier            // waits at a CTA barrier
	warpDone
)

// allLanes is the mask of a whole warp.
const allLanes uint32 = 0xffffffff

// accessKind is what an instruction does to memory.
type accessKind uint8

const (
	accessNone accessKind = iota
	accessLoad
	accessStore
	accessAtomic
)

// space is a memory space as the machine sees it: generic addresses are resolved.
type space uint8

const (
	spaceGlobal space = iota
	spaceShared
	spaceLocal
)

// An access is what the last instruction touched: size bytes at addr in each lane of mask. Shared addresses are
// offsets in the block's memory. Local addresses are those of the interleaved words behind them, as the caches see them.
type access struct {
	kind  accessKind
	space space
	size  uint8
	mask  uint32
	addr  [32]uint64
}

// next returns the instruction that the running group executes next.
func (w *warp) next() *op {
	switch {
	case len(w.round) > 0:
		return w.round[0]
	case w.events != nil:
		return w.block.run.opOf(&w.events[w.cursor])
	}
	return &w.block.run.program.ops[w.pc]
}

// step executes one instruction.
func (w *warp) step() error {
	if w.events != nil {
		return w.reissue()
	}
	o := &w.block.run.program.ops[w.pc]
	w.acc.kind, w.texels.n = accessNone, 0
	w.mask = w.active
	if o.guard != sass.PT || o.guardNot {
		g := w.preds[o.guard]
		if o.guardNot {
			g = ^g
		}
		w.mask &= g
	}
	if !w.block.domain.count(o, w.mask) {
		return w.exhausted(o)
	}
	w.pc++ // control instructions set it again
	return o.run(w, o)
}

// group takes the running group over from the re-convergence state.
func (w *warp) group() {
	g := w.state.Running()
	w.regrouped = true
	w.cost += w.state.Cost()
	w.pc, w.active = g.PC, g.Lanes
	switch {
	case g.Lanes != 0:
		w.status = warpRunning
	case w.state.Live() == 0:
		w.status = warpDone
	default:
		w.status = warpBarrier
	}
}

// in returns the values of an operand, modified ones in the k-th scratch register.
func (w *warp) in(s *source, k int) *lanes {
	if s.modified {
		return w.modified(s, k)
	}
	if s.value != nil {
		return s.value
	}
	return &w.regs[s.reg]
}

// modified returns the values of an operand with its modifiers in the k-th scratch register.
func (w *warp) modified(s *source, k int) *lanes {
	t := &w.tmp[k][0]
	lanewise.Modify(t, &w.regs[s.reg], s.and, s.xor, s.add)
	return t
}

// raw returns the values of an operand without its modifiers.
func (w *warp) raw(s *source) *lanes {
	if s.value != nil {
		return s.value
	}
	return &w.regs[s.reg]
}

// pair returns the two words of a 64-bit operand; modifiers apply to the high one.
func (w *warp) pair(s *source, k int) (low, high *lanes) {
	if s.value != nil {
		return s.value, s.high
	}
	low, high = &w.regs[s.reg], &w.regs[s.reg+1]
	if !s.modified {
		return low, high
	}
	t := &w.tmp[k][1]
	lanewise.Modify(t, high, s.and, s.xor, s.add)
	return low, t
}

// out returns where the k-th register of the result goes: to the register itself if all lanes execute, else to a
// scratch register from which done takes the lanes that do.
func (w *warp) out(o *op, k int) *lanes {
	if w.mask == allLanes {
		return &w.regs[int(o.dst)+k]
	}
	return &w.res[k]
}

// done stores the first n registers of the result.
func (w *warp) done(o *op, n int) {
	if w.mask == allLanes {
		return
	}
	w.merge(o, n)
}

// merge stores the first n registers of the result in the lanes that execute.
func (w *warp) merge(o *op, n int) {
	for k := range n {
		to := &w.regs[int(o.dst)+k]
		lanewise.Choose(to, &w.res[k], to, w.mask)
	}
}

// set gives the lanes that execute their bits of a predicate.
func (w *warp) set(p uint8, values uint32) {
	if p != sass.PT {
		w.preds[p] = w.preds[p]&^w.mask | values&w.mask
	}
}

// get returns the lanes in which a source predicate is true.
func (w *warp) get(p predicate) uint32 {
	if p.not {
		return ^w.preds[p.reg]
	}
	return w.preds[p.reg]
}

// uniform returns the value of an operand in the lowest lane that executes.
func (w *warp) uniform(s *source) uint32 {
	if w.mask == 0 {
		return 0
	}
	return w.in(s, 0)[bits.TrailingZeros32(w.mask)]
}

// uniformRegister is the register URn.
func (w *warp) uniformRegister(n int) *lanes { return &w.regs[w.block.run.program.registers+n] }

// thread returns threadIdx of a lane. Warps that an edited stream has added to a block have a number alone.
func (w *warp) thread(lane int) [3]int {
	if w.id >= len(w.block.run.threads) {
		return [3]int{32*w.id + lane, 0, 0}
	}
	t := w.threadIndex()
	return [3]int{int(t.x[lane]), int(t.y[lane]), int(t.z[lane])}
}
