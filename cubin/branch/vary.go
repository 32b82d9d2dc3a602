package branch

import "gpa/cubin/sass"

// varying returns for each value whether the threads of a block may have different ones: it follows from the numbers of
// threads, from other lanes, from atomics and calls, or from what memory holds at an address that varies. Joins and the
// ends of loops depend on the branches that lead there, so that values of different paths and rounds vary with these.
func (s *slicer) varying() []bool {
	users := make([][]int32, len(s.values))
	varies := make([]bool, len(s.values))
	var work []int32
	for v := range s.values {
		x := &s.values[v]
		for _, list := range [][]int32{x.operands, x.address} {
			for _, o := range list {
				users[o] = append(users[o], int32(v))
			}
		}
		if x.inst != nil && differs(x.inst, x.own) {
			varies[v] = true
			work = append(work, int32(v))
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, u := range users[v] {
			if !varies[u] {
				varies[u] = true
				work = append(work, u)
			}
		}
	}
	return varies
}

// differs reports whether an instruction brings in what differs between the threads of a block whatever it reads.
func differs(in *sass.Inst, own Origins) bool {
	p := in.Op.Properties()
	_, special := in.Special()
	switch {
	case p.Loads(^sass.SpaceLocal) && !p.Crosses:
		return false // by address
	case special:
		return own&(Thread|Data) != 0
	case in.Op == sass.B2R: // what BAR.RED found is the same for the block
		return in.Mod(sass.B2RMode) != sass.B2RRESULT
	}
	return own&(Thread|Warp) != 0 || opaque(in)
}

// varies reports whether threads of a block may go on by different ways from a node.
func (s *slicer) varies(node int, varying []bool) bool {
	for _, v := range s.decisions[node] {
		if varying[v] {
			return true
		}
	}
	return false
}
