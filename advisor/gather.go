package advisor

import (
	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// gathers reports whether each lane of an access goes where data of its own point: an index or a pointer that it has loaded in the same
// round of the innermost loop, or in the same code outside loops. No layout of the threads makes neighbours of such accesses. The start of
// a row that was loaded before a loop is no such index: the rounds of the loop walk through the row.
func (in *Input) gathers(n blamer.Node) bool {
	l := in.Loop(n)
	if l == nil {
		l = in.outside(n.Code)
	}
	return in.pointed(n, l)
}

// beginsAnywhere reports whether data say where the accesses of a lane begin, before its loop or in it: rows of many lengths, one behind the other.
func (in *Input) beginsAnywhere(n blamer.Node) bool { return in.pointed(n, nil) }

// pointed reports whether the address of an access follows from what each lane has loaded of its own in a loop, or anywhere where that is nil.
func (in *Input) pointed(n blamer.Node, l *cfg.Loop) bool {
	address := in.Inst(n).Address()
	if address == nil || address.Reg == sass.RZ {
		return false
	}
	met := map[regAt]bool{}
	var follow func(r sass.Resource, use int) bool
	follow = func(r sass.Resource, use int) bool {
		at := regAt{r, use}
		if r >= sass.ResUReg || met[at] {
			return false
		}
		met[at] = true
		for _, def := range in.defsWithin(l, n.Code, use, r) {
			d := blamer.Node{Code: n.Code, Inst: def}
			if in.pointsApart(d) {
				return true
			}
			if in.Inst(d).Op.Properties().Memory() != sass.NoSpace {
				continue // one value for all lanes
			}
			for _, from := range in.Inst(blamer.Node{Code: n.Code, Inst: def}).Uses(nil) {
				if follow(from, def) {
					return true
				}
			}
		}
		return false
	}
	for k := range max(1, address.Width) {
		if follow(sass.ResReg+sass.Resource(address.Reg+k), n.Inst) {
			return true
		}
	}
	return false
}

// outside is the code of a section outside loops, as if it were one.
func (in *Input) outside(code int) *cfg.Loop {
	whole := &cfg.Loop{}
	for id, b := range in.codes[code].graph.Blocks {
		if b.Loop == nil {
			whole.Blocks = append(whole.Blocks, id)
		}
	}
	return whole
}

// pointsApart reports whether an instruction loads other data in each lane, by the record where there is one: lanes may find the data of all of them
// in one sector, as bytes are or words of four lanes each.
func (in *Input) pointsApart(n blamer.Node) bool {
	const nearly = 1.05
	p := in.Inst(n).Op.Properties()
	if p.Atomic(sass.SpaceGlobal|sass.SpaceGeneric) || p.Loads(sass.SpaceShared) {
		return true
	}
	if r := in.recorded(n); r != nil && r.Bytes > 0 && p.Loads(sass.SpaceGlobal) {
		return 2*r.Apart >= r.Bytes
	}
	k := in.counts(n)
	return p.Loads(sass.SpaceGlobal|sass.SpaceGeneric) && k.sectors > nearly*k.executions // all lanes read one word else
}
