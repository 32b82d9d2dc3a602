package advisor

// dramCycles is the number of cycles that DRAM takes at least for what the launch moves, at the most that it achieves; 0 where the
// profile does not tell.
func (in *Input) dramCycles() float64 {
	f := &in.Launch.Facts
	achieved := in.Model.DRAM.Achieved.Value
	if achieved <= 0 || f.ClockHz <= 0 {
		return 0
	}
	return float64(f.DRAMReadBytes+f.DRAMWrittenBytes) / achieved * f.ClockHz
}

// l2Cycles is the same for the slices of L2.
func (in *Input) l2Cycles() float64 {
	width := in.Model.L2.Slices.Value * in.Model.L2.SliceWidth.Value
	if width <= 0 {
		return 0
	}
	return float64(in.Launch.Facts.L2Bytes) / width
}

// memoryCycles is the time of the one that takes longer.
func (in *Input) memoryCycles() float64 { return max(in.dramCycles(), in.l2Cycles()) }
