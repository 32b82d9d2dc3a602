package rewrite

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gpa/cubin/cfg"
)

func TestStructurizeFigures(t *testing.T) {
	tests := []struct {
		name   string
		succs  [][]int // the last node is the exit
		want   Counts
		blocks int // of the result, the exit left out
	}{
		{"Wu, figure 10", [][]int{{1, 2}, {2, 5}, {3, 4}, {4, 5}, {5}, {}}, Counts{ForwardCopies: 2, CopiedBlocks: 5}, 10},
		{"Wu, figure 10, with a block behind the join", [][]int{{1, 2}, {2, 5}, {3, 4}, {4, 5}, {5}, {6}, {}}, Counts{ForwardCopies: 2, CopiedBlocks: 5}, 11},
		{"Wu, figure 12", [][]int{{1, 2}, {1, 3}, {4}, {2, 4}, {}}, Counts{ForwardCopies: 1, CopiedBlocks: 1}, 5},
		{"structured", [][]int{{1, 2}, {3}, {3}, {}}, Counts{}, 3},
		{"Thread Frontiers, figure 3", [][]int{{1, 3}, {2, 3}, {4, 5}, {4, 5}, {6, 7}, {6, 7}, {7}, {}}, Counts{ForwardCopies: 4, CopiedBlocks: 10}, 17},
		{"loop with two more exits", [][]int{{1}, {2}, {3, 5}, {4, 6}, {1, 7}, {7}, {7}, {}}, Counts{Cuts: 1, CutEdges: 3}, 7},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := Structurize(&cfg.Shape{Exit: len(test.succs) - 1, Succs: test.succs})
			if err != nil {
				t.Fatal(err)
			}
			blocks := 0
			for _, n := range s.Reachable() {
				if s.Nodes[n].Kind == BlockNode && n != s.Exit {
					blocks++
				}
			}
			if s.Counts != test.want || blocks != test.blocks {
				t.Errorf("%+v, %d blocks; want %+v, %d", s.Counts, blocks, test.want, test.blocks)
			}
			if !s.Shape().Structure().Structured() {
				t.Error("not structured")
			}
		})
	}
}

func TestStructurizeEndlessLoop(t *testing.T) {
	if _, err := Structurize(&cfg.Shape{Exit: 2, Succs: [][]int{{1, 2}, {1}, {}}}); err == nil {
		t.Error("no error")
	}
}

// randomShape returns a graph all of whose nodes reach the exit.
func randomShape(r *rand.Rand, cyclic bool) *cfg.Shape {
	for {
		n := 3 + r.IntN(9)
		s := &cfg.Shape{Exit: n - 1, Succs: make([][]int, n)}
		for i := range n - 1 {
			for range 1 + r.IntN(2) {
				to := i + 1 + r.IntN(n-1-i)
				if cyclic && r.IntN(4) == 0 {
					to = r.IntN(n)
				}
				if !slices.Contains(s.Succs[i], to) {
					s.Succs[i] = append(s.Succs[i], to)
				}
			}
		}
		ipdom, ok := s.PostDominators(), true
		for node, reachable := range s.Reachable() {
			ok = ok && (!reachable || node == s.Exit || ipdom[node] >= 0)
		}
		if ok {
			return s
		}
	}
}

// trace walks from the entry and takes the successor that the choices say. It returns the blocks on the way.
func (s *Structured) trace(seed uint64, most int) (blocks []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	flags := make(map[int]int)
	for at := s.Entry; len(blocks) < most; {
		n := &s.Nodes[at]
		if n.Kind == BlockNode {
			blocks = append(blocks, n.Block)
		}
		if len(n.Succs) == 0 {
			return blocks
		}
		next := 0
		switch n.Kind {
		case BlockNode:
			next = r.IntN(len(n.Succs))
		case FlagNode:
			flags[n.Loop] = n.Value
		case LatchNode:
			next = min(flags[n.Loop], 1)
		case DispatchNode:
			if flags[n.Loop] != n.Value {
				next = 1
			}
		}
		at = n.Succs[next]
	}
	return blocks
}

func TestStructurizeRandom(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		shape := randomShape(r, seed%2 == 1)
		s, err := Structurize(shape)
		if err != nil {
			t.Errorf("seed %d: %v: %v", seed, shape.Succs, err)
			continue
		}
		if !s.Shape().Structure().Structured() {
			t.Errorf("seed %d: %v: not structured", seed, shape.Succs)
		}
		original := &Structured{Exit: shape.Exit}
		for i, succs := range shape.Succs {
			original.Nodes = append(original.Nodes, Node{Block: i, Succs: succs})
		}
		for walk := range uint64(16) {
			if a, b := original.trace(walk, 500), s.trace(walk, 500); !slices.Equal(a, b) {
				t.Fatalf("seed %d: %v: trace %v became %v", seed, shape.Succs, a, b)
			}
		}
	}
}
