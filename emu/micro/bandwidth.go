package micro

import (
	"fmt"
	"slices"
)

// A Stream is a kernel of one element (a double) a thread that streams through DRAM.
type Stream struct {
	Name   string
	kernel string
	words  int // doubles read and written a thread
	inputs int // arrays read
}

// The streams: in order a = const, read b, a = b·const, a = b + c·d, and stencils of 3 and 5 points.
var streams = []Stream{
	{"init", "stream_init", 1, 0}, {"read", "stream_read", 1, 1}, {"scale", "stream_scale", 2, 1},
	{"triad", "stream_triad", 4, 3}, {"3pt", "stream_3pt", 2, 1}, {"5pt", "stream_5pt", 2, 1},
}

const doubleBytes = 8

// Bandwidth returns the bytes a second of a stream by blocks of so many threads of which so many are resident on an SM.
// Shared memory limits them, as it does where the figures were measured.
func (b *Bench) Bandwidth(stream string, threads, blocksPerSM int) (float64, error) {
	s, err := findStream(stream)
	if err != nil {
		return 0, err
	}
	// Writes must have filled L2 for their way to DRAM to be seen.
	resident := b.gpu.SMs.Int() * threads * blocksPerSM
	n := max(24*resident, 4*b.gpu.L2.Size.Int()/doubleBytes/s.words)
	n = (n + 3*threads - 1) / (3 * threads) * 3 * threads
	r := b.rig()
	var arrays [4]uint64
	for i := range arrays[:1+s.inputs] {
		arrays[i] = r.alloc(int64(n) * doubleBytes)
	}
	l := &b.gpu.Limits
	largest := l.SharedCarveouts[len(l.SharedCarveouts)-1].Int()
	shared := min(largest/blocksPerSM, l.SharedBlock.Int()+l.SharedReserved.Int()) - l.SharedReserved.Int()
	unit := l.SharedUnit.Int()
	if blocksPerSM >= l.Blocks.Int() || threads*blocksPerSM >= l.Warps.Int()*l.WarpSize.Int() {
		shared = 0
	}
	grid := launch{kernel: s.kernel, blocks: n / threads, threads: threads, sharedDynamic: shared / unit * unit}
	measure := func(n int) int64 {
		grid.blocks = n / threads
		return r.run(grid, arrays[0], arrays[1], arrays[2], arrays[3], int32(n))
	}
	// What the launch before has left in L2 must be written back while the next one runs, as at any time of a long stream.
	measure(n)
	grid.warm = true
	part := measure(n / 3)
	return b.perSecond(float64(n-n/3)*doubleBytes*float64(s.words), measure(n)-part), r.err
}

func findStream(name string) (Stream, error) {
	for _, s := range streams {
		if s.Name == name {
			return s, nil
		}
	}
	return Stream{}, fmt.Errorf("there is no stream %q", name)
}

// perSecond turns an amount in so many cycles into one a second.
func (b *Bench) perSecond(amount float64, cycles int64) float64 {
	return amount * b.gpu.Clock.Value / float64(max(cycles, 1))
}

// CacheBandwidth returns the bytes a second that all SMs together read of one buffer that all of them read again and
// again: L1's bandwidth where it fits, else L2's. The elements are floats where wide is false, doubles where it is true.
func (b *Bench) CacheBandwidth(bytes int64, wide bool) (float64, error) {
	const threads, unroll = 1024, 4
	kernel, size := "cache_f32", int64(4)
	if wide {
		kernel, size = "cache_f64", doubleBytes
	}
	n := max(bytes/size/(threads*unroll), 1) * threads * unroll
	rounds := max(1<<20/(n*size), 2)
	r := b.rig()
	data, out := r.alloc(n*size), r.alloc(doubleBytes)
	blocks := b.gpu.SMs.Int()
	grid := launch{kernel: kernel, blocks: blocks, threads: threads}
	r.run(grid, data, int32(n), int32(1), out)
	grid.warm = true
	const first = 2 // rounds that fill L1
	filled := r.run(grid, data, int32(n), int32(first), out)
	cycles := r.run(grid, data, int32(n), int32(first+rounds), out) - filled
	return b.perSecond(float64(rounds*n*size)*float64(blocks), cycles), r.err
}

// L2Bandwidth returns the bytes a second that blocks of 1024 threads read, each its part of 512 KiB of a buffer of doubles. As many
// blocks as the parts follow each other; the bandwidth is L2's where the buffer fits, else DRAM's. Where it has fewer parts than
// there are SMs, L1 answers blocks of one SM that read the same. A part is read again after one sweep of the buffer, by a block of
// any SM: in the same partition of L2 as the time before, or in the other one. What counts is the time between the ends of two blocks, six
// waves apart, so that neither the start nor the end of the launch, when SMs have nothing to do, is part of it. Before come two waves at
// least, and four sweeps of the buffer, until L2 holds what it does when a launch is long.
func (b *Bench) L2Bandwidth(bytes int64) (float64, error) {
	const threads, part, waves, sweeps = 1024, 64 * 1024 * doubleBytes, 6, 4
	parts := max(int(bytes/part), 1)
	r := b.rig()
	wave := b.gpu.SMs.Int() * (b.gpu.Limits.Warps.Int() * b.gpu.Limits.WarpSize.Int() / threads)
	before := max(2, (sweeps*parts+wave-1)/wave)
	warmUp, blocks := wave+parts, (before+waves+1)*wave
	data, out, ends := r.alloc(int64(parts)*part), r.alloc(threads*doubleBytes), r.alloc(int64(max(warmUp, blocks))*doubleBytes)
	grid := launch{kernel: "cache_share", blocks: warmUp, threads: threads}
	r.run(grid, data, int32(parts), int32(wave), out, ends)
	grid.warm, grid.blocks = true, blocks
	r.run(grid, data, int32(parts), int32(wave), out, ends)
	clocks := make([]int64, blocks)
	for i := range clocks {
		clocks[i] = r.read(ends + uint64(i)*doubleBytes)
	}
	slices.Sort(clocks)
	return b.perSecond(float64(waves*wave)*part, clocks[(before+waves)*wave-1]-clocks[before*wave-1]), r.err
}
