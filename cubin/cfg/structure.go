package cfg

import "slices"

// A Structure is what is left of a shape when everything structured in it has been folded: the structural analysis of
// Muchnick ("Advanced Compiler Design and Implementation", section 7.7) with the patterns of Wu et al., "Characterization
// and Transformation of Unstructured Control Flow in GPU Applications" (CDES 2011): sequences, if-then, if-then-else and
// case, self-loops and while loops.
type Structure struct {
	Residual     int  // nodes left; 1 where the shape is structured
	Reducible    bool // every cycle has one entry, which dominates it
	Interactions []Interaction
}

// Structured reports whether folding leaves one node.
func (s *Structure) Structured() bool { return s.Residual == 1 }

// An InteractionKind says how an edge breaks the structure, and so which transformation of Wu et al. removes it.
type InteractionKind uint8

// The kinds of interactions.
const (
	BranchOut InteractionKind = iota // leaves the paths from a branch to a join elsewhere than at the join: Forward Copy
	LoopOut                          // leaves a loop elsewhere than its normal exit: Cut
	LoopIn                           // enters a cycle elsewhere than at its header: Backward Copy
)

// String names the kind with the words of Wu et al.
func (k InteractionKind) String() string {
	return [...]string{"interacting out-edge", "loop with several exits", "interacting in-edge"}[k]
}

// An Interaction is an edge that keeps its shape from being structured. Head and Join enclose the hammock that it
// violates: the branch and the join of a BranchOut; the header of the loop, twice, of the others.
type Interaction struct {
	Kind       InteractionKind
	Edge       Edge
	Head, Join int
}

// Structure folds the shape; nodes that the entry does not reach are left out.
func (s *Shape) Structure() *Structure {
	f := newFolder(s)
	f.run()
	residual := f.left()
	result := &Structure{Residual: len(residual), Reducible: s.reducible()}
	if len(residual) > 1 {
		result.Interactions = f.interactions(residual)
	}
	return result
}

// reducible reports whether every edge that goes back in a depth-first search goes to a dominator.
func (s *Shape) reducible() bool {
	idom := s.Dominators()
	for _, e := range s.retreating() {
		at := e.From
		for at >= 0 && at != e.To {
			at = idom[at]
		}
		if at < 0 {
			return false
		}
	}
	return true
}

// retreating returns the edges that lead to a node on the path of a depth-first search from the entry.
func (s *Shape) retreating() []Edge {
	type step struct{ node, next int }
	var list []Edge
	seen, onPath := make([]bool, s.Len()), make([]bool, s.Len())
	stack := []step{{s.Entry, 0}}
	seen[s.Entry], onPath[s.Entry] = true, true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(s.Succs[top.node]) {
			onPath[top.node] = false
			stack = stack[:len(stack)-1]
			continue
		}
		to := s.Succs[top.node][top.next]
		top.next++
		switch {
		case onPath[to]:
			list = append(list, Edge{top.node, to})
		case !seen[to]:
			seen[to], onPath[to] = true, true
			stack = append(stack, step{to, 0})
		}
	}
	return list
}

// A folder replaces patterns by their first node until there are none left.
type folder struct {
	shape  *Shape
	succs  [][]int // sorted, each node once; nil for folded nodes
	preds  []map[int]bool
	into   []int // by node: the node that it was folded into, itself for the others
	work   []int
	queued []bool
}

func newFolder(s *Shape) *folder {
	n := s.Len()
	f := &folder{shape: s, succs: make([][]int, n), preds: make([]map[int]bool, n), into: make([]int, n), queued: make([]bool, n)}
	for i := range n {
		f.preds[i], f.into[i] = make(map[int]bool), -1
	}
	for node, reachable := range s.Reachable() {
		if !reachable {
			continue
		}
		f.into[node] = node
		f.succs[node] = slices.Clone(s.Succs[node])
		slices.Sort(f.succs[node])
		f.succs[node] = slices.Compact(f.succs[node])
		for _, to := range f.succs[node] {
			f.preds[to][node] = true
		}
		f.work = append(f.work, node)
		f.queued[node] = true
	}
	slices.Reverse(f.work)
	return f
}

// left returns the nodes that have not been folded into others.
func (f *folder) left() []int {
	var list []int
	for node, into := range f.into {
		if into == node {
			list = append(list, node)
		}
	}
	return list
}

// root returns the node that stands for one of the shape.
func (f *folder) root(node int) int {
	for f.into[node] >= 0 && f.into[node] != node {
		if up := f.into[f.into[node]]; up >= 0 {
			f.into[node] = up
		}
		node = f.into[node]
	}
	return node
}

func (f *folder) run() {
	for len(f.work) > 0 {
		node := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		f.queued[node] = false
		if f.into[node] == node && (f.selfLoop(node) || f.sequence(node) || f.branch(node) || f.while(node)) {
			f.changed(node)
		}
	}
}

// changed looks again at a node and at those that may fold it.
func (f *folder) changed(node int) {
	list := []int{node}
	for p := range f.preds[node] {
		list = append(list, p)
		for q := range f.preds[p] {
			list = append(list, q)
		}
	}
	slices.Sort(list)
	for _, n := range slices.Compact(list) {
		if !f.queued[n] && f.into[n] == n {
			f.queued[n] = true
			f.work = append(f.work, n)
		}
	}
}

// only reports whether a node other than the entry has one predecessor and that is from.
func (f *folder) only(node, from int) bool {
	return node != f.shape.Entry && node != from && len(f.preds[node]) == 1 && f.preds[node][from]
}

// fold takes a node out; others have no edges to it any more but from.
func (f *folder) fold(node, from int) {
	for _, to := range f.succs[node] {
		delete(f.preds[to], node)
	}
	f.into[node], f.succs[node], f.preds[node] = from, nil, nil
}

// set gives a node its successors.
func (f *folder) set(node int, succs []int) {
	for _, to := range f.succs[node] {
		delete(f.preds[to], node)
	}
	f.succs[node] = succs
	for _, to := range succs {
		f.preds[to][node] = true
	}
}

func (f *folder) selfLoop(node int) bool {
	at := slices.Index(f.succs[node], node)
	if at < 0 {
		return false
	}
	f.set(node, slices.Delete(slices.Clone(f.succs[node]), at, at+1))
	return true
}

func (f *folder) sequence(node int) bool {
	if len(f.succs[node]) != 1 || !f.only(f.succs[node][0], node) {
		return false
	}
	next := f.succs[node][0]
	succs := f.succs[next]
	f.set(node, nil)
	f.fold(next, node)
	f.set(node, succs)
	return true
}

// branch folds a branch whose arms all lead to one join, or are the join: if-then, if-then-else and case.
func (f *folder) branch(node int) bool {
	arms := f.succs[node]
	if len(arms) < 2 {
		return false
	}
	for _, join := range f.joins(arms) {
		if join == node || !f.joinsAt(node, join) {
			continue
		}
		arms = slices.Clone(arms)
		f.set(node, nil)
		for _, arm := range arms {
			if arm != join {
				f.fold(arm, node)
			}
		}
		f.set(node, []int{join})
		return true
	}
	return false
}

// joins returns the nodes at which arms may come together: that to which the first of them leads, and the arms themselves
// where they are not more than two.
func (f *folder) joins(arms []int) []int {
	var list []int
	for _, arm := range arms[:2] {
		if list = append(list, arm); len(f.succs[arm]) == 1 {
			list = append(list, f.succs[arm][0])
		}
	}
	return list
}

// joinsAt reports whether all arms of a branch lead to a join only.
func (f *folder) joinsAt(node, join int) bool {
	for _, arm := range f.succs[node] {
		if arm != join && !(f.only(arm, node) && len(f.succs[arm]) == 1 && f.succs[arm][0] == join) {
			return false
		}
	}
	return true
}

// while folds a loop of its header and one more node.
func (f *folder) while(node int) bool {
	for _, body := range f.succs[node] {
		if f.only(body, node) && len(f.succs[body]) == 1 && f.succs[body][0] == node {
			succs := slices.DeleteFunc(slices.Clone(f.succs[node]), func(to int) bool { return to == body })
			f.set(node, nil)
			f.fold(body, node)
			f.set(node, succs)
			return true
		}
	}
	return false
}
