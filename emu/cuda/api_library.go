package cuda

// Libraries are modules that belong to no context. They have kernels in place of functions; a kernel stands for the function of every
// context, and both are launched alike.
var libraryFunctions = []function{
	{"cuLibraryLoadData", "ppooiooi", initialized, libraryLoad},
	{"cuLibraryLoadFromFile", "ppooiooi", initialized, libraryLoadFile},
	{"cuLibraryUnload", "n", initialized, libraryUnload},
	{"cuLibraryGetKernel", "pnp", initialized, libraryKernel},
	{"cuLibraryGetKernelCount", "pn", initialized, libraryKernelCount},
	{"cuLibraryEnumerateKernels", "pin", initialized, libraryEnumerate},
	{"cuLibraryGetModule", "pn", currentContext, libraryModule},
	{"cuLibraryGetGlobal", "oonp", currentContext, libraryGlobal},
	{"cuLibraryGetManaged", "oonp", currentContext, libraryGlobal},
	{"cuKernelGetFunction", "pn", currentContext, kernelFunctionOf},
	{"cuKernelGetLibrary", "pn", initialized, kernelLibrary},
	{"cuKernelGetAttribute", "pini", initialized, ofDevice(3, ofFunction(2, functionAttribute))},
	{"cuKernelSetAttribute", "iini", initialized, ofDevice(3, ofFunction(2, func(c *call, f *kernelFunction) Result { return c.setFunctionAttribute(f, c.integer(0), c.integer(1)) }))},
	{"cuKernelGetName", "pn", initialized, ofNamed(functionName)},
	{"cuKernelGetParamInfo", "nnpo", currentContext, ofFunction(0, parameterInfo)},
	{"cuKernelSetCacheConfig", "nii", initialized, ofDevice(2, ofFunction(0, func(*call, *kernelFunction) Result { return Success }))},
}

// Options of libraries make no difference: the data is read when it is loaded.
func libraryLoad(c *call) Result {
	o, r := c.jitOptions(int(c.a[4]), c.a[2], c.a[3])
	if r != Success {
		return r
	}
	machine, r := c.machine(c.a[1], o)
	if r != Success {
		return r
	}
	l := library{&module{machine: machine}}
	l.handle = c.add(l)
	return c.out64(c.a[0], l.handle)
}

func libraryLoadFile(c *call) Result {
	o, r := c.jitOptions(int(c.a[4]), c.a[2], c.a[3])
	if r != Success {
		return r
	}
	data, r := c.fileOf(c.a[1])
	if r != Success {
		return r
	}
	machine, r := c.machineOf(data, o)
	if r != Success {
		return r
	}
	l := library{&module{machine: machine}}
	l.handle = c.add(l)
	return c.out64(c.a[0], l.handle)
}

// libraryArg finds the library that an argument names.
func (c *call) libraryArg(arg int) (*module, Result) {
	l, ok := find[library](c.process, c.a[arg])
	if !ok {
		return nil, ErrInvalidHandle
	}
	return l.module, Success
}

func libraryUnload(c *call) Result {
	m, r := c.libraryArg(0)
	if r != Success {
		return r
	}
	m.discard(c.process)
	for _, handle := range sortedHandles(c.handles) { // what cuLibraryGetModule returned
		if c.handles[handle] == m {
			delete(c.handles, handle)
		}
	}
	delete(c.handles, m.handle)
	return Success
}

func libraryKernel(c *call) Result {
	m, r := c.libraryArg(1)
	if r != Success {
		return r
	}
	f, r := c.named(m, 2)
	if r != Success {
		return r
	}
	return c.out64(c.a[0], f.handle)
}

func libraryKernelCount(c *call) Result {
	m, r := c.libraryArg(1)
	if r != Success {
		return r
	}
	return c.out32(c.a[0], uint32(len(m.machine.Module().Kernels)))
}

func libraryEnumerate(c *call) Result {
	m, r := c.libraryArg(2)
	if r != Success {
		return r
	}
	return c.enumerate(m, int(c.a[1]))
}

// libraryModule returns a handle by which module functions find the library.
func libraryModule(c *call) Result {
	m, r := c.libraryArg(1)
	if r != Success {
		return r
	}
	for _, handle := range sortedHandles(c.handles) {
		if c.handles[handle] == m {
			return c.out64(c.a[0], handle)
		}
	}
	return c.out64(c.a[0], c.add(m))
}

func libraryGlobal(c *call) Result {
	m, r := c.libraryArg(2)
	if r != Success {
		return r
	}
	return c.variable(m)
}

func kernelFunctionOf(c *call) Result {
	f, ok := find[*kernelFunction](c.process, c.a[1])
	if !ok {
		return ErrInvalidHandle
	}
	return c.out64(c.a[0], f.handle)
}

func kernelLibrary(c *call) Result {
	f, ok := find[*kernelFunction](c.process, c.a[1])
	if !ok || f.module.context != nil {
		return ErrInvalidHandle
	}
	return c.out64(c.a[0], f.module.handle)
}
