package emu

import (
	"context"
	"math"
)

// A Part says that a share of the blocks of a launch is timed, on a machine that is that share of a GPU ([arch.Model.Part]) or, with
// Every, a larger one. A GPU deals blocks out one to each SM in turns; of each such round as many in a row are taken as the machine
// has SMs. So they are from all over what runs at a time, and those that an SM holds together are as far apart as in the whole launch.
type Part struct {
	Share float64 // of the GPU that the machine is
	Every int     // one wave of so many, 0 or 1 for all
	// Instructions is how many warp instructions the blocks execute, where that is known and timing may end once their waves are
	// steady, else 0.
	Instructions int64
	lines        *portionLines
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
	if r.launch.Part == nil {
		return r.clusterNumber(n)
	}
	return r.launch.Part.numberOf(n, r.blocks, r.machine.gpu.SMs.Int(), r.facts.Occupancy.BlocksPerSM)
}

// onward is by which part of a round the blocks that are taken lie further on in the next one: the golden ratio, whose multiples spread
// evenly over a round from the first few on. Were it 0, the lines of blocks a round apart could all lie in the same slices of L2 and
// rows of DRAM.
const onward = math.Phi - 1

// numberOf does so for one of so many blocks on a machine of so many SMs that hold perSM of them each.
func (p *Part) numberOf(n, blocks, sms, perSM int) int {
	k := n / sms
	round := k/perSM*max(p.Every, 1)*perSM + k%perSM
	first := int(math.Round(float64(round*sms) / p.Share))
	if (k+1)*sms > blocks {
		return first + n%sms
	}
	_, at := math.Modf(float64(k) * onward)
	return first + int(at*math.Floor(1/p.Share+roundoff))*sms + n%sms
}

// roundoff is more than what a share may be off by.
const roundoff = 1e-9

// runOthers runs the blocks that are not timed.
func (r *launchRun) runOthers(ctx context.Context) error {
	r.domain.budget = r.left
	next := 0
	for n := 0; n <= r.blocks; n++ {
		timed := r.launch.Grid[0] * r.launch.Grid[1] * r.launch.Grid[2]
		if n < r.blocks {
			timed = r.numberOf(n)
		}
		if err := r.execute(ctx, next, timed); err != nil {
			return err
		}
		next = timed + 1
	}
	return nil
}
