package advisor

import (
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// memorySums returns the accesses by which the threads of a loop add to sums of their own in global memory: in each round a sum is loaded,
// something is added, and it is stored to the same place, and nobody looks at it in between. Such sums could be in registers, and then be
// put together like others.
func (in *Input) memorySums(code int, l *cfg.Loop) map[blamer.Node]bool {
	sums := make(map[blamer.Node]bool)
	var f *registerFlow
	for _, d := range in.carried(code, l) {
		if d.Kind != profiler.FlowDependence || d.Space != "global" || d.Party != profiler.SameThread {
			continue
		}
		store, load := nodeOf(d.From), nodeOf(d.To)
		if in.Loop(store) != l || in.Loop(load) != l || !in.storesInPlace(store) || in.Inst(load).Op != sass.LDG || !in.invariantAddress(load) {
			return nil
		}
		if f == nil {
			f = in.flowOf(code, l)
		}
		if !f.addsTo(load.Inst, store.Inst) {
			return nil
		}
		sums[store], sums[load] = true, true
	}
	if len(sums) == 0 {
		return nil
	}
	outside := func(n blamer.Node) bool { return !in.isWithin(code, l, n) }
	for _, d := range in.Launch.Record.Dependences {
		from, to := nodeOf(d.From), nodeOf(d.To)
		switch {
		case d.Space != "global" || !sums[from] && !sums[to]:
		case sums[from] && sums[to] && d.Party != profiler.SameThread:
			return nil // others add to the same sums
		case sums[from] && !sums[to] && !outside(to), sums[to] && !sums[from] && !outside(from):
			return nil // somebody else looks at a sum, or changes it
		}
	}
	return sums
}

// memoryScan returns the loads of a loop by which a thread takes up the running sum that it has stored in an earlier round or before in this one, each to a
// place of its own: y[i] = y[i - 1] + x[i]. As prefix sums the rounds could be made in any order. Nil where what is loaded of such values is not only
// added to and stored again.
func (in *Input) memoryScan(code int, l *cfg.Loop) map[blamer.Node]bool {
	if in.Launch.Record == nil {
		return nil
	}
	loads := make(map[blamer.Node]bool)
	for _, d := range in.Launch.Record.Dependences {
		store, load := nodeOf(d.From), nodeOf(d.To)
		if d.Kind != profiler.FlowDependence || d.Space != "global" || !in.isWithin(code, l, store) || !in.isWithin(code, l, load) {
			continue
		}
		if d.Party != profiler.SameThread || in.Loop(store) != l || in.Loop(load) != l || in.Inst(load).Op != sass.LDG || in.Inst(store).Op != sass.STG || in.invariantAddress(load) {
			return nil
		}
		loads[load] = true
	}
	if len(loads) == 0 {
		return nil
	}
	f := in.flowOf(code, l)
	for n := range f.from { // sums of two words are one
		f.from[n] = slices.DeleteFunc(f.from[n], f.isCarry)
	}
	if !f.onlyAdds(loads) {
		return nil
	}
	return loads
}

// onlyAdds reports whether the rounds of a loop only add to what some loads bring, pass it on and store it.
func (f *registerFlow) onlyAdds(loads map[blamer.Node]bool) bool {
	var sums []int // what is made of it
	for n := range loads {
		sums = append(sums, n.Inst)
	}
	for done := false; !done; {
		done = true
		for n, edges := range f.from {
			if !slices.Contains(sums, n) && (n < 0 || !f.inst(n).Op.Properties().Stores(sass.SpaceGlobal)) && slices.ContainsFunc(edges, func(e flowEdge) bool { return slices.Contains(sums, e.node) }) {
				sums, done = append(sums, n), false
			}
		}
	}
	for n, edges := range f.from {
		switch at := slices.IndexFunc(edges, func(e flowEdge) bool { return slices.Contains(sums, e.node) }); {
		case at < 0 || n < 0:
		case f.inst(n).Op == sass.STG:
			if slices.ContainsFunc(edges, func(e flowEdge) bool { return slices.Contains(sums, e.node) && !slices.Contains(f.stored(n), e.node) }) {
				return false // where to
			}
		default:
			if role := f.role(n, sums); role != reducesSum && role != passesOn {
				return false
			}
		}
	}
	return true
}

// memoryCounts returns the accesses by which the rounds of a loop, or of loops in it, add to words of global memory, as where something is
// counted, or rows are added up: each is loaded, something is added, and it is stored to the same place, by no other thread. As atomic
// additions they could be made in any order.
func (in *Input) memoryCounts(code int, l *cfg.Loop) map[blamer.Node]bool {
	carried := slices.DeleteFunc(slices.Clone(in.carried(code, l)), func(d profiler.Dependence) bool { return d.Space != "global" })
	if len(carried) == 0 {
		return nil
	}
	f, counts := in.flowOf(code, l), make(map[blamer.Node]bool)
	in.eachInst(code, l, func(i int) {
		store := blamer.Node{Code: code, Inst: i}
		if in.Inst(store).Op != sass.STG {
			return
		}
		if load, found := in.loadedFrom(store); found && f.addsTo(load.Inst, i) {
			counts[store], counts[load] = true, true
		}
	})
	if slices.ContainsFunc(carried, func(d profiler.Dependence) bool {
		return d.Party != profiler.SameThread || !counts[nodeOf(d.From)] || !counts[nodeOf(d.To)]
	}) {
		return nil
	}
	return counts
}

// loadedFrom returns the load of a store's block that has read the place to which the store goes, by the same register.
func (in *Input) loadedFrom(store blamer.Node) (load blamer.Node, found bool) {
	to, b := in.Inst(store).Address(), in.Block(store)
	for i := store.Inst - 1; to != nil && i >= b.First; i-- {
		n := blamer.Node{Code: store.Code, Inst: i}
		inst := in.Inst(n)
		if writesRegister(inst, to.Reg) {
			break
		}
		if from := inst.Address(); inst.Op == sass.LDG && from != nil && from.Reg == to.Reg && from.UReg == to.UReg && from.Offset == to.Offset {
			return n, true
		}
	}
	return blamer.Node{}, false
}

// addsTo reports whether what a store stores is what a load has loaded and something added to it, and the loop uses the value for nothing else.
func (f *registerFlow) addsTo(load, store int) bool {
	chain := f.sumChain(load, f.stored(store))
	if chain == nil {
		return false
	}
	cycle := append(slices.Clone(chain), load)
	for _, n := range chain {
		if f.role(n, cycle) != reducesSum {
			return false
		}
	}
	alone := true
	f.in.eachInst(f.code, f.loop, func(i int) {
		if i != store && !slices.Contains(chain, i) && slices.ContainsFunc(f.from[i], func(e flowEdge) bool { return slices.Contains(cycle, e.node) }) {
			alone = false
		}
	})
	return alone
}

// stored lists what makes the value that an instruction stores.
func (f *registerFlow) stored(store int) (nodes []int) {
	inst := f.inst(store)
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Source && o.Kind == sass.KindReg {
			for _, e := range f.from[store] {
				if holds(o, []sass.Resource{e.resource}) {
					nodes = append(nodes, e.node)
				}
			}
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// longestSum is how many additions to a sum are followed.
const longestSum = 64

// sumChain returns the fewest additions that lead from a load to one of some values, nil for none. Each value is looked at once, as sums whose
// operands have parts in common have exponentially many ways.
func (f *registerFlow) sumChain(load int, ends []int) []int {
	to := make(map[int]int) // by addition: the one that its result goes to, itself for an end
	work := make([]int, 0, len(ends))
	for _, n := range ends {
		to[n] = n
		work = append(work, n)
	}
	for depth := 0; depth < longestSum && len(work) > 0; depth++ {
		var next []int
		for _, n := range work {
			if n < 0 {
				continue
			}
			family, operands := reduces(f.inst(n))
			if family != reducesSum {
				continue
			}
			for _, k := range operands {
				for _, e := range f.from[n] {
					if !holds(&f.inst(n).Operands[k], []sass.Resource{e.resource}) {
						continue
					}
					if e.node == load {
						return chainFrom(n, to)
					}
					if _, met := to[e.node]; !met {
						to[e.node] = n
						next = append(next, e.node)
					}
				}
			}
		}
		work = next
	}
	return nil
}

// chainFrom lists an addition and those that its result goes to.
func chainFrom(n int, to map[int]int) []int {
	chain := []int{n}
	for to[n] != n {
		n = to[n]
		chain = append(chain, n)
	}
	return chain
}
