package arch

// clockOfL2 is the part of a change of the SMs' clock that the clock of L2 and of the way to it goes through. Fitted: 1.46 cycles of
// L2 for one of the SMs on a T4 at 585 MHz, 0.96 on a GTX 1660 Super at 1510, by reports of Nsight Compute.
const clockOfL2 = 2. / 3

// SetClock sets the clock at which the SMs of the model run, in Hz. What L2 and the way to it take and bring follows in part; what
// a DRAM access takes beyond L2, and the bandwidth of DRAM, stay the same in seconds.
func (m *Model) SetClock(hz float64) {
	scale := hz / m.Clock.Value
	slower := scale / (1 - clockOfL2 + clockOfL2*scale) // cycles of the SMs for what was one on the way to L2
	l := &m.Latencies
	beyond := (l.DRAM.Value - l.L2.Value) * scale
	for _, way := range []*Figure{&l.L2, &l.Global} {
		way.Value = l.L1.Value + (way.Value-l.L1.Value)*slower
	}
	l.DRAM.Value = l.L2.Value + beyond
	for _, cycles := range []*Figure{&m.DRAM.Buffered, &m.DRAM.Spread, &m.DRAM.Batch} {
		cycles.Value *= scale
	}
	for _, cycles := range []*Figure{&m.L2.Far, &m.L2.Partial, &m.L2.AtomicUnit, &m.L2.AtomicFloat} {
		cycles.Value *= slower
	}
	for _, width := range []*Figure{&m.L2.SliceWidth, &m.L2.PortWidth, &m.L2.ReplyWidth, &m.L2.LinkWidth} {
		width.Value /= slower
	}
	m.Clock.Value = hz
}
