package cuda

var functionFunctions = []function{
	{"cuFuncGetAttribute", "pin", currentContext, ofFunction(2, functionAttribute)},
	{"cuFuncSetAttribute", "nii", currentContext, ofFunction(0, func(c *call, f *kernelFunction) Result { return c.setFunctionAttribute(f, c.integer(1), c.integer(2)) })},
	{"cuFuncSetCacheConfig", "ni", currentContext, ofFunction(0, func(*call, *kernelFunction) Result { return Success })},
	{"cuFuncSetSharedMemConfig", "ni", currentContext, ofFunction(0, func(*call, *kernelFunction) Result { return Success })},
	{"cuFuncGetModule", "pn", currentContext, ofFunction(1, functionModule)},
	{"cuFuncGetName", "pn", currentContext, ofNamed(functionName)},
	{"cuFuncGetParamInfo", "nnpo", currentContext, ofFunction(0, parameterInfo)},
	{"cuFuncLoad", "n", currentContext, ofFunction(0, func(*call, *kernelFunction) Result { return Success })},
	{"cuFuncIsLoaded", "pn", currentContext, ofFunction(1, func(c *call, _ *kernelFunction) Result { return c.out32(c.a[0], 1) })},
}

// ofFunction finds the function that an argument names.
func ofFunction(arg int, run func(*call, *kernelFunction) Result) func(*call) Result {
	return func(c *call) Result {
		f, ok := find[*kernelFunction](c.process, c.a[arg])
		if !ok {
			return ErrInvalidHandle
		}
		return run(c, f)
	}
}

// ofNamed is ofFunction for the second argument, to which null is a wrong value rather than a wrong handle.
func ofNamed(run func(*call, *kernelFunction) Result) func(*call) Result {
	return func(c *call) Result {
		if c.a[1] == 0 {
			return ErrInvalidValue
		}
		return ofFunction(1, run)(c)
	}
}

// Attributes of functions (CUfunction_attribute).
const (
	functionMaxThreads = iota
	functionShared
	functionConstant
	functionLocal
	functionRegisters
	functionPTX
	functionBinary
	functionCache
	functionDynamic
	functionCarveout
	functionClusterSet
	functionClusterWidth
	functionClusterHeight
	functionClusterDepth
	functionNonPortable
	functionPolicy
)

// maxThreads is how many threads a block of the function can have.
func (c *call) maxThreads(f *kernelFunction) int {
	limits, k := &c.gpu().Limits, f.kernel
	threads := limits.ThreadsPerBlock.Int()
	if bound := k.MaxThreads; bound[0] > 0 {
		threads = min(threads, bound[0]*max(1, bound[1])*max(1, bound[2]))
	}
	if k.Registers > 0 {
		warp, unit := limits.WarpSize.Int(), max(1, limits.RegisterUnit.Int())
		ofWarp := (k.Registers*warp + unit - 1) / unit * unit
		threads = min(threads, limits.RegistersBlock.Int()/ofWarp*warp)
	}
	return threads
}

func functionAttribute(c *call, f *kernelFunction) Result {
	value, ok := c.functionValue(f, c.integer(1))
	if !ok {
		return ErrInvalidValue
	}
	return c.out32(c.a[0], uint32(value))
}

// functionValue returns an attribute of a function.
func (c *call) functionValue(f *kernelFunction, attribute int) (value int, ok bool) {
	k := f.kernel
	switch attribute {
	case functionMaxThreads:
		value = c.maxThreads(f)
	case functionShared:
		value = k.SharedStatic
	case functionConstant:
		for _, b := range f.module.machine.Module().Banks {
			if b.Number == 3 {
				value = len(b.Data)
			}
		}
	case functionLocal:
		value = k.LocalFrame
	case functionRegisters:
		value = k.Registers
	case functionPTX, functionBinary:
		value = int(f.module.machine.Module().Arch)
	case functionDynamic:
		value = f.dynamic
	case functionCarveout:
		value = f.carveout
	case functionClusterSet:
		value = btoi(k.Cluster != [3]int{})
	case functionClusterWidth, functionClusterHeight, functionClusterDepth:
		value = k.Cluster[attribute-functionClusterWidth]
	case functionCache, functionNonPortable, functionPolicy:
	default:
		return 0, false
	}
	return value, true
}

func (c *call) setFunctionAttribute(f *kernelFunction, attribute, value int) Result {
	switch attribute {
	case functionDynamic:
		if value < 0 || value+f.kernel.SharedStatic > c.gpu().Limits.SharedBlock.Int() {
			return ErrInvalidValue
		}
		f.dynamic = value
	case functionCarveout:
		if value < -1 || value > 100 {
			return ErrInvalidValue
		}
		f.carveout = value // the emulated GPU takes the smallest that holds the blocks
	case functionNonPortable, functionPolicy:
	default:
		return ErrInvalidValue
	}
	return Success
}

// functionModule returns the module of a function. That of a library's kernel has a handle of its own.
func functionModule(c *call, f *kernelFunction) Result {
	for _, handle := range sortedHandles(c.handles) {
		if c.handles[handle] == f.module {
			return c.out64(c.a[0], handle)
		}
	}
	return c.out64(c.a[0], c.add(f.module))
}

func functionName(c *call, f *kernelFunction) Result {
	addr, r := c.constant(f.kernel.Name)
	if r != Success {
		return r
	}
	return c.out64(c.a[0], addr)
}

func parameterInfo(c *call, f *kernelFunction) Result {
	params := passed(f.kernel)
	if c.a[1] >= uint64(len(params)) {
		return ErrInvalidValue
	}
	p := params[c.a[1]]
	c.out64(c.a[2], uint64(p.Offset))
	return c.out64(c.a[3], uint64(p.Size))
}
