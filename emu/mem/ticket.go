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

// wait makes an access wait for a fill that another has asked for, once.
func (s *SM) wait(t, f int32) {
	l := &s.fills[f]
	if l.first != 0 && s.waiters[l.last].ticket == t || l.first == 0 && l.ticket == t {
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
	for s.head < len(s.log) && s.log[s.head].at < end {
		s.settle(&s.log[s.head])
		s.head++
	}
	if s.head > len(s.log)/2 {
		s.log = s.log[:copy(s.log, s.log[s.head:])]
		s.head = 0
	}
}

// settle takes one answer: the sectors arrive, and accesses that waited for nothing else are done.
func (s *SM) settle(r *request) {
	if r.fill < 0 {
		s.answered(^r.fill, r.done)
		s.hold(r)
		return
	}
	f := &s.fills[r.fill]
	s.l1.settle(f.place, r.line, r.sectors, r.fill, r.done)
	s.answered(f.ticket, r.done)
	for i := f.first; i != 0; i = s.waiters[i].next {
		s.idle = append(s.idle, i)
		s.answered(s.waiters[i].ticket, r.done)
	}
	s.freed = append(s.freed, r.fill)
	s.hold(r)
}

// answered tells an access one of the answers that it waits for.
func (s *SM) answered(t int32, done int64) {
	k := &s.tickets[t]
	k.done = max(k.done, done)
	if k.pending--; k.pending == 0 {
		s.answers = append(s.answers, Answer{User: k.user, Done: k.done})
		s.unused = append(s.unused, t)
	}
}

// hold accounts for what a request takes until it is answered. With all entries of L1 taken, the LSU waits with loads; with
// as much as possible on its way to L2, with everything.
func (s *SM) hold(r *request) {
	switch {
	case r.local && r.kind == Write:
	case r.kind == Write:
		s.shut = max(s.shut, s.outgoing.hold(r.done, r.packets(), s.cfg.l1Outgoing))
	case r.kind == Atomic:
		taken := r.done - s.cfg.atomic + s.cfg.l2Hit/2
		s.shut = max(s.shut, s.outgoing.hold(taken, r.packets(), s.cfg.l1Outgoing))
	default:
		s.full = max(s.full, s.loads.hold(r.done, bits.OnesCount8(r.sectors), s.cfg.l1Pending))
	}
}

// A credit is of requests of which only so many sectors may be under way.
type credit struct {
	list    []outstanding // from the oldest on in order
	oldest  int
	sectors int // of them
}

type outstanding struct {
	done    int64
	sectors int
}

// hold adds a request that is under way until a cycle and returns when there is room for the next one: when that is done which
// came so many sectors before it.
func (c *credit) hold(done int64, sectors, limit int) (room int64) {
	c.list = append(c.list, outstanding{done, sectors})
	c.sectors += sectors
	for c.sectors > limit {
		oldest := c.list[c.oldest]
		room = max(room, oldest.done)
		c.sectors -= oldest.sectors
		c.oldest++
	}
	if c.oldest > len(c.list)/2 {
		c.list = c.list[:copy(c.list, c.list[c.oldest:])]
		c.oldest = 0
	}
	return room
}

// Answers returns the accesses that are done since the last call. It is valid until the next quantum is served.
func (s *SM) Answers() []Answer {
	a := s.answers
	s.answers = s.answers[:0]
	return a
}
