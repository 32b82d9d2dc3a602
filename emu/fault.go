package emu

import (
	"fmt"
	"strings"

	"gpa/cubin"
)

// FaultKind says what went wrong.
type FaultKind string

// The kinds of faults.
const (
	OutOfBounds      FaultKind = "out of bounds"
	Misaligned       FaultKind = "misaligned address"
	StackOverflow    FaultKind = "stack overflow"
	NullPointer      FaultKind = "null pointer"
	Unsupported      FaultKind = "unsupported instruction"
	BadJump          FaultKind = "jump to no instruction"
	BarrierDeadlock  FaultKind = "barrier deadlock"
	Livelock         FaultKind = "livelock"
	InstructionLimit FaultKind = "instruction limit"
	AssertionFailed  FaultKind = "assertion failed"
	Trap             FaultKind = "trap"
	BadSystemCall    FaultKind = "system call"
	InvalidBarrier   FaultKind = "invalid barrier"
	UseAfterFree     FaultKind = "use after free"
	DoubleFree       FaultKind = "double free"
	InvalidFree      FaultKind = "invalid free"
	EndedBlock       FaultKind = "access to a block that has ended"
	InvalidObject    FaultKind = "invalid texture or surface object"
)

// A Fault is how a launch stopped before its end. It is an error whose text is the whole of it in one line.
type Fault struct {
	Kind   FaultKind
	Kernel string // demangled
	Code   int    // index in the module's Codes
	PC     uint64 // offset in that section
	SASS   string
	Frames []cubin.Frame // source lines, innermost first

	Block, Thread [3]int

	HasAddress bool
	Address    uint64
	Buffer     string // the nearest buffer, and where the address lies from it

	Detail string // what else there is to say
}

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s in kernel %s", f.Kind, f.Kernel)
	if len(f.Frames) > 0 && f.Frames[0].Line > 0 {
		fmt.Fprintf(&b, " at %s:%d", f.Frames[0].File, f.Frames[0].Line)
	}
	fmt.Fprintf(&b, ", pc %#x %s, block (%d,%d,%d) thread (%d,%d,%d)", f.PC, f.SASS,
		f.Block[0], f.Block[1], f.Block[2], f.Thread[0], f.Thread[1], f.Thread[2])
	if f.HasAddress {
		fmt.Fprintf(&b, ", address %#x", f.Address)
		if f.Buffer != "" {
			fmt.Fprintf(&b, ": %s", f.Buffer)
		}
	}
	if f.Detail != "" {
		fmt.Fprintf(&b, ": %s", f.Detail)
	}
	return b.String()
}

// fault makes a fault of the instruction that the lane executes.
func (w *warp) fault(o *op, lane int, kind FaultKind, detail string) *Fault {
	run := w.block.run
	f := &Fault{
		Kind: kind, Kernel: run.launch.Kernel.Demangled, Block: w.block.index, Thread: w.thread(lane), Detail: detail,
	}
	if o != nil {
		f.Code, f.PC, f.SASS = int(o.code), o.inst.PC, o.inst.Text()
		f.Frames = run.machine.module.Codes[o.code].Frames(o.inst.PC)
	}
	return f
}

// addressFault makes the fault of an access that cannot be.
func (w *warp) addressFault(o *op, lane int, kind FaultKind, addr uint64, space string) *Fault {
	f := w.fault(o, lane, kind, space)
	f.HasAddress, f.Address = true, addr
	if space == "" {
		f.Buffer = w.block.run.machine.memory.near(addr)
		switch freed := w.block.run.machine.heap.freed(addr); {
		case kind != OutOfBounds:
		case addr < 1<<16:
			f.Kind = NullPointer
		case freed != nil:
			f.Kind, f.Buffer = UseAfterFree, fmt.Sprintf("byte %d of heap allocation %d, which had %d and was freed", addr-freed.addr, freed.number, freed.size)
		}
	}
	return f
}
