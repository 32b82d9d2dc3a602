package rewrite

import (
	"slices"

	"gpa/cubin/cfg"
)

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
