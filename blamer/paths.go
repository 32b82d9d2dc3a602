package blamer

import (
	"math"

	"gpa/cubin/sass"
)

// A measure says how long a stretch of code is: element i is the length of everything before instruction i.
type measure interface{ before(i int) int64 }

// instructions measures in instructions.
type instructions struct{}

func (instructions) before(i int) int64 { return int64(i) }

// stallCycles measures in cycles: the sum of the stall counts, which no execution falls short of.
type stallCycles struct{ *section }

func (c stallCycles) before(i int) int64 { return c.cycles[i] }

// A pathFinder measures the paths on which a definition reaches a use. On such a path no other unpredicated
// instruction writes the resource. Lengths count from the issue of the definition to that of the use, so that
// neighbours are 1 instruction apart.
type pathFinder struct {
	*section
	queue   []reached
	settled []uint32 // by block: the search that settled it
	longest []int64  // by block: of the current layer, -1 unreached
	search  uint32
}

// reached is a block whose end is length away from the use.
type reached struct {
	length int64
	block  int32
}

func newPathFinder(s *section) *pathFinder {
	p := &pathFinder{
		section: s,
		settled: make([]uint32, len(s.blocks)),
		longest: make([]int64, len(s.blocks)),
	}
	for b := range p.longest {
		p.longest[b] = -1
	}
	return p
}

// A pathQuery is the use and the resource that paths are measured for, and what ends them.
type pathQuery struct {
	use      int
	res      sass.Resource
	barriers []int32 // paths through these instructions do not count; ascending
	limit    int64   // longer paths need not be found
	counts   bool    // the resource counts its definitions: they do not overwrite it and end no path
	local    bool    // paths pass calls by
	whole    bool    // settle all blocks within the limit, not just those up to the definitions
}

// query looks for paths on which what a definition of r did is still outstanding when the use issues. Waiting for a dependence
// counter settles all that it counts.
func (a *analysis) query(use int, r sass.Resource) pathQuery {
	q := pathQuery{use: use, res: r, limit: math.MaxInt64, local: a.plain}
	if isCounter(r) && !a.plain {
		q.counts, q.barriers = true, a.firmUses(r)
	}
	return q
}

// shortest returns the length of the shortest path from each of the definitions to the use, -1 where there is none
// within the limit.
func (p *pathFinder) shortest(m measure, q pathQuery, defs []int) []int64 {
	lengths := make([]int64, len(defs))
	for i := range lengths {
		lengths[i] = -1
	}
	p.search++
	p.queue = p.queue[:0]
	p.leaveUse(m, q, defs, lengths)
	for len(p.queue) > 0 {
		r := p.pop()
		if p.settled[r.block] == p.search || r.length > q.limit {
			continue
		}
		if !q.whole && allWithin(lengths, r.length) {
			break
		}
		p.settled[r.block] = p.search
		b := &p.blocks[r.block]
		p.cross(m, q, defs, lengths, r, b.First, b.Last+1)
	}
	return lengths
}

// allWithin reports whether every definition was reached on a path that no path still to be searched falls short of.
func allWithin(lengths []int64, searched int64) bool {
	for _, length := range lengths {
		if length < 0 || length > searched {
			return false
		}
	}
	return true
}

// leaveUse begins the search with the part of the use's block that lies before the use.
func (p *pathFinder) leaveUse(m measure, q pathQuery, defs []int, lengths []int64) {
	b := p.block[q.use]
	if b < 0 {
		return
	}
	p.cross(m, q, defs, lengths, reached{block: b}, p.blocks[b].First, q.use)
}

// cross takes a search back over the instructions first to end-1 of a block, whose end lies r.length before the use.
func (p *pathFinder) cross(m measure, q pathQuery, defs []int, lengths []int64, r reached, first, end int) {
	stop := p.stop(q, first, end)
	for i, d := range defs {
		if d < end && d >= max(first, stop) {
			if length := r.length + m.before(end) - m.before(d); lengths[i] < 0 || length < lengths[i] {
				lengths[i] = length
			}
		}
	}
	if stop >= first {
		return
	}
	length := r.length + m.before(end) - m.before(first)
	for pred := range p.preds(r.block, q.local, q.counts) {
		if p.settled[pred] != p.search && length <= q.limit {
			p.push(reached{length, pred})
		}
	}
}

// stop returns the last instruction in a range beyond which no path goes: an unpredicated definition of the resource or
// a barrier. It can still be where a path begins. It returns -1 where there is none.
func (p *pathFinder) stop(q pathQuery, first, end int) int {
	stop := lastBefore(q.barriers, first, end)
	if q.res < sass.NumRes && !q.counts && p.blockDefs[p.block[first]].has(q.res) {
		stop = max(stop, p.lastUnpredicated(p.defs[q.res], first, end))
	}
	return stop
}

func (p *pathFinder) lastUnpredicated(list []int32, first, end int) int {
	for {
		d := lastBefore(list, first, end)
		if d < 0 || p.code.Insts[d].Guard.Always() {
			return d
		}
		end = d
	}
}

// push and pop keep the queue as a binary heap by length.
func (p *pathFinder) push(r reached) {
	q := append(p.queue, r)
	for i := len(q) - 1; i > 0; {
		parent := (i - 1) / 2
		if q[parent].length <= q[i].length {
			break
		}
		q[parent], q[i] = q[i], q[parent]
		i = parent
	}
	p.queue = q
}

func (p *pathFinder) pop() reached {
	q := p.queue
	top := q[0]
	q[0] = q[len(q)-1]
	q = q[:len(q)-1]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q); c++ {
			if q[c].length < q[least].length {
				least = c
			}
		}
		if least == i {
			break
		}
		q[least], q[i] = q[i], q[least]
		i = least
	}
	p.queue = q
	return top
}
