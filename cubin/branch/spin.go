package branch

import "gpa/cubin/sass"

// maxSpin bounds the instructions of a loop that is looked at: loops that do nothing but wait are short.
const maxSpin = 100

// spinWarnings finds loops that do nothing but wait until another thread changes memory, where threads of a warp may leave
// in different rounds: each round reads the same place, or tries the same exchange, and nothing in the loop lets another
// thread go on. A loop that tries a compare-and-swap with what it has just read is none: one thread always gets on. Nor is
// one in which the lock is released.
func (s *slicer) spinWarnings(varying []bool) []Warning {
	var list []Warning
	for _, l := range s.loops {
		at, ok := s.waitsFor(l)
		if !ok {
			continue
		}
		for _, node := range l.deciders {
			if s.varies(node, varying) {
				n := s.super.Nodes[node]
				list = append(list, Warning{Kind: SpinLoop, Code: at.Code, Inst: at.Inst, Branch: Place{n.Graph, n.Last}})
				break
			}
		}
	}
	return list
}

// waitsFor returns the instruction whose result a loop does nothing but wait for.
func (s *slicer) waitsFor(l *loop) (at Place, ok bool) {
	var reads []int32
	inside := make(map[int32]bool)
	places := make(map[int32]Place)
	count := 0
	for _, node := range l.nodes {
		insts := s.insts(node)
		if count += len(insts); count > maxSpin {
			return at, false
		}
		for _, phi := range s.phis[node] {
			inside[phi] = true
		}
		n := s.super.Nodes[node]
		for i, v := range s.written[node] {
			inside[v] = true
			switch {
			case polls(&insts[i]):
				reads = append(reads, v)
				places[v] = Place{n.Graph, n.First + i}
			case changesMemory(&insts[i]):
				return at, false
			}
		}
	}
	for _, v := range reads {
		switch steady := s.steady(v, inside); {
		case !steady && changesMemory(s.values[v].inst):
			return Place{}, false // swaps what it has read before
		case !ok && steady && s.decidedBy(l, v, inside):
			at, ok = places[v], true
		}
	}
	return at, ok
}

// polls reports whether an instruction asks memory for the same again and again without a change of its own: a load, an
// exchange, or a compare-and-swap.
func polls(in *sass.Inst) bool {
	const shared = sass.SpaceGeneric | sass.SpaceGlobal | sass.SpaceShared
	switch p := in.Op.Properties(); {
	case p.Loads(shared):
		return true
	case p.Atomic(shared) && in.Op.Returns():
		switch in.Mod(sass.AtomOp) {
		case sass.AtomEXCH, sass.AtomCAS, sass.AtomOR, sass.AtomAND, sass.AtomMAX, sass.AtomMIN:
			return true
		}
	}
	return false
}

// changesMemory reports whether an instruction may let another thread go on.
func changesMemory(in *sass.Inst) bool {
	p := in.Op.Properties()
	return (p.Writes&^sass.SpaceLocal != 0 || p.Flow == sass.FlowCall || p.Sync == sass.SyncBlock || p.Sync == sass.SyncCluster) && !in.Guard.Never()
}

// steady reports whether a read has the same operands in every round: they come from outside the loop, or are computed
// anew from such.
func (s *slicer) steady(read int32, inside map[int32]bool) bool {
	const open, done = 1, 2
	state := make(map[int32]int)
	var visit func(v int32, computed bool) bool
	visit = func(v int32, computed bool) bool {
		if !inside[v] || state[v] == done {
			return true
		}
		x := &s.values[v]
		if state[v] == open {
			return !computed // a cycle of joins alone changes nothing
		}
		if x.inst != nil && opaque(x.inst) {
			return false
		}
		state[v] = open
		for _, o := range x.operands {
			if !visit(o, computed || x.inst != nil) {
				return false
			}
		}
		state[v] = done
		return true
	}
	for _, list := range [][]int32{s.values[read].operands, s.values[read].address} {
		for _, o := range list {
			if !visit(o, false) {
				return false
			}
		}
	}
	return true
}

// decidedBy reports whether what a read returns decides at every exit of a loop.
func (s *slicer) decidedBy(l *loop, read int32, inside map[int32]bool) bool {
	for _, node := range l.deciders {
		if !s.follows(s.decisions[node], read, inside) {
			return false
		}
	}
	return true
}

// follows reports whether one of some values is made of another in the same round.
func (s *slicer) follows(from []int32, read int32, inside map[int32]bool) bool {
	seen := make(map[int32]bool)
	for work := append([]int32(nil), from...); len(work) > 0; {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		if v == read {
			return true
		}
		if inside[v] && !seen[v] {
			seen[v] = true
			work = append(work, s.values[v].operands...)
		}
	}
	return false
}
