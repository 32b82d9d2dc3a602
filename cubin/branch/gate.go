package branch

// gate makes the value that a thread finds at a join depend on the branches that lead threads to it by different ways, as
// gated single assignment does (Ottenstein, Ballance and MacCabe 1990). A node that control comes back to in a loop is no
// such join for the back edge: all threads of an iteration have come round.
func (s *slicer) gate() {
	dom, post := s.super.Shape.Dominators(), s.super.Shape.PostDominators()
	seen := make([]int, s.super.Shape.Len())
	for _, node := range s.order {
		if len(s.phis[node]) == 0 || dom[node] < 0 {
			continue
		}
		gate := int32(len(s.values))
		operands := s.deciders(node, dom, post, seen)
		if len(operands) == 0 {
			continue
		}
		s.values = append(s.values, value{operands: operands})
		for _, phi := range s.phis[node] {
			s.values[phi].operands = append(s.values[phi].operands, gate)
		}
	}
}

// deciders lists what the branches decide by that lie between the immediate dominator of a join and the join, and whose
// ways meet at the join or behind it. seen holds, by node, the join plus 1 whose region the node was last found in.
func (s *slicer) deciders(join int, dom, post, seen []int) []int32 {
	mark := join + 1
	var list []int32
	var region []int
	visit := func(node int) {
		if seen[node] != mark && node != join {
			seen[node] = mark
			region = append(region, node)
		}
	}
	visit(dom[join])
	for _, p := range s.preds[join] {
		if !dominates(dom, join, p) {
			visit(p)
		}
	}
	for i := 0; i < len(region); i++ {
		if region[i] == dom[join] {
			continue
		}
		for _, p := range s.preds[region[i]] {
			visit(p)
		}
	}
	for _, node := range region {
		if meet := post[node]; meet == join || meet < 0 || seen[meet] != mark {
			list = append(list, s.decisions[node]...)
		}
	}
	return list
}

// dominates reports whether all ways to b lead through a.
func dominates(dom []int, a, b int) bool {
	for b != a && b >= 0 && dom[b] != b {
		b = dom[b]
	}
	return a == b
}
