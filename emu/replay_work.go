package emu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gpa/emu/mem"
	"gpa/emu/stream"
)

// A transactions is what there is of a replayed block's transaction barriers, and of what its warps are given while they run.
type transactions struct {
	counts map[stream.Phase]int32 // arrivals
	ranks  *ranks                 // nil where the phases are those that were recorded
	units  tensorUnits
	found  []foundUnits
	pool   int     // registers that warps have given back
	pages  []int32 // of the launch's table
}

// A foundUnits is units of tensor memory as they were recorded, and those that a block has in their place.
type foundUnits struct{ recorded, found uint32 }

// The ranks of a block whose warps have fewer rounds than were recorded: the first phase of a barrier at which a warp still arrives, or for which it
// still waits, is the barrier's first one, and so on.
type ranks struct{ arrivals, waits rankList }

// A rankList is phases as they were recorded, and what they are now.
type rankList map[barrierOfWarp]*rank

type rank struct{ recorded, now int32 }

// A barrierOfWarp is a warp and a transaction barrier.
type barrierOfWarp struct {
	warp    int
	barrier int32
}

func newRanks() *ranks { return &ranks{make(rankList), make(rankList)} }

// of returns the phase that a recorded one of a warp is. A warp comes to the phases of a barrier in their order.
func (l rankList) of(warp int, p stream.Phase) stream.Phase {
	at := barrierOfWarp{warp, p.Barrier}
	r := l[at]
	if r == nil {
		r = new(rank)
		l[at] = r
	}
	if r.recorded != p.Number {
		r.recorded = p.Number
		r.now++
	}
	p.Number = r.now
	return p
}

// arrival returns the phase at which a warp arrives next.
func (r *ranks) arrival(warp int, p stream.Phase) stream.Phase {
	if r == nil {
		return p
	}
	return r.arrivals.of(warp, p)
}

// wait returns the phase for which a warp waits next.
func (r *ranks) wait(warp int, p stream.Phase) stream.Phase {
	if r == nil || p.Barrier == 0 {
		return p
	}
	return r.waits.of(warp, p)
}

// transactionsOf makes those of a block.
func (p *replay) transactionsOf(b *stream.Block) *transactions {
	t := &transactions{}
	if p.tape.works != nil {
		t.pages = p.tape.works.Use(b)
	}
	if len(t.pages) > 0 || p.tape.clusters != nil {
		t.counts = make(map[stream.Phase]int32)
	}
	return t
}

// joined looks at the transaction barriers of the blocks of a cluster, or of a block.
func (p *replay) joined(blocks []*block) error {
	if !slices.ContainsFunc(blocks, func(b *block) bool { return len(b.replay.transactions.pages) > 0 }) {
		return nil
	}
	none, some := make([]*ranks, len(blocks)), make([]*ranks, len(blocks))
	for i := range some {
		some[i] = newRanks()
	}
	err := p.whole(blocks, none)
	if err == nil || p.whole(blocks, some) != nil {
		return err
	}
	for _, b := range blocks {
		b.replay.transactions.ranks = newRanks()
	}
	return nil
}

// whole makes sure that all arrivals are left at the phases that the warps of blocks wait for. By ranks no phase lacks any, whoever waits for it.
func (p *replay) whole(blocks []*block, by []*ranks) error {
	arrivals, awaited := make(map[stream.Phase]int32), make(map[stream.Phase]int32)
	needed, last := make(map[int32]int32), make(map[int32]int32) // by barrier
	exact := by[0] != nil
	for i, b := range blocks {
		for w := range b.replay.stream.Warps {
			for _, e := range b.replay.stream.Warps[w].Events {
				if e.Kind != stream.RefWork {
					continue
				}
				work := p.tape.works.At(e.Ref)
				for _, a := range work.Arrivals {
					at := by[i].arrival(w, a.Phase)
					arrivals[at] += a.Count
					last[at.Barrier] = max(last[at.Barrier], at.Number)
				}
				c := work.Awaits
				if c.Arrivals == 0 {
					continue
				}
				if n := needed[c.Phase.Barrier]; exact && (c.Leaps || n != 0 && n != c.Arrivals) {
					return errors.New("the phases of a transaction barrier are not alike")
				}
				needed[c.Phase.Barrier] = c.Arrivals
				awaited[by[i].wait(w, c.Phase)] = c.Arrivals
			}
		}
	}
	if exact {
		for barrier, n := range needed {
			for k := range last[barrier] {
				awaited[stream.Phase{Barrier: barrier, Number: k + 1}] = n
			}
		}
	}
	var lacks stream.Phase // the first one
	for at, n := range awaited {
		if left := arrivals[at]; (left < n || exact && left != n) && (lacks.Barrier == 0 || cmp.Or(cmp.Compare(at.Barrier, lacks.Barrier), cmp.Compare(at.Number, lacks.Number)) < 0) {
			lacks = at
		}
	}
	if lacks.Barrier != 0 {
		return fmt.Errorf("a transaction barrier that warps wait for has %d of %d arrivals", arrivals[lacks], awaited[lacks])
	}
	return nil
}

// grants reports whether a warp finds what an event asks for, and gives it to the warp.
func (w *warp) grants(work *stream.Work) bool {
	t := w.block.replay.transactions
	if !w.asking {
		w.awaits = t.ranks.wait(w.id, work.Awaits.Phase)
	}
	if t.counts[w.awaits] < work.Awaits.Arrivals || int(work.Registers) > t.pool {
		return false
	}
	if work.Units > 0 {
		t.units.taken = &w.block.resident.sm.tensorTaken
		first, ok := t.units.find(int(work.Units), work.Aligned)
		if !ok {
			return false
		}
		t.found = append(t.found, foundUnits{work.Found, (1<<work.Units - 1) << first})
	}
	t.pool -= int(work.Registers)
	for i := range t.found {
		if f := &t.found[i]; f.found != 0 && f.recorded&^work.Freed == 0 {
			t.units.change(t.units.allocated &^ f.found)
			f.found = 0
		}
	}
	return true
}

// does makes an event's work that of the warp, for timing. Transaction barriers have the numbers of their phases in the place of addresses.
func (w *warp) does(work *stream.Work, o *op) {
	ranks := w.block.replay.transactions.ranks
	for _, a := range work.Arrivals {
		at, to := ranks.arrival(w.id, a.Phase), w.block
		if to.cluster != nil {
			to = to.cluster.blocks[a.Rank]
		}
		to.replay.transactions.counts[at] += a.Count
		switch {
		case o.t.path == pathTransfer || o.t.path == pathTensor:
			w.bulk.barriers = append(w.bulk.barriers, told{to, placeOf(at)})
		case to != w.block:
			w.told = append(w.told, told{to, placeOf(at)})
		}
	}
	if work.Awaits.Arrivals > 0 {
		w.asked = asked{placeOf(w.awaits), true}
	}
	w.bulk.kind = mem.Kind(work.Kind)
	for i := range work.Copied {
		r := &work.Copied[i]
		for k := range int64(r.Count) {
			w.bulk.lines = append(w.bulk.lines, mem.Line{Number: r.First + uint64(k*r.Step), Sectors: r.Sectors, Bytes: r.Bytes})
		}
	}
	w.tensor = tensorWork{int(work.Columns), int(work.Bytes), work.InTensor}
}

// placeOf stands for the address of a barrier.
func placeOf(p stream.Phase) uint64 { return uint64(p.Barrier)<<32 | uint64(uint32(p.Number)) }

// starves returns an error where a warp asks for what will never be there, as all others of its block wait as well.
func (w *warp) starves() error {
	for _, b := range w.block.group() {
		for _, other := range b.warps {
			if other.status == warpRunning && !other.waitsInVain() {
				return nil
			}
		}
	}
	return fmt.Errorf("the warps of block %d wait for each other at transaction barriers after their streams were edited", w.block.number)
}

// waitsInVain reports whether a warp asks for what is not there until another one of its block goes on.
func (w *warp) waitsInVain() bool {
	if !w.asking {
		return false
	}
	t, work := w.block.replay.transactions, w.block.run.replay.tape.works.At(w.events[w.cursor].Ref)
	if t.counts[w.awaits] < work.Awaits.Arrivals || int(work.Registers) > t.pool {
		return true
	}
	return work.Units > 0 && *t.units.taken&^t.units.allocated == 0 // nobody else gives units back
}
