package emu

import (
	"context"
	"math"
)

// A Part says that a share of the blocks of a launch is timed, on a machine that is that share of a GPU ([arch.Model.Part]) or, with
// Every, a larger one. In each wave, as many blocks as the GPU holds, the first are taken, as many as the machine holds: blocks that
// run side by side do so in the whole launch as well.
type Part struct {
	Share float64 // of the GPU that the machine is
	Every int     // one wave of so many, 0 or 1 for all
	// Instructions is how many warp instructions the blocks execute, where that is known and timing may end once their waves are
	// steady, else 0.
	Instructions int64
	Others       bool // the blocks that are not timed take effect afterwards
}

// blocks is how many of so many blocks are timed.
func (p *Part) blocks(all int) int {
	if p == nil {
		return all
	}
	return max(1, int(math.Round(float64(all)*p.Share/float64(max(p.Every, 1)))))
}

// numberOf returns the number in the grid of the n-th block that is timed.
func (r *launchRun) numberOf(n int) int {
	p := r.launch.Part
	if p == nil {
		return n
	}
	wave := r.facts.Occupancy.BlocksPerSM * r.machine.gpu.SMs.Int()
	return int(float64(n/wave*max(p.Every, 1)*wave)/p.Share) + n%wave
}

// runOthers runs the blocks that are not timed.
func (r *launchRun) runOthers(ctx context.Context) error {
	r.domain.budget = r.left
	next := 0
	for n := 0; n <= r.blocks; n++ {
		timed := r.launch.Grid[0] * r.launch.Grid[1] * r.launch.Grid[2]
		if n < r.blocks {
			timed = r.numberOf(n)
		}
		f := functionalRun{launchRun: r, next: next, end: timed}
		if err := f.run(ctx); err != nil {
			return err
		}
		next = timed + 1
	}
	return nil
}
