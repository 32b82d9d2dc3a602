package emu

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/mem"
)

// time sends an instruction that has been executed on its way in cycle t. It returns when its operands have been read
// and when its result is there, mem.Never where that is not known yet.
func (s *sm) time(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	tm := &o.t
	switch tm.path {
	case pathPipe, pathCounted:
		hold := int64(0)
		if s.run.full {
			hold = c.ports.read(v, tm, t)
			c.held, c.dispatched = t+1+hold, t+1+hold
			if tm.path == pathPipe {
				c.writes.write(tm, t+hold)
			}
		}
		c.pipes[tm.pipe] = t + max(tm.interval, hold+min(tm.interval, 2)) // slower pipes read their operands meanwhile
		return t + 1, t + tm.latency
	case pathXU:
		start := max(t, c.pipes[tm.pipe])
		c.pipes[tm.pipe] = start + tm.interval
		s.path.EnterMIO(c.id, start)
		return start + 1, start + tm.latency
	case pathShuffle:
		return s.path.Shuffle(c.id, t, tm.latency)
	case pathBarrier:
		read, done, late := s.path.Barrier(c.id, t, tm.latency)
		v.block.arrived = max(v.block.arrived, t+late)
		return read, done
	case pathTransfer:
		return s.transfer(v, o, t)
	case pathTensor:
		return s.tensor(v, o, t)
	case pathTensorMemory:
		return s.tensorAccess(c, v, o, t)
	case pathGroup:
		c.product(v, o, t)
		return t + 1, v.multiplied
	case pathConst:
		return s.loadConstant(c, v, o, t)
	case pathShared:
		return s.shared(c, v, o, t)
	case pathGlobal:
		return s.global(c, v, o, t)
	case pathTexture:
		return s.texture(c, v, o, t)
	}
	if tm.orders {
		return t + 1, max(t+tm.latency, v.tensorStored)
	}
	if tm.closes && !tm.gone() { // its counter is not incremented then
		return t + 1, v.closeGroup(o, t)
	}
	return t + 1, t + tm.latency
}

// shared times an access to shared memory and counts its passes.
func (s *sm) shared(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	a := &v.warp.acc
	if a.kind == accessNone { // no thread takes part
		return s.path.Shuffle(c.id, t, s.run.latency.entry)
	}
	passes, ideal := v.warp.banks.Passes(&a.addr, a.mask, int(a.size), a.kind == accessAtomic)
	passes = o.t.supposedPasses(passes, ideal)
	n := &s.domain.tally.memory[o.index]
	n.SharedWavefronts += int64(passes)
	n.SharedWavefrontsIdeal += int64(ideal)
	read, done = s.path.Shared(c.id, t, mem.Shared{
		Passes: passes, Ideal: ideal, Words: a.words(), Store: a.kind == accessStore, Atomic: a.kind == accessAtomic,
		Uniform: o.t.uniform,
	})
	if lanes := v.warp.abroad(o); lanes > 0 {
		done = max(done, s.exchanged(done, lanes*int(a.size)))
	}
	return read, done
}

// abroad returns how many lanes of an access are to the shared memory of other blocks of the cluster.
func (w *warp) abroad(o *op) (lanes int) {
	b := w.block
	if b.cluster == nil || !o.peer && !o.inst.Op.Properties().Accesses(sass.SpaceGeneric) {
		return 0
	}
	for m := w.acc.mask; m != 0; m &= m - 1 {
		if w.acc.addr[bits.TrailingZeros32(m)]>>rankAt != uint64(b.rank) {
			lanes++
		}
	}
	return lanes
}

// exchanged returns when bytes that would be there in cycle t are, where they come from or go to the shared memory of another SM.
func (s *sm) exchanged(t int64, bytes int) int64 {
	l := &s.run.latency
	begin := max(t, s.exchange)
	s.exchange = begin + int64(float64(bytes)/l.remoteWidth)
	return begin + l.remote - l.shared
}

// global times an access to global or local memory and counts its sectors. What of a generic access lies in shared
// memory is served there.
func (s *sm) global(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	a := &v.warp.acc
	if a.kind == accessNone { // no thread takes part
		return t + s.run.latency.entry, t + s.run.latency.entry
	}
	if a.space == spaceShared {
		return s.shared(c, v, o, t)
	}
	v.warp.coalescer.Add(&a.addr, a.mask, int(a.size))
	n := &s.domain.tally.memory[o.index]
	n.GlobalSectors += int64(v.warp.coalescer.Sectors)
	n.GlobalSectorsIdeal += int64(v.warp.coalescer.Ideal)
	g := mem.Global{Kind: requestKind(a), Words: a.words(), Bypass: o.t.bypass, Uniform: o.t.uniform, Local: a.space == spaceLocal}
	g.Passes, _ = v.warp.banks.Passes(&a.addr, a.mask, int(a.size), false)
	if a.kind == accessAtomic {
		g.Turns, g.Float = mem.Multiplicity(&a.addr, a.mask), isFloatAtomic(o.inst)
	}
	if o.t.supposed != 0 {
		globalSupposed(o, &v.warp.coalescer, &g)
	}
	return s.reach(c, v, o, t, v.warp.coalescer.Lines(), g)
}

// reach sends an access to memory on its way.
func (s *sm) reach(c *subcore, v *resident, o *op, t int64, lines []mem.Line, g mem.Global) (read, done int64) {
	w := awaited{v: v, issued: t, rounds: o.t.rounds, write: o.t.write, number: v.number(o.t.write)}
	if g.Kind != mem.Read {
		w.stored, w.store = true, v.number(storeCount)
	}
	if o.t.copies {
		w.copies, w.copied, w.further = true, v.number(copyCount), s.run.latency.copy
		g.Copy = true
	}
	w.inTurn = o.t.write >= 0 || o.t.copies
	user := s.waits.add(w)
	g.User = userData | uint64(user)
	read, done = s.path.Global(c.id, t, lines, g)
	if w.copies {
		read += s.run.latency.copyRead
	}
	done = w.shortened(done, t)
	switch {
	case done != mem.Never:
		s.waits.take(user)
	case w.inTurn:
		v.misses.add(user)
	}
	if w.stored {
		v.counters[storeCount].add(t, done, o)
		v.sent, v.atomic = max(v.sent, read, s.path.Left()), v.atomic || g.Kind == mem.Atomic
	}
	if w.copies {
		v.counters[copyCount].add(t, done, o)
	}
	return read, done
}

// words returns the words of 32 bits that a thread accesses.
func (a *access) words() int { return max(int(a.size)/4, 1) }

// requestKind returns what an access wants of L2.
func requestKind(a *access) mem.Kind {
	switch {
	case a.kind == accessLoad:
		return mem.Read
	case a.kind == accessStore:
		return mem.Write
	}
	return mem.Atomic
}

// loadConstant times a load from a constant bank: lanes that read different lines take turns.
func (s *sm) loadConstant(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	a := &v.warp.acc
	read, done = s.path.Constant(c.id, t, o.t.latency)
	missing, last := int64(-1), int64(-1)
	done--
	for m := a.mask; m != 0; m &= m - 1 {
		line := s.run.constant(o.t.immBank, uint32(a.addr[bits.TrailingZeros32(m)]))
		if line == last {
			continue
		}
		last = line
		arrival, _ := s.consts.look(0, uint64(line), read)
		if arrival == mem.Never {
			missing = line
		}
		done = max(done+1, arrival)
	}
	if missing >= 0 {
		s.constLoads = append(s.constLoads, constLoad{line: missing, awaited: awaited{v: v, write: o.t.write, number: v.number(o.t.write)}})
		return read, mem.Never
	}
	if o.t.fixed {
		return t + s.run.latency.constantRead, done
	}
	return done, done // the index is held until the value is there (Huerta et al., table 2)
}
