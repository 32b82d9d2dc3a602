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
)

// Lacks says whether the source of the profile could not tell something.
func (l *Launch) Lacks(what string) bool { return slices.Contains(l.Missing, what) }
