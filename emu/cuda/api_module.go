package cuda

import (
	"errors"
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
)

// A module is a CUmodule: a machine with the code, over the memory of the process. A CUlibrary is one too.
type module struct {
	handle    uint64
	context   *driverContext // nil of a library
	machine   *emu.Machine
	functions []*kernelFunction
}

func (m *module) owner() *driverContext { return m.context }

func (m *module) discard(p *process) {
	m.machine.Unload()
	for _, f := range m.functions {
		delete(p.handles, f.handle)
	}
}

// A library is a CUlibrary, whose module belongs to no context.
type library struct{ *module }

// A kernelFunction is a CUfunction or a CUkernel.
type kernelFunction struct {
	handle   uint64
	module   *module
	kernel   *cubin.Kernel
	dynamic  int // shared memory in bytes a block that it has opted in to
	carveout int
}

// owner makes a function go with its module.
func (f *kernelFunction) owner() *driverContext { return f.module.context }
func (f *kernelFunction) discard(*process)      {}

var moduleFunctions = []function{
	{"cuModuleLoadData", "pp", currentContext, func(c *call) Result { return c.loadModule(c.a[1], jitOptions{}) }},
	{"cuModuleLoadDataEx", "ppioo", currentContext, moduleLoadEx},
	{"cuModuleLoadFatBinary", "pp", currentContext, func(c *call) Result { return c.loadModule(c.a[1], jitOptions{}) }},
	{"cuModuleLoad", "pp", currentContext, moduleLoadFile},
	{"cuModuleUnload", "n", currentContext, moduleUnload},
	{"cuModuleGetFunction", "pnp", currentContext, moduleFunction},
	{"cuModuleGetFunctionCount", "pn", currentContext, moduleFunctionCount},
	{"cuModuleEnumerateFunctions", "pin", currentContext, moduleEnumerate},
	{"cuModuleGetGlobal_v2", "oonp", currentContext, moduleGlobal},
	{"cuModuleGetLoadingMode", "p", nothing, func(c *call) Result { return c.out32(c.a[0], 1) }}, // eager
}

// image reads a module of the client: a cubin, a fatbin or what wraps one, or PTX.
func (c *call) image(addr uint64) ([]byte, Result) {
	var head [64]byte
	if r := c.load(addr, head[:16]); r != Success {
		return nil, r
	}
	size := uint64(0)
	switch magic := le.Uint32(head[:]); magic {
	case wrapperMagic:
		return c.image(le.Uint64(head[8:]))
	case fatbinMagic:
		size = uint64(le.Uint16(head[6:])) + le.Uint64(head[8:])
	case elfMagic:
		if r := c.load(addr, head[:]); r != Success {
			return nil, r
		}
		// The tables of sections and of segments end a cubin.
		sections := le.Uint64(head[40:]) + uint64(le.Uint16(head[58:]))*uint64(le.Uint16(head[60:]))
		segments := le.Uint64(head[32:]) + uint64(le.Uint16(head[54:]))*uint64(le.Uint16(head[56:]))
		size = max(sections, segments)
	default:
		return c.terminated(addr, maxImage)
	}
	if size > maxImage {
		return nil, ErrInvalidImage
	}
	data := make([]byte, size)
	return data, c.load(addr, data)
}

// maxImage is the size of the largest module, bytes.
const maxImage = 1 << 30

// What modules begin with: the wrapper that nvcc puts into objects, a fatbin, an ELF file.
const (
	wrapperMagic = 0x466243b1
	fatbinMagic  = 0xba55ed50
	elfMagic     = 0x464c457f
)

// code makes a cubin for the GPU of an image: itself, the best fit in a fatbin, or what ptxas makes of PTX.
func (c *call) code(image []byte, o jitOptions) ([]byte, Result) {
	if len(image) >= 4 && le.Uint32(image) == elfMagic {
		return image, Success
	}
	if len(image) < 4 || le.Uint32(image) != fatbinMagic {
		return c.assemble(image, o)
	}
	entries, err := cubin.Entries(image)
	if err != nil && len(entries) == 0 {
		c.server.problem(fmt.Errorf("%s: %w", c.function.name, err))
		return nil, ErrInvalidImage
	}
	best := bestEntry(entries, c.gpu().Arch)
	if best == nil {
		c.server.problem(fmt.Errorf("%s: a fatbin without code or PTX for %s (sm_%d)", c.function.name, c.gpu().Name, c.gpu().Arch))
		return nil, ErrNoBinaryForGPU
	}
	data, err := best.Read()
	if err != nil {
		c.server.problem(fmt.Errorf("%s: %w", c.function.name, err))
		return nil, ErrInvalidImage
	}
	if best.Kind == cubin.PTXEntry {
		return c.assemble(data, o)
	}
	return data, Success
}

// bestEntry is the cubin for the newest architecture that the GPU runs, or else the newest PTX that is not newer than the GPU.
func bestEntry(entries []cubin.Entry, gpu int) *cubin.Entry {
	var best *cubin.Entry
	for _, kind := range []cubin.EntryKind{cubin.CubinEntry, cubin.PTXEntry} {
		for i := range entries {
			e := &entries[i]
			fits := e.Kind == kind && e.SM <= gpu && (kind == cubin.PTXEntry || e.SM/10 == gpu/10)
			if fits && (best == nil || e.SM > best.SM) {
				best = e
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// machine loads an image into a machine of its own.
func (c *call) machine(addr uint64, o jitOptions) (*emu.Machine, Result) {
	image, r := c.image(addr)
	if r != Success {
		return nil, r
	}
	return c.machineOf(image, o)
}

func (c *call) machineOf(image []byte, o jitOptions) (*emu.Machine, Result) {
	code, r := c.code(image, o)
	if r != Success {
		return nil, r
	}
	if err := c.open(); err != nil {
		c.server.problem(err)
		return nil, ErrOutOfMemory
	}
	fail := func(r Result, err error) (*emu.Machine, Result) {
		c.server.problem(fmt.Errorf("%s: %w", c.function.name, err))
		return nil, r
	}
	file, err := c.server.file(code)
	switch {
	case errors.Is(err, cubin.ErrArch):
		return fail(ErrNoBinaryForGPU, err)
	case err != nil:
		return fail(ErrInvalidImage, err)
	case int(file.Arch) > c.gpu().Arch || file.Arch/10 != sass.Arch(c.gpu().Arch/10):
		return fail(ErrNoBinaryForGPU, fmt.Errorf("the code is for sm_%d, and %s runs sm_%d (--arch chooses another GPU)", file.Arch, c.gpu().Name, c.gpu().Arch))
	}
	options := c.server.options.Machine
	options.Memory, options.Stdout = c.memory, printer{c.process}
	m, err := emu.New(c.gpu(), file, options)
	if err != nil {
		return fail(ErrInvalidImage, err)
	}
	if c.server.options.Loaded != nil {
		c.server.options.Loaded(file)
	}
	return m, Success
}

// A printer keeps what kernels print until the program's own standard output takes it.
type printer struct{ *process }

func (p printer) Write(b []byte) (int, error) {
	p.printed = append(p.printed, b...)
	return len(b), nil
}

func (c *call) loadModule(addr uint64, o jitOptions) Result {
	machine, r := c.machine(addr, o)
	if r != Success {
		return r
	}
	return c.out64(c.a[0], c.addModule(machine, c.context).handle)
}

func (p *process) addModule(machine *emu.Machine, x *driverContext) *module {
	m := &module{machine: machine, context: x}
	m.handle = p.add(m)
	return m
}

func moduleLoadEx(c *call) Result {
	o, r := c.jitOptions(int(c.a[2]), c.a[3], c.a[4])
	if r != Success {
		return r
	}
	return c.loadModule(c.a[1], o)
}

func moduleLoadFile(c *call) Result {
	data, r := c.fileOf(c.a[1])
	if r != Success {
		return r
	}
	machine, r := c.machineOf(data, jitOptions{})
	if r != Success {
		return r
	}
	return c.out64(c.a[0], c.addModule(machine, c.context).handle)
}

func moduleUnload(c *call) Result {
	m, ok := find[*module](c.process, c.a[0])
	if !ok || m.context == nil {
		return ErrInvalidHandle
	}
	m.discard(c.process)
	delete(c.handles, m.handle)
	return Success
}

// functionOf returns the function of a kernel, the same each time.
func (p *process) functionOf(m *module, name string) (*kernelFunction, Result) {
	i := slices.IndexFunc(m.machine.Module().Kernels, func(k *cubin.Kernel) bool { return k.Name == name })
	if i < 0 {
		return nil, ErrNotFound
	}
	k := m.machine.Module().Kernels[i]
	for _, f := range m.functions {
		if f.kernel == k {
			return f, Success
		}
	}
	f := &kernelFunction{module: m, kernel: k, dynamic: max(0, defaultShared-k.SharedStatic), carveout: -1}
	f.handle = p.add(f)
	m.functions = append(m.functions, f)
	return f, Success
}

// maxName is the length of the longest name, bytes.
const maxName = 1 << 16

// moduleArg finds the module that an argument names.
func (c *call) moduleArg(arg int) (*module, Result) {
	m, ok := find[*module](c.process, c.a[arg])
	if !ok {
		return nil, ErrInvalidHandle
	}
	return m, Success
}

// named returns the function whose name an argument points to.
func (c *call) named(m *module, arg int) (*kernelFunction, Result) {
	name, r := c.text(c.a[arg], maxName)
	if r != Success {
		return nil, r
	}
	return c.functionOf(m, name)
}

func moduleFunction(c *call) Result {
	m, r := c.moduleArg(1)
	if r != Success {
		return r
	}
	f, r := c.named(m, 2)
	if r != Success {
		return r
	}
	return c.out64(c.a[0], f.handle)
}

func moduleFunctionCount(c *call) Result {
	m, r := c.moduleArg(1)
	if r != Success {
		return r
	}
	return c.out32(c.a[0], uint32(len(m.machine.Module().Kernels)))
}

func moduleEnumerate(c *call) Result {
	m, r := c.moduleArg(2)
	if r != Success {
		return r
	}
	return c.enumerate(m, int(c.a[1]))
}

// enumerate returns the handles of the first n functions.
func (c *call) enumerate(m *module, n int) Result {
	kernels := m.machine.Module().Kernels
	if n > len(kernels) {
		return ErrInvalidValue
	}
	var list []byte
	for _, k := range kernels[:n] {
		f, r := c.functionOf(m, k.Name)
		if r != Success {
			return r
		}
		list = le.AppendUint64(list, f.handle)
	}
	return c.out(c.a[0], list)
}

func moduleGlobal(c *call) Result {
	m, r := c.moduleArg(2)
	if r != Success {
		return r
	}
	return c.variable(m)
}

// variable returns address and size of the variable whose name the last argument points to.
func (c *call) variable(m *module) Result {
	name, r := c.text(c.a[3], maxName)
	if r != Success {
		return r
	}
	if c.a[0] == 0 && c.a[1] == 0 {
		return ErrInvalidValue
	}
	v, err := m.machine.Symbol(name)
	if err != nil {
		return ErrNotFound
	}
	c.out64(c.a[0], v.Addr)
	return c.out64(c.a[1], v.Size)
}
