package cfg

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/cubin/sass"
)

// maxLoopDepth bounds the nesting of loops. Each loop lists the blocks of the loops in it, so that without a bound a
// hostile file could ask for the square of its size; compilers stay far below.
const maxLoopDepth = 200

// findLoops finds the natural loops and how they nest, from the innermost header outwards: a loop that is found is
// merged into its header, so that no block is looked at more than once (Tarjan, "Testing Flow Graph Reducibility",
// JCSS 1974).
func (g *Graph) findLoops() error {
	f := loopFinder{graph: g, merged: make([]int, len(g.Blocks)), loopOf: make([]*Loop, len(g.Blocks))}
	for i := range f.merged {
		f.merged[i] = i
	}
	for _, header := range g.byDominance() {
		f.find(header)
	}
	slices.Reverse(f.loops) // outer loops first
	for _, l := range f.loops {
		if err := f.nest(l); err != nil {
			return err
		}
	}
	for _, b := range g.Blocks {
		b.Loop = f.loopOf[b.ID]
		for l := b.Loop; l != nil; l = l.Parent {
			l.Blocks = append(l.Blocks, b.ID)
		}
	}
	slices.SortStableFunc(f.loops, func(a, b *Loop) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.Header, b.Header))
	})
	g.Loops = f.loops
	for _, l := range g.Loops {
		l.Gather = g.gathers(l)
	}
	return nil
}

// gathers reports whether a loop only yields and votes on which lanes are there.
func (g *Graph) gathers(l *Loop) bool {
	const most = 2 // blocks of such a loop
	yields, votes := false, false
	for _, id := range l.Blocks[:min(len(l.Blocks), most+1)] {
		b := g.Blocks[id]
		for i := range g.Insts(b) {
			in := &g.Code.Insts[b.First+i]
			switch {
			case in.Op == sass.YIELD:
				yields = true
			case in.Op == sass.VOTE:
				votes = true
			case in.Guard.Never(), in.Op == sass.NOP, in.Op == sass.LOP3, in.Op.Properties().Flow == sass.FlowJump:
			default:
				return false
			}
		}
	}
	return yields && votes && len(l.Blocks) <= most
}

// byDominance returns the reachable blocks, dominated ones before those that dominate them.
func (g *Graph) byDominance() []int {
	var list []int
	for id := range g.Blocks {
		if g.dom.has(id) {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.Blocks[b].Func, g.Blocks[a].Func), cmp.Compare(g.dom.first[b], g.dom.first[a]))
	})
	return list
}

// A loopFinder holds the state of the search, by block id.
type loopFinder struct {
	graph  *Graph
	merged []int   // header of the loop that the block was merged into, itself for the others
	loopOf []*Loop // innermost loop
	loops  []*Loop // inner before outer
}

// find makes the loop of a header, if back edges lead to it.
func (f *loopFinder) find(header int) {
	g := f.graph
	l := &Loop{Header: header, Func: g.Blocks[header].Func}
	isLoop := false
	var work []int
	for _, p := range g.Blocks[header].Preds {
		if !g.dom.above(header, p) || g.Blocks[p].Func != l.Func {
			continue
		}
		isLoop = true
		work = f.add(l, p, work)
	}
	if !isLoop {
		return
	}
	f.loops = append(f.loops, l)
	for len(work) > 0 {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range g.Blocks[block].Preds {
			if g.dom.above(header, p) {
				work = f.add(l, p, work)
			}
		}
	}
	f.loopOf[header] = l
}

// add merges a block, or the loop it was merged into, into the loop, and puts it on the work list.
func (f *loopFinder) add(l *Loop, block int, work []int) []int {
	root := f.root(block)
	if root == l.Header {
		return work
	}
	f.merged[root] = l.Header
	if inner := f.loopOf[root]; inner != nil {
		inner.Parent = l
	} else {
		f.loopOf[root] = l
	}
	return append(work, root)
}

// root follows the merges of a block to the outermost header, and shortens the way.
func (f *loopFinder) root(block int) int {
	for f.merged[block] != block {
		f.merged[block] = f.merged[f.merged[block]]
		block = f.merged[block]
	}
	return block
}

// nest sets the depth of a loop whose parent's is known.
func (f *loopFinder) nest(l *Loop) error {
	l.Depth = 1
	if l.Parent != nil {
		l.Depth = l.Parent.Depth + 1
	}
	if l.Depth > maxLoopDepth {
		pc := uint64(f.graph.Blocks[l.Header].First) * sass.InstSize
		return fmt.Errorf("section %s: loops nested more than %d deep at 0x%x", f.graph.Code.Name, maxLoopDepth, pc)
	}
	return nil
}
