package blamer

import (
	"math"
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/stall"
)

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

// transferSources are what a wait for the answers of queries of transaction barriers is for: bulk copies to shared memory, whose arrival shows as
// other waits for memory do, or products that end in tensor memory; nil where the wait is for something else too. Barriers lie side by side in
// arrays, at a constant distance from where the shared memory of the block begins: a query is for what names the nearest one.
func (a *analysis) transferSources(deps []dependency, reason stall.Reason) []edge {
	var sources []edge
	for _, d := range deps {
		if isArrival(&a.code.Insts[d.def]) { // the answer is there long before data are
			continue
		}
		if !isQuery(&a.code.Insts[d.def]) {
			return nil
		}
		barrier := a.linearNear(d.def, a.code.Insts[d.def].Address()).constant
		for _, i := range a.nearestTo(d.def, barrier, reason) {
			if slices.ContainsFunc(sources, func(e edge) bool { return e.def == i }) {
				continue
			}
			detail := Arithmetic
			if a.code.Insts[i].Op.Properties().Async == sass.AsyncBulk {
				detail = GlobalMemory
			}
			sources = append(sources, edge{def: i, detail: detail})
		}
	}
	for i := range sources {
		sources[i].share = 1 / float64(len(sources))
	}
	return sources
}

// nearestTo returns what brings about the phases that a query may ask for, of the transaction barriers nearest to a place: of copies the last ones in their blocks, of
// products the last ones before each commit.
func (a *analysis) nearestTo(query int, barrier float64, reason stall.Reason) (sources []int) {
	nearest := math.Inf(1)
	last := make(map[int32]int) // by block: where in sources
	enter := func(i int, at int32, far float64) {
		if far < nearest {
			nearest, sources = far, nil
			clear(last)
		}
		if k, ok := last[at]; ok && far == nearest {
			sources[k] = i
		} else if far == nearest {
			last[at] = len(sources)
			sources = append(sources, i)
		}
	}
	product := -1
	for i := range a.code.Insts {
		in := &a.code.Insts[i]
		p := in.Op.Properties()
		if !a.within(i) || a.counted && a.issues[i] == 0 || a.onlyBehind(i, query) {
			continue
		}
		switch {
		case p.Async == sass.AsyncTensor:
			product = i
		case p.Async == sass.CommitsTensor && product >= 0 && reason == stall.ShortScoreboard:
			enter(product, a.block[i], math.Abs(barrier-a.linearNear(i, in.Address()).constant))
		case p.Async == sass.AsyncBulk && p.Writes&sass.SpaceShared != 0 && reason == stall.LongScoreboard:
			enter(i, a.block[i], math.Abs(barrier-a.linearNear(i, barrierOf(in)).constant))
		}
	}
	return sources
}

// onlyBehind reports whether an instruction is executed by those alone that have come by another one, and never again.
func (a *analysis) onlyBehind(i, other int) bool {
	if a.block[i] == a.block[other] && i < other || !a.graph.Dominates(int(a.block[other]), int(a.block[i])) {
		return false
	}
	for l := a.graph.InnermostLoop(other); l != nil; l = l.Parent {
		if l.Contains(int(a.block[i])) {
			return false
		}
	}
	return true
}

// barrierOf is the uniform register with the address of the transaction barrier of a bulk copy: it stands behind the one of the destination.
func barrierOf(in *sass.Inst) *sass.Operand {
	return &sass.Operand{Kind: sass.KindUReg, Reg: in.Address().UReg + 1, Width: 1}
}

// isArrival reports whether an instruction arrives at a transaction barrier of its block, or tells it of bytes to come.
func isArrival(in *sass.Inst) bool {
	p := in.Op.Properties()
	return p.Sync == sass.SyncTransfer && p.Async == sass.Synchronous && in.Operands[0].Kind == sass.KindReg
}

// isQuery reports whether an instruction asks for the phase of a transaction barrier.
func isQuery(in *sass.Inst) bool {
	return in.Op.Properties().Sync == sass.SyncTransfer && in.Operands[0].Kind == sass.KindPred
}
