package advisor

import (
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// A compiler unrolls a loop of the source into a loop of several rounds and code for those that are left, or into copies alone. What shares
// the rounds of the source out among threads shares out all of these.

// leastLeft is the share of a loop's samples in code for the rounds that are left from which on that code counts as a part of the loop.
const leastLeft = .2

// asInSource adds to a nest what else its hottest loop of the source has become, and reports whether it did: where that takes a part of the
// time, or where the rounds that the compiler has put together leave too few for the lanes of a warp.
func (in *Input) asInSource(n *loopNest) bool {
	r, samples, left := in.copiesAt(n, in.linesOfNest(n))
	if r == nil || left < leastLeft*samples && n.rounds >= warpSize {
		return false
	}
	threads, rounds := float64(volume(in.Launch.Grid)*volume(in.Launch.Block)), 0.0
	for _, c := range r.Copies[r.Anchor] {
		rounds += in.counts(c).threads / threads
	}
	rounds /= max(1, in.entries(n)*warpSize/threads)
	n.rolled, n.rounds, n.samples = r, max(n.rounds, rounds), max(n.samples, samples)
	return true
}

// countedByStores are copies whose rounds are told apart by what each stores, where each loads several elements of an array. What it loads begins it all the same.
func (in *Input) countedByStores(r *Rolled) *Rolled {
	least := len(r.Copies[r.Anchor])
	for k, c := range r.Copies {
		if n := len(c); in.Inst(c[0]).Op == sass.STG && n > 1 && n < least {
			r.Anchor, least = k, n
		}
	}
	return r
}

// linesOfNest are the source lines of a nest's hottest loop.
func (in *Input) linesOfNest(n *loopNest) map[cubin.Frame]bool {
	lines := make(map[cubin.Frame]bool)
	in.eachInst(n.code, n.hottest, func(i int) {
		if f := in.ownFrame(blamer.Node{Code: n.code, Inst: i}); f.Line > 0 {
			lines[f] = true
		}
	})
	return lines
}

// variant says which of a nest's rounds are meant.
func (n *loopNest) variant() string {
	if n.rolled != nil {
		return ", rounds of the source"
	}
	return ""
}

// among is the copies for so many threads or blocks to share.
func (r *Rolled) among(width int) *Rolled {
	if r == nil {
		return nil
	}
	x := *r
	x.Width = width
	return &x
}

// copiesAt finds what instructions of some source lines are copies of each other, with the samples that they have in all and outside of the
// loops of a nest; nil where there is no load of which there are several.
func (in *Input) copiesAt(n *loopNest, lines map[cubin.Frame]bool) (r *Rolled, samples, left float64) {
	type key struct {
		frame cubin.Frame
		op    sass.Op
		array uint64
	}
	var order []key
	arrays, copies := in.arrays(), make(map[key][]blamer.Node)
	graph := in.codes[n.code].graph
	function := graph.Blocks[n.hottest.Header].Func
	for i := range in.Module.Codes[n.code].Insts {
		node := blamer.Node{Code: n.code, Inst: i}
		op := in.Inst(node).Op
		if b := graph.Block(i); in.counts(node).executions == 0 || !lines[in.ownFrame(node)] || b == nil || b.Func != function || ordersMemory(op) || op == sass.EXIT {
			continue
		}
		k := key{in.frame(node), op, arrays[node]}
		if copies[k] == nil {
			order = append(order, k)
		}
		copies[k] = append(copies[k], node)
		samples += in.codes[n.code].total[i]
		if n.loopOf(graph.Block(i)) == nil {
			left += in.codes[n.code].total[i]
		}
	}
	r = &Rolled{Anchor: -1}
	most, least := 0.0, 0.0
	done := func(nodes []blamer.Node) (sum float64) {
		for _, c := range nodes {
			sum += in.counts(c).threads
		}
		return sum
	}
	for _, k := range order {
		if k.op == sass.LDG {
			most = max(most, done(copies[k]))
		}
	}
	for _, k := range order { // a line may make several loads of an array
		if d := done(copies[k]); k.op == sass.LDG && 2*d >= most && (r.Anchor < 0 || d < least) {
			r.Anchor, least = len(r.Copies), d
		}
		r.Copies = append(r.Copies, copies[k])
	}
	if r.Anchor < 0 || len(r.Copies[r.Anchor]) < 2 {
		return nil, 0, 0
	}
	r.First = r.Anchor
	r.Unrolled = 1
	for _, c := range r.Copies[r.Anchor] {
		r.Unrolled = max(r.Unrolled, in.roundsTogether(n.hottest, c))
	}
	return r, samples, left
}
