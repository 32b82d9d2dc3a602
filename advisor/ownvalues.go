package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// ownValues returns the loads of loops from global memory that mostly read what the same thread has stored in this round or the one before, at
// places that move from round to round: a[i] = a[i - 1] + b[i]. The value could stay in a register; the stores remain.
func (in *Input) ownValues() map[blamer.Node]bool {
	loads := make(map[blamer.Node]bool)
	if in.Launch.Record == nil {
		return loads
	}
	for i := range in.Launch.Record.Loads {
		r := &in.Launch.Record.Loads[i]
		n := nodeOf(r.Place)
		if in.codes[n.Code] == nil || in.Inst(n).Op != sass.LDG || in.Loop(n) == nil || in.invariantAddress(n) {
			continue
		}
		own, others := int64(0), false
		for _, d := range in.Launch.Record.Dependences {
			if d.Kind != profiler.FlowDependence || d.Space != "global" || d.To != r.Place {
				continue
			}
			from := nodeOf(d.From)
			others = others || d.Party != profiler.SameThread || in.codes[from.Code] == nil || isAtomic(in.Inst(from).Op) || d.Carried && !d.Next
			if in.Loop(from) == in.Loop(n) {
				own += d.Bytes
			}
		}
		if !others && own > 0 && 2*own >= r.Bytes {
			loads[n] = true
		}
	}
	return loads
}

// carriedOn matches such loads: without them, and with the other loads of the loop a round ahead, which need not wait for the stores then.
func (in *Input) carriedOn() []*Match {
	loads := in.ownValues()
	if len(loads) == 0 {
		return nil
	}
	own := make(map[*cfg.Loop]map[blamer.Node]bool)
	for n := range loads {
		l := in.Loop(n)
		if own[l] == nil {
			own[l] = make(map[blamer.Node]bool)
		}
		own[l][n] = true
	}
	// Who waits for the values waits for the stores before them, and whatever is loaded behind these.
	c := newCollector(in)
	for i := range in.Blame.Blames {
		if b := &in.Blame.Blames[i]; b.Detail == blamer.GlobalMemory && own[in.Loop(b.Def)] != nil {
			c.add(in.innermost(b.Def), b)
		}
	}
	var matches []*Match
	for _, m := range c.finish() {
		own := own[m.Scope.Loop]
		m.Spares, m.Variant = L2|DRAM|IssueSlots, "carried"
		m.Change = &Change{Gone: sortedKeys(own)}
		text := fmt.Sprintf("At %s a thread loads what it has stored itself shortly before. Keep the value in a local variable from round to round of the loop; the store stays.",
			in.places(sortedKeys(own), 2))
		m.Suggestions = []string{text, "Not where other threads change the value in between."}
		loads := slices.DeleteFunc(in.ahead(m.Scope.Code, m.Scope.Loop), func(n blamer.Node) bool { return own[n] })
		if ahead := in.registersAhead(m.Scope.Code, m.Scope.Loop, loads); ahead != nil {
			both := *m
			both.Variant, both.Change = "carried, loads ahead", m.Change.with(ahead)
			both.Suggestions = []string{text,
				"What else a round loads need not wait for the stores then: load for several rounds at once into local variables, or for the next rounds while these are worked on (#pragma unroll with __restrict__ pointers, or by hand)."}
			matches = append(matches, &both)
		}
		matches = append(matches, m)
	}
	return matches
}
