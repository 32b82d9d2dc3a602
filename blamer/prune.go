package blamer

import (
	"slices"

	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// prune applies the rules of section 4 to the dependencies of one instruction that is stalled for a reason.
func (a *analysis) prune(deps []dependency, reason stall.Reason) []dependency {
	a.rule = NoSource
	a.decide(OnlySource, deps)
	for _, s := range []struct {
		rule   Rule
		beyond bool // the paper's rules do not have it
		apply  func([]dependency) []dependency
	}{
		{OpcodeRule, false, a.each(func(d dependency) bool { return a.opcodeRule(d, reason) })},
		{WaitRule, true, a.each(func(d dependency) bool { return a.waitRule(d, reason) })},
		{ExecutionRule, true, a.each(a.executionRule)},
		{DominatorRule, false, a.byResource(a.dominatorRule)},
		{LatencyRule, false, a.byResource(a.latencyRule)},
		{OrderRule, true, func(deps []dependency) []dependency { return a.orderRule(deps, reason) }},
	} {
		if s.beyond && a.plain || slices.Contains(a.opt.Without, s.rule) {
			continue
		}
		deps = s.apply(deps)
		a.decide(s.rule, deps)
	}
	if severalDefs(deps) {
		a.rule = Apportioned
	}
	return deps
}

// each makes a step of prune of a rule that looks at one dependency.
func (a *analysis) each(keep func(dependency) bool) func([]dependency) []dependency {
	return func(deps []dependency) []dependency { return a.filter(deps, keep) }
}

// byResource makes one of a rule that looks at all definitions of a resource.
func (a *analysis) byResource(rule func(use int, r sass.Resource, defs []int) []bool) func([]dependency) []dependency {
	return func(deps []dependency) []dependency { return a.pathRule(deps, rule) }
}

// decide notes the rule after which a single source was left for the first time.
func (a *analysis) decide(r Rule, kept []dependency) {
	if a.rule == NoSource && len(kept) > 0 && !severalDefs(kept) {
		a.rule = r
	}
}

func (a *analysis) filter(deps []dependency, keep func(dependency) bool) []dependency {
	var kept []dependency
	for _, d := range deps {
		if keep(d) {
			kept = append(kept, d)
		}
	}
	return kept
}

// pathRule applies a rule that looks at all definitions of one resource together. The dependencies of a use are
// grouped by resource.
func (a *analysis) pathRule(deps []dependency, rule func(use int, r sass.Resource, defs []int) []bool) []dependency {
	var kept []dependency
	for len(deps) > 0 {
		n := 1
		for n < len(deps) && deps[n].res == deps[0].res {
			n++
		}
		for i, keep := range rule(deps[0].use, deps[0].res, defsOf(deps[:n])) {
			if keep {
				kept = append(kept, deps[i])
			}
		}
		deps = deps[n:]
	}
	return kept
}

func defsOf(deps []dependency) []int {
	defs := make([]int, len(deps))
	for i, d := range deps {
		defs[i] = d.def
	}
	return defs
}

// opcodeRule keeps what can cause the stall by its opcode: memory dependency stalls come from memory instructions only.
// As in Figure 5, waiting for shared memory is an execution dependency; loads from constant memory cause both kinds.
func (a *analysis) opcodeRule(d dependency, reason stall.Reason) bool {
	src := sourceOf(a.code.Insts[d.def].Op)
	switch reason.Class() {
	case stall.MemoryDependency:
		return src.throughL1TEX() || src == constantSource && a.plain
	case stall.ExecutionDependency:
		return !src.throughL1TEX() || a.plain && isStore(a.code.Insts[d.def].Op)
	}
	return false
}

// isStore reports whether the opcode is of a memory instruction without a result: others wait for its operand reads
// only. The paper's tool counts these as execution dependencies too.
func isStore(op sass.Op) bool {
	const beyond = sass.SpaceGlobal | sass.SpaceGeneric | sass.SpaceLocal | sass.SpaceTexture
	p := op.Properties()
	return p.Writes&beyond != 0 && p.Async == sass.Synchronous && !op.Returns()
}

// waitRule keeps what the hardware can be waiting on: scoreboard stalls end when a dependence counter of the wait mask
// drops, so that only virtual barrier registers carry them.
func (a *analysis) waitRule(d dependency, reason stall.Reason) bool {
	if reason != stall.LongScoreboard && reason != stall.ShortScoreboard {
		return true
	}
	return isCounter(d.res)
}

// executionRule drops definitions that the source counters say were never executed by any thread.
func (a *analysis) executionRule(d dependency) bool {
	return !a.counted || a.issues[d.def] > 0
}

// dominatorRule keeps the definitions from which a path leads to the use without another unpredicated use of the same
// resource in between: had the definition caused a stall, it would have been seen at that other use. (The paper says
// that one instruction lies on every path; several that together cut all paths serve as well.)
func (a *analysis) dominatorRule(use int, r sass.Resource, defs []int) []bool {
	keep := make([]bool, len(defs))
	q := a.query(use, r)
	q.barriers = a.firmUses(r)
	for i, length := range a.paths.shortest(instructions{}, q, defs) {
		keep[i] = length >= 0
	}
	return keep
}

// firmUses returns the instructions that wait for a resource in any case. The wait mask holds an instruction back
// whatever its guard says; the paper's rule asks for unpredicated instructions there too.
func (a *analysis) firmUses(r sass.Resource) []int32 {
	if isCounter(r) && !a.plain {
		return a.waits[r-sass.ResSB]
	}
	return a.firm[r]
}

// latencyRule keeps the definitions from which a path to the use is short enough for the result to be late: at most as
// many instructions as the latency has cycles. The default rules count cycles: the stall counts on the path are a
// lower bound of the time that passes.
func (a *analysis) latencyRule(use int, r sass.Resource, defs []int) []bool {
	bounds := make([]int64, len(defs))
	q := a.query(use, r)
	q.limit = 0
	for i, d := range defs {
		bounds[i] = latencyBound(&a.code.Insts[d], a.model)
		if a.plain {
			bounds[i] += 2 // as many instructions between def and use as the latency has cycles are kept
		}
		q.limit = max(q.limit, bounds[i])
	}
	m := measure(stallCycles{a.section})
	if a.plain {
		m = instructions{}
	} else {
		q.barriers = a.firmUses(r)
	}
	keep := make([]bool, len(defs))
	for i, length := range a.paths.shortest(m, q, defs) {
		keep[i] = length >= 0 && length < bounds[i]
	}
	return keep
}
