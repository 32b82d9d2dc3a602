package cfg

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func graphOf(edges [][]int) flowGraph {
	g := newFlowGraph(len(edges))
	for from, list := range edges {
		for _, to := range list {
			g.edge(from, to)
		}
	}
	return g
}

func TestImmediateDominators(t *testing.T) {
	for _, test := range []struct {
		name  string
		edges [][]int
		want  []int
	}{
		{"one node", [][]int{{}}, []int{-1}},
		{"diamond", [][]int{{1, 2}, {3}, {3}, {}}, []int{-1, 0, 0, 0}},
		{"loop", [][]int{{1}, {2, 3}, {1}, {}}, []int{-1, 0, 1, 1}},
		{"self loop", [][]int{{0, 1}, {1}}, []int{-1, 0}},
		{"unreachable", [][]int{{1}, {}, {1}}, []int{-1, 0, -1}},
		{"irreducible", [][]int{{1, 2}, {2}, {1, 3}, {}}, []int{-1, 0, 0, 2}},
		// Figure 1 of Lengauer and Tarjan's paper, R A B C D E F G H I J K L = 0 … 12, and its dominator tree.
		{
			"Lengauer and Tarjan",
			[][]int{{1, 2, 3}, {4}, {1, 4, 5}, {6, 7}, {12}, {8}, {9}, {9, 10}, {5, 11}, {11}, {9}, {9, 0}, {8}},
			[]int{-1, 0, 0, 0, 0, 0, 3, 3, 0, 0, 7, 0, 4},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := immediateDominators(graphOf(test.edges)); !slices.Equal(got, test.want) {
				t.Errorf("dominators %v, want %v", got, test.want)
			}
		})
	}
}

// reach returns the nodes that come from start without passing removed.
func reach(succs [][]int, start, removed int) []bool {
	seen := make([]bool, len(succs))
	if start == removed {
		return seen
	}
	seen[start] = true
	for work := []int{start}; len(work) > 0; {
		node := work[len(work)-1]
		work = work[:len(work)-1]
		for _, s := range succs[node] {
			if s != removed && !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	return seen
}

// TestDominatorsByRemoval checks on random graphs, irreducible ones included, that a node dominates another one if
// without it the other one cannot be reached.
func TestDominatorsByRemoval(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "nodes")
		edges := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 3), n, n).Draw(t, "edges")
		g := graphOf(edges)
		idom := immediateDominators(g)
		tree := tree{make([]int, n), make([]int, n)}
		number(idom, func(node, first, last int) { tree.first[node], tree.last[node] = first, last })
		all := reach(g.succs, 0, -1)
		for a := range n {
			without := reach(g.succs, 0, a)
			for b := range n {
				want := all[a] && all[b] && !without[b]
				if got := tree.above(a, b); got != want {
					t.Fatalf("%d dominates %d: %t, want %t; idom %v", a, b, got, want, idom)
				}
			}
		}
	})
}

// TestDominatorsOfLongGraphs runs shapes on which recursion would be deep and simpler algorithms take the square of the
// number of nodes.
func TestDominatorsOfLongGraphs(t *testing.T) {
	const n = 200_000
	for _, test := range []struct {
		name  string
		edges func(i int) []int
		want  func(i int) int
	}{
		{"chain", func(i int) []int { return []int{i + 1} }, func(i int) int { return i - 1 }},
		{"early exits", func(i int) []int { return []int{i + 1, n - 1} }, func(i int) int {
			if i == n-1 {
				return 0
			}
			return i - 1
		}},
		{"back edges", func(i int) []int { return []int{i + 1, i / 2} }, func(i int) int { return i - 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			edges := make([][]int, n)
			for i := range n - 1 {
				edges[i] = test.edges(i)
			}
			idom := immediateDominators(graphOf(edges))
			for i, got := range idom {
				if want := test.want(i); got != want {
					t.Fatalf("immediate dominator of %d is %d, want %d", i, got, want)
				}
			}
		})
	}
}

func BenchmarkImmediateDominators(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			edges := make([][]int, n)
			for i := range n - 1 {
				edges[i] = []int{i + 1, (i * 7) % n}
			}
			g := graphOf(edges)
			for b.Loop() {
				immediateDominators(g)
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
}
