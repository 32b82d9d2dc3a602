package micro

import "fmt"

// chainsOf holds the shape of the kernels that run chains of one operation: independent ones side by side, and operations
// of a chain in a round.
var chainsOf = map[string]struct{ ilp, length int }{
	"ffma_1": {1, 128}, "ffma_2": {2, 128}, "ffma_4": {4, 32}, "ffma_8": {8, 64},
	"dfma_1": {1, 64}, "dfma_4": {4, 32}, "imad_1": {1, 64}, "imad_4": {4, 32}, "hfma2_1": {1, 64}, "hfma2_4": {4, 32},
	"mufu_1": {1, 64}, "mufu_4": {4, 32}, "popc_1": {1, 64}, "popc_4": {4, 32}, "shfl_1": {1, 64}, "shfl_4": {4, 32},
	"shf_1": {1, 64}, "shf_4": {4, 32},
	// Two instructions an operation.
	"convert_1": {1, 128}, "convert_4": {4, 64},
}

// Chains returns how many instructions of a thread an SM issues in a cycle with so many warps that run the kernel's chains,
// as in "ffma_4".
func (b *Bench) Chains(kernel string, warps int) (float64, error) {
	const rounds = 16
	shape := chainsOf[kernel]
	r := b.rig()
	cycles, out := r.alloc(8), r.alloc(int64(warps*32+8)*int64(max(shape.ilp, 1))*doubleBytes)
	r.run(launch{kernel: kernel, blocks: 1, threads: warps * 32}, int32(rounds), cycles, out)
	n := float64(rounds*shape.ilp*shape.length) * float64(warps*32)
	return n / float64(max(r.read(cycles), 1)), r.err
}

// SharedStride returns the cycles of an SM for a load from shared memory by a warp whose lanes are so many words apart.
func (b *Bench) SharedStride(stride int) (float64, error) {
	const loads = 32
	return b.sharedLoads("shared_stride", stride, loads)
}

// sharedLoads returns the cycles of an SM for a load of a kernel of so many loads a round. What the first and the last ones take
// is left out.
func (b *Bench) sharedLoads(kernel string, stride, loads int) (float64, error) {
	const threads, few, many = 1024, 2, 10
	r := b.rig()
	cycles, out := r.alloc(8), r.alloc(threads*8*4)
	measure := func(rounds int) float64 {
		r.run(launch{kernel: kernel, blocks: 1, threads: threads}, int32(stride), int32(rounds), cycles, out)
		return float64(r.read(cycles))
	}
	first := measure(few)
	return (measure(many) - first) / float64((many-few)*loads*threads/32), r.err
}

// SharedConflicts returns the cycles of an SM for a load of so many bits a lane from shared memory where so many lanes at a time
// find their words in one bank.
func (b *Bench) SharedConflicts(bits, ways int) (float64, error) {
	const loads = 16
	return b.sharedLoads(fmt.Sprintf("shared_%d", bits), ways*bits/32, loads)
}

// GlobalSectors returns how many sectors a warp asks L1 for that loads so many bits a lane, the lanes as many times their size
// apart as stride.
func (b *Bench) GlobalSectors(bits, stride int) (float64, error) {
	const threads = 256
	r := b.rig()
	data, out := r.alloc(int64(threads*stride*bits/8)), r.alloc(threads*4)
	r.run(launch{kernel: fmt.Sprintf("global_%d", bits), blocks: 1, threads: threads}, data, int32(stride), out)
	if r.err != nil {
		return 0, r.err
	}
	var sectors int64
	for _, c := range r.last.Counters {
		sectors += c.GlobalSectors
	}
	return float64(sectors) / (threads / 32), nil
}

// GlobalStride returns the cycles of an SM for a load that hits L1 by a warp whose lanes are so many floats (doubles where
// wide is true) apart. The loads of a thread are 4 elements apart, as those of the published figures.
func (b *Bench) GlobalStride(stride int, wide bool) (float64, error) {
	const threads, rounds, loads = 1024, 24, 8
	kernel, size := "stride_f32", int64(4)
	if wide {
		kernel, size = "stride_f64", doubleBytes
	}
	r := b.rig()
	data, out := r.alloc(int64(64*stride+32)*size), r.alloc(threads*size)
	measure := func(rounds int) int64 {
		return r.run(launch{kernel: kernel, blocks: 1, threads: threads}, data, int32(stride), int32(0), int32(rounds), out)
	}
	few := measure(rounds)
	return float64(measure(3*rounds)-few) / (2 * rounds * loads * threads / 32), r.err
}

// Atomics returns the atomic additions of threads that the GPU makes in a cycle when neighbouring warps and threads add to
// words so far apart.
func (b *Bench) Atomics(perWarp, perThread int) (float64, error) {
	const threads, rounds = 256, 8
	r := b.rig()
	blocks := b.gpu.SMs.Int() * 4
	words := r.alloc(int64(blocks*threads/32*perWarp+32*perThread+1) * 4)
	cycles := r.run(launch{kernel: "atomic_add", blocks: blocks, threads: threads}, words, int32(perWarp), int32(perThread), int32(rounds))
	return float64(blocks*threads*rounds) / float64(max(cycles, 1)), r.err
}
