package emu

import "math/bits"

// With timing warps do not come back to a state together, as without: each has a pace of its own. So each is looked at by itself, where one
// of its loops begins anew: its state, and the words that it has read since the window was opened, as it sees them. What counts its rounds in a
// register never comes to the same registers again, so words are read only once it has. Where for as long as it
// took to come to the last new one, and for some part of what has been executed, no warp comes to another state and all that run come to old
// ones, they are taken to go on so for ever. Threads that have parted, as those that try to get a lock, come to more states together than
// can be waited for, so that later windows look at each thread by itself. All this would be wrong of threads that get on in what none of
// them sees as a whole, as in a count of which each has a digit.

const (
	firstOrbits = 1 << 20 // warp instructions before the first window; each one after that begins with twice as many
	orbitsPart  = 32      // of the instructions executed so far: without a new state, and
	leastOrbits = 1 << 15 // instructions, and
	warpOrbits  = 1 << 7  // for each warp that runs
	longest     = 4       // times as long as that a window can be, or as what has been executed
	focusPart   = 4       // of the part without a new state: after that it is known what is executed in a window
	mostStates  = 1 << 13 // of a window, and
	warpStates  = 1 << 7  // for each warp: those of a launch that gets on are more
	orbitWords  = 1 << 11 // that the lanes of a warp read in a window once they are followed
	laneOrbits  = 1 << 22 // warp instructions before windows that look at threads
)

// orbits are what an SM knows of its warps in a window.
type orbits struct {
	epoch   int
	focus   *focus // nil as long as it is not known
	byLane  bool   // each thread is looked at by itself
	states  int    // that its warps have come to
	stretch int    // of the window, in which nobody comes to a new state
	lost    bool   // a warp has read what cannot be followed, or too much
}

// An orbit is what is known of a warp in a window.
type orbit struct {
	epoch     int
	registers map[uint64]struct{} // hashes of them that it has come to
	follows   bool                // it has come to some of them again: from then on the words that it reads are noted
	words     [32][]memoryWord    // that each lane has read since
	known     map[laneWord]struct{}
	states    map[uint64]struct{}

	stretch int
	ran     uint32 // lanes that have executed something in the stretch
	again   uint32 // those that have come back to a state in it
}

// A laneWord is a word that a lane has read.
type laneWord struct {
	lane int
	word memoryWord
}

// after looks at a warp that has executed an instruction with some lanes.
func (x *orbits) after(w *warp, o *op, lanes uint32) {
	if x.lost {
		return
	}
	t := w.orbit
	if t == nil || t.epoch != x.epoch {
		t = &orbit{epoch: x.epoch, registers: make(map[uint64]struct{})}
		w.orbit = t
	}
	if t.follows && (w.acc.kind == accessLoad || w.acc.kind == accessAtomic) && !t.note(w) {
		x.lost = true
		return
	}
	if t.stretch != x.stretch {
		t.stretch, t.ran, t.again = x.stretch, 0, 0
	}
	t.ran |= lanes
	if x.focus == nil || w.pc > o.index && w.active == lanes || w.status == warpDone {
		return
	}
	if !x.byLane {
		x.come(t, w, w.digest(x.focus), w.active)
		return
	}
	for m := w.active; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		x.come(t, w, w.laneDigest(x.focus, lane), 1<<lane)
	}
}

// come notes that lanes of a warp have come to registers of a hash, and to what memory they have read since they came to some again.
func (x *orbits) come(t *orbit, w *warp, registers uint64, lanes uint32) {
	if _, known := t.registers[registers]; !known {
		t.registers[registers] = struct{}{}
		x.states++
		return
	}
	if !t.follows {
		t.follows, t.known, t.states = true, make(map[laneWord]struct{}), make(map[uint64]struct{})
	}
	state, reads := registers, lanes
	if !x.byLane {
		reads = allLanes // what the other groups of the warp have read as well
	}
	for m := reads; m != 0; m &= m - 1 {
		state = t.seen(w, bits.TrailingZeros32(m), state)
	}
	if _, known := t.states[state]; known {
		t.again |= lanes
		return
	}
	t.states[state] = struct{}{}
	x.states++
}

// note notes the words that the warp's last instruction has read, and reports whether it could.
func (t *orbit) note(w *warp) bool {
	return w.accessedWords(func(lane int, at memoryWord) bool {
		if _, known := t.known[laneWord{lane, at}]; known {
			return true
		}
		t.known[laneWord{lane, at}] = struct{}{}
		t.words[lane] = append(t.words[lane], at)
		return len(t.known) <= orbitWords
	})
}

// seen adds the words that a lane has read to a hash, as they are now.
func (t *orbit) seen(w *warp, lane int, h uint64) uint64 {
	for i := range t.words[lane] {
		h = mixed(h, uint64(t.words[lane][i].value(w)))
	}
	return h
}

// laneDigest is digest for what a lane of the running group does next.
func (w *warp) laneDigest(f *focus, lane int) uint64 {
	h := mixed(uint64(lane), uint64(w.pc))
	for _, r := range f.rows {
		h = mixed(h, uint64(w.regs[r][lane]))
	}
	preds := uint64(w.result >> lane & 1)
	for i, p := range w.preds {
		if f.preds>>i&1 != 0 {
			preds = preds<<1 | uint64(p>>lane&1)
		}
	}
	return mixed(h, preds)
}

// A spinTime is the windows of a launch with timing. Instructions are those that it has executed.
type spinTime struct {
	open    bool
	epoch   int
	next    int64 // when the next window opens, and this one is closed at the latest
	focused int64 // when the focus of this one is worked out
	last    int64 // when there was a new state last
	since   int64 // the cycle of that
	stretch int64 // for how long there is to be none
	left    int   // blocks that had ended when it opened
	most    int   // states that it may have
	states  int
	visited int // ops, as each SM counts them, when the focus was worked out
	watch   watch
}

// checkSpin looks for threads that wait for what nobody does and write meanwhile, at the end of a quantum.
func (r *timedRun) checkSpin(end int64) error {
	x, executed := &r.spin, r.launch.limit-r.launch.left
	if !x.open {
		if executed >= max(x.next, firstOrbits) && r.launch.launch.clusterBlocks() == 1 {
			r.openSpin(executed)
		}
		return nil
	}
	states, visited, lost := 0, 0, r.left != x.left
	for _, s := range r.sms {
		states, visited, lost = states+s.domain.orbits.states, visited+s.domain.fresh, lost || s.domain.orbits.lost
	}
	focused := r.sms[0].domain.orbits.focus != nil
	switch {
	case lost, states > x.most, executed >= x.next, focused && visited != x.visited:
		r.closeSpin()
	case !focused && executed >= x.focused:
		x.visited, x.last, x.since = visited, executed, end
		r.focusSpin()
	case states != x.states:
		x.states, x.last, x.since = states, executed, end
		for _, s := range r.sms {
			s.domain.orbits.stretch++
		}
	case focused && executed-x.last >= max(x.stretch, x.last-x.focused) && end-x.since >= quietCycles: // nothing is on its way from memory
		first := r.orbiting()
		if first == nil {
			return nil
		}
		r.closeSpin()
		if r.rest == nil {
			return first.livelock(leavesMemory, r.launch.blocks-r.next)
		}
		r.resume(end)
	}
	return nil
}

// focusSpin works out the focus of a window, and closes it where threads may wait for the clock.
func (r *timedRun) focusSpin() {
	x := &r.spin
	r.visited(x.watch.visited)
	f := x.watch.focusOf(r.launch.program)
	if f.timed {
		r.closeSpin()
		return
	}
	for _, s := range r.sms {
		s.domain.orbits.focus = f
	}
}

// openSpin opens a window.
func (r *timedRun) openSpin(executed int64) {
	running := 0
	for _, s := range r.sms {
		for _, v := range s.slots {
			if v != nil && !v.ended {
				running++
			}
		}
	}
	x := &r.spin
	*x = spinTime{open: true, epoch: x.epoch + 1, left: r.left, most: mostStates + warpStates*running, watch: x.watch}
	x.stretch = max(executed/orbitsPart, leastOrbits, warpOrbits*int64(running))
	x.focused, x.next = executed+x.stretch/focusPart, executed+max(executed, longest*x.stretch)
	byLane := executed >= laneOrbits
	if byLane {
		x.most *= 32
	}
	x.watch.begin(len(r.launch.program.ops))
	x.watch.scope = allComputed
	for _, s := range r.sms {
		s.domain.visited, s.domain.fresh = make([]bool, len(r.launch.program.ops)), 0
		s.domain.orbits = &orbits{epoch: x.epoch, byLane: byLane}
	}
}

// closeSpin closes the window, if one is open.
func (r *timedRun) closeSpin() {
	if !r.spin.open {
		return
	}
	r.spin.open = false
	for _, s := range r.sms {
		s.domain.visited, s.domain.orbits = nil, nil
	}
}

// orbiting returns the first warp that runs if all that do have come back to their states, else nil.
func (r *timedRun) orbiting() (first *warp) {
	for _, s := range r.sms {
		for _, v := range s.slots {
			if v == nil || v.ended || v.warp.status != warpRunning {
				continue
			}
			if t := v.warp.orbit; t == nil || t.epoch != r.spin.epoch || t.stretch != s.domain.orbits.stretch || t.ran == 0 || t.ran&^t.again != 0 {
				return nil
			}
			if first == nil {
				first = v.warp
			}
		}
	}
	return first
}
