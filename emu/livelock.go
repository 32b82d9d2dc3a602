package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// While memory stays the same, each warp is on its own. If all that run have come back to a state that they were in
// before, they will for ever: the launch is in a livelock. Of the state only the registers count on which control flow and
// memory accesses depend, so that a loop which counts how often it has looked at a flag repeats itself too.

// A focus is the rows of registers and the predicates that decide what a warp does next, as long as it executes certain
// instructions only.
type focus struct {
	epoch int // of the watch that it belongs to
	rows  []uint16
	preds uint16
	timed bool // some of what decides is computed of the clock; rows and preds are the rest
}

// A scope says what belongs to a focus where the clock decides: with timing all that the instructions compute, as a program that counts
// its turns until a time has come is told the count that hardware would come to.
type scope bool

const (
	whatDecides scope = false
	allComputed scope = true
)

// A watch finds the focus of the warps of a launch in which nothing changes.
type watch struct {
	visited []bool // by op: executed since the watch began
	known   int    // ops visited when the focus was made
	quanta  int    // rounds or quanta since the watch began
	next    int    // of those, the one in which the focus is made anew
	epoch   int
	focus   *focus // nil until there is one
	scope   scope

	last   *focus // the last one that was worked out, and for which ops
	lastOf []bool
}

// firstFocus is the number of rounds or quanta after which a focus is first made.
const firstFocus = 4

// begin starts over.
func (x *watch) begin(ops int) {
	if x.visited == nil {
		x.visited = make([]bool, ops)
	}
	clear(x.visited)
	x.known, x.quanta, x.next, x.focus = 0, 0, firstFocus, nil
}

// ready makes the focus in a round or quantum of a power of two, and reports whether it holds for all the ops, visited in
// number, that have been executed.
func (x *watch) ready(p *program, visited int) bool {
	if x.quanta++; x.quanta >= x.next {
		x.next *= 2
		if visited != x.known || x.focus == nil {
			x.epoch++
			x.known, x.focus = visited, x.focusOf(p)
		}
	}
	return x.focus != nil && visited == x.known
}

// focusOf returns the focus of the ops that have been visited, which are those of the last time wherever a loop goes on behind a store.
func (x *watch) focusOf(p *program) *focus {
	if x.last == nil || !slices.Equal(x.lastOf, x.visited) {
		x.last, x.lastOf = p.focus(x.visited, x.scope), append(x.lastOf[:0], x.visited...)
	}
	f := *x.last
	f.epoch = x.epoch
	return &f
}

// effects are the instructions that do more than to compute registers of registers.
var effects = func() (table [sass.NumOps]bool) {
	for _, part := range []map[sass.Op]compiler{memoryCompilers, controlCompilers, copyCompilers, mbarrierCompilers, clusterCompilers} {
		for op := range part {
			table[op] = true
		}
	}
	return table
}()

// resources is a set of registers and predicates.
type resources [(sass.NumRes + 63) / 64]uint64

// resourcesOf makes a set of a list.
func resourcesOf(list []sass.Resource) (s resources) {
	for _, r := range list {
		s[r/64] |= 1 << (r % 64)
	}
	return s
}

// any reports whether two sets have one in common.
func (s *resources) any(other *resources) bool {
	var common uint64
	for i, v := range other {
		common |= s[i] & v
	}
	return common != 0
}

// add adds those of another set, and reports whether there was a new one.
func (s *resources) add(other *resources) bool {
	var fresh uint64
	for i, v := range other {
		fresh |= v &^ s[i]
		s[i] |= v
	}
	return fresh != 0
}

func (s *resources) has(r sass.Resource) bool { return s[r/64]>>(r%64)&1 != 0 }

// A dataflow is what an instruction reads and writes.
type dataflow struct {
	uses, defs resources
	effect     bool
	clock      bool // reads the time
}

// flow returns what an instruction reads and writes, by its index.
func (p *program) flow(index int) *dataflow {
	if p.flows == nil {
		p.flows = make([]*dataflow, len(p.ops))
	}
	if p.flows[index] == nil {
		in := p.ops[index].inst
		p.flows[index] = &dataflow{resourcesOf(in.Uses(nil)), resourcesOf(in.Defs(nil)), effects[in.Op] || in.Address() != nil, readsClock(in)}
	}
	return p.flows[index]
}

// focus works out what decides in a set of instructions: what those with effects read, and of what that is computed. The
// order of instructions does not count, so that what is found is rather too much.
func (p *program) focus(visited []bool, s scope) *focus {
	var flow []*dataflow
	for i, v := range visited {
		if v {
			flow = append(flow, p.flow(i))
		}
	}
	var decides, timed resources
	for grown := true; grown; {
		grown = false
		for _, f := range flow {
			if f.effect || decides.any(&f.defs) {
				grown = decides.add(&f.uses) || grown
			}
			if f.clock || !f.effect && timed.any(&f.uses) {
				grown = timed.add(&f.defs) || grown
			}
		}
	}
	f := p.focusOn(&decides, &timed)
	if f.timed && s == allComputed {
		for _, d := range flow {
			decides.add(&d.defs)
		}
		f = p.focusOn(&decides, &timed)
	}
	return f
}

// readsClock reports whether an instruction reads the time.
func readsClock(in *sass.Inst) bool {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindSReg {
			switch o.Imm {
			case sass.SRClockLO, sass.SRClockHI, sass.SRGlobalTimerLO, sass.SRGlobalTimerHI:
				return true
			}
		}
	}
	return false
}

// focusOn finds the places of resources in a warp.
func (p *program) focusOn(decides, timed *resources) *focus {
	f := new(focus)
	for r := range sass.NumRes {
		switch {
		case !decides.has(r):
		case r >= sass.ResSB: // dependence counters hide nothing here, and convergence barriers are in the re-convergence state
		case timed.has(r):
			f.timed = true
		case r >= sass.ResUPred:
			f.preds |= 1 << (sass.PT + 1 + r - sass.ResUPred)
		case r >= sass.ResPred:
			f.preds |= 1 << (r - sass.ResPred)
		case r >= sass.ResUReg:
			if n := int(r - sass.ResUReg); n < p.uniforms {
				f.rows = append(f.rows, uint16(p.registers+n))
			}
		case int(r) < p.registers:
			f.rows = append(f.rows, uint16(r))
		}
	}
	return f
}

// A loop finds out whether a warp repeats itself, by Brent's algorithm: it remembers the warp's state, each time for
// twice as many turns, and sees whether it comes back.
type loop struct {
	changes int64  // of the launch, when the search began
	epoch   int    // of the focus
	mark    uint64 // digest of the remembered state
	turns   int    // since then
	now     int64  // with timing: cycle of the last issue when the warp was looked at last
	limit   int
	found   bool
	timed   bool // found, but for what is computed of the clock
}

// watch looks at the warp after a turn.
func (l *loop) watch(w *warp, f *focus, changes int64) {
	digest := w.digest(f)
	if l.limit == 0 || l.changes != changes || l.epoch != f.epoch {
		*l = loop{changes: changes, epoch: f.epoch, mark: digest, limit: 1, now: w.now}
		return
	}
	if digest == l.mark {
		l.found, l.timed = true, f.timed
	}
	if l.turns++; l.turns == l.limit {
		l.mark, l.turns, l.limit = digest, 0, 2*l.limit
	}
}

// asleep reports whether the warp has been found to repeat itself and nothing has changed since.
func (w *warp) asleep() bool { return w.loop.found && w.loop.changes == w.block.domain.changes }

// digest is a hash of all that decides what the warp does next, memory apart.
func (w *warp) digest(f *focus) uint64 {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(uint32(w.pc))<<32 | uint64(w.active)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*prime, 29) }
	for _, r := range f.rows {
		row := &w.regs[r]
		for i := 0; i < len(row); i += 2 {
			mix(uint64(row[i])<<32 | uint64(row[i+1]))
		}
	}
	for i, p := range w.preds {
		if f.preds>>i&1 != 0 {
			mix(uint64(p))
		}
	}
	mix(uint64(w.result)<<32 | uint64(w.clusterPhase))
	w.snapshot = w.state.Snapshot(w.snapshot[:0])
	state := w.snapshot
	for len(state) >= 4 {
		mix(uint64(binary.LittleEndian.Uint32(state)))
		state = state[4:]
	}
	return h
}

// What livelocks have in common, and those of threads that write.
const (
	nothingChanges = "no thread changes memory any more and all repeat themselves"
	leavesMemory   = "all threads repeat themselves and leave memory as it was"
)

// livelock makes the fault of a launch of which all warps that run repeat themselves, w first. Blocks that have no place yet
// wait for them.
func (w *warp) livelock(how string, waiting int) error {
	detail := fmt.Sprintf("under %s %s: warp %d lanes %#08x run here", w.block.run.machine.options.Reconvergence.Name(), how, w.id, w.active)
	o, lane := w.next(), bits.TrailingZeros32(w.active)
	for _, g := range w.state.Waiting() {
		detail += "; " + w.describeWaiting(&g)
	}
	if waiting > 0 {
		detail += fmt.Sprintf("; %d blocks have no place on the GPU before others end", waiting)
	}
	fault := w.fault(o, lane, Livelock, detail)
	for _, v := range slices.Concat([]*warp{w}, w.block.warps, w.block.warps) { // twice, as one may read behind a barrier to which the others have to come first
		if where := v.polled(); where != "" {
			fault.Detail += "; they read " + where
			break
		}
	}
	return fault
}

// maxPoll is the number of instructions in which a warp that repeats itself is to read what it waits for.
const maxPoll = 1 << 10

// polled says what memory a warp reads that repeats itself, by executing it on.
func (w *warp) polled() string {
	for range maxPoll {
		if w.status != warpRunning || w.step() != nil {
			break
		}
		if a := &w.acc; a.kind == accessLoad || a.kind == accessAtomic {
			if a.mask == 0 || a.space == spaceLocal {
				continue
			}
			addr := a.addr[bits.TrailingZeros32(a.mask)]
			if a.space == spaceShared {
				return fmt.Sprintf("shared memory at %#x", addr)
			}
			return fmt.Sprintf("%#x: %s", addr, w.block.run.machine.memory.near(addr))
		}
	}
	return ""
}

// quietCycles is how long nothing may change, with timing, before a livelock is looked for.
const quietCycles = 1 << 15

// checkLivelock looks for a livelock at the end of a quantum: at a first warp until that repeats itself, then at all.
func (r *timedRun) checkLivelock(end int64) error {
	now := end + r.passed
	if r.changes != r.launch.changes {
		r.changes, r.changed = r.launch.changes, now
		if r.watching {
			r.observe(false)
		}
	}
	if r.launch.replay != nil { // a stream ends
		return nil
	}
	if now-r.changed < quietCycles {
		return r.checkSpin(end)
	}
	if !r.watching {
		r.closeSpin()
		r.observe(true)
	}
	if !r.watch.ready(r.launch.program, r.visited(r.watch.visited)) || r.watch.focus.timed && !r.mayPass(now) {
		return nil
	}
	first, all := r.look()
	if first == nil || !all {
		return nil
	}
	if r.watch.focus.timed {
		r.pass(now)
		return nil
	}
	if r.rest != nil {
		r.resume(end)
		return nil
	}
	return first.livelock(nothingChanges, r.launch.blocks-r.next)
}

// Where all warps wait for the clock and nothing else, time passes without being simulated: after waitCycles in which nothing has changed,
// a part of the time that they have waited already at once. They may go on so much later than on hardware, and no more.
const (
	waitCycles = 1 << 20
	passedPart = 32
)

// mayPass reports whether warps that wait for the clock have done so for long, and all of the launch is timed by its cycles.
func (r *timedRun) mayPass(now int64) bool {
	return now-r.changed >= waitCycles && r.rest == nil && r.launch.launch.Part == nil
}

// pass lets time pass. All that the SMs hold is there while it does.
func (r *timedRun) pass(now int64) {
	cycles := (now - r.changed) / passedPart
	r.passed += cycles
	for _, s := range r.sms {
		if s.blocks > 0 {
			s.active += cycles
		}
		for _, v := range s.slots {
			if v != nil && !v.ended {
				s.warps += cycles
				v.warp.loop = loop{} // it is to be seen whether it still waits
			}
		}
	}
}

// observe begins or ends to note what the SMs execute.
func (r *timedRun) observe(on bool) {
	r.watching = on
	if on {
		r.watch.begin(len(r.launch.program.ops))
		r.watch.scope = allComputed
	}
	for _, s := range r.sms {
		s.domain.visited = nil
		if on {
			s.domain.visited = make([]bool, len(r.watch.visited))
		}
	}
}

// visited adds the ops that the SMs have executed, each in a set of its own as they run in parallel, to a set, and returns how many it has.
func (r *timedRun) visited(all []bool) (n int) {
	for _, s := range r.sms {
		for i, v := range s.domain.visited {
			all[i] = all[i] || v
		}
	}
	for _, v := range all {
		if v {
			n++
		}
	}
	return n
}

// look watches the running warps, and returns the first of them and whether all repeat themselves. One that does not is
// enough, and to look at all of a long loop takes long.
func (r *timedRun) look() (first *warp, all bool) {
	for _, sm := range r.sms {
		for _, v := range sm.slots {
			if v == nil || v.ended || v.warp.status != warpRunning {
				continue
			}
			w := v.warp
			if w.loop.limit == 0 || w.loop.now != w.now || w.loop.changes != r.changes { // else it has not come back to anything
				w.loop.now = w.now
				w.loop.watch(w, r.watch.focus, r.changes)
			}
			if first == nil {
				first, all = w, w.loop.found
				if !all {
					return first, false
				}
			}
			all = all && w.loop.found
		}
	}
	return first, all
}
