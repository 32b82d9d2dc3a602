package cuda

import "slices"

// A graphMemory is memory that a graph allocates. Its address is taken when the node is made and stays the same for every launch; what lies there can be
// reached from the node that allocates it to whatever frees it: another node, a node of another graph, or the program.
type graphMemory struct {
	place   *allocation
	params  [allocParams]byte // as the node was made with
	holders int               // graphs, and what was instantiated of them, that have the node
}

// Sizes and places in CUDA_MEM_ALLOC_NODE_PARAMS: CUmemPoolProps (type, handle types, location), access descriptions and their number, bytes, and the
// address for the answer.
const (
	allocParams  = 120
	allocAccess  = 88
	allocCount   = 96
	allocBytes   = 104
	allocAddress = 112
)

// A graphAllocWork allocates what a graph has a place for.
type graphAllocWork struct{ memory *graphMemory }

func (*graphAllocWork) kind() nodeKind { return memoryAllocNode }

func (w *graphAllocWork) run(c *call) Result {
	r := c.wake(w.memory.place)
	c.countGraphMemory()
	return r
}

// A graphFreeWork frees it.
type graphFreeWork struct{ addr uint64 }

func (*graphFreeWork) kind() nodeKind { return memoryFreeNode }

func (w *graphFreeWork) run(c *call) Result {
	a := c.graphMemoryAt(w.addr)
	if a == nil || a.dormant {
		return ErrInvalidValue
	}
	return c.sleep(a)
}

// graphMemoryAt finds what a graph allocates at an address, whether it is there now or not.
func (c *call) graphMemoryAt(addr uint64) *allocation {
	a := c.device.find(addr)
	if a == nil || a.addr != addr || a.graph == nil {
		return nil
	}
	return a
}

// graphAlloc takes a place for what a graph allocates, as CUDA_MEM_ALLOC_NODE_PARAMS says.
func (c *call) graphAlloc(params [allocParams]byte) (*graphAllocWork, Result) {
	const mostAccess = 64
	size := le.Uint64(params[allocBytes:])
	place := poolPlace{le.Uint32(params[0:]), le.Uint32(params[8:]), le.Uint32(params[12:])}
	switch count := le.Uint64(params[allocCount:]); {
	case size == 0 || !place.known() || count > mostAccess || count > 0 && le.Uint64(params[allocAccess:]) == 0:
		return nil, ErrInvalidValue
	case le.Uint32(params[4:]) != 0:
		return nil, c.server.lack(c.function.name + " with handles for other processes")
	case place.kind() != plainMemory:
		if r := c.mapDevice(); r != Success {
			return nil, r
		}
	}
	if err := c.open(); err != nil {
		c.server.problem(err)
		return nil, ErrOutOfMemory
	}
	a, err := c.device.take(size, place.kind(), c.function.name)
	if err != nil {
		c.server.problem(err)
		return nil, ErrOutOfMemory
	}
	le.PutUint64(params[allocAddress:], a.addr)
	a.context, a.dormant = c.context, true
	a.graph = &graphMemory{place: a, params: params}
	return &graphAllocWork{a.graph}, Success
}

// captureAlloc records an allocation of a captured stream, whose address it returns.
func (c *call) captureAlloc(s *stream, place poolPlace, to, size uint64) Result {
	var params [allocParams]byte
	le.PutUint32(params[0:], place.allocation)
	le.PutUint32(params[8:], place.location)
	le.PutUint32(params[12:], place.id)
	le.PutUint64(params[allocBytes:], size)
	w, r := c.graphAlloc(params)
	if r != Success {
		return r
	}
	if r := s.capture.record(c, s, w); r != Success {
		c.drop(w.memory.place)
		return r
	}
	return c.out64(to, w.memory.place.addr)
}

// holdWork notes that a node, or a step of what was instantiated, has a work: what its graph allocates stays while anybody has it.
func holdWork(w work) {
	if a, ok := w.(*graphAllocWork); ok {
		a.memory.holders++
	}
}

// leaveWork notes that it has it no more.
func (c *call) leaveWork(w work) {
	a, ok := w.(*graphAllocWork)
	if !ok {
		return
	}
	if a.memory.holders--; a.memory.holders == 0 && a.memory.place.dormant {
		c.drop(a.memory.place)
	}
}

// drop gives memory back that no kernel can reach.
func (p *process) drop(a *allocation) {
	if err := p.device.give(a); err != nil {
		p.server.problem(err)
	}
}

// wake lets kernels and copies reach what a graph allocates.
func (c *call) wake(a *allocation) Result {
	if !a.dormant {
		return ErrInvalidValue
	}
	if r := c.reach(a); r != Success {
		return r
	}
	a.dormant = false
	return Success
}

// sleep frees what a graph allocated. The place is kept for the next launch.
func (p *process) sleep(a *allocation) Result {
	if err := p.memory.Unmap(a.addr); err != nil {
		p.server.problem(err)
		return ErrUnknown
	}
	a.dormant = true
	if a.graph.holders > 0 {
		if err := p.device.discard(a); err != nil {
			p.server.problem(err)
		}
		return Success
	}
	p.drop(a)
	return Success
}

// hasMemory says whether nodes of a graph allocate or free memory: such a graph has one copy, and its nodes stay.
func (g *graph) hasMemory() bool { return g.has(memoryAllocNode, memoryFreeNode) }

// has says whether a graph has nodes of any of these kinds.
func (g *graph) has(kinds ...nodeKind) bool {
	return slices.ContainsFunc(g.nodes, func(n *node) bool { return slices.Contains(kinds, n.work.kind()) })
}

var graphMemoryFunctions = []function{
	{"cuGraphAddMemAllocNode", "pnonp", initialized, addNodeOf(allocOf)},
	{"cuGraphAddMemFreeNode", "pnonn", initialized, addNodeOf(freeOf)},
	{"cuGraphMemAllocNodeGetParams", "np", initialized, ofNode(0, memoryAllocReadout)},
	{"cuGraphMemFreeNodeGetParams", "np", initialized, ofNode(0, memoryFreeReadout)},
	{"cuDeviceGetGraphMemAttribute", "iip", initialized, ofDevice(0, graphMemoryAttribute)},
	{"cuDeviceSetGraphMemAttribute", "iip", initialized, ofDevice(0, graphMemorySetAttribute)},
	{"cuDeviceGraphMemTrim", "i", initialized, ofDevice(0, func(c *call) Result { c.countGraphMemory(); return Success })},
}

// allocOf reads a CUDA_MEM_ALLOC_NODE_PARAMS and puts the address into it.
func allocOf(c *call, addr uint64) (work, Result) {
	var params [allocParams]byte
	if r := c.load(addr, params[:]); r != Success {
		return nil, r
	}
	w, r := c.graphAlloc(params)
	if r != Success {
		return nil, r
	}
	c.out64(addr+allocAddress, w.memory.place.addr)
	return w, Success
}

// freeOf frees what a graph allocates at an address.
func freeOf(c *call, addr uint64) (work, Result) {
	if c.graphMemoryAt(addr) == nil {
		return nil, ErrInvalidValue
	}
	return &graphFreeWork{addr}, Success
}

func memoryAllocReadout(c *call, n *node) Result {
	w, ok := n.work.(*graphAllocWork)
	if !ok {
		return ErrInvalidValue
	}
	return c.out(c.a[1], w.memory.params[:])
}

func memoryFreeReadout(c *call, n *node) Result {
	w, ok := n.work.(*graphFreeWork)
	if !ok {
		return ErrInvalidValue
	}
	return c.out64(c.a[1], w.addr)
}

// Attributes of what graphs allocate (CUgraphMem_attribute): bytes that belong to graphs, and the most so far; bytes that are kept for
// them, which are the same here.
const (
	graphUsed         = 0
	graphUsedHigh     = 1
	graphReserved     = 2
	graphReservedHigh = 3
)

// countGraphMemory counts what belongs to graphs. As with the driver, what was freed counts until the next launch that allocates or the next trim.
func (c *call) countGraphMemory() {
	c.graphBytes = 0
	if c.device == nil {
		return
	}
	for _, a := range c.device.list {
		if a.graph != nil {
			c.graphBytes += a.size
		}
	}
	for i := range c.graphHigh {
		c.graphHigh[i] = max(c.graphHigh[i], c.graphBytes)
	}
}

func graphMemoryAttribute(c *call) Result {
	switch c.a[1] {
	case graphUsed, graphReserved:
		return c.out64(c.a[2], c.graphBytes)
	case graphUsedHigh, graphReservedHigh:
		return c.out64(c.a[2], c.graphHigh[c.a[1]/2])
	}
	return ErrInvalidValue
}

// graphMemorySetAttribute begins anew with the most so far.
func graphMemorySetAttribute(c *call) Result {
	w, r := c.words(c.a[2], 1)
	if r != Success {
		return r
	}
	if c.a[1] != graphUsedHigh && c.a[1] != graphReservedHigh || w[0] != 0 {
		return ErrInvalidValue
	}
	c.graphHigh[c.a[1]/2] = c.graphBytes
	return Success
}
