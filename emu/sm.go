package emu

import (
	"math/bits"

	"gpa/emu/arch"
	"gpa/emu/mem"
	"gpa/emu/stall"
)

// A resident is a warp on an SM: the warp's timing state beside its functional one.
type resident struct {
	warp  *warp
	block *residentBlock
	core  *subcore
	place uint8 // in core.warps
	slot  int   // in sm.slots

	next  *op   // what issues next; EXIT where the warp has ended
	unit  unit  // that it needs
	born  int64 // the cycle in which it was set up
	ended bool
	held  bool // the functional model holds it at a barrier

	// Until these cycles the warp cannot issue; ready is the last of them. Each is mem.Never while it is not known.
	ready     int64
	stalled   int64 // stall count, or yield, of the previous instruction
	branch    int64 // the target of a branch is known, or the threads that BSYNC joins
	refetched int64 // the instruction at the target has come from the L0 cache
	fetched   int64 // the next instruction is in the instruction buffer
	constant  int64 // its constant operand is in the first-level cache; ready counts it once the scheduler has found it missing
	blocked   int64 // barrier, memory barrier, sleep, drain or launch; why says which

	resolving  int64 // of the cycles up to branch, the first that samples show as branch_resolving
	turns      int64 // of these cycles, the first in which samples show the target; before they show the pc behind turn
	turn       *op   // the last instruction that turned the warp elsewhere
	why        stall.Reason
	yielded    bool  // stalled is a yield's doing
	line       int64 // code line that holds the next instruction
	constLine  int64 // constant line that it waits for
	awaited    bool  // the scheduler has found its constant operand missing
	hidden     uint8 // counters whose last increment the next instruction does not see yet
	hiddenDone [numCounters]int64

	counters [numCounters]counter
	misses   misses
	sent     int64         // the LSU has the data of its stores
	atomic   bool          // there is an atomic among them
	groups   []copyGroup   // not complete
	packed   map[int32]int // by packed instruction: how often it was executed
	copies   *copyRounds   // nil where none is supposed to be earlier

	product    *op   // the last matrix product of the warpgroup that has issued
	multiplied int64 // when its result is there
	gathered   int64 // when the parts of other warps are that it has waited for

	tensorStored int64 // when its stores are in tensor memory
}

// A residentBlock is a block on an SM.
type residentBlock struct {
	block *block
	sm    *sm
	warps []resident
	live  int // warps that have not left
	// arrived is when the last of their arrivals at a barrier so far was counted, less what that takes without others.
	arrived int64
	ended   int64           // the last cycle of those that have
	packed  map[int32][]int // by packed instruction: the lanes that have executed it for the n-th time
	// stored is when the last of their stores is in L2, where another block takes the place only then ([arch.Launching]).
	stored    int64
	transfers map[uint64]*transfer // to shared memory, by transaction barrier
	product   *op                  // the last one that ends in tensor memory
	products  int64                // when all of them so far are complete
}

// An sm is one SM in time. It advances by itself from quantum to quantum; what leaves it goes through the log of its
// memory path, what comes back are answers.
type sm struct {
	id     int
	run    *timedRun
	cores  []*subcore
	path   *mem.SM
	code   hierarchy
	consts hierarchy
	slots  []*resident
	blocks int // resident

	executed int64 // warp instructions
	given    int   // blocks so far

	domain domain
	paused bool // before an instruction that must not run ahead of the other SMs

	now     int64 // cycle of the last issue
	stopped error // why the SM cannot go on

	since  int64 // cycle in which it last began to hold a block
	until  int64 // cycle in which it last ceased to
	active int64 // cycles in which it held one, up to until
	warps  int64 // sum of the cycles in which the warps that have left were on it

	draining    []*resident // warps that have ended but for their stores
	freed       []int64     // cycles from which on the places of blocks that left in this quantum are free
	waits       waits
	arrived     []arrivedCopy
	tensorFree  int64  // cycle from which on the tensor cores can take a product that ends in tensor memory
	tensorTaken uint32 // units of tensor memory that blocks have allocated
	exchange    int64  // cycle from which on it can exchange data with the shared memory of others
	constLoads  []constLoad

	sampler samplerQueue
}

func newSM(r *timedRun, id int) *sm {
	s := &sm{id: id, run: r, sampler: newSamplerQueue(r.observer), path: r.path(id), slots: make([]*resident, r.model.Limits.Warps.Int()), domain: domain{last: &buffer{}}}
	s.code, s.consts = newCode(r.model, s.path, int(r.codeLines)), newConstants(r.model, s.path)
	cores := make([]subcore, r.model.Limits.Schedulers.Int())
	for i := range cores {
		c := &cores[i]
		s.cores = append(s.cores, c)
		*c = subcore{id: i, path: s.path, at: mem.Never, wake: mem.Never, issuedAt: -1, ack: r.memory.Ack(), ports: newRegisterPorts(r.model), operand: r.model.Issue.Operand.Cycles(), inTurn: r.model.Queues.InTurn.Value > 0}
		if r.full {
			c.writes = newWritePorts(r.model)
		}
	}
	return s
}

// begin fetches the first lines of the kernel. Hardware does so before the first warp is there: small kernels on T4 have
// about 110 cycles of no_instructions an SM, less than one way to L2. Of imc_miss they have 580, two ways to L2: the
// constants are fetched when an instruction asks for them.
func (s *sm) begin(entry int32) {
	first := s.run.launch.program.fetchedAt(entry) / s.run.codeLine
	for line := first; line < min(first+1+s.run.latency.prefetch, s.run.codeLines); line++ {
		s.code.hold(uint64(line))
	}
}

// place gives a block to the SM in cycle t. Its warps take the lowest free slots; the slot says which sub-core.
func (s *sm) place(b *block, t int64) {
	if s.blocks == 0 {
		s.since = t
		s.sampler.begin(s, t)
	}
	s.blocks++
	s.given++
	rb := &residentBlock{block: b, sm: s, live: len(b.warps), warps: make([]resident, len(b.warps))}
	b.resident = rb
	slot := 0
	for i, w := range b.warps {
		for s.slots[slot] != nil {
			slot++
		}
		v := &rb.warps[i]
		*v = resident{warp: w, block: rb, core: s.cores[slot%len(s.cores)], slot: slot, born: t + int64(float64(i)*s.run.latency.warps),
			why: stall.NoInstructions, line: -1}
		v.blocked = v.born + s.run.latency.warp
		w.residentLocal(s.id*len(s.slots) + slot)
		s.slots[slot] = v
		s.prepare(v, w.next(), t)
		v.core.join(v)
	}
}

// advance runs the SM up to cycle end, or to an instruction before which an SM that runs ahead has to pause.
func (s *sm) advance(end int64) error {
	s.paused = false
	for {
		c := s.earliest()
		if c.at >= end {
			break
		}
		s.sampler.upTo(s, c.at)
		v, at := c.pick(c.at)
		if v == nil {
			c.at = at
			continue
		}
		if v.next.ordered && s.domain.ahead {
			s.paused = true
			return nil
		}
		if err := s.issue(c, v, at); err != nil {
			return err
		}
	}
	s.sampler.upTo(s, end)
	return nil
}

// earliest returns the sub-core in which something may issue first.
func (s *sm) earliest() *subcore {
	first := s.cores[0]
	for _, c := range s.cores[1:] {
		if c.at < first.at {
			first = c
		}
	}
	return first
}

// issue executes an instruction and works out what follows from it in time.
func (s *sm) issue(c *subcore, v *resident, t int64) error {
	o := v.next
	if o.t.supposed&Packed != 0 && v.shares(o) {
		o = s.run.launch.program.packed[o.index]
	}
	tm := &o.t
	c.issuedAt, c.issued, c.issuedUnit, c.freeBefore = t, o, v.unit, c.free(v.unit)
	c.at, c.last = t+1, v
	v.warp.now, s.now = t, t
	v.warp.scratch = s.domain.scratch
	before := v.warp.active
	if s.run.launch.launch.Recorder == nil {
		if err := v.warp.step(); err != nil {
			return err
		}
	} else if err := v.warp.stepRecorded(); err != nil {
		return err
	}
	if s.domain.orbits != nil {
		s.domain.orbits.after(v.warp, o, before)
	}
	c.unlist(v)
	if tm.gone() {
		c.at, c.issuedAt = t, t-1
	}
	v.stalled, v.yielded, v.hidden = t+tm.stall+v.warp.cost, false, 0
	v.warp.cost = 0
	if tm.yield && tm.stall < s.run.latency.yield {
		v.stalled, v.yielded = t+s.run.latency.yield, true
	}
	read, done := s.time(c, v, o, t)
	if len(v.warp.told) > 0 {
		s.deliver(&bulkCopy{barriers: v.warp.told}, o, t)
		v.warp.told = v.warp.told[:0]
	}
	if !tm.gone() { // nobody waits for what is not there
		producer := o
		if v.warp.asked.done {
			done, producer = s.queried(v, o, done)
		}
		v.count(tm.write, t, done, producer)
		v.count(tm.read, t, read, o)
	}
	v.warp.asked.done = false
	return s.follow(v, o, before, t)
}

// count increments a dependence counter. The increment can be seen two cycles after the issue (Huerta et al., section 4):
// an instruction that issues before does not wait for it.
func (v *resident) count(n int8, now, done int64, o *op) {
	if n < 0 {
		return
	}
	if v.stalled < now+2 {
		v.hide(int(n))
	}
	v.counters[n].add(now, done, o)
}

// hide keeps a counter as the next instruction sees it.
func (v *resident) hide(n int) {
	if v.hidden>>n&1 == 0 {
		v.hidden |= 1 << n
		v.hiddenDone[n] = v.counters[n].clear
	}
}

// prepare finds the warp's next instruction, as of cycle t, and works out when it is ready.
func (s *sm) prepare(v *resident, next *op, t int64) {
	v.next = next
	v.unit = unitOf(&v.next.t)
	if s.run.full && !s.run.perfectFetch {
		s.fetch(v, t)
	}
	s.operand(v, t)
	v.settle()
}

// fetch looks the next instruction up in the instruction caches where it lies in another line than the one before. The
// stream buffer runs ahead.
func (s *sm) fetch(v *resident, t int64) {
	line := s.run.launch.program.fetchedAt(v.next.index) / s.run.codeLine
	if line == v.line {
		return
	}
	v.line = line
	at := max(t, v.branch)
	if v.branch == mem.Never {
		at = t
	}
	var hit bool
	v.fetched, hit = s.code.look(v.core.id, uint64(line), at)
	l := &s.run.latency
	first := int64(1)
	if hit { // the lines between are there already
		first = l.prefetch
	}
	for k := first; k <= l.prefetch && line+k < s.run.codeLines; k++ {
		s.code.prefetch(v.core.id, uint64(line+k), at, k*l.perLine)
	}
}

// operand looks up the constant operand of the next instruction.
func (s *sm) operand(v *resident, t int64) {
	tm := &v.next.t
	v.constant, v.awaited = 0, false
	if !tm.imm {
		return
	}
	line := s.run.constant(tm.immBank, tm.immBytes)
	v.constant, _ = s.consts.look(0, uint64(line), t)
	v.constLine = line
}

// settle works out when the warp is ready.
func (v *resident) settle() {
	r := max(v.stalled, v.branch, v.refetched, v.fetched, v.blocked)
	if v.awaited {
		r = max(r, v.constant)
	}
	tm := &v.next.t
	for m := tm.wait; m != 0; m &= m - 1 {
		r = max(r, v.clear(bits.TrailingZeros8(m)))
	}
	if tm.leaves != nil {
		r = max(r, v.atMostLeft(tm.leaves))
	}
	if tm.depbar >= 0 {
		r = max(r, v.counters[tm.depbar].atMost(tm.depbarMax))
		if tm.depbar == groupCount {
			r = max(r, v.gathered)
		}
		if v.ahead() {
			r = mem.Never
		}
	}
	if tm.write >= 0 {
		r = max(r, v.counters[tm.write].admits())
	}
	if tm.read >= 0 {
		r = max(r, v.counters[tm.read].admits())
	}
	v.ready = r
}

// clear returns when a counter is zero, as the next instruction sees it. Where what it sees had no known end it waits for all.
func (v *resident) clear(n int) int64 {
	if v.hidden>>n&1 != 0 && v.hiddenDone[n] != mem.Never {
		return v.hiddenDone[n]
	}
	return v.counters[n].clear
}

// latencies are the figures of a model that an SM uses at every issue.
type latencies struct {
	branch, refetch, resolving, sync int64
	returns                          int64
	barrier, yield, warp, entry      int64
	exit, exitResolving, leastDrain  int64
	drain                            int64 // from the reading of a store's data
	drainInL2                        int64 // from the arrival of an atomic or a store in L2
	stored                           bool
	constantRead                     int64
	copy, copyRead                   int64 // more than a load
	bulk                             int64 // too
	remote, clusterBarrier, shared   int64
	remoteWidth                      float64
	prefetch, perLine                int64
	perNanosecond, warps             float64
	tensor                           tensorLatencies
	texels                           float64 // that the texture units take in a cycle
}

// nanoseconds returns a time in cycles.
func (l *latencies) nanoseconds(n uint32) int64 { return int64(float64(n) * l.perNanosecond) }

func newLatencies(m *arch.Model) latencies {
	return latencies{
		branch: m.Issue.Branch.Cycles(), refetch: m.Issue.Refetch.Cycles(), resolving: m.Issue.Resolving.Cycles(), returns: m.Issue.Return.Cycles(), sync: m.Issue.Sync.Cycles(),
		barrier: m.Issue.Barrier.Cycles(), yield: m.Issue.Yield.Cycles(), exit: m.Issue.Exit.Cycles(), exitResolving: m.Issue.ExitResolving.Cycles(), leastDrain: m.Issue.Drain.Cycles(),
		warp: m.Launching.Warp.Cycles(), entry: m.Queues.Entry.Cycles(), constantRead: m.Latencies.ConstantRead.Cycles(),
		copy: m.Latencies.Copy.Cycles(), copyRead: m.Latencies.CopyRead.Cycles(), bulk: m.Latencies.Bulk.Cycles(),
		remote: m.Clusters.Remote.Cycles(), shared: m.Latencies.Shared.Cycles(), clusterBarrier: m.Clusters.Barrier.Cycles(), remoteWidth: m.Clusters.Width.Value,
		drain: m.Latencies.StoreDrain.Cycles(), drainInL2: m.Latencies.StoreDrain.Cycles() - m.Latencies.L2.Cycles()/2, stored: m.Launching.Stored.Value > 0, prefetch: m.Fetch.Prefetch.Cycles(), perLine: m.Fetch.Interval.Cycles(),
		perNanosecond: m.Clock.Value / 1e9, warps: m.Launching.Warps.Value,
		texels: m.Queues.Texels.Value,
		tensor: tensorLatencies{
			columns: m.Tensor.Columns.Value, operands: m.Shared.Banks.Value * m.Shared.BankSize.Value,
			load: m.Tensor.Load.Value / m.Limits.Schedulers.Value, store: m.Tensor.Store.Value / m.Limits.Schedulers.Value,
			complete: m.Tensor.Complete.Cycles(), fromTensor: m.Tensor.FromTensor.Cycles(),
		},
	}
}
