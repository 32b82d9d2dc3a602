package mem

import "math/bits"

// open begins the account of an access that is done in cycle at, if it need not wait for anything.
func (s *SM) open(user uint64, at int64) int32 {
	t := ticket{done: at, user: user}
	if n := len(s.unused); n > 0 {
		i := s.unused[n-1]
		s.unused = s.unused[:n-1]
		s.tickets[i] = t
		return i
	}
	s.tickets = append(s.tickets, t)
	return int32(len(s.tickets) - 1)
}

// close returns when the access is done, Never if it waits for an answer.
func (s *SM) close(t int32) int64 {
	if s.tickets[t].pending > 0 {
		return Never
	}
	s.unused = append(s.unused, t)
	return s.tickets[t].done
}

// join makes an access wait for a sector that is there or on its way.
func (s *SM) join(t int32, arrive int64) {
	if arrive < 0 {
		s.wait(t, int32(^arrive))
		return
	}
	s.tickets[t].done = max(s.tickets[t].done, arrive)
}

// wait makes an access wait for a fill, once.
func (s *SM) wait(t, f int32) {
	l := &s.fills[f]
	if l.first != 0 && s.waiters[l.last].ticket == t {
		return
	}
	i := s.newWaiter(t)
	if l.first == 0 {
		l.first = i
	} else {
		s.waiters[l.last].next = i
	}
	l.last = i
	s.tickets[t].pending++
}

func (s *SM) newWaiter(t int32) int32 {
	if n := len(s.idle); n > 0 {
		i := s.idle[n-1]
		s.idle = s.idle[:n-1]
		s.waiters[i] = waiter{ticket: t}
		return i
	}
	s.waiters = append(s.waiters, waiter{ticket: t})
	return int32(len(s.waiters) - 1)
}

func (s *SM) newFill(f fill) int32 {
	if n := len(s.freed); n > 0 {
		i := s.freed[n-1]
		s.freed = s.freed[:n-1]
		s.fills[i] = f
		return i
	}
	s.fills = append(s.fills, f)
	return int32(len(s.fills) - 1)
}

// Absorb takes the answers to the requests of before end, which the device has served.
func (s *SM) Absorb(end int64) {
	var n int
	for n < len(s.log) && s.log[n].at < end {
		s.settle(&s.log[n])
		n++
	}
	s.log = s.log[:copy(s.log, s.log[n:])]
}

// settle takes one answer: the sectors arrive, and accesses that waited for nothing else are done.
func (s *SM) settle(r *request) {
	f := &s.fills[r.fill]
	if f.place >= 0 {
		s.l1.settle(int(f.place), f.line, f.sectors, r.fill, r.done)
	}
	for i := f.first; i != 0; i = s.waiters[i].next {
		t := s.waiters[i].ticket
		s.idle = append(s.idle, i)
		k := &s.tickets[t]
		k.done = max(k.done, r.done)
		if k.pending--; k.pending == 0 {
			s.answers = append(s.answers, Answer{User: k.user, Done: k.done})
			s.unused = append(s.unused, t)
		}
	}
	s.freed = append(s.freed, r.fill)
	s.hold(r)
}

// hold accounts for the entry that L1 keeps for a request until it is answered. With all entries taken the LSU waits:
// for the answer to the request that came so many sectors before the next one.
func (s *SM) hold(r *request) {
	n := bits.OnesCount8(r.sectors)
	s.credit = append(s.credit, outstanding{r.done, n})
	s.sectors += n
	for s.sectors > s.cfg.l1Pending {
		oldest := s.credit[s.oldest]
		s.full = max(s.full, oldest.done)
		s.sectors -= oldest.sectors
		s.oldest++
	}
	if s.oldest > len(s.credit)/2 {
		s.credit = s.credit[:copy(s.credit, s.credit[s.oldest:])]
		s.oldest = 0
	}
}

// Answers returns the accesses that are done since the last call. It is valid until the next quantum is served.
func (s *SM) Answers() []Answer {
	a := s.answers
	s.answers = s.answers[:0]
	return a
}
