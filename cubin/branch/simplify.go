package branch

// simplify takes out joins at which only one value arrives: the search makes such where it comes to a node before all of
// its predecessors have their values (Braun et al., "Simple and Efficient Construction of Static Single Assignment Form",
// CC 2013, section 2.2).
func (s *slicer) simplify() {
	same := make([]int32, len(s.values)) // what a value is the same as
	for v := range same {
		same[v] = int32(v)
	}
	find := func(v int32) int32 {
		for same[v] != v {
			same[v] = same[same[v]]
			v = same[v]
		}
		return v
	}
	for changed := true; changed; {
		changed = false
		for _, node := range s.order {
			for _, phi := range s.phis[node] {
				if same[phi] == phi && !s.values[phi].leaves {
					if only := s.only(phi, find); only != phi {
						same[phi] = only
						changed = true
					}
				}
			}
		}
	}
	rename := func(list []int32) {
		for i, v := range list {
			list[i] = find(v)
		}
	}
	for v := range s.values {
		rename(s.values[v].operands)
		rename(s.values[v].address)
	}
	for node := range s.decisions {
		rename(s.decisions[node])
		for r, phi := range s.phis[node] {
			if same[phi] != phi {
				delete(s.phis[node], r)
			}
		}
	}
	for at, v := range s.guards {
		s.guards[at] = find(v)
	}
}

// only returns the one value that arrives at a join, the join itself where there are several.
func (s *slicer) only(phi int32, find func(int32) int32) int32 {
	one := phi
	for _, o := range s.values[phi].operands {
		switch v := find(o); {
		case v == phi:
		case one == phi:
			one = v
		case one != v:
			return phi
		}
	}
	return one
}
