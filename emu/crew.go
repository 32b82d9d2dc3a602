package emu

import (
	"sync/atomic"
	"time"
)

// SMs run in parallel, and the result does not depend on how many at a time. In a quantum each SM first runs ahead: it
// sees memory as it was at the beginning of the quantum and its own stores, which nobody else sees yet. It stops at the end
// of the quantum or before an instruction that must see what the others do, such as an atomic. Then, one SM after
// another, the stores go to memory; and one after another the SMs that have stopped early go on to the end of the
// quantum, in full view of memory. A quantum is shorter than the way to L2 and back, so that no program can tell that
// others' stores come late.

// crewThreshold is the number of warp instructions of a quantum from which on it is shared out, and answerThreshold that of
// answers of L2: about 20 microseconds' worth.
const (
	crewThreshold   = 100
	answerThreshold = 250
)

// A crew is goroutines that share out a list of pieces of work, such as the SMs of a quantum. Its first worker is the
// goroutine of the launch itself. It waits for those that have begun with a list, not for those that have not noticed it
// yet: a goroutine that sleeps takes longer to wake than a quantum to run.
type crew struct {
	workers []worker
	phase   func(*worker, int)
	size    int64        // of the list
	taken   atomic.Int64 // of the list
	call    atomic.Int64 // number of the list, times callStep; whether it is closed; and how many others work on it
	ended   atomic.Bool
	failed  atomic.Pointer[any] // what a worker of another goroutine has panicked with
}

// The parts of a crew's call.
const (
	callWorkers = 1<<15 - 1
	callClosed  = 1 << 15
	callStep    = 1 << 16
)

// spins is how often a worker looks for the next list before it goes to sleep, some 100 microseconds: between two lists of a
// launch there is seldom more. One that has slept is late, and systems tend to wake it on the processor of who calls it.
const spins = 1 << 18

// pause is for how long the first worker lets others have its processor when they take that long.
const pause = 10 * time.Microsecond

// A worker is one of a crew.
type worker struct {
	tally   tally
	scratch scratch
	asleep  atomic.Bool
	wake    chan struct{}
}

// employ lets a worker advance the domain by no more than some warp instructions.
func (d *domain) employ(w *worker, budget int64) {
	d.budget, d.tally, d.scratch = budget, &w.tally, &w.scratch
}

// newCrew starts a crew that counts in tallies of their own, the first worker in the launch's.
func newCrew(size int, first tally) *crew {
	c := &crew{workers: make([]worker, max(size, 1))}
	c.call.Store(callClosed)
	c.workers[0].tally = first
	for i := 1; i < len(c.workers); i++ {
		w := &c.workers[i]
		w.tally = tally{ops: make([]opCounter, len(first.ops)), memory: make([]memoryCounter, len(first.memory))}
		w.wake = make(chan struct{}, 1)
		go c.serve(w)
	}
	return c
}

// each calls phase for all numbers below size, in parallel where that is worth it.
func (c *crew) each(size int, parallel bool, phase func(*worker, int)) {
	c.size, c.phase = int64(size), phase
	if !parallel || len(c.workers) == 1 || size < 2 {
		for i := range size {
			phase(&c.workers[0], i)
		}
		return
	}
	c.taken.Store(0)
	c.call.Store(c.call.Load()&^(callClosed|callWorkers) + callStep)
	for i := range min(len(c.workers)-1, size-1) {
		c.workers[1+i].rouse()
	}
	c.lead()
	if p := c.failed.Load(); p != nil {
		panic(*p) // where the launch's caller can recover
	}
}

// lead works on a list and waits for the others that do, also where the work panics: nobody is at it any more when each returns.
func (c *crew) lead() {
	defer func() {
		c.call.Or(callClosed)
		for n := 0; c.call.Load()&callWorkers != 0; n++ {
			if n >= spins { // the system has taken the processor from another worker
				time.Sleep(pause)
			}
		}
	}()
	c.work(&c.workers[0])
}

// work takes numbers from the list until there are no more.
func (c *crew) work(w *worker) {
	for i := c.taken.Add(1) - 1; i < c.size; i = c.taken.Add(1) - 1 {
		c.phase(w, int(i))
	}
}

// serve works on one list after another.
func (c *crew) serve(w *worker) {
	for last := int64(0); !c.ended.Load(); {
		call, open := c.await(w, last)
		if !open {
			continue
		}
		if !c.call.CompareAndSwap(call, call+1) { // another has come or gone, or it is closed
			continue
		}
		c.help(w)
		c.call.Add(-1)
		last = call / callStep
	}
}

// help works on a list for the goroutine of the launch, which has to see a panic.
func (c *crew) help(w *worker) {
	defer func() {
		if r := recover(); r != nil {
			c.failed.CompareAndSwap(nil, &r)
		}
	}()
	c.work(w)
}

// await waits for a list after the last one; it sleeps where there is none for some time, and then returns false.
func (c *crew) await(w *worker, last int64) (call int64, open bool) {
	for range spins {
		if call = c.call.Load(); call/callStep > last && call&callClosed == 0 {
			return call, true
		}
	}
	w.asleep.Store(true)
	if call = c.call.Load(); call/callStep > last && call&callClosed == 0 || c.ended.Load() {
		w.rouse()
	}
	<-w.wake
	return 0, false
}

// rouse wakes the worker if it sleeps.
func (w *worker) rouse() {
	if w.asleep.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// dismiss ends the crew and adds what the others have counted to the first worker's tally.
func (c *crew) dismiss() {
	c.ended.Store(true)
	for i := 1; i < len(c.workers); i++ {
		c.workers[i].rouse()
		c.workers[0].tally.add(&c.workers[i].tally)
	}
}
