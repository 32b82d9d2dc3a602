package emu

import (
	"math/bits"

	"gpa/emu/mem"
)

// A bulkCopy is what the last instruction had the copy engine move.
type bulkCopy struct {
	lines    []mem.Line // of global memory
	kind     mem.Kind   // what is done to them
	barriers []told     // the transaction barriers that count its bytes
	room     [16]byte   // an element that is not as it lies in memory
}

// A told is a transaction barrier in the shared memory of a block.
type told struct {
	block *block
	at    uint64
}

// touch adds bytes of global memory. Those of a line come one after the other.
func (c *bulkCopy) touch(addr, size uint64) {
	const line, sector = 128, 32
	n := len(c.lines)
	if n == 0 || c.lines[n-1].Number != addr/line {
		c.lines = append(c.lines, mem.Line{Number: addr / line})
		n++
	}
	l, s := &c.lines[n-1], addr%line/sector
	l.Sectors |= 1 << s
	l.Bytes[s] |= uint32((1<<size - 1) << (addr % sector))
}

// An asked is the transaction barrier of a query that found the phase complete.
type asked struct {
	barrier uint64
	done    bool
}

// A transfer is the copies that a transaction barrier of a block counts. The functional model completes its phase when the last of them
// issues; whoever asks for the phase waits for the answer until the data are there.
type transfer struct {
	pending int   // copies whose end is not known
	done    int64 // of the others, the last one's
	op      *op   // the last copy
	waiters []awaited
}

// arrive notes that a copy is complete in some cycle, and lets those go on that wait for the last one.
func (x *transfer) arrive(done int64) {
	x.done = max(x.done, done)
	if x.pending--; x.pending > 0 {
		return
	}
	waiters := x.waiters
	x.waiters = nil
	for i := range waiters {
		waiters[i].settle(max(x.done, waiters[i].issued))
	}
}

// An arrivedCopy is a copy for other blocks of the cluster, and when it is complete.
type arrivedCopy struct {
	transfer *transfer
	done     int64
}

// arrivals tells other SMs of the copies that have come to them.
func (s *sm) arrivals() {
	for _, a := range s.arrived {
		a.transfer.arrive(a.done)
	}
	s.arrived = s.arrived[:0]
}

// deliver times a copy between shared memories, or an arrival at a barrier of another block: those who wait for the barriers see it as late
// as the way takes.
func (s *sm) deliver(c *bulkCopy, o *op, t int64) {
	for _, b := range c.barriers {
		if b.block.resident == nil {
			continue
		}
		x := b.block.resident.transferOf(b.at)
		x.done, x.op = max(x.done, t+s.run.latency.remote), o
	}
}

// transfer sends what an instruction copies to the copy engine. Stores are complete when their lines are on the way.
func (s *sm) transfer(v *resident, o *op, t int64) (read, done int64) {
	c := &v.warp.bulk
	if len(c.lines) == 0 {
		s.deliver(c, o, t)
		return t + 1, t + 1
	}
	n := &s.domain.tally.memory[o.index]
	for i := range c.lines {
		n.GlobalSectors += int64(bits.OnesCount8(c.lines[i].Sectors))
		n.GlobalSectorsIdeal += int64(bits.OnesCount8(c.lines[i].Sectors))
	}
	w := awaited{v: v, issued: t, write: -1, sooner: v.sooner(o, t), of: v.copies}
	there := w.sooner > 0 && w.sooner >= w.of.took && w.of.took > 0 // what was issued so long ago has come
	g := mem.Global{Kind: c.kind, Words: 4, Bypass: true}
	for _, b := range c.barriers {
		x := b.block.resident.transferOf(b.at)
		x.op = o
		if there {
			x.done = max(x.done, t+1)
			continue
		}
		x.pending++
		w.transfers, w.further = append(w.transfers, x), s.run.latency.bulk
		w.remote = w.remote || b.block != v.block.block
	}
	if c.kind != mem.Read {
		w.stored, w.store = true, v.number(storeCount)
	}
	user := s.waits.add(w)
	g.User = userData | uint64(user)
	read, done = s.path.Bulk(t, c.lines, g)
	if w.stored {
		v.counters[storeCount].add(t, done, o)
		v.sent = max(v.sent, read)
	}
	if done != mem.Never {
		w = s.waits.take(user)
		w.transferred(done)
	}
	return read, read
}

// copyRounds is when a warp has begun the rounds in which it gives copies to the copy engine.
type copyRounds struct {
	begun []int64
	asked bool  // for a phase of a barrier, since its last copy
	took  int64 // cycles from the issue of the last copy that memory has answered until its data were there
}

// sooner is how long before a copy of a warp the one was issued that is as many rounds before as is supposed of it; of the first rounds, the first one;
// negative where the copy is supposed to be later. A round ends where the warp asks for a phase of a barrier: that a stage is empty, or that it is full.
func (v *resident) sooner(o *op, t int64) int64 {
	if o.t.earlier == 0 || len(v.warp.bulk.barriers) == 0 {
		return 0
	}
	if v.copies == nil {
		v.copies = new(copyRounds)
	}
	r := v.copies
	if len(r.begun) == 0 || r.asked {
		r.begun, r.asked = append(r.begun, t), false
		r.begun = r.begun[max(0, len(r.begun)-max(o.t.earlier, -o.t.earlier)-1):]
	}
	if o.t.earlier < 0 {
		return r.begun[0] - r.begun[len(r.begun)-1]
	}
	return r.begun[len(r.begun)-1] - r.begun[0]
}

// transferOf returns the copies that a transaction barrier counts.
func (b *residentBlock) transferOf(barrier uint64) *transfer {
	if b.transfers == nil {
		b.transfers = make(map[uint64]*transfer)
	}
	x := b.transfers[barrier]
	if x == nil {
		x = new(transfer)
		b.transfers[barrier] = x
	}
	return x
}

// queried returns when a query of a transaction barrier that found its phase complete is answered, and what it waits for.
func (s *sm) queried(v *resident, o *op, done int64) (int64, *op) {
	if v.copies != nil {
		v.copies.asked = true
	}
	x := v.block.transfers[v.warp.asked.barrier]
	switch {
	case x == nil:
		return done, o
	case x.pending > 0 && o.t.write >= 0:
		x.waiters = append(x.waiters, awaited{v: v, issued: done, write: o.t.write, number: v.number(o.t.write)})
		return mem.Never, x.op
	case x.done > done:
		return x.done, x.op
	}
	return done, o
}
