package advisor

import (
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A trace is the straight way through a scope that its warps take most often: what a programmer has before his eyes who moves
// statements. Times are in samples: so many were taken while a warp stood before an instruction.
type trace struct {
	code    *[]sass.Inst
	steps   []step
	carried []wait  // of a loop: for steps of the round before
	unit    float64 // samples of a cycle
}

// A step is an instruction of a trace, or a loop inside it as a whole.
type step struct {
	insts []int   // the instruction, or those of the loop
	own   float64 // its samples that are no wait for a step of the trace
	waits []wait
	effect
	variable bool    // its latency varies
	cycles   float64 // that an instruction of varying latency takes which accesses no memory; 0 for others
	op       sass.Op
	branched float64 // of own: what the branch that leads there takes
}

// A wait is for the result of an earlier step, or of one of the round before.
type wait struct {
	from, to int // steps
	samples  float64
	detail   blamer.DetailedReason
}

// traces returns the hot traces of a scope: of a loop one, from its header to where it begins anew; of a function those of the
// code outside loops.
func (in *Input) traces(s Scope) []*trace {
	c := in.codes[s.Code]
	if c == nil || s.Func == nil {
		return nil
	}
	if s.Loop != nil {
		return []*trace{in.newTrace(s.Code, in.path(c, s.Loop.Header, s.Loop, map[int]bool{}))}
	}
	var list []*trace
	seen := map[int]bool{}
	for _, id := range s.Func.Blocks {
		if c.graph.Blocks[id].Loop == nil && !seen[id] {
			list = append(list, in.newTrace(s.Code, in.path(c, id, nil, seen)))
		}
	}
	return list
}

// A part of a path is a block, or a loop that the path goes through.
type part struct {
	block int
	loop  *cfg.Loop
}

// path follows the most executed successors from a block, as long as they are in the loop.
func (in *Input) path(c *codeSamples, from int, l *cfg.Loop, seen map[int]bool) []part {
	var parts []part
	for at := from; at >= 0; {
		inner := within(c.graph.Blocks[at].Loop, l)
		if inner != nil {
			parts = append(parts, part{loop: inner})
			for _, id := range inner.Blocks {
				seen[id] = true
			}
			at = c.hottest(inner.Blocks, l, seen)
			continue
		}
		seen[at] = true
		parts = append(parts, part{block: at})
		at = c.hottest([]int{at}, l, seen)
	}
	return parts
}

// within returns the loop directly inside l, nil for no loop, that is m or holds it; nil where m is l.
func within(m, l *cfg.Loop) *cfg.Loop {
	for ; m != nil && m != l; m = m.Parent {
		if m.Parent == l {
			return m
		}
	}
	return nil
}

// hottest returns the most executed block of a loop that follows some blocks and was not seen; -1 for none.
func (c *codeSamples) hottest(blocks []int, l *cfg.Loop, seen map[int]bool) int {
	next := -1
	for _, id := range blocks {
		for _, succ := range c.graph.Blocks[id].Succs {
			in := l == nil || l.Contains(succ)
			if in && !seen[succ] && (next < 0 || c.executed(succ) > c.executed(next)) {
				next = succ
			}
		}
	}
	return next
}

// executed is how often a block ran: by the source counters, or by its samples.
func (c *codeSamples) executed(block int) float64 {
	first := c.graph.Blocks[block].First
	if c.executions != nil {
		return c.executions[first]
	}
	sum := 0.0
	for i := first; i <= c.graph.Blocks[block].Last; i++ {
		sum += c.total[i]
	}
	return sum
}

// newTrace makes the trace of a path.
func (in *Input) newTrace(code int, parts []part) *trace {
	c, t := in.codes[code], &trace{code: &in.Module.Codes[code].Insts}
	at := map[int]int{} // instruction → step
	issued, count := 0.0, 0
	for _, p := range parts {
		if p.loop != nil {
			t.steps = append(t.steps, in.loopStep(code, p.loop))
			for _, i := range t.steps[len(t.steps)-1].insts {
				at[i] = len(t.steps) - 1
			}
			continue
		}
		for i := c.graph.Blocks[p.block].First; i <= c.graph.Blocks[p.block].Last; i++ {
			inst := &(*t.code)[i]
			at[i] = len(t.steps)
			s := step{insts: []int{i}, own: c.total[i], effect: effectOf(inst), variable: inst.Form.Variable, op: inst.Op}
			if p := inst.Op.Properties(); s.variable && p.Memory() == sass.NoSpace {
				s.cycles = in.Model.Latencies.Of(p.Class).Value
			}
			t.steps = append(t.steps, s)
			issued += c.issued[i]
			count++
		}
	}
	t.unit = issued / float64(max(1, count))
	if len(t.steps) > 0 && len(t.steps[0].insts) == 1 {
		t.steps[0].branched = in.redirect(blamer.Node{Code: code, Inst: t.steps[0].insts[0]}).all()
	}
	for use := range t.steps {
		in.addWaits(t, code, use, at)
	}
	return t
}

// loopStep is a loop inside a trace.
func (in *Input) loopStep(code int, l *cfg.Loop) step {
	c, s := in.codes[code], step{op: sass.NOP}
	in.eachInst(code, l, func(i int) {
		s.insts = append(s.insts, i)
		s.own += c.total[i]
		s.effect |= effectOf(&in.Module.Codes[code].Insts[i])
	})
	return s
}

// addWaits enters the stalls at a step whose cause is in the trace.
func (in *Input) addWaits(t *trace, code, use int, at map[int]int) {
	for _, i := range t.steps[use].insts {
		for _, b := range in.byUse[blamer.Node{Code: code, Inst: i}] {
			def, inside := at[b.Def.Inst]
			if inside && b.Def.Code == code && isDependence(b.Detail) && (def != use || len(t.steps[use].insts) == 1 && b.Distance > 0) {
				t.wait(wait{def, use, b.Count, b.Detail})
			}
		}
	}
}

// isDependence reports whether a stall is for a result. Register reuse and stall counts stay with the instruction that waits.
func isDependence(d blamer.DetailedReason) bool {
	return isHideable(d) && d != blamer.WAR && d != blamer.Scheduling
}

// wait enters a wait.
func (t *trace) wait(w wait) {
	s := &t.steps[w.to]
	w.samples = min(w.samples, s.own)
	s.own -= w.samples
	if w.from < w.to {
		s.waits = append(s.waits, w)
	} else {
		t.carried = append(t.carried, w)
	}
}

// dependences lists, by step, the earlier steps whose registers and predicates it reads, and those of the round before.
func (t *trace) dependences() (within, around [][]int) {
	within, around = make([][]int, len(t.steps)), make([][]int, len(t.steps))
	defs := map[sass.Resource][]int{}
	for i := range t.steps {
		for _, r := range t.uses(i) {
			within[i] = append(within[i], defs[r]...)
		}
		t.define(i, defs)
	}
	last := defs // at the end of a round
	defs = map[sass.Resource][]int{}
	for i := range t.steps {
		for _, r := range t.uses(i) {
			if len(defs[r]) == 0 {
				around[i] = append(around[i], last[r]...)
			}
		}
		t.define(i, defs)
	}
	for i := range t.steps {
		within[i], around[i] = unique(within[i]), unique(around[i])
	}
	return within, around
}

// uses lists what a step reads.
func (t *trace) uses(i int) []sass.Resource {
	var list []sass.Resource
	for _, k := range t.steps[i].insts {
		list = (*t.code)[k].Uses(list)
	}
	return list
}

// define enters what a step writes. One under a predicate, and a loop, leave what was there before.
func (t *trace) define(i int, defs map[sass.Resource][]int) {
	whole := len(t.steps[i].insts) == 1
	for _, k := range t.steps[i].insts {
		inst := &(*t.code)[k]
		for _, r := range inst.Defs(nil) {
			switch {
			case r >= sass.ResSB && r < sass.ResConvBar: // a dependence counter is no value
			case whole && inst.Guard.Always():
				defs[r] = []int{i}
			default:
				defs[r] = append(slices.Clip(defs[r]), i)
			}
		}
	}
}

func unique(list []int) []int {
	slices.Sort(list)
	return slices.Compact(list)
}
