package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Loops in which neighbouring threads access neighbouring words, one a round, as grid-stride loops do: with a vector a round there are as
// many fewer rounds, instructions and requests for the same bytes, and more of them under way together.

// wideRounds matches such loops, of a nest the inner ones first.
func (in *Input) wideRounds() (matches []*Match) {
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		around := make(map[*cfg.Loop]bool) // loops around one that was matched
		for _, l := range slices.SortedStableFunc(slices.Values(c.graph.Loops), func(x, y *cfg.Loop) int { return y.Depth - x.Depth }) {
			samples := in.samplesInLoop(code, l)
			if around[l] || samples < leastWaits*in.Total {
				continue
			}
			if m := in.wideRound(code, l, samples); m != nil {
				matches = append(matches, m)
				for p := l.Parent; p != nil; p = p.Parent {
					around[p] = true
				}
			}
		}
	}
	if len(matches) > 1 {
		matches = append(matches, in.wideKernel(matches))
	}
	return matches
}

// wideKernel is the advice to take vectors in all of some loops.
func (in *Input) wideKernel(loops []*Match) *Match {
	all := &Match{Scope: in.kernelScope(), Spares: IssueSlots, Variant: "all rounds"}
	all.Scope.Frame = in.scopeFrame(all.Scope)
	var places []string
	for i, m := range loops {
		all.Samples += m.Samples
		if i == 0 {
			all.Change = m.Change
		} else {
			all.Change = all.Change.with(m.Change)
		}
		for _, a := range m.Assumed {
			all.assume(assumption(a))
		}
		if at := in.scopePlace(m.Scope); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	all.Suggestions = []string{
		fmt.Sprintf("In the loops at %s each thread accesses one element of an array a round, beside those of its neighbours. Let it take neighbouring elements a round in all of them, as vectors (float4, int4, uint4 of halves): there are as many fewer rounds, and more bytes under way.",
			strings.Join(places, ", ")),
		loops[0].Suggestions[1],
	}
	return all
}

// isLeaf reports whether a loop has no loop in it.
func (in *Input) isLeaf(code int, l *cfg.Loop) bool {
	for _, x := range in.codes[code].graph.Loops {
		if x.Parent == l {
			return false
		}
	}
	return true
}

// wideRound matches a loop if its accesses can be vectors.
func (in *Input) wideRound(code int, l *cfg.Loop, samples float64) *Match {
	rounds, known := in.TripCount(code, l)
	ordered, assumed := in.ordered(code, l)
	if !known || ordered || in.hasBarrier(code, l) || in.hasCall(in.loopScope(code, l)) || !in.spread(code, l) {
		return nil
	}
	w := Widened{Nest: !in.isLeaf(code, l), Loop: in.streamLoop(code, l)}
	f := in.flowOf(code, l)
	var size int
	if w.Arrays, size = in.wordArrays(f, w.Nest); len(w.Arrays) == 0 {
		return nil
	}
	most := 1
	var vectors map[blamer.Node]bool
	if w.Nest {
		vectors = make(map[blamer.Node]bool)
	}
	for _, a := range w.Arrays {
		if !w.Nest {
			most = max(most, len(a))
			continue
		}
		for _, n := range a {
			vectors[n] = true
		}
	}
	w.Overhead, w.Factor = in.overhead(f, vectors), widestAccess/size
	for ; rounds*float64(most) < float64(w.Factor); w.Factor /= 2 { // a thread has fewer elements than the widest vector
		if w.Factor*size <= wordAccessBytes {
			return nil
		}
	}
	if w.Factor < 2 {
		return nil
	}
	gone := 0.0
	for _, n := range w.Overhead {
		gone += in.codes[code].issued[n.Inst]
	}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if at := in.Block(b.Use); b.Use.Code == code && at != nil && l.Contains(at.ID) && (b.Detail == blamer.GlobalMemory || b.Detail == blamer.MemoryThrottle) {
			gone += b.Count
		}
	}
	gone *= 1 - float64(most)/float64(max(w.Factor, 2*most))
	m := &Match{Scope: in.loopScope(code, l), Samples: gone, Spares: IssueSlots, Variant: "rounds"}
	m.Scope.Frame = in.scopeFrame(m.Scope)
	m.Change = &Change{Streams: &Streams{Widened: []Widened{w}}}
	m.assume(assumed)
	also := ""
	if w.Nest {
		also = " What the loops in it need besides, as indices and factors, is loaded once for all of them."
	}
	m.Suggestions = []string{
		fmt.Sprintf("In the loop at %s each thread accesses one element of %s a round, beside those of its neighbours. Let it take %d neighbouring elements a round, as one vector of %d bytes (%s): there are as many fewer rounds, and more bytes under way.%s",
			in.scopePlace(m.Scope), count(size, "byte"), w.Factor, w.Factor*size, vectorTypes(w.Factor*size), also),
		"The address has to be a multiple of the vector's size, and what is left at the end of the data is done one by one.",
	}
	return m
}

// wordAccessBytes is the size of a register: narrower vectors are words.
const wordAccessBytes = 4

// vectorTypes names types of vectors of so many bytes.
func vectorTypes(bytes int) string {
	switch bytes {
	case 4:
		return "uchar4, half2, or a word whose bytes are taken apart"
	case 8:
		return "float2, int2, uint2 of halves"
	}
	return "float4, int4, uint4 of halves"
}

// spread reports whether it does not matter which thread has which round: where nothing is kept from round to round, or where the
// threads put together what they have, behind the loop or so that few of them store.
func (in *Input) spread(code int, l *cfg.Loop) bool {
	f := in.flowOf(code, l)
	var kept []sass.Resource
	for _, c := range f.cycles() {
		if f.isInduction(c) {
			continue
		}
		for _, n := range c {
			if n >= 0 {
				kept = f.inst(n).Defs(kept)
			}
		}
	}
	return len(kept) == 0 || in.fewStore() || in.putTogether(code, l, kept)
}

// putTogether reports whether threads only ever pass on what they have in some registers at the end of a loop to others, and go on with what
// comes back, as in a reduction: by shuffles, of which each result meets the value that was passed, or through shared memory.
func (in *Input) putTogether(code int, l *cfg.Loop, kept []sass.Resource) bool {
	insts := in.Module.Codes[code].Insts
	own, passed := make(map[sass.Resource]bool), make(map[sass.Resource]bool) // registers with values of the thread's own, and those that shuffles gave
	for _, r := range kept {
		if isValue(r) {
			own[r] = true
		}
	}
	last, any := 0, false
	for _, id := range l.Blocks {
		last = max(last, in.codes[code].graph.Blocks[id].Last)
	}
	for i := last + 1; i < len(insts); i++ {
		x, p := &insts[i], insts[i].Op.Properties()
		reads, meets := false, false
		for _, r := range x.Uses(nil) {
			reads, meets = reads || own[r], meets || passed[r]
		}
		if reads && p.Writes&^sass.SpaceShared != 0 {
			return false // a result for each thread
		}
		shares := reads && (p.Crosses || p.Writes&sass.SpaceShared != 0 || isAtomic(x.Op))
		any = any || shares
		for _, r := range x.Defs(nil) {
			if !isValue(r) || !x.Guard.Always() && !reads {
				continue
			}
			own[r] = reads && !meets && !shares
			passed[r] = shares && p.Crosses
		}
	}
	return any
}

// fewStore reports whether few threads store, as where threads put together what they have.
func (in *Input) fewStore() bool {
	const few = 16 // threads to one store
	stored := 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool {
		return op == sass.STG || op == sass.ST || isAtomic(op) && op.Properties().Atomic(sass.SpaceGlobal|sass.SpaceGeneric)
	}) {
		stored += in.counts(n).threads
	}
	return stored*few <= float64(volume(in.Launch.Grid)*volume(in.Launch.Block))
}

// wordArrays returns the accesses to global memory of a loop by the register that holds their address, and the size of the largest element.
// There are none where lanes do not access elements that follow each other. In a nest of loops they may load besides what is the same in all rounds of the outer one.
func (in *Input) wordArrays(f *registerFlow, nest bool) (arrays [][]blamer.Node, size int) {
	type array struct {
		op   sass.Op
		base uint8
	}
	var order []array
	byBase := make(map[array][]blamer.Node)
	fits := true
	in.eachInst(f.code, f.loop, func(i int) {
		n := blamer.Node{Code: f.code, Inst: i}
		inst := in.Inst(n)
		if inst.Op != sass.LDG && inst.Op != sass.STG {
			fits = fits && !movesGlobal(inst.Op)
			return
		}
		k := in.counts(n)
		if k.threads == 0 || nest && f.sameData(i) {
			return
		}
		bytes := inst.AccessBytes()
		asked, needed := k.sectors*in.Model.L1.Sector.Value, k.threads*float64(bytes)
		dense := asked <= 1.1*needed && (!nest || asked >= needed/2)
		fits = fits && dense && bytes < widestAccess
		size = max(size, bytes)
		a := array{inst.Op, addressRegister(inst)}
		if byBase[a] == nil {
			order = append(order, a)
		}
		byBase[a] = append(byBase[a], n)
	})
	if !fits {
		return nil, 0
	}
	for _, a := range order {
		arrays = append(arrays, byBase[a])
	}
	return arrays, size
}

// sameData reports whether a load reads the same in every round of the loop of the flow, in loops in it too: nothing of its address advances with that one, and nobody
// stores there, nor where the address comes from.
func (f *registerFlow) sameData(load int) bool {
	if f.inst(load).Op != sass.LDG {
		return false
	}
	needed := f.needs(load)
	needed[load] = true
	for n := range needed {
		switch {
		case n < 0:
			if !f.invariant(n, map[int]bool{}) {
				return false
			}
		case f.inst(n).Op == sass.LDG:
			if written, known := f.in.written(blamer.Node{Code: f.code, Inst: n}); !known || written {
				return false
			}
		case fromElsewhere(f.inst(n).Op) || isAtomic(f.inst(n).Op):
			return false
		}
	}
	return true
}

// overhead returns the instructions of a loop that have nothing to do with what it loads and computes: addresses, the number of the round. Of a nest whose
// accesses of some places become vectors it is those that have nothing to do with these, loads among them; vectors is nil of other loops.
func (in *Input) overhead(f *registerFlow, vectors map[blamer.Node]bool) (nodes []blamer.Node) {
	var places map[int]bool
	if vectors == nil {
		places = f.places()
	}
	in.eachInst(f.code, f.loop, func(i int) {
		n, x := blamer.Node{Code: f.code, Inst: i}, f.inst(i)
		same := vectors != nil && x.Op == sass.LDG && !vectors[n]
		if vectors == nil && !places[i] || !same && (movesGlobal(x.Op) || fromElsewhere(x.Op) || effectOf(x) != 0) {
			return
		}
		for _, load := range f.loaded(i) {
			if vectors == nil || vectors[blamer.Node{Code: f.code, Inst: load}] {
				return
			}
		}
		nodes = append(nodes, n)
	})
	return nodes
}

// places are the nodes of a loop that make nothing but addresses, guards of accesses and the conditions on which it ends. What is computed from the
// number of the round beside (an angle, a random number) is work, which no wider round and no tile spares.
func (f *registerFlow) places() map[int]bool {
	isPlace := func(user int, e flowEdge) bool {
		if user < 0 {
			return false
		}
		x := f.inst(user)
		if x.Op.Properties().Memory() == sass.NoSpace {
			return effectOf(x) == flow
		}
		return !slices.ContainsFunc(x.Operands, func(o sass.Operand) bool {
			return o.Source && o.Kind == sass.KindReg && e.resource >= sass.Resource(o.Reg) && e.resource < sass.Resource(o.Reg)+sass.Resource(o.Width)
		})
	}
	var ends []int
	for user, edges := range f.from {
		for _, e := range edges {
			if isPlace(user, e) {
				ends = append(ends, e.node)
			}
		}
	}
	found := f.needs(ends...)
	for _, n := range ends {
		found[n] = true
	}
	for again := true; again; {
		again = false
		for user, edges := range f.from {
			for _, e := range edges {
				if found[e.node] && !found[user] && !isPlace(user, e) {
					delete(found, e.node)
					again = true
				}
			}
		}
	}
	return found
}
