package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// maxInlineSize is the size of the largest function that is worth inlining, bytes, as in the paper's tool.
const maxInlineSize = 3000

// functionInlining matches the stalls in small device functions of the user and at their calls: inlined code can be
// scheduled together with its surroundings. Functions that the compiler added cannot be inlined by the user and never
// match.
type functionInlining struct{}

func (functionInlining) Name() string { return "function-inlining" }
func (functionInlining) Class() Class { return LatencyHiding }

func (functionInlining) Match(in *Input) []*Match {
	c := newCollector(in)
	small := inliner{in: in, inlinable: map[*cfg.Func]bool{}}
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if !isStall(b) {
			continue
		}
		for _, f := range small.at(b.Use) {
			c.add(Scope{Kind: FunctionScope, Code: b.Use.Code, Func: f}, b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = IssueSlots
		m.Change = &Change{Gone: in.callOverhead(m.Scope)}
		m.Active += in.callerActive(m.Scope)
		m.Gone = min(in.overheadSamples(m.Scope), m.Samples)
		m.Latency = max(0, m.Latency-m.Gone*m.Latency/max(1, m.Samples))
		m.Suggestions = []string{
			fmt.Sprintf("Inline %s: mark it __forceinline__, or copy its body to the calls at %s. A call costs moves and branches and keeps the compiler from overlapping it with the code around.",
				m.Scope.Func.Function.Demangled, in.places(in.callSites(in.entry(m.Scope)), 3)),
			"Not a large function with many calls: its copies may outgrow the instruction cache.",
		}
	}
	return matches
}

// An inliner remembers which functions can be inlined.
type inliner struct {
	in        *Input
	inlinable map[*cfg.Func]bool
}

// at returns the inlinable functions to which a stall at an instruction counts: that which holds it, and that which it
// calls.
func (l inliner) at(n blamer.Node) []*cfg.Func {
	own := l.in.Func(n)
	if own == nil {
		return nil
	}
	var list []*cfg.Func
	if l.can(n.Code, own) {
		list = append(list, own)
	}
	if l.in.Inst(n).Op != sass.CALL {
		return list
	}
	for _, call := range own.Calls {
		if call.Inst != n.Inst {
			continue
		}
		for _, callee := range call.Callees {
			if f := l.in.codes[n.Code].graph.Funcs[callee]; f != own && l.can(n.Code, f) {
				list = append(list, f)
			}
		}
	}
	return list
}

// can reports whether a function is a small device function of the user that is called and does not call itself.
func (l inliner) can(code int, f *cfg.Func) bool {
	known, ok := l.inlinable[f]
	if !ok {
		g := l.in.codes[code].graph
		entry := blamer.Node{Code: code, Inst: g.Blocks[f.Entry].First}
		known = f.Function.Kind == cubin.DeviceFunction && f.Function.Size < maxInlineSize &&
			len(l.in.callSites(entry)) > 0 && !callsItself(g, f)
		l.inlinable[f] = known
	}
	return known
}

// callsItself reports whether a function is reached from its own calls.
func callsItself(g *cfg.Graph, f *cfg.Func) bool {
	seen := map[int]bool{}
	work := []*cfg.Func{f}
	for len(work) > 0 {
		top := work[len(work)-1]
		work = work[:len(work)-1]
		for _, call := range top.Calls {
			for _, callee := range call.Callees {
				if g.Funcs[callee] == f {
					return true
				}
				if !seen[callee] {
					seen[callee] = true
					work = append(work, g.Funcs[callee])
				}
			}
		}
	}
	return false
}

// callerActive returns the active samples of the functions that call a function.
func (in *Input) callerActive(s Scope) float64 {
	sum := 0.0
	var seen []*cfg.Func
	for _, site := range in.callSites(in.entry(s)) {
		if f := in.Func(site); f != nil && f != s.Func && !slices.Contains(seen, f) {
			seen = append(seen, f)
			sum += in.activeIn(Scope{Kind: FunctionScope, Code: s.Code, Func: f})
		}
	}
	return sum
}

func (in *Input) entry(s Scope) blamer.Node {
	return blamer.Node{Code: s.Code, Inst: in.codes[s.Code].graph.Blocks[s.Func.Entry].First}
}

// callOverhead returns the calls of a function and its returns, which inlining saves.
func (in *Input) callOverhead(s Scope) []blamer.Node {
	nodes := in.callSites(in.entry(s))
	g := in.codes[s.Code].graph
	for _, id := range s.Func.Blocks {
		last := blamer.Node{Code: s.Code, Inst: g.Blocks[id].Last}
		if in.Inst(last).Op == sass.RET {
			nodes = append(nodes, last)
		}
	}
	return nodes
}

// overheadSamples are those that a function's calls and returns themselves take: their issue, the moves and stall counts before
// them, and what resolving their targets takes where they lead to.
func (in *Input) overheadSamples(s Scope) float64 {
	sum := 0.0
	for _, n := range in.callOverhead(s) {
		sum += in.samplesAt(n, stall.Selected, stall.NotSelected, stall.Wait, stall.MathPipeThrottle)
		switch in.Inst(n).Op {
		case sass.CALL:
			sum += in.redirect(blamer.Node{Code: n.Code, Inst: n.Inst + 1}).all()
		case sass.RET:
			sum += in.samplesAt(n, stall.BranchResolving)
		}
	}
	return sum + in.redirect(in.entry(s)).all()
}

// samplesAt adds up the samples of an instruction with some reasons.
func (in *Input) samplesAt(n blamer.Node, reasons ...stall.Reason) float64 {
	sum := 0.0
	for _, s := range in.Launch.At(n.Code, uint64(n.Inst)*sass.InstSize) {
		if slices.Contains(reasons, s.Reason) {
			sum += float64(s.Count)
		}
	}
	return sum
}
