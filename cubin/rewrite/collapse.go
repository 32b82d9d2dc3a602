package rewrite

import (
	"fmt"
	"slices"

	"gpa/cubin/cfg"
)

// A collapser replaces structured patterns by their first node. A node that is left stands for those it has swallowed.
type collapser struct {
	graph   *Structured
	content map[int][]int        // by node that is left: the nodes of the graph that it stands for
	succs   map[int]map[int]bool // by node that is left
	preds   map[int]map[int]bool
	entry   int
	exit    int
}

// copyForward collapses the graph. When nothing collapses any more, it copies the last node that several ways lead to for
// the last of its predecessors, and goes on.
func (s *Structured) copyForward() error {
	c := newCollapser(s)
	for {
		c.collapse()
		if len(c.succs) == 1 {
			return nil
		}
		if err := c.forwardCopy(); err != nil {
			return err
		}
	}
}

func newCollapser(s *Structured) *collapser {
	c := &collapser{graph: s, entry: s.Entry, exit: s.Exit, content: make(map[int][]int), succs: make(map[int]map[int]bool), preds: make(map[int]map[int]bool)}
	nodes := s.Reachable()
	for _, n := range nodes {
		c.content[n] = []int{n}
		c.succs[n], c.preds[n] = make(map[int]bool), make(map[int]bool)
	}
	for _, n := range nodes {
		for _, to := range s.Nodes[n].Succs {
			c.link(n, to)
		}
	}
	return c
}

func (c *collapser) link(from, to int)   { c.succs[from][to], c.preds[to][from] = true, true }
func (c *collapser) unlink(from, to int) { delete(c.succs[from], to); delete(c.preds[to], from) }

// nodes returns the nodes that are left, by number.
func (c *collapser) nodes() []int { return sortedKeys(c.succs) }

func sortedKeys[V any](m map[int]V) []int {
	list := make([]int, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// collapse applies the patterns until none is left.
func (c *collapser) collapse() {
	for changed := true; changed; {
		changed = false
		for _, n := range c.nodes() {
			for c.succs[n] != nil && c.apply(n) {
				changed = true
			}
		}
	}
}

// apply collapses one pattern that begins with a node.
func (c *collapser) apply(n int) bool {
	if c.succs[n][n] {
		c.unlink(n, n) // a self-loop
		return true
	}
	return c.sequence(n) || c.branch(n) || c.while(n)
}

// only reports whether a node can be swallowed by its only predecessor. The exit is the last to go: what leads to it must
// stay fit for copying.
func (c *collapser) only(node, pred int) bool {
	return node != c.entry && node != pred && len(c.preds[node]) == 1 && c.preds[node][pred] && (node != c.exit || len(c.succs) == 2)
}

// swallow takes a node out with its edges.
func (c *collapser) swallow(node, into int) {
	for to := range c.succs[node] {
		delete(c.preds[to], node)
	}
	for from := range c.preds[node] {
		delete(c.succs[from], node)
	}
	c.content[into] = append(c.content[into], c.content[node]...)
	delete(c.content, node)
	delete(c.succs, node)
	delete(c.preds, node)
}

func (c *collapser) sequence(n int) bool {
	if len(c.succs[n]) != 1 {
		return false
	}
	next := sortedKeys(c.succs[n])[0]
	if !c.only(next, n) {
		return false
	}
	after := sortedKeys(c.succs[next])
	c.swallow(next, n)
	for _, to := range after {
		c.link(n, to)
	}
	return true
}

// branch collapses if-then, if-then-else and case: arms that all lead to one join, or are the join.
func (c *collapser) branch(n int) bool {
	if len(c.succs[n]) < 2 {
		return false
	}
	arms := sortedKeys(c.succs[n])
	candidates := slices.Clone(arms)
	for _, a := range arms {
		candidates = append(candidates, sortedKeys(c.succs[a])...)
	}
	for _, join := range unique(candidates) {
		if join == n || !c.joins(n, arms, join) {
			continue
		}
		for _, a := range arms {
			if a != join {
				c.swallow(a, n)
			}
		}
		c.link(n, join)
		return true
	}
	return false
}

// joins reports whether all arms of a branch lead to the join only.
func (c *collapser) joins(n int, arms []int, join int) bool {
	return !slices.ContainsFunc(arms, func(a int) bool {
		return a != join && !(c.only(a, n) && len(c.succs[a]) == 1 && c.succs[a][join])
	})
}

// while collapses a loop of its header and one more node.
func (c *collapser) while(n int) bool {
	for _, body := range sortedKeys(c.succs[n]) {
		if c.only(body, n) && len(c.succs[body]) == 1 && c.succs[body][n] {
			c.swallow(body, n)
			return true
		}
	}
	return false
}

// forwardCopy copies the last join for the last of its predecessors: "E2 before E1" in Wu's words, so that inner edges go
// before outer ones. A join that all ways from its dominator come to has the shape of a hammock's exit; where it does not
// collapse, what is in the hammock is the reason, and copies of the join would be in vain.
func (c *collapser) forwardCopy() error {
	order := c.postorder()
	late := make(map[int]int, len(order)) // smaller is later
	for i, n := range order {
		late[n] = i
	}
	ends := c.hammockEnds(order)
	for _, all := range []bool{false, true} {
		for _, n := range order {
			if !all && ends[n] {
				continue
			}
			if pred := c.copyable(n, late); pred >= 0 {
				return c.copyFor(n, pred)
			}
		}
	}
	return fmt.Errorf("%d nodes do not collapse", len(c.succs))
}

// copyable returns the last predecessor of a join that is neither the exit nor a part of a loop's form, -1 for other nodes.
func (c *collapser) copyable(n int, late map[int]int) int {
	back := func(from, to int) bool { return late[from] <= late[to] }
	if n == c.exit || len(c.preds[n]) < 2 || c.inLoopTest(n, back) {
		return -1
	}
	last := -1
	for _, p := range sortedKeys(c.preds[n]) {
		if back(p, n) {
			return -1 // a header
		}
		if last < 0 || late[p] < late[last] {
			last = p
		}
	}
	return last
}

// hammockEnds returns the nodes that are the immediate post-dominators of their immediate dominators.
func (c *collapser) hammockEnds(nodes []int) map[int]bool {
	number := make(map[int]int, len(nodes))
	for i, n := range nodes {
		number[n] = i
	}
	shape := &cfg.Shape{Entry: number[c.entry], Exit: number[c.exit], Succs: make([][]int, len(nodes))}
	for i, n := range nodes {
		for _, to := range sortedKeys(c.succs[n]) {
			shape.Succs[i] = append(shape.Succs[i], number[to])
		}
	}
	dom, post := shape.Dominators(), shape.PostDominators()
	ends := make(map[int]bool)
	for i, n := range nodes {
		ends[n] = dom[i] >= 0 && post[dom[i]] == i
	}
	return ends
}

// inLoopTest reports whether a node ends a loop by a test: copies of it would be further exits.
func (c *collapser) inLoopTest(n int, back func(from, to int) bool) bool {
	if len(c.succs[n]) < 2 {
		return false
	}
	for to := range c.succs[n] {
		if back(n, to) {
			return true
		}
	}
	return false
}

// copyFor gives one predecessor of a node a copy of it.
func (c *collapser) copyFor(n, pred int) error {
	copies, err := c.graph.clone(c.content[n])
	if err != nil {
		return err
	}
	first := copies[n]
	for _, x := range c.content[pred] {
		c.graph.retarget(x, n, first)
	}
	c.content[first] = nil
	for _, x := range c.content[n] {
		c.content[first] = append(c.content[first], copies[x])
	}
	c.succs[first], c.preds[first] = make(map[int]bool), make(map[int]bool)
	for to := range c.succs[n] {
		c.link(first, to)
	}
	c.unlink(pred, n)
	c.link(pred, first)
	c.graph.ForwardCopies++
	return nil
}

// postorder returns the nodes as a depth-first search leaves them.
func (c *collapser) postorder() []int {
	type step struct {
		node int
		todo []int
	}
	var order []int
	seen := map[int]bool{c.entry: true}
	stack := []step{{c.entry, sortedKeys(c.succs[c.entry])}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.todo) == 0 {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.todo[0]
		top.todo = top.todo[1:]
		if !seen[to] {
			seen[to] = true
			stack = append(stack, step{to, sortedKeys(c.succs[to])})
		}
	}
	return order
}
