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
		if l := in.CommonLoop(b.Def, b.Use); l != nil {
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
	return matches
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
	m.hide(in.hidden(m.Scope, freedom{rounds: rounds}))
	m.Change = in.overlapped(m.Scope.Loop, blames, rounds)
	m.Suggestions = []string{
		fmt.Sprintf("Unroll the loop at %s (#pragma unroll 4 before it, or by hand), so that loads and arithmetic of several iterations are under way together.%s", at, times),
	}
	if m.Scope.Loop.Depth > 1 || in.hasCall(m.Scope) {
		m.Suggestions = append(m.Suggestions,
			"If the compiler does not unroll it, the trip count is unknown to it or the body calls a function: make the bound a constant or a template argument, inline the call, and mark read-only pointers const __restrict__ so that loads can move up.")
	}
	return true
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
