package advisor

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/rewrite"
	"gpa/cubin/sass"
)

// tfReconvergence matches unstructured code whose blocks warps execute more often than thread frontiers need, because threads pass
// joins without waiting for each other: compilers place barriers for the structured part of control flow.
type tfReconvergence struct{}

func (tfReconvergence) Name() string { return "tf-reconvergence" }
func (tfReconvergence) Class() Class { return StallElimination }

func (tfReconvergence) Match(in *Input) []*Match {
	var matches []*Match
	in.eachUnstructured(func(v *visits) {
		open := in.openJoins(v)
		if len(open) == 0 {
			return
		}
		placed, err := rewrite.Place(in.Module, in.codes[v.code].graph, v.fn)
		if err != nil || placed == nil {
			return // barriers cannot be placed
		}
		needed := v.require(func(node int) bool { return in.waits(v, node, placed) })
		c := newCollector(in)
		for node := range v.fn.Blocks {
			in.addWaiting(c, v, node, v.fewer(node, needed))
		}
		cost := in.placedInstructions(v, placed) * in.instructionSamples(v)
		for _, m := range c.finish() {
			if m.Samples -= cost; m.Samples <= 0 {
				continue
			}
			m.Latency = min(m.Latency, m.Samples)
			m.Suggestions = []string{
				fmt.Sprintf("Warps come to %s, of threads that could go there together. No convergence barrier waits at %s, where several paths meet.",
					in.repeated(v, 3), in.nodePlaces(v, open, 3)),
				"Let the threads wait there: gpa rewrite --reconverge tf places barriers at the joins of thread frontiers. In the source, put what the paths share " +
					"behind one join: hoist the conditions into a flag that is tested once, or unify the exits of a loop into one.",
			}
			m.Change = &Change{Reconverged: true}
			m.Spares = IssueSlots | SharedMemory
			matches = append(matches, m)
		}
	})
	return matches
}

// eachUnstructured calls f for each unstructured function with source counters.
func (in *Input) eachUnstructured(f func(*visits)) {
	for code, c := range in.codes {
		if c == nil || c.counters == nil {
			continue
		}
		for _, fn := range c.graph.Funcs {
			if c.counters[c.graph.Blocks[fn.Entry].First].executions == 0 {
				continue
			}
			if v := in.newVisits(code, fn); v != nil {
				f(v)
			}
		}
	}
}

// openJoins returns the joins of thread frontiers that warps come to more often than they need to and at which no barrier
// waits, the most frequented first.
func (in *Input) openJoins(v *visits) []int {
	g := in.codes[v.code].graph
	joins := slices.DeleteFunc(v.frontiers.Joins(), func(node int) bool {
		return node >= len(v.fn.Blocks) || v.again(node) <= 0 || waitsAtStart(g, g.Blocks[v.fn.Blocks[node]])
	})
	slices.SortStableFunc(joins, func(a, b int) int {
		return cmp.Compare(v.have[b]-v.need[b], v.have[a]-v.need[a])
	})
	return joins
}

// waitsAtStart reports whether threads wait for each other where a block begins: there, or where they come from.
func waitsAtStart(g *cfg.Graph, b *cfg.Block) bool {
	for _, in := range g.Insts(b) {
		p := in.Op.Properties()
		if p.Flow == sass.FlowConverge || p.Sync == sass.SyncWarp {
			return true
		}
		if in.Op != sass.NOP && p.Sync != sass.SyncConvergence {
			break
		}
	}
	return len(b.Preds) > 0 && !slices.ContainsFunc(b.Preds, func(p int) bool {
		insts := g.Insts(g.Blocks[p])
		return insts[len(insts)-1].Op != sass.BSYNC
	})
}

// waits reports whether threads wait for each other at a node where barriers have been placed, or behind it where they do now.
func (in *Input) waits(v *visits, node int, placed *rewrite.Placement) bool {
	return node < len(v.fn.Blocks) && slices.Contains(placed.Joins, v.fn.Blocks[node])
}

// addWaiting enters the share of the samples of a node that goes, but for its barriers: every group of threads executes them.
func (in *Input) addWaiting(c *collector, v *visits, node int, share float64) {
	code := in.codes[v.code].graph
	b := code.Blocks[v.fn.Blocks[node]]
	for i := b.First; i <= b.Last; i++ {
		if !joins(code.Code.Insts[i].Op) {
			in.addSamples(c, blamer.Node{Code: v.code, Inst: i}, share)
		}
	}
}

// joins reports whether an instruction makes lanes of a warp wait for each other, or says which do.
func joins(op sass.Op) bool {
	return op.Properties().Sync == sass.SyncConvergence && op != sass.BMOV && op != sass.YIELD
}

// placedInstructions is how many instructions more warps execute because of the barriers that are placed.
func (in *Input) placedInstructions(v *visits, placed *rewrite.Placement) float64 {
	nodes := make(map[int]int, len(v.fn.Blocks)) // by block
	for node, id := range v.fn.Blocks {
		nodes[id] = node
	}
	sum := 0.0
	for e, n := range placed.Extra {
		from, to := nodes[e.From], nodes[e.To]
		times := v.have[from]
		if from != to {
			times *= v.along(from, to) / max(1, v.threads[from])
		}
		sum += float64(n) * times
	}
	return sum
}

// repeated names the blocks with most executions too many, and how many times as often as needed each is executed.
func (in *Input) repeated(v *visits, n int) string {
	nodes := make([]int, len(v.fn.Blocks))
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(v.have[b]-v.need[b], v.have[a]-v.need[a]) })
	node := nodes[0]
	return fmt.Sprintf("%s, %.1f times as often as thread frontiers would", in.nodePlaces(v, nodes[:min(n, len(nodes))], n), v.have[node]/v.need[node])
}

// nodePlaces names the source lines at which nodes begin, each once, at most n of them.
func (in *Input) nodePlaces(v *visits, nodes []int, n int) string {
	var at []blamer.Node
	for _, node := range nodes {
		at = append(at, blamer.Node{Code: v.code, Inst: in.codes[v.code].graph.Blocks[v.fn.Blocks[node]].First})
	}
	return in.places(at, n)
}
