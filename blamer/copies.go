package blamer

import (
	"slices"

	"gpa/cubin/sass"
)

// throughGroups replaces each LDGDEPBAR among the sources by what it makes the use wait for: the copies to shared memory (LDGSTS) before
// it. One before which there is no copy stays.
func (s *slicer) throughGroups(deps []dependency) []dependency {
	if !slices.ContainsFunc(deps, func(d dependency) bool { return s.code.Insts[d.def].Op == sass.LDGDEPBAR }) {
		return deps
	}
	var list []dependency
	for _, d := range deps {
		var copies []int
		if s.code.Insts[d.def].Op == sass.LDGDEPBAR {
			copies = s.groupCopies(d.def)
		}
		if len(copies) == 0 {
			copies = []int{d.def}
		}
		for _, def := range copies {
			if c := (dependency{def, d.use, d.res}); !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// groupCopies searches backward from an LDGDEPBAR for the copies that it takes up: on all paths back to the LDGDEPBAR before. It returns
// them in address order.
func (s *slicer) groupCopies(group int) []int {
	var copies []int
	type reached struct{ block, end int }
	seen := make([]bool, len(s.blocks))
	work := []reached{{int(s.block[group]), group}}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		b := &s.blocks[at.block]
		i := at.end - 1
		for ; i >= b.First && s.code.Insts[i].Op != sass.LDGDEPBAR; i-- {
			if isCopy(&s.code.Insts[i]) {
				copies = append(copies, i)
			}
		}
		if i >= b.First {
			continue
		}
		for _, p := range b.Preds {
			if !seen[p] {
				seen[p] = true
				work = append(work, reached{p, s.blocks[p].Last + 1})
			}
		}
	}
	slices.Sort(copies)
	return slices.Compact(copies)
}
