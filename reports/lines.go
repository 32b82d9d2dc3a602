package reports

import (
	"cmp"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// A hotLine adds up the samples of a source line, or of one instruction where its line is unknown. What comes from headers of the toolkit
// counts for the line that calls it, and so does a function of the compiler's that one line calls.
type hotLine struct {
	at     Location // of the most sampled instruction, the first of equals
	totals profiler.Totals
	most   int64 // samples of that instruction
}

// hotLines returns the lines of a launch that have samples, the most sampled first. Warps that have ended and wait for their stores count for the stores
// that they are blamed on, where there is a blame, else for EXIT.
func hotLines(module *cubin.File, l *profiler.Launch, blame *blamer.Result) []hotLine {
	type key struct {
		function, file string
		line, code     int
		pc             uint64 // of instructions without a line
	}
	places := make(map[key]int)
	var lines []hotLine
	count := func(at Location, code int, samples []profiler.Sample) {
		k := key{function: at.Function, file: at.File, line: at.Line}
		if at.Line == 0 {
			k.code, k.pc = code, at.PC
		}
		place, ok := places[k]
		if !ok {
			place = len(lines)
			places[k] = place
			lines = append(lines, hotLine{at: at})
		}
		lines[place].add(at, samples)
	}
	for first := 0; first < len(l.Samples); {
		code, pc := l.Samples[first].Code, l.Samples[first].PC
		samples := l.At(code, pc)
		first += len(samples)
		ending, others := ended(module, code, pc, samples)
		if len(ending) > 0 {
			count(calledFrom(module, l, code, drained(module, code, pc-sass.InstSize, blame)), code, ending)
		}
		if len(others) > 0 {
			count(calledFrom(module, l, code, pc), code, others)
		}
	}
	slices.SortStableFunc(lines, func(a, b hotLine) int { return cmp.Compare(b.totals.Samples, a.totals.Samples) })
	return lines
}

// ended parts the samples of warps that have ended, and wait for their stores: they show at the pc behind EXIT, which may be of another function.
func ended(module *cubin.File, code int, pc uint64, samples []profiler.Sample) (ending, others []profiler.Sample) {
	if in := instruction(module, code, pc-sass.InstSize); pc == 0 || in == nil || in.Op != sass.EXIT {
		return nil, samples
	}
	for _, s := range samples {
		if s.Reason == stall.Drain {
			ending = append(ending, s)
		} else {
			others = append(others, s)
		}
	}
	return ending, others
}

// drained is the store that warps which have ended at an EXIT mostly wait for, EXIT itself where nothing tells.
func drained(module *cubin.File, code int, exit uint64, blame *blamer.Result) uint64 {
	if blame == nil {
		return exit
	}
	most, at := 0.0, exit
	for i := range blame.Blames {
		b := &blame.Blames[i]
		if b.Use.Code == code && b.Def != b.Use && b.Def.Code == code && module.Codes[code].Insts[b.Use.Inst].PC == exit && b.Count > most {
			most, at = b.Count, module.Codes[code].Insts[b.Def.Inst].PC
		}
	}
	return at
}

// calledFrom is the location of an instruction; in a function without lines, as the compiler's own are, that of the call where all calls that were made
// come from one line.
func calledFrom(module *cubin.File, l *profiler.Launch, code int, pc uint64) Location {
	at := own(Locate(module, code, pc))
	const deepest = 4 // functions that call each other
	for depth := 0; at.Line == 0 && depth < deepest; depth++ {
		f := (*cubin.Function)(nil)
		if code >= 0 && code < len(module.Codes) {
			f = module.Codes[code].FunctionAt(pc)
		}
		if f == nil || f.Kind != cubin.InternalFunction {
			return at
		}
		calls := callsOf(module, l, code, f)
		if len(calls) == 0 {
			return at
		}
		from := own(Locate(module, code, calls[0]))
		for _, c := range calls[1:] {
			if other := own(Locate(module, code, c)); other.File != from.File || other.Line != from.Line {
				return at
			}
		}
		if pc = calls[0]; from.Line > 0 {
			from.PC, from.SASS = at.PC, at.SASS
			return from
		}
	}
	return at
}

// callsOf returns where a function of a section was called from, in the section.
func callsOf(module *cubin.File, l *profiler.Launch, code int, f *cubin.Function) []uint64 {
	return slices.DeleteFunc(module.Codes[code].Calls(f), func(pc uint64) bool {
		c, counted := l.Counter(code, pc)
		return len(l.PCs) > 0 && !(counted && c.Executions > 0)
	})
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

func reportLines(module *cubin.File, l *profiler.Launch, blame *blamer.Result) []LineReport {
	var out []LineReport
	for _, h := range hotLines(module, l, blame) {
		out = append(out, LineReport{
			At: h.at, Samples: h.totals.Samples, Latency: h.totals.Latency, ByReason: byReason(&h.totals.ByReason),
		})
	}
	return out
}
