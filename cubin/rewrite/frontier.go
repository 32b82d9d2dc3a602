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
// atomics or YIELD. Barriers are placed only where lanes can part, by what their branches depend on.
func Reconverge(file *cubin.File) (*Rewritten, error) {
	r := &Rewritten{}
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

// A nest is the cycles of a body, outer before inner ones.
type nest struct {
	body   *body
	cycles []map[int]bool
	heads  []int
	joins  map[int]bool // pieces that all ways around a cycle with several entries go through
}

// find looks for the cycles among some pieces. Each gets one way back and, if it has one entry, one way in: pieces at
// which lanes can wait that are no headers.
func (n *nest) find(nodes []int, outer []map[int]bool) {
	for _, c := range n.components(nodes) {
		in := make(map[int]bool, len(c))
		for _, node := range c {
			in[node] = true
		}
		head, entries := n.header(c, in)
		around := append(slices.Clone(outer), in)
		if latch := n.gather(head, func(from int) bool { return in[from] }, entries > 1, around); latch >= 0 && entries > 1 {
			n.joins[latch] = true
		}
		if entries == 1 {
			n.gather(head, func(from int) bool { return !in[from] }, false, outer)
		}
		n.cycles, n.heads = append(n.cycles, in), append(n.heads, head)
		n.find(slices.DeleteFunc(c, func(node int) bool { return node == head }), around)
	}
}

// components returns the cycles among some pieces, by number.
func (n *nest) components(nodes []int) [][]int {
	index := make(map[int]int, len(nodes))
	for i, node := range nodes {
		index[node] = i
	}
	succs := make([][]int, len(nodes))
	for i, node := range nodes {
		for _, to := range n.body.pieces[node].succs() {
			if k, ok := index[to]; ok {
				succs[i] = append(succs[i], k)
			}
		}
	}
	var cycles [][]int
	for _, c := range components(succs) {
		if len(c) == 1 && !slices.Contains(succs[c[0]], c[0]) {
			continue
		}
		for i := range c {
			c[i] = nodes[c[i]]
		}
		slices.Sort(c)
		cycles = append(cycles, c)
	}
	return cycles
}

// header returns the entry of a cycle that most ways lead to, and how many entries there are.
func (n *nest) header(c []int, in map[int]bool) (head, entries int) {
	into, outside := make(map[int]int), make(map[int]bool)
	outside[n.body.entry] = true
	for _, from := range n.body.order() {
		for _, to := range n.body.pieces[from].succs() {
			if into[to]++; !in[from] {
				outside[to] = true
			}
		}
	}
	head = -1
	for _, node := range c {
		if outside[node] {
			if entries++; head < 0 || into[node] > into[head] {
				head = node
			}
		}
	}
	return head, entries
}

// gather leads the ways to a piece from some others through a new one, if there are several or always is set. It returns
// the new piece, -1 for none.
func (n *nest) gather(to int, from func(int) bool, always bool, around []map[int]bool) int {
	var list []int
	for _, p := range n.body.order() {
		if slices.Contains(n.body.pieces[p].succs(), to) && from(p) {
			list = append(list, p)
		}
	}
	if len(list) == 0 || len(list) == 1 && !always {
		return -1
	}
	piece := n.body.add(piece{taken: -1, fall: to})
	for _, p := range list {
		n.body.redirect(p, to, piece)
	}
	for _, in := range around {
		in[piece] = true
	}
	return piece
}

// frontierJoins returns the joins at which waiting pays and is safe, those of cycles with several entries first.
func (n *nest) frontierJoins(s *cfg.Shape, joins []int, divergent []bool) []*frontierJoin {
	slices.SortStableFunc(joins, func(a, b int) int { return cmp.Compare(rank(n.joins[a]), rank(n.joins[b])) })
	idom, ipdom := s.Dominators(), s.PostDominators()
	preds := predecessors(s)
	cuts := make(map[int]bool)
	var list []*frontierJoin
	for _, at := range joins {
		if slices.Contains(n.heads, at) {
			continue // the pieces before it gather those that come from outside, and those that come back
		}
		j := &frontierJoin{at: at, head: n.outside(idom, at), again: n.joins[at], part: make(map[int]bool)}
		if j.head < 0 {
			continue
		}
		j.findPart(s, preds, cuts)
		if !j.parts(ipdom, divergent) || !n.safe(j) {
			continue
		}
		if j.again {
			cuts[at] = true
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

// outside returns the nearest dominator of a node that is in no cycle without the node.
func (n *nest) outside(idom []int, node int) int {
	head := idom[node]
	for head >= 0 && slices.ContainsFunc(n.cycles, func(in map[int]bool) bool { return in[head] && !in[node] }) {
		head = idom[head]
	}
	return head
}

// findPart finds the nodes on ways from the head to the join. Ways through other joins of cycles do not count: lanes wait
// there for others.
func (j *frontierJoin) findPart(s *cfg.Shape, preds [][]int, cuts map[int]bool) {
	walk := func(next func(int) []int, from ...int) map[int]bool {
		seen := make(map[int]bool)
		for work := from; len(work) > 0; {
			node := work[len(work)-1]
			work = work[:len(work)-1]
			for _, to := range next(node) {
				if to != j.at && to != j.head && to != s.Exit && !cuts[to] && !seen[to] {
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
			switch it.inst.Op {
			case sass.BAR, sass.WARPSYNC, sass.YIELD, sass.NANOSLEEP:
				return false
			case sass.ATOM, sass.ATOMG, sass.ATOMS:
				if looped {
					return false
				}
			}
		}
	}
	return true
}

// worthwhile drops joins that cost more instructions than they save, the worst first: each that goes makes others worth
// more.
func (n *nest) worthwhile(s *cfg.Shape, list []*frontierJoin) []*frontierJoin {
	list = slices.Clone(list)
	needed := n.needed(s, list)
	for len(list) > 0 {
		worst, least := -1, 0.0
		for i, j := range list {
			if needed[j] {
				continue
			}
			if gain := n.gain(s, j, list); gain <= least {
				worst, least = i, gain
			}
		}
		if worst < 0 {
			break
		}
		list = slices.Delete(list, worst, worst+1)
	}
	return list
}

// needed returns the joins that bring lanes together again that would stay apart for the rest of a loop, or behind it: in
// each cycle the last that every way around it goes through, and the first behind it that every way out goes through.
func (n *nest) needed(s *cfg.Shape, list []*frontierJoin) map[*frontierJoin]bool {
	needed := make(map[*frontierJoin]bool)
	idom, ipdom := s.Dominators(), s.PostDominators()
	for k, in := range n.cycles {
		at := n.latch(s, k)
		for ; at >= 0 && in[at]; at = idom[at] {
			if i := slices.IndexFunc(list, func(j *frontierJoin) bool { return j.at == at }); i >= 0 {
				needed[list[i]] = true
				break
			}
		}
		for at = ipdom[n.heads[k]]; at >= 0; at = ipdom[at] {
			i := slices.IndexFunc(list, func(j *frontierJoin) bool { return j.at == at })
			if i >= 0 && !in[at] {
				needed[list[i]] = true
				break
			}
		}
	}
	return needed
}

// latch returns the node from which a cycle goes back to its header.
func (n *nest) latch(s *cfg.Shape, cycle int) int {
	for node := range s.Succs {
		if n.cycles[cycle][node] && slices.Contains(s.Succs[node], n.heads[cycle]) {
			return node
		}
	}
	return -1
}

// gain estimates how many warp instructions a join saves: a second group does not execute what lies between it and the next
// join, but all execute BSSY and BSYNC, and those that leave BREAK. Code in a loop counts loopWeight times.
func (n *nest) gain(s *cfg.Shape, j *frontierJoin, list []*frontierJoin) float64 {
	const beginCost, syncCost, breakCost = 2, 2, 0.25
	joins := map[int]bool{s.Exit: true}
	for _, o := range list {
		joins[o.at] = true
	}
	gain := n.weight(j.at)*(float64(n.shortest(s, j.at, joins))-syncCost) - n.weight(j.head)*beginCost
	for from := range j.part {
		for _, to := range s.Succs[from] {
			if to != s.Exit && to != j.at && !j.part[to] && !n.body.leaves(to) {
				gain -= n.weight(from) * breakCost
			}
		}
	}
	return gain
}

// weight is how often a node is executed, as far as loops tell.
func (n *nest) weight(node int) float64 {
	const loopWeight = 8
	w := 1.0
	for _, in := range n.cycles {
		if in[node] {
			w *= loopWeight
		}
	}
	return w
}

// shortest returns the least number of instructions from a node to one of the joins.
func (n *nest) shortest(s *cfg.Shape, from int, joins map[int]bool) int {
	least := map[int]int{from: 0}
	best := -1
	for work := []int{from}; len(work) > 0; {
		node := work[0]
		work = work[1:]
		sum := least[node] + len(n.body.pieces[node].items) + 1
		for _, to := range s.Succs[node] {
			if joins[to] {
				if best < 0 || sum < best {
					best = sum
				}
			} else if old, ok := least[to]; !ok || sum < old {
				least[to] = sum
				work = append(work, to)
			}
		}
	}
	return max(best, 0)
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

// An edgeWork is what is to be done on the way from one piece to another.
type edgeWork struct {
	breaks, begins []*frontierJoin
	sync           *frontierJoin
}

// connect puts BSSY, BREAK and BSYNC where they belong. weight says how often a node is executed.
func (b *body) connect(m maker, s *cfg.Shape, list []*frontierJoin, weight func(int) float64) error {
	work := make(map[cfg.Edge]*edgeWork)
	at := func(from, to int) *edgeWork {
		e := cfg.Edge{From: from, To: to}
		if work[e] == nil {
			work[e] = &edgeWork{}
		}
		return work[e]
	}
	for _, j := range list {
		for from := range s.Succs {
			for _, to := range s.Succs[from] {
				switch inside := j.part[from] || j.again && from == j.at; {
				case to == s.Exit, !inside && from != j.head:
				case to == j.at:
					at(from, to).sync = j
				case inside && !j.part[to]:
					if !b.leaves(to) {
						at(from, to).breaks = append(at(from, to).breaks, j)
					}
				}
			}
		}
		if err := b.beginJoin(m, s, j, at); err != nil {
			return err
		}
	}
	edges := make([]cfg.Edge, 0, len(work))
	for e := range work {
		edges = append(edges, e)
	}
	slices.SortFunc(edges, func(a, b cfg.Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	if err := b.breakAtTargets(m, s, list, work); err != nil {
		return err
	}
	for _, e := range edges {
		if err := b.workEdge(m, e, work[e], weight(e.To) < weight(e.From)); err != nil {
			return err
		}
	}
	return nil
}

// leaves reports whether a piece only leaves the function: EXIT gives up all barriers.
func (b *body) leaves(id int) bool {
	p := &b.pieces[id]
	return len(p.items) == 0 && p.fall < 0 && p.taken < 0 && p.branch != nil && p.branch.inst.Op == sass.EXIT
}

// beginJoin puts the BSSY of a join at the end of its head, or on the ways from there that may come to it.
func (b *body) beginJoin(m maker, s *cfg.Shape, j *frontierJoin, at func(from, to int) *edgeWork) error {
	begin, err := b.begin(m, j.number, j.sync)
	if err != nil {
		return err
	}
	if j.again {
		b.pieces[j.at].items = append(slices.Clone(begin), b.pieces[j.at].items...)
	}
	others := slices.ContainsFunc(s.Succs[j.head], func(to int) bool { return to != j.at && !j.part[to] && to != s.Exit })
	if !others {
		b.pieces[j.head].items = append(b.pieces[j.head].items, begin...)
		return nil
	}
	for _, to := range unique(s.Succs[j.head]) {
		if j.part[to] {
			at(j.head, to).begins = append(at(j.head, to).begins, j)
		}
	}
	return nil
}

// breakAtTargets puts a BREAK that all of several ways to a piece need at the beginning of the piece, or before its BSYNC. It is no
// loss to lanes that come another way, unless they take part in another join with the same barrier.
func (b *body) breakAtTargets(m maker, s *cfg.Shape, list []*frontierJoin, work map[cfg.Edge]*edgeWork) error {
	preds := predecessors(s)
	for to := range preds {
		syncs, ways := 0, 0
		var at *frontierJoin
		for _, from := range unique(preds[to]) {
			ways++
			if w := work[cfg.Edge{From: from, To: to}]; w != nil && w.sync != nil {
				at = w.sync
				syncs++
			}
		}
		if syncs != 0 && syncs != ways {
			continue
		}
		for _, j := range list {
			if err := b.breakAt(m, to, at, j, list, preds, work); err != nil {
				return err
			}
		}
	}
	return nil
}

// breakAt moves the BREAK of one join from the ways to a piece to the piece, where that is allowed.
func (b *body) breakAt(m maker, to int, at, j *frontierJoin, list []*frontierJoin, preds [][]int, work map[cfg.Edge]*edgeWork) error {
	var ways []*edgeWork
	for _, from := range unique(preds[to]) {
		if w := work[cfg.Edge{From: from, To: to}]; w != nil && slices.Contains(w.breaks, j) {
			ways = append(ways, w)
		}
	}
	shared := slices.ContainsFunc(list, func(o *frontierJoin) bool {
		return o != j && o.number == j.number && (o.part[to] || o.at == to || o.head == to)
	})
	if len(ways) < 2 || len(ways) < len(unique(preds[to])) || shared || j.head == to {
		return nil
	}
	leave, err := m.make(2, "BREAK B%d", j.number)
	if err != nil {
		return err
	}
	place := to
	if at != nil {
		place = at.sync
	}
	b.pieces[place].items = append([]item{leave}, b.pieces[place].items...)
	for _, w := range ways {
		w.breaks = slices.DeleteFunc(w.breaks, func(o *frontierJoin) bool { return o == j })
	}
	return nil
}

// workEdge puts pieces between two others. BREAK goes before the branch under its guard, unless the way is rare.
func (b *body) workEdge(m maker, e cfg.Edge, w *edgeWork, rare bool) error {
	to := e.To
	if w.sync != nil {
		to = w.sync.sync
	}
	var items []item
	guard, simple := b.edgeGuard(e)
	for _, j := range w.breaks {
		leave, err := m.make(2, "BREAK B%d", j.number)
		if err != nil {
			return err
		}
		if simple && !rare {
			leave.inst.Guard = guard
			b.pieces[e.From].items = append(b.pieces[e.From].items, leave)
		} else {
			items = append(items, leave)
		}
	}
	for _, j := range w.begins {
		begin, err := b.begin(m, j.number, j.sync)
		if err != nil {
			return err
		}
		items = append(items, begin...)
	}
	if len(items) > 0 {
		to = b.add(piece{items: items, taken: -1, fall: to})
	}
	if to != e.To {
		b.redirect(e.From, e.To, to)
	}
	return nil
}

// edgeGuard returns the guard under which a conditional branch takes an edge; simple is false where no predicate says it,
// and the guard is always true then.
func (b *body) edgeGuard(e cfg.Edge) (guard sass.Guard, simple bool) {
	p, always := &b.pieces[e.From], sass.Guard{Reg: sass.PT}
	if p.branch == nil || p.branch.inst.Op != sass.BRA || p.taken == p.fall || p.fall < 0 || p.branch.inst.Guard.Always() ||
		p.branch.inst.Guard.Uniform || p.branch.inst.Mod(sass.BraMode) == sass.BraDIV || p.branch.inst.Mod(sass.BraMode) == sass.BraCONV {
		return always, false
	}
	for _, o := range p.branch.inst.Operands {
		if o.Kind == sass.KindPred && (o.Reg != sass.PT || o.Not) {
			return always, false
		}
	}
	guard = p.branch.inst.Guard
	switch e.To {
	case p.taken:
		return guard, true
	case p.fall:
		guard.Neg = !guard.Neg
		return guard, true
	}
	return always, false
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
