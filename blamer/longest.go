package blamer

import "slices"

// maxBackEdges bounds how many loop iterations a longest path may need. Each back edge takes a path out of one loop of
// a nest, so that no compiled code comes near it.
const maxBackEdges = 16

// longestPaths returns the number of instructions on the longest path from each of the definitions to the use. The
// longest path of a graph with loops is not bounded, so that a path crosses as few back edges as can be: among those
// paths the longest counts. Definitions that no path connects get the shortest length, or 1 where there is none at all.
//
// It is a dynamic program over layers of the graph: in a layer blocks are visited against a reverse post-order, which
// is a topological order once back edges are cut; a back edge leads to the next layer.
func (p *pathFinder) longestPaths(q pathQuery, defs []int) []int64 {
	lengths := make([]int64, len(defs))
	if p.direct(q.use, defs, lengths) {
		return lengths
	}
	q.limit, q.whole = int64(len(p.code.Insts)), true
	missing := 0
	for i, length := range p.shortest(instructions{}, q, defs) {
		if length >= 0 && lengths[i] == 0 {
			missing++
		}
	}
	p.layers(q, defs, lengths, missing)
	p.fallBack(q, defs, lengths)
	return lengths
}

// direct handles definitions above the use in its own block, to which only the straight path leads without another
// iteration. It reports whether all are such.
func (p *pathFinder) direct(use int, defs []int, lengths []int64) bool {
	all := true
	for i, d := range defs {
		if d < use && p.block[d] == p.block[use] {
			lengths[i] = int64(use - d)
		} else {
			all = false
		}
	}
	return all
}

// layers fills in the lengths that are 0, until none is missing.
func (p *pathFinder) layers(q pathQuery, defs []int, lengths []int64, missing int) {
	b := p.block[q.use]
	if b < 0 {
		return
	}
	region := p.region()
	reach, next := []reached{}, []reached{}
	p.reachPreds(q, reached{block: b}, p.blocks[b].First, q.use, &reach, &next)
	for layer := 0; layer <= maxBackEdges && missing > 0 && len(reach)+len(next) > 0; layer++ {
		next = p.layer(q, region, reach, next)
		missing -= p.measureLayer(defs, lengths)
		for _, b := range region {
			p.longest[b] = -1
		}
		reach, next = next, nil
	}
}

// region returns the blocks from whose ends the use is reached, as the last search for shortest paths left them, ordered so that the successors of a block come before
// it where no back edge is between them.
func (p *pathFinder) region() []int32 {
	var region []int32
	for b, settled := range p.settled {
		if settled == p.search {
			region = append(region, int32(b))
		}
	}
	slices.SortFunc(region, func(a, b int32) int { return int(p.rank[b]) - int(p.rank[a]) })
	return region
}

// layer computes the longest lengths of one layer, which begins with the blocks in reach, and returns what the next
// layer begins with.
func (p *pathFinder) layer(q pathQuery, region []int32, reach, next []reached) []reached {
	for _, r := range reach {
		p.longest[r.block] = max(p.longest[r.block], r.length)
	}
	var same []reached
	for _, id := range region {
		if p.longest[id] < 0 {
			continue
		}
		b := &p.blocks[id]
		same = same[:0]
		p.reachPreds(q, reached{p.longest[id], id}, b.First, b.Last+1, &same, &next)
		for _, r := range same {
			p.longest[r.block] = max(p.longest[r.block], r.length)
		}
	}
	return next
}

// reachPreds takes a path over the instructions first to end-1 of a block to the predecessors, in this layer or the
// next.
func (p *pathFinder) reachPreds(q pathQuery, r reached, first, end int, same, next *[]reached) {
	if p.stop(q, first, end) >= first {
		return
	}
	length := r.length + int64(end-first)
	for pred := range p.preds(r.block, q.local, q.counts) {
		to := reached{length, pred}
		if p.rank[pred] < p.rank[r.block] {
			*same = append(*same, to)
		} else {
			*next = append(*next, to)
		}
	}
}

// measureLayer enters the lengths of the definitions that this layer reaches first and returns their number.
func (p *pathFinder) measureLayer(defs []int, lengths []int64) int {
	n := 0
	for i, d := range defs {
		b := p.block[d]
		if lengths[i] != 0 || b < 0 || p.longest[b] < 0 {
			continue
		}
		lengths[i] = p.longest[b] + int64(p.blocks[b].Last+1-d)
		n++
	}
	return n
}

// fallBack gives a length to definitions that the layers did not reach.
func (p *pathFinder) fallBack(q pathQuery, defs []int, lengths []int64) {
	if !slices.Contains(lengths, 0) {
		return
	}
	for i, length := range p.shortest(instructions{}, q, defs) {
		if lengths[i] == 0 {
			lengths[i] = max(1, length)
		}
	}
}
