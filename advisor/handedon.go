package advisor

import (
	"fmt"
	"slices"

	"gpa/blamer"
	"gpa/profiler"
)

// Rounds of a loop that do not need each other may need what rounds of an earlier execution of the loop have stored: the cells of a row that are computed
// from those of the row before. Threads that divide them have to meet after each row.

// passOn notes the loads of a nest's loops that read what a round of these loops has stored in an earlier round of the loop around.
func (in *Input) passOn(n *loopNest) {
	if in.Launch.Record == nil {
		return
	}
	var headers []profiler.Place
	for _, l := range n.loops {
		headers = append(headers, in.recordPlace(blamer.Node{Code: n.code, Inst: in.codes[n.code].graph.Blocks[l.Header].First}))
	}
	inLoops := func(x blamer.Node) bool { return x.Code == n.code && n.loopOf(in.Block(x)) != nil }
	for _, d := range in.Launch.Record.Dependences {
		to := nodeOf(d.To)
		if d.Kind != profiler.FlowDependence || d.Party != profiler.SameThread || !d.Carried || d.Space == "shared" || slices.Contains(headers, d.Loop) ||
			!inLoops(nodeOf(d.From)) || !inLoops(to) || slices.Contains(n.counts, to) || slices.Contains(n.sums, to) {
			continue
		}
		n.ownArray = n.ownArray || d.Space == "local"
		if !slices.Contains(n.handed, to) {
			n.handed = append(n.handed, to)
		}
	}
}

// meetAfter says what it takes to divide such rounds among so many threads of a block.
func (in *Input) meetAfter(n *loopNest, width int) string {
	how := "__syncthreads()"
	if width <= warpSize {
		how = "__syncwarp() (__syncthreads() for more than a warp)"
	}
	text := fmt.Sprintf("At %s a round reads what others have stored in an earlier round of the loop around: put a %s behind each divided loop, where all threads of the block come by.", in.places(in.bySamples(n.handed), 3), how)
	if n.ownArray {
		text += " The array that holds it, one of each thread's own now, becomes the block's, in shared memory."
	}
	return text
}
