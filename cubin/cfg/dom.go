package cfg

// A tree is a dominator tree over blocks, or a forest of them. A block lies below another one if its interval of
// numbers lies inside the other's.
type tree struct {
	first, last []int // by block id; first is 0 for a block outside the tree
}

// has reports whether a block is in the tree.
func (t *tree) has(block int) bool { return t.first[block] > 0 }

// above reports whether block a is block b or one of its ancestors.
func (t *tree) above(a, b int) bool {
	return t.has(a) && t.has(b) && t.first[a] <= t.first[b] && t.last[b] <= t.last[a]
}

// dominate finds the dominators and post-dominators of each function. Edges to other functions leave the function.
func (g *Graph) dominate() {
	n := len(g.Blocks)
	g.dom = tree{make([]int, n), make([]int, n)}
	g.pdom = tree{make([]int, n), make([]int, n)}
	for _, f := range g.Funcs {
		forward, backward := g.flowGraphs(f)
		g.setDominators(f, forward)
		g.setPostDominators(f, backward)
	}
}

// A flowGraph is a graph over the nodes 0 to n-1 with the entry 0, as the dominator algorithm takes it.
type flowGraph struct {
	succs, preds [][]int
}

func newFlowGraph(n int) flowGraph { return flowGraph{make([][]int, n), make([][]int, n)} }

func (g *flowGraph) edge(from, to int) {
	g.succs[from] = append(g.succs[from], to)
	g.preds[to] = append(g.preds[to], from)
}

// flowGraphs returns the graph of a function with the nodes in address order, and the reverse graph in which node 0 is
// the exit and node i+1 is the i-th block. The entry is the first block of a function.
func (g *Graph) flowGraphs(f *Func) (forward, backward flowGraph) {
	forward, backward = newFlowGraph(len(f.Blocks)), newFlowGraph(len(f.Blocks)+1)
	base := f.Entry
	for i, id := range f.Blocks {
		b := g.Blocks[id]
		exits := b.Exits
		for _, s := range b.Succs {
			if g.Blocks[s].Func != b.Func {
				exits = true
				continue
			}
			forward.edge(i, s-base)
			backward.edge(s-base+1, i+1)
		}
		if exits {
			backward.edge(0, i+1)
		}
	}
	return forward, backward
}

func (g *Graph) setDominators(f *Func, forward flowGraph) {
	idom := immediateDominators(forward)
	for i, id := range f.Blocks {
		if idom[i] >= 0 {
			g.Blocks[id].Idom = f.Blocks[idom[i]]
		}
	}
	number(idom, func(node, first, last int) {
		id := f.Blocks[node]
		g.dom.first[id], g.dom.last[id] = first, last
	})
}

func (g *Graph) setPostDominators(f *Func, backward flowGraph) {
	idom := immediateDominators(backward)
	for i, id := range f.Blocks {
		if d := idom[i+1]; d > 0 {
			g.Blocks[id].Ipdom = f.Blocks[d-1]
		}
	}
	number(idom, func(node, first, last int) {
		if node > 0 {
			id := f.Blocks[node-1]
			g.pdom.first[id], g.pdom.last[id] = first, last
		}
	})
}

// immediateDominators returns the immediate dominator of each node, -1 for the entry and for nodes that it does not
// reach, by the simple version of the algorithm of Lengauer and Tarjan ("A Fast Algorithm for Finding Dominators in a
// Flowgraph", TOPLAS 1979). Its time is O(m log n) on every graph; the shorter one of Cooper, Harvey and Kennedy takes
// the square on code with many early exits.
func immediateDominators(g flowGraph) []int {
	d := newDomFinder(g)
	idom := make([]int, len(g.succs))
	for i := range idom {
		idom[i] = -1
	}
	buckets := make([][]int, len(g.succs)) // semidominator → nodes
	for i := len(d.order) - 1; i > 0; i-- {
		w := d.order[i]
		for _, v := range g.preds[w] {
			if d.number[v] >= 0 {
				d.semi[w] = min(d.semi[w], d.semi[d.eval(v)])
			}
		}
		s, p := d.order[d.semi[w]], d.parent[w]
		buckets[s] = append(buckets[s], w)
		d.ancestor[w] = p
		for _, v := range buckets[p] {
			idom[v] = p
			if u := d.eval(v); d.semi[u] < d.semi[v] {
				idom[v] = u
			}
		}
		buckets[p] = nil
	}
	for _, w := range d.order[1:] {
		if idom[w] != d.order[d.semi[w]] {
			idom[w] = idom[idom[w]]
		}
	}
	return idom
}

// A domFinder holds the state of the dominator algorithm, by node, with the paper's names.
type domFinder struct {
	order    []int // nodes in depth-first order
	number   []int // place in order, -1 for unreached nodes
	parent   []int // in the depth-first tree
	semi     []int // number of the semidominator
	ancestor []int // in the forest of the linked nodes, -1 for roots
	label    []int // node of least semidominator on the way to the ancestor
	path     []int // scratch of eval
}

func newDomFinder(g flowGraph) *domFinder {
	n := len(g.succs)
	d := &domFinder{
		number: make([]int, n), parent: make([]int, n), semi: make([]int, n), ancestor: make([]int, n), label: make([]int, n),
	}
	for i := range n {
		d.number[i], d.ancestor[i], d.label[i] = -1, -1, i
	}
	d.search(g)
	return d
}

// search numbers the nodes depth first. It keeps its own stack: a function can be deeper than the goroutine's.
func (d *domFinder) search(g flowGraph) {
	type step struct{ node, next int }
	d.visit(0, 0)
	stack := []step{{0, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(g.succs[top.node]) {
			stack = stack[:len(stack)-1]
			continue
		}
		s := g.succs[top.node][top.next]
		top.next++
		if d.number[s] < 0 {
			d.visit(s, top.node)
			stack = append(stack, step{s, 0})
		}
	}
}

func (d *domFinder) visit(node, parent int) {
	d.number[node], d.semi[node] = len(d.order), len(d.order)
	d.parent[node] = parent
	d.order = append(d.order, node)
}

// eval returns the node of least semidominator on the way from v to the root of its tree, the root left out, and
// compresses the way.
func (d *domFinder) eval(v int) int {
	if d.ancestor[v] < 0 {
		return v
	}
	d.path = d.path[:0]
	for u := v; d.ancestor[d.ancestor[u]] >= 0; u = d.ancestor[u] {
		d.path = append(d.path, u)
	}
	for i := len(d.path) - 1; i >= 0; i-- {
		u := d.path[i]
		a := d.ancestor[u]
		if d.semi[d.label[a]] < d.semi[d.label[u]] {
			d.label[u] = d.label[a]
		}
		d.ancestor[u] = d.ancestor[a]
	}
	return d.label[v]
}

// number calls set for each node of the tree that idom describes with the interval of numbers, from 1 on, of the node
// and what lies below it. Node 0 is the root.
func number(idom []int, set func(node, first, last int)) {
	children := make([][]int, len(idom))
	for node, d := range idom {
		if d >= 0 {
			children[d] = append(children[d], node)
		}
	}
	type step struct{ node, first int }
	next := 1
	stack := []step{{0, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.first == 0 {
			top.first = next
			next++
		}
		if rest := children[top.node]; len(rest) > 0 {
			children[top.node] = rest[1:]
			stack = append(stack, step{rest[0], 0})
			continue
		}
		set(top.node, top.first, next-1)
		stack = stack[:len(stack)-1]
	}
}
