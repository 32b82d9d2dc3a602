package reconv

import (
	"encoding/binary"
	"slices"

	"gpa/cubin/cfg"
)

// PDOM re-converges at the immediate post-dominators of branches with a stack of masks: Fung et al., "Dynamic Warp
// Formation and Scheduling for Efficient GPU Control Flow" (MICRO 2007), with the refinement of GPGPU-Sim that an entry
// which has come to its own re-convergence point is dropped, so that loops do not let the stack grow. A call opens a
// frame: what diverges in the function re-converges in it, at the latest where the call comes back.
//
// Convergence barriers and YIELD do nothing. A group that waits, at a CTA barrier or a WARPSYNC, stops the warp, as
// nothing but the top of the stack can run.
type PDOM struct{}

// Name is pdom.
func (PDOM) Name() string { return "pdom" }

// Prepare finds the re-convergence point of each instruction that can part a warp.
func (PDOM) Prepare(p *Program) (Plan, error) {
	l, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	plan := &pdomPlan{layout: l, joins: make([]int32, p.Size)}
	for i := range plan.joins {
		plan.joins[i] = none
	}
	for s, g := range l.graphs {
		for _, b := range g.Blocks {
			plan.joinAt(g, b, p.Bases[s])
		}
	}
	plan.checks = make([]bool, p.Size)
	for _, pc := range plan.joins {
		if pc >= 0 {
			plan.checks[pc] = true
		}
	}
	return plan, nil
}

// none is the re-convergence point of a branch whose paths meet in its function nowhere but at its end.
const none = -1

// A pdomPlan has the re-convergence points by instruction index.
type pdomPlan struct {
	*layout
	joins  []int32
	checks []bool
}

// joinAt notes the post-dominator of a block for its last instruction.
func (p *pdomPlan) joinAt(g *cfg.Graph, b *cfg.Block, base int32) {
	if b.Ipdom >= 0 {
		p.joins[base+int32(b.Last)] = base + int32(g.Blocks[b.Ipdom].First)
	}
}

func (p *pdomPlan) Checks() []bool { return p.checks }

func (p *pdomPlan) New(entry int32, lanes uint32) State {
	w := &pdomWarp{plan: p}
	w.Reset(entry, lanes)
	return w
}

// A frame of a stack is lanes that run from pc on, or wait there until those above them have come to it.
type pdomEntry struct {
	Group
	rpc  int32 // where the lanes leave the entry for the one below, none for the end of the function
	call bool  // waits for a call to come back: the entries above are in the function called
}

// maxFrames bounds the stack against recursion that never ends; calls beyond it open no frames.
const maxFrames = 1 << 14

type pdomWarp struct {
	unified
	noBarriers
	plan  *pdomPlan
	stack []pdomEntry
	parts []Group
}

func (w *pdomWarp) Reset(entry int32, lanes uint32) {
	w.unified = unified{live: lanes, stats: w.stats}
	w.stack = append(w.stack[:0], pdomEntry{Group: Group{entry, lanes}, rpc: none})
}

func (w *pdomWarp) Running() Group {
	if w.waits != "" || len(w.stack) == 0 {
		return Group{}
	}
	return w.top().Group
}

func (w *pdomWarp) top() *pdomEntry { return &w.stack[len(w.stack)-1] }

// Arrive moves the running group to an instruction and drops entries that are done.
func (w *pdomWarp) Arrive(pc int32) {
	w.top().PC = pc
	w.settle()
}

// settle drops entries that have come to their re-convergence points or have no lanes left. An entry that is on top
// again after a call goes on behind it.
func (w *pdomWarp) settle() {
	for len(w.stack) > 0 {
		t := w.top()
		t.call = false
		if t.Lanes != 0 && t.PC != t.rpc {
			return
		}
		w.stack = w.stack[:len(w.stack)-1]
	}
}

func (w *pdomWarp) Branch(lanes uint32, target, next int32) {
	w.parts = w.parts[:0]
	if lanes != 0 {
		w.parts = append(w.parts, Group{target, lanes})
	}
	w.part(lanes, next)
}

func (w *pdomWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	w.parts = parts(lanes, targets, w.parts[:0])
	if w.plan.kindOf(next) == ret {
		w.parts = w.comeBack(w.parts)
	}
	w.part(lanes, next)
}

// part sends the groups in w.parts, which are lanes of the running group, on their ways.
func (w *pdomWarp) part(lanes uint32, next int32) {
	isCall := w.calls(next)
	if rest := w.top().Lanes &^ lanes; rest != 0 && !isCall {
		w.parts = append(w.parts, Group{next, rest})
	}
	switch {
	case isCall:
		t := w.top()
		t.PC, t.call = next, true
		w.parts = slices.DeleteFunc(w.parts, func(g Group) bool { return g.PC == next })
		w.push(none)
	case len(w.parts) == 1:
		t := w.top()
		t.PC, t.Lanes = w.parts[0].PC, w.parts[0].Lanes
		w.settle()
	case len(w.parts) > 1:
		w.diverge(w.plan.joins[next-1])
	default:
		w.top().PC = next
		w.settle()
	}
}

// calls reports whether the groups in w.parts have been called with the instruction before next. What the system has done
// for a call is over already.
func (w *pdomWarp) calls(next int32) bool {
	return w.plan.kindOf(next) == call && len(w.stack) < maxFrames &&
		slices.ContainsFunc(w.parts, func(g Group) bool { return g.PC != next })
}

// diverge pushes the groups in w.parts, to come together at rpc.
func (w *pdomWarp) diverge(rpc int32) {
	t := w.top()
	if rpc == none {
		rpc = t.rpc
	}
	if t.PC = rpc; rpc == t.rpc {
		w.stack = w.stack[:len(w.stack)-1]
	}
	w.push(rpc)
	w.settle()
}

// push puts the groups on the stack, except those that are at the re-convergence point already. The last one, that of
// the fall-through, comes to lie on top.
func (w *pdomWarp) push(rpc int32) {
	for _, g := range w.parts {
		if g.PC != rpc {
			w.stack = append(w.stack, pdomEntry{Group: g, rpc: rpc})
		}
	}
	w.stats.Entries = max(w.stats.Entries, len(w.stack))
}

// comeBack takes the lanes that return to where the call of their frame waits off the entries of the frame, and returns
// the others.
func (w *pdomWarp) comeBack(groups []Group) []Group {
	at := len(w.stack) - 1
	for at >= 0 && !w.stack[at].call {
		at--
	}
	if at < 0 {
		return groups
	}
	return slices.DeleteFunc(groups, func(g Group) bool {
		caller := &w.stack[at]
		if g.PC != caller.PC || g.Lanes&^caller.Lanes != 0 {
			return false
		}
		for i := at + 1; i < len(w.stack); i++ {
			w.stack[i].Lanes &^= g.Lanes
		}
		return true
	})
}

func (w *pdomWarp) Exit(lanes uint32, next int32) {
	w.live &^= lanes
	w.top().PC = next
	for i := range w.stack {
		w.stack[i].Lanes &^= lanes
	}
	w.settle()
}

func (w *pdomWarp) Sync(_ int, _ uint32, next int32) { w.Arrive(next) }
func (w *pdomWarp) Yield(next int32)                 { w.Arrive(next) }

func (w *pdomWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	if w.syncLanes(lanes, masks, next) {
		w.Arrive(next)
	}
}

func (w *pdomWarp) Hold(barrier int, lanes uint32, next int32) { w.hold(barrier, lanes, next) }

func (w *pdomWarp) Resume(barrier int) bool {
	if !w.resume(barrier) {
		return false
	}
	w.Arrive(w.behind)
	return true
}

// Waiting lists the lanes that come after those on top, each at the place where it is first.
func (w *pdomWarp) Waiting() []Waiting {
	var groups []Group
	above := uint32(0)
	for i := len(w.stack) - 1; i >= 0; i-- {
		e := &w.stack[i]
		if i < len(w.stack)-1 {
			groups = append(groups, Group{e.PC, e.Lanes &^ above})
		}
		above |= e.Lanes
	}
	return w.waitingList(groups)
}

func (w *pdomWarp) Snapshot(to []byte) []byte {
	to = w.snapshot(to)
	for i := range w.stack {
		e := &w.stack[i]
		flags := uint32(0)
		if e.call {
			flags = 1
		}
		if i < len(w.stack)-1 {
			to = binary.LittleEndian.AppendUint32(to, uint32(e.PC))
		}
		to = binary.LittleEndian.AppendUint32(to, e.Lanes)
		to = binary.LittleEndian.AppendUint32(to, uint32(e.rpc))
		to = binary.LittleEndian.AppendUint32(to, flags)
	}
	return to
}
