package reconv

import "math/bits"

// MIMD is the lower bound of all models: a warp issues each block as often as the lane that comes to it most often, as
// if lanes waited for each other in the best way at every block. It is a count, not a schedule: warps run as under
// [Volta], which never stops a program that could go on, and Stats.Bound is what is counted. Not every bound can be
// reached.
type MIMD struct{}

// Name is mimd.
func (MIMD) Name() string { return "mimd" }

// Prepare finds the blocks.
func (MIMD) Prepare(p *Program) (Plan, error) {
	l, err := newLayout(p)
	if err != nil {
		return nil, err
	}
	plan := &mimdPlan{layout: l}
	for id := range l.super.Nodes {
		insts := l.insts(id)
		barrier := 0
		for i := range insts {
			if managesBarriers(insts[i].Op) {
				barrier++
			}
		}
		plan.length = append(plan.length, int64(len(insts)))
		plan.barrier = append(plan.barrier, int64(barrier))
	}
	return plan, nil
}

// A mimdPlan has the lengths of the blocks.
type mimdPlan struct {
	*layout
	length, barrier []int64 // by node: instructions, and those that manage convergence barriers
}

func (p *mimdPlan) Checks() []bool { return p.leads }

func (p *mimdPlan) New(entry int32, lanes uint32) State {
	w := &mimdWarp{State: Volta{}.New(entry, lanes), plan: p, visits: make([][32]int32, len(p.length))}
	w.enter(entry, lanes)
	return w
}

// A mimdWarp counts how often lanes come to blocks.
type mimdWarp struct {
	State
	plan    *mimdPlan
	visits  [][32]int32 // by node
	touched []int32     // nodes with visits
	done    Stats
}

// enter counts lanes that come to an instruction, if a block begins there.
func (w *mimdWarp) enter(pc int32, lanes uint32) {
	if pc >= int32(len(w.plan.leads)) || !w.plan.leads[pc] || lanes == 0 {
		return
	}
	node := w.plan.node[pc]
	v := &w.visits[node]
	if *v == [32]int32{} {
		w.touched = append(w.touched, node)
	}
	for m := lanes; m != 0; m &= m - 1 {
		v[bits.TrailingZeros32(m)]++
	}
}

// forget drops the visits.
func (w *mimdWarp) forget() {
	for _, node := range w.touched {
		w.visits[node] = [32]int32{}
	}
	w.touched = w.touched[:0]
}

// close adds the bound of a warp that has ended.
func (w *mimdWarp) close() {
	for _, node := range w.touched {
		most := int32(0)
		for _, n := range w.visits[node] {
			most = max(most, n)
		}
		w.done.Bound += int64(most) * w.plan.length[node]
		w.done.BoundBarrier += int64(most) * w.plan.barrier[node]
	}
	w.forget()
}

func (w *mimdWarp) Stats() Stats {
	s := w.State.Stats()
	s.Add(w.done)
	return s
}

func (w *mimdWarp) Reset(entry int32, lanes uint32) {
	w.forget()
	w.State.Reset(entry, lanes)
	w.enter(entry, lanes)
}

func (w *mimdWarp) Arrive(pc int32) {
	w.enter(pc, w.Running().Lanes)
	w.State.Arrive(pc)
}

func (w *mimdWarp) Branch(lanes uint32, target, next int32) {
	w.enter(target, lanes)
	w.enter(next, w.Running().Lanes&^lanes)
	w.State.Branch(lanes, target, next)
}

func (w *mimdWarp) Indirect(lanes uint32, targets *[32]int32, next int32) {
	for _, g := range parts(lanes, targets, nil) {
		w.enter(g.PC, g.Lanes)
	}
	w.enter(next, w.Running().Lanes&^lanes)
	w.State.Indirect(lanes, targets, next)
}

func (w *mimdWarp) Exit(lanes uint32, next int32) {
	w.enter(next, w.Running().Lanes&^lanes)
	w.State.Exit(lanes, next)
	if w.Live() == 0 {
		w.close()
	}
}

func (w *mimdWarp) Sync(b int, lanes uint32, next int32) {
	w.enter(next, w.Running().Lanes)
	w.State.Sync(b, lanes, next)
}

func (w *mimdWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	w.enter(next, w.Running().Lanes)
	w.State.SyncLanes(lanes, masks, next)
}

func (w *mimdWarp) Yield(next int32) {
	w.enter(next, w.Running().Lanes)
	w.State.Yield(next)
}

func (w *mimdWarp) Hold(barrier int, lanes uint32, next int32) {
	w.enter(next, lanes)
	w.State.Hold(barrier, lanes, next)
}
