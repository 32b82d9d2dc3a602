package cuda

// Functions that make nodes have the node, the graph, what it comes after and how many as their first arguments; _v2 of cuGraphAddNode has
// edge data before the count.
var graphNodeFunctions = []function{
	{"cuGraphAddKernelNode", "pnonp", initialized, addNodeOf(kernelOf)},
	{"cuGraphAddKernelNode_v2", "pnonp", initialized, addNodeOf(kernelOf)},
	{"cuGraphKernelNodeGetParams", "np", initialized, ofNode(0, func(c *call, n *node) Result { return c.kernelReadout(n, kernelParamsV1) })},
	{"cuGraphKernelNodeGetParams_v2", "np", initialized, ofNode(0, func(c *call, n *node) Result { return c.kernelReadout(n, kernelParams) })},
	{"cuGraphKernelNodeSetParams", "np", initialized, ofNode(0, setNodeTo(kernelOf))},
	{"cuGraphKernelNodeSetParams_v2", "np", initialized, ofNode(0, setNodeTo(kernelOf))},
	{"cuGraphKernelNodeSetAttribute", "nip", initialized, ofNode(0, kernelNodeSetAttribute)},
	{"cuGraphKernelNodeGetAttribute", "nip", initialized, ofNode(0, kernelNodeAttribute)},
	{"cuGraphKernelNodeCopyAttributes", "nn", initialized, ofNode(0, kernelNodeCopyAttributes)},
	{"cuGraphAddMemcpyNode", "pnonpn", initialized, addNodeOf(copyNodeOf)},
	{"cuGraphMemcpyNodeGetParams", "np", initialized, ofNode(0, copyReadout)},
	{"cuGraphMemcpyNodeSetParams", "np", initialized, ofNode(0, setNodeTo(copyNodeOf))},
	{"cuGraphAddMemsetNode", "pnonpn", initialized, addNodeOf(setOf)},
	{"cuGraphMemsetNodeGetParams", "np", initialized, ofNode(0, setReadout)},
	{"cuGraphMemsetNodeSetParams", "np", initialized, ofNode(0, setNodeTo(setOf))},
	{"cuGraphAddHostNode", "pnonp", initialized, addNodeOf(hostOf)},
	{"cuGraphHostNodeGetParams", "np", initialized, ofNode(0, hostReadout)},
	{"cuGraphHostNodeSetParams", "np", initialized, ofNode(0, setNodeTo(hostOf))},
	{"cuGraphAddChildGraphNode", "pnonn", initialized, addNodeOf(childOf)},
	{"cuGraphChildGraphNodeGetGraph", "np", initialized, ofNode(0, childReadout)},
	{"cuGraphAddEmptyNode", "pnon", initialized, addNodeOf(func(*call, uint64) (work, Result) { return emptyWork{}, Success })},
	{"cuGraphAddEventRecordNode", "pnonn", initialized, addNodeOf(eventOf(true))},
	{"cuGraphEventRecordNodeGetEvent", "np", initialized, ofNode(0, eventReadout)},
	{"cuGraphEventRecordNodeSetEvent", "nn", initialized, ofNode(0, setNodeTo(eventOf(true)))},
	{"cuGraphAddEventWaitNode", "pnonn", initialized, addNodeOf(eventOf(false))},
	{"cuGraphEventWaitNodeGetEvent", "np", initialized, ofNode(0, eventReadout)},
	{"cuGraphEventWaitNodeSetEvent", "nn", initialized, ofNode(0, setNodeTo(eventOf(false)))},
	{"cuGraphAddNode", "pnonp", initialized, addNodeOf(newOf)},
	{"cuGraphAddNode_v2", "pnoonp", initialized, func(c *call) Result { c.a[3], c.a[4] = c.a[4], c.a[5]; return addNodeOf(newOf)(c) }},
	{"cuGraphNodeSetParams", "np", initialized, ofNode(0, setNodeTo(anyOf))},
}

// A reader makes work of what an argument is or points to.
type reader func(c *call, arg uint64) (work, Result)

func addNodeOf(read reader) func(*call) Result {
	return func(c *call) Result {
		g, r := c.graphOf(c.a[1])
		if r != Success {
			return r
		}
		after, r := c.nodesAt(c.a[2], c.a[3])
		if r != Success {
			return r
		}
		w, r := read(c, c.a[4])
		if r != Success {
			return r
		}
		n, r := c.addNode(g, after, w)
		if r != Success {
			return r
		}
		return c.out64(c.a[0], n.handle)
	}
}

// setNodeTo gives a node other work of its kind.
func setNodeTo(read reader) func(*call, *node) Result {
	return func(c *call, n *node) Result {
		w, r := read(c, c.a[1])
		if r != Success {
			return r
		}
		if w.kind() != n.work.kind() {
			return ErrInvalidValue
		}
		var gone users
		if old, ok := n.work.(*childWork); ok {
			gone = c.dropGraph(old.graph)
		}
		n.work = keepAttributes(w, n.work)
		return c.releaseUsers(gone)
	}
}

// keepAttributes gives a kernel the attributes of that whose place it takes: they are the node's.
func keepAttributes(w, old work) work {
	k, ok := w.(*kernelWork)
	o, ok2 := old.(*kernelWork)
	if ok && ok2 {
		k.cooperative, k.cluster = o.cooperative, o.cluster
	}
	return w
}

// The size of CUDA_KERNEL_NODE_PARAMS: function, grid, block, shared memory, parameters, options; and since 12.0 kernel and context.
const (
	kernelParamsV1 = 56
	kernelParams   = 72
)

func kernelOf(c *call, addr uint64) (work, Result) {
	var b [kernelParams]byte
	if r := c.load(addr, b[:kernelParamsV1]); r != Success {
		return nil, r
	}
	handle := le.Uint64(b[:])
	if handle == 0 { // a CUkernel, which is given in place of the function
		if r := c.load(addr, b[:]); r != Success {
			return nil, r
		}
		handle = le.Uint64(b[56:])
	}
	var shape [6]uint64
	for i := range shape {
		shape[i] = uint64(le.Uint32(b[8+4*i:]))
	}
	q := &request{shared: le.Uint32(b[32:]), parameters: le.Uint64(b[40:]), extra: le.Uint64(b[48:])}
	q.shape(shape[:])
	w, r := c.kernelWorkOf(q, handle)
	return w, r
}

// kernelReadout returns the parameters of a kernel node. What they point to belongs to the node: addresses of the parameters, and these behind them.
func (c *call) kernelReadout(n *node, size int) Result {
	w, ok := n.work.(*kernelWork)
	if !ok {
		return ErrInvalidValue
	}
	if r := c.mapDevice(); r != Success {
		return r
	}
	params := passed(w.function.kernel)
	list := 8 * len(params)
	if n.readout == nil || n.readout.size < uint64(list+len(w.params)) {
		a, err := c.device.take(uint64(list+len(w.params)+8), stagingMemory, "parameters")
		if err != nil {
			return ErrOutOfMemory
		}
		if n.readout != nil {
			c.drop(n.readout)
		}
		n.readout = a
	}
	a := n.readout
	for i, p := range params {
		le.PutUint64(a.data[8*i:], a.addr+uint64(list+p.Offset))
	}
	copy(a.data[list:], w.params)
	b := make([]byte, kernelParams)
	le.PutUint64(b, w.function.handle)
	for i := range 3 {
		le.PutUint32(b[8+4*i:], uint32(w.grid[i]))
		le.PutUint32(b[20+4*i:], uint32(w.block[i]))
	}
	le.PutUint32(b[32:], w.shared)
	le.PutUint64(b[40:], a.addr)
	if x := w.function.module.context; x != nil {
		le.PutUint64(b[64:], x.handle)
	}
	return c.out(c.a[1], b[:size])
}

// kernelNodeSetAttribute: node, attribute, value.
func kernelNodeSetAttribute(c *call, n *node) Result {
	w, ok := n.work.(*kernelWork)
	if !ok {
		return ErrInvalidValue
	}
	var b [attributeSize]byte
	le.PutUint32(b[:], uint32(c.a[1]))
	if r := c.load(c.a[2], b[attributeValue:]); r != Success {
		return r
	}
	changed := *w
	if r := c.launchAttribute(&changed.request, b[:]); r != Success {
		return r
	}
	n.work = &changed
	return Success
}

func kernelNodeAttribute(c *call, n *node) Result {
	w, ok := n.work.(*kernelWork)
	if !ok || c.a[1] > attributeLast {
		return ErrInvalidValue
	}
	var b [attributeSize - attributeValue]byte
	switch c.a[1] {
	case attributeCooperative:
		le.PutUint32(b[:], uint32(btoi(w.cooperative)))
	case attributeCluster:
		for i, v := range w.cluster {
			le.PutUint32(b[4*i:], uint32(v))
		}
	}
	return c.out(c.a[2], b[:])
}

// kernelNodeCopyAttributes: to, from.
func kernelNodeCopyAttributes(c *call, to *node) Result {
	from, ok := find[*node](c.process, c.a[1])
	if !ok || from.work.kind() != kernelNode || to.work.kind() != kernelNode {
		return ErrInvalidValue
	}
	k := *to.work.(*kernelWork)
	to.work = keepAttributes(&k, from.work)
	return Success
}

func copyNodeOf(c *call, addr uint64) (work, Result) {
	w, r := c.copyOf(addr)
	return w, r
}

func copyReadout(c *call, n *node) Result {
	w, ok := n.work.(*copyWork)
	if !ok {
		return ErrInvalidValue
	}
	var b []byte
	for _, v := range w.words() {
		b = le.AppendUint64(b, v)
	}
	return c.out(c.a[1], b)
}

// setBytes is the size of CUDA_MEMSET_NODE_PARAMS: address, pitch, value, size of an element, width, height.
const setBytes = 40

func setOf(c *call, addr uint64) (work, Result) {
	var b [setBytes]byte
	if r := c.load(addr, b[:]); r != Success {
		return nil, r
	}
	w := &setWork{to: le.Uint64(b[0:]), pitch: le.Uint64(b[8:]), value: uint64(le.Uint32(b[16:])), size: uint64(le.Uint32(b[20:])),
		width: le.Uint64(b[24:]), height: le.Uint64(b[32:])}
	if w.size != 1 && w.size != 2 && w.size != 4 || w.width == 0 || w.height == 0 || w.to == 0 {
		return nil, ErrInvalidValue
	}
	return w, Success
}

func setReadout(c *call, n *node) Result {
	w, ok := n.work.(*setWork)
	if !ok {
		return ErrInvalidValue
	}
	b := make([]byte, setBytes)
	le.PutUint64(b[0:], w.to)
	le.PutUint64(b[8:], w.pitch)
	le.PutUint32(b[16:], uint32(w.value))
	le.PutUint32(b[20:], uint32(w.size))
	le.PutUint64(b[24:], w.width)
	le.PutUint64(b[32:], w.height)
	return c.out(c.a[1], b)
}

func hostOf(c *call, addr uint64) (work, Result) {
	w, r := c.words(addr, 2)
	if r == Success && w[0] == 0 {
		r = ErrInvalidValue
	}
	if r != Success {
		return nil, r
	}
	return &hostWork{w[0], w[1]}, Success
}

func hostReadout(c *call, n *node) Result {
	w, ok := n.work.(*hostWork)
	if !ok {
		return ErrInvalidValue
	}
	return c.out(c.a[1], le.AppendUint64(le.AppendUint64(nil, w.function), w.argument))
}

// childOf makes a copy of the graph whose handle the argument is.
func childOf(c *call, handle uint64) (work, Result) {
	g, r := c.graphOf(handle)
	if r != Success {
		return nil, r
	}
	if !g.copyable() {
		return nil, ErrNotSupported
	}
	return &childWork{c.clone(g)}, Success
}

func childReadout(c *call, n *node) Result {
	w, ok := n.work.(*childWork)
	if !ok {
		return ErrInvalidValue
	}
	return c.out64(c.a[1], w.graph.handle)
}

func eventOf(record bool) reader {
	return func(c *call, handle uint64) (work, Result) {
		e, ok := find[*event](c.process, handle)
		if !ok {
			return nil, ErrInvalidHandle
		}
		return &eventWork{event: e, record: record}, Success
	}
}

func eventReadout(c *call, n *node) Result {
	w, ok := n.work.(*eventWork)
	if !ok {
		return ErrInvalidValue
	}
	return c.out64(c.a[1], w.event.handle)
}

// Where parameters lie in CUgraphNodeParams, behind the type of the node, and CUDA_MEMCPY3D in CUDA_MEMCPY_NODE_PARAMS.
const (
	anyParams  = 16
	copyParams = 16
)

// newOf reads a CUgraphNodeParams of a node that is being made: those of some nodes have an answer in them.
func newOf(c *call, addr uint64) (work, Result) {
	var b [anyParams + 8]byte
	if r := c.load(addr, b[:]); r != Success {
		return nil, r
	}
	switch nodeKind(le.Uint32(b[:])) {
	case copyNode:
		if c.library != driverLibrary { // whose structure of a copy is another one
			return nil, c.lackOf("with a copy")
		}
	case memoryAllocNode:
		return allocOf(c, addr+anyParams)
	case memoryFreeNode:
		return freeOf(c, le.Uint64(b[anyParams:]))
	case conditionalNode:
		return conditionalOf(c, addr+anyParams)
	}
	return anyOf(c, addr)
}

// anyOf reads a CUgraphNodeParams of a node that can have others.
func anyOf(c *call, addr uint64) (work, Result) {
	var b [anyParams + 8]byte
	if r := c.load(addr, b[:]); r != Success {
		return nil, r
	}
	first := le.Uint64(b[anyParams:])
	switch kind := nodeKind(le.Uint32(b[:])); kind {
	case kernelNode:
		return kernelOf(c, addr+anyParams)
	case copyNode:
		return copyNodeOf(c, addr+anyParams+copyParams)
	case setNode:
		return setOf(c, addr+anyParams)
	case hostNode:
		return hostOf(c, addr+anyParams)
	case childNode:
		return childOf(c, first)
	case emptyNode:
		return emptyWork{}, Success
	case eventWaitNode, eventRecordNode:
		return eventOf(kind == eventRecordNode)(c, first)
	}
	return nil, c.server.lack(c.function.name + " of other nodes than kernels, copies, sets, host functions, graphs and events")
}
