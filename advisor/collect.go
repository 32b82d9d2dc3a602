package advisor

import (
	"cmp"
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
)

// maxHotspots is the number of def-use pairs that a match lists, as in the reports of the paper's tool.
const maxHotspots = 5

// A collector gathers matched blames into one match a scope.
type collector struct {
	in      *Input
	matches map[Scope]*Match
	order   []Scope
}

func newCollector(in *Input) *collector {
	return &collector{in: in, matches: map[Scope]*Match{}}
}

// add enters a blame under a scope.
func (c *collector) add(s Scope, b *blamer.Blame) {
	m := c.matches[s]
	if m == nil {
		m = &Match{Scope: s}
		c.matches[s] = m
		c.order = append(c.order, s)
	}
	m.Samples += b.Count
	m.Latency += b.Latency
	m.Hotspots = append(m.Hotspots, Hotspot{
		Def: b.Def, Use: b.Use, Detail: b.Detail, Distance: b.Distance, Samples: b.Count,
	})
}

// addShare enters a share of a blame under a scope.
func (c *collector) addShare(s Scope, b *blamer.Blame, share float64) {
	if share <= 0 {
		return
	}
	part := *b
	part.Count *= share
	part.Latency *= share
	c.add(s, &part)
}

// addIssued enters the cycles in which instructions issue that go, for the whole kernel.
func (c *collector) addIssued(nodes []blamer.Node) {
	for _, n := range nodes {
		if issued := c.in.codes[n.Code].issued[n.Inst]; issued > 0 {
			c.add(c.in.kernelScope(), &blamer.Blame{Def: n, Use: n, Detail: blamer.NotSelected, Count: issued})
		}
	}
}

// finish returns the matches in the order in which their scopes came up, with what is derived from the samples: the
// active samples of the scope, the place in the source and the ranked hotspots.
func (c *collector) finish() []*Match {
	var matches []*Match
	for _, s := range c.order {
		m := c.matches[s]
		if m.Samples <= 0 {
			continue
		}
		m.Active = c.in.activeIn(s)
		m.Hotspots = rankHotspots(c.in, m.Hotspots)
		m.Scope.Frame = c.in.scopeFrame(s)
		matches = append(matches, m)
	}
	return matches
}

// rankHotspots adds up equal def-use pairs and keeps all, the hottest first.
func rankHotspots(in *Input, spots []Hotspot) []Hotspot {
	slices.SortStableFunc(spots, func(x, y Hotspot) int {
		return cmp.Or(compareNodes(x.Def, y.Def), compareNodes(x.Use, y.Use))
	})
	merged := spots[:0]
	for _, h := range spots {
		if n := len(merged); n > 0 && merged[n-1].Def == h.Def && merged[n-1].Use == h.Use {
			merged[n-1].Samples += h.Samples
			continue
		}
		merged = append(merged, h)
	}
	for i := range merged {
		merged[i].Share = merged[i].Samples / max(1, in.Total)
	}
	slices.SortStableFunc(merged, func(x, y Hotspot) int { return cmp.Compare(y.Samples, x.Samples) })
	return merged
}

func compareNodes(x, y blamer.Node) int {
	return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Inst, y.Inst))
}

// kernelScope is the scope of advice that concerns the launch as a whole.
func (in *Input) kernelScope() Scope {
	for i, c := range in.Module.Codes {
		if c.Name == in.Launch.Kernel {
			return Scope{Kind: KernelScope, Code: i}
		}
	}
	return Scope{Kind: KernelScope}
}

// loopScope is the scope of a loop.
func (in *Input) loopScope(code int, l *cfg.Loop) Scope {
	return Scope{Kind: LoopScope, Code: code, Func: in.codes[code].graph.Funcs[l.Func], Loop: l}
}

// functionScope is the scope of the function of an instruction, that of the kernel where the graph has none.
func (in *Input) functionScope(n blamer.Node) Scope {
	if f := in.Func(n); f != nil {
		return Scope{Kind: FunctionScope, Code: n.Code, Func: f}
	}
	return in.kernelScope()
}

// launchMatch is the match of an optimizer that changes the shape of the launch.
func (in *Input) launchMatch(speedup float64) *Match {
	m := &Match{Scope: in.kernelScope(), Samples: in.Total, Latency: in.Latency, Active: in.Active, Speedup: speedup}
	m.Scope.Frame = in.scopeFrame(m.Scope)
	return m
}

// leastOfHottest is the share of the hottest hotspot's samples that one has whose place is named: what is said of an unrolled loop is said of
// all of its lines, of which none has much.
const leastOfHottest = 0.1

// defs and uses return the ends of the hotspots whose places are named, the hottest first.
func (m *Match) defs() []blamer.Node {
	return m.ends(func(h *Hotspot) blamer.Node { return h.Def })
}

func (m *Match) uses() []blamer.Node {
	return m.ends(func(h *Hotspot) blamer.Node { return h.Use })
}

func (m *Match) ends(end func(*Hotspot) blamer.Node) (nodes []blamer.Node) {
	for i := range m.Hotspots {
		if h := &m.Hotspots[i]; h.Samples >= leastOfHottest*m.Hotspots[0].Samples {
			nodes = append(nodes, end(h))
		}
	}
	return nodes
}
