package reconv

import "encoding/binary"

// TFStack re-converges at thread frontiers with a sorted stack: Diamos et al., "SIMD Re-Convergence At Thread Frontiers"
// (MICRO 2011), section 5.2. Of all groups of the warp the one whose code has the highest priority runs, and groups that
// come to the same instruction become one. Priorities are those of [cfg.Shape.Order] over the whole program.
//
// Convergence barriers and YIELD do nothing. A group that waits, at a CTA barrier or a WARPSYNC, stops the warp.
type TFStack struct {
	// CompareCycles is what comparing a new entry of the stack with one that is there costs; 0 stands for the paper's
	// one cycle ("at most one cycle for each SIMD lane and at best one"), a negative number for nothing.
	CompareCycles int64
}

// Name is tf-stack.
func (TFStack) Name() string { return "tf-stack" }

// Prepare lays the program out by priority.
func (m TFStack) Prepare(p *Program) (Plan, error) {
	o, err := newPriorityOrder(p)
	if err != nil {
		return nil, err
	}
	cycles := m.CompareCycles
	if cycles == 0 {
		cycles = 1
	}
	return &tfPlan{priorityOrder: o, compareCycles: max(cycles, 0)}, nil
}

type tfPlan struct {
	*priorityOrder
	compareCycles int64
}

// Checks are all places where a group may meet another one: the first instructions of the blocks.
func (p *tfPlan) Checks() []bool { return p.leads }

func (p *tfPlan) New(entry int32, lanes uint32) State {
	w := &tfWarp{plan: p}
	w.Reset(entry, lanes)
	return w
}

type tfWarp struct {
	unified
	noBarriers
	plan  *tfPlan
	stack []Group // by priority; the last one runs
	parts []Group
}

func (w *tfWarp) Reset(entry int32, lanes uint32) {
	w.unified = unified{live: lanes, stats: w.stats}
	w.stack = append(w.stack[:0], Group{entry, lanes})
}

func (w *tfWarp) Running() Group {
	if w.waits != "" || len(w.stack) == 0 {
		return Group{}
	}
	return w.stack[len(w.stack)-1]
}

// pop takes the running group off the stack.
func (w *tfWarp) pop() Group {
	g := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	return g
}

// insert puts a group at its place in the stack, or joins it to the one that is at the same instruction. It returns how
// many entries it was compared with.
func (w *tfWarp) insert(g Group) (compared int) {
	if g.Lanes == 0 {
		return 0
	}
	key, at := w.plan.keys[g.PC], len(w.stack)
	for ; at > 0; at-- {
		compared++
		e := &w.stack[at-1]
		if e.PC == g.PC {
			e.Lanes |= g.Lanes
			return compared
		}
		if w.plan.keys[e.PC] > key {
			break
		}
	}
	w.stack = append(w.stack, Group{})
	copy(w.stack[at+1:], w.stack[at:])
	w.stack[at] = g
	w.stats.Entries = max(w.stats.Entries, len(w.stack))
	return compared
}

// Arrive compares the running group with the next entry, which hardware does without extra time.
func (w *tfWarp) Arrive(pc int32) {
	g := w.pop()
	g.PC = pc
	w.insert(g)
}

func (w *tfWarp) Branch(lanes uint32, target, next int32) {
	w.parts = w.parts[:0]
	if lanes != 0 {
		w.parts = append(w.parts, Group{target, lanes})
	}
	w.part(lanes, next)
}

func (w *tfWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	w.parts = parts(lanes, targets, w.parts[:0])
	w.part(lanes, next)
}

// part sends the groups in w.parts, which are lanes of the running group, on their ways. Where the group divides, each
// part but the first is a new entry, which takes time to insert.
func (w *tfWarp) part(lanes uint32, next int32) {
	g := w.pop()
	w.parts = append(w.parts, Group{next, g.Lanes &^ lanes})
	entries := -1
	for _, p := range w.parts {
		compared := w.insert(p)
		if p.Lanes == 0 {
			continue
		}
		if entries++; entries > 0 {
			w.stats.Insertions++
			w.stats.Compared += int64(compared)
			w.cost += int64(compared) * w.plan.compareCycles
		}
	}
}

func (w *tfWarp) Exit(lanes uint32, next int32) {
	w.live &^= lanes
	g := w.pop()
	w.insert(Group{next, g.Lanes &^ lanes})
}

func (w *tfWarp) Sync(_ int, _ uint32, next int32) { w.Arrive(next) }
func (w *tfWarp) Yield(next int32)                 { w.Arrive(next) }

func (w *tfWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	if w.syncLanes(lanes, masks, next) {
		w.Arrive(next)
	}
}

func (w *tfWarp) Hold(barrier int, lanes uint32, next int32) { w.hold(barrier, lanes, next) }

func (w *tfWarp) Resume(barrier int) bool {
	if !w.resume(barrier) {
		return false
	}
	w.Arrive(w.behind)
	return true
}

func (w *tfWarp) Waiting() []Waiting {
	var groups []Group
	for i := len(w.stack) - 2; i >= 0; i-- {
		groups = append(groups, w.stack[i])
	}
	return w.waitingList(groups)
}

func (w *tfWarp) Snapshot(to []byte) []byte {
	to = w.snapshot(to)
	for i, g := range w.stack {
		if i < len(w.stack)-1 {
			to = binary.LittleEndian.AppendUint32(to, uint32(g.PC))
		}
		to = binary.LittleEndian.AppendUint32(to, g.Lanes)
	}
	return to
}
