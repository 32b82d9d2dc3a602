package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
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
		if l := in.CommonLoop(b.Def, b.Use); l != nil && !in.feedsBack(l, b.Def) {
			c.add(in.loopScope(b.Use.Code, l), b)
			blames[l] = append(blames[l], b)
		}
	}
	var matches []*Match
	for _, m := range c.finish() {
		if in.limitByTrips(m, blames[m.Scope.Loop]) {
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
	m.Suggestions = []string{
		fmt.Sprintf("Unroll the loop at %s (#pragma unroll 4 before it, or by hand), so that loads and arithmetic of several iterations are under way together.%s", at, times),
		"Not where the registers that this takes leave room for fewer warps.",
	}
	if m.Scope.Loop.Depth > 1 || in.hasCall(m.Scope) {
		m.Suggestions[1] += " If the compiler does not unroll it, the trip count is unknown to it or the body calls a function: make the bound a constant or a template argument, inline the call, and mark read-only pointers const __restrict__ so that loads can move up."
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
