package advisor

import (
	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// transposed adds to a change that makes accesses coalesced what it takes where the code transposes: its loads are scattered and what they
// bring is stored to neighbouring places, or the other way about. Then no other order of the threads helps, and they have to exchange their
// values in shared memory. c is as it was where the threads can just be given other elements.
func (in *Input) transposed(c *Change) *Change {
	s, bytes := &Streams{Exchanged: in.transpositions(c.Coalesced)}, 0 // of a thread
	if len(s.Exchanged) == 0 {
		return c
	}
	for _, g := range s.Exchanged {
		bytes = max(bytes, len(g)*in.Inst(g[0]).AccessBytes())
		if len(g) > 1 && in.Inst(g[0]).Op == sass.LDG {
			s.Hoisted = append(s.Hoisted, g...)
		}
	}
	return c.with(&Change{Streams: s, Shared: in.shared() + bytes*volume(in.Launch.Block)})
}

// transpositions groups the scattered accesses of a basic block that are on one side of a transposition: all loads, or all stores.
func (in *Input) transpositions(scattered []blamer.Node) (groups [][]blamer.Node) {
	type side struct {
		code  int
		block *cfg.Block
		op    sass.Op
	}
	place := make(map[side]int)
	for _, n := range scattered {
		op := in.Inst(n).Op
		if op != sass.LDG && op != sass.STG || !in.apart(n) || !in.facesDense(n) {
			continue
		}
		key := side{n.Code, in.Block(n), op}
		if _, ok := place[key]; !ok {
			place[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[place[key]] = append(groups[place[key]], n)
	}
	return groups
}

// apart reports whether most lanes of an access are each in a sector of its own, and no other access of the block takes the rest of these
// sectors, as those of the other members of a structure do.
func (in *Input) apart(n blamer.Node) bool {
	const most = .45
	k, b, at := in.counts(n), in.Block(n), in.Inst(n).Address()
	if at == nil || b == nil || k.sectors < most*k.threads {
		return false
	}
	sector := int32(in.Model.L1.Sector.Value)
	for i := b.First; i <= b.Last; i++ {
		o := blamer.Node{Code: n.Code, Inst: i}
		if other := in.Inst(o).Address(); o != n && in.Inst(o).Op == in.Inst(n).Op && other != nil && other.Reg == at.Reg &&
			other.Offset-at.Offset < sector && at.Offset-other.Offset < sector {
			return false
		}
	}
	return true
}

// facesDense reports whether the code around an access moves about as much the other way by accesses of neighbours to neighbouring elements.
func (in *Input) facesDense(n blamer.Node) bool {
	l, k, facing := in.Loop(n), in.counts(n), sass.STG
	if in.Inst(n).Op == sass.STG {
		facing = sass.LDG
	}
	dense := 0.0
	for i := range in.codes[n.Code].counters {
		o := blamer.Node{Code: n.Code, Inst: i}
		if inst := in.Inst(o); inst.Op == facing && in.Loop(o) == l && in.dense(o, int32(inst.AccessBytes())) {
			dense += in.counts(o).threads
		}
	}
	return 2*dense >= k.threads
}
