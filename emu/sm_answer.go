package emu

import (
	"gpa/emu/mem"
	"gpa/emu/stall"
)

// An awaited is an access whose end is not known yet: the warp and the counters that it releases.
type awaited struct {
	v      *resident
	write  int8   // counter, -1 for none
	number uint32 // of the event in it
	stored bool   // the store counter too
	store  uint32 // number of the event in that
	copies bool   // the copy counter too
	copied uint32 // number of the event in that
	inTurn bool   // it returns after the misses of its warp before it

	issued  int64
	further int64   // from the arrival of the data on: their way to shared memory
	rounds  float64 // as timing's
	sooner  int64   // cycles that its data are there before memory answers
	of      *copyRounds

	transfers []*transfer // the copy that it is of, for each block that gets it; none for other accesses
	remote    bool        // other blocks get it too
}

// transferred notes that a copy is complete. Other SMs are told when they are not at work.
func (a *awaited) transferred(done int64) {
	for _, x := range a.transfers {
		if a.remote {
			s := a.v.block.sm
			s.arrived = append(s.arrived, arrivedCopy{x, max(done+a.further, s.run.reached)})
		} else {
			x.arrive(done + a.further)
		}
	}
}

// misses are the accesses of a warp that have missed L1 and return a value, in order of issue. Their values come back in that
// order: NVIDIA's streaming L1 tracks misses in first-in-first-out queues (US patent 11,768,686 B2, claims 1 and 5; a queue
// may be a warp's own, claim 4). Hits do not wait for them.
type misses struct {
	list     []miss
	room     [2]miss
	returned int64 // when the last one came back
}

type miss struct {
	number uint32 // in waits
	done   int64  // mem.Never while it has not been answered
}

// add takes note of a miss.
func (m *misses) add(number uint32) {
	if m.list == nil {
		m.list = m.room[:0]
	}
	m.list = append(m.list, miss{number, mem.Never})
}

// answer notes that the data of a miss is there.
func (m *misses) answer(number uint32, done int64) {
	for i := range m.list {
		if m.list[i].number == number {
			m.list[i].done = done
			return
		}
	}
}

// next returns the first miss if its turn has come, and when its value is back.
func (m *misses) next() (number uint32, done int64, ok bool) {
	if len(m.list) == 0 || m.list[0].done == mem.Never {
		return 0, 0, false
	}
	first := m.list[0]
	m.list = m.list[:copy(m.list, m.list[1:])]
	m.returned = max(m.returned, first.done)
	return first.number, m.returned, true
}

// number returns the number of the next event of a counter.
func (v *resident) number(counter int8) uint32 {
	if counter < 0 {
		return 0
	}
	return v.counters[counter].next()
}

// settle sets the end of an access and works out anew when the warp is ready.
func (a *awaited) settle(done int64) {
	v := a.v
	a.transferred(done)
	if a.write >= 0 {
		v.counters[a.write].settle(a.number, done)
	}
	if a.stored {
		v.counters[storeCount].settle(a.store, done)
		if v.blocked == mem.Never && v.why == stall.Membar {
			v.blocked = v.acknowledged(0)
		}
	}
	if a.copies {
		v.counters[copyCount].settle(a.copied, done)
		v.copied()
	}
	v.reconsider()
}

// reconsider works out again when a warp is ready for which that was not known.
func (v *resident) reconsider() {
	if v.ended || v.ready != mem.Never {
		return
	}
	if v.settle(); v.ready != mem.Never {
		v.core.expect(v)
	}
}

// waits holds the awaited accesses by number, so that the memory path can name them.
type waits struct {
	all    []awaited
	unused []uint32
}

func (w *waits) add(a awaited) uint32 {
	if n := len(w.unused); n > 0 {
		i := w.unused[n-1]
		w.unused = w.unused[:n-1]
		w.all[i] = a
		return i
	}
	w.all = append(w.all, a)
	return uint32(len(w.all) - 1)
}

func (w *waits) take(i uint32) awaited {
	w.unused = append(w.unused, i)
	a := w.all[i]
	w.all[i].v = nil
	return a
}

// A constLoad is an LDC that waits for a line of constants.
type constLoad struct {
	line int64
	awaited
}

// answers takes what the device has answered.
func (s *sm) answers() {
	const mask = 1<<userShift - 1
	for _, a := range s.path.Answers() {
		switch line := a.User & mask; a.User &^ mask {
		case userData:
			s.dataArrived(uint32(line), a.Done)
		case userCode:
			s.codeArrived(int64(line), s.code.answer(line, a.Done))
		case userConst:
			s.constantsArrived(int64(line), s.consts.answer(line, a.Done))
		}
	}
}

// dataArrived settles an access, or a warp's misses whose turn has come.
func (s *sm) dataArrived(number uint32, done int64) {
	w := &s.waits.all[number]
	if !w.inTurn {
		w := s.waits.take(number)
		w.settle(w.shortened(done, s.run.reached))
		return
	}
	v := w.v
	v.misses.answer(number, done)
	for {
		number, done, ok := v.misses.next()
		if !ok {
			return
		}
		w := s.waits.take(number)
		w.settle(w.shortened(done, s.run.reached))
	}
}

// codeArrived lets the warps go on that wait for a line of code.
func (s *sm) codeArrived(line, at int64) {
	for _, v := range s.slots {
		if v != nil && v.fetched == mem.Never && v.line == line {
			v.fetched = at
			v.reconsider()
		}
	}
}

// constantsArrived lets the warps go on that wait for a line of constants.
func (s *sm) constantsArrived(far, at int64) {
	for _, v := range s.slots {
		if v != nil && v.constant == mem.Never && v.constLine>>s.consts.shift == far {
			v.constant = at
			v.reconsider()
		}
	}
	rest := s.constLoads[:0]
	for _, l := range s.constLoads {
		if l.line>>s.consts.shift == far {
			l.settle(at)
		} else {
			rest = append(rest, l)
		}
	}
	s.constLoads = rest
}
