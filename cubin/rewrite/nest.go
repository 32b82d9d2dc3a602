package rewrite

import "slices"

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
