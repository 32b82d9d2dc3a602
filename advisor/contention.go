package advisor

import (
	"gpa/blamer"
	"gpa/emu/stall"
)

// warpsOnSM is the number of warps that an SM holds at a time.
func (in *Input) warpsOnSM() float64 {
	f := &in.Launch.Facts
	return f.WarpsPerScheduler * float64(f.SchedulersPerSM)
}

// samplesOf is how many samples so many warps give that wait so many cycles each: an SM is sampled once a period, and each of its
// warps is as likely as any other.
func (in *Input) samplesOf(warps, cycles float64) float64 {
	if in.Launch.Period <= 0 || in.warpsOnSM() <= 0 {
		return 0
	}
	return warps * cycles / (float64(in.Launch.Period) * in.warpsOnSM())
}

// queued is the number of samples in which warps wait for global memory longer than an access that is alone takes, even one that
// misses all caches: they wait for other accesses. 0 where the profile does not tell how often instructions ran.
func (in *Input) queued() float64 {
	sum := 0.0
	for _, use := range sortedKeys(in.byUse) {
		waited := 0.0
		for _, b := range in.byUse[use] {
			if b.Detail == blamer.GlobalMemory {
				waited += b.Count
			}
		}
		ran := in.counts(use).executions
		alone := in.samplesOf(ran, in.Model.Latencies.DRAM.Value)
		if waited > 0 && ran > 0 && alone > 0 {
			sum += max(0, waited-alone)
		}
	}
	return sum + in.ByReason[stall.LgThrottle]
}

// busyCycles is the number of cycles in which an SM with work holds warps; 0 where the profile does not tell.
func (in *Input) busyCycles() float64 {
	return in.held() * float64(in.Launch.Facts.Cycles)
}

// saturated is the share of time from which on a unit counts as the one that the launch waits for, as in the rules of NVIDIA's
// profiler for highly used pipes.
const saturated = 0.8

// freed returns how many samples go when a unit of the SMs has some cycles less to work. A unit that is busy nearly all the time
// makes everything wait, also what is blamed on others: barriers, and the end of the block. 0 where it is not.
func (in *Input) freed(used, excess float64) float64 {
	busy := in.busyCycles() * float64(min(in.Launch.Facts.SMs, volume(in.Launch.Grid)))
	if busy <= 0 || used < saturated*busy {
		return 0
	}
	return in.Total * min(1, excess/busy)
}
