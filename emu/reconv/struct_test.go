package reconv

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin/cfg"
	"gpa/cubin/rewrite"
)

// A restructured graph is one that Wu's transformation made structured.
type restructured struct {
	graph
	original graph
	nodes    []rewrite.Node // by block; their successors are not numbered as the graph's
}

func restructure(t testing.TB, g graph) *restructured {
	t.Helper()
	s, err := rewrite.Structurize(&cfg.Shape{Exit: len(g.succs) - 1, Succs: g.succs})
	if err != nil {
		t.Fatal(err)
	}
	order := slices.DeleteFunc(s.Reachable(), func(n int) bool { return n == s.Entry || n == s.Exit })
	order = slices.Concat([]int{s.Entry}, order, []int{s.Exit})
	number := make(map[int]int)
	for i, n := range order {
		number[n] = i
	}
	r := &restructured{original: g}
	for _, n := range order {
		var succs []int
		for _, to := range s.Nodes[n].Succs {
			succs = append(succs, number[to])
		}
		r.succs = append(r.succs, slices.Compact(slices.Clone(succs)))
		node := s.Nodes[n]
		node.Succs = succs
		r.nodes = append(r.nodes, node)
	}
	return r
}

// play runs lanes under PDOM. They choose as they would in the original; flags decide the rest. The execution is
// one of the original's blocks, what was added is left out.
func (r *restructured) play(t testing.TB, lanes int, choose chooser) *execution {
	t.Helper()
	flags := make([]map[int]int, lanes)
	visits := make([]map[int]int, lanes)
	for i := range flags {
		flags[i], visits[i] = make(map[int]int), make(map[int]int)
	}
	e := r.graph.play(r.plan(t, PDOM{}), lanes, func(lane, at, _ int) int {
		n := &r.nodes[at]
		switch n.Kind {
		case rewrite.FlagNode:
			flags[lane][n.Loop] = n.Value
			return n.Succs[0]
		case rewrite.LatchNode:
			if flags[lane][n.Loop] == 0 {
				return n.Succs[0]
			}
			return n.Succs[1]
		case rewrite.DispatchNode:
			if flags[lane][n.Loop] == n.Value {
				return n.Succs[0]
			}
			return n.Succs[1]
		}
		to := choose(lane, n.Block, visits[lane][n.Block])
		visits[lane][n.Block]++
		return n.Succs[slices.Index(r.original.succs[n.Block], to)]
	})
	return r.fold(e)
}

// fold tells an execution in terms of the original's blocks.
func (r *restructured) fold(e *execution) *execution {
	f := &execution{stats: e.stats, stuck: e.stuck}
	for _, g := range e.log {
		if n := &r.nodes[g.PC]; n.Kind == rewrite.BlockNode {
			f.log = append(f.log, Group{int32(n.Block), g.Lanes})
		}
	}
	for _, trace := range e.traces {
		var blocks []int
		for _, at := range trace {
			if n := &r.nodes[at]; n.Kind == rewrite.BlockNode {
				blocks = append(blocks, n.Block)
			}
		}
		f.traces = append(f.traces, blocks)
	}
	return f
}

// forRestructured plays n random graphs under PDOM as they are and made structured. Lanes go the same ways.
func forRestructured(t *testing.T, n int, cyclic bool, check func(t *testing.T, pdom, structured int)) {
	t.Helper()
	forGraphs(n, cyclic, func(seed uint64, g graph, lanes int) {
		pdom := g.play(g.plan(t, PDOM{}), lanes, g.random(seed))
		structured := restructure(t, g).play(t, lanes, g.random(seed))
		if diff := cmp.Diff(pdom.traces, structured.traces); diff != "" {
			t.Errorf("seed %d: %v: the transformation sends lanes elsewhere: %s", seed, g.succs, diff)
		}
		if check(t, len(pdom.log), len(structured.log)); t.Failed() {
			t.Fatalf("seed %d, %d lanes: %v", seed, lanes, g.succs)
		}
	})
}

// Without cycles the transformed code is never better than PDOM on the original, as Wu et al. prove.
func TestStructWithoutCycles(t *testing.T) {
	worse := 0
	forRestructured(t, 1500, false, func(t *testing.T, pdom, structured int) {
		if structured < pdom {
			t.Errorf("%d blocks, PDOM %d", structured, pdom)
		}
		if structured > pdom {
			worse++
		}
	})
	t.Logf("worse than PDOM in %d runs of 1500", worse)
}

// With cycles it may be better: lanes that leave a loop early meet the others at its latch.
func TestStructWithCycles(t *testing.T) {
	better, worse := 0, 0
	forRestructured(t, 1500, true, func(_ *testing.T, pdom, structured int) {
		switch {
		case structured < pdom:
			better++
		case structured > pdom:
			worse++
		}
	})
	t.Logf("better than PDOM in %d runs of 1500, worse in %d", better, worse)
	if better == 0 {
		t.Error("never better than PDOM: the trials show nothing")
	}
}

// The smallest case found: a lane leaves a loop while the other goes round once more. PDOM sends each through block 3 alone,
// the latch of the Cut holds the first one until both go there.
func TestStructBetterThanPDOM(t *testing.T) {
	g := graph{succs: [][]int{{4, 2}, {2, 4}, {3, 1}, {4}, {}}}
	paths := [][]int{{0, 2, 3, 4}, {0, 2, 1, 2, 3, 4}}
	pdom := g.play(g.plan(t, PDOM{}), len(paths), onPaths(paths...))
	structured := restructure(t, g).play(t, len(paths), onPaths(paths...))
	if len(pdom.log) != 7 || len(structured.log) != 6 {
		t.Errorf("PDOM %d blocks, restructured %d, want 7 and 6", len(pdom.log), len(structured.log))
	}
}
