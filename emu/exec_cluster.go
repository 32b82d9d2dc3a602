package emu

import (
	"math/bits"

	"gpa/cubin/sass"
	"gpa/emu/mem"
)

// clusterCompilers are what sm_90 has for clusters of blocks, grids that depend on each other, and budgets of registers and
// shared memory. Grids run one after another, so that who waits for those before does not.
var clusterCompilers = map[sass.Op]compiler{
	sass.UCGABAR_ARV:  compileUniform(clusterArrive),
	sass.UCGABAR_WAIT: compileUniform(clusterWait),
	sass.ELECT:        compileELECT,
	sass.FENCE:        compileNothing,
	sass.ACQBULK:      compileNothing,
	sass.PREEXIT:      compileNothing,
	sass.USETSHMSZ:    compileNothing,
	sass.USETMAXREG:   compileUSETMAXREG,

	sass.UGETNEXTWORKID: compileNextWork,
}

func compileUniform(run execFunc) compiler {
	return func(_ *program, o *op) error {
		o.run = run
		return nil
	}
}

// clusterBarrier is the number of the cluster's barrier among those of the block, behind the ones that BAR names.
const clusterBarrier = 16

// NumBarriers is how many barriers a block has: those that BAR names, and behind them that of its cluster, ClusterBarrier.
const (
	NumBarriers    = clusterBarrier + 1
	ClusterBarrier = clusterBarrier
)

// clusterArrive arrives at the barrier of the cluster (PTX ISA, barrier.cluster.arrive).
func clusterArrive(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	b := w.block
	w.clusterPhase = w.clusterPhase&^w.mask | b.clusterPhase&w.mask
	w.arrive(o, clusterBarrier, 0)
	if b.cluster != nil {
		b.cluster.arrive(bits.OnesCount32(w.mask))
		return nil
	}
	b.barriers[clusterBarrier].threads += bits.OnesCount32(w.mask)
	b.release(clusterBarrier)
	return nil
}

// clusterWait waits until all threads have arrived in the phase of the barrier in which these have (PTX ISA,
// barrier.cluster.wait).
func clusterWait(w *warp, o *op) error {
	if early := w.mask &^ (w.clusterPhase ^ w.block.clusterPhase); early != 0 {
		w.state.Hold(clusterBarrier, early, o.index+1)
		w.group()
	}
	return nil
}

// compileELECT: one of the lanes that execute and whose predicate is true, or which a mask names, here the lowest, is named to all (PTX
// ISA, elect.sync, which leaves open which one).
func compileELECT(p *program, o *op) error {
	if o.run = elect; o.inst.Operands[2].Kind == sass.KindUReg {
		o.run = electAmong
		return p.resolve(o, layout{1, 0, none, none, 2, none, none, none}, intValue)
	}
	return p.resolve(o, layout{1, 0, none, none, none, none, 2, none}, intValue)
}

func elect(w *warp, o *op) error { return w.elect(o, w.get(o.pp)) }

func electAmong(w *warp, o *op) error { return w.elect(o, w.in(&o.b, 0)[0]) }

func (w *warp) elect(o *op, among uint32) error {
	if w.mask == 0 {
		return nil
	}
	leader := w.mask & among
	leader &= -leader
	w.setUniform(o, uint32(bits.TrailingZeros32(leader|1<<31)))
	w.set(o.pd, leader)
	return nil
}

// The values of sass.Alloc.
const (
	registersFreed = 1
	registersTaken = 2
)

// compileUSETMAXREG makes a warp's registers so many a thread (PTX ISA, setmaxnreg): it gives those that it has more to the pool of its
// block, or takes what it lacks from there. Where the pool has too few it takes none and its predicate is false; compiled code tries again.
func compileUSETMAXREG(_ *program, o *op) error {
	in := o.inst
	o.pd, o.n, o.mode = destPredicate(&in.Operands[0]), uint32(in.Operands[1].Imm), in.Mod(sass.Alloc)
	o.run, o.asks = setMaxRegisters, o.mode == registersTaken
	return nil
}

func setMaxRegisters(w *warp, o *op) error {
	if w.mask == 0 {
		return nil
	}
	lacks := int(o.n) - w.budget
	enough := lacks <= w.block.pool
	if enough && (lacks < 0) == (o.mode == registersFreed) {
		w.block.pool -= lacks
		w.budget = int(o.n)
		w.block.domain.changes++
	}
	if o.pd != sass.PT {
		w.preds[o.pd] = 0
		if enough {
			w.preds[o.pd] = allLanes
		}
	}
	return nil
}

// workBytes is the size of the answer to who asks for a block or cluster that has not begun.
const workBytes = 16

// compileNextWork: who asks for work that has not begun is told that there is none (PTX ISA, clusterlaunchcontrol.try_cancel: a request can fail at
// any time, and who has failed asks no more), so that every block of the grid begins and does its own. The answer and its bytes at the barrier
// are those of a copy. The op's a is the place of the answer, and behind it that of the barrier.
func compileNextWork(p *program, o *op) (err error) {
	o.run = refuseWork
	o.a, err = p.uniformAddress(o, 0, 2)
	return err
}

func refuseWork(w *warp, o *op) error {
	w.bulk = bulkCopy{lines: w.bulk.lines[:0], barriers: w.bulk.barriers[:0], kind: mem.Read}
	if w.mask == 0 {
		return nil
	}
	lane, at, barrier := w.first(), uint64(w.raw(&o.a)[0]), uint64(w.word(&o.a, 1)[0])
	to, err := w.destination(o, lane, at, barrier, 1<<len(w.block.group())-1)
	if err != nil {
		return err
	}
	var none [workBytes]byte
	if err := w.put(o, lane, to, to.at, none[:]); err != nil {
		return err
	}
	return w.complete(o, lane, to, workBytes)
}

// registerUnit is the registers of a thread that are given out together.
const registerUnit = 8
