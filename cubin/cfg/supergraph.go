package cfg

import (
	"fmt"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A Supergraph is the control flow of a whole program, through calls and returns: its nodes are blocks, divided behind
// each call; a call leads to its callees, and a return to behind all calls of its function. A call whose callees are
// not known, or are none of the program's, leads to behind itself.
type Supergraph struct {
	Shape  *Shape // the last node is the exit
	Nodes  []Node
	graphs []*Graph
	nodeOf [][]int // by graph and instruction: node, -1 for padding
	behind map[int]int
}

// A Node of a supergraph is a run of instructions of a section. First and Last are instruction indices; Last is included.
type Node struct {
	Graph       int // index in the list that the supergraph was made of
	First, Last int
}

// maxReturnEdges bounds the edges from returns; a hostile file could ask for the square of its size.
const maxReturnEdges = 1 << 22

// NewSupergraph joins the graphs of a program's sections. Its entry is instruction inst of the given graph.
func NewSupergraph(graphs []*Graph, graph, inst int) (*Supergraph, error) {
	s := &Supergraph{graphs: graphs, nodeOf: make([][]int, len(graphs)), behind: make(map[int]int)}
	l := superLinker{Supergraph: s, calls: make([]map[int]*Call, len(graphs)), funcs: make(map[*cubin.Function]funcRef), sites: make(map[funcRef][]int)}
	for i, g := range graphs {
		l.split(i, g)
	}
	entry := s.NodeAt(graph, inst)
	if entry < 0 {
		return nil, fmt.Errorf("section %s: no control comes to instruction %d", graphs[graph].Code.Name, inst)
	}
	n := len(s.Nodes)
	s.Shape = &Shape{Entry: entry, Exit: n, Succs: make([][]int, n+1), Barrier: make([]bool, n+1)}
	l.linkCalls()
	l.passSites()
	if err := l.linkNodes(); err != nil {
		return nil, err
	}
	return s, nil
}

// NodeAt returns the node of an instruction, -1 for padding, which no control comes to.
func (s *Supergraph) NodeAt(graph, inst int) int { return s.nodeOf[graph][inst] }

// Behind returns the node to which the functions return that a node calls at its end, the exit where none follows; false for a node that calls none.
func (s *Supergraph) Behind(node int) (behind int, calls bool) {
	behind, calls = s.behind[node]
	return behind, calls
}

// A funcRef is a function of a graph.
type funcRef struct{ graph, fn int }

// A superLinker makes the edges of a supergraph.
type superLinker struct {
	*Supergraph
	calls []map[int]*Call // by graph and instruction
	funcs map[*cubin.Function]funcRef
	sites map[funcRef][]int // nodes behind the calls of a function
}

// split makes the nodes of a graph.
func (l *superLinker) split(index int, g *Graph) {
	l.calls[index] = make(map[int]*Call)
	for i, f := range g.Funcs {
		l.funcs[f.Function] = funcRef{index, i}
		for j := range f.Calls {
			l.calls[index][f.Calls[j].Inst] = &f.Calls[j]
		}
	}
	l.nodeOf[index] = make([]int, len(g.Code.Insts))
	for i := range l.nodeOf[index] {
		l.nodeOf[index][i] = -1
	}
	for _, b := range g.Blocks {
		first := b.First
		for i := b.First; i <= b.Last; i++ {
			l.nodeOf[index][i] = len(l.Nodes)
			if i == b.Last || l.calls[index][i] != nil {
				l.Nodes = append(l.Nodes, Node{index, first, i})
				first = i + 1
			}
		}
	}
}

// callees returns the functions of the program that the last instruction of a node calls.
func (l *superLinker) callees(n Node) (list []funcRef, calls bool) {
	c := l.calls[n.Graph][n.Last]
	if c == nil {
		return nil, false
	}
	for _, f := range c.Callees {
		list = append(list, funcRef{n.Graph, f})
	}
	for _, f := range c.Remote {
		if ref, ok := l.funcs[f]; ok {
			list = append(list, ref)
		}
	}
	return list, true
}

// linkCalls makes the edges of calls and notes where they come back.
func (l *superLinker) linkCalls() {
	for id, n := range l.Nodes {
		list, calls := l.callees(n)
		if !calls {
			continue
		}
		behind := l.following(n)
		if l.behind[id] = behind; behind < 0 {
			l.behind[id] = l.Shape.Exit
		}
		for _, f := range list {
			g := l.graphs[f.graph]
			l.edge(id, l.NodeAt(f.graph, g.Blocks[g.Funcs[f.fn].Entry].First))
			if behind >= 0 {
				l.sites[f] = append(l.sites[f], behind)
			}
		}
		if len(list) == 0 || !l.graphs[n.Graph].Code.Insts[n.Last].Guard.Always() {
			if behind >= 0 {
				l.edge(id, behind)
			} else {
				l.edge(id, l.Shape.Exit)
			}
		}
	}
}

// following returns the node behind a node in its section, -1 where there is none.
func (l *superLinker) following(n Node) int {
	if of := l.nodeOf[n.Graph]; n.Last+1 < len(of) {
		return of[n.Last+1]
	}
	return -1
}

// passSites gives functions that others jump to the places where those return.
func (l *superLinker) passSites() {
	jumps := make(map[funcRef][]funcRef)
	var work []funcRef
	for i, g := range l.graphs {
		for _, b := range g.Blocks {
			for _, to := range b.Succs {
				if from := (funcRef{i, b.Func}); g.Blocks[to].Func != b.Func {
					jumps[from] = append(jumps[from], funcRef{i, g.Blocks[to].Func})
					work = append(work, from)
				}
			}
		}
	}
	for len(work) > 0 {
		from := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range jumps[from] {
			if union := merge(l.sites[to], l.sites[from]); len(union) > len(l.sites[to]) {
				l.sites[to] = union
				work = append(work, to)
			}
		}
	}
}

// merge appends what is in more and not in list.
func merge(list, more []int) []int {
	has := make(map[int]bool, len(list))
	for _, x := range list {
		has[x] = true
	}
	for _, x := range more {
		if !has[x] {
			has[x] = true
			list = append(list, x)
		}
	}
	return list
}

// linkNodes makes the edges inside functions, of returns and to the exit.
func (l *superLinker) linkNodes() error {
	returns := 0
	for id, n := range l.Nodes {
		g := l.graphs[n.Graph]
		b := g.Block(n.Last)
		l.Shape.Barrier[id] = waits(g.Code.Insts[n.First : n.Last+1])
		if n.Last != b.Last {
			continue // divided behind a call
		}
		if _, calls := l.callees(n); calls {
			continue
		}
		for _, to := range b.Succs {
			l.edge(id, l.NodeAt(n.Graph, g.Blocks[to].First))
		}
		sites := l.sites[funcRef{n.Graph, b.Func}]
		if !b.Exits {
			continue
		}
		if g.Code.Insts[n.Last].Op != sass.RET || len(sites) == 0 {
			l.edge(id, l.Shape.Exit)
			continue
		}
		if returns += len(sites); returns > maxReturnEdges {
			return fmt.Errorf("section %s: more than %d ways to return", g.Code.Name, maxReturnEdges)
		}
		for _, site := range sites {
			l.edge(id, site)
		}
	}
	return nil
}

func (l *superLinker) edge(from, to int) { l.Shape.Succs[from] = append(l.Shape.Succs[from], to) }
