package emu

import (
	"cmp"
	"slices"
)

// A vacancy is a place for a block on an SM, free from a cycle on.
type vacancy struct {
	at int64
	sm *sm
}

// fill gives the SMs their first blocks, one each in turn until all are full.
func (r *timedRun) fill() {
	if r.launch.launch.clusterBlocks() > 1 {
		r.fillClusters()
		return
	}
	r.next = min(r.launch.blocks, r.capacity())
	if r.launch.replay != nil {
		r.fillReplayed()
		return
	}
	blocks, at := make([]*block, r.next), make([]int64, r.next)
	for i := range at {
		at[i] = r.distribute(r.model.Launching.Fixed.Cycles())
	}
	r.crew.each(len(r.sms), true, func(_ *worker, i int) {
		for n := i; n < len(blocks); n += len(r.sms) {
			b := r.launch.allocate()
			b.restart(r.launch.numberOf(n), &r.sms[i].domain)
			b.sm = i
			r.sms[i].place(b, at[n])
			blocks[n] = b
		}
	})
	for _, b := range blocks {
		r.launch.own(b)
	}
}

// fillReplayed does the same with blocks that are recorded one after another.
func (r *timedRun) fillReplayed() {
	for n := range r.next {
		s := r.sms[n%len(r.sms)]
		at := r.distribute(r.model.Launching.Fixed.Cycles())
		b, err := r.launch.replayedBlock(n, s)
		if err != nil {
			r.failed = err
			return
		}
		s.place(b, at)
	}
}

// distribute returns when the work distributor gives out a block that can begin in cycle t.
func (r *timedRun) distribute(t int64) int64 {
	r.dispatch = max(r.dispatch, float64(t))
	t = int64(r.dispatch)
	r.dispatch += r.model.Launching.Block.Value
	return t
}

// place gives an SM the next block, in cycle t or when the blocks before have been given out.
func (r *timedRun) place(s *sm, t int64) {
	b, err := r.launch.blockFor(r.next, s)
	r.next++
	if err != nil {
		r.failed = err
		return
	}
	s.place(b, r.distribute(t))
}

// blockFor makes the n-th block for an SM.
func (r *launchRun) blockFor(n int, s *sm) (*block, error) {
	if r.replay != nil {
		return r.replayedBlock(n, s)
	}
	b := r.newBlock(r.numberOf(n))
	b.sm = s.id
	b.enter(&s.domain)
	return b, nil
}

// ends takes note that a block has left its SM.
func (r *launchRun) ends(b *block) {
	if r.replay != nil {
		r.replay.leave(b)
		return
	}
	r.recycle(b)
}

// vacate takes note of the blocks that left in the quantum, in the order in which they did.
func (r *timedRun) vacate() {
	old := len(r.vacant)
	for _, s := range r.sms {
		for _, at := range s.freed {
			r.vacant = append(r.vacant, vacancy{at, s})
		}
		s.freed = s.freed[:0]
	}
	free := r.vacant[old:]
	slices.SortStableFunc(free, func(a, b vacancy) int { return cmp.Compare(a.at, b.at) })
	for i := range free {
		r.leave(free[i].at)
		free[i].at += r.model.Launching.Replace.Cycles()
	}
	r.settle()
}

// assign gives the blocks that wait the places that are free before a cycle, at the pace of the GPU's work distributor.
func (r *timedRun) assign(before int64) {
	if r.launch.launch.clusterBlocks() > 1 {
		r.assignClusters(before)
		return
	}
	for r.waiting() {
		i := r.vacancy()
		if i < 0 {
			return
		}
		at := r.begin(i)
		if at >= before {
			return
		}
		r.place(r.vacant[i].sm, at)
		r.vacant = slices.Delete(r.vacant, i, i+1)
	}
}

// begin returns when a block can begin in a vacant place.
func (r *timedRun) begin(i int) int64 {
	return max(r.vacant[i].at, int64(r.dispatch), r.reached)
}

// vacancy returns the number of the place that the next block gets, -1 where there is none: of those that are free by then one on
// an SM with fewest blocks, else the one that is free first.
func (r *timedRun) vacancy() int {
	best := -1
	now := max(int64(r.dispatch), r.reached)
	for i := range r.vacant {
		if best < 0 || r.vacant[i].before(&r.vacant[best], now) {
			best = i
		}
	}
	return best
}

// before reports whether a place is taken before another.
func (v *vacancy) before(w *vacancy, now int64) bool {
	if v.at > now || w.at > now {
		return v.at < w.at
	}
	if v.sm.blocks != w.sm.blocks {
		return v.sm.blocks < w.sm.blocks
	}
	return v.at < w.at
}
