package emu

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gpa/cubin/sass"
)

// A systemCall is a function that the device runtime provides. Arguments and results are in registers from R4 on, the
// return address is in R20 and R21.
type systemCall struct {
	name string
	run  func(w *warp, o *op, lane int) error
	// ready says whether the call of a lane is carried out; else the lane makes it again. Nil where it always is.
	ready func(w *warp, lane int) bool
}

// systemCalls are the functions, in the order of their addresses.
var systemCalls = [...]systemCall{
	{name: "vprintf", run: callPrintf},
	{name: "malloc", run: callMalloc},
	{name: "free", run: callFree},
	{name: "__assertfail", run: callAssertFail},
	{name: "__cuda_syscall_CGS_get_intrinsic_handle", run: callGridHandle},
	{name: "__cuda_syscall_CGS_sync", run: callGridSync, ready: gridReady},
	{name: "cudaGraphSetConditional", run: callSetConditional},
	{name: "cudaGraphLaunch", run: callGraphLaunch},
}

// Registers of the device ABI: arguments and results begin at R4, the return address is in R20 and R21. A caller has all
// of them.
const (
	abiArgument  = 4
	abiResult    = 4
	abiReturn    = 20
	abiRegisters = 22
)

// systemCall does a system call for each of the lanes, the lowest first, and lets them go on at their return addresses.
func (w *warp) systemCall(o *op, lanes uint32, address uint64) error {
	if lanes == 0 {
		return nil
	}
	number := (address - syscallBase) / sass.InstSize
	if number >= uint64(len(systemCalls)) {
		return w.fault(o, bits.TrailingZeros32(lanes), BadSystemCall, w.block.run.machine.missing(number))
	}
	if w.block.run.program.registers < abiRegisters {
		return w.fault(o, bits.TrailingZeros32(lanes), BadSystemCall, "the caller does not follow the calling convention")
	}
	var targets [32]int32
	for m := lanes; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if ready := systemCalls[number].ready; ready != nil && !ready(w, i) {
			targets[i] = o.index
			continue
		}
		w.block.domain.changes++
		if err := systemCalls[number].run(w, o, i); err != nil {
			return err
		}
		back := w.argument64(abiReturn, i)
		var ok bool
		if targets[i], ok = w.block.run.program.index(o.code, back, true); !ok {
			return w.fault(o, i, BadJump, fmt.Sprintf("return address %#x of a system call", back))
		}
	}
	w.state.Indirect(lanes, &targets, o.index+1)
	w.group()
	return nil
}

func (w *warp) argument64(r, lane int) uint64 {
	return uint64(w.regs[r+1][lane])<<32 | uint64(w.regs[r][lane])
}

// systemAddress is the address of a function of the device runtime. Functions that gpa does not provide have addresses
// too: it is an error to call them, not to refer to them.
func (m *Machine) systemAddress(name string) uint64 {
	for i := range systemCalls {
		if systemCalls[i].name == name {
			return syscallBase + uint64(i)*sass.InstSize
		}
	}
	at := slices.Index(m.externs, name)
	if at < 0 {
		at = len(m.externs)
		m.externs = append(m.externs, name)
	}
	return syscallBase + uint64(len(systemCalls)+at)*sass.InstSize
}

// missing says that there is no such system call.
func (m *Machine) missing(number uint64) string {
	if at := number - uint64(len(systemCalls)); at < uint64(len(m.externs)) {
		return fmt.Sprintf("the kernel calls %s, which gpa does not provide", m.externs[at])
	}
	return "the kernel calls a function that gpa does not provide"
}

// stringAt reads a string that ends with a zero.
func (w *warp) stringAt(o *op, lane int, addr uint64) (string, error) {
	var b strings.Builder
	for addr != 0 && b.Len() < maxString {
		c, _, _, err := w.memoryAt(o, lane, addr, 1)
		if err != nil {
			return "", err
		}
		if c[0] == 0 {
			break
		}
		b.WriteByte(c[0])
		addr++
	}
	return b.String(), nil
}

// callMalloc is malloc(size); it returns null where the heap is full.
func callMalloc(w *warp, _ *op, lane int) error {
	size := w.argument64(abiArgument, lane)
	addr := w.block.run.machine.heap.alloc(size)
	if t := w.block.run.launch.Tracer; t != nil {
		t.Heap(&HeapCall{Lane: lane, Addr: addr, Size: size})
	}
	w.regs[abiResult][lane], w.regs[abiResult+1][lane] = uint32(addr), uint32(addr>>32)
	return nil
}

func callFree(w *warp, o *op, lane int) error {
	addr := w.argument64(abiArgument, lane)
	if kind, detail := w.block.run.machine.heap.free(addr); kind != "" {
		f := w.addressFault(o, lane, kind, addr, "")
		f.Buffer, f.Detail = "", detail
		return w.forgiven(f)
	}
	w.block.run.forget() // the buffer that it may have been
	if t := w.block.run.launch.Tracer; t != nil && addr != 0 {
		t.Heap(&HeapCall{Lane: lane, Free: true, Addr: addr})
	}
	return nil
}

// callSetConditional is cudaGraphSetConditional(handle, value). A launch that is no part of a graph has nothing to decide.
func callSetConditional(w *warp, _ *op, lane int) error {
	if set := w.block.run.launch.Conditional; set != nil {
		set(w.argument64(abiArgument, lane), w.regs[abiArgument+2][lane])
	}
	return nil
}

// callGraphLaunch is cudaGraphLaunch(graph, stream), which returns a cudaError_t.
func callGraphLaunch(w *warp, _ *op, lane int) error {
	const notSupported = 801
	result := uint32(notSupported)
	if start := w.block.run.launch.GraphLaunch; start != nil {
		result = start(w.argument64(abiArgument, lane), w.argument64(abiArgument+2, lane))
	}
	w.regs[abiResult][lane] = result
	return nil
}

// callAssertFail is __assertfail(message, file, line, function).
func callAssertFail(w *warp, o *op, lane int) error {
	text := make([]string, 3)
	for k, r := range []int{4, 6, 10} {
		var err error
		if text[k], err = w.stringAt(o, lane, w.argument64(r, lane)); err != nil {
			return err
		}
	}
	return w.fault(o, lane, AssertionFailed, fmt.Sprintf("%s:%d: %s: %s", text[1], w.regs[8][lane], text[2], text[0]))
}
