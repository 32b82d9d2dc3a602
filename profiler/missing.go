package profiler

import "slices"

// What the source of a profile may not have been able to tell, in the words of [Launch.Missing]. Others name more.
const (
	MissingSamples          = "samples"
	MissingLatency          = "latency samples"
	MissingPeriod           = "sampling period"
	MissingCycles           = "cycles"
	MissingExecutions       = "executions"
	MissingThreadExecutions = "thread executions"
	MissingSectors          = "sectors"
	MissingWavefronts       = "shared wavefronts"
	MissingTraffic          = "memory traffic"
)

// NoteTraffic notes that the traffic of L2 and DRAM is missing, where a launch that accesses global memory seems to have none.
func (l *Launch) NoteTraffic() {
	f := &l.Facts
	access := slices.ContainsFunc(l.PCs, func(c Counter) bool { return c.GlobalSectors > 0 })
	if access && f.L2Bytes+f.DRAMReadBytes+f.DRAMWrittenBytes == 0 {
		l.Missing = append(l.Missing, MissingTraffic)
	}
}

// Lacks says whether the source of the profile could not tell something.
func (l *Launch) Lacks(what string) bool { return slices.Contains(l.Missing, what) }
