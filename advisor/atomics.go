package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// atomicContention matches the stalls of atomic operations: waiting for what they return, for the queue that they fill, and for
// the last of them after the end of the warp.
type atomicContention struct{}

func (atomicContention) Name() string { return "atomic-contention" }
func (atomicContention) Class() Class { return StallElimination }

func (atomicContention) Match(in *Input) []*Match {
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if isAtomic(in.Inst(b.Def).Op) && isStall(b) && b.Detail != blamer.InstructionFetch {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Suggestions = []string{
			fmt.Sprintf("Threads wait for atomic operations at %s. Combine first: sum up in registers, over the warp (__reduce_add_sync, __shfl_xor_sync) and over the block in shared memory, "+
				"and let one thread do one atomic for all.", in.places(m.defs(), 3)),
			"For histograms keep a copy in shared memory for each block, or several where few bins take most of the hits. If the returned value is not needed, do not use it: the operation then needs no answer.",
		}
	}
	return matches
}

func isAtomic(op sass.Op) bool {
	switch op {
	case sass.ATOM, sass.ATOMG, sass.ATOMS, sass.RED:
		return true
	}
	return false
}
