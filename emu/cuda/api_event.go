package cuda

import (
	"math"
	"slices"
)

// An event is a CUevent. It remembers the time of the emulated GPU at which it was recorded.
type event struct {
	handle   uint64
	context  *driverContext
	flags    uint32
	recorded bool
	at       int64  // nanoseconds
	mark     *mark  // where it was recorded in a capture, nil where it was not
	share    *share // with which other processes can open it, nil if nobody asked
}

func (e *event) owner() *driverContext { return e.context }
func (e *event) discard(p *process)    { p.server.unshare(e.share) }

var eventFunctions = []function{
	{"cuEventCreate", "pi", currentContext, eventCreate},
	{"cuEventDestroy_v2", "n", currentContext, ofEvent(0, eventDestroy)},
	{"cuEventDestroy", "n", currentContext, ofEvent(0, eventDestroy)},
	{"cuEventRecord", "nn", currentContext, ofEvent(0, func(c *call, e *event) Result { return c.record(e, 0) })},
	{"cuEventRecordWithFlags", "nni", currentContext, ofEvent(0, func(c *call, e *event) Result { return c.record(e, c.a[2]) })},
	{"cuEventSynchronize", "n", currentContext, ofEvent(0, eventDone)},
	{"cuEventQuery", "n", currentContext, ofEvent(0, eventDone)},
	{"cuEventElapsedTime", "pnn", currentContext, elapsedTime},
	{"cuEventElapsedTime_v2", "pnn", currentContext, elapsedTime},
}

// Flags of events.
const (
	eventNoTiming    = 2
	eventInterproc   = 4
	eventFlagAllowed = 7
)

func eventCreate(c *call) Result {
	if c.a[1]&^eventFlagAllowed != 0 {
		return ErrInvalidValue
	}
	if c.a[1]&eventInterproc != 0 && c.a[1]&eventNoTiming == 0 {
		return ErrInvalidValue
	}
	e := &event{context: c.context, flags: uint32(c.a[1])}
	e.handle = c.add(e)
	return c.out64(c.a[0], e.handle)
}

func eventDestroy(c *call, e *event) Result {
	c.server.unshare(e.share)
	delete(c.handles, e.handle)
	return Success
}

func ofEvent(arg int, run func(*call, *event) Result) func(*call) Result {
	return func(c *call) Result {
		e, ok := find[*event](c.process, c.a[arg])
		if !ok {
			return ErrInvalidHandle
		}
		return run(c, e)
	}
}

// external is the flag by which an event becomes a node of the graph that a stream is captured into, instead of one of its dependencies
// (CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL).
const external = 1

// record records an event on the stream that the second argument names.
func (c *call) record(e *event, flags uint64) Result {
	if flags&^external != 0 {
		return ErrInvalidValue
	}
	s, r := c.streamOf(c.a[1])
	if r != Success {
		return r
	}
	if s.capture != nil && flags&external == 0 {
		if s.capture.status != captureActive {
			return ErrStreamCaptureInvalidated
		}
		e.mark = &mark{s.capture, slices.Clone(s.last)}
		return Success
	}
	return c.submit(c.a[1], &eventWork{event: e, record: true})
}

// An eventWork records an event, or waits for it, which it need not.
type eventWork struct {
	event  *event
	record bool
}

func (w *eventWork) kind() nodeKind {
	if w.record {
		return eventRecordNode
	}
	return eventWaitNode
}

func (w *eventWork) run(c *call) Result {
	if !w.record {
		return Success
	}
	c.server.execution.Lock()
	defer c.server.execution.Unlock()
	w.event.recorded, w.event.at, w.event.mark = true, c.server.clock, nil
	return Success
}

// eventDone is for functions that wait for an event. There is nothing to wait for, and no such thing as an event of a graph.
func eventDone(_ *call, e *event) Result {
	if e.mark != nil {
		e.mark.capture.invalidate()
		return ErrCapturedEvent
	}
	return Success
}

// elapsedTime returns milliseconds between two events.
func elapsedTime(c *call) Result {
	from, ok := find[*event](c.process, c.a[1])
	to, ok2 := find[*event](c.process, c.a[2])
	switch {
	case !ok || !ok2:
		return ErrInvalidHandle
	case !from.recorded || !to.recorded || (from.flags|to.flags)&eventNoTiming != 0:
		return ErrInvalidHandle
	}
	c.server.tellTime()
	return c.out32(c.a[0], math.Float32bits(float32(float64(to.at-from.at)/1e6)))
}
