package reports

import (
	"cmp"
	"slices"

	"gpa/cubin"
	"gpa/profiler"
)

// A hotLine adds up the samples of a source line, or of one instruction where its line is unknown. What comes from headers of the toolkit
// counts for the line that calls it.
type hotLine struct {
	at     Location // of the most sampled instruction, the first of equals
	totals profiler.Totals
	most   int64 // samples of that instruction
}

// hotLines returns the lines of a launch that have samples, the most sampled first.
func hotLines(module *cubin.File, l *profiler.Launch) []hotLine {
	type key struct {
		function, file string
		line, code     int
		pc             uint64 // of instructions without a line
	}
	places := make(map[key]int)
	var lines []hotLine
	for first := 0; first < len(l.Samples); {
		code, pc := l.Samples[first].Code, l.Samples[first].PC
		samples := l.At(code, pc)
		first += len(samples)
		at := own(Locate(module, code, pc))
		k := key{function: at.Function, file: at.File, line: at.Line}
		if at.Line == 0 {
			k.code, k.pc = code, pc
		}
		place, ok := places[k]
		if !ok {
			place = len(lines)
			places[k] = place
			lines = append(lines, hotLine{at: at})
		}
		lines[place].add(at, samples)
	}
	slices.SortStableFunc(lines, func(a, b hotLine) int { return cmp.Compare(b.totals.Samples, a.totals.Samples) })
	return lines
}

// add counts the samples of one more instruction of the line.
func (h *hotLine) add(at Location, samples []profiler.Sample) {
	var n int64
	for i := range samples {
		h.totals.Add(&samples[i])
		n += samples[i].Count
	}
	if n > h.most {
		h.most, h.at = n, at
	}
}

func reportLines(module *cubin.File, l *profiler.Launch) []LineReport {
	var out []LineReport
	for _, h := range hotLines(module, l) {
		out = append(out, LineReport{
			At: h.at, Samples: h.totals.Samples, Latency: h.totals.Latency, ByReason: byReason(&h.totals.ByReason),
		})
	}
	return out
}
