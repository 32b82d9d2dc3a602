package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// While memory stays the same, each warp is on its own. If all that run have come back to a state that they were in
// before, they will for ever: the launch is in a livelock.

// A loop finds out whether a warp repeats itself, by Brent's algorithm: it remembers the warp's state, each time for
// twice as many turns, and sees whether it comes back.
type loop struct {
	changes int64  // of the launch, when the search began
	mark    uint64 // digest of the remembered state
	turns   int    // since then
	now     int64  // with timing: cycle of the last issue when the warp was looked at last
	limit   int
	found   bool
}

// watch looks at the warp after a turn.
func (l *loop) watch(w *warp) {
	digest := w.digest()
	if l.limit == 0 || l.changes != w.block.run.changes {
		*l = loop{changes: w.block.run.changes, mark: digest, limit: 1, now: w.now}
		return
	}
	l.found = l.found || digest == l.mark
	if l.turns++; l.turns == l.limit {
		l.mark, l.turns, l.limit = digest, 0, 2*l.limit
	}
}

// digest is a hash of all that decides what the warp does next, memory apart.
func (w *warp) digest() uint64 {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(uint32(w.pc))<<32 | uint64(w.active)
	mix := func(v uint64) { h = bits.RotateLeft64((h^v)*prime, 29) }
	for r := range w.regs[:w.block.run.program.state()] {
		row := &w.regs[r]
		for i := 0; i < len(row); i += 2 {
			mix(uint64(row[i])<<32 | uint64(row[i+1]))
		}
	}
	for _, p := range w.preds {
		mix(uint64(p))
	}
	state := w.state.Snapshot(nil)
	for len(state) >= 4 {
		mix(uint64(binary.LittleEndian.Uint32(state)))
		state = state[4:]
	}
	return h
}

// spinners are the running warps of a launch in which nothing has changed for long.
type spinners struct {
	first *warp
	some  bool // do not repeat themselves, as far as is known
	seen  int  // by look
}

// watch looks at one of them after a turn.
func (s *spinners) watch(w *warp) {
	w.loop.watch(w)
	s.some = s.some || !w.loop.found
	if s.first == nil {
		s.first = w
	}
}

// livelock returns the fault if all warps repeat themselves. Blocks that have no place yet wait for them.
func (s *spinners) livelock(waiting int) error {
	w := s.first
	if w == nil || s.some {
		return nil
	}
	detail := fmt.Sprintf("under %s no thread changes memory any more and all repeat themselves: warp %d lanes %#08x run here",
		w.block.run.machine.options.Reconvergence.Name(), w.id, w.active)
	for _, g := range w.state.Waiting() {
		detail += "; " + w.describeWaiting(&g)
	}
	if waiting > 0 {
		detail += fmt.Sprintf("; %d blocks have no place on the GPU before others end", waiting)
	}
	return w.fault(w.next(), bits.TrailingZeros32(w.active), Livelock, detail)
}

// quietCycles is how long nothing may change, with timing, before a livelock is looked for.
const quietCycles = 1 << 15

// look watches a warp with timing. One that has not issued anything since the last look has not come back to anything.
func (s *spinners) look(w *warp) {
	s.seen++
	if w.loop.limit > 0 && w.loop.now == w.now {
		s.some = s.some || !w.loop.found
		return
	}
	w.loop.now = w.now
	s.watch(w)
}

// checkLivelock looks for a livelock at the end of a quantum: at a first warp until that repeats itself, then at all.
func (r *timedRun) checkLivelock(end int64) error {
	if r.changes != r.launch.changes {
		r.changes, r.changed = r.launch.changes, end
	}
	if end-r.changed < quietCycles || r.launch.replay != nil { // a stream ends
		return nil
	}
	var s spinners
	for _, sm := range r.sms {
		for _, v := range sm.slots {
			if v == nil || v.ended || v.warp.status != warpRunning {
				continue
			}
			if s.look(v.warp); s.some && s.seen == 1 {
				return nil // one that does not repeat itself is enough, and to look at all of a long loop takes long
			}
		}
	}
	err := s.livelock(r.launch.blocks - r.next)
	if err != nil && r.rest != nil {
		r.resume(end)
		return nil
	}
	return err
}
