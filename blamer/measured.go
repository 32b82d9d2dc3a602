package blamer

import (
	"math"

	"gpa/emu/stall"
	"gpa/profiler"
)

// measuredCycles measures in cycles as the samples have seen them pass: a sampled warp waits for its next instruction for as many
// cycles as that has samples, over the probability of a sample. The stall counts are what passes at least.
//
// The probability needs no facts about the sampler. Each execution issues in one cycle, so that the selected samples are that
// share of all executions.
type measuredCycles struct{ sum []float64 }

func (c measuredCycles) before(i int) int64 { return int64(fixedPoint * c.sum[i]) }

// fixedPoint is the number of units of measuredCycles in a cycle.
const fixedPoint = 64

// measureResidence fills in how many cycles pass, on average, from an instruction's becoming the warp's next to its issue. It
// leaves the stall counts where the profile counts no executions or was never seen to issue.
func (a *analysis) measureResidence(l *profiler.Launch) {
	a.residence = make([]float64, len(a.code.Insts))
	for i := range a.residence {
		a.residence[i] = float64(issueCycles(&a.code.Insts[max(0, i-1)]))
	}
	perCycle := sampleShare(l)
	if a.counted && perCycle > 0 {
		samples := make([]float64, len(a.code.Insts))
		for i := range l.Samples {
			s := &l.Samples[i]
			if inst, ok := a.unit.inst(s.Code, s.PC); ok {
				samples[inst] += float64(s.Count)
			}
		}
		for i, n := range samples {
			if a.warps[i] > 0 {
				a.residence[i] = max(a.residence[i], n/perCycle/a.warps[i])
			}
		}
	}
	a.elapsed = measuredCycles{make([]float64, len(a.code.Insts)+1)}
	for i, r := range a.residence {
		a.elapsed.sum[i+1] = a.elapsed.sum[i] + r
	}
	a.spread = startSpread(l, perCycle)
}

// sampleShare is the probability that a warp is sampled in a cycle, 0 where it is not known.
func sampleShare(l *profiler.Launch) float64 {
	selected, executions := 0.0, 0.0
	for i := range l.Samples {
		if s := &l.Samples[i]; s.Reason == stall.Selected {
			selected += float64(s.Count)
		}
	}
	for _, c := range l.PCs {
		executions += float64(c.Executions)
	}
	if executions == 0 {
		return 0
	}
	return selected / executions
}

// startSpread estimates over how many cycles the warps of a launch begin: what the SMs were busy less the time of one warp.
func startSpread(l *profiler.Launch, perCycle float64) float64 {
	if perCycle == 0 || l.Facts.SMs == 0 {
		return 0
	}
	samples := 0.0
	for i := range l.Samples {
		samples += float64(l.Samples[i].Count)
	}
	lifetime := samples / perCycle / launchWarps(l)
	busy := float64(l.Facts.SMActiveCycles) / min(float64(l.Facts.SMs), volume(l.Grid))
	return max(0, busy-lifetime)
}

// launchWarps is the number of warps of a launch.
func launchWarps(l *profiler.Launch) float64 {
	return volume(l.Grid) * math.Ceil(volume(l.Block)/warpLanes)
}

// volume is the product of the three sizes of a grid or block.
func volume(size [3]int) float64 {
	return float64(max(1, size[0])) * float64(max(1, size[1])) * float64(max(1, size[2]))
}
