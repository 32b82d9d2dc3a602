package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// warpBalance matches the stalls at block barriers: warps wait for the slowest of their block.
type warpBalance struct{}

func (warpBalance) Name() string { return "warp-balance" }
func (warpBalance) Class() Class { return StallElimination }

func (warpBalance) Match(in *Input) []*Match {
	var blames []*blamer.Blame
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if b.Detail == blamer.SynchronizationStall && in.Inst(b.Def).Op == sass.BAR {
			blames = append(blames, b)
		}
	}
	c := newCollector(in)
	c.addUnexposed(in.kernelScope(), blames)
	matches := c.finish()
	for _, m := range matches {
		m.Change = &Change{Gone: m.allDefs()}
		m.Suggestions = []string{
			fmt.Sprintf("Warps wait for each other at the barrier of %s. Give every warp of the block the same amount of work between barriers; where only one warp has work, let the others do theirs of the next step.",
				in.places(m.defs(), 3)),
			"Where the threads that exchange data belong to one warp, __syncwarp() or shuffles are enough; drop a barrier that protects nothing. Not where the data crosses warps in every step.",
		}
	}
	return matches
}
