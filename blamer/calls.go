package blamer

import (
	"iter"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A block is a basic block of a section, or a part of one: calls and yields end blocks here. Its edges lead into functions and back, so that
// slices and paths go through calls whose callees the section holds.
type block struct {
	First, Last int // instruction indices, Last included
	Preds       []int
	Succs       []int
	// via says of each of Preds how control gets here from there: 0 inside a function; +s by the return to call site s, and -s by its
	// call. Sites count from 1.
	via []int32
	// yields and resumes are the ways that a warp takes when its lanes are on several: from each block that a YIELD ends to the blocks after
	// the other ones. Registers belong to the lanes and go no such way, dependence counters belong to the warp.
	yields, resumes []int
}

// linkedBlocks builds the blocks of a section and returns them with the block before each call site: that of site s is calls[s].
func linkedBlocks(g *cfg.Graph) (blocks []block, calls []int) {
	l := blockLinker{graph: g, first: make([]int, len(g.Blocks)), last: make([]int, len(g.Blocks)), calls: []int{-1}}
	l.split()
	for i, b := range g.Blocks {
		for _, s := range b.Succs {
			l.link(l.last[i], l.first[s], 0)
		}
	}
	l.linkCalls()
	l.linkYields()
	return l.blocks, l.calls
}

type blockLinker struct {
	graph       *cfg.Graph
	blocks      []block
	first, last []int // by block of the graph: its first and last part
	calls       []int
	sites       []callSite
	yields      []int // blocks that a YIELD ends
}

// A callSite is a call into functions of the section.
type callSite struct {
	call  *cfg.Call
	block int // that the call ends
}

// split makes the blocks, cut behind every call into the section and every YIELD.
func (l *blockLinker) split() {
	calls := map[int]*cfg.Call{}
	for _, f := range l.graph.Funcs {
		for i := range f.Calls {
			if c := &f.Calls[i]; len(c.Callees) > 0 {
				calls[c.Inst] = c
			}
		}
	}
	for i, b := range l.graph.Blocks {
		l.first[i] = len(l.blocks)
		l.blocks = append(l.blocks, block{First: b.First, Last: b.Last})
		for inst := b.First; inst <= b.Last; inst++ {
			c := calls[inst]
			at := len(l.blocks) - 1
			switch {
			case c != nil:
				l.sites = append(l.sites, callSite{c, at})
			case l.graph.Code.Insts[inst].Op == sass.YIELD:
				l.yields = append(l.yields, at)
			default:
				continue
			}
			if inst < b.Last {
				l.blocks[at].Last = inst
				l.blocks = append(l.blocks, block{First: inst + 1, Last: b.Last})
			}
		}
		l.last[i] = len(l.blocks) - 1
	}
}

func (l *blockLinker) link(from, to int, via int32) {
	l.blocks[from].Succs = append(l.blocks[from].Succs, to)
	l.blocks[to].Preds = append(l.blocks[to].Preds, from)
	l.blocks[to].via = append(l.blocks[to].via, via)
}

// linkCalls draws the edges into the callees and back. Where a call may be skipped, or lead elsewhere, control also goes past it.
func (l *blockLinker) linkCalls() {
	for _, site := range l.sites {
		after, inside := l.after(site)
		if after < 0 {
			continue // nothing comes back
		}
		id := int32(len(l.calls))
		l.calls = append(l.calls, site.block)
		for _, f := range site.call.Callees {
			callee := l.graph.Funcs[f]
			l.link(site.block, l.first[callee.Entry], -id)
			for _, b := range callee.Blocks {
				if end := l.graph.Blocks[b].Last; l.graph.Code.Insts[end].Op == sass.RET {
					l.link(l.last[b], after, id)
				}
			}
		}
		always := l.graph.Code.Insts[site.call.Inst].Guard.Always()
		if inside && (!always || len(site.call.Remote) > 0 || site.call.Extern != "") {
			l.link(site.block, after, 0)
		}
	}
}

// maxYields bounds the yields that are linked with each other; spin loops have a few.
const maxYields = 16

// linkYields draws the edges from each YIELD to what follows it and to what follows the others.
func (l *blockLinker) linkYields() {
	for _, at := range l.yields {
		if inst := l.blocks[at].Last; inst < l.graph.Block(inst).Last {
			l.link(at, at+1, 0)
		}
	}
	if len(l.yields) > maxYields {
		return
	}
	for _, at := range l.yields {
		for _, other := range l.yields {
			if at == other {
				continue
			}
			for _, to := range l.blocks[other].Succs {
				l.blocks[at].resumes = append(l.blocks[at].resumes, to)
				l.blocks[to].yields = append(l.blocks[to].yields, at)
			}
		}
	}
}

// after returns the block that a call comes back to, -1 where it does not, and whether that is a part of the same block of the graph;
// otherwise an edge leads to it already.
func (l *blockLinker) after(site callSite) (after int, inside bool) {
	if next := site.block + 1; next < len(l.blocks) && l.blocks[next].First == site.call.Inst+1 {
		if b := l.graph.Block(site.call.Inst); b.Last > site.call.Inst {
			return next, true
		}
	}
	for _, s := range l.blocks[site.block].Succs {
		if l.blocks[s].First == site.call.Inst+1 {
			return s, false
		}
	}
	return -1, false
}

// preds yields the blocks that control comes from. local passes calls by, as the paper's tool does; warp takes the ways of the whole warp.
func (s *section) preds(b int32, local, warp bool) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, p := range s.blocks[b].yields {
			if warp && !yield(int32(p)) {
				return
			}
		}
		for i, p := range s.blocks[b].Preds {
			from := int32(p)
			if via := s.blocks[b].via[i]; local && via < 0 {
				continue
			} else if local && via > 0 {
				from = int32(s.calls[via])
			}
			if !yield(from) {
				return
			}
		}
	}
}

// Limits of the search through calls.
const (
	maxCallDepth = 4    // callees inside callees; calls inside these are passed by
	maxContexts  = 1024 // different stacks of call sites
)

// A callContext is the stack of call sites by whose returns a search has gone back into callees: it leaves them by the same sites.
type callContext struct {
	site, parent int32
	depth        uint8
}

// contexts numbers the stacks. Number 0 is the empty one: the search is in the function of the use or has gone up to a caller of it.
type contexts struct {
	list   []callContext
	number map[callContext]int32
}

// enter returns the stack with a site more; false at the limit.
func (c *contexts) enter(from, site int32) (int32, bool) {
	if c.list == nil {
		c.list, c.number = []callContext{{}}, map[callContext]int32{}
	}
	next := callContext{site, from, c.list[from].depth + 1}
	if n, ok := c.number[next]; ok {
		return n, true
	}
	if next.depth > maxCallDepth || len(c.list) == maxContexts {
		return 0, false
	}
	n := int32(len(c.list))
	c.list = append(c.list, next)
	c.number[next] = n
	return n, true
}

// leave returns the stack without its last site; false where the search came in by another one.
func (c *contexts) leave(from, site int32) (int32, bool) {
	if from == 0 {
		return 0, true
	}
	if c.list[from].site != site {
		return 0, false
	}
	return c.list[from].parent, true
}
