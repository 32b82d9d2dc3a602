package blamer

import (
	"iter"
	"math"
	"slices"

	"gpa/cubin/sass"
)

// maxFlowSteps bounds the search for the ways of a result to its use. What is left then is too little to matter.
const maxFlowSteps = 256

// outstanding returns how many executions of a use find a result of the definition outstanding, by the executions of the blocks: the
// definition's, as far as they go on to the use and not to another instruction that waits for the same counter.
func (a *analysis) outstanding(d dependency) float64 {
	from, to := a.block[d.def], a.block[d.use]
	if from < 0 || to < 0 {
		return 0
	}
	stops := a.settlers(d)
	end := a.blocks[from].Last + 1
	start := a.warps[d.def]
	if from == to && d.def < d.use {
		if lastBefore(stops, d.def+1, d.use) >= 0 {
			return 0
		}
		return start
	}
	if lastBefore(stops, d.def+1, end) >= 0 {
		return 0
	}
	arrived := 0.0
	flow := map[int]float64{int(from): start} // by block: executions that are there
	for range maxFlowSteps {
		at, mass := heaviest(flow)
		if mass < start/maxFlowSteps {
			break
		}
		delete(flow, at)
		for next, share := range a.ways(at) {
			part := mass * share
			b := &a.blocks[next]
			if next == int(to) && lastBefore(stops, b.First, d.use) < 0 {
				arrived += part
			}
			if lastBefore(stops, b.First, b.Last+1) < 0 {
				flow[next] += part
			}
		}
	}
	return arrived
}

// ways yields the blocks that a warp goes on to from a block, with the shares of its executions. At a YIELD a warp of which only some lanes
// are there goes on with any that have yielded.
func (a *analysis) ways(b int) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		block := &a.blocks[b]
		yielded, all := 0.0, 0.0 // share of the executions in which others may go on, and executions of all that can follow
		if len(block.resumes) > 0 && a.warps[block.Last] > 0 {
			yielded = max(0, 1-a.issues[block.Last]/a.warps[block.Last])
			for _, s := range slices.Concat(block.Succs, block.resumes) {
				all += a.warps[a.blocks[s].First]
			}
		}
		turn := func(s int) float64 {
			if all == 0 {
				return 0
			}
			return yielded * a.warps[a.blocks[s].First] / all
		}
		for _, s := range block.Succs {
			if !yield(s, (1-yielded)*a.branchShare(b, s)+turn(s)) {
				return
			}
		}
		for _, s := range block.resumes {
			if !yield(s, turn(s)) {
				return
			}
		}
	}
}

// definitions measures in definitions of a resource.
type definitions []int32

func (list definitions) before(i int) int64 {
	n, _ := slices.BinarySearch(list, int32(i))
	return int64(n)
}

// settlers returns the instructions behind which a result is no longer outstanding, in order: those that wait for its counter, and those
// that leave some younger results outstanding where as many younger ones lie on every way there.
func (a *analysis) settlers(d dependency) []int32 {
	list := a.query(d.use, d.res).barriers
	if !isCounter(d.res) || a.plain || len(a.partial[d.res-sass.ResSB]) == 0 {
		return list
	}
	list = slices.Clone(list)
	for _, w := range a.partial[d.res-sass.ResSB] {
		way := pathQuery{use: int(w), res: sass.NumRes, limit: math.MaxInt64}
		defs := a.paths.shortest(definitions(a.defs[d.res]), way, []int{d.def})[0]
		if younger := defs - 1; int(w) != d.use && younger >= int64(countThreshold(&a.code.Insts[w], d.res)) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return list
}

// heaviest returns the block with most flow and how much that is, the first of equal ones; none where there is no flow.
func heaviest(flow map[int]float64) (most int, mass float64) {
	for b, m := range flow {
		if m > mass || m == mass && m > 0 && b < most {
			most, mass = b, m
		}
	}
	return most, mass
}

// branchShare is the share of the executions of a block that go on to a successor. Warps that split go on to both.
func (a *analysis) branchShare(b, succ int) float64 {
	all := a.warps[a.blocks[b].Last]
	if all == 0 {
		return 0
	}
	return min(1, a.counts()[blockEdge{b, succ}]/all)
}

type blockEdge struct{ from, to int }

// counts returns how many warps went along each edge.
func (a *analysis) counts() map[blockEdge]float64 {
	if a.edgeCounts == nil {
		a.edgeCounts = a.countEdges()
	}
	return a.edgeCounts
}

// countEdges derives from the executions of the blocks how many warps went along each edge of the graph. What goes into a block comes
// out of it: where one edge of a block is left unknown, it is the rest. Where several are, which takes both ends of each of them to have
// others, the smaller of the two rests bounds them. Warps that split make a rest too small, not less than none.
func (a *analysis) countEdges() map[blockEdge]float64 {
	c := edgeCounter{analysis: a, count: map[blockEdge]float64{}}
	for b := range a.blocks {
		c.queue = append(c.queue, b)
	}
	for len(c.queue) > 0 {
		b := c.queue[0]
		c.queue = c.queue[1:]
		c.settle(b)
	}
	for b := range a.blocks {
		for _, s := range a.blocks[b].Succs {
			if e := (blockEdge{b, s}); !c.known(e) {
				out, _, _ := c.rest(a.warps[a.blocks[b].Last], c.leaving(b))
				in, _, _ := c.rest(a.warps[a.blocks[s].First], c.entering(s))
				c.count[e] = min(in, out)
			}
		}
	}
	return c.count
}

type edgeCounter struct {
	*analysis
	count map[blockEdge]float64
	queue []int
}

func (c *edgeCounter) known(e blockEdge) bool {
	_, ok := c.count[e]
	return ok
}

func (c *edgeCounter) leaving(b int) []blockEdge {
	var list []blockEdge
	for _, s := range c.blocks[b].Succs {
		list = append(list, blockEdge{b, s})
	}
	return list
}

func (c *edgeCounter) entering(b int) []blockEdge {
	var list []blockEdge
	for _, p := range c.blocks[b].Preds {
		list = append(list, blockEdge{p, b})
	}
	return list
}

// rest subtracts the edges that are known from what passes a block, and returns the last of the others with their number.
func (c *edgeCounter) rest(passes float64, list []blockEdge) (rest float64, unknown int, last blockEdge) {
	for _, e := range list {
		if n, ok := c.count[e]; ok {
			passes -= n
		} else {
			unknown++
			last = e
		}
	}
	return max(0, passes), unknown, last
}

// settle enters the edges of a block that are the only unknown ones on their side.
func (c *edgeCounter) settle(b int) {
	block := c.blocks[b]
	if rest, unknown, e := c.rest(c.warps[block.Last], c.leaving(b)); unknown == 1 {
		c.count[e] = min(rest, c.warps[c.blocks[e.to].First])
		c.queue = append(c.queue, e.to)
	}
	if rest, unknown, e := c.rest(c.warps[block.First], c.entering(b)); unknown == 1 {
		c.count[e] = min(rest, c.warps[c.blocks[e.from].Last])
		c.queue = append(c.queue, e.from)
	}
}
