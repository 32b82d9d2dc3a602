package cuda

import "slices"

// A streamCapture records what is submitted to streams in a graph, from cuStreamBeginCapture of one stream to cuStreamEndCapture of the same.
// Streams that wait for an event of the capture join it.
type streamCapture struct {
	id      uint64
	mode    uint32
	status  uint32
	thread  *thread
	origin  *stream
	streams []*stream
	graph   *graph
	given   bool // the program's own graph
}

// Status and modes of captures (CUstreamCaptureStatus, CUstreamCaptureMode).
const (
	captureNone        = 0
	captureActive      = 1
	captureInvalidated = 2

	captureGlobal      = 0
	captureThreadLocal = 1
	captureRelaxed     = 2
)

// A mark is where an event was recorded in a capture.
type mark struct {
	capture *streamCapture
	nodes   []*node
}

var captureFunctions = []function{
	{"cuStreamBeginCapture", "n", currentContext, ofStream(func(c *call, s *stream) Result { return c.beginCapture(s, captureGlobal) })},
	{"cuStreamBeginCapture_v2", "ni", currentContext, ofStream(func(c *call, s *stream) Result { return c.beginCapture(s, uint32(c.a[1])) })},
	{"cuStreamBeginCaptureToGraph", "nnooni", currentContext, ofStream(beginCaptureToGraph)},
	{"cuStreamEndCapture", "no", currentContext, ofStream(endCapture)},
	{"cuStreamIsCapturing", "np", currentContext, ofStream(func(c *call, s *stream) Result { return c.captureInfo(s, false) })},
	{"cuStreamGetCaptureInfo", "npo", currentContext, ofStream(func(c *call, s *stream) Result { return c.captureInfo(s, false) })},
	{"cuStreamGetCaptureInfo_v2", "npoooo", currentContext, ofStream(func(c *call, s *stream) Result { return c.captureInfo(s, false) })},
	{"cuStreamGetCaptureInfo_v3", "npooooo", currentContext, ofStream(func(c *call, s *stream) Result { return c.captureInfo(s, true) })},
	{"cuStreamUpdateCaptureDependencies", "noni", currentContext, ofStream(func(c *call, s *stream) Result { return c.updateCapture(s, c.a[2], c.a[3]) })},
	{"cuStreamUpdateCaptureDependencies_v2", "nooni", currentContext, ofStream(func(c *call, s *stream) Result { return c.updateCapture(s, c.a[3], c.a[4]) })},
	{"cuThreadExchangeStreamCaptureMode", "p", initialized, exchangeCaptureMode},
}

func (c *call) beginCapture(s *stream, mode uint32) Result {
	if mode > captureRelaxed {
		return ErrInvalidValue
	}
	if s.legacy() {
		return ErrStreamCaptureUnsupported
	}
	if s.capture != nil {
		return ErrIllegalState
	}
	c.captures++
	x := &streamCapture{id: c.captures, mode: mode, status: captureActive, thread: c.thread, origin: s, graph: c.newGraph()}
	x.join(s, nil)
	c.capturing = append(c.capturing, x)
	return Success
}

// beginCaptureToGraph: stream, graph, dependencies, their data, count, mode.
func beginCaptureToGraph(c *call, s *stream) Result {
	g, r := c.graphOf(c.a[1])
	if r != Success {
		return r
	}
	after, r := c.nodesAt(c.a[2], c.a[4])
	if r != Success {
		return r
	}
	if r := c.beginCapture(s, uint32(c.a[5])); r != Success {
		return r
	}
	c.dropGraph(s.capture.graph)
	s.capture.graph, s.capture.given, s.last = g, true, after
	return Success
}

func (x *streamCapture) join(s *stream, after []*node) {
	s.capture, s.last = x, slices.Clone(after)
	x.streams = append(x.streams, s)
}

func (x *streamCapture) leave(s *stream) {
	s.capture, s.last = nil, nil
	x.streams = slices.DeleteFunc(x.streams, func(t *stream) bool { return t == s })
}

func (x *streamCapture) invalidate() { x.status = captureInvalidated }

// record makes a node of work on a stream.
func (x *streamCapture) record(c *call, s *stream, w work) Result {
	if x.status != captureActive {
		return ErrStreamCaptureInvalidated
	}
	n, r := c.addNode(x.graph, s.last, w)
	if r != Success {
		x.invalidate()
		return r
	}
	s.last = []*node{n}
	return Success
}

// endCapture ends the capture of a stream and returns the graph. All other streams must have been joined to it by events.
func endCapture(c *call, s *stream) Result {
	x := s.capture
	switch {
	case x == nil:
		return ErrIllegalState
	case x.origin != s:
		x.invalidate()
		return ErrStreamCaptureUnmatched
	case x.mode != captureRelaxed && x.thread != c.thread:
		return ErrStreamCaptureWrongThread
	}
	result := Success
	if x.status != captureActive {
		result = ErrStreamCaptureInvalidated
	} else if !x.joined() {
		result = ErrStreamCaptureUnjoined
	}
	for _, t := range slices.Clone(x.streams) {
		x.leave(t)
	}
	c.process.capturing = slices.DeleteFunc(c.capturing, func(y *streamCapture) bool { return y == x })
	x.status = captureNone
	if result != Success {
		if !x.given {
			c.dropGraph(x.graph)
		}
		if c.a[1] != 0 {
			c.store(c.a[1], make([]byte, 8))
		}
		return result
	}
	if c.a[1] == 0 { // of a capture into a graph that the program has
		return Success
	}
	return c.out64(c.a[1], x.graph.handle)
}

// joined says whether all that the other streams recorded comes before what the origin would do next.
func (x *streamCapture) joined() bool {
	before := ancestors(x.origin.last)
	for _, s := range x.streams {
		for _, n := range s.last {
			if !before[n] {
				return false
			}
		}
	}
	return true
}

// ancestors are nodes and all that comes before them.
func ancestors(list []*node) map[*node]bool {
	seen := make(map[*node]bool)
	for list = slices.Clone(list); len(list) > 0; {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		if !seen[n] {
			seen[n] = true
			list = append(list, n.after...)
		}
	}
	return seen
}

// streamWaitEvent has a stream wait for an event: stream, event, flags. Across captures nothing can be waited for.
func streamWaitEvent(c *call, s *stream) Result {
	e, ok := find[*event](c.process, c.a[1])
	switch {
	case !ok:
		return ErrInvalidHandle
	case c.a[2]&^external != 0:
		return ErrInvalidValue
	case s.capture != nil && c.a[2]&external != 0:
		return s.capture.record(c, s, &eventWork{event: e})
	case e.mark == nil && s.capture != nil:
		if !e.recorded {
			return Success
		}
		s.capture.invalidate()
		return ErrStreamCaptureIsolation
	case e.mark == nil:
		return Success
	}
	x := e.mark.capture
	switch {
	case x.status == captureNone:
		return ErrCapturedEvent
	case x.status != captureActive:
		return ErrStreamCaptureInvalidated
	case s.legacy():
		x.invalidate()
		return ErrStreamCaptureImplicit
	case s.capture == nil:
		x.join(s, e.mark.nodes)
		return Success
	case s.capture != x:
		x.invalidate()
		s.capture.invalidate()
		return ErrStreamCaptureMerge
	}
	s.last = union(s.last, e.mark.nodes)
	return Success
}

// union is all nodes of two lists.
func union(a, b []*node) []*node {
	list := slices.Clone(a)
	for _, n := range b {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// captureInfo returns what is known of the capture of a stream: status, identifier, graph, what the next node comes after (with edge data
// before the count, where the function has any).
func (c *call) captureInfo(s *stream, edges bool) Result {
	args := slices.Clone(c.a[1:len(c.function.args)])
	x := s.capture
	if x == nil {
		return c.out32(args[0], captureNone)
	}
	c.out32(args[0], x.status)
	if x.status != captureActive || len(args) < 2 {
		return Success
	}
	c.out64(args[1], x.id)
	if len(args) < 3 {
		return Success
	}
	c.out64(args[2], x.graph.handle)
	count := args[4]
	if edges {
		count = args[5]
		if args[4] != 0 { // as many as dependencies, since programs read them
			addr, r := c.constant(string(make([]byte, edgeBytes*len(s.last))))
			if r != Success {
				return r
			}
			c.out64(args[4], addr)
		}
	}
	if args[3] != 0 {
		addr, r := c.nodeList(s.last)
		if r != Success {
			return r
		}
		c.out64(args[3], addr)
	}
	return c.out64(count, uint64(len(s.last)))
}

// nodeList returns the address of handles of nodes that stays as it is until the process asks again.
func (c *call) nodeList(list []*node) (uint64, Result) {
	var b []byte
	for _, n := range list {
		b = le.AppendUint64(b, n.handle)
	}
	return c.constant(string(append(b, 0)))
}

// updateCapture changes what the next node of a captured stream comes after: adds to it (flag 0), or takes its place (1).
func (c *call) updateCapture(s *stream, count, flags uint64) Result {
	const replaceAll = 1
	if s.capture == nil {
		return ErrIllegalState
	}
	list, r := c.nodesAt(c.a[1], count)
	if r != Success {
		return r
	}
	switch flags {
	case 0:
		s.last = union(s.last, list)
	case replaceAll:
		s.last = list
	default:
		return ErrInvalidValue
	}
	return Success
}

// exchangeCaptureMode exchanges the mode of the thread for that which the argument points to.
func exchangeCaptureMode(c *call) Result {
	var b [4]byte
	if r := c.load(c.a[0], b[:]); r != Success {
		return r
	}
	mode := le.Uint32(b[:])
	if mode > captureRelaxed {
		return ErrInvalidValue
	}
	old := c.thread.mode
	c.thread.mode = mode
	return c.out32(c.a[0], old)
}

// implicit is what work on the legacy stream means for captures: it would wait for captured streams, unless these do not wait for it.
func (c *call) implicit() Result {
	const nonBlocking = 1
	for _, x := range c.capturing {
		for _, s := range x.streams {
			if s.context == c.context && s.flags&nonBlocking == 0 {
				x.invalidate()
				return ErrStreamCaptureImplicit
			}
		}
	}
	return Success
}

// noCapture refuses to wait for a context with a stream that is captured.
func (p *process) noCapture(x *driverContext) Result {
	result := Success
	for _, k := range p.capturing {
		for _, s := range k.streams {
			if s.context == x {
				k.invalidate()
				result = ErrStreamCaptureUnsupported
			}
		}
	}
	return result
}
