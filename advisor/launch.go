package advisor

// held is the share of a launch's cycles in which the SMs that have work hold warps: before the first block and after the last
// there is nothing to sample, and no change of the code saves anything. An SM with work gives a sample a period. 1 where the
// profile does not tell. SMs that are done before others do not count as launch overhead where faster code makes the wait for the others
// shorter too: where blocks are left to be placed, and where the SMs wait for a memory that they share.
func (in *Input) held() float64 {
	f := &in.Launch.Facts
	blocks := volume(in.Launch.Grid)
	if f.Cycles <= 0 || in.Launch.Period <= 0 || f.SMs <= 0 || blocks == 0 {
		return 1
	}
	share := in.Total * float64(in.Launch.Period) / (float64(f.Cycles) * float64(min(f.SMs, blocks)))
	if blocks > in.wave() || in.memoryCycles() >= saturated*share*float64(f.Cycles) || share < mostlyIdle {
		share = max(share, in.heldLongest())
	}
	return min(1, share)
}

// shared is the bytes of shared memory that a block takes.
func (in *Input) shared() int { return in.Launch.Facts.SharedStatic + in.Launch.Facts.SharedDynamic }

// mostlyIdle is the share of the launch below which SMs with work hold warps so short on average that a few of them make the launch as
// long as it is, as where most blocks have nothing to do and end at once: what counts is how long these few are busy.
const mostlyIdle = .5

// heldLongest is the share of a launch's cycles in which the SM that is busy longest holds warps.
func (in *Input) heldLongest() float64 {
	return max(0, 1-in.Model.Launching.Fixed.Value/float64(in.Launch.Facts.Cycles))
}

// ofLaunch turns the speedup of the time in which SMs hold warps into that of the launch (Amdahl's law).
func (in *Input) ofLaunch(speedup float64) float64 {
	held := in.held()
	return 1 / (1 - held + held/speedup)
}
