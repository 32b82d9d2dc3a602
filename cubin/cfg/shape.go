package cfg

// A Shape is a control-flow graph without its code: what the analyses of re-convergence need of a function, of a whole
// program, or of a figure in a paper. Nodes are the numbers from 0 on.
type Shape struct {
	Entry int
	Exit  int     // node that stands for the end of all paths, -1 where there is none
	Succs [][]int // fall-through first
	// Barrier says which nodes wait at a CTA barrier; nil for none.
	Barrier []bool
}

// An Edge leads from one node of a shape to another one.
type Edge struct{ From, To int }

// Shape returns the shape of a function: node i is its i-th block, the last node the exit, to which every block leads
// that may leave the function. A call is an instruction like any other. For calls see [NewSupergraph].
func (g *Graph) Shape(f *Func) *Shape {
	n := len(f.Blocks)
	s := &Shape{Exit: n, Succs: make([][]int, n+1), Barrier: make([]bool, n+1)}
	for i, id := range f.Blocks {
		b := g.Blocks[id]
		exits := b.Exits
		for _, to := range b.Succs {
			if g.Blocks[to].Func == b.Func {
				s.Succs[i] = append(s.Succs[i], to-f.Entry)
			} else {
				exits = true
			}
		}
		if exits {
			s.Succs[i] = append(s.Succs[i], n)
		}
		s.Barrier[i] = waits(g.Code.Insts[b.First : b.Last+1])
	}
	return s
}

// Len returns the number of nodes.
func (s *Shape) Len() int { return len(s.Succs) }

// Reachable returns for each node whether there is a path to it from the entry.
func (s *Shape) Reachable() []bool {
	seen := make([]bool, s.Len())
	seen[s.Entry] = true
	for work := []int{s.Entry}; len(work) > 0; {
		node := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range s.Succs[node] {
			if !seen[to] {
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return seen
}

// Dominators returns the immediate dominator of each node, -1 for the entry and for unreachable nodes.
func (s *Shape) Dominators() []int { return s.dominators(s.Entry, false) }

// PostDominators returns the immediate post-dominator of each node, -1 for the exit and for nodes from which there is no
// path to it. All are -1 where the shape has no exit.
func (s *Shape) PostDominators() []int {
	if s.Exit < 0 {
		none := make([]int, s.Len())
		for i := range none {
			none[i] = -1
		}
		return none
	}
	return s.dominators(s.Exit, true)
}

// dominators returns the immediate dominators as seen from a root, along the edges or against them. The root changes
// places with node 0, where the algorithm wants it.
func (s *Shape) dominators(root int, reverse bool) []int {
	swap := func(node int) int {
		switch node {
		case root:
			return 0
		case 0:
			return root
		}
		return node
	}
	g := newFlowGraph(s.Len())
	for from, list := range s.Succs {
		for _, to := range list {
			if reverse {
				g.edge(swap(to), swap(from))
			} else {
				g.edge(swap(from), swap(to))
			}
		}
	}
	idom := make([]int, s.Len())
	for node, d := range immediateDominators(g) {
		if d >= 0 {
			d = swap(d)
		}
		idom[swap(node)] = d
	}
	return idom
}

// Divergent reports whether threads that are together at a node may part behind it: it has more than one successor.
func (s *Shape) Divergent(node int) bool {
	list := s.Succs[node]
	for _, to := range list {
		if to != list[0] {
			return true
		}
	}
	return false
}

// PDOMJoins returns the nodes at which threads come together again if each divergent node re-converges at its immediate
// post-dominator, in the order of their numbers; the exit is not among them.
func (s *Shape) PDOMJoins() []int {
	joins := make([]bool, s.Len())
	reachable := s.Reachable()
	for node, p := range s.PostDominators() {
		if p >= 0 && p != s.Exit && reachable[node] && s.Divergent(node) {
			joins[p] = true
		}
	}
	return numbers(joins)
}

// numbers lists the indices of the true values.
func numbers(set []bool) []int {
	var list []int
	for i, in := range set {
		if in {
			list = append(list, i)
		}
	}
	return list
}
