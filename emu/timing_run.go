package emu

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	counters []memoryCounter // by op index

	codeLine     int64 // instructions in a line of code
	codeLines    int64 // of the program
	constantLine int64 // bytes of a line of the first-level constant cache

	next    int   // the first block that has no place yet
	ended   int64 // the last cycle in which a block left
	reached int64 // the SMs have been advanced up to this cycle
	changes int64 // of the launch, and the cycle in which they were seen to grow last
	changed int64
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
		observer: l.launch.Observer, counters: make([]memoryCounter, len(l.program.ops)),
		codeLine: int64(m.Fetch.Line.Int() / sass.InstSize), constantLine: int64(m.Constant.Line.Int()),
	}
	r.codeLines = (int64(len(l.program.ops)) + r.codeLine - 1) / r.codeLine
	r.device = l.machine.caches(r.memory, l.launch.WarmCaches)
	for i := range min(m.SMs.Int(), l.blocks) { // the others would get no block
		s := newSM(r, i)
		s.begin(l.entry)
		r.sms = append(r.sms, s)
		r.paths = append(r.paths, s.path)
	}
	return r
}

// caches returns what all SMs share, with empty caches, or warm with those that the launch before left.
func (m *Machine) caches(cfg *mem.Config, warm bool) *mem.Device {
	if m.device == nil || !warm {
		m.device = mem.NewDevice(cfg)
	}
	m.device.Restart(cfg)
	return m.device
}

// runTimed runs the launch with timing.
func (r *launchRun) runTimed(ctx context.Context) error {
	r.timed = newTimedRun(r)
	if o := r.launch.Observer; o != nil {
		o.Begin(&r.facts)
	}
	return r.timed.run(ctx)
}

// run runs all blocks. The SMs are advanced a quantum at a time, each by itself; then L2 and DRAM answer all of them,
// the samples of the quantum are shown, and blocks move up.
func (r *timedRun) run(ctx context.Context) error {
	r.fill()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := r.upcoming()
		if begin == mem.Never {
			return r.finished()
		}
		end := begin + r.length()
		if err := r.quantum(begin, end); err != nil {
			return err
		}
		if err := r.checkLivelock(end); err != nil {
			return err
		}
	}
}

// fineQuantum is the number of cycles after which blocks that wait get the places that have become free.
const fineQuantum = 32

// length returns the cycles of the next quantum.
func (r *timedRun) length() int64 {
	if r.next < r.launch.blocks || r.overlaps {
		return min(fineQuantum, r.memory.Quantum())
	}
	return r.memory.Quantum()
}

// quantum advances everything.
func (r *timedRun) quantum(begin, end int64) error {
	r.reached = end
	for _, s := range r.sms {
		if s.blocks > 0 && s.stopped == nil {
			s.stopped = s.advance(end)
		}
	}
	r.device.Serve(r.paths, begin, end)
	for _, s := range r.sms {
		s.answers()
		s.sampler.deliver()
		s.retire(end)
	}
	if err := r.stopped(); err != nil {
		return err
	}
	r.moveUp(end)
	return nil
}

// stopped returns why the launch cannot go on, if it cannot: of several faults in a quantum the first in time.
func (r *timedRun) stopped() error {
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
	return first
}

// fill gives the SMs their first blocks, one each in turn until all are full.
func (r *timedRun) fill() {
	t := r.model.Launching.Fixed.Value
	for range r.launch.facts.Occupancy.BlocksPerSM {
		for _, s := range r.sms {
			if r.next == r.launch.blocks {
				return
			}
			r.place(s, int64(t))
			t += r.model.Launching.Block.Value
		}
	}
}

// place gives an SM the next block.
func (r *timedRun) place(s *sm, t int64) {
	b := r.launch.newBlock(r.next)
	b.sm = s.id
	r.next++
	s.place(b, t)
}

// A vacancy is a place for a block that has become free.
type vacancy struct {
	at int64
	sm *sm
}

// moveUp gives blocks that wait, as of cycle t, the places that became free in the quantum, in the order in which they did.
func (r *timedRun) moveUp(t int64) {
	var free []vacancy
	for _, s := range r.sms {
		for _, at := range s.freed {
			free = append(free, vacancy{at, s})
			r.ended = max(r.ended, at)
		}
		s.freed = s.freed[:0]
	}
	slices.SortStableFunc(free, func(a, b vacancy) int { return cmp.Compare(a.at, b.at) })
	for _, v := range free {
		if r.next < r.launch.blocks {
			r.place(v.sm, max(t, v.at+r.model.Launching.Replace.Cycles()))
		}
	}
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
	return total, active
}

// constant returns the line of the constant caches that a word of a bank lies in.
func (r *timedRun) constant(bank uint8, offset uint32) int64 {
	const bankBits = 16
	return (int64(bank)<<bankBits | int64(offset)) / r.constantLine
}
