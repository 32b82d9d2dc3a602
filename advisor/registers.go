package advisor

import (
	"fmt"

	"gpa/cubin/sass"
)

// registerReuse matches the stalls of local memory accesses: values that did not fit into registers, and arrays that
// are indexed at run time.
type registerReuse struct{}

func (registerReuse) Name() string { return "register-reuse" }
func (registerReuse) Class() Class { return StallElimination }

func (registerReuse) Match(in *Input) []*Match {
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if op := in.Inst(b.Def).Op; (op == sass.LDL || op == sass.STL) && isStall(b) {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Change = &Change{Gone: m.allDefs()}
		m.Suggestions = []string{
			fmt.Sprintf("Values are kept in local memory at %s (%d registers and %d bytes of local memory a thread). Split the loop or the function so that fewer values are alive at a time, or recompute cheap ones.",
				in.places(m.defs(), 3), in.Launch.Facts.Registers, in.Launch.Facts.LocalBytes),
			"If an array of the thread is indexed by a variable, unroll the loop so that the indices are constants. If __launch_bounds__ or -maxrregcount limits the registers, raise the limit; that costs occupancy.",
		}
	}
	return matches
}
