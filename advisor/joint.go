package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

// joinedLaunches matches launches that could be one as single threads of one of them can do their work where the other one needs it or leaves it:
// see [profiler.Joint]. nil where the launch is in no such chain, or where it can be one with others block by block.
func (in *Input) joinedLaunches() *Match {
	if len(in.joined.List) == 0 || len(in.chains.List) > 0 {
		return nil
	}
	chain := in.joined.Main()
	change := &Change{}
	for i, l := range chain.Launches {
		change.Registers, change.Shared = max(change.Registers, l.Facts.Registers), max(change.Shared, l.Facts.SharedStatic+l.Facts.SharedDynamic)
		if i > 0 {
			j := &chain.Joints[i-1]
			change.Joints = append(change.Joints, Joint{Push: j.Push, Kept: j.Kept})
		}
	}
	left := chain.Joint()
	if left >= float64(chain.Cycles()) {
		return nil
	}
	m := &Match{Scope: in.kernelScope(), Variant: "threads", Change: change, Launches: len(chain.Launches), Cycles: in.joined.Cycles(),
		Speedup: in.joined.Speedup(float64(chain.Cycles()) / left)}
	m.Samples = in.Total * (1 - 1/m.Speedup)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; isStall(b) && in.isJoined(chain, b.Def) {
			m.Hotspots = append(m.Hotspots, Hotspot{Def: b.Def, Use: b.Use, Detail: b.Detail, Distance: b.Distance, Samples: b.Count})
		}
	}
	m.Hotspots = rankHotspots(in, m.Hotspots)
	m.assume(assumedUnread)
	m.Suggestions = in.jointWords(chain)
	return m
}

// isJoined reports whether an instruction of this launch's kernel loads what the launch before in a chain has stored.
func (in *Input) isJoined(chain *profiler.Chain, n blamer.Node) bool {
	for i := range chain.Joints {
		if l := chain.Launches[i+1]; l.Kernel == in.Launch.Kernel && slices.ContainsFunc(chain.Joints[i].Loads, func(p profiler.Place) bool { return nodeOf(p) == n }) {
			return true
		}
	}
	return false
}

// mostNamed is how many joints of a chain are put into words.
const mostNamed = 3

// jointWords say how the launches of a chain become one, joint by joint, and what there is to heed.
func (in *Input) jointWords(chain *profiler.Chain) []string {
	var what, heed []string
	for i := range chain.Joints[:min(mostNamed, len(chain.Joints))] {
		j := &chain.Joints[i]
		first, second := cubin.Demangle(chain.Launches[i].Kernel), cubin.Demangle(chain.Launches[i+1].Kernel)
		what = append(what, in.jointWord(j, first, second))
		if j.Kept {
			heed = append(heed, fmt.Sprintf("Another kernel loads what %s stores as well: go on storing it.", first))
		}
		if j.Swapped {
			heed = append(heed, fmt.Sprintf("%s stores to what %s loads: in one kernel other threads may still need the old values. Let it store to another buffer, and swap the two from step to step.", second, first))
		}
	}
	if n := len(in.joined.List); n > 1 {
		what[0] = fmt.Sprintf("In %d places: ", n) + what[0]
	}
	heed = append(heed, "Not where the host or another kernel reads what lies between.")
	return []string{strings.Join(what, " "), strings.Join(heed, " ")}
}

// recomputed is how often work is done from which on it is said.
const recomputed = 1.1

// jointWord says how two launches become one.
func (in *Input) jointWord(j *profiler.Joint, first, second string) string {
	var loads []blamer.Node
	for _, p := range j.Loads {
		loads = append(loads, nodeOf(p))
	}
	at := in.places(loads, 2)
	if j.Push {
		return fmt.Sprintf("%s (%s) loads what the launch of %s before it has stored, each thread from one block. Make one kernel of them: let %s do to its results what %s does before it stores them, as an epilogue; what other threads of the block have goes through shared memory. The array between them, its stores and its loads go.",
			second, at, first, first, second)
	}
	word := fmt.Sprintf("%s (%s) loads what the launch of %s before it has stored, each value of which one thread of %s makes by itself. Make one kernel of them: a __device__ function that computes such a value from its index, called by %s in the place of the load, whatever the shapes of the blocks. The array between them, its stores and its loads go.",
		second, at, first, first, second)
	if j.Times > recomputed {
		word += fmt.Sprintf(" Each value is then computed %.1f times, as neighbouring threads or several blocks need it: not where that is dear, or with a tile of the values in shared memory, borders included.", j.Times)
	}
	return word
}
