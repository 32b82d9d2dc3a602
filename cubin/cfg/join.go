package cfg

import (
	"slices"

	"gpa/cubin"
)

// Join makes one graph of those of several sections, for analyses that go through calls from one section to another. Its code
// holds the instructions of the sections one after the other, each with the PC that it has in its own; calls of functions of other
// sections of the list are calls inside the graph. The given graphs stay as they are.
func Join(graphs []*Graph) *Graph {
	code := *graphs[0].Code
	code.Insts, code.Functions = nil, nil
	j := joiner{Graph: &Graph{Code: &code}, funcs: make(map[*cubin.Function]int)}
	for _, g := range graphs {
		j.add(g)
	}
	slices.SortStableFunc(j.Loops, func(a, b *Loop) int { return a.Depth - b.Depth })
	for _, f := range j.Funcs {
		for i := range f.Calls {
			j.resolve(&f.Calls[i])
		}
	}
	return j.Graph
}

// A joiner is a graph to which others are appended.
type joiner struct {
	*Graph
	funcs map[*cubin.Function]int // index in Graph.Funcs
}

// add appends a graph.
func (j *joiner) add(g *Graph) {
	insts, blocks, funcs := len(j.Code.Insts), len(j.Blocks), len(j.Funcs)
	j.Code.Insts = append(j.Code.Insts, g.Code.Insts...)
	j.Code.Functions = append(j.Code.Functions, g.Code.Functions...)
	j.blockOf = append(j.blockOf, shifted(g.blockOf, blocks)...)
	j.dom.append(g.dom)
	j.pdom.append(g.pdom)
	loops := j.addLoops(g, blocks, funcs)
	for _, b := range g.Blocks {
		j.Blocks = append(j.Blocks, &Block{
			ID: b.ID + blocks, First: b.First + insts, Last: b.Last + insts, Exits: b.Exits, Func: b.Func + funcs, Loop: loops[b.Loop],
			Succs: shifted(b.Succs, blocks), Preds: shifted(b.Preds, blocks), Idom: shift(b.Idom, blocks), Ipdom: shift(b.Ipdom, blocks),
		})
	}
	for _, f := range g.Funcs {
		j.funcs[f.Function] = len(j.Funcs)
		to := &Func{Function: f.Function, Entry: f.Entry + blocks, Blocks: shifted(f.Blocks, blocks)}
		for _, c := range f.Calls {
			to.Calls = append(to.Calls, Call{Inst: c.Inst + insts, Callees: shifted(c.Callees, funcs), Remote: c.Remote, Extern: c.Extern})
		}
		j.Funcs = append(j.Funcs, to)
	}
}

// addLoops appends the loops of a graph and returns what each has become. Outer ones come before those in them.
func (j *joiner) addLoops(g *Graph, blocks, funcs int) map[*Loop]*Loop {
	loops := make(map[*Loop]*Loop, len(g.Loops))
	for _, l := range g.Loops {
		loops[l] = &Loop{
			Header: l.Header + blocks, Blocks: shifted(l.Blocks, blocks), Parent: loops[l.Parent], Depth: l.Depth, Func: l.Func + funcs,
			Gather: l.Gather,
		}
		j.Loops = append(j.Loops, loops[l])
	}
	return loops
}

// resolve turns the remote callees of a call that the graph has into its own.
func (j *joiner) resolve(c *Call) {
	var remote []*cubin.Function
	for _, f := range c.Remote {
		if i, ok := j.funcs[f]; ok {
			c.Callees = append(c.Callees, i)
		} else {
			remote = append(remote, f)
		}
	}
	c.Remote = remote
}

func shift(n, by int) int {
	if n < 0 {
		return n
	}
	return n + by
}

func shifted(list []int, by int) []int {
	to := make([]int, len(list))
	for i, n := range list {
		to[i] = shift(n, by)
	}
	return to
}

// append adds a forest. The numbers of its trees stay: trees of different functions share numbers already.
func (t *tree) append(u tree) {
	t.first = append(t.first, u.first...)
	t.last = append(t.last, u.last...)
}
