package cuda

import (
	"math"
	"slices"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
)

var occupancyFunctions = []function{
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", "pnin", currentContext, ofFunction(1, maxActiveBlocks)},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "pnini", currentContext, ofFunction(1, maxActiveBlocks)},
	{"cuOccupancyMaxPotentialBlockSize", "ppnoni", currentContext, ofFunction(2, maxPotentialBlock)},
	{"cuOccupancyMaxPotentialBlockSizeWithFlags", "ppnonii", currentContext, ofFunction(2, maxPotentialBlock)},
	{"cuOccupancyMaxActiveClusters", "pnp", currentContext, ofFunction(1, maxActiveClusters)},
	{"cuOccupancyMaxPotentialClusterSize", "pnp", currentContext, ofFunction(1, maxPotentialCluster)},
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

// configuredBlocks reads a CUlaunchConfig and returns how many of its blocks an SM holds, and the blocks of a cluster, 1 where it asks for none.
func (c *call) configuredBlocks(f *kernelFunction) (resident, cluster int, r Result) {
	q, r := c.launchConfig(c.a[2])
	if r != Success {
		return 0, 0, r
	}
	q.function = f
	if q.cluster == [3]int{} {
		q.cluster = f.kernel.Cluster
	}
	threads, cluster := 1, 1
	for i := range 3 {
		if q.block[i] < 1 || q.block[i] > math.MaxUint16 || q.cluster[i] < 0 || q.cluster[i] > math.MaxUint16 {
			return 0, 0, ErrInvalidValue
		}
		threads *= q.block[i]
		cluster *= max(1, q.cluster[i])
	}
	if cluster > 1 && c.gpu().Arch < 90 {
		return 0, 0, ErrInvalidClusterSize
	}
	if threads <= c.maxThreads(f) {
		resident = c.blocksPerSM(f.kernel, threads, int(q.shared))
	}
	return resident, cluster, Success
}

// maxActiveClusters is how many clusters the GPCs hold: clusters, function, CUlaunchConfig.
func maxActiveClusters(c *call, f *kernelFunction) Result {
	resident, cluster, r := c.configuredBlocks(f)
	if r != Success {
		return r
	}
	n := 0
	for _, sms := range emu.GPCs(c.gpu()) {
		n += sms * resident / cluster
	}
	return c.out32(c.a[0], uint32(n))
}

// portableCluster is the size of clusters that every GPU with clusters has (CUDA C++ Programming Guide, thread block clusters).
const portableCluster = 8

// maxPotentialCluster is the largest size of clusters that a GPC holds: size, function, CUlaunchConfig.
func maxPotentialCluster(c *call, f *kernelFunction) Result {
	resident, _, r := c.configuredBlocks(f)
	if r != Success {
		return r
	}
	if c.gpu().Arch < 90 {
		return ErrInvalidClusterSize
	}
	return c.out32(c.a[0], uint32(min(portableCluster, resident*slices.Max(emu.GPCs(c.gpu())))))
}
