package emu

import (
	"context"
	"errors"
	"fmt"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
)

// A timedRun is one launch in time: the SMs, what they share, and the blocks that wait for a place.
type timedRun struct {
	launch  *launchRun
	model   *arch.Model
	memory  *mem.Config
	device  *mem.Device
	latency latencies
	full    bool // all of the front end and of the register file
	// overlaps and perfectFetch are suppositions of a what-if run.
	overlaps, perfectFetch bool

	observer Observer
	sms      []*sm
	paths    []*mem.SM
	crew     *crew
	active   []*sm // of a quantum: that hold blocks
	issued   int64 // warp instructions of the quantum before

	codeLine     int64 // instructions in a line of code
	codeLines    int64 // of the program
	constantLine int64 // bytes of a line of the first-level constant cache

	next     int     // the first block that has no place yet
	dispatch float64 // the cycle from which on the next block can be given a place
	vacant   []vacancy
	ended    int64 // the last cycle in which a block left
	left     int   // blocks that have
	waves    []wave
	rest     *extrapolated // nil while everything is timed
	unsteady bool          // although it looked so
	reached  int64         // the SMs have been advanced up to this cycle
	changes  int64         // of the launch, and the cycle in which they were seen to grow last
	changed  int64
	passed   int64 // cycles that were not simulated, as all waited for the clock
	failed   error // why a block could not be made
	watching bool  // since long after that
	watch    watch
	spin     spinTime
}

// A memoryCounter holds what the executions of an instruction asked of the memories.
type memoryCounter struct {
	GlobalSectors         int64 // 32-byte sectors requested from L1
	GlobalSectorsIdeal    int64 // sectors that the bytes used would fill
	SharedWavefronts      int64 // passes through shared memory
	SharedWavefrontsIdeal int64 // passes without bank conflicts
}

// newTimedRun prepares the SMs for a launch.
func newTimedRun(l *launchRun) *timedRun {
	m := l.machine.gpu
	full := l.machine.options.Timing == TimingFull
	whatIf := l.launch.WhatIf
	r := &timedRun{
		launch: l, model: m, memory: mem.NewConfig(m, l.facts.Occupancy.Carveout, !full), latency: newLatencies(m), full: full,
		overlaps: whatIf.overlaps(), perfectFetch: whatIf != nil && whatIf.PerfectFetch,
		observer: l.launch.Observer,
		codeLine: int64(m.Fetch.Line.Int() / sass.InstSize), constantLine: int64(m.Constant.Line.Int()),
	}
	r.codeLines = (int64(len(l.program.ops)) + r.codeLine - 1) / r.codeLine
	r.device = l.machine.caches(r.memory, l.launch.WarmCaches)
	if p := l.launch.Part; p != nil && p.lines != nil {
		p.lines.run = r
		r.device.Others = p.lines
	}
	r.crew = newCrew(l.machine.workers(), l.tally)
	r.sms = make([]*sm, min(m.SMs.Int(), l.blocks)) // the others would get no block
	if l.launch.clusterBlocks() > 1 {
		r.sms = make([]*sm, m.SMs.Int()) // clusters keep to GPCs
	}
	r.paths = l.machine.pathsOf(len(r.sms))
	r.crew.each(len(r.sms), true, func(_ *worker, i int) {
		r.sms[i] = newSM(r, i)
		for _, entry := range l.entries() {
			r.sms[i].begin(entry)
		}
	})
	return r
}

// caches returns what all SMs share, with empty caches, or warm with those that the launch before left.
func (m *Machine) caches(cfg *mem.Config, warm bool) *mem.Device {
	if m.device == nil {
		m.device = mem.NewDevice(cfg)
	} else {
		m.device.Restart(cfg, warm)
	}
	return m.device
}

// pathsOf returns a place for the memory path of each SM, where that of the launch before may be.
func (m *Machine) pathsOf(sms int) []*mem.SM {
	for len(m.paths) < sms {
		m.paths = append(m.paths, nil)
	}
	return m.paths[:sms]
}

// path makes the memory path of an SM, with an empty L1.
func (r *timedRun) path(id int) *mem.SM {
	if r.paths[id] == nil {
		r.paths[id] = mem.NewSM(r.memory, id)
	} else {
		r.paths[id] = r.paths[id].Successor(r.memory)
	}
	return r.paths[id]
}

// runTimed runs the launch with timing.
func (r *launchRun) runTimed(ctx context.Context) error {
	r.timed = newTimedRun(r)
	if o := r.launch.Observer; o != nil {
		o.Begin(&r.facts)
	}
	err := r.timed.run(ctx)
	r.timed.crew.dismiss()
	switch {
	case err != nil:
		return err
	case r.launch.Part != nil && r.timed.rest != nil:
		r.timed.rest.instructions = max(0, r.launch.Part.Instructions-(r.limit-r.left))
	case r.launch.Part != nil && r.launch.Part.Others:
		return r.runOthers(ctx)
	case r.timed.rest != nil:
		return r.runRest(ctx)
	}
	return nil
}

// ErrTooManyCycles is the error of a launch that takes more cycles than it may ([Launch.MaxCycles]).
var ErrTooManyCycles = errors.New("the launch takes more cycles than it may")

// run runs all blocks. The SMs are advanced a quantum at a time, each by itself; then L2 and DRAM answer all of them,
// the samples of the quantum are shown, and blocks move up.
func (r *timedRun) run(ctx context.Context) error {
	r.fill()
	for {
		if r.failed != nil {
			return r.failed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := r.upcoming()
		if begin == mem.Never {
			if moved, err := r.unblockClusters(); err != nil || moved {
				if err != nil {
					return err
				}
				continue
			}
			return r.finished()
		}
		if err := r.launch.machine.room.look(); err != nil {
			return err
		}
		end := begin + r.length()
		if err := r.quantum(begin, end); err != nil {
			return err
		}
		if most := r.launch.launch.MaxCycles; most > 0 && end > most {
			return ErrTooManyCycles
		}
		if err := r.checkLivelock(end); err != nil {
			return err
		}
		if r.launch.launch.curtailment.reached(r) {
			return nil
		}
	}
}

// fineQuantum is the number of cycles after which blocks that wait get the places that have become free.
const fineQuantum = 32

// length returns the cycles of the next quantum.
func (r *timedRun) length() int64 {
	if r.waiting() || r.overlaps {
		return min(fineQuantum, r.memory.Quantum())
	}
	return r.memory.Quantum()
}

// quantum advances everything.
func (r *timedRun) quantum(begin, end int64) error {
	r.assign(end)
	r.reached = end
	if err := r.advance(begin, end); err != nil {
		return err
	}
	answers := r.device.Serve(r.paths, begin, end)
	r.crew.each(len(r.sms), answers >= answerThreshold, func(_ *worker, i int) {
		s := r.sms[i]
		s.path.Absorb(end)
		s.answers()
		s.sampler.complete(s)
	})
	for _, s := range r.sms {
		s.arrivals()
	}
	for _, s := range r.sms {
		s.sampler.deliver()
		s.retire(end)
	}
	if err := r.stopped(); err != nil {
		return err
	}
	r.vacate()
	return nil
}

// advance runs all SMs that hold blocks to the end of a quantum.
func (r *timedRun) advance(begin, end int64) error {
	r.active = r.active[:0]
	for _, s := range r.sms {
		if s.blocks > 0 {
			r.active = append(r.active, s)
		}
	}
	// Where the launch may be at the end of its instructions, or there is nobody to run ahead of, nobody does.
	ahead := len(r.active) > 1 && r.launch.left >= int64(len(r.active)*r.model.Limits.Schedulers.Int())*(end-begin)
	var issued int64
	if ahead {
		r.crew.each(len(r.active), r.issued >= crewThreshold, func(w *worker, i int) { r.runAhead(w, r.active[i], end) })
		for _, s := range r.active {
			if err := s.domain.stores.commit(); err != nil {
				return err
			}
			s.domain.ahead = false
			s.executed += r.launch.left - s.domain.budget
			issued += r.launch.left - s.domain.budget
		}
	}
	for _, s := range r.active {
		if ahead && !s.paused {
			continue
		}
		before := max(r.launch.left-issued, 0)
		s.domain.employ(&r.crew.workers[0], before)
		s.stopped = s.advance(end)
		s.executed += before - s.domain.budget
		issued += before - s.domain.budget
	}
	r.issued = issued
	r.launch.machine.progress.instructions.Add(issued)
	r.launch.left = max(r.launch.left-issued, 0)
	r.launch.changes = 0
	for _, s := range r.sms {
		r.launch.changes += s.domain.changes
	}
	return nil
}

// runAhead runs an SM to the end of a quantum, or as far as it can without the others.
func (r *timedRun) runAhead(w *worker, s *sm, end int64) {
	s.domain.ahead = true
	s.domain.employ(w, r.launch.left)
	s.stopped = s.advance(end)
}

// stopped returns why the launch cannot go on, if it cannot: of several faults in a quantum the first in time.
func (r *timedRun) stopped() error {
	if r.failed != nil {
		return r.failed
	}
	var first *sm
	for _, s := range r.sms {
		if s.stopped != nil && (first == nil || s.now < first.now) {
			first = s
		}
	}
	if first == nil {
		return nil
	}
	return first.stopped
}

// finished returns an error if blocks are left although nothing will happen any more.
func (r *timedRun) finished() error {
	for _, s := range r.sms {
		for _, v := range s.slots {
			if v != nil {
				return fmt.Errorf("block %v waits for something that does not come, at pc %#x", v.block.block.index, v.next.inst.PC)
			}
		}
	}
	return nil
}

// upcoming returns the first cycle in which something happens, mem.Never where nothing will.
func (r *timedRun) upcoming() int64 {
	first := int64(mem.Never)
	for _, s := range r.sms {
		first = min(first, s.upcoming())
	}
	if !r.waiting() {
		return first
	}
	if r.launch.launch.clusterBlocks() > 1 {
		if places, at := r.clusterVacancy(); places != nil {
			first = min(first, at)
		}
		return first
	}
	if i := r.vacancy(); i >= 0 {
		first = min(first, r.begin(i))
	}
	return first
}

// cycles returns the cycles of the launch, and those in which its SMs held a block, added up.
func (r *timedRun) cycles() (total, active int64) {
	total = r.ended
	for _, s := range r.sms {
		active += s.active
		if s.blocks > 0 { // the launch was stopped
			active += max(r.reached-s.since, 0)
			total = r.reached
		}
	}
	return total + r.passed, active
}

// warpCycles returns the sum over warps of the cycles in which they were on an SM.
func (r *timedRun) warpCycles() (sum int64) {
	for _, s := range r.sms {
		sum += s.warps
		for _, v := range s.slots { // the launch was stopped
			if v != nil {
				sum += max(r.reached-v.born, 0)
			}
		}
	}
	return sum
}

// constant returns the line of the constant caches that a word of a bank lies in.
func (r *timedRun) constant(bank uint8, offset uint32) int64 {
	const bankBits = 16
	return (int64(bank)<<bankBits | int64(offset)) / r.constantLine
}
