package cuda

import "slices"

// A graph is a CUgraph: works and what each comes after.
type graph struct {
	handle uint64
	nodes  []*node // in the order in which they were added
	users  users
	within *graph // of whose conditional node it is a body, nil for another one
}

// A node is a CUgraphNode.
type node struct {
	handle  uint64
	graph   *graph
	work    work
	after   []*node
	origin  *node       // that it was cloned from
	readout *allocation // what cuGraphKernelNodeGetParams points to, nil until then
}

// A nodeKind is a CUgraphNodeType.
type nodeKind uint32

const (
	kernelNode      nodeKind = 0
	copyNode        nodeKind = 1
	setNode         nodeKind = 2
	hostNode        nodeKind = 3
	childNode       nodeKind = 4
	emptyNode       nodeKind = 5
	eventWaitNode   nodeKind = 6
	eventRecordNode nodeKind = 7
	memoryAllocNode nodeKind = 10
	memoryFreeNode  nodeKind = 11
	conditionalNode nodeKind = 13
)

// A childWork does the works of another graph, a copy of which belongs to the node.
type childWork struct{ graph *graph }

func (*childWork) kind() nodeKind { return childNode }

// run is not called: [stepsOf] takes the graph apart.
func (w *childWork) run(*call) Result { return ErrUnknown }

// An emptyWork does nothing.
type emptyWork struct{}

func (emptyWork) kind() nodeKind   { return emptyNode }
func (emptyWork) run(*call) Result { return Success }

var graphFunctions = []function{
	{"cuGraphCreate", "pi", initialized, graphCreate},
	{"cuGraphDestroy", "n", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.releaseUsers(c.dropGraph(g)) })},
	{"cuGraphClone", "pn", initialized, graphClone},
	{"cuGraphNodeFindInClone", "pnn", initialized, nodeFindInClone},
	{"cuGraphGetNodes", "nop", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.listNodes(g.nodes, c.a[1], 0, c.a[2]) })},
	{"cuGraphGetRootNodes", "nop", initialized, ofGraph(0, graphRoots)},
	{"cuGraphGetEdges", "noop", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.listEdges(g, 0, c.a[3]) })},
	{"cuGraphGetEdges_v2", "nooop", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.listEdges(g, c.a[3], c.a[4]) })},
	{"cuGraphNodeGetType", "np", initialized, ofNode(0, func(c *call, n *node) Result { return c.out32(c.a[1], uint32(n.work.kind())) })},
	{"cuGraphNodeGetDependencies", "nop", initialized, ofNode(0, func(c *call, n *node) Result { return c.listNodes(n.after, c.a[1], 0, c.a[2]) })},
	{"cuGraphNodeGetDependencies_v2", "noop", initialized, ofNode(0, func(c *call, n *node) Result { return c.listNodes(n.after, c.a[1], c.a[2], c.a[3]) })},
	{"cuGraphNodeGetDependentNodes", "nop", initialized, ofNode(0, func(c *call, n *node) Result { return c.listNodes(n.dependents(), c.a[1], 0, c.a[2]) })},
	{"cuGraphNodeGetDependentNodes_v2", "noop", initialized, ofNode(0, func(c *call, n *node) Result { return c.listNodes(n.dependents(), c.a[1], c.a[2], c.a[3]) })},
	{"cuGraphAddDependencies", "noon", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.changeEdges(g, c.a[3], addEdge) })},
	{"cuGraphAddDependencies_v2", "nooon", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.changeEdges(g, c.a[4], addEdge) })},
	{"cuGraphRemoveDependencies", "noon", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.changeEdges(g, c.a[3], removeEdge) })},
	{"cuGraphRemoveDependencies_v2", "nooon", initialized, ofGraph(0, func(c *call, g *graph) Result { return c.changeEdges(g, c.a[4], removeEdge) })},
	{"cuGraphDestroyNode", "n", initialized, ofNode(0, nodeDestroy)},
	{"cuGraphDebugDotPrint", "npi", initialized, ofGraph(0, graphPrint)},
}

func (p *process) newGraph() *graph {
	g := &graph{}
	g.handle = p.add(g)
	return g
}

func graphCreate(c *call) Result {
	if c.a[1] != 0 {
		return ErrInvalidValue
	}
	return c.out64(c.a[0], c.newGraph().handle)
}

func (c *call) graphOf(handle uint64) (*graph, Result) {
	g, ok := find[*graph](c.process, handle)
	if !ok {
		return nil, ErrInvalidValue
	}
	return g, Success
}

// ofGraph finds the graph that an argument names.
func ofGraph(arg int, run func(*call, *graph) Result) func(*call) Result {
	return func(c *call) Result {
		g, r := c.graphOf(c.a[arg])
		if r != Success {
			return r
		}
		return run(c, g)
	}
}

// ofNode finds the node that an argument names.
func ofNode(arg int, run func(*call, *node) Result) func(*call) Result {
	return func(c *call) Result {
		n, ok := find[*node](c.process, c.a[arg])
		if !ok {
			return ErrInvalidValue
		}
		return run(c, n)
	}
}

// maxNodes bounds the nodes that one call names.
const maxNodes = 1 << 20

// nodesAt reads an array of nodes.
func (c *call) nodesAt(addr, count uint64) ([]*node, Result) {
	if count == 0 {
		return nil, Success
	}
	if addr == 0 || count > maxNodes {
		return nil, ErrInvalidValue
	}
	handles, r := c.words(addr, int(count))
	if r != Success {
		return nil, r
	}
	list := make([]*node, count)
	for i, handle := range handles {
		var ok bool
		if list[i], ok = find[*node](c.process, handle); !ok {
			return nil, ErrInvalidValue
		}
	}
	return list, Success
}

// addNode adds a node to a graph.
func (c *call) addNode(g *graph, after []*node, w work) (*node, Result) {
	for i, d := range after {
		if d.graph != g || slices.Contains(after[:i], d) {
			return nil, ErrInvalidValue
		}
	}
	n := &node{graph: g, work: w, after: slices.Clone(after)}
	n.handle = c.add(n)
	holdWork(w)
	g.nodes = append(g.nodes, n)
	return n, Success
}

// dropGraph forgets a graph and its nodes, and returns the user objects that it and the graphs in it had. What has been instantiated of it lives on.
func (c *call) dropGraph(g *graph) users {
	list := g.users
	g.users = nil
	for _, n := range g.nodes {
		list = list.with(c.dropNode(n))
	}
	delete(c.handles, g.handle)
	return list
}

// inner are the graphs that a work has.
func inner(w work) []*graph {
	switch w := w.(type) {
	case *childWork:
		return []*graph{w.graph}
	case *conditionalWork:
		return w.bodies
	}
	return nil
}

// allUsers are the user objects of a graph and the graphs in it.
func (g *graph) allUsers() users {
	list := g.users.with(nil)
	for _, n := range g.nodes {
		for _, k := range inner(n.work) {
			list = list.with(k.allUsers())
		}
	}
	return list
}

func (c *call) dropNode(n *node) users {
	var list users
	for _, g := range inner(n.work) {
		list = list.with(c.dropGraph(g))
	}
	if w, ok := n.work.(*conditionalWork); ok {
		delete(c.handles, w.condition.handle)
	}
	c.leaveWork(n.work)
	if n.readout != nil {
		c.drop(n.readout)
		n.readout = nil
	}
	delete(c.handles, n.handle)
	return list
}

func nodeDestroy(c *call, n *node) Result {
	if n.graph.hasMemory() {
		return ErrNotSupported
	}
	for _, d := range n.dependents() {
		d.after = slices.DeleteFunc(d.after, func(m *node) bool { return m == n })
	}
	n.graph.nodes = slices.DeleteFunc(n.graph.nodes, func(m *node) bool { return m == n })
	return c.releaseUsers(c.dropNode(n))
}

// graphClone: copy, graph. What allocates memory is there once, and so are conditions.
func graphClone(c *call) Result {
	g, r := c.graphOf(c.a[1])
	if r != Success {
		return r
	}
	if !g.copyable() {
		return ErrNotSupported
	}
	return c.out64(c.a[0], c.clone(g).handle)
}

// copyable says whether a graph and the graphs in it can be copied.
func (g *graph) copyable() bool {
	if g.has(memoryAllocNode, memoryFreeNode, conditionalNode) {
		return false
	}
	for _, n := range g.nodes {
		if w, ok := n.work.(*childWork); ok && !w.graph.copyable() {
			return false
		}
	}
	return true
}

// clone copies a graph with all graphs in it.
func (c *call) clone(g *graph) *graph {
	k := c.newGraph()
	of := make(map[*node]*node)
	for _, n := range g.nodes {
		m := &node{graph: k, origin: n, work: n.work}
		if w, ok := n.work.(*childWork); ok {
			m.work = &childWork{c.clone(w.graph)}
		}
		m.handle = c.add(m)
		of[n] = m
		k.nodes = append(k.nodes, m)
	}
	for _, n := range g.nodes {
		for _, d := range n.after {
			of[n].after = append(of[n].after, of[d])
		}
	}
	for u, count := range g.users {
		u.count += count
		k.keep(u, count)
	}
	return k
}

func nodeFindInClone(c *call) Result {
	n, ok := find[*node](c.process, c.a[1])
	g, r := c.graphOf(c.a[2])
	if !ok || r != Success {
		return ErrInvalidValue
	}
	for _, m := range g.nodes {
		if m.origin == n {
			return c.out64(c.a[0], m.handle)
		}
	}
	return ErrInvalidValue
}

// dependents are the nodes that come after one.
func (n *node) dependents() []*node {
	var list []*node
	for _, m := range n.graph.nodes {
		if slices.Contains(m.after, n) {
			list = append(list, m)
		}
	}
	return list
}

func graphRoots(c *call, g *graph) Result {
	var list []*node
	for _, n := range g.nodes {
		if len(n.after) == 0 {
			list = append(list, n)
		}
	}
	return c.listNodes(list, c.a[1], 0, c.a[2])
}

// edgeBytes is the size of CUgraphEdgeData, which is zero for every edge: there is one kind of dependency.
const edgeBytes = 8

// listNodes returns handles of nodes: as many as the count says that there is room for, zeros in the rest; their number where there is no list.
func (c *call) listNodes(list []*node, to, edges, count uint64) Result {
	handles := make([]uint64, len(list))
	for i, n := range list {
		handles[i] = n.handle
	}
	return c.listHandles([][]uint64{handles}, []uint64{to}, edges, count)
}

// listHandles is listNodes for several lists of the same length.
func (c *call) listHandles(lists [][]uint64, to []uint64, edges, count uint64) Result {
	all := uint64(len(lists[0]))
	if to[0] == 0 {
		return c.out64(count, all)
	}
	room, r := c.words(count, 1)
	if r != Success {
		return r
	}
	n := min(room[0], maxNodes)
	for i, list := range lists {
		var b []byte
		for j := range n {
			v := uint64(0)
			if j < all {
				v = list[j]
			}
			b = le.AppendUint64(b, v)
		}
		c.out(to[i], b)
	}
	if edges != 0 {
		c.out(edges, make([]byte, edgeBytes*min(n, all)))
	}
	return c.out64(count, min(n, all))
}

func (c *call) listEdges(g *graph, edges, count uint64) Result {
	var from, to []uint64
	for _, n := range g.nodes {
		for _, d := range n.after {
			from, to = append(from, d.handle), append(to, n.handle)
		}
	}
	if (c.a[1] == 0) != (c.a[2] == 0) {
		return ErrInvalidValue
	}
	return c.listHandles([][]uint64{from, to}, []uint64{c.a[1], c.a[2]}, edges, count)
}

// changeEdges adds or removes dependencies: graph, from, to.
func (c *call) changeEdges(g *graph, count uint64, change func(from, to *node) Result) Result {
	from, r := c.nodesAt(c.a[1], count)
	if r != Success {
		return r
	}
	to, r := c.nodesAt(c.a[2], count)
	if r != Success {
		return r
	}
	for i := range from {
		if from[i].graph != g || to[i].graph != g || from[i] == to[i] {
			return ErrInvalidValue
		}
		if r := change(from[i], to[i]); r != Success {
			return r
		}
	}
	return Success
}

func addEdge(from, to *node) Result {
	if slices.Contains(to.after, from) {
		return ErrInvalidValue
	}
	to.after = append(to.after, from)
	return Success
}

func removeEdge(from, to *node) Result {
	if to.graph.hasMemory() {
		return ErrNotSupported
	}
	i := slices.Index(to.after, from)
	if i < 0 {
		return ErrInvalidValue
	}
	to.after = slices.Delete(to.after, i, i+1)
	return Success
}

// ordered returns the nodes so that each comes after what it depends on, and else as they were added. It fails where they depend on each
// other.
func (g *graph) ordered() ([]*node, bool) {
	placed := make(map[*node]bool)
	list := make([]*node, 0, len(g.nodes))
	waiting := g.nodes
	for len(waiting) > 0 {
		var left []*node
		for _, n := range waiting {
			if slices.ContainsFunc(n.after, func(d *node) bool { return !placed[d] }) {
				left = append(left, n)
				continue
			}
			placed[n] = true
			list = append(list, n)
		}
		if len(left) == len(waiting) {
			return nil, false
		}
		waiting = left
	}
	return list, true
}
