package emu

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
	"gpa/emu/stall"
)

// TestPriority holds which of several reasons that hold at a time a sample has: they are taken away one after the other, the first
// of the table first.
func TestPriority(t *testing.T) {
	const now, later = 10, 100
	in := &sass.Inst{}
	l1tex, other := &op{inst: in, t: timing{l1tex: true}}, &op{inst: in}
	core := &subcore{path: mem.NewSM(mem.NewConfig(testModel(t), 0, false), 0), issuedAt: now, issuedUnit: unitNone, last: &resident{}}
	core.pipes[arch.ALU] = later
	v := &resident{core: core, unit: unit(arch.ALU), next: &op{inst: in, t: timing{wait: 1 | 2, depbar: -1}}}
	v.resolving, v.branch, v.stalled, v.refetched, v.fetched, v.constant, v.blocked, v.why = later, later, later, later, later, later, later, stall.Membar
	v.counters[0].add(now, later, l1tex)
	v.counters[1].add(now, later, other)
	for _, tt := range []struct {
		want stall.Reason
		gone func()
	}{
		{stall.Membar, func() { v.why = stall.Barrier }},
		{stall.Wait, func() { v.resolving = 0 }},
		{stall.BranchResolving, func() { v.branch = 0 }},
		{stall.Wait, func() { v.stalled = 0 }},
		{stall.Barrier, func() { v.blocked = 0 }},
		{stall.NoInstructions, func() { v.refetched = 0 }},
		{stall.NoInstructions, func() { v.fetched = 0 }},
		{stall.ImcMiss, func() { v.constant = 0 }},
		{stall.LongScoreboard, func() { v.counters[0].events[0].done = now }},
		{stall.ShortScoreboard, func() { v.counters[1].events[0].done, core.issuedAt, core.dispatched = now, now-1, later }},
		{stall.DispatchStall, func() { core.issuedAt, core.dispatched = now, now }},
		{stall.MathPipeThrottle, func() { core.pipes[arch.ALU] = now }},
		{stall.NotSelected, func() { core.issuedAt = now - 1 }},
		{stall.DispatchStall, func() { core.issuedAt, core.issued, core.last = now, v.next, v }},
		{stall.Selected, func() {}},
	} {
		if got, _ := v.state(now); got.Reason != tt.want {
			t.Errorf("%s, want %s", got.Reason, tt.want)
		}
		tt.gone()
	}
}
