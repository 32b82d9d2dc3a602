package reconv

import (
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
	return &voltaWarp{live: lanes, running: Group{entry, lanes}, sweepAt: minSweep, model: m}
}

// maxBackEdges is the number of backward branches after which the running group lets another one run. Without it the
// holder of a lock could wait for ever behind lanes that spin on it.
const maxBackEdges = 64

// A barrierID names a barrier; 0 names none. Names grow, and none comes again.
type barrierID uint64

// A barrier is what one execution of BSSY begins: lanes that are to come together again.
type barrier struct {
	id      barrierID
	mask    uint32 // lanes that take part, and some of those that have exited; 0 when the barrier has ended
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

	barriers  []barrier // those that lanes take part in, and others until a sweep, oldest first
	sweepAt   int       // number of barriers at which to sweep
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
	*v = voltaWarp{live: lanes, running: Group{entry, lanes}, ready: v.ready[:0], barriers: v.barriers[:0], sweepAt: minSweep,
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
	backs := v.backs
	v.running = Group{}
	v.pushByPC(lanes, targets)
	v.run()
	v.backs = backs // it is the group that ran before, or some of its lanes
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
	v.awaited(func(i int) bool {
		v.complete(i)
		return false
	})
	for m := v.waiting; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); v.waits[l].kind == waitLanes {
			v.completeLanes(v.waits[l].mask)
		}
	}
	v.run()
}
