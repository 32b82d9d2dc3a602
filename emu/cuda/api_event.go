package cuda

import "math"

// An event is a CUevent. It remembers the time of the emulated GPU at which it was recorded.
type event struct {
	handle   uint64
	context  *driverContext
	flags    uint32
	recorded bool
	at       int64 // nanoseconds
}

func (e *event) owner() *driverContext { return e.context }
func (e *event) discard(*process)      {}

var eventFunctions = []function{
	{"cuEventCreate", "pi", currentContext, eventCreate},
	{"cuEventDestroy_v2", "n", currentContext, ofEvent(0, func(c *call, e *event) Result { delete(c.handles, e.handle); return Success })},
	{"cuEventDestroy", "n", currentContext, ofEvent(0, func(c *call, e *event) Result { delete(c.handles, e.handle); return Success })},
	{"cuEventRecord", "nn", currentContext, onStream(1, ofEvent(0, eventRecord))},
	{"cuEventRecordWithFlags", "nni", currentContext, onStream(1, ofEvent(0, eventRecord))},
	{"cuEventSynchronize", "n", currentContext, ofEvent(0, func(*call, *event) Result { return Success })},
	{"cuEventQuery", "n", currentContext, ofEvent(0, func(*call, *event) Result { return Success })},
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
	if c.a[1]&eventInterproc != 0 {
		return c.server.lack(c.function.name + " for other processes")
	}
	e := &event{context: c.context, flags: uint32(c.a[1])}
	e.handle = c.add(e)
	return c.out64(c.a[0], e.handle)
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

func eventRecord(c *call, e *event) Result {
	c.server.execution.Lock()
	defer c.server.execution.Unlock()
	e.recorded, e.at = true, c.server.clock
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
