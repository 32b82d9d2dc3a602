package advisor

import (
	"fmt"
	"math"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// A loop of few rounds whose number the compiler does not know is mostly control: the compiler makes a loop of several rounds at a time and
// others for those that are left, each with its tests. Where the number is the same every time it may be a constant, and all of that goes.

// leastControl is the least share of the samples that such control must have to be worth a constant.
const leastControl = .1

// fewRounds matches the control of such loops.
func (in *Input) fewRounds() (matches []*Match) {
	for code, c := range in.codes {
		if c == nil || c.executions == nil {
			continue
		}
		done := make(map[cubin.Frame]bool)
		for _, l := range c.graph.Loops {
			s := in.loopScope(code, l)
			at := in.scopeFrame(s)
			if at.Line == 0 || done[at] || l.Parent == nil && len(c.graph.Loops) == 1 || !in.isLeaf(code, l) {
				continue
			}
			done[at] = true
			if m := in.controlOf(s, at); m != nil {
				matches = append(matches, m)
			}
		}
	}
	return matches
}

// controlOf matches the control of the loops of one line; nil where these do not run the same number of rounds each time, or more than a
// few, or where it takes hardly any time.
func (in *Input) controlOf(s Scope, at cubin.Frame) *Match {
	const few = 32
	c, rounds, copies := in.codes[s.Code], 0., 0
	for _, l := range c.graph.Loops {
		if !in.isLeaf(s.Code, l) || in.scopeFrame(in.loopScope(s.Code, l)) != at {
			continue
		}
		copies++
		if header := c.graph.Blocks[l.Header]; c.executions[header.First] > 0 {
			n, known := in.TripCount(s.Code, l)
			if !known || math.Abs(n-math.Round(n)) > .01*n || !in.wholeWarps(s.Code, l) {
				return nil
			}
			rounds += n
		}
	}
	if copies < 2 || rounds > few {
		return nil // the compiler unrolls what it does not know; what is one loop it knows, or cannot unroll
	}
	m := &Match{Scope: s, Scheduled: true, Spares: IssueSlots, Variant: "constant count", Change: &Change{}}
	m.Scope.Frame = at
	for i := range in.Module.Codes[s.Code].Insts {
		n := blamer.Node{Code: s.Code, Inst: i}
		if in.frame(n) != at || !isControl(in.Inst(n)) || c.executions[i] == 0 {
			continue
		}
		m.Change.Gone = append(m.Change.Gone, n)
		m.Gone += c.issued[i] + in.samplesAt(n, stall.Wait, stall.NotSelected, stall.BranchResolving)
	}
	m.Samples = m.Gone
	if m.Gone < leastControl*in.Total {
		return nil
	}
	m.Suggestions = []string{
		fmt.Sprintf("The loop at %s runs the same few rounds each time, but the compiler does not know how many: to count them and to lead to the code for what is left takes %.0f%% of the samples. Make the number a constant (constexpr, a template parameter, a macro), so that the loop is unrolled in full and offsets are part of the accesses.",
			in.scopePlace(s), 100*m.Gone/in.Total),
		"For several numbers instantiate the kernel for each, and keep this one for all others.",
	}
	return m
}

// wholeWarps reports whether all lanes of the warps that come to a loop go through it.
func (in *Input) wholeWarps(code int, l *cfg.Loop) bool {
	k := in.counts(blamer.Node{Code: code, Inst: in.codes[code].graph.Blocks[l.Header].First})
	return k.threads >= lowActivity*warpSize*k.executions
}

// isControl reports whether an instruction counts, compares or branches: it neither accesses memory nor computes with floating-point numbers.
func isControl(inst *sass.Inst) bool {
	p := inst.Op.Properties()
	return p.Memory() == sass.NoSpace && !p.Crosses && p.Sync == sass.SyncNone && p.Flow != sass.FlowExit && p.Flow != sass.FlowCall && p.Flow != sass.FlowReturn && (!p.Floats() || moves(inst))
}

// moves reports whether an instruction only moves a value, as IMAD does where it multiplies by zero.
func moves(inst *sass.Inst) bool {
	return inst.Op.Properties().Does == sass.Moves || inst.Op.Vector().Properties().Does == sass.MultipliesAdds && multipliesByZero(inst)
}
