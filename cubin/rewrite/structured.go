package rewrite

import (
	"fmt"
	"slices"

	"gpa/cubin/cfg"
)

// A NodeKind says what a node of a structured graph does.
type NodeKind uint8

// The kinds of nodes.
const (
	BlockNode    NodeKind = iota // a block of the original graph, or a copy of one
	FlagNode                     // sets the flag of a loop to Value
	LatchNode                    // ends a loop: to the header where the flag is 0, else out of the loop
	DispatchNode                 // behind a loop: to the first successor where the flag is Value, else to the second
)

// A Node is a node of a structured graph.
type Node struct {
	Kind  NodeKind
	Block int   // of a BlockNode: the node of the original shape
	Loop  int   // of the others: the number of the loop's flag
	Value int   // of FlagNode and DispatchNode
	Succs []int // of a BlockNode in the order of the original's
}

// Counts say how much it took to make a graph structured.
type Counts struct {
	ForwardCopies  int // copies of a hammock or block for one of its predecessors
	BackwardCopies int // copies of a cycle with several entries
	Cuts           int // loops with a flag
	CutEdges       int // edges led to a latch
	CopiedBlocks   int // blocks that the copies have
}

// Structured is a structured graph with the same paths as the original. The nodes that the entry reaches count; the exit
// has no copy.
type Structured struct {
	Nodes []Node
	Entry int
	Exit  int
	Counts
	loops int   // flags given out
	cuts  []int // blocks of loops that have been cut
	limit int   // nodes at most
	// refuse says why a loop with these blocks may not be cut, of which those in exits lead out; nil where any may.
	refuse func(blocks, exits []int) error
}

// growth bounds the nodes of the result: forward copies can take exponential room.
const growth = 100

// Structurize makes a graph structured as Wu et al. do, "Characterization and Transformation of Unstructured Control Flow
// in Bulk Synchronous GPU Applications" (IJHPCA 2012), section 4: a Backward Copy of each cycle with several entries, a
// Cut of each loop with several exits, then Forward Copies, innermost first, of what still has several ways in. Every
// path has the blocks of the original in the same order.
//
// The shape must have an exit that every node reaches. The error says that it has not, or that the result would have more
// than a hundred times as many nodes.
func Structurize(shape *cfg.Shape) (*Structured, error) { return structurize(shape, nil) }

// structurize makes a graph structured without a Cut of the loops that refuse has something against.
func structurize(shape *cfg.Shape, refuse func(blocks, exits []int) error) (*Structured, error) {
	if shape.Exit < 0 {
		return nil, fmt.Errorf("no exit")
	}
	ipdom, reachable := shape.PostDominators(), shape.Reachable()
	for node, reached := range reachable {
		if reached && node != shape.Exit && ipdom[node] < 0 {
			return nil, fmt.Errorf("block %d is in an endless loop", node)
		}
	}
	s := &Structured{Entry: shape.Entry, Exit: shape.Exit, limit: 64 + growth*shape.Len(), refuse: refuse}
	for i, succs := range shape.Succs {
		s.Nodes = append(s.Nodes, Node{Block: i, Succs: slices.Clone(succs)})
	}
	if s.Nodes[s.Entry].Succs == nil && s.Entry == s.Exit {
		return s, nil
	}
	if err := s.loopsOf(s.Reachable()); err != nil {
		return nil, err
	}
	return s, s.copyForward()
}

// Shape returns the result without what its nodes do.
func (s *Structured) Shape() *cfg.Shape {
	shape := &cfg.Shape{Entry: s.Entry, Exit: s.Exit}
	for i := range s.Nodes {
		shape.Succs = append(shape.Succs, s.Nodes[i].Succs)
	}
	return shape
}

// Reachable returns the nodes that the entry reaches, by number.
func (s *Structured) Reachable() []int {
	var list []int
	for node, in := range s.Shape().Reachable() {
		if in {
			list = append(list, node)
		}
	}
	return list
}

// Copies returns how often each block of the original graph is in the result.
func (s *Structured) Copies() []int {
	var list []int
	for _, node := range s.Reachable() {
		n := &s.Nodes[node]
		if n.Kind != BlockNode {
			continue
		}
		for len(list) <= n.Block {
			list = append(list, 0)
		}
		list[n.Block]++
	}
	return list
}

// CutBlocks returns the blocks of the original graph that are in loops with a Cut.
func (s *Structured) CutBlocks() []int { return unique(s.cuts) }

// add makes a node.
func (s *Structured) add(n Node) (int, error) {
	if len(s.Nodes) >= s.limit {
		return 0, fmt.Errorf("more than %d nodes", s.limit)
	}
	s.Nodes = append(s.Nodes, n)
	return len(s.Nodes) - 1, nil
}

// retarget leads the edges from one node to another elsewhere.
func (s *Structured) retarget(from, to, now int) {
	for i, t := range s.Nodes[from].Succs {
		if t == to {
			s.Nodes[from].Succs[i] = now
		}
	}
}

// clone copies nodes with the edges between them, and returns the copies by original.
func (s *Structured) clone(nodes []int) (map[int]int, error) {
	copies := make(map[int]int, len(nodes))
	for _, n := range nodes {
		c, err := s.add(s.Nodes[n])
		if err != nil {
			return nil, err
		}
		copies[n] = c
		if s.Nodes[n].Kind == BlockNode {
			s.CopiedBlocks++
		}
	}
	for _, n := range nodes {
		succs := slices.Clone(s.Nodes[n].Succs)
		for i, to := range succs {
			if c, ok := copies[to]; ok {
				succs[i] = c
			}
		}
		s.Nodes[copies[n]].Succs = succs
	}
	return copies, nil
}

// loopsOf gives every loop among the nodes one entry and one exit, outer loops first.
func (s *Structured) loopsOf(nodes []int) error {
	for {
		changed, err := s.fixLoop(nodes)
		if err != nil || !changed {
			return err
		}
		nodes = s.Reachable()
	}
}

// fixLoop transforms the first loop among the nodes that needs it, and reports whether there was one.
func (s *Structured) fixLoop(nodes []int) (bool, error) {
	for _, cycle := range s.cycles(nodes) {
		l := s.loop(cycle)
		if len(l.entries) > 1 {
			return true, s.backwardCopy(l)
		}
		if !l.natural() {
			if err := s.refused(l); err != nil {
				return true, err
			}
			return true, s.cut(l)
		}
		body := slices.DeleteFunc(slices.Clone(cycle), func(n int) bool { return n == l.header })
		if changed, err := s.fixLoop(body); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}

// cycles returns the strongly connected components of the graph of the given nodes that have an edge.
func (s *Structured) cycles(nodes []int) [][]int {
	number := make(map[int]int, len(nodes))
	sub := &cfg.Shape{Exit: -1, Succs: make([][]int, len(nodes))}
	for i, n := range nodes {
		number[n] = i
	}
	for i, n := range nodes {
		for _, to := range s.Nodes[n].Succs {
			if k, ok := number[to]; ok {
				sub.Succs[i] = append(sub.Succs[i], k)
			}
		}
	}
	var cycles [][]int
	for _, c := range components(sub.Succs) {
		if len(c) == 1 && !slices.Contains(sub.Succs[c[0]], c[0]) {
			continue
		}
		for i := range c {
			c[i] = nodes[c[i]]
		}
		slices.Sort(c)
		cycles = append(cycles, c)
	}
	slices.SortFunc(cycles, func(a, b []int) int { return a[0] - b[0] })
	return cycles
}

// A cycle is a strongly connected part of the graph.
type cycle struct {
	nodes   []int
	in      map[int]bool
	header  int        // the entry that most edges lead to
	entries []int      // nodes that edges from outside lead to
	outside []cfg.Edge // these edges
	exits   []cfg.Edge
	latches []int // nodes with an edge to the header
}

func (s *Structured) loop(nodes []int) *cycle {
	l := &cycle{nodes: nodes, in: make(map[int]bool), header: -1}
	for _, n := range nodes {
		l.in[n] = true
	}
	into := make(map[int]int)
	if l.in[s.Entry] {
		into[s.Entry]++
	}
	for _, n := range s.Reachable() {
		for _, to := range unique(s.Nodes[n].Succs) {
			switch e := (cfg.Edge{From: n, To: to}); {
			case l.in[to] && !l.in[n]:
				l.outside = append(l.outside, e)
				into[to]++
			case l.in[n] && !l.in[to]:
				l.exits = append(l.exits, e)
			}
		}
	}
	for _, n := range nodes {
		if into[n] > 0 {
			l.entries = append(l.entries, n)
			if l.header < 0 || into[n] > into[l.header] {
				l.header = n
			}
		}
	}
	for _, n := range nodes {
		if slices.Contains(s.Nodes[n].Succs, l.header) {
			l.latches = append(l.latches, n)
		}
	}
	return l
}

// natural reports whether a loop has the form of a while or a do-while loop: it goes back from one node, and out from one,
// which is the header or that node.
func (l *cycle) natural() bool {
	return len(l.latches) == 1 && len(l.exits) == 1 && (l.exits[0].From == l.header || l.exits[0].From == l.latches[0])
}

// backwardCopy gives edges that enter a cycle elsewhere than at its header a copy of the cycle. From it control comes to
// the header of the original.
func (s *Structured) backwardCopy(l *cycle) error {
	copies, err := s.clone(l.nodes)
	if err != nil {
		return err
	}
	for _, n := range l.nodes {
		s.retarget(copies[n], copies[l.header], l.header)
	}
	for _, e := range l.outside {
		if e.To != l.header {
			s.retarget(e.From, e.To, copies[e.To])
		}
	}
	if l.in[s.Entry] && s.Entry != l.header {
		s.Entry = copies[s.Entry]
	}
	s.BackwardCopies++
	return nil
}

// refused says why a loop may not be cut.
func (s *Structured) refused(l *cycle) error {
	if s.refuse == nil {
		return nil
	}
	var blocks, exits []int
	for _, n := range l.nodes {
		if s.Nodes[n].Kind == BlockNode {
			blocks = append(blocks, s.Nodes[n].Block)
		}
	}
	for _, e := range l.exits {
		if s.Nodes[e.From].Kind == BlockNode {
			exits = append(exits, s.Nodes[e.From].Block)
		}
	}
	return s.refuse(blocks, exits)
}

// cut leads all ways back and out of a loop to one latch. A flag tells there, and behind the loop, where each was to go.
func (s *Structured) cut(l *cycle) error {
	flag := s.loops
	s.loops++
	latch, err := s.add(Node{Kind: LatchNode, Loop: flag})
	if err != nil {
		return err
	}
	var targets []int
	for _, e := range l.exits {
		if !slices.Contains(targets, e.To) {
			targets = append(targets, e.To)
		}
	}
	edges := slices.Clone(l.exits)
	for _, n := range l.latches {
		edges = append(edges, cfg.Edge{From: n, To: l.header})
	}
	for _, e := range edges {
		set, err := s.add(Node{Kind: FlagNode, Loop: flag, Value: slices.Index(targets, e.To) + 1, Succs: []int{latch}})
		if err != nil {
			return err
		}
		s.retarget(e.From, e.To, set)
	}
	after := targets[len(targets)-1]
	for i := len(targets) - 2; i >= 0; i-- {
		if after, err = s.add(Node{Kind: DispatchNode, Loop: flag, Value: i + 1, Succs: []int{targets[i], after}}); err != nil {
			return err
		}
	}
	s.Nodes[latch].Succs = []int{l.header, after}
	for _, n := range l.nodes {
		if s.Nodes[n].Kind == BlockNode {
			s.cuts = append(s.cuts, s.Nodes[n].Block)
		}
	}
	s.Cuts++
	s.CutEdges += len(l.exits)
	return nil
}

// unique returns a list without repetitions, sorted.
func unique(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// components returns the strongly connected components of a graph (Tarjan 1972).
func components(succs [][]int) [][]int {
	type frame struct{ node, next int }
	n := len(succs)
	index, low, on := make([]int, n), make([]int, n), make([]bool, n)
	var stack []int
	var calls []frame
	var found [][]int
	last := 0
	enter := func(v int) {
		last++
		index[v], low[v], on[v] = last, last, true
		stack = append(stack, v)
		calls = append(calls, frame{v, 0})
	}
	for root := range n {
		if index[root] != 0 {
			continue
		}
		enter(root)
		for len(calls) > 0 {
			at := &calls[len(calls)-1]
			if at.next < len(succs[at.node]) {
				to := succs[at.node][at.next]
				at.next++
				if index[to] == 0 {
					enter(to)
				} else if on[to] {
					low[at.node] = min(low[at.node], index[to])
				}
				continue
			}
			v := at.node
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].node
				low[up] = min(low[up], low[v])
			}
			if low[v] == index[v] {
				at := slices.Index(stack, v)
				c := slices.Clone(stack[at:])
				stack = stack[:at]
				for _, w := range c {
					on[w] = false
				}
				found = append(found, c)
			}
		}
	}
	return found
}
