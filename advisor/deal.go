package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Where a thread accesses several elements of an array one by one, each beside those of its neighbours, as unrolled loops over strides do,
// the threads could as well take neighbouring elements each, as vectors: a fraction of the requests for the same bytes.

// A deal is accesses of a loop's round, or of code outside of loops, that vectors could replace.
type deal struct {
	loads, stores []blamer.Node // one group of each; stores are where loaded elements go to shared memory, or of results
	staged        bool          // the elements go straight to shared memory
	size          int           // of an element, bytes
}

// A dealKey is what the accesses of a group have in common.
type dealKey struct {
	loop  *cfg.Loop
	op    sass.Op
	frame cubin.Frame
	array uint64
	size  int32
}

// leastOfWindow is what vectors have to promise in windows: neighbours to the left and the right of an element are at no multiple of a vector's size,
// and half as many threads have twice the window each (1.03x tried was 0.84x by hand for a stencil of 13 points).
const leastOfWindow = 1.1

// dealtOut matches such accesses.
func (in *Input) dealtOut() (matches []*Match) {
	var groups, removed [][]blamer.Node
	var gone []blamer.Node
	sizes := make(map[int]bool)
	for _, d := range in.deals() {
		for _, g := range [][]blamer.Node{d.loads, d.stores} {
			if len(g) > 1 {
				groups = append(groups, g)
				removed = append(removed, vectorsLeft(g, d.size, in.Inst(g[0]).Op))
			}
		}
		sizes[d.size] = true
	}
	if len(groups) == 0 {
		return nil
	}
	c := newCollector(in)
	for i, g := range groups {
		share := float64(len(removed[i])) / float64(len(g))
		for k, n := range g {
			for _, b := range in.byUse[n] {
				if b.Def == n && b.Detail == blamer.MemoryThrottle {
					c.addShare(in.kernelScope(), b, share)
				}
			}
			if k == 0 || !in.usedBefore(g[:k], n) {
				continue
			}
			for j := range in.Blame.Blames { // its wait comes with that for the first
				if b := &in.Blame.Blames[j]; b.Def == n && b.Use != n && b.Detail == blamer.GlobalMemory {
					c.add(in.kernelScope(), b)
				}
			}
		}
		gone = append(gone, in.addressOnly(removed[i])...)
	}
	for _, n := range slices.Concat(slices.Concat(removed...), gone) {
		if issued := in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
		for _, b := range in.byUse[n] {
			if b.Detail == blamer.Scheduling || b.Detail == blamer.NotSelected {
				c.add(in.kernelScope(), b)
			}
		}
	}
	for _, m := range c.finish() {
		m.Variant, m.Spares = "dealt", IssueSlots
		if _, loads := in.windowLoads(); len(loads) >= leastWindow {
			m.Least = leastOfWindow
		}
		m.Change = &Change{Gone: gone, Streams: &Streams{Dealt: groups}}
		var firsts []blamer.Node
		for _, g := range groups {
			firsts = append(firsts, g[0])
		}
		m.Suggestions = []string{
			fmt.Sprintf("Each thread accesses several elements one by one, each beside those of its neighbours (%s). Let it take neighbouring elements instead, as vectors (float4, int4, uint4 of halves): a fraction of the accesses for the same bytes, and fewer addresses to compute.",
				in.places(firsts, 3)),
			"The addresses have to be multiples of the vector's size, and what is left at the end of the data is done one by one.",
		}
		matches = append(matches, m)
	}
	return matches
}

// vectorsLeft returns the accesses of a group that go when vectors take the elements: loads are done by the first of the group, stores by the
// last.
func vectorsLeft(group []blamer.Node, size int, op sass.Op) []blamer.Node {
	factor := 1
	for 2*factor <= len(group) && 2*factor*size <= widestAccess {
		factor *= 2
	}
	left := ceilDiv(len(group), factor)
	if op.Properties().Writes != 0 {
		return group[:len(group)-left]
	}
	return group[left:]
}

// deals finds groups of accesses whose elements any thread may take: those that it only moves to shared memory, and all where few threads
// store what the threads have put together, or where each result is made of elements at the same place.
func (in *Input) deals() []deal {
	arrays, exchanged := in.arrays(), perPlace(in, branch.Exchanged)
	var staged, others []deal
	alone := false // accesses of neighbours to neighbouring elements that are in no group
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, d := range in.dealsIn(code, arrays, exchanged, &alone) {
			if d.staged {
				staged = append(staged, d)
			} else {
				others = append(others, d)
			}
		}
	}
	for _, d := range others {
		if len(max2(d.loads, d.stores)) != len(max2(others[0].loads, others[0].stores)) || d.size != others[0].size {
			alone = true
		}
	}
	if in.fewStore() || !alone {
		return append(staged, others...)
	}
	return staged
}

// max2 returns the longer list.
func max2(a, b []blamer.Node) []blamer.Node {
	if len(b) > len(a) {
		return b
	}
	return a
}

// arrays returns the pointers by which the loads of the kernel are addressed.
func (in *Input) arrays() map[blamer.Node]uint64 {
	if !in.arraysFound {
		in.arraysFound, in.arrayOf = true, perPlace(in, branch.Arrays)
	}
	return in.arrayOf
}

// perPlace is what an analysis says of the instructions of the launch's kernel; nil where it cannot be made.
func perPlace[T any](in *Input, analysis func([]*cfg.Graph, *cubin.Kernel) (map[branch.Place]T, error)) map[blamer.Node]T {
	k, err := in.Module.Kernel(in.Launch.Kernel)
	if err != nil {
		return nil
	}
	graphs, err := calledGraphs(in.Module, k)
	if err != nil {
		return nil
	}
	found, err := analysis(graphs, k)
	if err != nil {
		return nil
	}
	nodes := make(map[blamer.Node]T)
	for at, x := range found {
		nodes[blamer.Node{Code: at.Code, Inst: at.Inst}] = x
	}
	return nodes
}

// dealsIn finds the groups of a section, between barriers. What threads have exchanged is stored by those to whom it has come. Alone tells of accesses of neighbours to neighbouring elements that are in none.
func (in *Input) dealsIn(code int, arrays map[blamer.Node]uint64, exchanged map[blamer.Node]bool, alone *bool) (deals []deal) {
	open := make(map[dealKey][]blamer.Node)
	var order []dealKey
	flush := func() {
		for _, key := range order {
			group := open[key]
			if len(group) < 2 {
				*alone = *alone || key.op == sass.LDG || key.op == sass.STG
				continue
			}
			d := deal{size: int(key.size)}
			if key.op == sass.STG {
				d.stores = group
			} else {
				d.loads = group
				d.stores, d.staged = in.stagedBy(group)
			}
			deals = append(deals, d)
		}
		clear(open)
		order = nil
	}
	for i := range in.Module.Codes[code].Insts {
		n := blamer.Node{Code: code, Inst: i}
		inst := in.Inst(n)
		if ordersMemory(inst.Op) {
			flush()
		}
		a, ok := guardedWordOf(inst)
		if !ok || inst.Op != sass.LDG && inst.Op != sass.STG || !in.dense(n, a.size) {
			continue
		}
		key := dealKey{loop: in.Loop(n), op: a.op, frame: in.frame(n), array: arrays[n], size: a.size}
		if inst.Op == sass.LDG && (key.array == 0 || key.array&(key.array-1) != 0) || key.frame.Line == 0 || exchanged[n] {
			*alone = true
			continue
		}
		if open[key] == nil {
			order = append(order, key)
		}
		open[key] = append(open[key], n)
	}
	flush()
	return deals
}

// dense reports whether neighbouring threads access neighbouring elements of a size.
func (in *Input) dense(n blamer.Node, size int32) bool {
	k := in.counts(n)
	const nearly = 1.1
	return k.executions > 0 && k.threads >= lowActivity*warpSize*k.executions && k.sectors*in.Model.L1.Sector.Value <= nearly*k.threads*float64(size) &&
		k.sectors*in.Model.L1.Sector.Value >= k.threads*float64(size)/nearly
}

// stagedBy returns the stores to shared memory to which loads bring their values, if these go nowhere else before their registers are written
// anew.
func (in *Input) stagedBy(loads []blamer.Node) (stores []blamer.Node, ok bool) {
	for _, n := range loads {
		insts := in.Module.Codes[n.Code].Insts
		value := insts[n.Inst].Defs(nil)
		found := false
		for i := n.Inst + 1; i < len(insts); i++ {
			reads := slices.ContainsFunc(insts[i].Uses(nil), func(r sass.Resource) bool { return isValue(r) && slices.Contains(value, r) })
			if reads && insts[i].Op != sass.STS {
				return nil, false
			}
			if reads {
				found = true
				stores = append(stores, blamer.Node{Code: n.Code, Inst: i})
			}
			if slices.ContainsFunc(insts[i].Defs(nil), func(r sass.Resource) bool { return isValue(r) && slices.Contains(value, r) }) {
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	slices.SortFunc(stores, compareNodes)
	return slices.Compact(stores), true
}

// usedBefore reports whether the code uses what one of some loads has brought before a later load is issued.
func (in *Input) usedBefore(loads []blamer.Node, later blamer.Node) bool {
	insts := in.Module.Codes[later.Code].Insts
	for _, n := range loads {
		value := insts[n.Inst].Defs(nil)
		for i := n.Inst + 1; i < later.Inst; i++ {
			if slices.ContainsFunc(insts[i].Uses(nil), func(r sass.Resource) bool { return isValue(r) && slices.Contains(value, r) }) {
				return true
			}
		}
	}
	return false
}

// addressOnly returns the instructions that nothing needs but the addresses of accesses of their blocks which go.
func (in *Input) addressOnly(removed []blamer.Node) (gone []blamer.Node) {
	out := make(map[int]bool)
	for _, n := range removed {
		out[n.Inst] = true
	}
	seen := make(map[*cfg.Block]bool)
	for _, n := range removed {
		if b := in.Block(n); !seen[b] {
			seen[b] = true
			gone = append(gone, in.addressOnlyIn(n.Code, b, out)...)
		}
	}
	return gone
}

// addressOnlyIn does so for a block; out are the instructions that go already.
func (in *Input) addressOnlyIn(code int, b *cfg.Block, out map[int]bool) (gone []blamer.Node) {
	insts := in.Module.Codes[code].Insts
	for i := b.Last; i >= b.First; i-- {
		if out[i] || effectOf(&insts[i]) != 0 || insts[i].Op.Properties().Memory() != sass.NoSpace || !in.onlyFor(code, b, i, out) {
			continue
		}
		out[i] = true
		gone = append(gone, blamer.Node{Code: code, Inst: i})
	}
	slices.Reverse(gone)
	return gone
}

// onlyFor reports whether what an instruction of a block writes is used, and by some instructions of the block alone.
func (in *Input) onlyFor(code int, b *cfg.Block, i int, by map[int]bool) bool {
	insts := in.Module.Codes[code].Insts
	used := false
	for _, r := range insts[i].Defs(nil) {
		if !isValue(r) {
			continue
		}
		over := false // written anew
		for k := i + 1; k <= b.Last && !over; k++ {
			if slices.Contains(insts[k].Uses(nil), r) {
				if !by[k] {
					return false
				}
				used = true
			}
			over = insts[k].Guard.Always() && slices.Contains(insts[k].Defs(nil), r)
		}
		if over {
			continue
		}
		for k := range insts {
			if (k < b.First || k > b.Last) && slices.Contains(insts[k].Uses(nil), r) {
				return false
			}
		}
	}
	return used
}
