package reconv

import (
	"slices"

	"gpa/cubin/cfg"
)

// TFSandy re-converges at thread frontiers on hardware like Intel's Sandybridge (Diamos et al., section 5.1): each lane
// has a program counter of its own and executes where it equals the warp's. Hardware does not know which block with lanes
// has the highest priority, so that code, laid out by priority, branches conservatively: behind a block to the first of
// the blocks where lanes may wait, and from there through blocks with no lane enabled to the first that has one. What is
// issued there is counted, and its stall counts are charged to the warp.
//
// A branch to a block of higher priority goes there, and a warp whose lanes are all at one place needs no such branch.
type TFSandy struct{}

// Name is tf-sandy.
func (TFSandy) Name() string { return "tf-sandy" }

// Prepare finds where each block branches to conservatively.
func (TFSandy) Prepare(p *Program) (Plan, error) {
	o, err := newPriorityOrder(p)
	if err != nil {
		return nil, err
	}
	return newSandyPlan(o)
}

func newSandyPlan(o *priorityOrder) (*sandyPlan, error) {
	shape := o.super.Shape
	frontiers, err := shape.Frontiers(append(slices.Clone(o.order), shape.Exit))
	if err != nil {
		return nil, err
	}
	plan := &sandyPlan{tfPlan: tfPlan{priorityOrder: o}, rank: frontiers.Rank}
	for _, node := range o.order {
		plan.target = append(plan.target, conservative(shape, frontiers, node))
		cycles := int64(0)
		insts := o.insts(node)
		for i := range insts {
			cycles += int64(max(insts[i].Control.Stall, 1))
		}
		plan.cycles = append(plan.cycles, cycles)
	}
	return plan, nil
}

// conservative returns the rank of the first block, behind a node, at which lanes may be when it ends.
func conservative(shape *cfg.Shape, f *cfg.Frontiers, node int) int {
	first := f.Rank[shape.Exit]
	for _, to := range append(f.Of(node), shape.Succs[node]...) {
		if r := f.Rank[to]; r > f.Rank[node] {
			first = min(first, r)
		}
	}
	return first
}

// A sandyPlan has, by rank of a node, the rank of the target of its conservative branch and the cycles that it takes.
type sandyPlan struct {
	tfPlan
	rank   []int // by node
	target []int
	cycles []int64
}

func (p *sandyPlan) New(entry int32, lanes uint32) State {
	w := &sandyWarp{plan: p, tfWarp: tfWarp{plan: &p.tfPlan}}
	w.Reset(entry, lanes)
	return w
}

// A sandyWarp runs the groups that the sorted stack runs; it adds what is issued between them.
type sandyWarp struct {
	tfWarp
	plan *sandyPlan
}

// settle charges for the way from the end of the block before next to the block that runs now.
func (w *sandyWarp) settle(next int32) {
	ended := next >= int32(len(w.plan.leads)) || w.plan.leads[next] || w.plan.node[next] < 0
	from := w.plan.node[next-1]
	if !ended || from < 0 || len(w.stack) < 2 {
		return
	}
	node := w.plan.node[w.Running().PC]
	if w.waits != "" || node < 0 {
		return
	}
	to := w.plan.rank[node]
	if to <= w.plan.rank[from] {
		return
	}
	for r := w.plan.target[w.plan.rank[from]]; r < to; r++ {
		w.stats.Empty += int64(len(w.plan.insts(w.plan.order[r])))
		w.cost += w.plan.cycles[r]
	}
}

// Stats leaves out the sorted stack, which this hardware does not have.
func (w *sandyWarp) Stats() Stats {
	s := w.stats
	s.Insertions, s.Compared = 0, 0
	return s
}

func (w *sandyWarp) Arrive(pc int32) {
	w.tfWarp.Arrive(pc)
	w.settle(pc)
}

func (w *sandyWarp) Branch(lanes uint32, target, next int32) {
	w.tfWarp.Branch(lanes, target, next)
	w.settle(next)
}

func (w *sandyWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	w.tfWarp.Indirect(lanes, targets, next)
	w.settle(next)
}

func (w *sandyWarp) Exit(lanes uint32, next int32) {
	w.tfWarp.Exit(lanes, next)
	w.settle(next)
}

func (w *sandyWarp) Sync(_ int, _ uint32, next int32) { w.Arrive(next) }
func (w *sandyWarp) Yield(next int32)                 { w.Arrive(next) }

func (w *sandyWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	w.tfWarp.SyncLanes(lanes, masks, next)
	w.settle(next)
}

func (w *sandyWarp) Resume(barrier int) bool {
	resumed := w.tfWarp.Resume(barrier)
	if resumed {
		w.settle(w.behind)
	}
	return resumed
}
