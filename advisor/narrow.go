package advisor

import (
	"gpa/blamer"
	"gpa/cubin"
)

// mostOf is the share of a match's samples that a scope must hold to stand for the match.
const mostOf = 0.9

// narrow returns the smallest scope around the hottest stall that holds nearly all matched samples: a line, a loop, a
// function other than the kernel itself, or the scope that the match has.
func (in *Input) narrow(m *Match) Scope {
	if len(m.Hotspots) == 0 {
		return m.Scope
	}
	top := m.Hotspots[0].Use
	f := in.Func(top)
	if f == nil {
		return m.Scope
	}
	need := mostOf * m.Samples
	line := Scope{Kind: LineScope, Code: top.Code, Func: f, Frame: in.ownFrame(top)}
	if line.Frame.Line > 0 && m.samplesWhere(func(n blamer.Node) bool { return in.ownFrame(n) == line.Frame }) >= need {
		return line
	}
	for l := in.Loop(top); l != nil; l = l.Parent {
		inside := func(n blamer.Node) bool { return in.isWithin(top.Code, l, n) }
		if m.samplesWhere(inside) >= need {
			return in.placed(in.loopScope(top.Code, l))
		}
	}
	own := f.Function.Kind != cubin.KernelFunction
	if own && m.samplesWhere(func(n blamer.Node) bool { return in.Func(n) == f }) >= need {
		return in.placed(Scope{Kind: FunctionScope, Code: top.Code, Func: f})
	}
	return m.Scope
}

func (in *Input) placed(s Scope) Scope {
	s.Frame = in.scopeFrame(s)
	return s
}

// samplesWhere adds up the matched samples whose use satisfies a test.
func (m *Match) samplesWhere(test func(blamer.Node) bool) float64 {
	sum := 0.0
	for _, h := range m.Hotspots {
		if test(h.Use) {
			sum += h.Samples
		}
	}
	return sum
}
