package blamer

import "gpa/cubin/sass"

// productSource is the matrix product that a wait for products of the warpgroup ends with: the last one of the newest group that has to be
// complete. No register and no dependence counter leads there. Groups are complete in order, so that those that the wait lets be
// outstanding are the nearest ones above it. Where there are not so many above, the wait is in a loop and the first above was also the
// last of the round before.
func (a *analysis) productSource(use int) []edge {
	outstanding, _ := a.code.Insts[use].AwaitsGroups()
	found, closed := -1, 0
	for i := use - 1; i >= 0; i-- {
		in := &a.code.Insts[i]
		if in.Op.Properties().Async != sass.AsyncMatrix || !a.within(i) {
			continue
		}
		if in.ClosesGroup() {
			closed++
		}
		if in.Operands[0].Reg == sass.RZ { // it only closes a group
			continue
		}
		if found < 0 || closed <= outstanding+1 && in.ClosesGroup() {
			found = i
		}
		if closed > outstanding {
			break
		}
	}
	if found < 0 {
		return []edge{{def: use, detail: OtherStall, share: 1}}
	}
	return []edge{{def: found, detail: Arithmetic, share: 1}}
}

// within reports whether an instruction can be reached in the function that is analyzed.
func (a *analysis) within(i int) bool { return a.block[i] >= 0 }

// transferSources are the copies to shared memory that a wait for the answers of queries of transaction barriers is for: all bulk copies of
// the function, as the addresses of barriers are not followed; nil where the wait is for something else too.
func (a *analysis) transferSources(deps []dependency) []edge {
	for _, d := range deps {
		if !isQuery(&a.code.Insts[d.def]) {
			return nil
		}
	}
	var sources []edge
	for i := range a.code.Insts {
		p := a.code.Insts[i].Op.Properties()
		if len(deps) > 0 && a.within(i) && p.Async == sass.AsyncBulk && p.Writes&sass.SpaceShared != 0 && (!a.counted || a.issues[i] > 0) {
			sources = append(sources, edge{def: i, detail: GlobalMemory})
		}
	}
	for i := range sources {
		sources[i].share = 1 / float64(len(sources))
	}
	return sources
}

// isQuery reports whether an instruction asks for the phase of a transaction barrier.
func isQuery(in *sass.Inst) bool {
	return in.Op.Properties().Sync == sass.SyncTransfer && in.Operands[0].Kind == sass.KindPred
}
