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
	pathPipe    path = iota // a pipe of the sub-core; results after a fixed latency that the stall counts hold
	pathCounted             // a pipe of the sub-core; a dependence counter tells when the result is there (FP64, HMMA)
	pathXU                  // the MIO queue, then the XU pipe, or the FP64 pipe where the sub-cores share one
	pathShuffle             // the MIO queue, then the LSU, no memory (SHFL, S2R, …)
	pathShared              // the MIO queue, then the LSU and shared memory
	pathConst               // the MIO queue, then the indexed constant cache (LDC)
	pathGlobal              // the LG queue, then the LSU, L1 and what lies behind: global, local, generic
	pathBarrier             // CTA barriers
	pathMembar              // waits for the warp's earlier stores
	pathSleep               // NANOSLEEP
	pathBranch              // changes the pc
	pathControl             // other control instructions
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
	depbar    int8 // of DEPBAR: its counter, -1 otherwise
	depbarMax int  // of DEPBAR: how many may be outstanding

	sleep   uint32 // nanoseconds
	bypass  bool   // L1 must not answer
	copies  bool   // from global to shared memory: a group takes the copy up
	closes  bool   // a group of copies
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
	t.route(in)
	t.onModel(in, m)
	t.uniform = uniformAddress(in)
	t.fixed = t.path == pathConst && fixedAddress(in)
	t.latency = latencyOf(in, &t, m)
	t.interval = m.Pipes[t.pipe].Interval.Cycles()
	t.operands(in)
	return t
}

// routes holds the paths of instructions that do not follow from their pipe alone.
var routes = map[sass.Op]path{
	sass.LDS: pathShared, sass.STS: pathShared, sass.ATOMS: pathShared,
	sass.LDG: pathGlobal, sass.STG: pathGlobal, sass.LD: pathGlobal, sass.ST: pathGlobal,
	sass.LDL: pathGlobal, sass.STL: pathGlobal, sass.ATOM: pathGlobal, sass.ATOMG: pathGlobal, sass.RED: pathGlobal, sass.REDG: pathGlobal,
	sass.LDGSTS: pathGlobal, sass.LDGDEPBAR: pathControl, sass.LDSM: pathShared, sass.STSM: pathShared,
	sass.LDC: pathConst, sass.BAR: pathBarrier, sass.UCGABAR_ARV: pathBarrier, sass.UCGABAR_WAIT: pathBarrier,
	sass.MEMBAR: pathMembar, sass.ERRBAR: pathControl,
	sass.BRA: pathBranch, sass.BRX: pathBranch, sass.JMP: pathBranch, sass.JMX: pathBranch, sass.CALL: pathBranch,
	sass.RET: pathBranch, sass.BSYNC: pathBranch, sass.BREAK: pathControl, sass.EXIT: pathControl,
	sass.NANOSLEEP: pathSleep, sass.DEPBAR: pathControl, sass.CCTL: pathControl, sass.CCTLL: pathControl,
}

// pipes holds where a pipe of the instruction table lies in the model, and the path that its instructions take.
var pipes = [sass.NumPipes]struct {
	name arch.PipeName
	path path
}{
	sass.PipeNone:    {arch.Control, pathControl},
	sass.PipeALU:     {arch.ALU, pathPipe},
	sass.PipeFMA:     {arch.FMA, pathPipe},
	sass.PipeFP16:    {arch.FP16, pathPipe},
	sass.PipeFP64:    {arch.FP64, pathPipe},
	sass.PipeTensor:  {arch.Tensor, pathPipe},
	sass.PipeXU:      {arch.XU, pathXU},
	sass.PipeLSU:     {arch.LSU, pathShuffle},
	sass.PipeTEX:     {arch.LSU, pathShuffle},
	sass.PipeADU:     {arch.LSU, pathShuffle},
	sass.PipeCBU:     {arch.Control, pathControl},
	sass.PipeUniform: {arch.ALU, pathPipe},
}

// route finds the path and the pipe.
func (t *timing) route(in *sass.Inst) {
	pipe, variable := in.Form.Pipe, in.Form.Variable
	t.pipe, t.path = pipes[pipe].name, pipes[pipe].path
	if t.path == pathPipe && variable {
		t.path = pathCounted
	}
	if p, ok := routes[in.Op]; ok {
		t.path = p
		if p >= pathMembar {
			t.pipe = arch.Control
		}
	}
	switch t.path {
	case pathGlobal:
		t.l1tex = true
		t.bypass = in.Mod(sass.Order) >= sass.OrderStrong && in.Mod(sass.Scope) >= sass.ScopeGPU
		t.copies = in.Op == sass.LDGSTS
	case pathMembar:
		if s := in.Mod(sass.Scope); s == sass.ScopeCTA || s == sass.ScopeSM {
			t.path = pathControl // L1 is as far as the block's threads look
		}
	case pathSleep:
		t.sleep = sleepTime(in)
	case pathBranch:
		t.syncs, t.returns = in.Op == sass.BSYNC, in.Op == sass.RET
	case pathControl:
		switch in.Op {
		case sass.LDGDEPBAR:
			t.l1tex, t.closes = true, true
		case sass.CCTL:
			t.invalidates = in.Mod(sass.CctlOp) == sass.CctlIVALL
		}
	}
}

// onModel corrects the route for what is special of a GPU.
func (t *timing) onModel(in *sass.Inst, m *arch.Model) {
	switch {
	case in.Op == sass.DEPBAR && t.stall >= m.Issue.Depbar.Cycles():
		t.threshold(in)
	case t.pipe == arch.FMA && (in.Op == sass.IMAD || in.Op == sass.IDP) && m.Pipes[arch.FMAHeavy].Interval.Value > 0:
		t.pipe = arch.FMAHeavy
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
	switch in.Op {
	case sass.F2F, sass.F2I, sass.I2F, sass.FRND:
		return wide(in.Mod(sass.DstType)) || wide(in.Mod(sass.SrcType))
	}
	return false
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
// allowed, and none at all (PTX ISA, nanosleep).
func sleepTime(in *sass.Inst) uint32 {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindImm {
			return uint32(min(o.Imm, 1e6))
		}
	}
	return 0
}

// threshold reads the counter and the number that DEPBAR names.
func (t *timing) threshold(in *sass.Inst) {
	for i := range in.Operands {
		switch o := &in.Operands[i]; {
		case o.Kind == sass.KindScoreboard:
			t.depbar = int8(o.Reg)
		case o.Kind == sass.KindImm && i == 1:
			t.depbarMax = int(o.Imm)
		case o.Kind == sass.KindImm && i == 2:
			t.wait |= uint8(o.Imm) & 0x3f
		}
	}
}

// latencyOf returns the latency of an instruction whose result a dependence counter announces, in cycles; 0 where it
// follows from the access.
func latencyOf(in *sass.Inst, t *timing, m *arch.Model) int64 {
	l := &m.Latencies
	switch t.path {
	case pathCounted:
		if in.Op == sass.HMMA {
			return l.Half.Cycles()
		}
		return l.FP64.Cycles()
	case pathXU:
		if in.Form.Pipe == sass.PipeFP64 {
			return l.FP64.Cycles()
		}
		return latencyXU(in.Op, l)
	case pathShuffle:
		if in.Op == sass.SHFL {
			return l.Shuffle.Cycles()
		}
		return l.Special.Cycles()
	case pathConst:
		if t.fixed {
			return l.ConstantFixed.Cycles()
		}
		return l.Constant.Cycles()
	}
	return l.Special.Cycles()
}

func latencyXU(op sass.Op, l *arch.Latencies) int64 {
	switch op {
	case sass.MUFU:
		return l.MUFU.Cycles()
	case sass.POPC, sass.FLO, sass.BREV:
		return l.BitCount.Cycles()
	case sass.FCHK:
		return l.Check.Cycles()
	}
	return l.Convert.Cycles()
}

// operands notes what the operands ask of the register file and the constant cache.
func (t *timing) operands(in *sass.Inst) {
	t.registers, t.result = [3]uint8{sass.RZ, sass.RZ, sass.RZ}, sass.RZ
	for i := range in.Operands {
		o := &in.Operands[i]
		switch {
		case o.Kind == sass.KindConst && o.Source:
			t.imm, t.immBank, t.immBytes = t.path != pathConst, o.Bank, constantOffset(o)
		case o.Kind == sass.KindReg && o.Source && in.Form.Operands[i].Reuse > 0:
			t.registers[in.Form.Operands[i].Reuse-1] = o.Reg
		}
		if o.Kind == sass.KindReg && o.Dest {
			t.result, t.words = o.Reg, o.Width
		}
	}
}
