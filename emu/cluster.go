package emu

import (
	"fmt"

	"gpa/cubin/sass"
)

// A cluster is blocks that are resident together on one GPC and reach each other's shared memory (PTX ISA, cluster of CTAs). Addresses in
// the shared memory of a cluster have the rank of a block from bit 24 on and an offset below, in the shared window too. A launch whose
// clusters are of one block has none of these.
//
// Instructions that reach other blocks are ordered (see crew.go), so that only one SM at a time looks at a cluster.
type cluster struct {
	blocks  []*block // by rank
	live    int      // threads that have not exited
	left    int      // blocks that have not ended
	arrived int      // threads that have arrived at the barrier
}

// clusterWindow is the size of the shared window that the blocks of a cluster have together, of which there are up to 16.
const clusterWindow = mostClusterBlocks * windowSize

// Clusters of more blocks than portableCluster need leave of the GPU (cudaFuncAttributeNonPortableClusterSizeAllowed), which is given.
const (
	portableCluster   = 8
	mostClusterBlocks = 16
)

// rankAt is the bit of an address from which on it has the rank of a block.
const rankAt = 24

// clusterBlocks is the number of blocks of a cluster that launch asks for, 1 where it does not.
func (l *Launch) clusterBlocks() int {
	size := l.cluster()
	return max(1, size[0]*size[1]*size[2])
}

// checkCluster holds the size of clusters to what the architecture and the grid allow (CUDA driver API, cuLaunchKernelEx).
func (l *Launch) checkCluster(a sass.Arch) error {
	size := l.cluster()
	switch {
	case size == [3]int{}:
		return nil
	case a < sass.SM90:
		return fmt.Errorf("sm_%d has no thread-block clusters", a)
	case size[0] < 1 || size[1] < 1 || size[2] < 1 || l.clusterBlocks() > mostClusterBlocks:
		return fmt.Errorf("clusters of %dx%dx%d blocks, they can have %d, and more than %d not on all GPUs", size[0], size[1], size[2], mostClusterBlocks, portableCluster)
	}
	for axis, name := range []string{"x", "y", "z"} {
		if l.Grid[axis]%size[axis] != 0 {
			return fmt.Errorf("grid %s is %d, not a multiple of the %d blocks of a cluster", name, l.Grid[axis], size[axis])
		}
	}
	if l.clusterBlocks() == 1 {
		return nil
	}
	if l.Part != nil {
		return fmt.Errorf("blocks of a cluster wait for each other, so that a part of them does not run by itself")
	}
	return nil
}

// clusterNumber returns the number in the grid of the n-th block where clusters follow each other and the blocks of each by rank: x first,
// then y, then z, in the grid of clusters as in a cluster (PTX ISA, %clusterid and %cluster_ctarank).
func (r *launchRun) clusterNumber(n int) int {
	blocks := r.launch.clusterBlocks()
	if blocks == 1 {
		return n
	}
	size, grid := r.launch.cluster(), r.launch.Grid
	of, rank := n/blocks, n%blocks
	x := of%(grid[0]/size[0])*size[0] + rank%size[0]
	of /= grid[0] / size[0]
	y := of%(grid[1]/size[1])*size[1] + rank/size[0]%size[1]
	of /= grid[1] / size[1]
	z := of*size[2] + rank/(size[0]*size[1])
	return x + grid[0]*(y+grid[1]*z)
}

// join makes blocks a cluster; their order is that of the ranks.
func (r *launchRun) join(blocks []*block) {
	if len(blocks) == 1 {
		return
	}
	c := &cluster{blocks: blocks, left: len(blocks)}
	for rank, b := range blocks {
		b.cluster, b.rank = c, rank
		if p := r.program.pairing; p != nil {
			p.begin(b)
		}
		c.live += b.live
	}
}

// arrive takes note of threads that arrive at the barrier of the cluster.
func (c *cluster) arrive(threads int) {
	c.arrived += threads
	c.release()
}

// exited takes note of threads that have ended, for which the barrier does not wait.
func (c *cluster) exited(threads int) {
	c.live -= threads
	c.release()
}

// release lets those that wait at the barrier of the cluster go on if all threads have arrived.
func (c *cluster) release() {
	if c.arrived == 0 || c.arrived < c.live {
		return
	}
	c.arrived = 0
	for _, b := range c.blocks {
		b.open(clusterBarrier)
	}
}

// others reports whether warps of other blocks of the cluster can go on.
func (b *block) others() bool {
	if b.cluster == nil {
		return false
	}
	for _, other := range b.cluster.blocks {
		for _, w := range other.warps {
			if w.status == warpRunning {
				return true
			}
		}
	}
	return false
}

// group is the blocks of a block's cluster, itself alone where it has none.
func (b *block) group() []*block {
	if b.cluster == nil {
		return []*block{b}
	}
	return b.cluster.blocks
}

// own returns the offset of an address in the block's own shared memory: code adds its rank where it takes an address.
func (b *block) own(addr uint64) uint64 {
	if b.rank != 0 && addr>>rankAt == uint64(b.rank) {
		return addr & (windowSize - 1)
	}
	return addr
}

// peer returns size bytes at an address in the shared memory of the cluster, and whose they are.
func (w *warp) peer(o *op, lane int, addr uint64, size int) (*block, []byte, error) {
	b := w.block
	c, rank := b.cluster, addr>>rankAt
	switch {
	case c == nil:
		data, err := w.shared(o, lane, addr, size)
		return b, data, err
	case rank >= uint64(len(c.blocks)):
		data, err := w.missing(size, w.addressFault(o, lane, OutOfBounds, addr, fmt.Sprintf("in the shared memory of block %d of a cluster of %d", rank, len(c.blocks))))
		return b, data, err
	case rank == uint64(b.rank):
		data, err := w.shared(o, lane, addr, size)
		return b, data, err
	}
	b = c.blocks[rank]
	at := addr & (windowSize - 1)
	switch {
	case at&uint64(size-1) != 0:
		data, err := w.missing(size, w.addressFault(o, lane, Misaligned, addr, "in shared memory"))
		return b, data, err
	case b.done():
		data, err := w.missing(size, w.addressFault(o, lane, EndedBlock, addr, fmt.Sprintf("in the shared memory of block %v, which has ended: a barrier of the cluster behind the last access keeps it", b.index)))
		return b, data, err
	case at >= uint64(len(b.shared)) || uint64(len(b.shared))-at < uint64(size):
		data, err := w.missing(size, w.addressFault(o, lane, OutOfBounds, addr, b.sharedDetail()))
		return b, data, err
	}
	return b, b.shared[at : at+uint64(size)], nil
}

// reachesOthers reports whether an instruction may touch what the blocks of a cluster share.
func reachesOthers(in *sass.Inst) bool {
	p := in.Op.Properties()
	switch {
	case p.Sync == sass.SyncCluster, p.Flow == sass.FlowExit, p.Async == sass.AsyncBulk, p.Async == sass.AsyncRemote, p.Async == sass.AsyncTensor, p.Accesses(sass.SpaceGeneric | sass.SpaceCluster):
		return true
	}
	return in.Op == sass.UTCATOMSWS || in.Op == sass.SYNCS && in.Mod(sass.SyncsRed) == syncsRemote
}
