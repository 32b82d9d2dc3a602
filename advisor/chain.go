package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// assumedUnread is what fusing launches takes for granted.
const assumedUnread assumption = "nothing else reads what the launches leave to each other"

// fusedLaunches matches launches that follow each other and could be one, as each block needs only what the block of its number has stored in
// the ones before: values then stay on the SM instead of going through global memory. nil where the launch is in no such chain.
func (in *Input) fusedLaunches() *Match {
	if len(in.chains.List) == 0 {
		return nil
	}
	chain := in.chains.Main().Launches
	change := &Change{Fused: true}
	cycles, left := float64(in.chains.Main().Cycles()), 0.0
	for i, l := range chain {
		shared := l.Facts.SharedStatic + l.Facts.SharedDynamic
		if x := l.Inherits; i > 0 && l.Record != nil && len(l.Record.Blocks) > 0 {
			shared += int(x.Own) / len(l.Record.Blocks)
		}
		change.Registers, change.Shared = max(change.Registers, l.Facts.Registers), max(change.Shared, shared)
		left += fusedCycles(l, i == 0)
	}
	if left >= cycles || change.Shared > in.Model.Limits.SharedBlock.Int() {
		return nil
	}
	m := &Match{Scope: in.kernelScope(), Variant: "launches", Change: change, Launches: len(chain), Cycles: in.chains.Cycles(), Speedup: in.chains.Speedup(cycles / left)}
	m.Samples = in.Total * (1 - 1/m.Speedup)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; in.isInherited(b.Def) && isStall(b) {
			m.Hotspots = append(m.Hotspots, Hotspot{Def: b.Def, Use: b.Use, Detail: b.Detail, Distance: b.Distance, Samples: b.Count})
		}
	}
	m.Hotspots = rankHotspots(in, m.Hotspots)
	m.assume(assumedUnread)
	m.Suggestions = in.fusionWords()
	return m
}

// fusedCycles is what is left of the cycles of a launch that finds on the SM what it inherits: those in which it issues, and of the others the share
// of what it loads from elsewhere.
func fusedCycles(l *profiler.Launch, first bool) float64 {
	t, elsewhere := l.Totals(), 1.0
	active := float64(t.Active) / float64(max(1, t.Samples))
	if x := l.Inherits; x != nil && !first {
		elsewhere = 1 - float64(x.Own)/float64(max(1, x.Loaded))
	}
	return float64(l.Facts.Cycles) * (active + (1-active)*elsewhere)
}

// isInherited reports whether an instruction of this launch loads what launches before it have stored.
func (in *Input) isInherited(n blamer.Node) bool {
	if in.Launch.Inherits == nil || in.codes[n.Code] == nil {
		return false
	}
	for _, at := range in.Launch.Inherits.Loads {
		if nodeOf(at) == n {
			return in.Inst(n).Op != sass.EXIT
		}
	}
	return false
}

// fusionWords say what the launches of the chains do and how they become one.
func (in *Input) fusionWords() []string {
	chain := in.chains.Main().Launches
	same, names := true, []string(nil)
	for _, l := range chain {
		same = same && l.Kernel == chain[0].Kernel
		if name := cubin.Demangle(l.Kernel); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	launches := fmt.Sprintf("%d launches that follow each other (%s)", len(chain), strings.Join(names, ", "))
	if n := len(in.chains.List); n > 1 {
		launches = fmt.Sprintf("In %d places up to %s", n, launches)
	}
	first := launches + " leave what they store to the same blocks of the next one. Make one kernel of them: a value that the same thread needs next stays in a register, what other threads of its block need goes through shared memory, with __syncthreads() between the steps, and neither is stored and loaded again."
	if same {
		first = launches + " leave what they store to the same blocks of the next one. Make one launch of them: a loop in the kernel over their steps, with __syncthreads() between them; the block's values stay in shared memory, or in registers where the same thread needs them, and are stored once in the end."
	}
	return []string{first, "What the host or another kernel reads of what lies between has to be stored all the same. Steps in which blocks need what other blocks have stored stay launches of their own."}
}
