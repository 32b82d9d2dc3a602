package emu

import (
	"math/bits"

	"gpa/cubin/sass"
)

// A Tracer watches a launch without timing instruction by instruction. It changes nothing but what happens to a lane
// whose access faults. All calls come from one goroutine.
type Tracer interface {
	// Begin is called once, before the first instruction.
	Begin(*LaunchFacts)
	// BeginBlock and EndBlock enclose what a block does; blocks that wait for each other overlap.
	BeginBlock(block int, sharedBytes int)
	EndBlock(block int)
	// Step is called when an instruction has taken effect. The step is valid during the call only.
	Step(*Step)
	// Arrive is called when lanes of a warp arrive at a CTA barrier, before its Step and before the barrier completes;
	// waits is false for BAR.ARV. Release is called when all for whom the barrier waits have arrived.
	Arrive(a *Arrival)
	Release(block, barrier int)
	// Fault is called for a lane's access that cannot be. Where it returns true the launch goes on: a load gives 0 and a
	// store is lost; a thread whose stack has overflowed ends. Where it returns false, and for all other faults, the launch ends with the fault.
	// A BarrierDeadlock is also told where the launch goes on whatever is returned: the lanes that a WARPSYNC names come to it only
	// because a BSYNC gives way, which the PTX ISA leaves undefined.
	Fault(*Fault) bool
	// Heap tells of a lane's malloc or free, before the Step of its call.
	Heap(*HeapCall)
}

// A HeapCall is a call of device-side malloc or free that did what it is for, or a malloc that returned null.
type HeapCall struct {
	Lane       int
	Free       bool
	Addr, Size uint64 // Addr is 0 where malloc failed
}

// A Step is an instruction that a warp has executed.
type Step struct {
	Block, Warp int
	Code        int // index in the module's Codes
	Inst        *sass.Inst
	Active      uint32 // lanes that were at the instruction
	Live        uint32 // lanes that had not exited before it
	Mask        uint32 // of the active ones, those whose guard was true
	Taken       uint32 // of these, those that took the branch that the instruction is
	Parted      bool   // the active ones that have not exited go on by different ways, or some have exited
	Absent      uint32 // lanes that a shuffle let read from a lane that does not execute it
	Mbarriers   []MbarrierUse
	Spans       []Span
	warp        *warp
	op          *op
}

// MbarrierUseKind is what an instruction does with a transaction barrier.
type MbarrierUseKind uint8

// The uses of transaction barriers. Code for sm_80 to sm_89 initialises them by ordinary stores.
const (
	MbarrierInit MbarrierUseKind = iota
	MbarrierInvalidate
	MbarrierArrive
	MbarrierQuery
)

// A MbarrierUse is what a lane did with a transaction barrier in shared memory (PTX ISA, mbarrier).
type MbarrierUse struct {
	Kind    MbarrierUseKind
	Lane    int
	Block   int    // whose shared memory it is in
	Addr    uint64 // offset in the block's shared memory
	Count   uint32 // of sm_90: arrivals that it is initialised with, or that are made
	Pending uint32 // of sm_90: arrivals that the phase still waited for
	Done    bool   // of a query: the phase is complete
}

// uses notes a use of a transaction barrier for the tracer.
func (w *warp) uses(u MbarrierUse) {
	if run := w.block.run; run.launch.Tracer != nil {
		u.Block = w.block.number
		if rank := u.Addr >> rankAt; w.block.cluster != nil && run.step.op.peer && rank < uint64(len(w.block.cluster.blocks)) {
			u.Block = w.block.cluster.blocks[rank].number
		}
		u.Addr &= windowSize - 1
		run.step.Mbarriers = append(run.step.Mbarriers, u)
	}
}

// A Span is bytes that an instruction accessed not lane by lane: the copy engine for it, or the tensor cores of a warpgroup.
type Span struct {
	Kind    AccessKind
	Space   Space
	Addr    uint64 // as of Step.Lane
	Size    int
	Barrier uint64 // of what the copy engine stores in shared memory: the transaction barrier that tells when it is there
	Block   int    // whose shared memory it is

	Counting int // the block whose barrier that is
}

// accessed notes a span for the tracer or the recorder.
func (w *warp) accessed(x Span) {
	const most = mostClusterBlocks + 1 // spans that it may go on from: of global memory, and of each block
	to := &w.block.run.step.Spans
	switch {
	case w.block.run.launch.Tracer != nil:
	case w.block.recorder != nil:
		to = &w.spans
	default:
		return
	}
	if x.Barrier == 0 && x.Kind == Load {
		x.Block = w.block.number
	}
	list := *to
	for i := len(list) - 1; i >= max(0, len(list)-most); i-- { // a copy reads and writes in turns
		if last := &list[i]; last.Kind == x.Kind && last.Space == x.Space && last.Block == x.Block && last.Barrier == x.Barrier && last.Counting == x.Counting && last.Addr+uint64(last.Size) == x.Addr {
			last.Size += x.Size
			return
		}
	}
	*to = append(list, x)
}

// An Arrival is lanes that arrive at a CTA barrier.
type Arrival struct {
	Block, Warp, Barrier int
	Code                 int
	PC                   uint64
	Lanes, Live          uint32 // that arrive, and that have not exited
	Waits                bool
	Count                int // threads that the barrier waits for, 0 for all of the block
}

// Space is a memory space.
type Space uint8

// The spaces of an access.
const (
	Global Space = iota
	Shared
	Local
)

// String names the space as a message does.
func (s Space) String() string { return [...]string{"global", "shared", "local"}[s] }

// AccessKind is what an instruction does to memory.
type AccessKind uint8

// The kinds of accesses.
const (
	NoAccess AccessKind = iota
	Load
	Store
	Atomic
)

// Access returns what the instruction did to memory, the bytes of each lane's access and the lanes that took part.
func (s *Step) Access() (kind AccessKind, size int, lanes uint32) {
	acc := &s.warp.acc
	return AccessKind(acc.kind), int(acc.size), acc.mask
}

// BeyondSingle reports whether the instruction, arithmetic in double precision, has made a finite number in some lane that is larger than those of
// single precision.
func (s *Step) BeyondSingle() bool {
	const least, most = 1023 + 128, 2046 // exponents
	if d := s.op.dst; d != sinkRegister && s.Inst.Operands[0].Dest && s.Inst.Operands[0].Kind == sass.KindReg {
		high := &s.warp.regs[d+1]
		for m := s.Mask; m != 0; m &= m - 1 {
			if e := high[bits.TrailingZeros32(m)&31] >> 20 & 0x7ff; e >= least && e <= most {
				return true
			}
		}
	}
	return false
}

// Exited returns the lanes that the instruction ended.
func (s *Step) Exited() uint32 { return s.Live &^ s.warp.state.Live() }

// SyncMask returns the lanes that a WARPSYNC waits for, as a lane of it says.
func (s *Step) SyncMask(lane int) uint32 { return s.warp.in(&s.op.b, 1)[lane] }

// Lane returns the space and the address of a lane's access: an address in global memory, an offset in the block's shared
// memory or in the thread's local memory.
func (s *Step) Lane(lane int) (Space, uint64) {
	acc := &s.warp.acc
	addr, where := acc.addr[lane], acc.space
	if s.generic() { // each lane resolves its own address
		switch {
		case addr < clusterWindow:
			where = spaceShared
		case addr >= localBacking && addr < sharedWindow:
			where = spaceLocal
		default:
			where = spaceGlobal
		}
	}
	if where == spaceShared { // in a cluster the block's rank is above
		addr &= windowSize - 1
	}
	if where == spaceLocal { // undo the interleaving of localBytes
		addr = (addr - s.warp.localBase()) / (32 * uint64(acc.size)) * uint64(acc.size)
	}
	return Space(where), addr
}

// Owner returns the number of the block whose shared memory a lane accesses: the lane's own, or another of its cluster.
func (s *Step) Owner(lane int) int {
	b := s.warp.block
	if rank := s.warp.acc.addr[lane] >> rankAt; b.cluster != nil && (s.op.peer || s.generic()) && rank < uint64(len(b.cluster.blocks)) {
		return b.cluster.blocks[rank].number
	}
	return b.number
}

// Told returns, of a store that a transaction barrier counts (PTX st.async and red.async), where the barrier of a lane's is in the shared
// memory of the block that the lane's access is to.
func (s *Step) Told(lane int) (barrier uint64, ok bool) {
	if s.Inst.Op.Properties().Async != sass.AsyncRemote {
		return 0, false
	}
	return uint64(s.warp.word(&s.op.a, 1)[lane]) & (windowSize - 1), true
}

// generic reports whether the addresses are generic ones.
func (s *Step) generic() bool {
	return s.op.generic
}

// Copied returns what an instruction that copies from global to shared memory wrote there: the bytes of each lane and the lanes
// that took part. Access is what it read.
func (s *Step) Copied() (size int, lanes uint32) {
	if s.Inst.Op.Properties().Async != sass.AsyncCopy {
		return 0, 0
	}
	return int(sizes[s.op.mode].bytes), s.Mask
}

// CopiedTo returns where in the block's shared memory a lane's copy lies.
func (s *Step) CopiedTo(lane int) uint64 {
	o, w := s.op, s.warp
	addr := w.raw(&o.b)[lane] + uint32(s.Inst.Operands[0].Offset)
	if o.c.not {
		addr += w.raw(&o.c)[0]
	}
	return uint64(addr)
}

// Stored returns the first 32 bits of what a lane stored; ok is false where the value did not come from a register.
func (s *Step) Stored(lane int) (value uint32, ok bool) {
	if p := s.Inst.Op.Properties(); p.Stores(^sass.NoSpace) && !p.Crosses {
		return s.warp.raw(&s.op.b)[lane], true
	}
	return 0, false
}

// MostWords is the number of words that a lane's load or store moves at the most.
const MostWords = 8

// Values returns the words that a lane's load or store moved; one that a load left out is 0.
func (s *Step) Values(lane int) (words [MostWords]uint32, n int) {
	w, n := s.warp, int(s.warp.acc.size)/4
	wide := s.op.mode == sass.Size256
	const spaces = sass.SpaceGeneric | sass.SpaceGlobal | sass.SpaceShared | sass.SpaceLocal
	p := s.Inst.Op.Properties()
	switch {
	case p.Crosses:
		return words, 0
	case p.Loads(spaces) && wide:
		s.op.eachWideWord(func(k, reg int) { words[k] = w.regs[reg][lane] })
	case p.Stores(spaces) && wide:
		for k := range n {
			words[k] = w.wideWord(s.op, k)[lane]
		}
	case p.Loads(spaces):
		if s.op.dst == sinkRegister {
			return words, 0
		}
		for k := range n {
			words[k] = w.row(s.op, k)[lane]
		}
	case p.Stores(spaces):
		for k := range n {
			words[k] = w.word(&s.op.b, k)[lane]
		}
	default:
		return words, 0
	}
	return words, n
}

// IsLocal reports whether a generic address is of local memory.
func IsLocal(addr uint64) bool { return addr-localWindow < windowSize }

// Shuffled returns the lane that a lane's shuffle took its value from, its own where that is out of range.
func (s *Step) Shuffled(lane int) int { return int(s.warp.from[lane]) }

// Thread returns blockIdx and threadIdx of a lane of a warp.
func (f *LaunchFacts) Thread(block, warp, lane int) (blockIdx, threadIdx [3]int) {
	unfold := func(n int, size [3]int) [3]int {
		return [3]int{n % size[0], n / size[0] % size[1], n / (size[0] * size[1])}
	}
	return unfold(block, f.Grid), unfold(32*warp+lane, f.Block)
}

// trace executes one instruction and tells the tracer.
func (w *warp) trace() error {
	o, run := w.next(), w.block.run
	s := &run.step // field by field: a whole one would be made elsewhere and copied, with what the collector has to know of each pointer
	s.Block, s.Warp, s.Code, s.Inst, s.warp, s.op = w.block.number, w.id, int(o.code), o.inst, w, o
	s.Active, s.Live, s.Mask, s.Taken, s.Absent, s.Parted = w.active, w.state.Live(), 0, 0, 0, false
	s.Mbarriers, s.Spans = s.Mbarriers[:0], s.Spans[:0]
	w.taken, w.parted, w.absent = 0, false, 0
	if err := w.step(); err != nil {
		return err
	}
	if w.lost != 0 {
		w.end(w.lost)
	}
	s.Mask, s.Taken, s.Absent = w.mask, w.taken, w.absent
	s.Parted = w.parted || s.Taken != 0 && s.Taken != s.Active
	if exited := s.Exited(); exited != 0 && exited != s.Active {
		s.Parted = true
	}
	run.launch.Tracer.Step(s)
	return nil
}

// end ends lanes of the running group that cannot go on although the launch does.
func (w *warp) end(lanes uint32) {
	w.lost = 0
	w.state.Exit(lanes, w.pc)
	w.group()
	w.block.exited(bits.OnesCount32(lanes))
}

// arrive tells the tracer and the recorder that the warp's executing lanes arrive at a barrier.
func (w *warp) arrive(o *op, barrier, count int) {
	if c := w.block.tape; c != nil {
		c.arrived(w, barrier, count)
	}
	t, r := w.block.run.launch.Tracer, w.block.recorder
	if t == nil && r == nil {
		return
	}
	a := &Arrival{Block: w.block.number, Warp: w.id, Barrier: barrier, Code: int(o.code), PC: o.inst.PC,
		Lanes: w.mask, Live: w.state.Live(), Waits: o.mode != sass.BarARV, Count: count}
	if t != nil {
		t.Arrive(a)
	}
	if r != nil {
		r.Arrive(a)
	}
}

// forgiven tells the tracer of a fault, and returns nil where it lets the launch go on.
func (w *warp) forgiven(f *Fault) error {
	if t := w.block.run.launch.Tracer; t == nil || !t.Fault(f) {
		return f
	}
	return nil
}

// missing is an access that cannot be: a fault, or 32 bytes of nothing where the tracer lets the launch go on.
func (w *warp) missing(size int, f *Fault) ([]byte, error) {
	run := w.block.run
	if err := w.forgiven(f); err != nil {
		return nil, err
	}
	clear(run.nowhere[:])
	return run.nowhere[:size], nil
}
