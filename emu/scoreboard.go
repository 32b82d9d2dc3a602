package emu

import (
	"gpa/emu/mem"
)

// numCounters is the number of dependence counters of a warp, one more that counts stores without answer, for which MEMBAR
// and the end of a warp wait, and one that counts copies to shared memory, which LDGDEPBAR takes up, and one of
// groups of matrix products of the warpgroup.
const (
	numCounters = 9
	storeCount  = 6
	copyCount   = 7
	groupCount  = 8
)

// maxCount is the highest value of a dependence counter: an instruction that would increment it further does not issue (Huerta
// et al., MICRO 2025, section 4).
const maxCount = 63

// An event is one outstanding increment of a dependence counter.
type event struct {
	done   int64 // cycle in which the counter is decremented, mem.Never while that is not known
	issued int64 // cycle in which it was incremented
	op     *op   // the producer
}

// A counter is a dependence counter of a warp: what was issued and has not released it yet. It remembers the producers,
// so that a waiting warp can tell what it waits for.
type counter struct {
	events  []event // in order of issue
	room    [2]event
	first   uint32 // number of events[0], counted from the warp's first
	clear   int64  // the cycle from which on nothing is outstanding, mem.Never while that is not known
	unknown int    // events whose end is not known
}

// next returns the number that the next event will have.
func (c *counter) next() uint32 { return c.first + uint32(len(c.events)) }

// add counts an event that is issued in cycle now and done in cycle done.
func (c *counter) add(now, done int64, o *op) {
	if c.forget(now); c.events == nil {
		c.events = c.room[:0]
	}
	c.events = append(c.events, event{done: done, issued: now, op: o})
	c.clear = max(c.clear, done)
	if done == mem.Never {
		c.unknown++
	}
}

// forget drops the oldest events as far as they are over.
func (c *counter) forget(now int64) {
	if c.clear <= now {
		c.first = c.next()
		c.events = c.events[:0]
		return
	}
	const enough = 16
	if len(c.events) < enough {
		return
	}
	var over int
	for over < len(c.events) && c.events[over].done <= now {
		over++
	}
	if over >= enough/2 {
		c.first += uint32(over)
		c.events = c.events[:copy(c.events, c.events[over:])]
	}
}

// settle sets the end of an event that was not known.
func (c *counter) settle(number uint32, done int64) {
	c.events[number-c.first].done = done
	if c.unknown--; c.unknown > 0 {
		return
	}
	c.clear = 0
	for i := range c.events {
		c.clear = max(c.clear, c.events[i].done)
	}
}

// before returns the cycle in which all events before the one of that number are over, mem.Never while that is not known.
func (c *counter) before(number uint32) int64 {
	var t int64
	for i := range int(int32(number - c.first)) {
		t = max(t, c.events[i].done)
	}
	return t
}

// admits returns the cycle from which on the counter can be incremented.
func (c *counter) admits() int64 {
	if len(c.events) < maxCount {
		return 0
	}
	return c.atMost(maxCount - 1)
}

// atMost returns the cycle from which on at most n events are outstanding, counting in order of issue as DEPBAR does.
func (c *counter) atMost(n int) int64 {
	var t int64
	for i := range max(len(c.events)-n, 0) {
		t = max(t, c.events[i].done)
	}
	return t
}
