package cuda

var functionRuntimeFunctions = []function{
	{"cudaFuncGetAttributes", "pn", runtimeContext, ofKernel(1, functionAttributes)},
	{"cudaFuncSetAttribute", "nii", runtimeContext, ofKernel(0, func(c *call, f *kernelFunction) Result { return c.setFunctionAttribute(f, c.integer(1), c.integer(2)) })},
	{"cudaKernelSetAttributeForDevice", "niii", runtimeContext, ofDevice(3, ofKernel(0, func(c *call, f *kernelFunction) Result { return c.setFunctionAttribute(f, c.integer(1), c.integer(2)) }))},
	{"cudaFuncSetCacheConfig", "ni", runtimeContext, ofKernel(0, func(*call, *kernelFunction) Result { return Success })},
	{"cudaFuncSetSharedMemConfig", "ni", runtimeContext, ofKernel(0, func(*call, *kernelFunction) Result { return Success })},
	{"cudaFuncGetName", "pn", runtimeContext, ofKernel(1, functionName)},
	{"cudaFuncGetParamInfo", "nnpo", runtimeContext, ofKernel(0, parameterInfo)},
	{"cudaOccupancyMaxActiveBlocksPerMultiprocessor", "pnin", runtimeContext, ofKernel(1, maxActiveBlocks)},
	{"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "pnini", runtimeContext, ofKernel(1, maxActiveBlocks)},
	{"cudaOccupancyAvailableDynamicSMemPerBlock", "pnii", runtimeContext, ofKernel(1, availableShared)},
	{"cudaOccupancyMaxActiveClusters", "pnp", runtimeContext, ofKernel(1, maxActiveClusters)},
	{"cudaOccupancyMaxPotentialClusterSize", "pnp", runtimeContext, ofKernel(1, maxPotentialCluster)},
}

// ofKernel finds the kernel that an argument names by its address in the program.
func ofKernel(arg int, run func(*call, *kernelFunction) Result) func(*call) Result {
	return func(c *call) Result {
		f, r := c.kernelAt(c.a[arg])
		if r != Success {
			return r
		}
		return run(c, f)
	}
}

// functionAttributes returns a cudaFuncAttributes: sizes of shared, constant and local memory, then numbers of 32 bits.
func functionAttributes(c *call, f *kernelFunction) Result {
	const size, sizes = 144, 3
	b := make([]byte, size)
	numbers := []int{functionShared, functionConstant, functionLocal, functionMaxThreads, functionRegisters, functionPTX, functionBinary, functionCache, functionDynamic,
		functionCarveout, functionClusterSet, functionClusterWidth, functionClusterHeight, functionClusterDepth, functionPolicy, functionNonPortable}
	for i, number := range numbers {
		v, ok := c.functionValue(f, number)
		if !ok {
			return ErrInvalidValue
		}
		if i < sizes {
			le.PutUint64(b[8*i:], uint64(v))
		} else {
			le.PutUint32(b[8*sizes+4*(i-sizes):], uint32(v))
		}
	}
	return c.out(c.a[0], b)
}
