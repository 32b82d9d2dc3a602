package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// loopUnrolling matches global memory and execution dependency stalls whose def and use are in the same loop:
// instructions of further iterations could fill them.
type loopUnrolling struct{}

func (loopUnrolling) Name() string { return "loop-unrolling" }
func (loopUnrolling) Class() Class { return LatencyHiding }

func (loopUnrolling) Match(in *Input) []*Match {
	c := newCollector(in)
	blames := make(map[*cfg.Loop][]*blamer.Blame)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if !isHideable(b.Detail) {
			continue
		}
		if l := in.CommonLoop(b.Def, b.Use); l != nil && !in.feedsBack(l, b.Def) && !(in.Inst(b.Def).Op == sass.LDG && in.movesByData(l, b.Def)) {
			c.add(in.loopScope(b.Use.Code, l), b)
			blames[l] = append(blames[l], b)
		}
	}
	var matches []*Match
	for _, m := range c.finish() {
		if in.severalARound(m) {
			matches = append(matches, m)
			continue
		}
		if !in.hasBarrier(m.Scope.Code, m.Scope.Loop) && in.limitByTrips(m, blames[m.Scope.Loop]) { // no load goes past a barrier
			in.boundsOf(m)
			matches = append(matches, m)
		}
	}
	return append(matches, in.fewRounds()...)
}

// isHideable reports whether other instructions can fill a stall: global memory and execution dependencies.
func isHideable(d blamer.DetailedReason) bool {
	switch d {
	case blamer.GlobalMemory, blamer.TextureMemory, blamer.SharedMemory, blamer.Arithmetic, blamer.WAR, blamer.Scheduling:
		return true
	}
	return false
}

// limitByTrips takes the number of iterations into account, which the paper names as the missing piece behind its
// largest error (bfs, section 6.2). It writes the suggestions and reports whether unrolling makes sense at all.
func (in *Input) limitByTrips(m *Match, blames []*blamer.Blame) bool {
	at := in.scopePlace(m.Scope)
	trips, known := in.TripCount(m.Scope.Code, m.Scope.Loop)
	times := ""
	if known {
		if trips < 2 {
			return false
		}
		times = fmt.Sprintf(" It runs about %.0f times each time it is entered.", trips)
	}
	rounds := in.rounds(m.Scope.Loop, blames, trips, known)
	if rounds < 2 {
		return false // the compiler has unrolled it
	}
	in.countControl(m, rounds)
	m.Spares = IssueSlots
	m.hide(max(0, in.hidden(m.Scope, freedom{rounds: rounds})-m.Gone-in.transferred(m.Scope, blames)/2*(1-1/float64(rounds))))
	m.Change = in.overlapped(m.Scope.Loop, blames, rounds)
	by := 4
	if known {
		by = min(by, int(trips))
	}
	together, done := in.together(m.Scope.Loop, blames), times
	if together > 1 {
		done = " The compiler has put several iterations together already: a number like its own changes nothing."
	}
	m.Suggestions = []string{
		fmt.Sprintf("Unroll the loop at %s (#pragma unroll %d before it, or by hand), so that loads and arithmetic of several iterations are under way together.%s", at, by*together, done),
		"Not where the registers that this takes leave room for fewer warps.",
	}
	loads := slices.ContainsFunc(blames, func(b *blamer.Blame) bool { return in.Inst(b.Def).Op.Properties().Loads(^sass.SpaceConstant) })
	if !loads {
		if _, serial := in.recurrence(m.Scope.Code, m.Scope.Loop); serial {
			return false // each round begins with what the one before has computed
		}
	}
	counted, byNumbers := in.countable(m.Scope.Code, m.Scope.Loop)
	inner := slices.ContainsFunc(in.codes[m.Scope.Code].graph.Loops, func(l *cfg.Loop) bool { return l.Parent == m.Scope.Loop })
	if known && trips < float64(2*by) || inner { // which is copied too
		m.Least = leastWithRest
	}
	if in.loadsBehindStores(m.Scope.Code, m.Scope.Loop) {
		m.Suggestions[0] = fmt.Sprintf("Unroll the loop at %s by hand: make the loads of %d iterations before anything that uses them and before the first store of these.%s", at, by, times)
		m.Suggestions = slices.Insert(m.Suggestions, 1, "#pragma unroll alone does little here: loads stay behind the stores and atomic operations of the iteration before, which might change what they read.")
		return true
	}
	if f := in.flowOf(m.Scope.Code, m.Scope.Loop); loads && slices.ContainsFunc(f.loaded(f.exits()...), func(n int) bool { return !f.loadsSame(n) }) {
		m.Suggestions[0] = fmt.Sprintf("Unroll the loop at %s by hand: make the loads of %d iterations at indices that are kept within the array (min), then those that need what these bring, and test only then how many of the iterations there are.%s", at, by, times)
		m.Suggestions[0] += in.divisionFirst(m.Scope.Code, m.Scope.Loop)
		m.Suggestions = slices.Insert(m.Suggestions, 1, "#pragma unroll alone does little here, as what an iteration loads decides whether there is another one: the loads stay behind that test.")
		return true
	}
	unrolled := in.isUnrolledBeside(m.Scope)
	if counted && loads && (!byNumbers || unrolled) {
		m.Suggestions[0] = fmt.Sprintf("Unroll the loop at %s by hand: as long as %d iterations are left, make the loads of all %d before anything that uses them, and do what is left one by one.%s", at, by, by, times)
		why := "as the compiler cannot tell how many iterations there are: it tests before each, and the loads stay behind their tests."
		if unrolled {
			why = "as the compiler has unrolled the loop already, by more than most entries have iterations: what is left is done one by one, and a smaller number takes that unrolling away."
		}
		m.Suggestions = slices.Insert(m.Suggestions, 1, "#pragma unroll alone does little here, "+why)
		return true
	}
	if !counted || m.Scope.Loop.Depth > 1 || in.hasCall(m.Scope) {
		m.Suggestions[1] += " If the compiler does not unroll it, the trip count is unknown to it or the body calls a function: make the bound a constant or a template argument, inline the call, and mark read-only pointers const __restrict__ so that loads can move up."
	}
	return true
}

// divisionFirst says to replace a division in a loop before its loads are made earlier: each address that is found ahead takes another one (1.46x and 1.36x
// tried were 1.17x and 1.14x by hand, 1.42x and 1.40x without).
func (in *Input) divisionFirst(code int, l *cfg.Loop) string {
	division, found := in.sequences(code), blamer.Node{}
	f := in.flowOf(code, l)
	var loads []int
	in.eachInst(code, l, func(i int) {
		if f.inst(i).Op == sass.LDG {
			loads = append(loads, i)
		}
	})
	for i := range f.needs(loads...) {
		if n := (blamer.Node{Code: code, Inst: i}); i >= 0 && division[i] > 0 && in.Inst(n).Op != sass.F2F && in.Inst(n).Form.Pipe != sass.PipeFP64 && (found.Inst == 0 || i < found.Inst) {
			found = n
		}
	}
	if found.Inst == 0 {
		return ""
	}
	return fmt.Sprintf(" Replace the division at %s first, by which the next address is found: ahead of time it is made once more each time. Where an index goes round, compare and subtract.", in.place(found))
}

// leastWithRest is what unrolling has to promise where threads often have no more rounds than are unrolled, or one more: tests and the rounds that are left take a part of the gain. How large that is nobody has measured; the figure is a default.
const leastWithRest = 1.2

// isUnrolledBeside reports whether a loop is what is left of one that the compiler has unrolled: beside it stands a longer one of the same place.
func (in *Input) isUnrolledBeside(s Scope) bool {
	return slices.ContainsFunc(in.codes[s.Code].graph.Loops, func(l *cfg.Loop) bool {
		other := in.loopScope(s.Code, l)
		return copies(in.placed(other), in.placed(s)) && in.instructionsIn(other) > in.instructionsIn(s)
	})
}

// loadsBehindStores reports whether a loop has loads from global memory that would have to pass stores or atomic operations of an earlier round, those
// on shared memory too, which compilers move no load across, and stores to arrays in local memory whose place is not known when the program is compiled.
func (in *Input) loadsBehindStores(code int, l *cfg.Loop) bool {
	loads, stores := false, false
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		op := in.Inst(n).Op
		loads = loads || op == sass.LDG && in.Inst(n).Mod(sass.Order) != sass.OrderConstant
		stores = stores || (op != sass.LDG && movesGlobal(op) || isAtomic(op) || in.storesIndexed(n)) && in.counts(n).executions > 0
	})
	return loads && stores
}

// storesIndexed reports whether an instruction stores to local memory at a place that the program finds when it runs: not by the stack pointer alone.
func (in *Input) storesIndexed(n blamer.Node) bool {
	const stackPointer = 1
	x := in.Inst(n)
	return x.Op == sass.STL && slices.ContainsFunc(x.Operands, func(o sass.Operand) bool { return o.Kind == sass.KindMem && o.Reg != stackPointer && o.Reg != sass.RZ })
}

// countable reports whether a loop's exits depend on nothing but values to which each round adds the same: so that its rounds can be counted
// before it begins. By numbers it is for a compiler to count them: one exit, and what is added stands in the code. By other steps compilers
// divide too; but then they have unrolled the loop.
func (in *Input) countable(code int, l *cfg.Loop) (counted, byNumbers bool) {
	f := in.flowOf(code, l)
	exits := f.exits()
	if f.loads(exits...) {
		return false, false
	}
	needed := f.needs(exits...)
	byNumbers = len(exits) == 1
	for _, cycle := range f.cycles() {
		if !slices.ContainsFunc(cycle, func(n int) bool { return needed[n] }) {
			continue
		}
		if !f.isInduction(cycle) {
			return false, false
		}
		byNumbers = byNumbers && f.byNumber(cycle)
	}
	return true, byNumbers
}

// byNumber reports whether what a cycle adds in a round stands in the code.
func (f *registerFlow) byNumber(cycle []int) bool {
	for _, n := range cycle {
		if n < 0 {
			continue
		}
		for i := range f.inst(n).Operands {
			switch o := &f.inst(n).Operands[i]; {
			case o.Kind == sass.KindConst, o.Source && o.Kind == sass.KindUReg && o.Reg != sass.URZ:
				return false
			}
		}
		for _, r := range f.inst(n).Uses(nil) {
			if isValue(r) && !slices.ContainsFunc(f.from[n], func(e flowEdge) bool { return e.resource == r && (slices.Contains(cycle, e.node) || f.isCarry(e)) }) {
				return false
			}
		}
	}
	return true
}

// countControl enters the branches, tests and counting that the rounds of a loop have in common when they are unrolled.
func (in *Input) countControl(m *Match, rounds int) {
	for _, t := range in.traces(m.Scope) {
		if len(t.steps) == 0 {
			continue
		}
		m.Gone += t.steps[0].branched
		for i, once := range t.control() {
			if once && len(t.steps[i].insts) == 1 {
				m.Gone += in.codes[m.Scope.Code].issued[t.steps[i].insts[0]]
			}
		}
	}
	m.Gone *= 1 - 1/float64(rounds)
	m.Samples += m.Gone
}

// transferred is the number of samples in which the memory brings what the loads of a scope that were blamed ask for. Rounds that are
// under way together share the latency of the memory, but not this time: a load waits for half of what is asked for with it, on
// average.
func (in *Input) transferred(s Scope, blames []*blamer.Blame) float64 {
	loads := map[blamer.Node]bool{}
	for _, b := range blames {
		loads[b.Def] = b.Detail == blamer.GlobalMemory
	}
	sectors, all := 0.0, 0.0
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		for i := range c.counters {
			all += c.counters[i].sectors
			if loads[blamer.Node{Code: code, Inst: i}] {
				sectors += c.counters[i].sectors
			}
		}
	}
	busy := in.busyCycles()
	if all == 0 || busy <= 0 {
		return 0
	}
	return in.Total * min(1, in.memoryCycles()/busy) * sectors / all
}

// hasCall reports whether a function is called in the scope.
func (in *Input) hasCall(s Scope) bool {
	for _, call := range s.Func.Calls {
		if l := in.Loop(blamer.Node{Code: s.Code, Inst: call.Inst}); l != nil && l == s.Loop {
			return true
		}
	}
	return false
}
