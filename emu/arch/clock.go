package arch

// SetClock sets the clock at which the model runs, in Hz. Figures in cycles are those of the SMs and of L2, whose clocks go up and
// down together; what a DRAM access takes beyond L2, and the bandwidth of DRAM, stay the same in seconds.
func (m *Model) SetClock(hz float64) {
	scale := hz / m.Clock.Value
	memory := &m.Latencies
	memory.DRAM.Value = memory.L2.Value + (memory.DRAM.Value-memory.L2.Value)*scale
	m.Clock.Value = hz
}
