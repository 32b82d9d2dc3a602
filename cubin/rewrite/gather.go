package rewrite

import (
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// gatherBlocks returns the headers of a function's gather loops: the sm_70 compiler lets lanes wait there, before a back
// edge, until no more join the warp. Barriers at the joins make them needless. A loop whose results are read behind it is
// not among them.
func gatherBlocks(g *cfg.Graph, f *cfg.Func) map[int]bool {
	list := make(map[int]bool)
	for _, loop := range g.Loops {
		if !loop.Gather || g.Blocks[loop.Header].Func != g.Blocks[f.Entry].Func {
			continue
		}
		live := liveBlocks(g, f)
		free := true
		for _, id := range loop.Blocks {
			insts := g.Insts(g.Blocks[id])
			for _, to := range g.Blocks[id].Succs {
				if !loop.Contains(to) {
					free = free && !writesAny(insts, live[to])
				}
			}
		}
		if free {
			list[loop.Header] = true
		}
	}
	return list
}

// writesAny reports whether instructions write something of a set.
func writesAny(insts []sass.Inst, set resources) bool {
	for i := range insts {
		for _, r := range insts[i].Defs(nil) {
			if set.has(r) && (r < sass.ResSB || r >= sass.ResConvBar) {
				return true
			}
		}
	}
	return false
}

// liveBlocks returns for each block of a function, by id, the resources whose values at its beginning may be read. A call
// and the end of a device function may read all.
func liveBlocks(g *cfg.Graph, f *cfg.Func) map[int]resources {
	live := make(map[int]resources, len(f.Blocks))
	for changed := true; changed; {
		changed = false
		for k := len(f.Blocks) - 1; k >= 0; k-- {
			b := g.Blocks[f.Blocks[k]]
			var now resources
			for _, to := range b.Succs {
				now = union(now, live[to])
			}
			insts := g.Insts(b)
			for i := len(insts) - 1; i >= 0; i-- {
				now.before(&insts[i])
			}
			if now != live[b.ID] {
				live[b.ID], changed = now, true
			}
		}
	}
	return live
}

func union(a, b resources) resources {
	for i := range a {
		a[i] |= b[i]
	}
	return a
}

// before changes the set of what is live behind an instruction to that before it.
func (s *resources) before(in *sass.Inst) {
	if p := in.Op.Properties(); p.Flow == sass.FlowCall || p.Flow == sass.FlowReturn {
		*s = everything()
		return
	}
	if in.Guard.Always() {
		for _, r := range in.Defs(nil) {
			s.drop(r)
		}
	}
	for _, r := range in.Uses(nil) {
		s.add(r)
	}
}
