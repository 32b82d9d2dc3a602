package reports

import (
	"gpa/profiler"
)

// consequences are what cannot be told without a part of a profile.
var consequences = map[string]string{
	profiler.MissingSamples:          "nothing can be blamed",
	profiler.MissingLatency:          "the stall ratio is not known, and changes that hide latency (unrolling, reordering, more warps) are not estimated",
	profiler.MissingPeriod:           "samples cannot be told in cycles",
	profiler.MissingCycles:           "time, issue rate, roofline and the balance of SMs are not known",
	profiler.MissingExecutions:       "how often an instruction ran is told from its samples alone, and loops have no number of trips",
	profiler.MissingThreadExecutions: "idle lanes of warps are not seen",
	profiler.MissingSectors:          "uncoalesced accesses are not seen",
	profiler.MissingWavefronts:       "bank conflicts are not seen",
	profiler.MissingTraffic:          "the bandwidth achieved is not known, and does not bound what changes are estimated to bring",
}

// lacks lists what the profile lacks, each with what cannot be told for it.
func lacks(l *profiler.Launch) []string {
	var list []string
	for _, what := range l.Missing {
		if then := consequences[what]; then != "" {
			what += ": " + then
		}
		list = append(list, what)
	}
	return list
}

// ratios writes the shares of latency and active samples.
func ratios(l *profiler.Launch, totals *profiler.Totals) string {
	if l.Lacks(profiler.MissingLatency) {
		return "stall ratio not known"
	}
	return "stall ratio " + percent(totals.StallRatio()) + ", active ratio " + percent(totals.ActiveRatio())
}

// instructions writes the executions of the launch.
func instructions(l *profiler.Launch) string {
	text := count(l.Facts.WarpInstructions, "warp instruction")
	if !l.Lacks(profiler.MissingThreadExecutions) {
		text += ", " + count(l.Facts.ThreadInstructions, "thread instruction")
	}
	return text
}
