package branch

import "gpa/cubin/sass"

// A wayOut is an edge that leaves a loop: threads of a warp that take it in different rounds bring different values with
// them, though all of them compute the same in each round (temporal divergence; the η of gated single assignment).
type wayOut struct {
	loop   int // number
	target int // node behind the loop
}

// A loop is a natural loop of the program: the nodes from which control comes back to its header.
type loop struct {
	header   int
	nodes    []int
	in       map[int]bool
	deciders []int // nodes that decide in which round a thread leaves
}

// leaveLoops puts phi functions behind loops for all that is written in them, and remembers whose they are.
func (s *slicer) leaveLoops() {
	s.loops = s.findLoops()
	seen := make(map[wayOut]bool)
	for i, l := range s.loops {
		var written []sass.Resource
		for _, node := range l.nodes {
			for _, to := range s.super.Shape.Succs[node] {
				w := wayOut{i, to}
				if l.in[to] || to == s.super.Shape.Exit || seen[w] {
					continue
				}
				seen[w] = true
				if written == nil {
					written = s.writes(l)
				}
				for _, r := range written {
					s.values[s.phi(to, r)].leaves = true
				}
				s.ways = append(s.ways, w)
			}
		}
	}
}

// findLoops returns the natural loops that a thread may leave, by header.
func (s *slicer) findLoops() []*loop {
	dom := s.super.Shape.Dominators()
	var list []*loop
	for _, header := range s.order {
		l := &loop{header: header, in: map[int]bool{header: true}, nodes: []int{header}}
		for _, p := range s.preds[header] {
			if dominates(dom, header, p) {
				l.add(p, s.preds)
			}
		}
		if len(l.nodes) == 1 && !l.repeats(s) {
			continue
		}
		for _, node := range l.nodes {
			if l.leaves(s, node) {
				l.deciders = append(l.deciders, node)
			}
		}
		if len(l.deciders) > 0 {
			list = append(list, l)
		}
	}
	return list
}

// repeats reports whether the header alone is a loop.
func (l *loop) repeats(s *slicer) bool {
	for _, to := range s.super.Shape.Succs[l.header] {
		if to == l.header {
			return true
		}
	}
	return false
}

// add puts a node that leads to the header into the loop, and all that leads to it.
func (l *loop) add(node int, preds [][]int) {
	for work := []int{node}; len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		if !l.in[n] {
			l.in[n] = true
			l.nodes = append(l.nodes, n)
			work = append(work, preds[n]...)
		}
	}
}

// leaves reports whether control may go on behind the loop from a node. A thread that ends there brings nothing along.
func (l *loop) leaves(s *slicer, node int) bool {
	for _, to := range s.super.Shape.Succs[node] {
		if !l.in[to] && to != s.super.Shape.Exit {
			return true
		}
	}
	return false
}

// writes lists the resources that a loop writes.
func (s *slicer) writes(l *loop) []sass.Resource {
	var set [sass.NumRes]bool
	var list, buffer []sass.Resource
	for _, node := range l.nodes {
		for i := range s.insts(node) {
			buffer = s.defs(node, i, buffer[:0])
			for _, r := range buffer {
				if !set[r] {
					set[r] = true
					list = append(list, r)
				}
			}
		}
	}
	return list
}

// gateLoops makes the values behind loops depend on what decides in which round a thread leaves.
func (s *slicer) gateLoops() {
	gates := make(map[int]int32) // by loop
	for _, w := range s.ways {
		l := s.loops[w.loop]
		gate, ok := gates[w.loop]
		if !ok {
			var operands []int32
			for _, node := range l.deciders {
				operands = append(operands, s.decisions[node]...)
			}
			gate = int32(len(s.values))
			s.values = append(s.values, value{operands: operands})
			gates[w.loop] = gate
		}
		for _, r := range s.writes(l) {
			phi := s.phis[w.target][r]
			s.values[phi].operands = append(s.values[phi].operands, gate)
		}
	}
}
