package emu

import (
	"errors"
	"fmt"
	"math"

	"gpa/emu/arch"
	"gpa/emu/reconv"
)

// A launchRun is a launch while it runs.
type launchRun struct {
	machine     *Machine
	launch      *Launch
	program     *program
	plan        reconv.Plan
	states      []reconv.State // of all warps that there have been
	entry       int32
	facts       LaunchFacts
	sharedBytes int    // that a block reaches
	localBytes  int    // bytes a thread may use
	localPlace  int    // bytes a thread has, as the driver gives them out
	blocks      int    // that are timed, or all
	domain      domain // without timing; with it every SM has its own
	tally       tally
	threads     []threadIndex // by warp of a block
	ended       []*block      // whose storage is free
	printed     int64         // bytes of device-side printf
	overflown   bool          // they were more than the buffer holds
	slept       int64         // cycles that passed without timing while all waited for the clock
	limit       int64         // warp instructions that it may execute
	left        int64         // those that are left, as of the last quantum

	grid gridBarrier

	changes int64      // of all domains, as of the last quantum or round
	spin    spinSearch // without timing

	timed  *timedRun // nil without timing
	replay *replay   // of a launch whose streams are edited, else nil

	step    Step              // for the tracer
	nowhere [storeSector]byte // what accesses touch that fault and are let go on
}

// stackLimit is the local memory that the driver gives a thread that needs no more, bytes: the default of cudaLimitStackSize. A kernel
// whose calls the compiler could not follow, as in recursion, needs the user to raise it; then the launch's stack counts.
const stackLimit = 1024

// prepare checks a launch and makes its program.
func (m *Machine) prepare(l *Launch) (*launchRun, error) {
	r := &launchRun{machine: m, launch: l}
	k := l.Kernel
	r.facts = LaunchFacts{Kernel: k, Module: m.module, Model: m.gpu, Grid: l.Grid, Block: l.Block, Cluster: l.cluster(), memory: m.memory}
	if err := m.check(l, r); err != nil {
		return nil, err
	}
	if err := l.Snapshot.begin(r); err != nil {
		return nil, err
	}
	r.sharedBytes = k.SharedReserved + k.SharedStatic + l.SharedDynamic
	if l.WholeUnits {
		r.sharedBytes = arch.RoundUp(r.sharedBytes, m.gpu.Limits.SharedUnit.Int())
	}
	r.localBytes = (max(l.Stack, k.LocalFrame) + 15) &^ 15
	r.localPlace = r.localBytes
	if k.MinStack > 0 {
		r.localPlace = min(r.localBytes, max(stackLimit, (k.MinStack+15)&^15))
	}
	var banks [32][]byte
	copy(banks[:], m.banks[:])
	banks[0], banks[2] = r.bank0(), k.ConstBank2
	var fresh bool
	r.program, fresh = m.programOf(l, banks)
	if err := r.program.suppose(l.WhatIf); err != nil {
		return nil, err
	}
	var ok bool
	var err error
	if r.entry, ok = r.program.index(int32(k.Code.Index), k.Entry, false); !ok {
		return nil, fmt.Errorf("its entry %#x is no instruction", k.Entry)
	}
	if r.plan, err = m.reconvergence(r.program, r.entry); err != nil {
		return nil, err
	}
	if fresh {
		r.program.arriveAt(r.plan.Checks())
	}
	r.threads = threadIndices(l.Block)
	r.allow(m.options.MaxInstructions)
	return r, nil
}

// level is how much of the launch is timed.
func (r *launchRun) level() TimingLevel {
	if r.launch.Untimed {
		return TimingNone
	}
	return r.machine.options.Timing
}

// allow makes the counters ready for a limit of warp instructions, 0 for none.
func (r *launchRun) allow(limit int64) {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	r.tally = tally{ops: make([]opCounter, len(r.program.ops)), memory: make([]memoryCounter, len(r.program.ops))}
	r.domain = newDomain(&r.tally)
	r.limit, r.left, r.domain.budget = limit, limit, limit
}

// check holds a launch to the limits of the GPU and of the kernel.
func (m *Machine) check(l *Launch, r *launchRun) error {
	limits, k := &m.gpu.Limits, l.Kernel
	gridMax := [3]int{limits.GridX.Int(), limits.GridYZ.Int(), limits.GridYZ.Int()}
	blockMax := [3]int{limits.BlockXY.Int(), limits.BlockXY.Int(), limits.BlockZ.Int()}
	threads, blocks := 1, 1
	for axis, name := range []string{"x", "y", "z"} {
		if l.Grid[axis] < 1 || l.Grid[axis] > gridMax[axis] {
			return fmt.Errorf("grid %s is %d, it can be 1 to %d", name, l.Grid[axis], gridMax[axis])
		}
		if l.Block[axis] < 1 || l.Block[axis] > blockMax[axis] {
			return fmt.Errorf("block %s is %d, it can be 1 to %d", name, l.Block[axis], blockMax[axis])
		}
		threads *= l.Block[axis]
		if blocks > math.MaxInt32/l.Grid[axis] {
			return fmt.Errorf("a grid of %v has too many blocks", l.Grid)
		}
		blocks *= l.Grid[axis]
	}
	r.blocks = l.Part.blocks(blocks)
	if err := l.checkCluster(m.module.Arch); err != nil {
		return err
	}
	shared := k.SharedStatic + l.SharedDynamic
	switch {
	case threads > limits.ThreadsPerBlock.Int():
		return fmt.Errorf("a block of %d threads, it can have %d", threads, limits.ThreadsPerBlock.Int())
	case k.MaxThreads[0] > 0 && threads > k.MaxThreads[0]*max(1, k.MaxThreads[1])*max(1, k.MaxThreads[2]):
		return fmt.Errorf("a block of %d threads, __launch_bounds__ allows %v", threads, k.MaxThreads)
	case k.ReqThreads[0] > 0 && l.Block != k.ReqThreads:
		return fmt.Errorf("a block of %v threads, the kernel is compiled for %v (__block_size__)", l.Block, k.ReqThreads)
	case l.SharedDynamic < 0 || shared > limits.SharedBlock.Int():
		return fmt.Errorf("%d bytes of shared memory a block, it can have %d", shared, limits.SharedBlock.Int())
	case len(l.Params) != k.ParamSize:
		return fmt.Errorf("%d bytes of parameters, it takes %d", len(l.Params), k.ParamSize)
	case max(l.Stack, k.LocalFrame) > limits.LocalThreadBytes.Int():
		return fmt.Errorf("%d bytes of local memory a thread, it can have %d", max(l.Stack, k.LocalFrame), limits.LocalThreadBytes.Int())
	}
	r.facts.Occupancy = l.occupancy(m.gpu, r.blocks)
	if w := l.WhatIf; w != nil && w.Resident > 0 {
		most := arch.OccupancyOf(m.gpu, arch.Resources{Threads: threads, Blocks: r.blocks}).BlocksPerSM
		r.facts.Occupancy.BlocksPerSM = min(w.Resident, most)
	}
	if l.Cooperative {
		if l.Part != nil {
			return errors.New("the blocks of a cooperative launch wait for each other, so that a part of them does not run by itself")
		}
		return checkCooperative(r.facts.Occupancy.BlocksPerSM*m.gpu.SMs.Int(), blocks)
	}
	if blocks := l.clusterBlocks(); r.facts.Occupancy.BlocksPerSM > 0 && blocks > largestGPC(m.gpu)*r.facts.Occupancy.BlocksPerSM {
		return &ResourceError{fmt.Sprintf("a cluster of %d blocks does not fit on a GPC of %d SMs that hold %d each", blocks, largestGPC(m.gpu), r.facts.Occupancy.BlocksPerSM)}
	}
	if r.facts.Occupancy.BlocksPerSM < 1 {
		return &ResourceError{fmt.Sprintf("a block does not fit on an SM: too many resources requested (%d threads of %d registers)", threads, k.Registers)}
	}
	return nil
}

// occupancy returns the occupancy of a GPU by so many blocks.
func (l *Launch) occupancy(gpu *arch.Model, blocks int) arch.Occupancy {
	k := l.Kernel
	return arch.OccupancyOf(gpu, l.WhatIf.resources(arch.Resources{Threads: l.Block[0] * l.Block[1] * l.Block[2], Registers: k.Registers,
		SharedStatic: k.SharedStatic, SharedDynamic: l.SharedDynamic, Barriers: k.Barriers, Blocks: blocks}))
}

// A ResourceError says that a launch asks for more than an SM has.
type ResourceError struct{ what string }

func (e *ResourceError) Error() string { return e.what }

// cluster is the size of a cluster of blocks that the launch or its kernel asks for.
func (l *Launch) cluster() [3]int {
	if l.Cluster != [3]int{} {
		return l.Cluster
	}
	return l.Kernel.Cluster
}

// ErrNotResident is what is wrong with a cooperative launch of too many blocks.
var ErrNotResident = errors.New("a cooperative launch has more blocks than are resident together")

// checkCooperative makes sure that all blocks of a cooperative launch are resident together, as they wait for each
// other.
func checkCooperative(resident, blocks int) error {
	if blocks > resident {
		return fmt.Errorf("%w: %d, and the GPU holds %d", ErrNotResident, blocks, resident)
	}
	return nil
}

// exhausted is the fault of a launch that has used up its instructions.
func (w *warp) exhausted(o *op) error {
	return w.fault(o, w.first(), InstructionLimit,
		fmt.Sprintf("the launch may execute %d warp instructions (--max-instructions)", w.block.run.machine.options.MaxInstructions))
}

// clock is the cycle that a program reads: the warp's own with timing and what has passed while all waited for the clock, else the instructions
// executed so far and such time.
func (r *launchRun) clock(w *warp) int64 {
	if r.timed != nil && w.block.domain != &r.domain {
		return w.now + r.timed.passed
	}
	return r.limit - r.domain.budget + r.slept
}

func (r *launchRun) nanoseconds(w *warp) int64 {
	return int64(float64(r.clock(w)) * 1e9 / r.machine.gpu.Clock.Value)
}

// result collects what the launch did.
func (r *launchRun) result() *Result {
	out := &Result{Facts: r.facts, Slept: r.slept, LocalBytes: r.launch.Kernel.LocalFrame, SharedDynamic: r.launch.SharedDynamic, Level: r.level()}
	for i := range r.tally.ops {
		c, o := &r.tally.ops[i], &r.program.ops[i]
		if c.executions == 0 {
			continue
		}
		n := Counter{Code: int(o.code), PC: o.inst.PC, Executions: c.executions, ThreadExecutions: c.threads, BranchTaken: c.taken}
		if r.timed != nil {
			n.memoryCounter = r.tally.memory[i]
		}
		out.Counters = append(out.Counters, n)
		out.WarpInstructions += c.executions
		out.ThreadInstructions += c.threads
	}
	for _, s := range r.states {
		out.Reconvergence.Add(s.Stats())
	}
	if r.timed != nil {
		out.Cycles, out.SMActiveCycles = r.timed.cycles()
		out.WarpActiveCycles = r.timed.warpCycles()
		out.Traffic = r.timed.device.Traffic()
		if (r.replay != nil || r.launch.Part != nil) && r.timed.rest != nil {
			out.WarpInstructions += r.timed.rest.instructions
		}
		r.extrapolate(out)
	}
	return out
}

// forget makes all domains forget the buffer that they hit last.
func (r *launchRun) forget() {
	r.domain.last = &buffer{}
	if r.timed != nil {
		for _, s := range r.timed.sms {
			s.domain.last = &buffer{}
		}
	}
}
