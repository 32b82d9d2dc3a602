package emu

import (
	"slices"

	"gpa/emu/mem"
)

// A samplerQueue takes the samples of an SM and holds them back until they are complete.
type samplerQueue struct {
	observer Observer
	chooser  Chooser // the observer, if it chooses
	next     int64   // the next cycle to sample

	taken  []*snapshot
	whole  int // of taken: that are complete, from the first on
	unused []*snapshot

	picks []pick // where the observer chooses
	done  int    // of picks: that are complete, from the first on
	held  []int  // scratch: warps by sub-core
}

// A pick is a sample of the one warp that the observer has chosen.
type pick struct {
	cycle  int64
	state  WarpState
	issued bool      // by its scheduler
	open   *resident // the warp, while the producer of its stall is not known
	// late is all that could be chosen, while it is not known which warps have left.
	late *snapshot
	none bool // nothing was left to choose
}

func newSamplerQueue(o Observer) samplerQueue {
	q := samplerQueue{observer: o}
	if c, ok := o.(Chooser); ok && c.Chooses() {
		q.chooser = c
	}
	return q
}

// begin asks for the first sample at or after cycle t, when the SM has got a block while it held none.
func (q *samplerQueue) begin(s *sm, t int64) {
	if q.observer == nil {
		q.next = mem.Never
		return
	}
	if t > q.next || q.next == 0 {
		q.next = q.observer.NextSample(s.id, t)
	}
}

// upTo takes the samples of the cycles before t.
func (q *samplerQueue) upTo(s *sm, t int64) {
	for q.next < t {
		if q.chooser != nil {
			q.pick(s, q.next)
		} else {
			q.snap(s, q.next)
		}
		q.next = q.observer.NextSample(s.id, q.next+1)
	}
}

// pick takes a sample of one warp, if there is any.
func (q *samplerQueue) pick(s *sm, t int64) {
	if !q.hold(len(s.cores), func(core int) int { return s.cores[core].shown(t) }) {
		return
	}
	if slices.ContainsFunc(s.draining, (*resident).leaving) {
		late := q.blank(len(s.cores))
		late.take(s, t)
		q.picks = append(q.picks, pick{cycle: t, late: late})
		return
	}
	scheduler, place := q.chooser.Choose(s.id, q.held, t)
	c := s.cores[scheduler]
	v := c.showing(place, t)
	p := pick{cycle: t, issued: c.issuedAt == t}
	var open bool
	if p.state, open = v.state(t); open {
		p.open = v
	}
	q.picks = append(q.picks, p)
}

// hold enters how many warps there are to choose from by sub-core, and reports whether there is any.
func (q *samplerQueue) hold(cores int, warps func(core int) int) (any bool) {
	q.held = q.held[:0]
	for core := range cores {
		n := warps(core)
		q.held = append(q.held, n)
		any = any || n > 0
	}
	return any
}

// snap takes a sample of all warps, if there is any.
func (q *samplerQueue) snap(s *sm, t int64) {
	p := q.blank(len(s.cores))
	if p.take(s, t) {
		q.taken = append(q.taken, p)
	} else {
		q.unused = append(q.unused, p)
	}
}

func (q *samplerQueue) blank(cores int) *snapshot {
	if n := len(q.unused); n > 0 {
		p := q.unused[n-1]
		q.unused = q.unused[:n-1]
		return p
	}
	return newSnapshot(cores)
}

// completePick fills in what was not known, if it is by now, and reports whether all is.
func (q *samplerQueue) completePick(p *pick, s *sm) bool {
	switch {
	case p.late != nil:
		if !p.late.complete(s) {
			return false
		}
		q.choose(p)
		return true
	case p.open == nil:
		return true
	}
	o, open := p.open.producer(p.cycle)
	if !open {
		p.state.produced(o)
		p.open = nil
	}
	return !open
}

// choose chooses from a snapshot that is complete.
func (q *samplerQueue) choose(p *pick) {
	if p.none = !q.hold(p.late.Schedulers(), p.late.Warps); !p.none {
		scheduler, place := q.chooser.Choose(p.late.sm, q.held, p.cycle)
		p.state, p.issued = p.late.Warp(scheduler, place), p.late.Issued(scheduler)
	}
	q.unused, p.late = append(q.unused, p.late), nil
}

// complete completes the samples as far as it is possible, also those behind one that is still open: a warp that has its
// answers goes on in the next quantum.
func (q *samplerQueue) complete(s *sm) {
	q.done, q.whole = len(q.picks), len(q.taken)
	for i := len(q.picks) - 1; i >= 0; i-- {
		if !q.completePick(&q.picks[i], s) {
			q.done = i
		}
	}
	for i := len(q.taken) - 1; i >= 0; i-- {
		if !q.taken[i].complete(s) {
			q.whole = i
		}
	}
}

// deliver shows the observer the samples that are complete, in order.
func (q *samplerQueue) deliver() {
	for i := range q.picks[:q.done] {
		if p := &q.picks[i]; !p.none {
			q.chooser.Take(p.state, p.issued, p.cycle)
		}
	}
	q.picks = q.picks[:copy(q.picks, q.picks[q.done:])]
	for _, p := range q.taken[:q.whole] {
		if !p.empty() {
			q.observer.Sample(p, p.cycle)
		}
	}
	q.unused = append(q.unused, q.taken[:q.whole]...)
	q.taken = q.taken[:copy(q.taken, q.taken[q.whole:])]
}
