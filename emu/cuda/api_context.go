package cuda

import "slices"

// A driverContext is a CUcontext. What is made in it is gone when it is destroyed; memory, however, can be reached from all contexts of the
// process, as addresses are unified.
type driverContext struct {
	handle      uint64
	id          uint64
	primary     bool
	references  int // of the primary context
	flags       uint32
	limits      map[uint64]uint64
	cacheConfig uint32
	bankConfig  uint32
	attributes  map[streamAttributeKey][streamAttributeSize]byte
	failed      Result // of a kernel's fault: every call since returns it
	destroyed   bool
}

// A thread is what the driver knows of a thread of a client: the contexts that are current to it, the last the one that counts.
type thread struct {
	stack  []*driverContext
	stream *stream // the thread's own, nil until it is needed
	ranges []namedRange
	last   Result          // of the runtime's functions, for cudaGetLastError
	pushed []configuration // by <<<>>>
	mode   uint32          // of captures (cuThreadExchangeStreamCaptureMode)
}

func (t *thread) current() *driverContext {
	if len(t.stack) == 0 {
		return nil
	}
	return t.stack[len(t.stack)-1]
}

func (p *process) threadOf(id int) *thread {
	t := p.threads[id]
	if t == nil {
		t = &thread{}
		p.threads[id] = t
	}
	return t
}

var contextFunctions = []function{
	{"cuDevicePrimaryCtxRetain", "pi", initialized, ofDevice(1, primaryRetain)},
	{"cuDevicePrimaryCtxRelease_v2", "i", initialized, ofDevice(0, primaryRelease)},
	{"cuDevicePrimaryCtxRelease", "i", initialized, ofDevice(0, primaryRelease)},
	{"cuDevicePrimaryCtxReset_v2", "i", initialized, ofDevice(0, primaryReset)},
	{"cuDevicePrimaryCtxReset", "i", initialized, ofDevice(0, primaryReset)},
	{"cuDevicePrimaryCtxSetFlags_v2", "ii", initialized, ofDevice(0, primarySetFlags)},
	{"cuDevicePrimaryCtxSetFlags", "ii", initialized, ofDevice(0, primarySetFlags)},
	{"cuDevicePrimaryCtxGetState", "ipp", initialized, ofDevice(0, primaryState)},
	{"cuCtxCreate_v2", "pii", initialized, ofDevice(2, func(c *call) Result { return c.createContext(c.a[1]) })},
	{"cuCtxCreate_v3", "poiii", initialized, ofDevice(4, contextCreateV3)},
	{"cuCtxCreate_v4", "poii", initialized, ofDevice(3, contextCreateV4)},
	{"cuCtxDestroy_v2", "n", initialized, contextDestroy},
	{"cuCtxDestroy", "n", initialized, contextDestroy},
	{"cuCtxPushCurrent_v2", "n", initialized, contextPush},
	{"cuCtxPushCurrent", "n", initialized, contextPush},
	{"cuCtxPopCurrent_v2", "o", initialized, contextPop},
	{"cuCtxPopCurrent", "o", initialized, contextPop},
	{"cuCtxSetCurrent", "n", initialized, contextSet},
	{"cuCtxGetCurrent", "p", initialized, contextGet},
	{"cuCtxGetDevice", "p", initialized, needsContext(func(c *call) Result { return c.out32(c.a[0], 0) })},
	{"cuCtxGetDevice_v2", "pn", initialized, contextDeviceOf},
	{"cuCtxGetFlags", "p", currentContext, func(c *call) Result { return c.out32(c.a[0], c.context.flags) }},
	{"cuCtxGetId", "np", initialized, contextID},
	{"cuCtxGetApiVersion", "np", initialized, contextVersion},
	{"cuCtxSynchronize", "", currentContext, contextDone},
	{"cuCtxSynchronize_v2", "n", initialized, contextSynchronize},
	{"cuCtxGetStreamPriorityRange", "oo", currentContext, priorityRange},
	{"cuCtxGetLimit", "pi", currentContext, contextLimit},
	{"cuCtxSetLimit", "in", currentContext, contextSetLimit},
	{"cuCtxGetCacheConfig", "p", currentContext, func(c *call) Result { return c.out32(c.a[0], c.context.cacheConfig) }},
	{"cuCtxSetCacheConfig", "i", currentContext, func(c *call) Result { c.context.cacheConfig = uint32(c.a[0]); return Success }},
	{"cuCtxGetSharedMemConfig", "p", currentContext, func(c *call) Result { return c.out32(c.a[0], c.context.bankConfig) }},
	{"cuCtxSetSharedMemConfig", "i", currentContext, func(c *call) Result { return Success }}, // banks have 4 bytes since sm_50
	{"cuCtxResetPersistingL2Cache", "", currentContext, done},
	{"cuCtxEnablePeerAccess", "ni", currentContext, func(*call) Result { return ErrPeerAccessUnsupported }},
	{"cuCtxDisablePeerAccess", "n", currentContext, func(*call) Result { return ErrPeerAccessNotEnabled }},
}

// done is a function for which there is nothing to do: all work has been done when it was submitted.
func done(*call) Result { return Success }

// needsContext is for functions that do not mind an error of the context.
func needsContext(run func(*call) Result) func(*call) Result {
	return func(c *call) Result {
		if c.context == nil {
			return ErrInvalidContext
		}
		return run(c)
	}
}

// Limits of a context (CUlimit).
const (
	limitStack      = 0
	limitPrintf     = 1
	limitHeap       = 2
	limitSyncDepth  = 3
	limitLaunches   = 4
	limitL2Fetch    = 5
	limitPersisting = 6
	flagsAllowed    = 0x1ff
)

func (p *process) newContext(flags uint32) *driverContext {
	p.contexts++
	c := &driverContext{flags: flags, id: uint64(p.contexts), limits: map[uint64]uint64{
		limitStack: 1024, limitPrintf: 1 << 20, limitHeap: defaultHeap, limitSyncDepth: 2, limitLaunches: 2048, limitL2Fetch: 128, limitPersisting: 0,
	}, bankConfig: 1}
	c.handle = p.add(c)
	return c
}

// primaryContext returns the primary context, which is made when it is first asked for.
func (p *process) primaryContext() *driverContext {
	if p.primary == nil {
		p.primary = p.newContext(0)
		p.primary.primary = true
	}
	return p.primary
}

func primaryRetain(c *call) Result {
	x := c.primaryContext()
	x.references++
	return c.out64(c.a[0], x.handle)
}

func primaryRelease(c *call) Result {
	x := c.primary
	if x == nil || x.references == 0 {
		return ErrInvalidContext
	}
	if x.references--; x.references == 0 {
		c.reset(x)
	}
	return Success
}

func primaryReset(c *call) Result {
	if c.primary != nil {
		c.reset(c.primary)
	}
	return Success
}

func primarySetFlags(c *call) Result {
	if c.a[1]&^flagsAllowed != 0 {
		return ErrInvalidValue
	}
	c.primaryContext().flags = uint32(c.a[1])
	return Success
}

func primaryState(c *call) Result {
	var flags, active uint32
	if c.primary != nil {
		flags, active = c.primary.flags, uint32(btoi(c.primary.references > 0))
	}
	c.out32(c.a[1], flags)
	return c.out32(c.a[2], active)
}

// createContext makes a context that is not the primary one, and makes it current.
func (c *call) createContext(flags uint64) Result {
	if flags&^flagsAllowed != 0 {
		return ErrInvalidValue
	}
	x := c.newContext(uint32(flags))
	c.thread.stack = append(c.thread.stack, x)
	return c.out64(c.a[0], x.handle)
}

// contextCreateV3 takes affinities, which are not supported, and how many there are.
func contextCreateV3(c *call) Result {
	if c.a[1] != 0 && uint32(c.a[2]) != 0 {
		return c.server.lack(c.function.name + " with affinities")
	}
	return c.createContext(c.a[3])
}

// contextCreateV4 takes a CUctxCreateParams: affinities, how many there are, and parameters for graphics. None of these is supported.
func contextCreateV4(c *call) Result {
	if c.a[1] != 0 {
		var b [24]byte
		if r := c.load(c.a[1], b[:]); r != Success {
			return r
		}
		if le.Uint64(b[:]) != 0 && le.Uint32(b[8:]) != 0 || le.Uint64(b[16:]) != 0 {
			return c.server.lack(c.function.name + " with affinities or graphics")
		}
	}
	return c.createContext(c.a[2])
}

// contextOf finds a context by its handle; 0 stands for the current one.
func (c *call) contextOf(handle uint64) (*driverContext, Result) {
	if handle == 0 {
		if c.context == nil {
			return nil, ErrInvalidContext
		}
		return c.context, Success
	}
	x, ok := find[*driverContext](c.process, handle)
	if !ok {
		return nil, ErrInvalidContext
	}
	return x, Success
}

func contextDestroy(c *call) Result {
	x, ok := find[*driverContext](c.process, c.a[0])
	if !ok || x.primary {
		return ErrInvalidContext
	}
	c.reset(x)
	x.destroyed = true
	delete(c.handles, x.handle)
	if c.context == x {
		c.thread.stack = c.thread.stack[:len(c.thread.stack)-1]
	}
	return Success
}

// reset frees all that was made in a context, and makes it fit for use again.
func (p *process) reset(x *driverContext) {
	for _, handle := range sortedHandles(p.handles) {
		if o, ok := p.handles[handle].(owned); ok && o.owner() == x {
			o.discard(p)
			delete(p.handles, handle)
		}
	}
	if p.device != nil {
		for _, a := range append([]*allocation(nil), p.device.list...) {
			if a.context == x {
				p.registered = slices.DeleteFunc(p.registered, func(r *registration) bool { return r.allocation == a })
				p.release(a)
			}
		}
	}
	x.failed = Success
}

// An owned object belongs to a context.
type owned interface {
	owner() *driverContext
	discard(*process)
}

func contextPush(c *call) Result {
	x, ok := find[*driverContext](c.process, c.a[0])
	if !ok {
		return ErrInvalidContext
	}
	c.thread.stack = append(c.thread.stack, x)
	return Success
}

func contextPop(c *call) Result {
	if c.context == nil {
		return ErrInvalidContext
	}
	c.thread.stack = c.thread.stack[:len(c.thread.stack)-1]
	return c.out64(c.a[0], c.context.handle)
}

// contextSet puts a context in the place of the current one; 0 takes that away.
func contextSet(c *call) Result {
	x, ok := find[*driverContext](c.process, c.a[0])
	if c.a[0] != 0 && !ok {
		return ErrInvalidContext
	}
	if n := len(c.thread.stack); n > 0 {
		c.thread.stack = c.thread.stack[:n-1]
	}
	if x != nil {
		c.thread.stack = append(c.thread.stack, x)
	}
	return Success
}

func contextGet(c *call) Result {
	if c.context == nil {
		return c.out64(c.a[0], 0)
	}
	return c.out64(c.a[0], c.context.handle)
}

func contextDeviceOf(c *call) Result {
	if _, r := c.contextOf(c.a[1]); r != Success {
		return r
	}
	return c.out32(c.a[0], 0)
}

func contextID(c *call) Result {
	x, r := c.contextOf(c.a[0])
	if r != Success {
		return r
	}
	return c.out64(c.a[1], x.id)
}

func contextVersion(c *call) Result {
	if _, r := c.contextOf(c.a[0]); r != Success {
		return r
	}
	return c.out32(c.a[1], 3020) // of contexts since CUDA 3.2
}

// contextDone waits for all streams, which cannot be while one of them is captured.
func contextDone(c *call) Result { return c.noCapture(c.context) }

func contextSynchronize(c *call) Result {
	x, r := c.contextOf(c.a[0])
	if r != Success {
		return r
	}
	if r := c.noCapture(x); r != Success {
		return r
	}
	return x.failed
}

// priorityRange: streams have priorities, which make no difference. The greatest priority is the least number.
func priorityRange(c *call) Result {
	c.out32(c.a[0], 0)
	return c.out32(c.a[1], uint32(0xffffffff-(greatestPriority-1)))
}

// greatestPriority is how far below 0 priorities go.
const greatestPriority = 5

func contextLimit(c *call) Result {
	v, ok := c.context.limits[c.a[1]]
	if !ok {
		return ErrUnsupportedLimit
	}
	return c.out64(c.a[0], v)
}

func contextSetLimit(c *call) Result {
	if _, ok := c.context.limits[c.a[0]]; !ok {
		return ErrUnsupportedLimit
	}
	switch c.a[0] {
	case limitStack:
		if c.a[1] > uint64(c.gpu().Limits.LocalThreadBytes.Value) {
			return ErrInvalidValue
		}
	case limitHeap:
		if c.open() != nil || c.memory.SetHeap(int64(c.a[1])) != nil {
			return ErrInvalidValue
		}
	}
	c.context.limits[c.a[0]] = c.a[1]
	return Success
}
