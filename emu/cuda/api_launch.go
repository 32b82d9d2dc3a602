package cuda

import (
	"errors"
	"fmt"
	"math"

	"gpa/emu"
)

var launchFunctions = []function{
	{"cuLaunchKernel", "niiiiiiinoo", currentContext, launchKernel},
	{"cuLaunchKernelEx", "pnoo", currentContext, launchEx},
	{"cuLaunchCooperativeKernel", "niiiiiiino", currentContext, launchCooperative},
	{"cuLaunchHostFunc", "npn", currentContext, launchHost},
}

// A request is a launch as a program asks for it.
type request struct {
	function    *kernelFunction
	grid, block [3]int
	cluster     [3]int
	shared      uint32 // dynamic, bytes a block
	stream      uint64
	cooperative bool
	parameters  uint64 // address of the addresses of the parameters, or 0
	extra       uint64 // or of the options that say where all of them lie
}

// shape makes grid and block of six arguments.
func (q *request) shape(a []uint64) {
	for i := range 3 {
		q.grid[i], q.block[i] = int(a[i]), int(a[3+i])
	}
}

func launchKernel(c *call) Result {
	q := request{shared: uint32(c.a[7]), stream: c.a[8], parameters: c.a[9], extra: c.a[10]}
	q.shape(c.a[1:7])
	return c.launch(&q, c.a[0])
}

func launchCooperative(c *call) Result {
	q := request{shared: uint32(c.a[7]), stream: c.a[8], parameters: c.a[9], cooperative: true}
	q.shape(c.a[1:7])
	return c.launch(&q, c.a[0])
}

// The layout of CUlaunchConfig and CUlaunchAttribute.
const (
	configSize       = 56
	configStream     = 32
	configAttributes = 40
	configCount      = 48
	attributeSize    = 72
	attributeValue   = 8
	maxAttributes    = 64
)

// Attributes of launches (CUlaunchAttributeID).
const (
	attributeCooperative = 2
	attributeCluster     = 4
	attributePreferred   = 11
	attributeCompletion  = 12
	attributeUpdatable   = 13
	attributeLast        = 14
)

func launchEx(c *call) Result {
	q, r := c.launchConfig(c.a[0])
	if r != Success {
		return r
	}
	q.parameters, q.extra = c.a[2], c.a[3]
	return c.launch(q, c.a[1])
}

// launchConfig reads a CUlaunchConfig.
func (c *call) launchConfig(addr uint64) (*request, Result) {
	var b [configSize]byte
	if r := c.load(addr, b[:]); r != Success {
		return nil, r
	}
	var words [7]uint64
	for i := range words {
		words[i] = uint64(le.Uint32(b[4*i:]))
	}
	q := &request{shared: uint32(words[6]), stream: le.Uint64(b[configStream:])}
	q.shape(words[:6])
	return q, c.launchAttributes(q, le.Uint64(b[configAttributes:]), int(le.Uint32(b[configCount:])))
}

// launchAttributes reads the attributes of a launch. Those that only say how it shares the GPU with others make no difference.
func (c *call) launchAttributes(q *request, addr uint64, n int) Result {
	if n == 0 {
		return Success
	}
	if n > maxAttributes || addr == 0 {
		return ErrInvalidValue
	}
	data := make([]byte, n*attributeSize)
	if r := c.load(addr, data); r != Success {
		return r
	}
	for ; len(data) > 0; data = data[attributeSize:] {
		if r := c.launchAttribute(q, data); r != Success {
			return r
		}
	}
	return Success
}

// launchAttribute takes one CUlaunchAttribute.
func (c *call) launchAttribute(q *request, data []byte) Result {
	value := data[attributeValue:]
	switch id := le.Uint32(data); id {
	case attributeCooperative:
		q.cooperative = le.Uint32(value) != 0
	case attributeCluster:
		for i := range q.cluster {
			q.cluster[i] = int(le.Uint32(value[4*i:]))
		}
	case attributeCompletion, attributeUpdatable:
		return c.server.lack(fmt.Sprintf("%s with attribute %d", c.function.name, id))
	default:
		if id > attributeLast {
			return ErrInvalidValue
		}
	}
	return Success
}

// launch submits a kernel. What is wrong with the launch itself is the result.
func (c *call) launch(q *request, handle uint64) Result {
	if _, r := c.streamOf(q.stream); r != Success {
		return r
	}
	w, r := c.kernelWorkOf(q, handle)
	if r != Success {
		return r
	}
	return c.submit(q.stream, w)
}

// A kernelWork launches a kernel.
type kernelWork struct {
	request
	params []byte
}

func (*kernelWork) kind() nodeKind { return kernelNode }

// kernelWorkOf checks a launch and reads its parameters.
func (c *call) kernelWorkOf(q *request, handle uint64) (*kernelWork, Result) {
	var r Result
	if q.function, r = c.kernelAt(handle); r != Success {
		return nil, ErrInvalidHandle
	}
	if r := c.checkLaunch(q); r != Success {
		return nil, r
	}
	params, r := c.parameters(q)
	if r == Success && q.function.kernel.Tile != nil {
		r = c.completeTile(q, params)
	}
	return &kernelWork{*q, params}, r
}

// run runs the kernel. A fault of it is an error of later calls.
func (w *kernelWork) run(c *call) Result {
	if c.handles[w.function.handle] != w.function {
		return ErrInvalidHandle // the module has been unloaded since
	}
	var started graphLaunches
	r, fault := c.execute(&Launch{Process: c.pid, Machine: w.function.module.machine, device: c.device, Left: c.left, ranges: c.openRanges(), Launch: &emu.Launch{
		Kernel: w.function.kernel, Grid: w.grid, Block: w.block, Cluster: w.cluster, SharedDynamic: int(w.shared),
		Cooperative: w.cooperative, WholeUnits: !c.server.options.Exact, Params: w.params, Stack: int(c.context.limits[limitStack]),
		Conditional: c.setCondition, GraphLaunch: func(graph, stream uint64) uint32 { return uint32(c.graphLaunch(&started, graph, stream)) },
	}})
	if fault != nil {
		c.context.failed = faultResult(fault.Kind)
	}
	c.flushPrinted()
	if r == Success && fault == nil {
		r = c.follow(&started)
	}
	return r
}

// checkLaunch holds a launch to what the driver holds it to.
func (c *call) checkLaunch(q *request) Result {
	limits := &c.gpu().Limits
	threads := 1
	gridMax := [3]int{limits.GridX.Int(), limits.GridYZ.Int(), limits.GridYZ.Int()}
	blockMax := [3]int{limits.BlockXY.Int(), limits.BlockXY.Int(), limits.BlockZ.Int()}
	for i := range 3 {
		if q.grid[i] < 1 || q.grid[i] > gridMax[i] || q.block[i] < 1 || q.block[i] > blockMax[i] {
			return ErrInvalidValue
		}
		threads *= q.block[i]
	}
	if threads > limits.ThreadsPerBlock.Int() || int64(q.shared) > int64(q.function.dynamic) {
		return ErrInvalidValue
	}
	if bound := q.function.kernel.MaxThreads; bound[0] > 0 && threads > bound[0]*max(1, bound[1])*max(1, bound[2]) {
		return ErrInvalidValue // __launch_bounds__
	}
	if threads > c.maxThreads(q.function) {
		return ErrLaunchOutOfResources
	}
	return Success
}

// Options of the extra argument of launches.
const (
	launchEnd     = 0
	launchPointer = 1
	launchSize    = 2
)

// parameters reads the arguments of the kernel, laid out as it takes them.
func (c *call) parameters(q *request) ([]byte, Result) {
	params := passed(q.function.kernel)
	data := make([]byte, q.function.kernel.ParamSize)
	if q.parameters == 0 {
		return data, c.packedParameters(q.extra, data, len(params))
	}
	addresses, r := c.words(q.parameters, len(params))
	if r != Success {
		return nil, r
	}
	pieces := make([][]byte, len(params))
	for i, p := range params {
		if p.Offset < 0 || p.Size < 0 || p.Offset+p.Size > len(data) {
			return nil, ErrInvalidImage
		}
		pieces[i] = data[p.Offset : p.Offset+p.Size]
	}
	return data, c.loadPieces(addresses, pieces)
}

// packedParameters reads parameters that the program has laid out itself.
func (c *call) packedParameters(extra uint64, data []byte, count int) Result {
	if extra == 0 {
		if count > 0 {
			return ErrInvalidValue
		}
		return Success
	}
	var from, size uint64
	for range 4 {
		pair, r := c.words(extra, 1)
		if r != Success {
			return r
		}
		if pair[0] == launchEnd {
			break
		}
		value, r := c.words(extra+8, 1)
		if r != Success {
			return r
		}
		switch pair[0] {
		case launchPointer:
			from = value[0]
		case launchSize:
			if value, r = c.words(value[0], 1); r != Success {
				return r
			}
			size = value[0]
		default:
			return ErrInvalidValue
		}
		extra += 16
	}
	if size > uint64(len(data)) {
		return ErrInvalidValue
	}
	return c.load(from, data[:size])
}

// execute runs a launch on the GPU, which runs one at a time, and lets the time pass that it took.
func (c *call) execute(l *Launch) (Result, *emu.Fault) {
	s := c.server
	s.execution.Lock()
	defer s.execution.Unlock()
	result, err := s.options.Launch(s.ctx, l)
	if result != nil {
		s.clock += nanoseconds(result)
	}
	var fault *emu.Fault
	switch {
	case err == nil:
		return Success, nil
	case errors.As(err, &fault):
		s.problem(fault)
		return Success, fault
	}
	if s.ctx.Err() != nil {
		err = fmt.Errorf("kernel %s was stopped where it was when the program ended", l.Launch.Kernel.Demangled)
	}
	s.problem(err)
	if result != nil { // it began, and gpa stopped it
		return ErrLaunchFailed, nil
	}
	return launchResult(err), nil
}

// launchResult is the result of a launch that the emulated GPU refuses.
func launchResult(err error) Result {
	var resources *emu.ResourceError
	switch {
	case errors.Is(err, emu.ErrNotResident):
		return ErrCooperativeLaunchTooLarge
	case errors.As(err, &resources):
		return ErrLaunchOutOfResources
	}
	return ErrNotSupported
}

// nanoseconds is how long a launch takes: what it took with timing, and else the least that it can take, with an instruction issued by every
// scheduler in every cycle and what its warps have slept.
func nanoseconds(r *emu.Result) int64 {
	m := r.Facts.Model
	cycles := float64(r.Cycles)
	if cycles == 0 {
		cycles = math.Ceil(float64(r.WarpInstructions)/(m.SMs.Value*m.Limits.Schedulers.Value)) + float64(r.Slept)
	}
	return int64(math.Ceil(cycles * 1e9 / m.Clock.Value))
}

// faultResult is what the driver says of a fault.
func faultResult(kind emu.FaultKind) Result {
	switch kind {
	case emu.OutOfBounds, emu.NullPointer, emu.UseAfterFree:
		return ErrIllegalAddress
	case emu.Misaligned:
		return ErrMisalignedAddress
	case emu.StackOverflow:
		return ErrHardwareStackError
	case emu.BadJump:
		return ErrInvalidPC
	case emu.AssertionFailed:
		return ErrAssert
	case emu.BarrierDeadlock, emu.Livelock, emu.InstructionLimit:
		return ErrLaunchTimeout
	case emu.Unsupported, emu.BadSystemCall:
		return ErrNotSupported
	}
	return ErrLaunchFailed
}

// flushPrinted has the program write what its kernels have printed to its standard output, as its own driver would.
func (c *call) flushPrinted() {
	if len(c.printed) == 0 {
		return
	}
	text := c.printed
	c.process.printed = nil
	if c.mapDevice() != Success {
		return
	}
	a, err := c.device.take(uint64(len(text)), stagingMemory, "printf")
	if err != nil {
		c.server.problem(err)
		return
	}
	defer c.device.give(a)
	copy(a.data, text)
	const standardOutput = 1
	if err := c.conn.Write(standardOutput, a.addr, a.size); err != nil {
		c.server.problem(fmt.Errorf("what a kernel printed: %w", err))
	}
}
