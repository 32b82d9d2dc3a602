package advisor

import (
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// The rounds of a loop depend on each other through registers where a value of one round is computed from the same value of the
// round before: where the def-use graph of the loop has a cycle through its header. Two kinds of cycles do not keep the rounds from
// being done in another order: induction variables, which advance by what does not change in the loop, so that each round can tell
// its own; and reductions by an associative operation, of which no round sees more than the sum so far.

// A registerFlow is the def-use graph of a loop. Its nodes are instructions, by index in the section, and, as numbers below 0, the
// values that resources have at the beginning of a round.
type registerFlow struct {
	in   *Input
	code int
	loop *cfg.Loop
	from map[int][]flowEdge // node → what it reads, made in the loop
}

// A flowEdge is a value that a node reads.
type flowEdge struct {
	node     int
	resource sass.Resource
}

// atHeader is the node of a resource at the beginning of a round.
func atHeader(r sass.Resource) int { return -1 - int(r) }

// flowOf makes the def-use graph of a loop.
func (in *Input) flowOf(code int, l *cfg.Loop) *registerFlow {
	f := &registerFlow{in: in, code: code, loop: l, from: map[int][]flowEdge{}}
	graph := in.codes[code].graph
	in.eachInst(code, l, func(i int) {
		for _, r := range f.uses(i) {
			if !isValue(r) {
				continue
			}
			b := graph.Block(i)
			f.from[i] = append(f.from[i], f.reaching(b, i-1, r, f.inst(i).Guard)...)
			if f.upward(i, r) {
				f.closeRound(r)
			}
		}
	})
	for i := range f.from {
		if i >= 0 && !f.inst(i).Guard.Always() && f.loadsSame(i) {
			f.from[i] = slices.DeleteFunc(f.from[i], func(e flowEdge) bool { return isPredicate(e.resource) })
		}
	}
	return f
}

// uses are the resources that an instruction reads, those that a callee reads with them.
func (f *registerFlow) uses(i int) []sass.Resource {
	list := f.inst(i).Uses(nil)
	if e := f.in.effectOfCall(f.code, i); e != nil {
		list = slices.AppendSeq(list, maps.Keys(e.reads))
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}

func (f *registerFlow) inst(i int) *sass.Inst { return &f.in.Module.Codes[f.code].Insts[i] }

// isValue reports whether a resource is a register or a predicate.
func isValue(r sass.Resource) bool { return r < sass.ResSB }

// upward reports whether an instruction may read what a resource holds at the beginning of the round.
func (f *registerFlow) upward(i int, r sass.Resource) bool {
	return slices.Contains(f.from[i], flowEdge{atHeader(r), r})
}

// closeRound enters what makes the value that a resource has at the end of a round.
func (f *registerFlow) closeRound(r sass.Resource) {
	at := atHeader(r)
	if _, known := f.from[at]; known {
		return
	}
	f.from[at] = nil
	graph := f.in.codes[f.code].graph
	for _, p := range graph.Blocks[f.loop.Header].Preds {
		if f.loop.Contains(p) {
			f.from[at] = append(f.from[at], f.reaching(graph.Blocks[p], graph.Blocks[p].Last, r, sass.Guard{Reg: sass.PT})...)
		}
	}
}

// reaching returns the definitions of a resource that reach the place behind an instruction of a block within a round, if a guard holds there.
func (f *registerFlow) reaching(b *cfg.Block, inst int, r sass.Resource, guard sass.Guard) (edges []flowEdge) {
	graph := f.in.codes[f.code].graph
	seen := map[int]bool{}
	condition := guard.Resource()
	held := true // the guard is what it is at the use; followed within the block only
	var above func(b *cfg.Block, from int)
	above = func(b *cfg.Block, from int) {
		for i := from; i >= b.First; i-- {
			if x := f.inst(i); slices.Contains(x.Defs(nil), r) {
				edges = append(edges, flowEdge{i, r})
				if x.Guard.Always() || held && x.Guard == guard {
					return
				}
			}
			if e := f.in.effectOfCall(f.code, i); e != nil && e.writes[r] {
				edges = append(edges, flowEdge{i, r})
				return
			}
			held = held && !slices.Contains(f.inst(i).Defs(nil), condition)
		}
		held = false
		if b.ID == f.loop.Header {
			edges = append(edges, flowEdge{atHeader(r), r})
			return
		}
		for _, p := range b.Preds {
			if f.loop.Contains(p) && !seen[p] {
				seen[p] = true
				above(graph.Blocks[p], graph.Blocks[p].Last)
			}
		}
	}
	above(b, inst)
	return edges
}

// cycles returns the sets of nodes that depend on themselves by way of the round before: the strongly connected components with a
// value at the header (Tarjan, SIAM J. Computing 1972).
func (f *registerFlow) cycles() [][]int {
	s := &tarjan{flow: f, index: map[int]int{}, low: map[int]int{}, on: map[int]bool{}}
	f.in.eachInst(f.code, f.loop, func(i int) {
		if s.index[i] == 0 {
			s.visit(i)
		}
	})
	return s.found
}

type tarjan struct {
	flow       *registerFlow
	index, low map[int]int
	on         map[int]bool
	stack      []int
	found      [][]int
}

func (s *tarjan) visit(n int) {
	s.index[n] = len(s.index) + 1
	s.low[n] = s.index[n]
	s.stack, s.on[n] = append(s.stack, n), true
	for _, e := range s.flow.from[n] {
		if s.index[e.node] == 0 {
			s.visit(e.node)
			s.low[n] = min(s.low[n], s.low[e.node])
		} else if s.on[e.node] {
			s.low[n] = min(s.low[n], s.index[e.node])
		}
	}
	if s.low[n] != s.index[n] {
		return
	}
	at := slices.Index(s.stack, n)
	component := slices.Clone(s.stack[at:])
	s.stack = s.stack[:at]
	for _, m := range component {
		s.on[m] = false
	}
	if len(component) > 1 && slices.ContainsFunc(component, func(m int) bool { return m < 0 }) {
		slices.Sort(component)
		s.found = append(s.found, component)
	}
}

// recurrence returns an instruction by which the rounds of a loop depend on each other through registers; false where they could be
// done in any order and put together. So they could not where what a round loads decides whether there is another one.
func (in *Input) recurrence(code int, l *cfg.Loop) (blamer.Node, bool) {
	return in.recurrenceBut(code, l, false)
}

// recurrenceBut is the same, where running sums that rounds look at are no recurrence if scans are wanted: a scan (prefix sums) gives each
// round its own.
func (in *Input) recurrenceBut(code int, l *cfg.Loop, scans bool) (blamer.Node, bool) {
	f := in.flowOf(code, l)
	cycles := f.cycles()
	kept := f.keptOnline(cycles)
	for i, c := range cycles {
		if !kept[i] && !f.isInduction(c) && !f.isCounter(c) && !f.keepsSame(c) && !f.keepsBytes(c) && (f.family(c) == noReduction || f.seen(c) && !(scans && f.family(c) == reducesSum)) {
			return blamer.Node{Code: code, Inst: c[slices.IndexFunc(c, func(n int) bool { return n >= 0 })]}, true
		}
	}
	for _, i := range f.exits() {
		if slices.ContainsFunc(f.loaded(i), func(n int) bool { return !f.loadsSame(n) }) {
			return blamer.Node{Code: code, Inst: i}, true
		}
	}
	return blamer.Node{}, false
}

// keepsSame reports whether what goes from round to round in a cycle is what a load brings that brings the same in every round.
func (f *registerFlow) keepsSame(cycle []int) bool {
	return !slices.ContainsFunc(cycle, func(n int) bool { return n >= 0 && !f.loadsSame(n) })
}

// keepsBytes reports whether a cycle changes nothing of what comes from round to round: PRMT puts a half into a register and leaves the
// other as it was, as compilers do with the halves of 16-bit types.
func (f *registerFlow) keepsBytes(cycle []int) bool {
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		x := f.inst(n)
		if x.Op != sass.PRMT || len(x.Operands) < 4 || x.Operands[2].Kind != sass.KindImm || x.Operands[3].Kind != sass.KindReg || x.Operands[3].Reg != x.Operands[0].Reg {
			return false
		}
		for at := range uint64(4) { // the byte of the result; from 4 on the selector means bytes of the third operand
			if from := uint64(x.Operands[2].Imm) >> (4 * at) & 0xf; from >= 4 && from != 4+at {
				return false
			}
		}
	}
	return true
}

// exits returns the conditional instructions by which control leaves the loop.
func (f *registerFlow) exits() (list []int) {
	graph := f.in.codes[f.code].graph
	f.in.eachInst(f.code, f.loop, func(i int) {
		x, b := f.inst(i), graph.Block(i)
		leaves := x.Op == sass.EXIT || i == b.Last && slices.ContainsFunc(b.Succs, func(s int) bool { return !f.loop.Contains(s) })
		if leaves && x.Conditional() {
			list = append(list, i)
		}
	})
	return list
}

// needs are the instructions of the loop that make what some of them read, in this round or earlier ones.
func (f *registerFlow) needs(nodes ...int) map[int]bool { return f.needsBut(nil, nodes) }

// needsBut are the same, but for some loads and what they alone need.
func (f *registerFlow) needsBut(loads, nodes []int) map[int]bool {
	needed := make(map[int]bool)
	for work := slices.Clone(nodes); len(work) > 0; {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range f.from[n] {
			if !needed[e.node] && !slices.Contains(loads, e.node) {
				needed[e.node] = true
				work = append(work, e.node)
			}
		}
	}
	return needed
}

// loadsSame reports whether a load brings the same in every round, as the bound of a loop does that compilers load anew behind each store: from one
// place, to which nobody stores during the launch. What decides whether it is made anew changes nothing then.
func (f *registerFlow) loadsSame(i int) bool {
	n := blamer.Node{Code: f.code, Inst: i}
	written, known := f.in.written(n)
	return f.inst(i).Op == sass.LDG && known && !written && !slices.ContainsFunc(f.from[i], func(e flowEdge) bool { return !isPredicate(e.resource) && !f.invariant(e.node, map[int]bool{}) })
}

// loads reports whether what some instructions read comes from memory or from other threads in the loop.
func (f *registerFlow) loads(nodes ...int) bool { return len(f.loaded(nodes...)) > 0 }

// loaded are the instructions of the loop by which what some of them read comes from memory or from other threads.
func (f *registerFlow) loaded(nodes ...int) (list []int) {
	for n := range f.needs(nodes...) {
		if n < 0 {
			continue
		}
		if e := f.in.effectOfCall(f.code, n); fromElsewhere(f.inst(n).Op) || isAtomic(f.inst(n).Op) || e != nil && e.loads {
			list = append(list, n)
		}
	}
	return list
}

// fromElsewhere reports whether an instruction reads memory or what other threads have.
func fromElsewhere(op sass.Op) bool {
	p := op.Properties()
	return p.Loads(^sass.SpaceConstant) || p.Crosses
}

// seen reports whether the loop reads the values of a cycle elsewhere. A store of the running value to the same place in every round could
// as well stand behind the loop.
func (f *registerFlow) seen(cycle []int) bool {
	found := false
	f.in.eachInst(f.code, f.loop, func(i int) {
		if found || slices.Contains(cycle, i) || f.in.running[blamer.Node{Code: f.code, Inst: i}] {
			return
		}
		found = slices.ContainsFunc(f.from[i], func(e flowEdge) bool { return slices.Contains(cycle, e.node) })
	})
	return found
}

// isInduction reports whether a cycle adds to a value in every round what does not change in the loop.
func (f *registerFlow) isInduction(cycle []int) bool {
	if f.family(cycle) != reducesSum {
		return false
	}
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		if p := f.inst(n).Op.Properties(); p.Floats() && (p.Does == sass.Adds || p.Does == sass.MultipliesAdds) {
			return false // rounding depends on the order
		}
		for _, e := range f.from[n] {
			if !slices.Contains(cycle, e.node) && !f.isCarry(e) && !f.invariant(e.node, map[int]bool{}) {
				return false
			}
		}
	}
	return true
}

// isCounter reports whether a cycle goes through the same numbers whatever the data are, as the number of a buffer that comes round again, or the
// numbers that are left of a range in Numba's loops, which take one away while there is one: each round can tell its own.
func (f *registerFlow) isCounter(cycle []int) bool {
	for n := range f.needs(cycle...) {
		if n >= 0 && !f.invariant(n, map[int]bool{}) && !f.countsOn(n) {
			return false
		}
	}
	return true
}

// countsOn reports whether an instruction makes the next number of a sequence: it moves, compares, selects, or combines with one that came from
// the round before what is the same in every round, or one of several such steps. Two numbers that go from round to round are not combined, as in
// the differences of Euclid's algorithm.
func (f *registerFlow) countsOn(n int) bool {
	x := f.inst(n)
	p := x.Op.Vector().Properties()
	if p.Floats() {
		return false
	}
	switch {
	case p.Compares != sass.ComparesNothing, p.Does == sass.Moves, p.Does == sass.Selects:
		return true
	case p.Does == sass.Adds, p.Does == sass.CombinesBitwise:
	case p.Does == sass.MultipliesAdds && (multipliesByZero(x) || multipliesByOne(x)):
	default:
		return false
	}
	var changing []sass.Resource
	for _, e := range f.from[n] {
		if !isPredicate(e.resource) && !f.isStep(e.node) && !slices.Contains(changing, e.resource) {
			changing = append(changing, e.resource)
		}
	}
	return len(changing) <= 1
}

// isStep reports whether a node is the same in every round, or one of several values that are.
func (f *registerFlow) isStep(n int) bool {
	if f.invariant(n, map[int]bool{}) {
		return true
	}
	return n >= 0 && f.inst(n).Op.Vector().Properties().Does == sass.Selects &&
		!slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return !isPredicate(e.resource) && !f.invariant(e.node, map[int]bool{}) })
}

// invariant reports whether a node is the same in every round: what the loop does not write, or what it computes of that alone.
func (f *registerFlow) invariant(n int, met map[int]bool) bool {
	if n < 0 { // what a round leaves as it was
		return !slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return e.node != n })
	}
	if op := f.inst(n).Op; met[n] || fromElsewhere(op) || isAtomic(op) {
		return false
	}
	met[n] = true
	return !slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return !f.invariant(e.node, met) })
}

// isCarry reports whether a value is the carry of an addition, as of the low word of an address.
func (f *registerFlow) isCarry(e flowEdge) bool {
	if e.node < 0 || e.resource < sass.ResPred {
		return false
	}
	switch f.inst(e.node).Op.Vector().Properties().Does {
	case sass.Adds, sass.ShiftsAdds, sass.MultipliesAdds:
		return true // of integers: no other writes a predicate
	}
	return false
}
