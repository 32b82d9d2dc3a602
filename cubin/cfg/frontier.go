package cfg

import (
	"fmt"
	"math/bits"
	"slices"
)

// Frontiers are the thread frontiers of a shape under an order of priorities: for each node the nodes at which other
// threads of the warp may wait while some execute it, if of the nodes with threads the one with the highest priority is
// always executed first.
//
// Algorithm 1 of Diamos et al., "SIMD Re-Convergence At Thread Frontiers" (MICRO 2011), misses nodes: as printed it adds
// targets of divergent branches only, and its one pass does not see what waits across a back edge. These sets are exact.
// A node y is in the frontier of x if two threads can come to stand at x and y, which is found by walking over pairs of
// nodes; of three threads or more, any two behave as they would alone, since of two the one with the higher priority
// moves first.
type Frontiers struct {
	Order []int // nodes by priority, the highest first
	Rank  []int // by node: place in the order
	shape *Shape
	waits []bitset // by rank: ranks of the frontier
}

// maxFrontierNodes bounds the shapes whose frontiers are found: sets take up to the square of it in bits.
const maxFrontierNodes = 1 << 15

// Frontiers finds the thread frontiers. The order has every node once, as [Shape.Order] gives it.
func (s *Shape) Frontiers(order []int) (*Frontiers, error) {
	if s.Len() > maxFrontierNodes {
		return nil, fmt.Errorf("thread frontiers of %d blocks, %d are the most", s.Len(), maxFrontierNodes)
	}
	f := &Frontiers{Order: order, Rank: make([]int, s.Len()), shape: s, waits: make([]bitset, s.Len())}
	for rank, node := range order {
		f.Rank[node] = rank
	}
	w := newFrontierWalk(f)
	for node, reachable := range s.Reachable() {
		if reachable {
			w.part(node)
		}
	}
	w.run()
	return f, nil
}

// A frontierWalk is the walk over pairs of nodes. All numbers are ranks.
type frontierWalk struct {
	f      *Frontiers
	succs  [][]int
	fresh  []bitset // by rank: waiting ranks that have not been followed yet
	queued []bool
	queue  []int
}

func newFrontierWalk(f *Frontiers) *frontierWalk {
	n := f.shape.Len()
	w := &frontierWalk{f: f, succs: make([][]int, n), fresh: make([]bitset, n), queued: make([]bool, n)}
	for node, list := range f.shape.Succs {
		for _, to := range list {
			w.succs[f.Rank[node]] = append(w.succs[f.Rank[node]], f.Rank[to])
		}
	}
	return w
}

// part adds the pairs into which two threads at a node can part.
func (w *frontierWalk) part(node int) {
	list := w.succs[w.f.Rank[node]]
	for _, a := range list {
		for _, b := range list {
			if a < b {
				w.add(a, b)
			}
		}
	}
}

// add notes that a thread can wait at rank low while one is at high.
func (w *frontierWalk) add(high, low int) {
	if w.f.waits[high].has(low) {
		return
	}
	w.f.waits[high].add(low, len(w.queued))
	w.fresh[high].add(low, len(w.queued))
	if !w.queued[high] {
		w.queued[high] = true
		w.queue = append(w.queue, high)
	}
}

// run moves the first thread of each pair along its edges.
func (w *frontierWalk) run() {
	for len(w.queue) > 0 {
		high := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.queued[high] = false
		fresh := w.fresh[high]
		w.fresh[high] = nil
		for low := range fresh.all {
			for _, to := range w.succs[high] {
				switch {
				case to < low:
					w.add(to, low)
				case to > low:
					w.add(low, to)
				}
			}
		}
	}
}

// Of returns the frontier of a node by priority.
func (f *Frontiers) Of(node int) []int {
	var list []int
	for rank := range f.waits[f.Rank[node]].all {
		list = append(list, f.Order[rank])
	}
	return list
}

// Has reports whether threads may wait at a node while others execute another one.
func (f *Frontiers) Has(executing, waiting int) bool {
	return f.waits[f.Rank[executing]].has(f.Rank[waiting])
}

// Sizes returns the sizes of the frontiers of the reachable nodes, the exit left out.
func (f *Frontiers) Sizes() (least int, mean float64, most int) {
	sum, n := 0, 0
	for node, reachable := range f.shape.Reachable() {
		if !reachable || node == f.shape.Exit {
			continue
		}
		size := f.waits[f.Rank[node]].len()
		if n == 0 || size < least {
			least = size
		}
		sum, n, most = sum+size, n+1, max(most, size)
	}
	if n > 0 {
		mean = float64(sum) / float64(n)
	}
	return least, mean, most
}

// Checks returns the edges on which hardware has to look for threads that wait where the edge leads: the re-convergence
// checks. Edges to the exit are not among them.
func (f *Frontiers) Checks() []Edge {
	var list []Edge
	for node, succs := range f.shape.Succs {
		for i, to := range succs {
			if to != f.shape.Exit && f.Has(node, to) && !slices.Contains(succs[:i], to) {
				list = append(list, Edge{node, to})
			}
		}
	}
	return list
}

// Joins returns the nodes to which re-convergence checks lead, in the order of their numbers: where threads come together
// again under thread frontiers.
func (f *Frontiers) Joins() []int {
	joins := make([]bool, f.shape.Len())
	for _, e := range f.Checks() {
		joins[e.To] = true
	}
	return numbers(joins)
}

// A bitset is a set of small numbers; nil is the empty one.
type bitset []uint64

func (b bitset) has(i int) bool { return i>>6 < len(b) && b[i>>6]>>(i&63)&1 != 0 }

// add adds one of n numbers.
func (b *bitset) add(i, n int) {
	if *b == nil {
		*b = make(bitset, (n+63)>>6)
	}
	(*b)[i>>6] |= 1 << (i & 63)
}

func (b bitset) len() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// all yields the numbers in ascending order.
func (b bitset) all(yield func(int) bool) {
	for at, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(at<<6 + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}
