package cuda

import (
	_ "embed"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The runtime API, for programs that link libcudart as a shared library: rows in front of the same objects as those of the driver. A handle of the
// runtime is that of the driver; functions and variables have addresses in the program instead, by which the program registers them when it starts
// (crt/host_runtime.h). The first call that needs one makes the primary context current.

// runtimeNames are the functions of cuda_runtime_api.h, of CUDA 12.9 and 13.
//
//go:embed runtimenames.txt
var runtimeNames string

func isRuntime(name string) bool {
	return strings.HasPrefix(name, "cuda") || strings.HasPrefix(name, "__cuda")
}

// A fatbinary is device code that a program has registered. It is loaded when something in it is first asked for.
type fatbinary struct {
	handle uint64
	image  uint64 // address of its wrapper
	module *module
	names  []string // of kernels and variables that were registered, which are what is loaded of it
}

// A symbol is a kernel or a variable that a program has registered by an address of its own.
type symbol struct {
	binary  *fatbinary
	name    string
	pointer uint64 // where a managed variable's address is to be put, 0 for others
}

// A runtimeState is what the runtime knows of a process.
type runtimeState struct {
	data     uint64 // of the library that it was registered by
	binaries []*fatbinary
	symbols  map[uint64]*symbol
	retained bool
	flags    uint32 // of the device
}

// A configuration is what <<<>>> has pushed.
type configuration struct {
	words  [4]uint64 // grid and block as they are passed
	shared uint64
	stream uint64
}

// enterRuntime makes the primary context current to a thread without a context.
func (c *call) enterRuntime() {
	c.process.initialized = true
	x := c.primaryContext()
	if !c.runtime.retained {
		c.process.runtime.retained = true
		x.references++
	}
	if c.thread.current() == nil {
		c.thread.stack = append(c.thread.stack, x)
	}
	c.inherit()
}

// inherit takes over what the parent of a forked process has registered: the program's start, which does so, lies before the fork.
func (c *call) inherit() {
	if c.runtime.symbols != nil {
		return
	}
	c.process.runtime.symbols = make(map[uint64]*symbol)
	parent := parentOf(c.pid)
	c.server.mu.Lock()
	from := c.server.registered[parent]
	c.server.mu.Unlock()
	if from == nil || from.data != c.data {
		return
	}
	of := make(map[*fatbinary]*fatbinary)
	for _, b := range from.binaries {
		of[b] = &fatbinary{handle: b.handle, image: b.image}
		c.process.runtime.binaries = append(c.runtime.binaries, of[b])
	}
	for addr, s := range from.symbols {
		c.runtime.symbols[addr] = &symbol{binary: of[s.binary], name: s.name, pointer: s.pointer}
	}
}

// parentOf returns the parent of a process, 0 where that is not known.
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

// publish makes what has been registered known to processes that are forked from this one.
func (c *call) publish() {
	r := &runtimeState{data: c.data, binaries: append([]*fatbinary(nil), c.runtime.binaries...), symbols: make(map[uint64]*symbol)}
	for addr, s := range c.runtime.symbols {
		r.symbols[addr] = s
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.registered[c.pid] = r
}

// keepError keeps the result of a function for cudaGetLastError.
func (c *call) keepError(r Result) {
	if r != Success && r != ErrNotReady && c.value == nil && c.thread != nil {
		c.thread.last = r
	}
}

var registerRuntimeFunctions = []function{
	{"__cudaRegisterFatBinary", "n", runtimeCall, registerFatbinary},
	{"__cudaRegisterFatBinaryEnd", "n", runtimeCall, func(c *call) Result { c.publish(); return c.give(0) }},
	{"__cudaUnregisterFatBinary", "n", runtimeCall, func(c *call) Result { return c.give(0) }},
	{"__cudaInitModule", "n", runtimeCall, initModule},
	{"__cudaRegisterFunction", "nnnn", runtimeCall, func(c *call) Result { return c.registerSymbol(c.a[1], c.a[3], 0) }},
	{"__cudaRegisterVar", "nnnn", runtimeCall, func(c *call) Result { return c.registerSymbol(c.a[1], c.a[3], 0) }},
	{"__cudaRegisterManagedVar", "nnnn", runtimeCall, func(c *call) Result { return c.registerSymbol(c.a[1], c.a[3], c.a[1]) }},
	{"__cudaPushCallConfiguration", "nnnnnn", runtimeCall, pushConfiguration},
	{"__cudaPopCallConfiguration", "oooo", runtimeCall, popConfiguration},
	{"__cudaGetKernel", "pn", runtimeContext, func(c *call) Result { return c.symbolOut(c.a[0], c.a[1]) }},
	{"cudaGetKernel", "pn", runtimeContext, func(c *call) Result { return c.symbolOut(c.a[0], c.a[1]) }},
	{"cudaGetFuncBySymbol", "pn", runtimeContext, func(c *call) Result { return c.symbolOut(c.a[0], c.a[1]) }},
}

func registerFatbinary(c *call) Result {
	c.inherit()
	b := &fatbinary{image: c.a[0]}
	b.handle = c.add(b)
	c.process.runtime.binaries = append(c.runtime.binaries, b)
	return c.give(b.handle)
}

// registerSymbol: fatbinary, address, (device address,) name.
func (c *call) registerSymbol(addr, nameAt, pointer uint64) Result {
	b := c.binary(c.a[0])
	name, r := c.text(nameAt, maxName)
	if b != nil && r == Success {
		b.names = append(b.names, name)
		c.runtime.symbols[addr] = &symbol{binary: b, name: name, pointer: pointer}
	}
	return c.give(0)
}

func (c *call) binary(handle uint64) *fatbinary {
	for _, b := range c.runtime.binaries {
		if b.handle == handle {
			return b
		}
	}
	return nil
}

// load loads a fatbinary into the context, if it is not loaded, and tells the program where managed variables lie.
func (c *call) loadBinary(b *fatbinary) Result {
	if b.module != nil && c.handles[b.module.handle] == b.module {
		return Success
	}
	machine, r := c.machine(b.image, jitOptions{})
	if r != Success {
		return r
	}
	b.module = c.addModule(machine, c.primaryContext())
	for _, s := range c.runtime.symbols {
		if s.binary != b || s.pointer == 0 {
			continue
		}
		v, err := machine.Symbol(s.name)
		if err != nil {
			continue
		}
		if r := c.mapDevice(); r != Success {
			return r
		}
		if r := c.store(s.pointer, le.AppendUint64(nil, v.Addr)); r != Success {
			return r
		}
	}
	return Success
}

// initModule loads a fatbinary with managed variables, which the program is about to touch.
func initModule(c *call) Result {
	c.enterRuntime()
	c.context = c.thread.current()
	if b := c.binary(c.a[0]); b != nil && c.loadBinary(b) == Success {
		return c.give(1)
	}
	return c.give(0)
}

// kernelAt finds the kernel of an address that the program has registered, or of a handle.
func (c *call) kernelAt(addr uint64) (*kernelFunction, Result) {
	if f, ok := find[*kernelFunction](c.process, addr); ok {
		return f, Success
	}
	s := c.runtime.symbols[addr]
	if s == nil {
		return nil, ErrInvalidDeviceFunction
	}
	if r := c.loadBinary(s.binary); r != Success {
		return nil, r
	}
	f, r := c.functionOf(s.binary.module, s.name)
	if r != Success {
		return nil, ErrInvalidDeviceFunction
	}
	return f, Success
}

// variableAt finds the variable of an address that the program has registered.
func (c *call) variableAt(addr uint64) (at, size uint64, r Result) {
	s := c.runtime.symbols[addr]
	if s == nil {
		return 0, 0, ErrInvalidSymbol
	}
	if r := c.loadBinary(s.binary); r != Success {
		return 0, 0, r
	}
	v, err := s.binary.module.machine.Symbol(s.name)
	if err != nil {
		return 0, 0, ErrInvalidSymbol
	}
	return v.Addr, v.Size, Success
}

func (c *call) symbolOut(to, addr uint64) Result {
	f, r := c.kernelAt(addr)
	if r != Success {
		return r
	}
	return c.out64(to, f.handle)
}

// pushConfiguration takes what stands between <<< and >>>: grid and block (dim3, in two registers each), shared memory, stream.
func pushConfiguration(c *call) Result {
	q := configuration{shared: c.a[4], stream: c.a[5]}
	copy(q.words[:], c.a[:4])
	c.thread.pushed = append(c.thread.pushed, q)
	return c.give(0)
}

func popConfiguration(c *call) Result {
	n := len(c.thread.pushed)
	if n == 0 {
		return ErrMissingConfiguration
	}
	q := c.thread.pushed[n-1]
	c.thread.pushed = c.thread.pushed[:n-1]
	for i := range 2 {
		c.out(c.a[i], le.AppendUint32(le.AppendUint64(nil, q.words[2*i]), uint32(q.words[2*i+1])))
	}
	c.out64(c.a[2], q.shared)
	return c.out64(c.a[3], q.stream)
}

var launchRuntimeFunctions = []function{
	{"cudaLaunchKernel", "nninipnn", runtimeContext, func(c *call) Result { return c.launchSymbol(false) }},
	{"__cudaLaunchKernel", "nninipnn", runtimeContext, func(c *call) Result { return c.launchSymbol(false) }},
	{"cudaLaunchCooperativeKernel", "nninipnn", runtimeContext, func(c *call) Result { return c.launchSymbol(true) }},
	{"cudaLaunchKernelExC", "pno", runtimeContext, launchSymbolEx},
}

// launchSymbol: function, grid and block (dim3, in two registers each), addresses of the parameters, shared memory, stream.
func (c *call) launchSymbol(cooperative bool) Result {
	q := request{shared: uint32(c.a[6]), stream: c.a[7], parameters: c.a[5], cooperative: cooperative}
	for i, at := range []int{1, 3} {
		d := [3]int{int(uint32(c.a[at])), int(c.a[at] >> 32), int(uint32(c.a[at+1]))}
		if i == 0 {
			q.grid = d
		} else {
			q.block = d
		}
	}
	return c.launchConfigured(&q, c.a[0])
}

// launchConfigured launches the kernel of an address. Bad shapes have a result of their own.
func (c *call) launchConfigured(q *request, addr uint64) Result {
	f, r := c.kernelAt(addr)
	if r != Success {
		return r
	}
	q.function = f
	if r := c.checkLaunch(q); r == ErrInvalidValue && int64(q.shared) <= int64(f.dynamic) {
		return ErrInvalidConfiguration
	}
	return c.launch(q, f.handle)
}

// launchSymbolEx: cudaLaunchConfig_t, function, addresses of the parameters. The structure has 4 bytes between block and shared memory, which has 8.
func launchSymbolEx(c *call) Result {
	var b [configSize]byte
	if r := c.load(c.a[0], b[:]); r != Success {
		return r
	}
	var words [6]uint64
	for i := range words {
		words[i] = uint64(le.Uint32(b[4*i:]))
	}
	q := request{shared: le.Uint32(b[24:]), stream: le.Uint64(b[configStream:]), parameters: c.a[2]}
	q.shape(words[:])
	if r := c.launchAttributes(&q, le.Uint64(b[configAttributes:]), int(le.Uint32(b[configCount:]))); r != Success {
		return r
	}
	return c.launchConfigured(&q, c.a[1])
}
