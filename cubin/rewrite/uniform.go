package rewrite

import "gpa/cubin/sass"

// A resources is a set of resources.
type resources [(sass.NumRes + 63) / 64]uint64

func (s *resources) has(r sass.Resource) bool { return s[r>>6]>>(r&63)&1 != 0 }
func (s *resources) add(r sass.Resource)      { s[r>>6] |= 1 << (r & 63) }
func (s *resources) drop(r sass.Resource)     { s[r>>6] &^= 1 << (r & 63) }

// A divergence says where lanes of a warp may hold different values.
type divergence struct {
	body      *body
	varying   []resources // by piece, at its beginning
	apart     []bool      // by piece: lanes may be there without the others
	divergent []bool      // by piece: lanes may leave it by different ways
}

// diverge finds the branches at which lanes may part: those whose condition follows from what differs by lane (thread and
// lane numbers, what memory, shuffles and calls return), and from values that were set while lanes were apart. A
// conditional exit parts nobody: those that stay are together. In a device function everything may vary at the beginning.
func (b *body) diverge(kernel bool) []bool { return b.divergence(kernel).divergent }

// partings finds the pieces at whose ends lanes may part, those included at which some of them exit.
func (b *body) partings(kernel bool) []bool {
	d := b.divergence(kernel)
	for i := range b.pieces {
		p := &b.pieces[i]
		if p.branch == nil || d.divergent[i] {
			continue
		}
		state := d.varying[i]
		for k := range p.items {
			state.execute(&p.items[k].inst, d.apart[i])
		}
		d.divergent[i] = state.reads(&p.branch.inst)
	}
	return d.divergent
}

// divergence follows what varies until nothing changes.
func (b *body) divergence(kernel bool) *divergence {
	n := len(b.pieces)
	d := &divergence{body: b, varying: make([]resources, n), apart: make([]bool, n), divergent: make([]bool, n)}
	if !kernel {
		d.varying[b.entry] = everything()
	}
	s := b.shape()
	ipdom := s.PostDominators()
	for d.flow() {
		for i, divergent := range d.divergent {
			if !divergent || ipdom[i] < 0 {
				continue
			}
			in := between(s, i, ipdom[i])
			in[i] = false
			for _, to := range s.Succs[i] { // a loop may come back to the branch
				in[i] = in[i] || to != ipdom[i] && between(s, to, ipdom[i])[i]
			}
			for k := range d.apart {
				d.apart[k] = d.apart[k] || in[k]
			}
		}
	}
	return d
}

func everything() (s resources) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	return s
}

// flow moves values through all pieces until nothing changes, and reports whether a further branch came to be divergent.
func (d *divergence) flow() bool {
	found := false
	for changed := true; changed; {
		changed = false
		for i := range d.body.pieces {
			p := &d.body.pieces[i]
			state := d.varying[i]
			for k := range p.items {
				state.execute(&p.items[k].inst, d.apart[i])
			}
			if p.branch != nil && len(p.succs()) > 1 && !d.divergent[i] && state.reads(&p.branch.inst) {
				d.divergent[i], found = true, true
			}
			for _, to := range p.succs() {
				for w := range state {
					if state[w]&^d.varying[to][w] != 0 {
						d.varying[to][w] |= state[w]
						changed = true
					}
				}
			}
		}
	}
	return found
}

// reads reports whether an instruction reads something that varies.
func (s *resources) reads(in *sass.Inst) bool {
	for _, r := range in.Uses(nil) {
		if s.has(r) && (r < sass.ResSB || r >= sass.ResConvBar) {
			return true
		}
	}
	return false
}

// execute changes the set of what varies as an instruction does. apart says that other lanes may not execute it.
func (s *resources) execute(in *sass.Inst, apart bool) {
	if in.Op == sass.CALL {
		*s = everything()
		return
	}
	varies := apart || source(in) || s.reads(in)
	for _, r := range in.Defs(nil) {
		if varies {
			s.add(r)
		} else if in.Guard.Always() {
			s.drop(r)
		}
	}
}

// Numbers of the special registers that are the same for a whole block.
const (
	srCTAIDX = 37
	srCTAIDZ = 39
	srZero   = 255
)

// source reports whether what an instruction returns may differ by lane although its operands do not.
func source(in *sass.Inst) bool {
	if number, ok := in.Special(); ok {
		return number != srZero && (number < srCTAIDX || number > srCTAIDZ)
	}
	if p := in.Op.Properties(); p.Loads(sass.SpaceConstant) || p.Crosses || in.Op == sass.P2R {
		return p.Reads != sass.SpaceConstant
	}
	switch in.Form.Pipe {
	case sass.PipeLSU, sass.PipeTEX, sass.PipeCBU:
		return true
	}
	return false
}
