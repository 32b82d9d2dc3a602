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
		if !isQuery(&a.code.Insts[d.def]) {
			return nil
		}
		barrier := a.constantPart(d.def, a.code.Insts[d.def].Address(), 0)
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
func (a *analysis) nearestTo(query int, barrier int64, reason stall.Reason) (sources []int) {
	nearest := int64(math.MaxInt64)
	last := make(map[int32]int) // by block: where in sources
	enter := func(i int, at int32, far int64) {
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
			enter(product, a.block[i], abs(barrier-a.constantPart(i, in.Address(), 0)))
		case p.Async == sass.AsyncBulk && p.Writes&sass.SpaceShared != 0 && reason == stall.LongScoreboard:
			enter(i, a.block[i], abs(barrier-a.constantPart(i, barrierOf(in), 0)))
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

func abs(x int64) int64 { return max(x, -x) }

// constantPart is the sum of the constants in what an operand of an instruction is the sum of. What is not known to be a constant counts for nothing:
// numbers of stages, above all.
func (a *analysis) constantPart(use int, o *sass.Operand, depth int) (sum int64) {
	const deepest = 8
	switch {
	case o == nil || depth > deepest:
		return 0
	case o.Kind == sass.KindImm:
		return int64(int32(o.Imm))
	case o.Kind == sass.KindMem:
		base, index := sass.Operand{Kind: sass.KindReg, Reg: o.Reg, Width: 1}, sass.Operand{Kind: sass.KindUReg, Reg: o.UReg, Width: 1}
		return int64(o.Offset) + a.constantPart(use, &base, depth+1) + a.constantPart(use, &index, depth+1)
	}
	r, ok := resourceOf(o)
	if !ok {
		return 0
	}
	defs := a.reaching(use, r)
	if len(defs) == 0 {
		return 0
	}
	def := defs[len(defs)-1]
	if k, _ := slices.BinarySearch(defs, use); k > 0 { // the nearest one before: those farther off have other guards, those behind come round
		def = defs[k-1]
	}
	in := &a.code.Insts[def]
	does := in.Op.Vector().Properties().Does
	for k := range in.Operands {
		s := &in.Operands[k]
		if !s.Source || s.Kind != sass.KindReg && s.Kind != sass.KindUReg && s.Kind != sass.KindImm || in.Form.Operands[k].Name == "lane mask" {
			continue
		}
		switch name := in.Form.Operands[k].Name; {
		case does == sass.Adds, does == sass.Moves, in.Op.Properties().Class == sass.ClassCross,
			does == sass.ShiftsAdds && name == "B", does == sass.MultipliesAdds && name == "C": // what is shifted or multiplied numbers stages
			sum += a.constantPart(def, s, depth+1)
		}
	}
	return sum
}

// resourceOf returns the register of an operand; ok is false for one that is constant.
func resourceOf(o *sass.Operand) (r sass.Resource, ok bool) {
	switch {
	case o.Kind == sass.KindReg && o.Reg != sass.RZ:
		return sass.ResReg + sass.Resource(o.Reg), true
	case o.Kind == sass.KindUReg && o.Reg != sass.URZ:
		return sass.ResUReg + sass.Resource(o.Reg), true
	}
	return 0, false
}

// isQuery reports whether an instruction asks for the phase of a transaction barrier.
func isQuery(in *sass.Inst) bool {
	return in.Op.Properties().Sync == sass.SyncTransfer && in.Operands[0].Kind == sass.KindPred
}
