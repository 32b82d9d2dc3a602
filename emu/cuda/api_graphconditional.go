package cuda

import "sync/atomic"

// A condition is a CUgraphConditionalHandle: a value that kernels set (cudaGraphSetConditional) and a node of the same graph depends on.
type condition struct {
	handle  uint64
	graph   uint64
	initial uint32
	assign  bool // the initial value at the beginning of every launch
	used    bool // by a node
	value   atomic.Uint32
}

// A conditionalWork does one of several graphs, or one again and again.
type conditionalWork struct {
	condition *condition
	form      uint32
	bodies    []*graph
}

// What a conditional node does (CUgraphConditionalNodeType).
const (
	conditionalIf     = 0 // the first body where the value is not 0, else the second if there is one
	conditionalWhile  = 1 // its body while the value is not 0
	conditionalSwitch = 2 // the body whose number the value is, if there is one
)

func (*conditionalWork) kind() nodeKind { return conditionalNode }

// run is not called: [stepsOf] takes the graphs apart.
func (*conditionalWork) run(*call) Result { return ErrUnknown }

// runConditional does what the condition says, with the steps of the bodies.
func (c *call) runConditional(w *conditionalWork, bodies [][]*step) Result {
	value := w.condition.value.Load()
	switch {
	case w.form == conditionalWhile:
		for ; value != 0; value = w.condition.value.Load() {
			if r := c.runSteps(bodies[0]); r != Success {
				return r
			}
			if c.server.ctx.Err() != nil {
				return ErrUnknown // gpa ends
			}
		}
		return Success
	case w.form == conditionalIf && value != 0:
		value = 0
	case w.form == conditionalIf:
		value = 1
	}
	if uint64(value) >= uint64(len(bodies)) {
		return Success
	}
	return c.runSteps(bodies[value])
}

// setCondition is what a kernel decides.
func (c *call) setCondition(handle uint64, value uint32) {
	if d, ok := find[*condition](c.process, handle); ok {
		d.value.Store(value)
	}
}

var conditionalFunctions = []function{
	{"cuGraphConditionalHandleCreate", "pnoii", initialized, conditionCreate},
}

var conditionalRuntimeFunctions = []function{
	{"cudaGraphConditionalHandleCreate", "pnii", runtimeContext, func(c *call) Result {
		c.a[3], c.a[4] = c.a[2], c.a[3] // the driver's has a context before these
		return conditionCreate(c)
	}},
}

// conditionCreate: handle, graph, context, initial value, flags.
func conditionCreate(c *call) Result {
	const assignDefault = 1
	if _, r := c.graphOf(c.a[1]); r != Success {
		return r
	}
	if c.a[4]&^assignDefault != 0 {
		return ErrInvalidValue
	}
	d := &condition{graph: c.a[1], initial: uint32(c.a[3]), assign: c.a[4] == assignDefault}
	d.handle = c.add(d)
	return c.out64(c.a[0], d.handle)
}

// Places in CUDA_CONDITIONAL_NODE_PARAMS: handle, form, number of graphs, their list for the answer, context.
const (
	conditionalForm   = 8
	conditionalCount  = 12
	conditionalGraphs = 16
	conditionalParams = 32
	maxBodies         = 1 << 16
)

// inside reports whether a graph is the one of a handle, or the body of a conditional node somewhere in it, which may depend on its conditions too.
func (g *graph) inside(handle uint64) bool {
	for ; g != nil; g = g.within {
		if g.handle == handle {
			return true
		}
	}
	return false
}

// conditionalOf reads a CUDA_CONDITIONAL_NODE_PARAMS, makes empty graphs for the bodies and puts their list into it.
func conditionalOf(c *call, addr uint64) (work, Result) {
	var b [conditionalParams]byte
	if r := c.load(addr, b[:]); r != Success {
		return nil, r
	}
	d, ok := find[*condition](c.process, le.Uint64(b[:]))
	host, r := c.graphOf(c.a[1])
	if r != Success {
		return nil, r
	}
	form, count := le.Uint32(b[conditionalForm:]), le.Uint32(b[conditionalCount:])
	most := map[uint32]uint32{conditionalIf: 2, conditionalWhile: 1, conditionalSwitch: maxBodies}[form]
	if !ok || d.used || !host.inside(d.graph) || count == 0 || count > most {
		return nil, ErrInvalidValue
	}
	w := &conditionalWork{condition: d, form: form}
	var handles []byte
	for range count {
		g := c.newGraph()
		g.within = host
		w.bodies = append(w.bodies, g)
		handles = le.AppendUint64(handles, g.handle)
	}
	list, r := c.constant(string(handles))
	if r != Success {
		for _, g := range w.bodies {
			c.dropGraph(g)
		}
		return nil, r
	}
	d.used = true
	c.out64(addr+conditionalGraphs, list)
	return w, Success
}
