package emu

import (
	"sync"
	"sync/atomic"
)

// SMs run in parallel, and the result does not depend on how many at a time. In a quantum each SM first runs ahead: it
// sees memory as it was at the beginning of the quantum and its own stores, which nobody else sees yet. It stops at the end
// of the quantum or before an instruction that must see what the others do, such as an atomic. Then, one SM after
// another, the stores go to memory; and one after another the SMs that have stopped early go on to the end of the
// quantum, in full view of memory. A quantum is shorter than the way to L2 and back, so that no program can tell that
// others' stores come late.

// crewThreshold is the number of warp instructions of a quantum from which on it is worth to wake others for.
const crewThreshold = 400

// A crew is goroutines that advance SMs. Its first worker is the goroutine of the launch itself.
type crew struct {
	workers []worker
	phase   func(*worker, *sm)
	list    []*sm
	taken   atomic.Int64 // of list
	busy    sync.WaitGroup
}

// A worker is one of a crew.
type worker struct {
	tally   tally
	scratch scratch
	wake    chan struct{}
}

// employ lets a worker advance the domain by no more than some warp instructions.
func (d *domain) employ(w *worker, budget int64) {
	d.budget, d.tally, d.scratch = budget, &w.tally, &w.scratch
}

// newCrew starts a crew that counts in tallies of their own, the first worker in the launch's.
func newCrew(size int, first tally) *crew {
	c := &crew{workers: make([]worker, max(size, 1))}
	c.workers[0].tally = first
	for i := 1; i < len(c.workers); i++ {
		w := &c.workers[i]
		w.tally = tally{ops: make([]opCounter, len(first.ops)), memory: make([]memoryCounter, len(first.memory))}
		w.wake = make(chan struct{}, 1)
		go func() {
			for range w.wake {
				c.work(w)
				c.busy.Done()
			}
		}()
	}
	return c
}

// each calls phase for all SMs of a list, in parallel where there is enough to do.
func (c *crew) each(list []*sm, parallel bool, phase func(*worker, *sm)) {
	c.list, c.phase = list, phase
	c.taken.Store(0)
	if parallel {
		others := c.workers[1:min(len(c.workers), max(len(list), 1))]
		c.busy.Add(len(others))
		for i := range others {
			others[i].wake <- struct{}{}
		}
	}
	c.work(&c.workers[0])
	c.busy.Wait()
}

// work takes SMs from the list until there are no more.
func (c *crew) work(w *worker) {
	for {
		i := int(c.taken.Add(1)) - 1
		if i >= len(c.list) {
			return
		}
		c.phase(w, c.list[i])
	}
}

// dismiss ends the crew and adds what the others have counted to the first worker's tally.
func (c *crew) dismiss() {
	for i := 1; i < len(c.workers); i++ {
		close(c.workers[i].wake)
		c.workers[0].tally.add(&c.workers[i].tally)
	}
}
