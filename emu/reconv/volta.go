package reconv

import (
	"fmt"
	"math/bits"
	"slices"
)

// Volta is the model of Volta and later GPUs: convergence barriers in registers, and groups that progress independently.
// The rules follow NVIDIA's patents on convergence barriers (US 10067768 B2) and on yielding (US 9459876), and how
// compiled code uses them.
//
// Each lane has barrier registers of its own, which name barriers. Under any order of groups that is right, also where
// two groups are in different functions that save the same register; one copy for the warp would need last-in first-out
// order.
type Volta struct {
	// FallThroughFirst makes the lanes that do not take a branch run before those that do. Which of them hardware runs
	// first is not documented; without operations across lanes it makes no difference to what is issued.
	FallThroughFirst bool
}

// Name is volta.
func (Volta) Name() string { return "volta" }

// Prepare returns the model itself: it needs to know nothing of the program.
func (m Volta) Prepare(*Program) (Plan, error) { return m, nil }

// Checks is nil.
func (Volta) Checks() []bool { return nil }

// New returns the state of a warp at its entry.
func (m Volta) New(entry int32, lanes uint32) State {
	return &voltaWarp{live: lanes, running: Group{entry, lanes}, model: m}
}

// maxBackEdges is the number of backward branches after which the running group lets another one run. Without it the
// holder of a lock could wait for ever behind lanes that spin on it.
const maxBackEdges = 64

// maxBarriers bounds the barriers that a warp remembers; a program with deeper nesting loses the outermost ones, at
// which nobody waits then.
const maxBarriers = 1 << 12

// A barrierID names a barrier; 0 names none.
type barrierID uint32

// A barrier is what one execution of BSSY begins: lanes that are to come together again.
type barrier struct {
	id      barrierID
	mask    uint32 // lanes that take part
	arrived uint32 // of those, the ones that wait at BSYNC
}

// waitKind is what a lane waits for.
type waitKind uint8

const (
	notWaiting waitKind = iota
	waitSync            // BSYNC
	waitLanes           // WARPSYNC
	waitHeld            // a CTA barrier
)

// A wait is what one lane waits for and where it goes on.
type wait struct {
	kind   waitKind
	number uint8     // of the barrier register or the CTA barrier
	id     barrierID // of waitSync
	mask   uint32    // of waitLanes
	pc     int32
}

// A savedBarrier is a barrier whose mask BMOV has moved to an ordinary register, which holds no name.
type savedBarrier struct {
	mask uint32
	id   barrierID
}

// A readyGroup is a group that can run; yielded says that it let another one run first.
type readyGroup struct {
	Group
	yielded bool
}

type voltaWarp struct {
	live    uint32
	running Group
	ready   []readyGroup // the last one runs next

	barriers  []barrier // those that lanes take part in, oldest first
	lastID    barrierID
	registers [Barriers]*[32]barrierID // by lane, nil for a register that nobody has set
	saved     *[32][]savedBarrier      // by lane, oldest first; nil until one is saved

	waits   *[32]wait // nil until a lane waits
	waiting uint32    // lanes with a wait
	backs   int       // backward branches since the running group began
	stats   Stats
	model   Volta
}

// Reset keeps what has been allocated.
func (v *voltaWarp) Reset(entry int32, lanes uint32) {
	for _, r := range v.registers {
		if r != nil {
			*r = [32]barrierID{}
		}
	}
	if v.waiting != 0 {
		*v.waits = [32]wait{}
	}
	*v = voltaWarp{live: lanes, running: Group{entry, lanes}, ready: v.ready[:0], barriers: v.barriers[:0],
		registers: v.registers, waits: v.waits, stats: v.stats, model: v.model}
}

// register returns what the lanes hold in a barrier register. Most warps use few of them, or none.
func (v *voltaWarp) register(b int) *[32]barrierID {
	if v.registers[b] == nil {
		v.registers[b] = new([32]barrierID)
	}
	return v.registers[b]
}

func (v *voltaWarp) Running() Group  { return v.running }
func (v *voltaWarp) Live() uint32    { return v.live }
func (v *voltaWarp) Arrive(pc int32) { v.running.PC = pc }
func (v *voltaWarp) Cost() int64     { return 0 }
func (v *voltaWarp) Stats() Stats    { return v.stats }

// run makes the next ready group the running one if the present one has no lanes left.
func (v *voltaWarp) run() {
	if v.running.Lanes != 0 || len(v.ready) == 0 {
		return
	}
	last := len(v.ready) - 1
	v.running, v.ready = v.ready[last].Group, v.ready[:last]
	v.backs = 0
}

// push makes a group ready that is to run before the others.
func (v *voltaWarp) push(g Group) {
	v.ready = append(v.ready, readyGroup{Group: g})
	v.stats.Entries = max(v.stats.Entries, len(v.ready)+1)
}

func (v *voltaWarp) Branch(lanes uint32, target, next int32) {
	rest := v.running.Lanes &^ lanes
	if lanes == 0 {
		v.running.PC = next
		return
	}
	v.running = Group{target, lanes}
	if rest != 0 {
		other := Group{next, rest}
		if v.model.FallThroughFirst {
			v.running, other = other, v.running
		}
		v.push(other)
	}
	v.moved(v.running.PC, next)
}

// moved counts backward branches while other groups could run.
func (v *voltaWarp) moved(target, next int32) {
	if target >= next || len(v.ready) == 0 {
		return
	}
	if v.backs++; v.backs >= maxBackEdges {
		v.rotate(false)
	}
}

// rotate puts the running group behind all others.
func (v *voltaWarp) rotate(yielded bool) {
	v.backs = 0
	if len(v.ready) > 0 {
		v.ready = slices.Insert(v.ready, 0, readyGroup{v.running, yielded})
		v.running = Group{}
		v.run()
	}
}

func (v *voltaWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	if lanes == 0 {
		v.running.PC = next
		return
	}
	if rest := v.running.Lanes &^ lanes; rest != 0 {
		v.push(Group{next, rest})
	}
	v.running = Group{}
	v.pushByPC(lanes, targets)
	v.run()
	v.moved(v.running.PC, next)
}

// pushByPC makes lanes ready, those with the same pc as one group; the lowest lane's group comes to run first.
func (v *voltaWarp) pushByPC(lanes uint32, pcs *[32]int32) {
	at := len(v.ready)
	for lanes != 0 {
		g := Group{PC: pcs[bits.TrailingZeros32(lanes)]}
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); pcs[l] == g.PC {
				g.Lanes |= 1 << l
			}
		}
		lanes &^= g.Lanes
		v.ready = slices.Insert(v.ready, at, readyGroup{Group: g})
	}
}

// free ends the wait of lanes and makes them ready.
func (v *voltaWarp) free(lanes uint32) {
	if lanes == 0 {
		return
	}
	var pcs [32]int32
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		pcs[l] = v.waits[l].pc
		v.waits[l] = wait{}
	}
	v.waiting &^= lanes
	v.pushByPC(lanes, &pcs)
}

// leave takes lanes out of the running group, whose rest goes on at next.
func (v *voltaWarp) leave(lanes uint32, next int32) {
	v.running.Lanes &^= lanes
	v.running.PC = next
}

// block makes lanes of the running group wait.
func (v *voltaWarp) block(lanes uint32, w wait) {
	if v.waits == nil {
		v.waits = new([32]wait)
	}
	for m := lanes; m != 0; m &= m - 1 {
		v.waits[bits.TrailingZeros32(m)] = w
	}
	v.waiting |= lanes
	v.leave(lanes, w.pc)
}

func (v *voltaWarp) Exit(lanes uint32, next int32) {
	v.live &^= lanes
	v.leave(lanes, next)
	for i := len(v.barriers) - 1; i >= 0; i-- {
		v.barriers[i].mask &^= lanes
		v.complete(i)
	}
	for m := v.waiting; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); v.waits[l].kind == waitLanes {
			v.completeLanes(v.waits[l].mask)
		}
	}
	v.run()
}

// Barriers in registers.

// find returns the position of a barrier in v.barriers, -1 where nobody takes part in it any more.
func (v *voltaWarp) find(id barrierID) int {
	for i := len(v.barriers) - 1; i >= 0; i-- {
		if v.barriers[i].id == id {
			return i
		}
	}
	return -1
}

// named returns those of the lanes that have the same barrier in register b as the lowest of them, and that barrier.
func (v *voltaWarp) named(b int, lanes uint32) (same uint32, id barrierID) {
	r := v.register(b)
	id = r[bits.TrailingZeros32(lanes)&31]
	for m := lanes; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m) & 31; r[l] == id {
			same |= 1 << l
		}
	}
	return same, id
}

func (v *voltaWarp) Set(b int, lanes uint32) {
	if lanes == 0 {
		return
	}
	if len(v.barriers) >= maxBarriers {
		v.forget()
	}
	v.lastID++
	v.barriers = append(v.barriers, barrier{id: v.lastID, mask: lanes})
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		r[bits.TrailingZeros32(m)&31] = v.lastID
	}
}

// forget drops the older half of the barriers, except those at which lanes wait.
func (v *voltaWarp) forget() {
	kept := v.barriers[:0]
	for i, b := range v.barriers {
		if b.arrived != 0 || i >= maxBarriers/2 {
			kept = append(kept, b)
		}
	}
	v.barriers = kept
}

func (v *voltaWarp) Sync(b int, lanes uint32, next int32) {
	v.running.PC = next
	for lanes != 0 {
		same, id := v.named(b, lanes)
		lanes &^= same
		if i := v.find(id); i >= 0 {
			there := same & v.barriers[i].mask
			v.barriers[i].arrived |= there
			v.block(there, wait{kind: waitSync, number: uint8(b), id: id, pc: next})
			v.complete(i)
		}
	}
	v.run()
}

// complete ends the barrier at position i if nobody is missing.
func (v *voltaWarp) complete(i int) {
	if b := &v.barriers[i]; b.mask&^b.arrived == 0 {
		v.end(i)
	}
}

// end lets all lanes at a barrier go on. Lanes that come later find that it is gone and go on at once.
func (v *voltaWarp) end(i int) {
	arrived := v.barriers[i].arrived
	v.barriers = slices.Delete(v.barriers, i, i+1)
	v.free(arrived)
}

func (v *voltaWarp) Break(b int, lanes uint32) {
	for lanes != 0 {
		same, id := v.named(b, lanes)
		lanes &^= same
		if i := v.find(id); i >= 0 {
			v.barriers[i].mask &^= same
			v.complete(i)
		}
	}
}

func (v *voltaWarp) Save(b int, lanes uint32, to *[32]uint32, clear bool) {
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = 0
		if i := v.find(r[l]); i >= 0 {
			to[l] = v.barriers[i].mask
			v.remember(l, savedBarrier{to[l], r[l]})
		}
		if clear {
			r[l] = 0
		}
	}
}

// remember notes a saved barrier, and forgets those that have ended.
func (v *voltaWarp) remember(lane int, s savedBarrier) {
	if v.saved == nil {
		v.saved = new([32][]savedBarrier)
	}
	kept := v.saved[lane][:0]
	for _, old := range v.saved[lane] {
		if old.id != s.id && v.find(old.id) >= 0 {
			kept = append(kept, old)
		}
	}
	v.saved[lane] = append(kept, s)
}

// Restore finds the barrier by its mask: of those that the lane has saved and that have not ended, the last. Functions
// save and restore in pairs, one inside the other. A mask that was not saved names no barrier.
func (v *voltaWarp) Restore(b int, lanes uint32, from *[32]uint32) {
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if r[l] = 0; v.saved == nil {
			continue
		}
		for i := len(v.saved[l]) - 1; i >= 0; i-- {
			if s := v.saved[l][i]; s.mask == from[l] && v.find(s.id) >= 0 {
				r[l] = s.id
				v.saved[l] = v.saved[l][:i+1]
				break
			}
		}
	}
}

// WARPSYNC, yielding and CTA barriers.

func (v *voltaWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	v.running.PC = next
	for lanes != 0 {
		mask := masks[bits.TrailingZeros32(lanes)]
		var same uint32
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); masks[l] == mask {
				same |= 1 << l
			}
		}
		lanes &^= same
		v.block(same, wait{kind: waitLanes, mask: mask, pc: next})
		v.completeLanes(mask)
	}
	v.run()
}

// completeLanes lets the lanes go on that wait with a mask if all that it names are there. As bar.warp.sync of the PTX
// ISA, they need not wait at the same instruction.
func (v *voltaWarp) completeLanes(mask uint32) {
	var there uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w := &v.waits[l]; w.kind == waitLanes && w.mask == mask {
			there |= 1 << l
		}
	}
	if mask&v.live&^there == 0 {
		v.free(there)
	}
}

// Yield also brings groups together that stand behind the same YIELD: compiled loops count on it to gather lanes again
// (VOTE, YIELD, VOTE, go on while more have come).
//
// When every group that could run has yielded, lanes that yield count as arrived at the barriers where others wait, as
// in the patent: the holder of a lock may be among those.
func (v *voltaWarp) Yield(next int32) {
	v.running.PC = next
	if v.allYielded() {
		v.endYielded(v.running.Lanes)
	}
	if len(v.ready) == 0 {
		return
	}
	v.ready = slices.DeleteFunc(v.ready, func(g readyGroup) bool {
		if !g.yielded || g.PC != next {
			return false
		}
		v.running.Lanes |= g.Lanes
		return true
	})
	v.rotate(true)
}

// allYielded reports whether all ready groups have yielded.
func (v *voltaWarp) allYielded() bool {
	return !slices.ContainsFunc(v.ready, func(g readyGroup) bool { return !g.yielded })
}

// endYielded ends the youngest barrier at which lanes wait for lanes that have yielded only.
func (v *voltaWarp) endYielded(yielded uint32) {
	for _, g := range v.ready {
		yielded |= g.Lanes
	}
	for i := len(v.barriers) - 1; i >= 0; i-- {
		if b := &v.barriers[i]; b.arrived != 0 && b.mask&^(b.arrived|yielded) == 0 {
			v.stats.Forced++
			v.end(i)
			return
		}
	}
}

func (v *voltaWarp) Hold(barrier int, lanes uint32, next int32) {
	v.block(lanes, wait{kind: waitHeld, number: uint8(barrier), pc: next})
	v.run()
}

func (v *voltaWarp) Resume(barrier int) bool {
	var held uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w := &v.waits[l]; w.kind == waitHeld && int(w.number) == barrier {
			held |= 1 << l
		}
	}
	v.free(held)
	v.run()
	return held != 0
}

// Unblock ends the youngest barrier whose missing lanes all wait at other barriers: they would wait for each other for
// ever, and a BSYNC only helps performance. Lanes that wait for a WARPSYNC or a CTA barrier are left to wait, as they
// would on the hardware.
func (v *voltaWarp) Unblock() bool {
	var syncing uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); v.waits[l].kind == waitSync {
			syncing |= 1 << l
		}
	}
	for i := len(v.barriers) - 1; i >= 0; i-- {
		if b := &v.barriers[i]; b.arrived != 0 && b.mask&^syncing == 0 {
			v.stats.Forced++
			v.end(i)
			v.run()
			return true
		}
	}
	return false
}

func (v *voltaWarp) Waiting() []Waiting {
	var list []Waiting
	for rest := v.waiting; rest != 0; {
		w := v.waits[bits.TrailingZeros32(rest)]
		group := Waiting{Group: Group{PC: w.pc}}
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); v.waits[l] == w {
				group.Lanes |= 1 << l
			}
		}
		rest &^= group.Lanes
		switch w.kind {
		case waitSync:
			group.At, group.Mask = fmt.Sprintf("BSYNC B%d", w.number), v.barriers[v.find(w.id)].mask
		case waitLanes:
			group.At, group.Mask = "WARPSYNC", w.mask&v.live
		default:
			group.At = fmt.Sprintf("BAR %d", w.number)
		}
		list = append(list, group)
	}
	return list
}
