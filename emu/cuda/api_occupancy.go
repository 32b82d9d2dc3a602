package cuda

import (
	"math"

	"gpa/cubin"
	"gpa/emu/arch"
)

var occupancyFunctions = []function{
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", "pnin", currentContext, ofFunction(1, maxActiveBlocks)},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "pnini", currentContext, ofFunction(1, maxActiveBlocks)},
	{"cuOccupancyMaxPotentialBlockSize", "ppnoni", currentContext, ofFunction(2, maxPotentialBlock)},
	{"cuOccupancyMaxPotentialBlockSizeWithFlags", "ppnonii", currentContext, ofFunction(2, maxPotentialBlock)},
	{"cuOccupancyAvailableDynamicSMemPerBlock", "pnii", currentContext, ofFunction(1, availableShared)},
}

// blocksPerSM is how many blocks of so many threads an SM holds.
func (c *call) blocksPerSM(k *cubin.Kernel, threads int, dynamic int) int {
	return arch.OccupancyOf(c.gpu(), arch.Resources{Threads: threads, Registers: k.Registers, SharedStatic: k.SharedStatic,
		SharedDynamic: dynamic, Barriers: k.Barriers, Blocks: math.MaxInt32}).BlocksPerSM
}

func maxActiveBlocks(c *call, f *kernelFunction) Result {
	threads, dynamic := c.integer(2), c.a[3]
	if threads < 1 || dynamic > math.MaxInt32 {
		return ErrInvalidValue
	}
	n := 0
	if threads <= c.maxThreads(f) {
		n = c.blocksPerSM(f.kernel, threads, int(dynamic))
	}
	return c.out32(c.a[0], uint32(n))
}

// maxPotentialBlock finds the block size with the most resident threads, the largest of equal ones, and the grid that fills the GPU with it.
func maxPotentialBlock(c *call, f *kernelFunction) Result {
	dynamic, limit := c.a[4], c.integer(5)
	if dynamic > math.MaxInt32 || limit < 0 {
		return ErrInvalidValue
	}
	most := c.maxThreads(f)
	if limit > 0 {
		most = min(most, limit)
	}
	warp := c.gpu().Limits.WarpSize.Int()
	best, size, blocks := 0, 0, 0
	for threads := (most + warp - 1) / warp * warp; threads > 0; threads -= warp {
		used := min(threads, most)
		shared := int(dynamic)
		if c.a[3] != 0 {
			v, r := c.sharedFor(used)
			if r != Success {
				return r
			}
			shared = v
		}
		if n := c.blocksPerSM(f.kernel, used, shared); n*used > best {
			best, size, blocks = n*used, used, n
		}
	}
	if best == 0 {
		return ErrInvalidValue
	}
	c.out32(c.a[0], uint32(blocks*c.gpu().SMs.Int()))
	return c.out32(c.a[1], uint32(size))
}

// sharedFor asks the program how much shared memory a block of so many threads takes.
func (c *call) sharedFor(threads int) (int, Result) {
	c.mu.Unlock()
	defer c.mu.Lock()
	v, err := c.conn.Callback(c.a[3], uint64(threads))
	if err != nil || v > math.MaxInt32 {
		return 0, ErrInvalidValue
	}
	return int(v), Success
}

// availableShared is how much dynamic shared memory a block may take for so many blocks to be resident.
func availableShared(c *call, f *kernelFunction) Result {
	blocks, threads := c.integer(2), c.integer(3)
	if blocks < 1 || threads < 1 || threads > c.maxThreads(f) || c.blocksPerSM(f.kernel, threads, 0) < blocks {
		return ErrInvalidValue
	}
	low, high := 0, f.dynamic // no more than the function has opted in to
	for low < high {
		if middle := (low + high + 1) / 2; c.blocksPerSM(f.kernel, threads, middle) >= blocks {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return c.out64(c.a[0], uint64(low))
}
