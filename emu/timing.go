package emu

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stream"
)

// A path says which way an instruction takes through the SM once it has issued, and so what it occupies and when its
// dependence counters are released.
type path uint8

// The paths.
const (
	pathPipe         path = iota // a pipe of the sub-core; results after a fixed latency that the stall counts hold
	pathCounted                  // a pipe of the sub-core; a dependence counter tells when the result is there (FP64, HMMA)
	pathXU                       // the MIO queue, then the XU pipe, or the FP64 pipe where the sub-cores share one
	pathShuffle                  // the MIO queue, then the LSU, no memory (SHFL, S2R, …)
	pathShared                   // the MIO queue, then the LSU and shared memory
	pathConst                    // the MIO queue, then the indexed constant cache (LDC)
	pathGlobal                   // the LG queue, then the LSU, L1 and what lies behind: global, local, generic
	pathTexture                  // the TEX queue, then the texture units, L1 and what lies behind
	pathGroup                    // the tensor core of the sub-core, which computes products of the warpgroup in turn while the warp goes on
	pathTensor                   // the tensor cores of the SM, which compute products and fill tensor memory in turn while the warp goes on
	pathTensorMemory             // the sub-core's part of tensor memory
	pathTransfer                 // the copy engine of the SM
	pathBarrier                  // CTA barriers
	pathMembar                   // waits for the warp's earlier stores
	pathSleep                    // NANOSLEEP
	pathBranch                   // changes the pc
	pathControl                  // other control instructions
)

// A timing is what the timing model needs of an instruction, worked out once for all of its executions.
type timing struct {
	path path
	pipe arch.PipeName

	stall     int64 // cycles to the warp's next issue, at least 1
	yield     bool
	interval  int64 // cycles that the pipe's input is busy
	latency   int64 // of pathCounted, pathXU, pathShuffle and pathConst: issue to the release of the write barrier
	write     int8  // dependence counters, -1 for none
	read      int8
	wait      uint8
	l1tex     bool // a wait for it is long_scoreboard
	depbar    int8 // of DEPBAR and WARPGROUP.DEPBAR: its counter, -1 otherwise
	depbarMax int  // of DEPBAR: how many may be outstanding

	sleep   uint32 // nanoseconds
	bypass  bool   // L1 must not answer
	copies  bool   // from global to shared memory: a group takes the copy up
	stores  bool   // of an access to tensor memory
	orders  bool   // behind stores to tensor memory
	empty   bool   // a matrix product that only closes its group
	closes  bool   // a group of copies, or of matrix products
	syncs   bool   // joins threads at BSYNC
	returns bool   // to an address in a register: RET
	uniform bool   // uniform registers alone hold the address
	fixed   bool   // LDC of an address without registers
	// invalidates says that L1 forgets everything.
	invalidates bool
	imm         bool   // has an operand in a constant bank at a fixed address
	immBank     uint8  // of that operand, or of the bank that LDC reads
	immBytes    uint32 // its offset

	supposed Supposition
	leaves   *stream.Waits // of a form of the instruction in an edited stream, nil for none
	rounds   float64       // of a loop that a load shares its latency with, 0 for its own
	earlier  int           // rounds before which the copy engine gets a copy
	counted  int8          // lanes that an execution of a thinned instruction counts for, 0 where it is not thinned

	registers [3]uint8 // source registers A, B, C that are read through the register file's ports, RZ for none
	reuse     uint8
	result    uint8 // the first register that is written, RZ for none
	words     uint8 // registers from there on
}

// timingOf works out the timing of an instruction on a GPU.
func timingOf(in *sass.Inst, m *arch.Model) timing {
	c := in.Control
	t := timing{
		stall: max(int64(c.Stall), 1), yield: c.Yield,
		write: c.WriteBarrier, read: c.ReadBarrier, wait: c.WaitMask,
		reuse: c.Reuse, depbar: -1,
	}
	if c.Stall == 0 && c.Yield {
		t.stall = m.Issue.StallZeroYield.Cycles()
	}
	t.route(in, m)
	t.onModel(in, m)
	t.uniform = uniformAddress(in)
	t.fixed = t.path == pathConst && fixedAddress(in)
	t.latency = latencyOf(in, &t, m)
	t.interval = m.Pipes[t.pipe].Interval.Cycles()
	if in.Op.Properties().Pairs { // ptxas for sm_100 leaves two cycles between them, one between those of single results
		t.interval *= 2
	}
	t.groups(in, m)
	t.operands(in)
	return t
}

// routes holds the paths of instructions that do not follow from their pipe alone.
var routes = map[sass.LatencyClass]path{
	sass.ClassShared: pathShared, sass.ClassSharedAtomic: pathShared, sass.ClassGlobal: pathGlobal, sass.ClassGlobalAtomic: pathGlobal,
	sass.ClassBranch: pathBranch, sass.ClassBarrier: pathBarrier, sass.ClassFence: pathMembar, sass.ClassSleep: pathSleep,
	sass.ClassControl: pathControl,
	sass.ClassGroup:   pathGroup,
	sass.ClassTexture: pathTexture,
	sass.ClassTensor:  pathTensor, sass.ClassTensorMemory: pathTensorMemory,
}

// paths holds the path that the instructions of a pipe take.
var paths = [sass.NumPipes]path{
	sass.PipeNone: pathControl, sass.PipeALU: pathPipe, sass.PipeFMA: pathPipe, sass.PipeFP16: pathPipe, sass.PipeFP64: pathPipe,
	sass.PipeTensor: pathPipe, sass.PipeXU: pathXU, sass.PipeLSU: pathShuffle, sass.PipeTEX: pathShuffle, sass.PipeADU: pathShuffle,
	sass.PipeCBU: pathControl, sass.PipeUniform: pathPipe,
}

// route finds the path and the pipe.
func (t *timing) route(in *sass.Inst, m *arch.Model) {
	p := in.Op.Properties()
	t.pipe = m.PipeOf(in)
	if t.path = pathControl; in.Form != nil {
		t.path = t.routeOf(in, p)
	}
	if t.path >= pathMembar {
		t.pipe = arch.Control
	}
	switch t.path {
	case pathGlobal:
		t.l1tex = true
		t.bypass = in.Mod(sass.Order) >= sass.OrderStrong && in.Mod(sass.Scope) >= sass.ScopeGPU
		t.copies = p.Async == sass.AsyncCopy
	case pathTransfer, pathTexture:
		t.l1tex = true
	case pathShuffle:
		if in.Op == sass.FENCE && in.Mod(sass.FenceView) == viewTensor {
			t.path, t.orders = pathControl, true
		}
	case pathTensor:
		t.closes = p.Async == sass.CommitsTensor
	case pathTensorMemory:
		t.stores = p.Writes != sass.NoSpace
	case pathMembar:
		if s := in.Mod(sass.Scope); s == sass.ScopeCTA || s == sass.ScopeSM {
			t.path = pathControl // L1 is as far as the block's threads look
		}
	case pathSleep:
		t.sleep = sleepTime(in)
	case pathBranch:
		t.syncs, t.returns = p.Flow == sass.FlowConverge, p.Flow == sass.FlowReturn
	case pathControl:
		t.l1tex = p.Async == sass.CommitsCopies
		t.closes = t.l1tex
		t.invalidates = in.Op == sass.CCTL && in.Mod(sass.CctlOp) == sass.CctlIVALL
	}
}

// routeOf returns the path of an instruction. The uniform datapath reads constants as the other pipes do, without a queue.
func (t *timing) routeOf(in *sass.Inst, p *sass.Properties) path {
	if route, ok := routes[p.Class]; ok {
		return route
	}
	switch {
	case p.Class == sass.ClassTransfer && p.Async == sass.AsyncBulk:
		return pathTransfer
	case p.Async == sass.CommitsTensor:
		return pathTensor
	}
	route := paths[in.Form.Pipe]
	switch {
	case p.Class == sass.ClassConstant && route != pathPipe:
		return pathConst
	case route == pathPipe && in.Form.Variable:
		return pathCounted
	}
	return route
}

// onModel corrects the route for what is special of a GPU.
func (t *timing) onModel(in *sass.Inst, m *arch.Model) {
	switch {
	case in.Op == sass.DEPBAR && t.stall >= m.Issue.Depbar.Cycles():
		counter, outstanding, others := in.AwaitsCounter()
		t.depbar, t.depbarMax, t.wait = counter, outstanding, t.wait|others
	case m.Pipes[t.pipe].Shared && (t.path == pathPipe || t.path == pathCounted):
		t.path = pathXU
	case t.pipe == arch.XU && m.Pipes[arch.FP64].Shared && converts64(in):
		t.pipe = arch.FP64
	}
}

// converts64 reports whether an instruction is a conversion from or to a type of 64 bits. GPUs with few units for FP64 have as
// few of those (CUDA C++ Programming Guide, arithmetic instructions).
func converts64(in *sass.Inst) bool {
	wide := func(typ uint16) bool { return typ == sass.TypeF64 || typ == sass.TypeU64 || typ == sass.TypeS64 }
	return in.Op.Properties().Class == sass.ClassConvert && (wide(in.Mod(sass.DstType)) || wide(in.Mod(sass.SrcType)))
}

// uniformAddress reports whether no ordinary register has a part in an instruction's address but a uniform one has.
func uniformAddress(in *sass.Inst) bool {
	o := in.Address()
	return o != nil && o.Reg == sass.RZ && o.UReg != sass.URZ
}

// fixedAddress reports whether LDC reads at an offset that no register adds to.
func fixedAddress(in *sass.Inst) bool {
	at := findOperand(in, sass.KindConst)
	return at >= 0 && in.Operands[at].Reg == sass.RZ
}

// sleepTime returns the nanoseconds that NANOSLEEP names, 0 where a register holds them: any time up to twice that is
// allowed, and none at all (PTX ISA, nanosleep). NANOSLEEP.SYNCS names the most that mbarrier.try_wait waits for a phase, 10 ms where
// CUTLASS and cuTile do, and is over when the phase is: the query behind it asks again soon.
func sleepTime(in *sass.Inst) uint32 {
	longest := uint64(1e6)
	if in.Mod(sass.SyncSleep) != 0 {
		longest = phaseSleep
	}
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindImm {
			return uint32(min(o.Imm, longest))
		}
	}
	return 0
}

// phaseSleep is how many nanoseconds pass from query to query of a phase that is awaited with a time limit: a default, nothing is published.
const phaseSleep = 20

// latencyOf returns the latency of an instruction whose result a dependence counter announces, in cycles; of accesses to memory it
// follows from the access.
func latencyOf(in *sass.Inst, t *timing, m *arch.Model) int64 {
	if t.path == pathConst && t.fixed {
		return m.Latencies.ConstantFixed.Cycles()
	}
	return m.Latencies.Of(in.Op.Properties().Class).Cycles()
}

// operands notes what the operands ask of the register file and the constant cache.
func (t *timing) operands(in *sass.Inst) {
	t.registers, t.result = [3]uint8{sass.RZ, sass.RZ, sass.RZ}, sass.RZ
	for i := range in.Operands {
		o := &in.Operands[i]
		switch {
		case o.Kind == sass.KindConst && o.Source:
			t.imm, t.immBank, t.immBytes = t.path != pathConst, o.Bank, constantOffset(o)
		case in.Op.Properties().Pairs: // how pairs of registers share the ports is not published
		case o.Kind == sass.KindReg && o.Source && in.Form.Operands[i].Reuse > 0:
			t.registers[in.Form.Operands[i].Reuse-1] = o.Reg
		}
		if o.Kind == sass.KindReg && (o.Dest || t.stores) {
			t.result, t.words = o.Reg, o.Width
		}
	}
}
