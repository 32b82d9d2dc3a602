package cuda

import "slices"

// A graphExec is a CUgraphExec: what the nodes of a graph were when it was instantiated, in an order in which they can be done.
type graphExec struct {
	handle uint64
	flags  uint64
	steps  []*step
	users  users
}

// A step is a node in a graphExec.
type step struct {
	node     *node
	work     work
	after    []int   // places in the list of steps
	steps    []*step // of the graph that the node stands for
	bodies   [][]*step
	disabled bool
}

var graphExecFunctions = []function{
	{"cuGraphInstantiate", "pnooo", currentContext, func(c *call) Result { return c.instantiate(c.a[1], 0) }},
	{"cuGraphInstantiate_v2", "pnooo", currentContext, func(c *call) Result { return c.instantiate(c.a[1], 0) }},
	{"cuGraphInstantiateWithFlags", "pnn", currentContext, func(c *call) Result { return c.instantiate(c.a[1], c.a[2]) }},
	{"cuGraphInstantiateWithParams", "pnp", currentContext, instantiateWith},
	{"cuGraphExecDestroy", "n", initialized, ofExec(execDestroy)},
	{"cuGraphExecGetFlags", "np", initialized, ofExec(func(c *call, e *graphExec) Result { return c.out64(c.a[1], e.flags) })},
	{"cuGraphUpload", "nn", currentContext, ofExec(func(c *call, _ *graphExec) Result { return onStream(1, done)(c) })},
	{"cuGraphLaunch", "nn", currentContext, ofExec(func(c *call, e *graphExec) Result { return c.submit(c.a[1], &execWork{e}) })},
	{"cuGraphExecUpdate", "noop", currentContext, ofExec(execUpdateV1)},
	{"cuGraphExecUpdate_v2", "nnp", currentContext, ofExec(execUpdate)},
	{"cuGraphExecKernelNodeSetParams", "nnp", initialized, ofStep(setStepTo(kernelOf))},
	{"cuGraphExecKernelNodeSetParams_v2", "nnp", initialized, ofStep(setStepTo(kernelOf))},
	{"cuGraphExecMemcpyNodeSetParams", "nnpn", initialized, ofStep(setStepTo(copyNodeOf))},
	{"cuGraphExecMemsetNodeSetParams", "nnpn", initialized, ofStep(setStepTo(setOf))},
	{"cuGraphExecHostNodeSetParams", "nnp", initialized, ofStep(setStepTo(hostOf))},
	{"cuGraphExecEventRecordNodeSetEvent", "nnn", initialized, ofStep(setStepTo(eventOf(true)))},
	{"cuGraphExecEventWaitNodeSetEvent", "nnn", initialized, ofStep(setStepTo(eventOf(false)))},
	{"cuGraphExecNodeSetParams", "nnp", initialized, ofStep(setStepTo(anyOf))},
	{"cuGraphExecChildGraphNodeSetParams", "nnn", initialized, ofStep(childSetParams)},
	{"cuGraphNodeSetEnabled", "nni", initialized, ofStep(func(c *call, s *step) Result { s.disabled = c.a[2] == 0; return Success })},
	{"cuGraphNodeGetEnabled", "nnp", initialized, ofStep(func(c *call, s *step) Result { return c.out32(c.a[2], uint32(btoi(!s.disabled))) })},
}

// Flags of graphs (CUgraphInstantiate_flags). Those without a name here make no difference. A graph for launches from the device can be launched by the
// host too.
const (
	instantiateAllowed  = 15
	instantiateAutoFree = 1
	instantiateDevice   = 4
)

// Why a graph was not instantiated (CUgraphInstantiateResult).
const invalidStructure = 2

func (c *call) instantiate(handle, flags uint64) Result {
	if flags&^instantiateAllowed != 0 {
		return ErrInvalidValue
	}
	g, r := c.graphOf(handle)
	if r != Success {
		return r
	}
	if flags&instantiateDevice != 0 && !g.onDevice() {
		return ErrNotSupported
	}
	steps, ok := stepsOf(g)
	if !ok {
		return ErrInvalidValue
	}
	e := &graphExec{flags: flags, steps: steps, users: g.allUsers().retain()}
	eachStep(steps, func(s *step) { holdWork(s.work) })
	e.handle = c.add(e)
	return c.out64(c.a[0], e.handle)
}

// instantiateWith takes a CUDA_GRAPH_INSTANTIATE_PARAMS: flags, stream, and for the answer a node and a result.
func instantiateWith(c *call) Result {
	w, r := c.words(c.a[2], 2)
	if r != Success {
		return r
	}
	r = c.instantiate(c.a[1], w[0])
	var b [12]byte
	if r == ErrInvalidValue {
		le.PutUint32(b[8:], invalidStructure)
		c.store(c.a[2]+16, b[:])
		return r
	}
	c.out(c.a[2]+16, b[:])
	return r
}

// stepsOf are the steps of a graph. ok is false where nodes depend on each other.
func stepsOf(g *graph) (steps []*step, ok bool) {
	nodes, ok := g.ordered()
	if !ok {
		return nil, false
	}
	for _, n := range nodes {
		s := &step{node: n, work: n.work}
		for _, d := range n.after {
			s.after = append(s.after, slices.Index(nodes, d))
		}
		slices.Sort(s.after)
		if w, child := n.work.(*childWork); child {
			if s.steps, ok = stepsOf(w.graph); !ok {
				return nil, false
			}
		}
		if w, conditional := n.work.(*conditionalWork); conditional {
			for _, body := range w.bodies {
				list, ok := stepsOf(body)
				if !ok {
					return nil, false
				}
				s.bodies = append(s.bodies, list)
			}
		}
		steps = append(steps, s)
	}
	return steps, true
}

// eachStep calls a function for steps and the steps in them.
func eachStep(steps []*step, do func(*step)) {
	for _, s := range steps {
		do(s)
		eachStep(s.steps, do)
		for _, body := range s.bodies {
			eachStep(body, do)
		}
	}
}

// begin is what comes before the steps of a launch: conditions that begin anew, and memory of the launch before that nobody has freed.
func (e *graphExec) begin(c *call) (r Result) {
	eachStep(e.steps, func(s *step) {
		switch w := s.work.(type) {
		case *conditionalWork:
			if w.condition.assign {
				w.condition.value.Store(w.condition.initial)
			}
		case *graphAllocWork:
			switch a := w.memory.place; {
			case a.dormant:
			case e.flags&instantiateAutoFree != 0:
				r = max(r, c.sleep(a))
			default:
				r = ErrInvalidValue
			}
		}
	})
	return r
}

// An execWork does all steps of a graph.
type execWork struct{ exec *graphExec }

// kind is that of the node that it becomes in another capture.
func (*execWork) kind() nodeKind { return childNode }

func (w *execWork) run(c *call) Result {
	if r := w.exec.begin(c); r != Success {
		return r
	}
	if r := c.takeOver(); r != Success {
		return r
	}
	c.inGraph = true
	r := c.runSteps(w.exec.steps)
	c.inGraph = false
	if r == Success {
		r = c.runTails()
	}
	c.tails = nil
	if back := c.giveBack(); r == Success {
		r = back
	}
	return r
}

func (c *call) runSteps(steps []*step) Result {
	for _, s := range steps {
		if s.disabled {
			continue
		}
		var r Result
		switch w := s.work.(type) {
		case *hostWork:
			r = c.runHost(w)
		case *childWork:
			r = c.runSteps(s.steps)
		case *conditionalWork:
			r = c.runConditional(w, s.bodies)
		case *execWork:
			r = c.runExec(w.exec)
		default:
			r = w.run(c)
		}
		if r == Success {
			r = c.context.failed
		}
		if r != Success {
			return r
		}
	}
	return Success
}

// runHost calls a function of the program, which finds in registered memory what was there before the next step.
func (c *call) runHost(w work) Result {
	if r := c.giveBack(); r != Success {
		return r
	}
	if r := w.run(c); r != Success {
		return r
	}
	return c.takeOver()
}

// ofExec finds the graph that the first argument names.
func ofExec(run func(*call, *graphExec) Result) func(*call) Result {
	return func(c *call) Result {
		e, ok := find[*graphExec](c.process, c.a[0])
		if !ok {
			return ErrInvalidValue
		}
		return run(c, e)
	}
}

// ofStep finds the step of the node that the second argument names.
func ofStep(run func(*call, *step) Result) func(*call) Result {
	return ofExec(func(c *call, e *graphExec) Result {
		n, ok := find[*node](c.process, c.a[1])
		if !ok {
			return ErrInvalidValue
		}
		s := findStep(e.steps, n)
		if s == nil {
			return ErrInvalidValue
		}
		return run(c, s)
	})
}

func findStep(steps []*step, n *node) *step {
	for _, s := range steps {
		if s.node == n {
			return s
		}
		for _, list := range append([][]*step{s.steps}, s.bodies...) {
			if found := findStep(list, n); found != nil {
				return found
			}
		}
	}
	return nil
}

func setStepTo(read reader) func(*call, *step) Result {
	return func(c *call, s *step) Result {
		w, r := read(c, c.a[2])
		if r != Success {
			return r
		}
		if w.kind() != s.work.kind() || w.kind() == childNode {
			return ErrInvalidValue
		}
		s.work = keepAttributes(w, s.work)
		return Success
	}
}

// childSetParams: graph, node, the graph that has the parameters of the node's.
func childSetParams(c *call, s *step) Result {
	g, r := c.graphOf(c.a[2])
	if r != Success {
		return r
	}
	if s.work.kind() != childNode {
		return ErrInvalidValue
	}
	steps, ok := stepsOf(g)
	if !ok {
		return ErrInvalidValue
	}
	if why, _, _ := differ(s.steps, steps); why != updateSuccess {
		return ErrInvalidValue
	}
	c.update(s.steps, steps)
	return Success
}

func execDestroy(c *call, e *graphExec) Result {
	delete(c.handles, e.handle)
	eachStep(e.steps, func(s *step) { c.leaveWork(s.work) })
	return c.releaseUsers(e.users)
}

// Why a graph cannot take another's parameters (CUgraphExecUpdateResult).
const (
	updateSuccess         = 0
	updateError           = 1
	updateTopologyChanged = 2
	updateTypeChanged     = 3
	updateNotSupported    = 6
)

// differ says in what the steps of two graphs differ besides their parameters, and at which nodes: that of the new one, and the one that it comes after.
func differ(old, fresh []*step) (why uint32, at, from *node) {
	if len(old) != len(fresh) {
		return updateTopologyChanged, nil, nil
	}
	for i, s := range fresh {
		switch {
		case s.work.kind() != old[i].work.kind():
			return updateTypeChanged, s.node, nil
		case !slices.Equal(s.after, old[i].after):
			if len(s.after) > 0 {
				from = fresh[s.after[0]].node
			}
			return updateTopologyChanged, s.node, from
		}
		if why, at, from := differ(old[i].steps, s.steps); why != updateSuccess {
			return why, at, from
		}
		if w, ok := s.work.(*conditionalWork); ok && (w.form != old[i].work.(*conditionalWork).form || len(s.bodies) != len(old[i].bodies)) {
			return updateNotSupported, s.node, nil
		}
		for k, body := range s.bodies {
			if why, at, from := differ(old[i].bodies[k], body); why != updateSuccess {
				return why, at, from
			}
		}
	}
	return updateSuccess, nil, nil
}

// update gives steps the works of others, which differ in nothing else.
func (c *call) update(old, fresh []*step) {
	for i, s := range fresh {
		holdWork(s.work)
		c.leaveWork(old[i].work)
		old[i].work = s.work
		c.update(old[i].steps, s.steps)
		for k, body := range s.bodies {
			c.update(old[i].bodies[k], body)
		}
	}
}

// updated gives a graph the parameters of another.
func (c *call) updated(e *graphExec, handle uint64) (r Result, why uint32, at, from *node) {
	g, r := c.graphOf(handle)
	if r != Success {
		return r, updateError, nil, nil
	}
	steps, ok := stepsOf(g)
	if !ok {
		return ErrGraphExecUpdateFailure, updateError, nil, nil
	}
	if why, at, from = differ(e.steps, steps); why != updateSuccess {
		return ErrGraphExecUpdateFailure, why, at, from
	}
	c.update(e.steps, steps)
	old := e.users
	e.users = g.allUsers().retain()
	return c.releaseUsers(old), updateSuccess, nil, nil
}

func handleOf(n *node) uint64 {
	if n == nil {
		return 0
	}
	return n.handle
}

// execUpdate: graph, other graph, CUgraphExecUpdateResultInfo: result, node, the node before.
func execUpdate(c *call, e *graphExec) Result {
	r, why, at, from := c.updated(e, c.a[1])
	b := le.AppendUint64(nil, uint64(why))
	b = le.AppendUint64(le.AppendUint64(b, handleOf(at)), handleOf(from))
	if stored := c.store(c.a[2], b); stored != Success {
		return stored
	}
	return r
}

// execUpdateV1: graph, other graph, node, result.
func execUpdateV1(c *call, e *graphExec) Result {
	r, why, at, _ := c.updated(e, c.a[1])
	if c.a[2] != 0 {
		c.store(c.a[2], le.AppendUint64(nil, handleOf(at)))
	}
	if stored := c.store(c.a[3], le.AppendUint32(nil, why)); stored != Success {
		return stored
	}
	return r
}
