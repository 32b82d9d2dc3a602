package mem

// tick is the resolution of next-free times, parts of a cycle: bandwidths are seldom whole bytes a cycle.
const tick = 256

// A port serves one thing after another. Its value is the time from which on it is free, in ticks.
type port int64

// take occupies the port for cost ticks from cycle at on, or from when it is free, and returns the cycle in which the
// service begins.
func (p *port) take(at, cost int64) int64 {
	start := max(int64(*p), at*tick)
	*p = port(start + cost)
	return start / tick
}

// A queue has a number of places. Each is taken by an instruction from its issue until it is granted the unit behind.
type queue struct {
	free []int64 // by place, in turn: when the instruction that took it last leaves
	next int
}

// emptied returns a queue of so many free places, in the storage of one that is no longer used.
func (q queue) emptied(places int) queue { return queue{free: grow(q.free[:0], places)} }

// ready returns the first cycle in which an instruction may enter.
func (q *queue) ready() int64 { return q.free[q.next] }

// enter takes the next place until the cycle.
func (q *queue) enter(until int64) {
	q.free[q.next] = until
	if q.next++; q.next == len(q.free) {
		q.next = 0
	}
}
