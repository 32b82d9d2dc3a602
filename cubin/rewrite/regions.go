package rewrite

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A region is a part of structured code that lanes leave together: it begins at a branch or before a loop, and ends at the
// join, the immediate post-dominator.
type region struct {
	head int // piece with the branch, or header of the loop
	loop *natural
	join int
	in   []bool // pieces between, the head included
}

// A natural is a natural loop.
type natural struct {
	header int
	in     []bool
}

// shape returns the control flow of the pieces; the last node is the exit.
func (b *body) shape() *cfg.Shape {
	n := len(b.pieces)
	s := &cfg.Shape{Entry: b.entry, Exit: n, Succs: make([][]int, n+1)}
	for i := range b.pieces {
		p := &b.pieces[i]
		s.Succs[i] = p.succs()
		if len(p.table) == 0 && (p.fall < 0 && p.taken < 0 || p.branch != nil && p.taken < 0) {
			s.Succs[i] = append(s.Succs[i], n)
		}
	}
	return s
}

// loops returns the natural loops of a reducible shape, by header.
func loops(s *cfg.Shape, idom []int) []*natural {
	dominates := func(a, b int) bool {
		for b >= 0 && b != a {
			b = idom[b]
		}
		return b == a
	}
	preds := predecessors(s)
	found := make(map[int]*natural)
	reachable := s.Reachable()
	for from, list := range s.Succs {
		for _, header := range list {
			if !reachable[from] || !dominates(header, from) {
				continue
			}
			l := found[header]
			if l == nil {
				l = &natural{header: header, in: make([]bool, s.Len())}
				l.in[header] = true
				found[header] = l
			}
			for work := []int{from}; len(work) > 0; {
				n := work[len(work)-1]
				work = work[:len(work)-1]
				if !l.in[n] {
					l.in[n] = true
					work = append(work, preds[n]...)
				}
			}
		}
	}
	var list []*natural
	for _, h := range sortedKeys(found) {
		list = append(list, found[h])
	}
	return list
}

func predecessors(s *cfg.Shape) [][]int {
	preds := make([][]int, s.Len())
	reachable := s.Reachable()
	for from, list := range s.Succs {
		for _, to := range list {
			if reachable[from] {
				preds[to] = append(preds[to], from)
			}
		}
	}
	return preds
}

// regions finds where lanes can part and come together again. Of regions with the same join, one in the other, the outer
// is enough.
func regions(s *cfg.Shape) []*region {
	idom, ipdom := s.Dominators(), s.PostDominators()
	all := loops(s, idom)
	var list []*region
	for d, reachable := range s.Reachable() {
		join := ipdom[d]
		if !reachable || !s.Divergent(d) || join < 0 || join == s.Exit {
			continue
		}
		r := &region{head: d, join: join, loop: outermost(all, d, join)}
		if r.loop != nil {
			r.head = r.loop.header
		}
		if !slices.ContainsFunc(list, func(o *region) bool { return o.head == r.head && o.loop == r.loop && o.join == join }) {
			r.in = between(s, r.head, join)
			list = append(list, r)
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(r *region) bool {
		return slices.ContainsFunc(list, func(o *region) bool { return o.join == r.join && o.encloses(r) })
	})
}

// encloses reports whether one region lies in another.
func (r *region) encloses(o *region) bool {
	if r == o || r.head == o.head && (r.loop == nil || o.loop != nil) {
		return false
	}
	return r.in[o.head]
}

// outermost returns the largest loop with one node and without another, nil for none.
func outermost(all []*natural, with, without int) (best *natural) {
	size := 0
	for _, l := range all {
		if !l.in[with] || l.in[without] {
			continue
		}
		n := 0
		for _, in := range l.in {
			if in {
				n++
			}
		}
		if n > size {
			best, size = l, n
		}
	}
	return best
}

// between returns the nodes that control can come to from a head before it comes to the join.
func between(s *cfg.Shape, head, join int) []bool {
	in := make([]bool, s.Len())
	in[head] = true
	for work := []int{head}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range s.Succs[n] {
			if to != join && !in[to] {
				in[to] = true
				work = append(work, to)
			}
		}
	}
	return in
}

// placeBarriers puts convergence barriers into structured code: BSSY where each region begins, BSYNC where it ends. free
// are the numbers that may be used.
func (b *body) placeBarriers(m maker, free []uint8) error {
	list := regions(b.shape())
	syncs := make([]int, len(list))
	number := make([]uint8, len(list))
	for i, r := range list {
		depth := 0
		for _, o := range list {
			if o.encloses(r) {
				depth++
			}
		}
		if depth >= len(free) {
			return fmt.Errorf("%d convergence barriers are not enough", len(free))
		}
		number[i] = free[depth]
	}
	inner := make([]int, len(list)) // regions, inner before outer ones
	for i := range inner {
		inner[i] = i
	}
	slices.SortStableFunc(inner, func(a, b int) int { return cmp.Compare(number[b], number[a]) })
	for _, i := range inner {
		sync, err := m.make(6, "BSYNC B%d", number[i])
		if err != nil {
			return err
		}
		syncs[i] = b.add(piece{items: []item{sync}, taken: -1, fall: list[i].join})
		for n, in := range list[i].in {
			if in && n < len(b.pieces) {
				b.redirect(n, list[i].join, syncs[i])
			}
		}
	}
	for i, r := range list {
		begin, err := b.begin(m, number[i], syncs[i])
		if err != nil {
			return err
		}
		if r.loop == nil {
			b.pieces[r.head].items = append(b.pieces[r.head].items, begin...)
			continue
		}
		before := b.add(piece{items: begin, taken: -1, fall: r.head})
		for n := range before {
			if !inLoop(r.loop, n, list, syncs) {
				b.redirect(n, r.head, before)
			}
		}
		if b.entry == r.head {
			b.entry = before
		}
	}
	return nil
}

// inLoop reports whether a piece belongs to a loop; that with the BSYNC of a region does where its join does and its head.
func inLoop(l *natural, n int, list []*region, syncs []int) bool {
	if i := slices.Index(syncs, n); i >= 0 {
		return l.in[list[i].head] && l.in[list[i].join]
	}
	return n < len(l.in)-1 && l.in[n]
}

// begin makes the beginning of a region.
func (b *body) begin(m maker, number uint8, sync int) ([]item, error) {
	var items []item
	if m.arch <= sass.SM75 { // as its compiler does: the barrier may hold lanes from before
		reset, err := m.make(1, "BMOV.32.CLEAR RZ, B%d", number)
		if err != nil {
			return nil, err
		}
		items = append(items, reset)
	}
	set, err := m.make(2, "BSSY B%d, 0x0", number)
	set.sync = sync + 1
	return append(items, set), err
}
