package emu

import (
	"math/bits"
	"slices"

	"gpa/emu/mem"
	"gpa/emu/stall"
)

// A symptom is a reason why a warp does not issue, with the test whether it holds in a cycle.
type symptom struct {
	reason stall.Reason
	holds  func(v *resident, t int64) bool
}

// symptoms lists the reasons in the order in which they are looked for: a sampled warp has one reason, the first that
// holds. NVIDIA has not published the order. That a running stall count goes before everything that the instruction
// waits for is measured: wait samples of an instruction are those of the stall count before it whether or not it waits
// for a dependence counter or, behind BAR, for other warps too. Behind a taken branch, and behind EXIT, they show wait until it is
// looked at, then branch_resolving, whatever the stall count is, then no_instructions at the target, or drain. A warp that has just
// been launched shows no_instructions at its first instruction: all of its 149 samples there that are not of an issue, in a report of
// a kernel of one store a thread on a T4. The rest follows the way of an instruction: fetched, decoded with its constant, dependences,
// queue; then the dispatcher, if it still reads operands for the instruction before, which keeps the pipe busy too (a product of
// matrices on an RTX 3080 whose FFMA read three registers of a bank shows 91 % dispatch_stall there and no math_pipe_throttle), pipe,
// and what is left.
var symptoms = [...]symptom{
	{stall.Wait, func(v *resident, t int64) bool { return v.ended && t < v.resolving }},
	{stall.BranchResolving, func(v *resident, t int64) bool { return v.ended && t < v.branch }},
	{stall.Drain, blockedBy(stall.Drain)},
	{stall.Sleeping, blockedBy(stall.Sleeping)},
	{stall.Membar, blockedBy(stall.Membar)},
	{stall.Wait, func(v *resident, t int64) bool { return t < min(v.branch, v.resolving) }},
	{stall.BranchResolving, func(v *resident, t int64) bool { return t < v.branch }},
	{stall.Wait, func(v *resident, t int64) bool { return t < v.stalled && !v.yielded }},
	{stall.Barrier, blockedBy(stall.Barrier)},
	{stall.NoInstructions, blockedBy(stall.NoInstructions)},
	{stall.NoInstructions, func(v *resident, t int64) bool { return t < max(v.refetched, v.fetched) }},
	{stall.ImcMiss, func(v *resident, t int64) bool { return t < v.constant }},
	{stall.GMMA, func(v *resident, t int64) bool { return v.multiplies(t) }},
	{stall.LongScoreboard, func(v *resident, t int64) bool { return v.outstanding(t, true) }},
	{stall.ShortScoreboard, func(v *resident, t int64) bool { return v.outstanding(t, false) }},
	{stall.LgThrottle, func(v *resident, t int64) bool { return v.unit == unitLG && t < v.core.freeAt(v.unit, t) }},
	{stall.TexThrottle, func(v *resident, t int64) bool { return v.unit == unitTEX && t < v.core.freeAt(v.unit, t) }},
	{stall.MioThrottle, func(v *resident, t int64) bool { return v.unit == unitMIO && t < v.core.freeAt(v.unit, t) }},
	{stall.DispatchStall, func(v *resident, t int64) bool { return v.core.issuedAt < t && t < v.core.dispatched }},
	{stall.MathPipeThrottle, func(v *resident, t int64) bool { return t < v.core.freeAt(v.unit, t) }},
	{stall.NotSelected, func(v *resident, t int64) bool { return v.core.issuedAt == t }},
	{stall.DispatchStall, func(*resident, int64) bool { return true }}, // the register file, or a yield with nobody to yield to
}

func blockedBy(reason stall.Reason) func(*resident, int64) bool {
	return func(v *resident, t int64) bool { return t < v.blocked && v.why == reason }
}

// freeAt returns when a unit is free, as it was before an instruction that issued in cycle t.
func (c *subcore) freeAt(u unit, t int64) int64 {
	if c.issuedAt == t && c.issuedUnit == u {
		return c.freeBefore
	}
	return c.free(u)
}

// outstanding reports whether the next instruction waits, in cycle t, for a result of L1TEX, or for any.
func (v *resident) outstanding(t int64, l1tex bool) bool {
	return v.awaits(t, func(e event) bool { return !l1tex || e.op.t.l1tex })
}

// multiplies reports whether the next instruction waits, in cycle t, for matrix products of the warpgroup.
func (v *resident) multiplies(t int64) bool {
	return v.next.t.depbar == groupCount && (v.counters[groupCount].atMost(v.next.t.depbarMax) > t || v.gathered > t || v.ahead())
}

// awaits reports whether one of the events that the next instruction waits for in cycle t satisfies the test.
func (v *resident) awaits(t int64, test func(event) bool) bool {
	tm := &v.next.t
	for m := tm.wait; m != 0; m &= m - 1 {
		n := bits.TrailingZeros8(m)
		for _, e := range v.visible(n) {
			if e.done > t && test(e) {
				return true
			}
		}
	}
	if tm.depbar >= 0 {
		events := v.counters[tm.depbar].events
		for _, e := range events[:max(len(events)-tm.depbarMax, 0)] {
			if e.done > t && test(e) {
				return true
			}
		}
	}
	return false
}

// visible returns the events of a counter that the next instruction waits for.
func (v *resident) visible(n int) []event {
	events := v.counters[n].events
	if v.hidden>>n&1 != 0 {
		events = events[:len(events)-1]
	}
	return events
}

// after reports whether an event completes after another one. Of those that are done in the same cycle the one that was issued later
// does: what comes back in turn comes back behind what was issued before it.
func (e event) after(other event) bool {
	return e.done > other.done || e.done == other.done && e.issued >= other.issued
}

// producer returns the one of the events that the next instruction waits for in cycle t that completes last; open says
// that this is not known yet.
func (v *resident) producer(t int64) (o *op, open bool) {
	var last event
	var n, unknown int
	v.awaits(t, func(e event) bool {
		n++
		if e.done == mem.Never {
			unknown++
		}
		if last.op == nil || e.after(last) {
			last = e
		}
		return false
	})
	if last.op != nil && last.op.t.closes && last.op.t.path != pathGroup {
		last.op = v.lastCopy(last)
	}
	return last.op, unknown > 0 && n > 1
}

// state returns what a sample of the warp in cycle t records. With open, the producer is not known yet.
func (v *resident) state(t int64) (w WarpState, open bool) {
	c := v.core
	if c.issuedAt == t && c.last == v {
		return c.issued.behind(stall.Selected), false
	}
	for i := range symptoms {
		if !symptoms[i].holds(v, t) {
			continue
		}
		w = v.shownAt(t, symptoms[i].reason)
		if r := w.Reason; r == stall.LongScoreboard || r == stall.ShortScoreboard || r == stall.GMMA {
			var o *op
			if o, open = v.producer(t); o == nil { // products of which other warps of the warpgroup have yet to issue their parts
				o = v.product
			}
			if o != nil {
				w.produced(o)
			}
		}
		return w, open
	}
	return w, false
}

// shownAt returns a warp's state in cycle t at the pc that a sample shows: that of the instruction that it issues next, but for warps
// whose next pc is not known yet or that have none. Those are shown behind the instruction that they issued last.
func (v *resident) shownAt(t int64, r stall.Reason) WarpState {
	switch {
	case v.ended:
		return v.next.behind(r)
	case t < v.turns:
		return v.turn.behind(r)
	}
	return v.next.state(r)
}

// state returns a warp's state at the instruction.
func (o *op) state(r stall.Reason) WarpState {
	return WarpState{Code: int(o.code), PC: o.inst.PC, Reason: r}
}

// behind returns a warp's state at the pc behind the instruction, or at its own where that is the end of the code.
func (o *op) behind(r stall.Reason) WarpState {
	return WarpState{Code: int(o.code), PC: o.following, Reason: r}
}

func (w *WarpState) produced(o *op) {
	w.HasProducer, w.ProducerCode, w.ProducerPC = true, int(o.code), o.inst.PC
}

// A snapshot is the view of an SM in one cycle. It is taken when the cycle has passed and shown to the observer when
// the producers of all stalls in it are known.
type snapshot struct {
	sm    int
	cycle int64
	cores []coreShot
	open  []openState

	leaving []leavingWarp // in the order of their places
}

// A coreShot is a snapshot of a sub-core.
type coreShot struct {
	issued bool
	states []WarpState // of its warps
}

// A leavingWarp is a warp that had ended when a snapshot was taken, while it was not known until when its stores kept it on the
// SM. That may turn out to have been before.
type leavingWarp struct {
	warp        *resident
	core, place int
}

// An openState is one of a snapshot's states whose producer is not known yet.
type openState struct {
	warp  *resident
	state *WarpState
}

func newSnapshot(cores int) *snapshot { return &snapshot{cores: make([]coreShot, cores)} }

// empty reports whether the SM held no warp.
func (p *snapshot) empty() bool {
	return !slices.ContainsFunc(p.cores, func(c coreShot) bool { return len(c.states) > 0 })
}

func (p *snapshot) SM() int                             { return p.sm }
func (p *snapshot) Schedulers() int                     { return len(p.cores) }
func (p *snapshot) Warps(scheduler int) int             { return len(p.cores[scheduler].states) }
func (p *snapshot) Issued(scheduler int) bool           { return p.cores[scheduler].issued }
func (p *snapshot) Warp(scheduler, place int) WarpState { return p.cores[scheduler].states[place] }

// shows reports whether a sample of cycle t shows the warp.
func (v *resident) shows(t int64) bool { return t >= v.born && (!v.ended || t < v.blocked) }

// leaving reports whether the warp has ended and it is not known until when its stores keep it on the SM.
func (v *resident) leaving() bool { return v.ended && v.blocked == mem.Never }

// showsAll reports whether a sample of cycle t shows all of the warps.
func (c *subcore) showsAll(t int64) bool { return t >= c.born && c.ended == 0 }

// shown returns the number of warps that a sample of cycle t shows.
func (c *subcore) shown(t int64) int {
	if c.showsAll(t) {
		return len(c.warps)
	}
	n := 0
	for _, v := range c.warps {
		if v.shows(t) {
			n++
		}
	}
	return n
}

// showing returns the warp in some place among those that a sample of cycle t shows.
func (c *subcore) showing(place int, t int64) *resident {
	if c.showsAll(t) {
		return c.warps[place]
	}
	for _, v := range c.warps {
		if !v.shows(t) {
			continue
		}
		if place == 0 {
			return v
		}
		place--
	}
	return nil
}

// take fills the snapshot with the state of the SM in cycle t and reports whether the SM held a warp then.
func (p *snapshot) take(s *sm, t int64) bool {
	p.sm, p.cycle, p.open, p.leaving = s.id, t, p.open[:0], p.leaving[:0]
	held := 0
	for i, c := range s.cores {
		n := c.shown(t)
		p.cores[i] = coreShot{c.issuedAt == t, slices.Grow(p.cores[i].states[:0], n)[:n]}
		for place := range n {
			v, to := c.showing(place, t), &p.cores[i].states[place]
			var open bool
			if *to, open = v.state(t); open {
				p.open = append(p.open, openState{v, to})
			}
			if v.leaving() {
				p.leaving = append(p.leaving, leavingWarp{v, i, place})
			}
		}
		held += n
	}
	return held > 0
}

// complete fills in the producers that are known by now and reports whether all are. Then the warps are taken out that had
// left before.
func (p *snapshot) complete(s *sm) bool {
	rest := p.open[:0]
	for _, w := range p.open {
		o, open := w.warp.producer(p.cycle)
		if open {
			rest = append(rest, w)
			continue
		}
		w.state.produced(o)
	}
	p.open = rest
	return len(rest) == 0 && p.leave(s)
}

// leave takes out the warps that had left the SM, if that is known of all.
func (p *snapshot) leave(s *sm) bool {
	for _, l := range p.leaving {
		if s.drained(l.warp) == mem.Never {
			return false
		}
	}
	for _, l := range slices.Backward(p.leaving) {
		if s.drained(l.warp) <= p.cycle {
			c := &p.cores[l.core]
			c.states = slices.Delete(c.states, l.place, l.place+1)
		}
	}
	p.leaving = p.leaving[:0]
	return true
}
