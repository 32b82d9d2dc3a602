package emu

import (
	"errors"
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/mem"
	"gpa/emu/stream"
)

// What a recorded warp has others do beside it, and what it waits for of that, is kept with the launch, not with the block: see [stream.Works].

// A phaseCount is a transaction barrier while it is recorded: the phase that is under way, and the last one that was complete.
type phaseCount struct {
	under    stream.Condition
	complete stream.Condition
	awaited  map[int]int32 // by warp: the last phase that it has waited for
}

// A question is one that a warp asks in vain, from the first time on.
type question struct {
	open    bool
	event   int // of the warp: the first time
	first   *op
	barrier uint64
	left    []*op // what follows the last time, and is not kept
}

// barrierOf returns the count of a barrier of a block.
func (c *tape) barrierOf(b *block, at uint64) *phaseCount {
	key := told{b, at & (windowSize - 1)}
	p := c.barriers[key]
	if p == nil {
		c.barrier++
		p = &phaseCount{under: stream.Condition{Phase: stream.Phase{Barrier: c.barrier, Number: 1}}, awaited: make(map[int]int32)}
		c.barriers[key] = p
	}
	return p
}

// began takes note that a transaction barrier is initialised.
func (c *blockTape) began(b *block, at uint64) {
	if c != nil {
		delete(c.barriers, told{b, at & (windowSize - 1)})
	}
}

// counted takes note of an arrival at a transaction barrier, or of the end of a transaction there, which may have completed the phase.
func (c *blockTape) counted(b *block, at, old, changed uint64) {
	if c == nil || c.stepping == nil {
		return
	}
	p := c.barrierOf(b, at)
	p.under.Arrivals++
	if n := len(c.arrivals); n > 0 && c.arrivals[n-1].Phase == p.under.Phase {
		c.arrivals[n-1].Count++
	} else {
		c.arrivals = append(c.arrivals, stream.Arrival{Phase: p.under.Phase, Count: 1, Rank: int8(b.rank)})
	}
	if (old^changed)>>63 != 0 {
		p.complete, p.under.Arrivals = p.under, 0
		p.under.Phase.Number++
	}
}

// A possession is what a warp and its block have of what is given out while they run.
type possession struct {
	units     uint32 // of tensor memory
	registers int
}

func (w *warp) possession() (p possession) {
	if p.registers = w.budget; w.block.tensor != nil {
		p.units = w.block.tensor.allocated
	}
	return p
}

// work returns what the instruction that a warp has just executed has to do with others, ok is false for nothing.
func (c *blockTape) work(w *warp, o *op, before possession) (work stream.Work, ok bool) {
	after := w.possession()
	found := after.units &^ before.units
	work = stream.Work{
		Registers: int32(after.registers - before.registers),
		Units:     int32(bits.OnesCount32(found)), Found: found, Aligned: o.mode != 0, Freed: before.units &^ after.units,
	}
	ok = work.Registers != 0 || work.Units != 0 || work.Freed != 0
	if len(c.arrivals) > 0 {
		work.Arrivals, ok = append(work.Arrivals, c.arrivals...), true
	}
	if w.asked.done {
		if p := c.barrierOf(w.block, w.asked.barrier); p.complete.Arrivals > 0 {
			work.Awaits, ok = p.complete, true
			n := p.complete.Phase.Number
			work.Awaits.Leaps = n > p.awaited[w.id]+1
			p.awaited[w.id] = n
		}
	}
	if w.mask != 0 {
		switch o.t.path {
		case pathTransfer:
			work.Copied, work.Kind = runsOf(w.bulk.lines), uint8(w.bulk.kind)
			ok = ok || len(work.Copied) > 0
		case pathTensor:
			if !o.t.closes {
				work.Columns, work.Bytes, work.InTensor = int32(w.tensor.columns), int32(w.tensor.bytes), w.tensor.inTensor
				ok = ok || work.Columns > 0 || work.Bytes > 0
			}
		}
	}
	if a := &w.acc; ok && a.kind != accessNone {
		work.SetAccess(stream.Access{Kind: uint8(a.kind), Space: uint8(a.space), Size: a.size}, a.mask, &a.addr)
	}
	return work, ok
}

// runsOf puts lines together that are equally far from each other.
func runsOf(lines []mem.Line) (runs []stream.Run) {
	for i := range lines {
		l := &lines[i]
		if n := len(runs); n > 0 {
			r := &runs[n-1]
			step := int64(l.Number - lines[i-1].Number)
			if r.Sectors == l.Sectors && r.Bytes == l.Bytes && (r.Count == 1 || r.Step == step) {
				r.Step = step
				r.Count++
				continue
			}
		}
		runs = append(runs, stream.Run{First: l.Number, Count: 1, Sectors: l.Sectors, Bytes: l.Bytes})
	}
	return runs
}

// ask takes note of a question and its answer, and reports whether its event is kept. What a warp executes from a question that it asks in vain to
// the next one for the same is no part of its stream, where that is nothing but a way to wait: how often it asks is a matter of time. The stream
// has the first question, with what the last one has found, and goes on as if that had been the first.
func (c *blockTape) ask(w *warp, o *op, e *stream.Event, active uint32, failed bool) (keeps bool) {
	s, q := &c.block.Warps[w.id], &c.questions[w.id]
	barrier := uint64(0)
	if o.inst.Op == sass.SYNCS {
		barrier = w.asked.barrier
	}
	if !q.open || q.barrier != barrier || q.first.inst.Op != o.inst.Op || !c.waitsOnly(s.Events[q.event:], active) {
		*q = question{open: failed, event: len(s.Events), first: o, barrier: barrier}
		return true
	}
	same := c.run.program.rejoin(q.first, o)
	if same == nil {
		c.cut(w.id, q.event)
		*q = question{open: failed, event: q.event, first: o, barrier: barrier}
		return true
	}
	kept := 0 // what it has done behind the first question, and does where the answer is yes
	for behind := s.Events[q.event+1:]; kept < min(len(behind), len(same.first)) && behind[kept].Op == same.first[kept].index; {
		kept++
	}
	c.cut(w.id, q.event+1+kept)
	c.repeated++
	if failed {
		return false
	}
	first := &s.Events[q.event]
	lanes := first.Lanes
	*first = *e
	first.Op, first.Lanes = q.first.index, lanes
	for _, o := range same.first[kept:] {
		s.Events = append(s.Events, stream.Event{Op: o.index, Ref: -1, Lanes: lanes})
		if c.values {
			s.Values = append(s.Values, stream.Value{})
		}
	}
	c.repeated -= int64(len(same.first) - kept)
	*q = question{left: same.other}
	return false
}

// cut takes the events of a warp away from one on.
func (c *blockTape) cut(warp, event int) {
	s := &c.block.Warps[warp]
	c.repeated += int64(len(s.Events) - event)
	if s.Events = s.Events[:event]; c.values {
		s.Values = s.Values[:event]
	}
}

// leftOut reports whether an instruction is one behind a question that the stream has not, as it is behind the first one there.
func (c *blockTape) leftOut(w *warp, o *op) bool {
	q := &c.questions[w.id]
	if len(q.left) == 0 || q.left[0] != o {
		q.left = nil
		return false
	}
	q.left = q.left[1:]
	c.repeated++
	return true
}

// waitsOnly reports whether events are nothing but a question of some lanes, the first, and what they compute and where they branch behind it.
func (c *blockTape) waitsOnly(events []stream.Event, lanes uint32) bool {
	if len(events) > mostBetween {
		return false
	}
	for i := range events {
		e := &events[i]
		computes := e.Kind == stream.RefNone || e.Kind == stream.RefAccess && c.block.Access[e.Ref].Space == stream.Constant
		if i > 0 && !computes || c.block.Lanes[e.Lanes].Active != lanes {
			return false
		}
	}
	return true
}

// failed reports whether what an instruction asked for was not there.
func (w *warp) failed(o *op, before possession) bool {
	switch {
	case !o.asks || w.mask == 0:
		return false
	case o.inst.Op == sass.SYNCS:
		return !w.asked.done
	case o.inst.Op == sass.USETMAXREG:
		return int(o.n) > w.budget
	}
	return w.possession().units == before.units
}

// errAsynchronous is why a launch is not recorded to be one with another.
var errAsynchronous = errors.New("copies, products and transaction barriers are not those of several launches")
