package rewrite

import (
	"cmp"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

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
