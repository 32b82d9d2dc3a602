package main

import (
	"context"
	"io"
	"slices"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/rewrite"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/reconv"
	"gpa/profiler"
	"gpa/reports"
)

// A trial runs launches again with the changes that the advice is about.
type trial struct {
	machine  machineFlags
	level    emu.TimingLevel
	target   *resolved
	before   *launch.Session // after all launches as they are
	result   *reports.Result
	beside   string    // kernel whose advice is not tried
	progress *progress // nil for none

	budget, spent int64 // warp instructions that the trials of a kernel may execute, 0 for any number, and have
	portion       portion
}

// mostInstructions is how many times the instructions of the longest launch each launch of a trial may execute: without barriers a kernel
// may never end.
const mostInstructions = 4

// A trial costs about what the profile did. By default as many are made as take triesBudget times as many instructions as the launches
// of the profile, and as triesFloor allows to short ones, of which a second runs dozens.
const (
	triesBudget = 3
	triesFloor  = 3e6 // warp instructions
)

// byBudget is the number of pieces of advice to try where the budget decides.
const byBudget = -1

// rank tries n pieces of advice on each kernel and ranks all by what came out. Where ctx ends, those that were tried until then count.
func (t *trial) rank(ctx context.Context, n int, f *adviceFlags) error {
	if err := f.rank(t.result, true); err != nil {
		return err
	}
	if err := t.all(ctx, n); err != nil && ctx.Err() == nil {
		return err
	}
	return f.rank(t.result, f.all)
}

// all tries the first n pieces of advice on the costliest launch of each kernel, by their estimates, and notes in the profile what came
// out.
func (t *trial) all(ctx context.Context, n int) error {
	for _, k := range t.result.Costliest() {
		l := t.result.Profile.Launches[k]
		if l.Kernel == t.beside {
			continue
		}
		t.spent, t.budget, t.portion = 0, 0, portion{model: t.target.model, before: l.Facts.Cycles}
		if n == byBudget {
			t.budget = t.allowance()
			if err := t.divide(ctx, k); err != nil {
				return err
			}
		}
		if err := t.launch(ctx, k, n); err != nil {
			return err
		}
	}
	return nil
}

// launch tries the first n pieces of advice on the k-th launch.
func (t *trial) launch(ctx context.Context, k, n int) error {
	l := t.result.Profile.Launches[k]
	runs := make(map[string]bool) // optimizers of which a change runs
	order := inTurn(t.result.Launches[k].Advice)
	for i := 0; i < len(order) && i != n; i++ {
		a := order[i]
		end := t.progress.stage("trying %s", a.Optimizer)
		try, err := t.one(ctx, k, a)
		end()
		if err != nil {
			return err
		}
		l.Tries = append(l.Tries, try)
		if runs[a.Optimizer] = runs[a.Optimizer] || try.Speedup > 0; !runs[a.Optimizer] {
			nextVariant(order[i+1:], a)
		}
	}
	return nil
}

// inTurn lists advice in the order in which it is tried: the best of each optimizer, then what else it has to say.
func inTurn(advice []advisor.Advice) (order []*advisor.Advice) {
	var later []*advisor.Advice
	met := make(map[string]bool)
	for i := range advice {
		if a := &advice[i]; met[a.Optimizer] {
			later = append(later, a)
		} else {
			met[a.Optimizer] = true
			order = append(order, a)
		}
	}
	return append(order, later...)
}

// nextVariant moves another variant of a change that does not run to the beginning.
func nextVariant(order []*advisor.Advice, a *advisor.Advice) {
	if a.Match.Variant == "" {
		return
	}
	for i, b := range order {
		if b.Optimizer == a.Optimizer && b.Match.Variant != "" {
			copy(order[1:i+1], order[:i])
			order[0] = b
			return
		}
	}
}

// allowance is the number of warp instructions that the trials of a kernel may execute by default.
func (t *trial) allowance() int64 {
	sum := int64(0)
	for _, l := range t.result.Profile.Launches {
		sum += timed(l) * l.Facts.Count()
	}
	return max(triesBudget*sum, triesFloor)
}

// longest is the number of warp instructions of the longest launch. Those before the one that is tried run as well.
func (t *trial) longest() (most int64) {
	for _, l := range t.result.Profile.Launches {
		most = max(most, l.Facts.WarpInstructions)
	}
	return most
}

// timed is the number of warp instructions of a launch that took time to emulate.
func timed(l *profiler.Launch) int64 {
	if !l.Facts.Extrapolated {
		return l.Facts.WarpInstructions
	}
	return l.Facts.WarpInstructions * int64(l.Facts.TimedBlocks) / int64(max(1, l.Grid[0]*l.Grid[1]*l.Grid[2]))
}

// one tries a piece of advice on the k-th launch.
func (t *trial) one(ctx context.Context, k int, a *advisor.Advice) (profiler.Try, error) {
	try := profiler.Try{Optimizer: a.Optimizer, Place: a.Place()}
	switch {
	case a.Match.Change == nil:
		try.Why = "no what-if run can make this change"
		return try, nil
	case t.budget > 0 && t.spent >= t.budget:
		try.Why = "the time for what-if runs was used up (--try N)"
		return try, nil
	}
	cycles, why, err := t.cycles(ctx, k, a.Match.Change)
	if err != nil {
		return try, err
	}
	if try.Why = why; cycles > 0 {
		try.Speedup = float64(t.portion.before) / float64(cycles)
	}
	return try, nil
}

// cycles returns what the k-th launch takes with a change, or why it does not run with it. A change that is real (another shape of
// the launch, another order of the code) must leave the same outputs.
func (t *trial) cycles(ctx context.Context, k int, c *advisor.Change) (cycles int64, why string, err error) {
	r := *t.target
	machine := t.machine
	if c.Model != "" {
		machine.reconvergence = c.Model
	}
	for _, pass := range passes(c) {
		module, err := rewritten(r.module, pass)
		switch {
		case err == nil && module != nil:
			r.module = module
		case c.Reconverged: // the model of what the barriers do stands for them
			machine.reconvergence = reconv.TFStack{}.Name()
		default:
			return 0, "the code cannot be rewritten in that way", nil
		}
	}
	r.model = t.portion.model
	machine.maxInstructions = mostInstructions*t.longest() + 1
	s, err := machine.session(&r, t.level, io.Discard)
	if err != nil {
		return 0, "", err
	}
	defer func() { t.spent += s.Machine.Progress().WarpInstructions() }()
	keeps := len(passes(c)) > 0 || c.Model != "" || c.Grid != [3]int{}
	v := launch.Variation{WhatIf: whatIf(r.module, c), Grid: c.Grid, Block: c.Block, Part: t.portion.with(keeps)}
	cycles, fails, err := t.replay(ctx, s, k, v, keeps)
	switch {
	case err != nil:
		return 0, "", err
	case c.Grid != [3]int{} && (fails != nil || !t.equal(s)):
		return 0, "the code relies on the size of its blocks, and has to change with it", nil
	case fails != nil && c.Streams != nil:
		return 0, "what the threads execute does not fit it: " + fails.Error(), nil
	case fails != nil:
		return 0, "the kernel does not run with it: " + fails.Error(), nil
	case keeps && !t.equal(s):
		return 0, "the outputs change with it", nil
	}
	return cycles, "", nil
}

// replay runs the launches up to the first of the k-th of the result, which is varied, or to the end. fails is why one does not run.
func (t *trial) replay(ctx context.Context, s *launch.Session, k int, v launch.Variation, toEnd bool) (cycles int64, fails, err error) {
	at, first := 0, 0
	for _, l := range t.result.Profile.Launches[:k] {
		first += int(l.Facts.Count())
	}
	for i := range t.target.file.Launches {
		for range t.target.file.Launches[i].Repeat {
			varied := launch.Variation{Untimed: t.target.file.Caches != launch.Warm}
			if at == first {
				varied = v
			}
			result, err := s.Vary(ctx, i, varied)
			if ctx.Err() != nil {
				return 0, nil, ctx.Err()
			}
			if err != nil {
				return 0, err, nil // a fault, or a shape that the kernel does not allow
			}
			if at == first {
				cycles = result.Cycles
			}
			if at == first && !toEnd {
				return cycles, nil, nil
			}
			at++
		}
	}
	return cycles, nil, nil
}

// equal reports whether a session's outputs are those of the launches as they are.
func (t *trial) equal(s *launch.Session) bool {
	checks, err := s.Against(t.before, nil)
	if err != nil {
		return false
	}
	for i := range checks {
		if !checks[i].OK() {
			return false
		}
	}
	return true
}

// passes returns how a change rewrites the code.
func passes(c *advisor.Change) []func(*cubin.File) (*rewrite.Rewritten, error) {
	var list []func(*cubin.File) (*rewrite.Rewritten, error)
	if c.Restructured {
		list = append(list, rewrite.Restructure)
	}
	if c.Reconverged && c.Model == "" {
		list = append(list, rewrite.Reconverge)
	}
	if c.Reordered {
		list = append(list, rewrite.Reorder)
	}
	return list
}

// rewritten is a module after a pass, nil where the pass changes no function.
func rewritten(m *cubin.File, pass func(*cubin.File) (*rewrite.Rewritten, error)) (*cubin.File, error) {
	r, err := pass(m)
	if err != nil || !slices.ContainsFunc(r.Changes, func(c rewrite.Change) bool { return c.Err == nil }) {
		return nil, err
	}
	return r.File, nil
}

// whatIf translates a change for the emulator.
func whatIf(m *cubin.File, c *advisor.Change) *emu.WhatIf {
	w := &emu.WhatIf{Suppositions: map[emu.InstAt]emu.Supposition{}, Rounds: map[emu.InstAt]float64{}, Thinned: map[emu.InstAt]float64{}, PerfectFetch: c.PerfectFetch, Resident: c.Resident,
		Registers: c.Registers, Shared: c.Shared, Streams: streams(m, c.Streams)}
	at := func(n blamer.Node) emu.InstAt { return emu.InstAt{Code: n.Code, PC: m.Codes[n.Code].Insts[n.Inst].PC} }
	for _, part := range []struct {
		nodes    []blamer.Node
		supposed emu.Supposition
	}{
		{c.Gone, emu.Gone}, {c.Cheap, emu.Cheap}, {c.Coalesced, emu.Coalesced}, {c.ConflictFree, emu.ConflictFree},
		{c.Constant, emu.Constant}, {c.Packed, emu.Packed},
	} {
		for _, n := range part.nodes {
			w.Suppositions[at(n)] |= part.supposed
		}
	}
	for _, o := range c.Thinned {
		w.Thinned[at(o.At)] = o.By
	}
	for _, o := range c.Overlapped {
		w.Rounds[at(o.At)] = o.Rounds
	}
	return w
}
