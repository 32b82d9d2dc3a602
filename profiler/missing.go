package profiler

import (
	"slices"
	"strings"
)

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

// What stands around the names of a board and of the model that is taken in its place.
const (
	missingModel = "a model of the GPU ("
	takenInstead = "), it is taken for the "
)

// NoteModel notes that the launch ran on a board that there is no model of, and which model its facts are told by.
func (l *Launch) NoteModel(board, model string) {
	l.Missing = append(l.Missing, missingModel+board+takenInstead+model+": latencies and peaks are that board's")
}

// Board is the GPU as the driver calls it, where there is no model of it; see [Launch.NoteModel].
func (l *Launch) Board() string {
	for _, what := range l.Missing {
		if rest, ok := strings.CutPrefix(what, missingModel); ok {
			board, _, _ := strings.Cut(rest, takenInstead)
			return board
		}
	}
	return ""
}

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
