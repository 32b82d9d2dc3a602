package cfg

import (
	"cmp"
	"slices"

	"gpa/cubin/sass"
)

// waits reports whether one of the instructions makes a warp wait at a CTA barrier.
func waits(insts []sass.Inst) bool {
	return slices.ContainsFunc(insts, func(in sass.Inst) bool {
		return in.Op == sass.BAR && !in.Guard.Never() && in.Mod(sass.BarMode) != sass.BarARV
	})
}

// Order returns all nodes by priority, the first to be executed first, for thread frontiers: a topological order in
// which a loop stands together, its header first, and what follows it behind (the recursive strategy of Bourdoncle,
// "Efficient chaotic iteration strategies with widenings", FMPA 1993). A plain reverse post-order may put the exit of a
// loop before its body; threads that leave the loop would then run ahead of those that stay.
//
// A node that waits at a CTA barrier stands behind all nodes from which there is a path to it without another barrier
// (Thread Frontiers, section 4.1): the threads of a warp come to the barrier together, or not at all.
//
// Nodes that the entry does not reach come last.
func (s *Shape) Order() []int {
	order := newOrderer(s).run()
	if s.Barrier != nil {
		s.lowerBarriers(order)
	}
	return order
}

// An orderer holds the state of the ordering. Strongly connected components are found by Tarjan's algorithm ("Depth-first
// search and linear graph algorithms", SIAM J. Comput. 1972), with a stack of its own: code can be deeper than the
// goroutine's.
type orderer struct {
	shape  *Shape
	region []int // by node: the region that it belongs to so far
	index  []int // by node: number in the depth-first search of its region, -1 before
	low    []int
	open   []int // nodes whose component is not known yet
	isOpen []bool
	next   int // index
	found  [][]int
	order  []int
	cycles []Cycle
}

// A Cycle is a set of nodes of which each reaches all others, in the nest that [Shape.Order] takes apart: inside a cycle,
// cycles are those that stay when its header is taken out. Unlike a natural loop it may have several entries.
type Cycle struct {
	Header int
	Nodes  []int // ascending
	Parent int   // index of the cycle around it, -1 for an outermost one
}

// Cycles returns the cycles that the entry reaches, outer before inner ones.
func (s *Shape) Cycles() []Cycle {
	o := newOrderer(s)
	o.run()
	reachable := s.Reachable()
	var list []Cycle
	places := make([]int, len(o.cycles))
	for i, c := range o.cycles {
		places[i] = len(list)
		if !reachable[c.Header] {
			continue
		}
		if c.Parent >= 0 {
			c.Parent = places[c.Parent]
		}
		list = append(list, c)
	}
	return list
}

// isCycle reports whether a component is more than a node that does not repeat itself.
func (o *orderer) isCycle(component []int) bool {
	return len(component) > 1 || slices.Contains(o.shape.Succs[component[0]], component[0])
}

func newOrderer(s *Shape) *orderer {
	n := s.Len()
	o := &orderer{shape: s, region: make([]int, n), index: make([]int, n), low: make([]int, n), isOpen: make([]bool, n)}
	for i := range o.index {
		o.index[i] = -1
	}
	return o
}

// A region is a set of nodes that remain to be ordered among themselves.
type region struct {
	id    int
	nodes []int // where to search from, all of the region among them
	depth int
	cycle int  // index of the cycle around it, -1 for none
	done  bool // nodes are in their order
}

func (o *orderer) run() []int {
	all := make([]int, 0, o.shape.Len()+1)
	all = append(all, o.shape.Entry)
	for i := range o.shape.Succs {
		all = append(all, i)
	}
	regions, last := []region{{nodes: all, cycle: -1}}, 0
	for len(regions) > 0 {
		r := regions[len(regions)-1]
		regions = regions[:len(regions)-1]
		if r.done {
			o.order = append(o.order, r.nodes...)
			continue
		}
		for _, c := range o.components(r) { // the last one in the topological order first
			if o.isCycle(c) {
				nodes := slices.Clone(c)
				slices.Sort(nodes)
				o.cycles = append(o.cycles, Cycle{Header: c[0], Nodes: nodes, Parent: r.cycle})
			}
			if len(c) > 1 && r.depth < maxLoopDepth {
				last++
				body := o.body(c, last, r.depth+1)
				body.cycle = len(o.cycles) - 1
				regions = append(regions, body)
				c = c[:1]
			}
			regions = append(regions, region{nodes: c, done: true})
		}
	}
	return o.order
}

// body makes a region of a loop without its header, the first node of the component.
func (o *orderer) body(component []int, id, depth int) region {
	header, rest := component[0], slices.Clone(component[1:])
	slices.Sort(rest)
	for _, n := range rest {
		o.region[n], o.index[n] = id, -1
	}
	var first []int
	for _, to := range o.shape.Succs[header] {
		if o.region[to] == id {
			first = append(first, to)
		}
	}
	return region{id: id, nodes: append(first, rest...), depth: depth}
}

// components returns the strongly connected components of a region in reverse topological order, each with the node
// through which the search came to it first.
func (o *orderer) components(r region) [][]int {
	o.found, o.next = nil, 0
	for _, n := range r.nodes {
		if o.index[n] < 0 {
			o.search(n, r.id)
		}
	}
	return o.found
}

// search goes through what a node reaches in its region. It looks at taken branches before the fall-through, which so
// comes first in the order.
func (o *orderer) search(root, id int) {
	type step struct{ node, left int }
	o.enter(root)
	stack := []step{{root, len(o.shape.Succs[root])}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.left == 0 {
			n := top.node
			stack = stack[:len(stack)-1]
			o.leave(n)
			if len(stack) > 0 {
				p := stack[len(stack)-1].node
				o.low[p] = min(o.low[p], o.low[n])
			}
			continue
		}
		top.left--
		to := o.shape.Succs[top.node][top.left]
		switch {
		case o.region[to] != id:
		case o.index[to] < 0:
			o.enter(to)
			stack = append(stack, step{to, len(o.shape.Succs[to])})
		case o.isOpen[to]:
			o.low[top.node] = min(o.low[top.node], o.index[to])
		}
	}
}

func (o *orderer) enter(n int) {
	o.index[n], o.low[n] = o.next, o.next
	o.next++
	o.open, o.isOpen[n] = append(o.open, n), true
}

// leave closes the component of a node that nothing leads out of.
func (o *orderer) leave(n int) {
	if o.low[n] != o.index[n] {
		return
	}
	at := len(o.open) - 1
	for o.open[at] != n {
		at--
	}
	component := slices.Clone(o.open[at:])
	o.open = o.open[:at]
	for _, m := range component {
		o.isOpen[m] = false
	}
	o.found = append(o.found, component)
}

// lowerBarriers moves each node with a barrier behind the last of those from which a path without a barrier leads to it.
// Each node is looked at once: for the last of the nodes that reach it.
func (s *Shape) lowerBarriers(order []int) {
	behind := make([]int, s.Len()) // by node: position in the order
	seen := make([]bool, s.Len())
	for at, n := range order {
		behind[n] = at
	}
	for at := len(order) - 1; at >= 0; at-- {
		if start := order[at]; !s.Barrier[start] && !seen[start] {
			s.pushBarriers(start, at, behind, seen)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(behind[a], behind[b]), compareBool(s.Barrier[a], s.Barrier[b]))
	})
}

// pushBarriers puts the barriers that a node reaches behind position at.
func (s *Shape) pushBarriers(start, at int, behind []int, seen []bool) {
	seen[start] = true
	for work := []int{start}; len(work) > 0; {
		node := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range s.Succs[node] {
			if seen[to] {
				continue
			}
			seen[to] = true
			if s.Barrier[to] {
				behind[to] = max(behind[to], at)
			} else {
				work = append(work, to)
			}
		}
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
