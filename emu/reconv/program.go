package reconv

import (
	"fmt"
	"math"

	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A Program is the code that warps run. Instructions of all sections have indices of their own: section i begins at
// Bases[i].
type Program struct {
	Entry  int32
	Bases  []int32
	Size   int32                        // one more than the highest index
	Graphs func() ([]*cfg.Graph, error) // of the sections
}

// kind is what an instruction means to calls and returns.
type kind uint8

const (
	plain kind = iota
	call
	ret
)

// A layout is a program as the models see it: nodes of its supergraph, by instruction index.
type layout struct {
	graphs []*cfg.Graph
	super  *cfg.Supergraph
	bases  []int32
	node   []int32 // -1 where no control comes to
	leads  []bool  // first instruction of a node
	kinds  []kind
}

// newLayout analyses the program.
func newLayout(p *Program) (*layout, error) {
	graphs, err := p.Graphs()
	if err != nil {
		return nil, err
	}
	l := &layout{graphs: graphs, bases: p.Bases, node: make([]int32, p.Size), leads: make([]bool, p.Size), kinds: make([]kind, p.Size)}
	section := len(p.Bases) - 1
	for section > 0 && p.Bases[section] > p.Entry {
		section--
	}
	if l.super, err = cfg.NewSupergraph(graphs, section, int(p.Entry-p.Bases[section])); err != nil {
		return nil, err
	}
	for i := range l.node {
		l.node[i] = -1
	}
	for id, n := range l.super.Nodes {
		first := l.first(id)
		l.leads[first] = true
		for i := range int32(n.Last - n.First + 1) {
			l.node[first+i] = int32(id)
		}
	}
	for s, g := range graphs {
		for i := range g.Code.Insts {
			if g.Code.Insts[i].Op == sass.RET {
				l.kinds[p.Bases[s]+int32(i)] = ret
			}
		}
		for _, f := range g.Funcs { // a CALL that is none of these is a jump
			for i := range f.Calls {
				l.kinds[p.Bases[s]+int32(f.Calls[i].Inst)] = call
			}
		}
	}
	return l, nil
}

// first returns the index of the first instruction of a node.
func (l *layout) first(node int) int32 {
	n := l.super.Nodes[node]
	return l.bases[n.Graph] + int32(n.First)
}

// insts returns the instructions of a node.
func (l *layout) insts(node int) []sass.Inst {
	n := l.super.Nodes[node]
	return l.graphs[n.Graph].Code.Insts[n.First : n.Last+1]
}

// kindOf returns the kind of the instruction before next.
func (l *layout) kindOf(next int32) kind { return l.kinds[next-1] }

// A priorityOrder is the code laid out by priority: of two instructions the one that comes first has the smaller key.
type priorityOrder struct {
	*layout
	order []int   // nodes
	keys  []int32 // by instruction index
}

// newPriorityOrder lays a program out for thread frontiers.
func newPriorityOrder(p *Program) (*priorityOrder, error) {
	l, err := newLayout(p)
	if err != nil {
		return nil, fmt.Errorf("thread frontiers: %w", err)
	}
	return l.lay(l.super.Shape.Order()), nil
}

// lay lays the nodes out in an order.
func (l *layout) lay(order []int) *priorityOrder {
	size := int32(len(l.node))
	o := &priorityOrder{layout: l, keys: make([]int32, size)}
	for i := range o.keys {
		o.keys[i] = math.MaxInt32 - size + int32(i) // where no control comes to
	}
	key := int32(0)
	for _, node := range order {
		if node == l.super.Shape.Exit {
			continue
		}
		o.order = append(o.order, node)
		for i := range l.insts(node) {
			o.keys[l.first(node)+int32(i)] = key
			key++
		}
	}
	return o
}

// managesBarriers reports whether an instruction does nothing but manage convergence barriers, as a machine without them
// would not execute it.
func managesBarriers(op sass.Op) bool {
	return op.Properties().Sync == sass.SyncConvergence
}
