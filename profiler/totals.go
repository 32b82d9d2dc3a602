package profiler

import (
	"cmp"
	"slices"

	"gpa/emu/stall"
)

// Totals adds up the samples of a launch or of a part of it. Every sample is either an active or a latency sample
// (section 2.1 of the GPA paper).
type Totals struct {
	Samples         int64
	Active          int64 // taken in a cycle in which the scheduler issued an instruction, of whichever warp
	Latency         int64 // taken in a cycle in which the scheduler issued nothing
	ByReason        [stall.NumReasons]int64
	LatencyByReason [stall.NumReasons]int64
}

// Add counts one more sample group.
func (t *Totals) Add(s *Sample) {
	t.Samples += s.Count
	t.Latency += s.Latency
	t.Active += s.Count - s.Latency
	if s.Reason < stall.NumReasons {
		t.ByReason[s.Reason] += s.Count
		t.LatencyByReason[s.Reason] += s.Latency
	}
}

// Issued returns the number of samples whose warp issued in the sampled cycle.
func (t *Totals) Issued() int64 { return t.ByReason[stall.Selected] }

// Stalls returns the number of samples with a stall reason.
func (t *Totals) Stalls() int64 { return t.Samples - t.Issued() }

// StallRatio estimates the share of cycles in which a scheduler issued nothing: latency samples over all samples. It is
// 0 where there are no samples.
func (t *Totals) StallRatio() float64 { return ratio(t.Latency, t.Samples) }

// ActiveRatio estimates the share of cycles in which a scheduler issued: active samples over all samples.
func (t *Totals) ActiveRatio() float64 { return ratio(t.Active, t.Samples) }

// Ranked returns the reasons that have samples, the most frequent first and equals in the order of package stall.
func (t *Totals) Ranked() []stall.Reason {
	var reasons []stall.Reason
	for r := range stall.NumReasons {
		if t.ByReason[r] > 0 {
			reasons = append(reasons, r)
		}
	}
	slices.SortStableFunc(reasons, func(a, b stall.Reason) int { return cmp.Compare(t.ByReason[b], t.ByReason[a]) })
	return reasons
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Totals adds up all samples of the launch.
func (l *Launch) Totals() Totals {
	var t Totals
	for i := range l.Samples {
		t.Add(&l.Samples[i])
	}
	return t
}

// At returns the samples of one instruction, a part of l.Samples.
func (l *Launch) At(code int, pc uint64) []Sample {
	place := func(s Sample, at Sample) int { return comparePlace(s.Code, s.PC, at.Code, at.PC) }
	first, _ := slices.BinarySearchFunc(l.Samples, Sample{Code: code, PC: pc}, place)
	last := first
	for last < len(l.Samples) && l.Samples[last].Code == code && l.Samples[last].PC == pc {
		last++
	}
	return l.Samples[first:last]
}

// Counter returns the source counters of one instruction; false where it was not executed or the profile has none.
func (l *Launch) Counter(code int, pc uint64) (Counter, bool) {
	place := func(c Counter, at Counter) int { return comparePlace(c.Code, c.PC, at.Code, at.PC) }
	i, found := slices.BinarySearchFunc(l.PCs, Counter{Code: code, PC: pc}, place)
	if !found {
		return Counter{}, false
	}
	return l.PCs[i], true
}

// Seconds is the time that the launch took on the GPU, 0 where the clock or the cycles are unknown.
func (f *Facts) Seconds() float64 {
	if f.ClockHz <= 0 {
		return 0
	}
	return float64(f.Cycles) / f.ClockHz
}

// Collect brings samples into the form that a launch holds: sorted by instruction, reason and producer, equal ones
// added up, empty ones left out. It works in place.
func Collect(samples []Sample) []Sample {
	samples = slices.DeleteFunc(samples, func(s Sample) bool { return s.Count == 0 })
	slices.SortFunc(samples, compareSamples)
	out := samples[:0]
	for _, s := range samples {
		if n := len(out); n > 0 && compareSamples(out[n-1], s) == 0 {
			out[n-1].Count += s.Count
			out[n-1].Latency += s.Latency
			continue
		}
		out = append(out, s)
	}
	return out
}

func compareSamples(a, b Sample) int {
	return cmp.Or(
		comparePlace(a.Code, a.PC, b.Code, b.PC),
		cmp.Compare(a.Reason, b.Reason),
		compareProducers(a.Producer, b.Producer),
	)
}

// compareProducers puts the unknown producer first.
func compareProducers(a, b Producer) int {
	if a.Known != b.Known {
		if b.Known {
			return -1
		}
		return 1
	}
	return comparePlace(a.Code, a.PC, b.Code, b.PC)
}

func comparePlace(codeA int, pcA uint64, codeB int, pcB uint64) int {
	return cmp.Or(cmp.Compare(codeA, codeB), cmp.Compare(pcA, pcB))
}

// GlobalSectors returns the 32-byte sectors that the launch asked of L1, and those that the bytes used would fill.
func (l *Launch) GlobalSectors() (sectors, ideal int64) {
	for i := range l.PCs {
		sectors += l.PCs[i].GlobalSectors
		ideal += l.PCs[i].GlobalSectorsIdeal
	}
	return sectors, ideal
}
