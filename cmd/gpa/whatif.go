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
	"gpa/reports"
)

// A trial runs launches again with the changes that the advice is about.
type trial struct {
	machine machineFlags
	level   emu.TimingLevel
	target  *resolved
	before  *launch.Session // after all launches as they are
	result  *reports.Result
}

// mostInstructions is how many times the instructions of a launch a trial of it may execute: without barriers a kernel may never end.
const mostInstructions = 4

// all tries the first n pieces of advice on the costliest launch of each kernel.
func (t *trial) all(ctx context.Context, n int) error {
	for _, k := range t.result.Costliest() {
		for i := range t.result.Launches[k].Advice {
			if i == n {
				break
			}
			if err := t.one(ctx, k, &t.result.Launches[k].Advice[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// one tries a piece of advice on the k-th launch. Advice whose change cannot be tried stays as it is.
func (t *trial) one(ctx context.Context, k int, a *advisor.Advice) error {
	c := a.Match.Change
	if c == nil {
		return nil
	}
	before := t.result.Profile.Launches[k].Facts.Cycles
	cycles, err := t.cycles(ctx, k, c)
	if err != nil {
		return err
	}
	if cycles > 0 {
		a.Tried = float64(before) / float64(cycles)
	}
	return nil
}

// cycles returns what the k-th launch takes with a change, 0 where it does not run with it. A change that is real (another shape of
// the launch, another order of the code) must leave the same outputs.
func (t *trial) cycles(ctx context.Context, k int, c *advisor.Change) (int64, error) {
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
			return 0, nil
		}
	}
	machine.maxInstructions = mostInstructions*t.result.Profile.Launches[k].Facts.WarpInstructions + 1
	s, err := machine.session(&r, t.level, io.Discard)
	if err != nil {
		return 0, err
	}
	v := launch.Variation{WhatIf: whatIf(r.module, c), Grid: c.Grid, Block: c.Block}
	keeps := len(passes(c)) > 0 || c.Model != "" || c.Grid != [3]int{}
	cycles, ok, err := t.replay(ctx, s, k, v, keeps)
	if err != nil || !ok {
		return 0, err
	}
	if keeps && !t.equal(s) {
		return 0, nil
	}
	return cycles, nil
}

// replay runs the launches up to the first of the k-th of the result, which is varied, or to the end. ok is false where one fails.
func (t *trial) replay(ctx context.Context, s *launch.Session, k int, v launch.Variation, toEnd bool) (cycles int64, ok bool, err error) {
	at, first := 0, 0
	for _, l := range t.result.Profile.Launches[:k] {
		first += int(l.Facts.Count())
	}
	for i := range t.target.file.Launches {
		for range t.target.file.Launches[i].Repeat {
			varied := launch.Variation{}
			if at == first {
				varied = v
			}
			result, err := s.Vary(ctx, i, varied)
			if ctx.Err() != nil {
				return 0, false, ctx.Err()
			}
			if err != nil {
				return 0, false, nil // a fault, or a shape that the kernel does not allow
			}
			if at == first {
				cycles = result.Cycles
			}
			if at == first && !toEnd {
				return cycles, true, nil
			}
			at++
		}
	}
	return cycles, true, nil
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
	w := &emu.WhatIf{Suppositions: map[emu.InstAt]emu.Supposition{}, Rounds: map[emu.InstAt]float64{}, PerfectFetch: c.PerfectFetch, Resident: c.Resident}
	at := func(n blamer.Node) emu.InstAt { return emu.InstAt{Code: n.Code, PC: m.Codes[n.Code].Insts[n.Inst].PC} }
	for _, part := range []struct {
		nodes    []blamer.Node
		supposed emu.Supposition
	}{
		{c.Gone, emu.Gone}, {c.Cheap, emu.Cheap}, {c.Coalesced, emu.Coalesced}, {c.ConflictFree, emu.ConflictFree},
		{c.Constant, emu.Constant}, {c.Attached, emu.Attached}, {c.Packed, emu.Packed},
	} {
		for _, n := range part.nodes {
			w.Suppositions[at(n)] |= part.supposed
		}
	}
	for _, o := range c.Overlapped {
		w.Rounds[at(o.At)] = o.Rounds
	}
	return w
}
