package emu

import (
	"gpa/cubin/sass"
	"gpa/emu/mem"
	"gpa/emu/stall"
)

// follow works out what an instruction that has been executed in cycle t means for the warp and its block: what comes
// next, and what the warp waits for before it. The lanes that ran before it tell whether it has parted them.
func (s *sm) follow(v *resident, o *op, before uint32, t int64) error {
	v.branch, v.refetched, v.blocked, v.turns = 0, 0, 0, 0
	if o.t.invalidates {
		s.path.Invalidate()
	}
	switch o.t.path {
	case pathMembar:
		v.why, v.blocked = stall.Membar, v.acknowledged(t)
	case pathBarrier:
		v.why, v.blocked = stall.Barrier, v.block.passes(t)+s.run.latency.barrier
	case pathSleep:
		v.why, v.blocked = stall.Sleeping, t+s.run.latency.nanoseconds(o.t.sleep)
	}
	switch v.warp.status {
	case warpDone:
		s.end(v, t)
	case warpBarrier:
		s.hold(v, o, t)
	default:
		s.proceed(v, o, before, t)
	}
	if v.warp.status != warpRunning || o.t.path == pathGroup && o.t.closes {
		s.gather(v)
	}
	if o.t.path != pathBarrier && v.warp.status == warpRunning {
		return nil
	}
	if v.block.block.cluster == nil || s.domain.ahead {
		return s.release(v.block, t)
	}
	if o.inst.Op.Properties().Sync == sass.SyncCluster {
		t += s.run.latency.clusterBarrier - s.run.latency.barrier
	}
	s.releasePeers(v.block, t+s.run.latency.barrier)
	return s.release(v.block, t)
}

// acknowledged returns when all of a warp's stores have been, as of cycle t.
func (v *resident) acknowledged(t int64) int64 {
	clear := v.counters[storeCount].clear
	if clear == mem.Never || clear <= t {
		return clear
	}
	return clear + v.core.ack
}

// proceed makes the warp's next instruction ready in time.
func (s *sm) proceed(v *resident, o *op, before uint32, t int64) {
	next := v.warp.next()
	if !o.t.gone() {
		parts := o.t.path == pathBranch && before&^v.warp.active != 0
		jumps := next.index != o.index+1 && o.t.path >= pathBarrier // others are followed by another instruction in edited streams alone
		s.redirect(v, o, jumps, parts, t)
	}
	s.prepare(v, next, t)
	v.core.expect(v)
}

// redirect works out when a warp that goes on elsewhere, has parted or has come together, knows where, and when it has the
// instruction from the L0 cache. Until the end of Resolving samples show what is left of it: wait before, no_instructions behind. A
// branch that parts a warp is resolved for those that go on behind it too: 3.0 samples of branch_resolving there for each on an RTX
// 3060, none where no thread takes the branch.
func (s *sm) redirect(v *resident, o *op, jumps, parts bool, t int64) {
	l := &s.run.latency
	switch {
	case o.t.syncs:
		v.branch = t + l.sync
	case jumps && o.t.returns:
		v.branch = t + l.returns
	case jumps, parts:
		v.branch = t + l.branch
	default:
		return
	}
	v.resolving = t + l.branch - l.resolving
	if jumps {
		v.turns, v.turn = v.branch-l.resolving, o
		v.refetched = v.branch + l.refetch
	}
}

// hold makes a warp wait that the functional model holds at a barrier. In samples it is at the instruction behind.
func (s *sm) hold(v *resident, o *op, t int64) {
	v.why, v.blocked, v.held = stall.Barrier, mem.Never, true
	s.prepare(v, &s.run.launch.program.ops[o.index+1], t)
}

// release lets the warps of a block go on that the functional model no longer holds at a barrier. If none can go on, the
// functional model sees whether they wait for each other in a way that it can undo.
func (s *sm) release(b *residentBlock, t int64) error {
	if b.block.cluster == nil && b.stuck() { // a cluster is looked at when nothing happens any more
		if err := b.block.unblock(); err != nil {
			return err
		}
	}
	for i := range b.warps {
		v := &b.warps[i]
		if !v.held || v.warp.status == warpBarrier {
			continue
		}
		v.held, v.blocked = false, b.passes(t)+s.run.latency.barrier
		s.prepare(v, v.warp.next(), t)
		v.core.expect(v)
	}
	return nil
}

// passes returns when a barrier that the functional model opens in cycle t has counted all arrivals.
func (b *residentBlock) passes(t int64) int64 { return max(t, b.arrived) }

// stuck reports whether no warp of the block can go on although some have not ended.
func (b *residentBlock) stuck() bool {
	held := false
	for i := range b.warps {
		v := &b.warps[i]
		if v.warp.status == warpRunning {
			return false
		}
		held = held || v.held
	}
	return held
}

// end keeps a warp that has ended until its stores have left the SM.
func (s *sm) end(v *resident, t int64) {
	v.ended, v.ready = true, mem.Never
	v.core.ended++
	l := &s.run.latency
	v.why, v.branch, v.resolving = stall.Drain, t+l.exit, t+l.exit-l.exitResolving
	v.blocked = s.drained(v)
	s.draining = append(s.draining, v)
}

// drained returns when a warp that has ended gives up its place, mem.Never where that is not known yet. Its stores need not have
// been on their way to L2: a warp with one store drains 28 cycles on a T4 where L2 is 118 away, and with two, four or eight scattered
// ones in queues before L2 and DRAM hardly longer. Atomics hold it until L2 has taken them: with additions to one word on a GTX 1660
// Super half of all warps drain. So do all stores where they keep their place for the next block too ([arch.Launching]).
func (s *sm) drained(v *resident) int64 {
	l := &s.run.latency
	if !v.atomic && !l.stored {
		return max(v.branch+l.leastDrain, v.sent+l.drain)
	}
	clear := v.counters[storeCount].clear
	if clear != mem.Never {
		clear += l.drainInL2
	}
	return max(v.branch+l.leastDrain, clear)
}

// retire removes the warps whose stores have been answered before cycle end, and their blocks with the last of them.
func (s *sm) retire(end int64) {
	rest := s.draining[:0]
	for _, v := range s.draining {
		if v.blocked == mem.Never {
			v.blocked = s.drained(v)
		}
		if v.blocked > end {
			rest = append(rest, v)
			continue
		}
		s.remove(v)
	}
	s.draining = rest
}

// remove takes a warp off the SM.
func (s *sm) remove(v *resident) {
	v.core.leave(v)
	s.slots[v.slot] = nil
	s.warps += v.blocked - v.born
	b := v.block
	b.ended = max(b.ended, v.blocked)
	if s.run.latency.stored {
		b.stored = max(b.stored, v.counters[storeCount].clear)
	}
	if b.live--; b.live > 0 {
		return
	}
	s.freed = append(s.freed, max(b.ended, b.stored))
	s.run.launch.ends(b.block)
	s.until = max(s.until, b.ended)
	if s.blocks--; s.blocks == 0 {
		s.active += s.until - s.since
	}
}

// upcoming returns the first cycle in which something happens on the SM by itself, mem.Never where nothing does.
func (s *sm) upcoming() int64 {
	first := s.earliest().at
	if at, ok := s.path.Busy(); ok {
		first = min(first, at)
	}
	for _, v := range s.draining {
		first = min(first, v.blocked)
	}
	return first
}
