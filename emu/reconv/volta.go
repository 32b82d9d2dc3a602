package reconv

import (
	"fmt"
	"math/bits"
	"slices"
)

// Volta is the model of Volta and later GPUs: convergence barriers in registers, and independent progress of groups. The
// rules follow NVIDIA's patent on convergence barriers (US 10067768 B2) and how compiled code uses them.
//
// Each lane has barrier registers of its own. Under any order of groups that is right, also where two groups are in
// different functions that save the same register; one copy for the warp would need last-in first-out order.
type Volta struct{}

// Name is volta.
func (Volta) Name() string { return "volta" }

// New returns the state of a warp at its entry.
func (Volta) New(entry int32, lanes uint32) State {
	return &voltaWarp{live: lanes, running: Group{entry, lanes}}
}

// backEdges is the number of backward branches after which the running group lets another one run. Without it the
// holder of a lock could wait for ever behind lanes that spin on it.
const backEdges = 64

// patience is the number of YIELDs after which lanes that loop count as arrived at the barriers that others wait at.
const patience = 256

// A slot is a barrier register as one lane sees it. The epoch tells barriers apart that used the register one after
// another; 0 is none.
type slot struct{ mask, epoch uint32 }

// waitKind is what a lane waits for.
type waitKind uint8

const (
	notWaiting waitKind = iota
	waitSync            // BSYNC
	waitLanes           // WARPSYNC
	waitHeld            // outside the warp
)

// A wait is what one lane waits for and where it goes on.
type wait struct {
	kind    waitKind
	barrier uint8
	epoch   uint32 // of the barrier
	mask    uint32 // of WARPSYNC
	pc      int32
}

type savedKey struct {
	lane int
	mask uint32
}

type voltaWarp struct {
	live    uint32
	running Group
	ready   []Group // the last one runs next
	slots   [Barriers][32]slot
	waits   [32]wait
	waiting uint32 // lanes with a wait
	epochs  uint32 // the last one given out
	backs   int    // backward branches since the running group began
	yields  int    // YIELDs of the running group in a row while lanes wait and no other group can run

	// saved remembers the epochs of masks that BMOV has moved to ordinary registers, which hold no epoch.
	saved map[savedKey]uint32
}

func (v *voltaWarp) Running() Group { return v.running }
func (v *voltaWarp) Live() uint32   { return v.live }

// run makes the next ready group the running one if the present one has no lanes left.
func (v *voltaWarp) run() {
	if v.running.Lanes != 0 || len(v.ready) == 0 {
		return
	}
	last := len(v.ready) - 1
	v.running, v.ready = v.ready[last], v.ready[:last]
	v.backs, v.yields = 0, 0
}

func (v *voltaWarp) Branch(lanes uint32, target, next int32) {
	rest := v.running.Lanes &^ lanes
	back := lanes != 0 && target < next
	switch {
	case lanes == 0:
		v.running.PC = next
	case rest == 0:
		v.running.PC = target
	default:
		v.ready = append(v.ready, Group{next, rest})
		v.running = Group{target, lanes}
	}
	if back && len(v.ready) > 0 {
		if v.backs++; v.backs >= backEdges {
			v.rotate()
		}
	}
}

// rotate puts the running group behind all others.
func (v *voltaWarp) rotate() {
	v.backs = 0
	if len(v.ready) == 0 {
		return
	}
	v.ready = slices.Insert(v.ready, 0, v.running)
	v.running = Group{}
	v.run()
}

func (v *voltaWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	if rest := v.running.Lanes &^ lanes; rest != 0 {
		v.ready = append(v.ready, Group{next, rest})
	}
	v.running = Group{}
	v.pushByPC(lanes, func(lane int) int32 { return targets[lane] })
	v.run()
}

// pushByPC makes lanes ready, those with the same pc as one group; the lowest lane's group comes to run first.
func (v *voltaWarp) pushByPC(lanes uint32, pc func(lane int) int32) {
	at := len(v.ready)
	for lanes != 0 {
		lane := bits.TrailingZeros32(lanes)
		g := Group{pc(lane), 0}
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); pc(l) == g.PC {
				g.Lanes |= 1 << l
			}
		}
		lanes &^= g.Lanes
		v.ready = slices.Insert(v.ready, at, g)
	}
}

func (v *voltaWarp) Exit(lanes uint32, next int32) {
	v.live &^= lanes
	v.running.Lanes &^= lanes
	v.running.PC = next
	v.releaseAll()
	v.run()
}

// releaseAll releases what waits for nobody any more, after lanes have gone.
func (v *voltaWarp) releaseAll() {
	for m := v.waiting; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if v.waiting>>lane&1 == 0 {
			continue // released meanwhile
		}
		switch w := &v.waits[lane]; w.kind {
		case waitSync:
			v.release(int(w.barrier), w.epoch)
		case waitLanes:
			v.releaseLanes(lane)
		}
	}
}

func (v *voltaWarp) Set(b int, lanes uint32) {
	v.epochs++
	for m := lanes; m != 0; m &= m - 1 {
		v.slots[b][bits.TrailingZeros32(m)] = slot{lanes, v.epochs}
	}
}

func (v *voltaWarp) Sync(b int, lanes uint32, next int32) {
	var arrived uint32 // of the lanes, those that take part
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if s := v.slots[b][lane]; s.mask>>lane&1 != 0 {
			arrived |= 1 << lane
			v.waits[lane] = wait{kind: waitSync, barrier: uint8(b), epoch: s.epoch, pc: next}
		}
	}
	v.running.PC = next
	v.running.Lanes &^= arrived
	v.waiting |= arrived
	for m := arrived; m != 0; m &= m - 1 {
		if lane := bits.TrailingZeros32(m); v.waiting>>lane&1 != 0 {
			if !v.release(b, v.waits[lane].epoch) && v.sameEpoch(b, arrived) {
				break
			}
		}
	}
	v.run()
}

// sameEpoch reports whether all lanes stand at the same barrier.
func (v *voltaWarp) sameEpoch(b int, lanes uint32) bool {
	first := v.slots[b][bits.TrailingZeros32(lanes)].epoch
	for m := lanes; m != 0; m &= m - 1 {
		if v.slots[b][bits.TrailingZeros32(m)].epoch != first {
			return false
		}
	}
	return true
}

// at returns the lanes that wait at a barrier and those that it waits for.
func (v *voltaWarp) at(b int, epoch uint32) (there, expected uint32) {
	for m := v.waiting; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if w := &v.waits[lane]; w.kind == waitSync && int(w.barrier) == b && w.epoch == epoch {
			there |= 1 << lane
			expected |= v.slots[b][lane].mask
		}
	}
	return there, expected & v.live
}

// release lets the lanes at a barrier go on together if all that take part are there.
func (v *voltaWarp) release(b int, epoch uint32) bool {
	there, expected := v.at(b, epoch)
	if there == 0 || expected&^there != 0 {
		return false
	}
	v.free(b, there)
	return true
}

// free lets lanes go on from a barrier. Those that are still to come do not wait for them.
func (v *voltaWarp) free(b int, lanes uint32) {
	v.waiting &^= lanes
	epoch := v.slots[b][bits.TrailingZeros32(lanes)].epoch
	for l := range v.slots[b] {
		if v.slots[b][l].epoch == epoch {
			v.slots[b][l].mask &^= lanes
		}
	}
	v.pushByPC(lanes, func(lane int) int32 { return v.waits[lane].pc })
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		v.waits[lane].kind = notWaiting
		v.slots[b][lane] = slot{}
	}
}

func (v *voltaWarp) Break(b int, lanes uint32) {
	for rest := lanes; rest != 0; {
		lane := bits.TrailingZeros32(rest)
		epoch := v.slots[b][lane].epoch
		if epoch == 0 {
			rest &^= 1 << lane
			continue
		}
		for l := range v.slots[b] {
			if v.slots[b][l].epoch == epoch {
				v.slots[b][l].mask &^= lanes
				if lanes>>l&1 != 0 {
					rest &^= 1 << l
				}
			}
		}
		v.release(b, epoch)
	}
}

func (v *voltaWarp) Mask(b, lane int) uint32 {
	s := v.slots[b][lane]
	if s.epoch != 0 {
		if v.saved == nil {
			v.saved = make(map[savedKey]uint32)
		}
		v.saved[savedKey{lane, s.mask}] = s.epoch
	}
	return s.mask
}

func (v *voltaWarp) SetMask(b, lane int, mask uint32) {
	if mask == 0 {
		v.slots[b][lane] = slot{}
		return
	}
	epoch, ok := v.saved[savedKey{lane, mask}]
	if !ok {
		for l := range v.slots[b] {
			if s := v.slots[b][l]; s.mask == mask && s.epoch != 0 {
				epoch, ok = s.epoch, true
			}
		}
	}
	if !ok {
		v.epochs++
		epoch = v.epochs
	}
	v.slots[b][lane] = slot{mask, epoch}
}

func (v *voltaWarp) Clear(b int, lanes uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		v.slots[b][bits.TrailingZeros32(m)] = slot{}
	}
}

func (v *voltaWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	v.running.PC = next
	v.running.Lanes &^= lanes
	v.waiting |= lanes
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		v.waits[lane] = wait{kind: waitLanes, mask: masks[lane], pc: next}
	}
	for m := lanes; m != 0; m &= m - 1 {
		if lane := bits.TrailingZeros32(m); v.waiting>>lane&1 != 0 {
			v.releaseLanes(lane)
		}
	}
	v.run()
}

// releaseLanes lets the lanes that wait with the same mask as one of them go on if all that it names are there.
func (v *voltaWarp) releaseLanes(lane int) {
	like := v.waits[lane]
	var there uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w := &v.waits[l]; w.kind == waitLanes && w.mask == like.mask && w.pc == like.pc {
			there |= 1 << l
		}
	}
	if like.mask&v.live&^there != 0 {
		return
	}
	v.waiting &^= there
	for m := there; m != 0; m &= m - 1 {
		v.waits[bits.TrailingZeros32(m)].kind = notWaiting
	}
	v.ready = append(v.ready, Group{like.pc, there})
}

// Yield also brings groups together that stand at the instruction after the YIELD: compiled loops count on it to gather
// lanes again (VOTE, YIELD, VOTE, go on while more have come).
//
// Lanes that spin on a lock do so for ever if its holder waits for them at a BSYNC. As in the patent, lanes that yield
// then count as arrived; not at once, as most loops that yield end by themselves.
func (v *voltaWarp) Yield(next int32) {
	v.running.PC = next
	if len(v.ready) == 0 && v.waiting != 0 {
		if v.yields++; v.yields >= patience {
			v.yields = 0
			v.releaseYoungest()
		}
	}
	v.rotate()
	kept := v.ready[:0]
	for _, g := range v.ready {
		if g.PC == v.running.PC && g.PC == next {
			v.running.Lanes |= g.Lanes
			continue
		}
		kept = append(kept, g)
	}
	v.ready = kept
}

func (v *voltaWarp) Hold(lanes uint32, next int32) {
	v.running.PC = next
	v.running.Lanes &^= lanes
	v.waiting |= lanes
	for m := lanes; m != 0; m &= m - 1 {
		v.waits[bits.TrailingZeros32(m)] = wait{kind: waitHeld, pc: next}
	}
	v.run()
}

func (v *voltaWarp) Held() uint32 {
	var held uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		if lane := bits.TrailingZeros32(m); v.waits[lane].kind == waitHeld {
			held |= 1 << lane
		}
	}
	return held
}

func (v *voltaWarp) Resume() {
	held := v.Held()
	v.waiting &^= held
	for m := held; m != 0; m &= m - 1 {
		v.waits[bits.TrailingZeros32(m)].kind = notWaiting
	}
	v.pushByPC(held, func(lane int) int32 { return v.waits[lane].pc })
	v.run()
}

// Unblock releases the youngest barrier at which lanes wait, counting the missing ones as yielded, as the patent does. A
// BSYNC only helps performance, so that this never changes results.
func (v *voltaWarp) Unblock() bool {
	released := v.releaseYoungest()
	v.run()
	return released
}

// releaseYoungest releases the lanes at the youngest barrier.
func (v *voltaWarp) releaseYoungest() bool {
	youngest := -1
	for m := v.waiting; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if v.waits[lane].kind == waitSync && (youngest < 0 || v.waits[lane].epoch > v.waits[youngest].epoch) {
			youngest = lane
		}
	}
	if youngest < 0 {
		return false
	}
	w := v.waits[youngest]
	there, _ := v.at(int(w.barrier), w.epoch)
	v.free(int(w.barrier), there)
	return true
}

func (v *voltaWarp) Waiting() []Waiting {
	var list []Waiting
	for rest := v.waiting; rest != 0; {
		lane := bits.TrailingZeros32(rest)
		w := v.waits[lane]
		group := Waiting{Group: Group{PC: w.pc}}
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); v.waits[l] == w {
				group.Lanes |= 1 << l
			}
		}
		rest &^= group.Lanes
		switch w.kind {
		case waitSync:
			group.At = fmt.Sprintf("BSYNC B%d", w.barrier)
			_, group.Mask = v.at(int(w.barrier), w.epoch)
		case waitLanes:
			group.At, group.Mask = "WARPSYNC", w.mask
		default:
			group.At = "BAR"
		}
		list = append(list, group)
	}
	return list
}
