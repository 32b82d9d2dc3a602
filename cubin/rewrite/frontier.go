package rewrite

import (
	"cmp"
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Reconverge places the convergence barriers of a file's unstructured functions anew, at the joins of thread frontiers (Diamos et al.,
// "SIMD Re-Convergence At Thread Frontiers", MICRO 2011): where lanes wait for others that may still come, though the join
// post-dominates no branch. Lanes that leave the part of the code from which the join can be reached give up the barrier
// with BREAK. Of joins that need more barriers than there are, the ones with the smallest part go without.
//
// No join waits where the others may wait for those that wait: in a part with block barriers, WARPSYNC, or loops around
// atomics or YIELD, or at other joins. Barriers are placed only where lanes can part, by what their branches depend on.
func Reconverge(file *cubin.File) (*Rewritten, error) {
	r := &Rewritten{Pass: ReconvergePass}
	err := r.rewrite(file, func(e *editor, f *cfg.Func) (*body, *Change) { return e.reconverge(f) })
	return r, err
}

// reconverge makes the code of a function with new barriers.
func (e *editor) reconverge(f *cfg.Func) (*body, *Change) {
	change := &Change{}
	fail := func(err error) (*body, *Change) {
		change.Err = err
		return nil, change
	}
	kernel := f.Function.Kind == cubin.KernelFunction
	if e.graph.Shape(f).Structure().Structured() || !kernel && !usesBarriers(e.graph, f) {
		return nil, nil
	}
	l, shape, err := newLowerer(e.maker, e.graph, f, kernel, true)
	if err != nil {
		return fail(err)
	}
	if shape.Structure().Structured() {
		return nil, nil // but for gather loops
	}
	s := &Structured{Entry: shape.Entry, Exit: shape.Exit}
	for i, succs := range shape.Succs {
		s.Nodes = append(s.Nodes, Node{Block: i, Succs: succs})
	}
	b, err := l.lower(s)
	if err != nil {
		return fail(err)
	}
	free, err := e.barriers(f)
	if err != nil {
		return fail(err)
	}
	change.Joins, change.Dropped, err = b.placeFrontier(e.maker, free, kernel)
	if err != nil {
		return fail(err)
	}
	e.take(b)
	return b, change
}

// usesBarriers reports whether a function has convergence barriers.
func usesBarriers(g *cfg.Graph, f *cfg.Func) bool {
	for _, id := range f.Blocks {
		if slices.ContainsFunc(g.Insts(g.Blocks[id]), func(in sass.Inst) bool { return in.Op == sass.BSSY }) {
			return true
		}
	}
	return false
}

// A frontierJoin is a place where lanes wait for each other.
type frontierJoin struct {
	at     int          // piece before which they wait
	head   int          // piece at whose end they begin to take part
	part   map[int]bool // pieces on the ways from head to at
	again  bool         // lanes begin anew after they waited: the join of a cycle that head is not in
	number uint8        // of the barrier
	sync   int          // piece with the BSYNC
}

// placeFrontier places the barriers, and returns at how many joins, and how many joins go without.
func (b *body) placeFrontier(m maker, free []uint8, kernel bool) (placed, dropped int, err error) {
	n := nest{body: b, joins: make(map[int]bool)}
	n.find(b.order(), nil)
	divergent := b.diverge(kernel)
	s := b.shape()
	frontiers, err := s.Frontiers(s.Order())
	if err != nil {
		return 0, 0, err
	}
	list := n.frontierJoins(s, frontiers.Joins(), divergent)
	list = n.worthwhile(s, list)
	all := len(list)
	list = n.withoutDeadlock(s, list)
	list = number(list, free)
	for _, j := range list {
		sync, err := m.make(6, "BSYNC B%d", j.number)
		if err != nil {
			return 0, 0, err
		}
		j.sync = b.add(piece{items: []item{sync}, taken: -1, fall: j.at})
	}
	if err := b.connect(m, s, list, n.weight); err != nil {
		return 0, 0, err
	}
	b.dropEmpty()
	return len(list), all - len(list), nil
}

// frontierJoins returns the joins at which waiting pays and is safe, those of cycles with several entries first.
func (n *nest) frontierJoins(s *cfg.Shape, joins []int, divergent []bool) []*frontierJoin {
	slices.SortStableFunc(joins, func(a, b int) int { return cmp.Compare(rank(n.joins[a]), rank(n.joins[b])) })
	idom, ipdom := s.Dominators(), s.PostDominators()
	preds := predecessors(s)
	cuts := make(map[int]*frontierJoin)
	var list []*frontierJoin
	for _, at := range joins {
		if slices.Contains(n.heads, at) {
			continue // the pieces before it gather those that come from outside, and those that come back
		}
		j := &frontierJoin{at: at, head: n.outside(idom, at), part: make(map[int]bool)}
		if j.head < 0 {
			continue
		}
		j.again = n.joins[at] && !n.together(j.head, at)
		j.findPart(s, preds, cuts)
		if !j.parts(ipdom, divergent) || !n.safe(j) {
			continue
		}
		if j.again {
			cuts[at] = j
		}
		list = append(list, j)
	}
	return list
}

// parts reports whether lanes can part on the way to the join and not be together again before it.
func (j *frontierJoin) parts(ipdom []int, divergent []bool) bool {
	if divergent[j.head] || j.again && divergent[j.at] {
		return true
	}
	for node := range j.part {
		if divergent[node] && !j.part[ipdom[node]] {
			return true
		}
	}
	return false
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// together reports whether the innermost cycle with a node has another node too.
func (n *nest) together(other, node int) bool {
	for k := len(n.cycles) - 1; k >= 0; k-- {
		if n.cycles[k][node] {
			return n.cycles[k][other]
		}
	}
	return false
}

// outside returns the nearest dominator of a node that is in no cycle without the node.
func (n *nest) outside(idom []int, node int) int {
	head := idom[node]
	for head >= 0 && slices.ContainsFunc(n.cycles, func(in map[int]bool) bool { return in[head] && !in[node] }) {
		head = idom[head]
	}
	return head
}

// findPart finds the nodes on ways from the head to the join. Ways through joins of cycles do not count where lanes wait for
// those at this one.
func (j *frontierJoin) findPart(s *cfg.Shape, preds [][]int, cuts map[int]*frontierJoin) {
	waits := func(at int) bool { return cuts[at] != nil && cuts[at].part[j.at] }
	walk := func(next func(int) []int, from ...int) map[int]bool {
		seen := make(map[int]bool)
		for work := from; len(work) > 0; {
			node := work[len(work)-1]
			work = work[:len(work)-1]
			for _, to := range next(node) {
				if to != j.at && to != j.head && to != s.Exit && !waits(to) && !seen[to] {
					seen[to] = true
					work = append(work, to)
				}
			}
		}
		return seen
	}
	starts := []int{j.head}
	if j.again {
		starts = append(starts, j.at)
	}
	forward := walk(func(n int) []int { return s.Succs[n] }, starts...)
	back := walk(func(n int) []int { return preds[n] }, j.at)
	for node := range forward {
		if back[node] {
			j.part[node] = true
		}
	}
}

// safe reports whether nothing in the part of a join waits for the lanes that wait at the join.
func (n *nest) safe(j *frontierJoin) bool {
	for node := range j.part {
		looped := slices.ContainsFunc(n.cycles, func(in map[int]bool) bool { return in[node] })
		for _, it := range n.body.pieces[node].items {
			switch op, p := it.inst.Op, it.inst.Op.Properties(); {
			case p.Class == sass.ClassBarrier, p.Sync == sass.SyncWarp, op == sass.YIELD, p.Class == sass.ClassSleep:
				return false
			case looped && p.Atomic(^sass.NoSpace) && op.Returns():
				return false
			}
		}
	}
	return true
}

// number gives the joins barriers. Of joins that lanes can be on the way to at the same time, no two have the same.
func number(list []*frontierJoin, free []uint8) []*frontierJoin {
	bySize := slices.Clone(list)
	slices.SortStableFunc(bySize, func(a, b *frontierJoin) int { return cmp.Compare(len(b.part), len(a.part)) })
	kept := make(map[*frontierJoin]bool)
	for _, j := range bySize {
		for _, number := range free {
			taken := slices.ContainsFunc(bySize, func(o *frontierJoin) bool { return kept[o] && o.number == number && j.meets(o) })
			if !taken {
				j.number, kept[j] = number, true
				break
			}
		}
	}
	return slices.DeleteFunc(list, func(j *frontierJoin) bool { return !kept[j] })
}

// meets reports whether lanes can take part in two joins at the same time.
func (j *frontierJoin) meets(o *frontierJoin) bool {
	if j.head == o.head || j.part[o.at] || o.part[j.at] || j.part[o.head] || o.part[j.head] {
		return true
	}
	for node := range j.part {
		if o.part[node] {
			return true
		}
	}
	return false
}

// withoutDeadlock drops joins until no lanes can wait for others that wait, at other joins, for them: first those that save
// least.
func (n *nest) withoutDeadlock(s *cfg.Shape, list []*frontierJoin) []*frontierJoin {
	list = slices.Clone(list)
	for {
		worst, least := -1, 0.0
		for i, j := range list {
			if !j.waitsForItself(list) {
				continue
			}
			if gain := n.gain(s, j, list); worst < 0 || gain < least {
				worst, least = i, gain
			}
		}
		if worst < 0 {
			return list
		}
		list = slices.Delete(list, worst, worst+1)
	}
}

// waitsForItself reports whether lanes at a join may wait for others that wait, at other joins, for those at this one. Lanes
// at a join wait for those at another one that lies on a way to it: they take part in both.
func (j *frontierJoin) waitsForItself(list []*frontierJoin) bool {
	seen := make(map[*frontierJoin]bool)
	for work := []*frontierJoin{j}; len(work) > 0; {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		for _, o := range list {
			if o != from && from.part[o.at] && !seen[o] {
				seen[o] = true
				work = append(work, o)
			}
		}
	}
	return seen[j]
}

// dropEmpty takes out pieces without instructions.
func (b *body) dropEmpty() {
	end := func(id int) int {
		for range b.pieces {
			p := &b.pieces[id]
			if len(p.items) > 0 || p.branch != nil || p.fall < 0 {
				break
			}
			id = p.fall
		}
		return id
	}
	for i := range b.pieces {
		p := &b.pieces[i]
		if p.fall >= 0 {
			p.fall = end(p.fall)
		}
		if p.taken >= 0 {
			p.taken = end(p.taken)
		}
		for k, to := range p.table {
			p.table[k] = end(to)
		}
	}
	b.entry = end(b.entry)
}
