package advisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/rewrite"
)

// restructure matches loops that control flow leaves or enters in the middle, so that threads go their rounds apart. Made structured,
// with one entry and one exit (the Cut and the Backward Copy of Wu et al., "Characterization and Transformation of Unstructured
// Control Flow in Bulk Synchronous GPU Applications", IJHPCA 2012), its threads come together in every round. Each copy that a
// Forward Copy makes of a block is executed for its own threads, which may cost more than that gains.
type restructure struct{}

func (restructure) Name() string { return "restructure" }
func (restructure) Class() Class { return StallElimination }

func (restructure) Match(in *Input) []*Match {
	var matches []*Match
	in.eachUnstructured(func(v *visits) {
		loops := v.brokenLoops()
		open := slices.ContainsFunc(in.openJoins(v), func(join int) bool {
			return slices.ContainsFunc(loops, func(cycle int) bool { return v.around(cycle, v.inner[join]) })
		})
		if !open {
			return // threads of a loop come together in spite of its exits, or there is none
		}
		structured, err := rewrite.Structurize(v.shape)
		if err != nil {
			return // it cannot be made structured
		}
		c := newCollector(in)
		cost := in.cutSamples(v, loops)
		for node, n := range structured.Copies() {
			if node < len(v.fn.Blocks) && v.have[node] > 0 {
				cost += in.addFewer(c, v, node, 1-min(float64(n)*v.need[node], v.threads[node])/v.have[node])
			}
		}
		for _, m := range c.finish() {
			if m.Samples -= cost; m.Samples <= 0 {
				continue
			}
			m.Latency = min(m.Latency, m.Samples)
			m.Suggestions = in.edgeAdvice(v)
			m.Change = &Change{Restructured: true}
			m.Spares = IssueSlots | SharedMemory
			matches = append(matches, m)
		}
	})
	return matches
}

// brokenLoops returns the cycles, by number, that control flow leaves or enters in the middle.
func (v *visits) brokenLoops() []int {
	var list []int
	for _, x := range v.structure.Interactions {
		if x.Kind != cfg.BranchOut && v.inner[x.Head] >= 0 && !slices.Contains(list, v.inner[x.Head]) {
			list = append(list, v.inner[x.Head])
		}
	}
	return list
}

// cutInstructions are what a round of a loop with a Cut takes more: the flag is set, tested where the round ends and where
// the loop does, and threads wait for each other there (MOV, BRA, ISETP, BRA, BSYNC).
const cutInstructions = 5

// cutSamples is what the flags of the loops cost, at the samples that an instruction of the function has on average.
func (in *Input) cutSamples(v *visits, loops []int) float64 {
	rounds := 0.0
	for _, i := range loops {
		rounds += v.need[v.cycles[i].Header]
	}
	return in.instructionSamples(v) * cutInstructions * rounds
}

// instructionSamples is how many samples an instruction of a function has on average, each time that a warp executes it.
func (in *Input) instructionSamples(v *visits) float64 {
	c, samples, instructions := in.codes[v.code], 0.0, 0.0
	for node, id := range v.fn.Blocks {
		b := c.graph.Blocks[id]
		instructions += v.have[node] * float64(b.Last-b.First+1)
		for i := b.First; i <= b.Last; i++ {
			samples += c.total[i]
		}
	}
	return samples / max(1, instructions)
}

// addFewer enters the share of the samples of a node that goes, or returns what it takes more.
func (in *Input) addFewer(c *collector, v *visits, node int, share float64) (cost float64) {
	b := in.codes[v.code].graph.Blocks[v.fn.Blocks[node]]
	for i := b.First; i <= b.Last; i++ {
		if share > 0 {
			in.addSamples(c, blamer.Node{Code: v.code, Inst: i}, share)
		} else {
			cost -= share * in.codes[v.code].total[i]
		}
	}
	return cost
}

// remedies says what to change in the source for each kind of interacting edge.
var remedies = map[cfg.InteractionKind]string{
	cfg.LoopOut: "Unify the exits. Set a flag in place of the jump and leave where the loop's condition is tested, then choose what follows by the flag.",
	cfg.LoopIn:  "Split the loop: do the part of the first round that the jump goes to before the loop, so that all threads enter at its head.",
	cfg.BranchOut: "Hoist what the paths share behind the join of the branches, under a condition that is worked out once, " +
		"instead of a jump into the other branch.",
}

// edgeAdvice names the interacting edges by kind with the samples that they cost, and what to change.
func (in *Input) edgeAdvice(v *visits) []string {
	var out []string
	for _, kind := range []cfg.InteractionKind{cfg.LoopOut, cfg.LoopIn, cfg.BranchOut} {
		edges := v.edges(kind)
		if len(edges) == 0 {
			continue
		}
		slices.SortStableFunc(edges, func(a, b cfg.Interaction) int { return cmp.Compare(in.edgeSamples(v, b), in.edgeSamples(v, a)) })
		var names []string
		for _, x := range edges[:min(len(edges), 3)] {
			names = append(names, fmt.Sprintf("%s → %s (%.1f%%)", in.edgeEnd(v, x.Edge.From), in.edgeEnd(v, x.Edge.To), 100*in.edgeSamples(v, x)/max(1, in.Total)))
		}
		out = append(out, fmt.Sprintf("%s: %s of %d, with the samples of executions that they cost. %s",
			strings.ToUpper(kind.String()[:1])+kind.String()[1:], strings.Join(names, ", "), len(edges), remedies[kind]))
	}
	return append(out, "gpa rewrite --restructure does it to the machine code.")
}

// edges returns the interacting edges of a kind, each once.
func (v *visits) edges(kind cfg.InteractionKind) []cfg.Interaction {
	var list []cfg.Interaction
	for _, x := range v.structure.Interactions {
		if x.Kind == kind && !slices.ContainsFunc(list, func(o cfg.Interaction) bool { return o.Edge == x.Edge }) {
			list = append(list, x)
		}
	}
	return list
}

// edgeSamples is what the executions of an edge's target cost that thread frontiers do without.
func (in *Input) edgeSamples(v *visits, x cfg.Interaction) float64 {
	if x.Edge.To >= len(v.fn.Blocks) {
		return 0
	}
	c, sum := in.codes[v.code], 0.0
	b := c.graph.Blocks[v.fn.Blocks[x.Edge.To]]
	for i := b.First; i <= b.Last; i++ {
		sum += c.total[i]
	}
	return sum * v.again(x.Edge.To)
}

// edgeEnd names the source line of an end of an edge: the branch, or what it goes to.
func (in *Input) edgeEnd(v *visits, node int) string {
	if node >= len(v.fn.Blocks) {
		return "the end"
	}
	b := in.codes[v.code].graph.Blocks[v.fn.Blocks[node]]
	return in.place(blamer.Node{Code: v.code, Inst: b.Last})
}
