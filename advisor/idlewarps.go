package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// Blocks are often as large as they can be, with an item each, of which most threads find that they have no part: their warps keep places on the SM
// until they have found that out.

// mostWorking is the share of the warps from which on the others are not worth a question.
const mostWorking = .5

// idleWarps matches launches of whose warps most store nothing: blocks of fewer threads, in the same grid, have the same to do, which a launch with
// such blocks tells.
func (in *Input) idleWarps() (matches []*Match) {
	block := in.Launch.Block
	blocks, threads := volume(in.Launch.Grid), volume(block)
	share, at := in.workingWarps()
	if threads != block[0] || share == 0 || share > mostWorking {
		return nil
	}
	const most = 2 // tries
	now := in.occupancy(blocks, threads)
	for n := warpSize; n < threads && len(matches) < most; n *= 2 {
		if float64(n) < share*float64(threads) {
			continue
		}
		p := Parallelism{
			Warps: share * now.WarpsPerScheduler, NewWarps: share * float64(threads) / float64(n) * in.occupancy(blocks, n).WarpsPerScheduler,
			IssuedRatio: in.ByReason[stall.Selected] / in.Total, Factor: 1,
		}
		m := in.launchMatch(in.ofLaunch(p.Occupy()))
		m.Change, m.Variant = &Change{Grid: in.Launch.Grid, Block: [3]int{n, 1, 1}}, fmt.Sprintf("blocks of %d for those of %d", n, threads)
		m.Spares, m.Only = IssueSlots, true
		m.Suggestions = []string{
			fmt.Sprintf("Of the warps of a block of %d threads %.0f%% come to %s; the others have nothing to do there, and keep places on the SM until they have found out. Use blocks of %d threads in the same grid.",
				threads, 100*share, in.place(at), n),
			"Where another launch has more to do in a block than it has threads, let them go on in a loop: for (int i = threadIdx.x; i < n; i += blockDim.x).",
		}
		matches = append(matches, m)
	}
	return matches
}

// workingWarps is the share of the warps that come to the store, or atomic operation, to which most of them come, of those that begin its outermost
// loop; 0 where nothing is stored.
func (in *Input) workingWarps() (share float64, at blamer.Node) {
	for _, n := range in.executedNodes(func(op sass.Op) bool { return op.Properties().Stores(^sass.SpaceLocal) || isAtomic(op) }) {
		begun := in.warps()
		var around *cfg.Loop
		for l := in.Loop(n); l != nil; l = l.Parent {
			around = l
		}
		if around != nil {
			header := in.codes[n.Code].graph.Blocks[around.Header].First
			begun = max(begun, in.counts(blamer.Node{Code: n.Code, Inst: header}).executions)
		}
		if of := in.counts(n).executions / begun; of > share {
			share, at = of, n
		}
	}
	return share, at
}
