// Package emu is an emulated NVIDIA GPU. It runs the machine code in a cubin as the hardware would: [Machine] is a GPU
// with a module loaded and its memory, [Machine.Launch] runs a kernel on it, functionally or with timing, and an
// [Observer] watches a timed launch as a hardware sampler would. A launch that cannot go on ends with a [Fault].
//
// Instructions take effect when they issue, in the order of each warp. Begin with warp.go, which says what a warp is to
// those that drive it; compile.go, how instructions are made ready; then one of the exec_*.go files.
package emu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
	"gpa/emu/reconv"
)

// TimingLevel is how much of the machine's timing is modelled.
type TimingLevel uint8

// The timing levels.
const (
	TimingNone TimingLevel = iota // none: instructions only take effect
	TimingFast                    // perfect instruction cache, no register-file ports, fixed L2 latency
	TimingFull                    // everything
)

// String is the name on the command line.
func (l TimingLevel) String() string {
	switch l {
	case TimingFast:
		return "fast"
	case TimingFull:
		return "full"
	}
	return "none"
}

// ParseTimingLevel reads the name of a level.
func ParseTimingLevel(name string) (TimingLevel, error) {
	for _, level := range []TimingLevel{TimingFull, TimingFast, TimingNone} {
		if name == level.String() {
			return level, nil
		}
	}
	return 0, fmt.Errorf("%q is none of full, fast and none", name)
}

// Options say how a machine behaves. The zero value runs without timing and without limits.
type Options struct {
	Timing          TimingLevel
	MaxInstructions int64     // warp instructions of a launch, 0 for no limit; see DefaultMaxInstructions
	Stdout          io.Writer // of device-side printf; nil to drop it
	Heap            int64     // bytes for device-side malloc
	Padding         int64     // bytes between buffers of global memory that are not mapped, at least; bufferGap where that is more
	// HostMemory says how many bytes of this computer's memory are free, as [FreeMemory] does. A launch that would need more ends
	// with an error. Nil for no limit.
	HostMemory    func() int64
	Memory        *Memory // that the machine shares with others; nil for one of its own
	Extrapolation Extrapolation
	Workers       int          // SMs that are advanced at a time, 0 for as many as there are processors; it changes no result
	Reconvergence reconv.Model // nil for the hardware's own, [reconv.Volta]
}

// DefaultMaxInstructions is a limit for programs that nobody knows: more warp instructions than a launch executes that anybody
// waits for. A V100 takes two seconds for as many at four an SM and cycle, the emulator more than ten hours.
const DefaultMaxInstructions = 1_000_000_000_000

// constantBank is the bank of __constant__ variables.
const constantBank = 3

// A Machine is an emulated GPU with a module loaded. It runs one launch at a time.
type Machine struct {
	gpu       *arch.Model
	module    *cubin.File
	options   Options
	memory    *globalMemory
	objects   *headers
	room      room
	heap      *heap
	globals   []section  // the module's global variables
	constants uint64     // address of constant bank 3
	banks     [32][]byte // of the module: 3 and 4
	// relocated holds the absolute code addresses that relocations put into call instructions, by program index.
	relocated map[int32]uint64
	bases     []int32
	externs   []string              // functions that the module refers to and the device runtime does not provide
	device    *mem.Device           // L2 and DRAM in time
	plans     map[int32]reconv.Plan // by entry
	compiled  compiled              // for the last launch
	paths     []*mem.SM             // of the SMs in the last launch that had them, for their storage
	progress  Progress
	printed   int64 // bytes
}

// A Launch is a kernel launch.
type Launch struct {
	Kernel        *cubin.Kernel
	Grid, Block   [3]int
	Cluster       [3]int // blocks of a cluster, zero where the launch does not ask for clusters
	SharedDynamic int    // bytes a block
	Cooperative   bool
	Params        []byte  // laid out as the kernel's parameters
	WholeUnits    bool    // blocks reach shared memory up to the end of the last unit that they are given, as on hardware
	Stack         int     // local memory for the call stack, bytes a thread
	WarmCaches    bool    // the caches keep what the launch before left in them
	WhatIf        *WhatIf // a change to try, in time; nil for none
	// Untimed launches only take effect, also on a machine with timing.
	Untimed bool
	// Backwards: the clusters of a launch without timing begin from the last to the first, and their warps have their turns so. What
	// then comes out otherwise depends on the order of threads.
	Backwards bool
	// Dispensable says that nobody wants to know what the launch leaves in memory: where its timing ends early and it takes long to
	// execute, it is not executed to its end, and what it has executed is told from some of its blocks.
	Dispensable bool
	// MaxCycles ends a launch with timing that takes more, with [ErrTooManyCycles]; 0 for none.
	MaxCycles int64
	// Part is the blocks to time where not all are, nil for all.
	Part     *Part
	Observer Observer
	Tracer   Tracer // of a launch without timing
	Recorder Recorder
	// Tape keeps what the blocks of the launch execute, nil for nothing. They are executed one after another, without timing.
	Tape     *Tape
	Snapshot *Snapshot // of a launch without timing: the memory that it touches
	// Conditional is told what the kernel decides about the graph that it is launched by (cudaGraphSetConditional). It is called from
	// several goroutines.
	Conditional func(handle uint64, value uint32)
	// GraphLaunch is told which graphs the kernel launches (cudaGraphLaunch), and on which stream; it returns a cudaError_t. It is called
	// from several goroutines.
	GraphLaunch func(graph, stream uint64) uint32

	touches     *touches     // of a launch without timing
	curtailment *curtailment // how far it is timed, nil for to the end
}

// A Result is what a launch did. Of a launch that faulted it tells what was done until then.
type Result struct {
	Facts              LaunchFacts
	WarpInstructions   int64
	Slept              int64 // cycles, of a launch without timing, in which all warps waited for the clock
	ThreadInstructions int64
	Counters           []Counter // by code and pc; only executed instructions
	LocalBytes         int       // of a thread as compiled, without recursion
	SharedDynamic      int       // of a block

	Reconvergence reconv.Stats // over all warps

	Level          TimingLevel
	Cycles         int64 // from the first cycle of the launch to its last, 0 without timing
	SMActiveCycles int64 // sum over SMs of the cycles in which they held a block

	// WarpActiveCycles is the sum over warps of the cycles in which they were on an SM: over SMActiveCycles, the mean
	// number of warps that an SM held.
	WarpActiveCycles int64

	// TimedBlocks is how many blocks were timed where it is less than all: the cycles are extrapolated then, with a relative
	// error of about ErrorBound, and so is what is counted of memory.
	TimedBlocks int
	ErrorBound  float64
	Traffic     mem.Traffic
	// Partial says that not all blocks were executed, see [Launch.Dispensable].
	Partial bool
}

// A Counter holds what is counted for an instruction.
type Counter struct {
	Code             int
	PC               uint64
	Executions       int64 // by warps
	ThreadExecutions int64 // by threads whose guard was true
	BranchTaken      int64 // by threads, of branches
	Timed            int64 // of the executions, where timing ended before the launch did; 0 for all of them
	memoryCounter
}

// New loads a module.
func New(gpu *arch.Model, module *cubin.File, o Options) (*Machine, error) {
	if !Runs(gpu.Arch, int(module.Arch)) {
		return nil, fmt.Errorf("its code is for sm_%d, and %s runs sm_%d", module.Arch, gpu.Name, gpu.Arch)
	}
	if module.Relocatable {
		return nil, errors.New("relocatable device code (nvcc -rdc=true), which does not run before it is linked: nvcc -dlink or nvlink makes a cubin that does")
	}
	if o.Reconvergence == nil {
		o.Reconvergence = reconv.Volta{}
	}
	if o.Stdout == nil {
		o.Stdout = io.Discard
	}
	m := &Machine{gpu: gpu, module: module, options: o, relocated: make(map[int32]uint64), plans: make(map[int32]reconv.Plan)}
	m.bases, _ = codeBases(module)
	m.room = newRoom(o.HostMemory)
	if o.Memory == nil {
		o.Memory = newMemory(o.Heap, o.Padding)
	}
	m.memory, m.heap, m.objects = &o.Memory.global, &o.Memory.heap, &o.Memory.objects
	if err := m.placeGlobals(); err != nil {
		return nil, err
	}
	if err := m.loadBanks(); err != nil {
		return nil, err
	}
	for i := range module.Relocs {
		if err := m.relocate(&module.Relocs[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Runs reports whether a GPU executes the code of an architecture: its own, or an earlier one with the same major number
// (CUDA C++ Programming Guide, binary compatibility).
func Runs(gpu, code int) bool { return code <= gpu && code/10 == gpu/10 }

// loadBanks copies the module's constant banks. Bank 3, the __constant__ variables, lies in device memory like anything
// else: pointers to it are ordinary addresses.
func (m *Machine) loadBanks() error {
	for _, b := range m.module.Banks {
		switch {
		case b.Kernel != "" || b.Number >= len(m.banks):
		case b.Number == constantBank:
			buffer, err := m.memory.alloc("constant memory", int64(len(b.Data)))
			if err != nil {
				return err
			}
			copy(buffer.own, b.Data)
			buffer.fixed = true // the bank has the same bytes
			m.constants, m.banks[constantBank] = buffer.addr, buffer.own
		default:
			m.banks[b.Number] = append([]byte(nil), b.Data...)
		}
	}
	return nil
}

// workers returns how many SMs are advanced at a time.
func (m *Machine) workers() int {
	if m.options.Workers > 0 {
		return min(m.options.Workers, m.gpu.SMs.Int())
	}
	return min(runtime.GOMAXPROCS(0), m.gpu.SMs.Int())
}

// Module returns the module that is loaded.
func (m *Machine) Module() *cubin.File { return m.module }

// address is where a relocation points to.
func (m *Machine) address(t *cubin.Target) (uint64, error) {
	switch {
	case t.Extern != "":
		return m.systemAddress(t.Extern), nil
	case t.Code != nil:
		return codeBase + uint64(m.bases[t.Code.Index])*sass.InstSize + t.Offset, nil
	case t.Global:
		return m.global(t.Offset), nil
	case t.Constant:
		return m.constants + t.Offset, nil
	}
	return 0, fmt.Errorf("it points to nothing that has an address")
}

// relocate puts an address where the module needs it.
func (m *Machine) relocate(r *cubin.Reloc) error {
	addr, err := m.address(&r.Target)
	if err != nil {
		return fmt.Errorf("relocation of %s in %s: %w", r.Symbol, r.Section, err)
	}
	addr += uint64(r.Addend)
	if r.Code != nil {
		return m.relocateCode(r, addr)
	}
	var bank []byte
	size := uint64(0)
	switch r.Section {
	case ".nv.constant3":
		bank = m.banks[constantBank]
		size = uint64(len(bank))
	case ".nv.constant4":
		bank = m.banks[4]
		size = uint64(len(bank))
	case ".nv.global.init", ".nv.global":
		size = m.module.Global.Size
	}
	if size == 0 {
		return nil // of a section that is not loaded, as debug information
	}
	if r.Kind != cubin.Abs64 || size < 8 || r.Offset > size-8 {
		return fmt.Errorf("relocation of %s in %s at %#x does not fit", r.Symbol, r.Section, r.Offset)
	}
	data := binary.LittleEndian.AppendUint64(nil, addr)
	if bank == nil {
		if err := m.Write(m.global(r.Offset), data); err != nil {
			return fmt.Errorf("relocation of %s in %s at %#x: %w", r.Symbol, r.Section, r.Offset, err)
		}
		return nil
	}
	copy(bank[r.Offset:], data)
	return nil
}

// relocateCode notes an address that an instruction holds.
func (m *Machine) relocateCode(r *cubin.Reloc, addr uint64) error {
	index := m.bases[r.Code.Index] + int32(r.Offset/sass.InstSize)
	switch r.Kind {
	case cubin.Abs32Lo:
		m.relocated[index] = addr & 0xffffffff
	case cubin.Abs32Hi:
		m.relocated[index] = addr >> 32
	default:
		m.relocated[index] = addr
	}
	return nil
}

// A Symbol is a module variable in the machine's memory.
type Symbol struct {
	Addr     uint64 // in global memory; of a constant, where the driver shows it
	Constant string // the variable's name where it lies in constant memory
	Size     uint64
}

// Symbol finds a __device__ or __constant__ variable of the module.
func (m *Machine) Symbol(name string) (Symbol, error) {
	v := m.module.Variable(name)
	if v == nil {
		return Symbol{}, fmt.Errorf("module %s has no variable %q", m.module.Name, name)
	}
	switch v.Space {
	case cubin.GlobalSpace:
		return Symbol{Addr: m.global(v.Offset), Size: v.Size}, nil
	case cubin.ConstantSpace:
		return Symbol{Addr: m.constants + v.Offset, Constant: name, Size: v.Size}, nil
	}
	return Symbol{}, fmt.Errorf("variable %s is in shared memory", name)
}

// constant returns the bytes of a __constant__ variable from an offset on.
func (m *Machine) constant(name string, at int64, size int) ([]byte, error) {
	v := m.module.Variable(name)
	bank := m.banks[constantBank]
	if v == nil || v.Space != cubin.ConstantSpace {
		return nil, fmt.Errorf("module %s has no constant %q", m.module.Name, name)
	}
	end := v.Offset + uint64(at) + uint64(size)
	if at < 0 || uint64(at)+uint64(size) > v.Size || end > uint64(len(bank)) {
		return nil, fmt.Errorf("%d bytes at %d do not fit into %s", size, at, name)
	}
	return bank[end-uint64(size) : end], nil
}

// WriteConstant copies data to a __constant__ variable from byte at on.
func (m *Machine) WriteConstant(name string, at int64, data []byte) error {
	to, err := m.constant(name, at, len(data))
	copy(to, data)
	return err
}

// ReadConstant copies a __constant__ variable from byte at on to data.
func (m *Machine) ReadConstant(name string, at int64, data []byte) error {
	from, err := m.constant(name, at, len(data))
	copy(data, from)
	return err
}

// Launch runs a kernel. The error is a *Fault where the kernel did not end well, else it says what is wrong with the
// launch or that ctx was cancelled. The result is not nil where the kernel began.
func (m *Machine) Launch(ctx context.Context, l *Launch) (*Result, error) {
	if m.shortens(l) {
		if r, err := m.shorten(ctx, l); err != errSmall {
			return r, err
		}
	}
	if m.curtails(l) {
		return m.curtailed(ctx, l)
	}
	return m.launch(ctx, l)
}

func (m *Machine) launch(ctx context.Context, l *Launch) (*Result, error) {
	r, err := m.prepare(l)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", l.Kernel.Demangled, err)
	}
	closeGrid, err := m.openGrid(l)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", l.Kernel.Demangled, err)
	}
	defer closeGrid()
	if l.WhatIf != nil && l.WhatIf.Streams != nil {
		if err := r.rehearse(ctx); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", l.Kernel.Demangled, err)
		}
	}
	if l.Recorder != nil {
		l.Recorder.Begin(&r.facts)
	}
	switch {
	case l.Tape != nil:
		err = r.runTaped(ctx)
	case r.level() == TimingNone:
		err = r.runFunctional(ctx)
	default:
		err = r.runTimed(ctx)
	}
	var fault *Fault
	if err != nil && !errors.As(err, &fault) && ctx.Err() == nil {
		err = fmt.Errorf("kernel %s: %w", l.Kernel.Demangled, err)
	}
	return r.result(), err
}
