package arch

import "math"

// Part returns a GPU of an n-th of a model's SMs that has as much of everything the SMs share, and which share of the GPU it is. A launch
// with that share of its blocks takes about as long on it as the whole launch on the whole GPU, unless blocks use more together than
// they would by themselves: lines of L2 that several read, one address that all add to. Latencies and what an SM has are as they
// were, and there is one slice of L2 and one channel of DRAM in each partition at least, which are slower where that is too many.
func (m *Model) Part(n int) (*Model, float64) {
	p := *m
	p.Whole = m
	p.SMs.Value = math.Max(1, math.Round(m.SMs.Value/float64(n)))
	share := p.SMs.Value / m.SMs.Value
	p.scaleMemory(share)
	each := m.L2.Slices.Value * share / p.L2.Slices.Value // of a slice's rate
	p.L2.SliceWidth.Value *= each
	p.L2.LinkWidth.Value *= each
	p.L2.Partial.Value /= each
	p.L2.AtomicUnit.Value /= each
	p.L2.AtomicFloat.Value /= each
	p.DRAM.Size.Value *= share
	p.Launching.Block.Value /= share
	return &p, share
}

// scaleMemory gives a GPU that many times the L2 and the rate of DRAM: in whole slices and channels, one at least in each partition.
func (m *Model) scaleMemory(times float64) {
	parts := m.L2.Partitions.Value
	m.L2.Slices.Value = parts * math.Max(1, math.Round(m.L2.Slices.Value/parts*times))
	m.DRAM.Channels.Value = math.Max(1, math.Round(m.DRAM.Channels.Value*times))
	m.L2.Size.Value *= times
	m.DRAM.Peak.Value *= times
	m.DRAM.Achieved.Value *= times
}
