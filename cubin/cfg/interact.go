package cfg

import (
	"cmp"
	"slices"
)

// interactions finds the edges that keep a folded shape from being folded further. Cycles are taken first, and with
// their back edges led to the exit what remains has no cycle.
func (f *folder) interactions(residual []int) []Interaction {
	r := newResidual(f, residual)
	r.cycles()
	r.hammocks()
	slices.SortFunc(r.found, func(a, b Interaction) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Edge.From, b.Edge.From), cmp.Compare(a.Edge.To, b.Edge.To),
			cmp.Compare(a.Head, b.Head), cmp.Compare(a.Join, b.Join))
	})
	return slices.Compact(r.found)
}

// A residual is a folded shape. Its nodes are numbered anew, the last is an exit of its own.
type residual struct {
	Shape
	name  []int           // by node: that of the original shape
	edges map[Edge][]Edge // original edges that an edge stands for
	loops [][]bool        // node sets of the cycles that have been found
	outs  []Edge          // of cycles elsewhere than at their normal exits
	found []Interaction
}

func newResidual(f *folder, left []int) *residual {
	n := len(left)
	r := &residual{Shape: Shape{Exit: n, Succs: make([][]int, n+1)}, name: left, edges: make(map[Edge][]Edge)}
	at := make(map[int]int, n)
	for i, node := range left {
		at[node] = i
	}
	r.Entry = at[f.root(f.shape.Entry)]
	for i, node := range left {
		for _, to := range f.succs[node] {
			r.Succs[i] = append(r.Succs[i], at[to])
		}
		if len(r.Succs[i]) == 0 {
			r.Succs[i] = []int{n}
		}
	}
	for from, list := range f.shape.Succs {
		for _, to := range list {
			if f.into[from] < 0 {
				continue
			}
			if e := (Edge{at[f.root(from)], at[f.root(to)]}); e.From != e.To {
				r.edges[e] = append(r.edges[e], Edge{from, to})
			}
		}
	}
	return r
}

// note records all original edges that an edge of the residual stands for.
func (r *residual) note(kind InteractionKind, e Edge, head, join int) {
	for _, original := range r.edges[e] {
		r.found = append(r.found, Interaction{kind, original, r.name[head], r.name[join]})
	}
}

// cycles looks at each cycle, outer before inner ones, and opens them.
func (r *residual) cycles() {
	regions := []region{{nodes: append([]int{r.Entry}, r.all()...)}}
	o, last := newOrderer(&r.Shape), 0
	for len(regions) > 0 {
		at := regions[len(regions)-1]
		regions = regions[:len(regions)-1]
		for _, c := range o.components(at) {
			if len(c) == 1 || at.depth >= maxLoopDepth {
				continue
			}
			last++
			r.cycle(c)
			regions = append(regions, o.body(c, last, at.depth+1))
		}
	}
	r.open()
}

func (r *residual) all() []int {
	list := make([]int, r.Len())
	for i := range list {
		list[i] = i
	}
	return list
}

// cycle notes the edges into a cycle elsewhere than at its header, and those out of it elsewhere than at its normal exit.
// The header, through which a search came first, is the first node.
func (r *residual) cycle(c []int) {
	header := c[0]
	in := make([]bool, r.Len())
	for _, n := range c {
		in[n] = true
	}
	var exits []Edge
	latches := make(map[int]bool)
	for from, list := range r.Succs {
		for _, to := range list {
			switch {
			case in[to] && !in[from] && to != header:
				r.note(LoopIn, Edge{from, to}, header, header)
			case in[from] && to == header:
				latches[from] = true
			case in[from] && !in[to]:
				exits = append(exits, Edge{from, to})
			}
		}
	}
	normal := normalExit(exits, header, latches)
	for _, e := range exits {
		if e != normal {
			r.note(LoopOut, e, header, header)
			r.outs = append(r.outs, e)
		}
	}
	r.loops = append(r.loops, in)
}

// normalExit is the exit of a loop that a structured one would have: from the header, else from its only latch.
func normalExit(exits []Edge, header int, latches map[int]bool) Edge {
	for _, e := range exits {
		if e.From == header {
			return e
		}
	}
	for _, e := range exits {
		if len(latches) == 1 && latches[e.From] {
			return e
		}
	}
	return Edge{-1, -1}
}

// open leads the edges that go back in a depth-first search, and those that a Cut would lead to a latch, to the exit.
func (r *residual) open() {
	edges := r.retreating()
	for _, e := range r.outs {
		if !slices.Contains(edges, e) {
			edges = append(edges, e)
		}
	}
	for _, e := range edges {
		list := r.Succs[e.From]
		list[slices.Index(list, e.To)] = r.Exit
	}
}

// hammocks notes, for each join that is not the immediate post-dominator of its immediate dominator, the edges that leave
// the paths between them.
func (r *residual) hammocks() {
	idom, ipdom := r.Dominators(), r.PostDominators()
	preds := make([][]int, r.Len())
	for from, list := range r.Succs {
		for _, to := range list {
			preds[to] = append(preds[to], from)
		}
	}
	for join := range r.name {
		head := idom[join]
		if head < 0 || len(preds[join]) < 2 || ipdom[head] == join {
			continue
		}
		between := r.between(head, join, preds)
		for from, in := range between {
			for _, to := range r.Succs[from] {
				if in && to != join && to != r.Exit && !between[to] && !r.leavesLoop(from, to) {
					r.note(BranchOut, Edge{from, to}, head, join)
				}
			}
		}
	}
}

// leavesLoop reports whether an edge leads out of a cycle.
func (r *residual) leavesLoop(from, to int) bool {
	return slices.ContainsFunc(r.loops, func(in []bool) bool { return in[from] && !in[to] })
}

// between returns the nodes on the paths from a dominator to a join, the join left out.
func (r *residual) between(head, join int, preds [][]int) []bool {
	in := make([]bool, r.Len())
	in[head] = true
	for work := []int{join}; len(work) > 0; {
		node := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range preds[node] {
			if !in[p] {
				in[p] = true
				work = append(work, p)
			}
		}
	}
	return in
}
