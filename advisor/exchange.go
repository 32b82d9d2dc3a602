package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/profiler"
)

// exchanges returns the accesses by which threads of a block pass values to each other through global memory: loads of what another
// thread of the block, or the same one, has stored before, and stores that such loads read. Nothing is known without a record.
func (in *Input) exchanges() map[blamer.Node]bool {
	if in.Launch.Record == nil {
		return nil
	}
	nodes, between := make(map[blamer.Node]bool), false
	for _, d := range in.Launch.Record.Dependences {
		if d.Kind != profiler.FlowDependence || d.Space != "global" || d.Party > profiler.SameBlock {
			continue
		}
		for _, p := range []profiler.Place{d.From, d.To} {
			n := nodeOf(p)
			if in.codes[n.Code] == nil || isAtomic(in.Inst(n).Op) {
				return nil
			}
			nodes[n] = true
		}
		between = between || d.Party != profiler.SameThread
	}
	if !between {
		return nil
	}
	return nodes
}

// exchanged matches the stalls of such accesses: the block has shared memory for that.
func (in *Input) exchanged() []*Match {
	nodes := in.exchanges()
	matches := in.memoryWaits(nodes, 1)
	for _, m := range matches {
		m.Spares, m.Variant = L2|DRAM, "exchange"
		m.Change = &Change{Streams: &Streams{Shared: sortedKeys(nodes)}}
		m.Suggestions = []string{
			fmt.Sprintf("The threads of a block pass values to each other through global memory (%s). Load the block's data into shared memory once, let the threads exchange values there, and store what is left at the end.",
				in.places(m.defs(), 3)),
			"Not where other blocks or a later kernel need the values in between.",
		}
	}
	return matches
}
