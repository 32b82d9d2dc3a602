package cuda

import "slices"

// A stream is a CUstream. Work is done when it is submitted, so that a stream is only what can be asked of it, unless it is captured.
type stream struct {
	handle   uint64
	id       uint64
	context  *driverContext
	flags    uint32
	priority int32
	capture  *streamCapture // that records what is submitted, nil where it is done
	last     []*node        // of the capture: what the next node comes after
}

func (s *stream) owner() *driverContext { return s.context }
func (s *stream) discard(*process)      {}

var streamFunctions = []function{
	{"cuStreamCreate", "pi", currentContext, func(c *call) Result { return c.createStream(c.a[1], 0) }},
	{"cuStreamCreateWithPriority", "pii", currentContext, func(c *call) Result { return c.createStream(c.a[1], c.integer(2)) }},
	{"cuStreamDestroy_v2", "n", currentContext, streamDestroy},
	{"cuStreamDestroy", "n", currentContext, streamDestroy},
	{"cuStreamSynchronize", "n", currentContext, ofStream(uncaptured(done))},
	{"cuStreamQuery", "n", currentContext, ofStream(uncaptured(done))},
	{"cuStreamWaitEvent", "nni", currentContext, ofStream(streamWaitEvent)},
	{"cuStreamAddCallback", "npni", currentContext, ofStream(uncaptured(streamCallback))},
	{"cuStreamGetFlags", "np", currentContext, ofStream(func(c *call, s *stream) Result { return c.out32(c.a[1], s.flags) })},
	{"cuStreamGetPriority", "np", currentContext, ofStream(func(c *call, s *stream) Result { return c.out32(c.a[1], uint32(s.priority)) })},
	{"cuStreamGetId", "np", currentContext, ofStream(func(c *call, s *stream) Result { return c.out64(c.a[1], s.id) })},
	{"cuStreamGetCtx", "np", currentContext, ofStream(func(c *call, s *stream) Result { return c.out64(c.a[1], s.context.handle) })},
	{"cuStreamGetCtx_v2", "npp", currentContext, ofStream(func(c *call, s *stream) Result { c.out64(c.a[2], 0); return c.out64(c.a[1], s.context.handle) })}, // no green context
	{"cuStreamGetDevice", "np", currentContext, onStream(0, func(c *call) Result { return c.out32(c.a[1], 0) })},
	{"cuStreamAttachMemAsync", "nnni", currentContext, onStream(0, done)},
	{"cuStreamSetAttribute", "nip", currentContext, ofStream(streamSetAttribute)},
	{"cuStreamGetAttribute", "nip", currentContext, ofStream(streamAttribute)},
	{"cuStreamCopyAttributes", "nn", currentContext, ofStream(streamCopyAttributes)},
	{"cuStreamWriteValue32_v2", "nnii", currentContext, writeValue(4)},
	{"cuStreamWriteValue64_v2", "nnni", currentContext, writeValue(8)},
}

// Streams that every context has.
const (
	nullStream      = 0
	legacyStream    = 1
	perThreadStream = 2
)

// streamOf finds a stream by its handle.
func (c *call) streamOf(handle uint64) (*stream, Result) {
	switch handle {
	case nullStream, legacyStream:
		return &stream{handle: handle, id: legacyStream, context: c.context}, Success
	case perThreadStream:
		if c.thread.stream == nil || c.thread.stream.context != c.context {
			c.thread.stream = &stream{handle: handle, id: handle, context: c.context}
		}
		return c.thread.stream, Success
	}
	s, ok := find[*stream](c.process, handle)
	if !ok {
		return nil, ErrInvalidHandle
	}
	return s, Success
}

// onStream checks the argument that names a stream.
func onStream(arg int, run func(*call) Result) func(*call) Result {
	return func(c *call) Result {
		if _, r := c.streamOf(c.a[arg]); r != Success {
			return r
		}
		return run(c)
	}
}

// ofStream finds the stream that the first argument names.
func ofStream(run func(*call, *stream) Result) func(*call) Result {
	return func(c *call) Result {
		s, r := c.streamOf(c.a[0])
		if r != Success {
			return r
		}
		return run(c, s)
	}
}

// createStream makes a stream. Priorities out of range are taken to the nearest.
func (c *call) createStream(flags uint64, priority int) Result {
	const nonBlocking = 1
	if flags&^nonBlocking != 0 {
		return ErrInvalidValue
	}
	s := &stream{context: c.context, flags: uint32(flags), priority: int32(max(-greatestPriority, min(0, priority)))}
	s.handle = c.add(s)
	s.id = s.handle
	return c.out64(c.a[0], s.handle)
}

func streamDestroy(c *call) Result {
	s, ok := find[*stream](c.process, c.a[0])
	if !ok {
		return ErrInvalidHandle
	}
	// What another stream than the first has recorded stays in the capture, and has to be joined as if the stream were there.
	if s.capture != nil && s.capture.origin == s {
		s.capture.invalidate()
		s.capture.leave(s)
	}
	delete(c.handles, s.handle)
	return Success
}

// legacy says whether it is the stream that waits for all others, and they for it.
func (s *stream) legacy() bool { return s.handle == nullStream || s.handle == legacyStream }

// uncaptured is for functions that a stream cannot record, by which a capture is lost.
func uncaptured(run func(*call) Result) func(*call, *stream) Result {
	return func(c *call, s *stream) Result {
		if s.capture != nil {
			s.capture.invalidate()
			return ErrStreamCaptureUnsupported
		}
		return run(c)
	}
}

// streamCallback calls function(stream, status, data).
func streamCallback(c *call) Result {
	if c.a[3] != 0 {
		return ErrInvalidValue
	}
	return c.callback(c.a[1], c.a[0], uint64(Success), c.a[2])
}

// writeValue writes a value to memory: stream, address, value.
func writeValue(size uint64) func(*call) Result {
	return func(c *call) Result {
		return c.submit(c.a[0], &setWork{to: c.a[1], value: c.a[2], size: size, width: 1, height: 1})
	}
}

// sortedHandles lists handles in the order in which they were given out.
func sortedHandles(m map[uint64]any) []uint64 {
	list := make([]uint64, 0, len(m))
	for handle := range m {
		list = append(list, handle)
	}
	slices.Sort(list)
	return list
}

// streamAttributeSize is that of CUstreamAttrValue.
const streamAttributeSize = attributeSize - attributeValue

// A streamAttributeKey is an attribute of a stream. The default streams have attributes too.
type streamAttributeKey struct {
	stream    uint64
	attribute uint32
}

// streamSetAttribute: stream, attribute, value. What streams can say, as which of their accesses L2 should keep, makes no difference: it is kept for
// whoever asks.
func streamSetAttribute(c *call, s *stream) Result {
	if uint32(c.a[1]) > attributeLast {
		return ErrInvalidValue
	}
	var value [streamAttributeSize]byte
	if r := c.load(c.a[2], value[:]); r != Success {
		return r
	}
	s.setAttribute(uint32(c.a[1]), value)
	return Success
}

func (s *stream) setAttribute(attribute uint32, value [streamAttributeSize]byte) {
	if s.context.attributes == nil {
		s.context.attributes = make(map[streamAttributeKey][streamAttributeSize]byte)
	}
	s.context.attributes[streamAttributeKey{s.id, attribute}] = value
}

func streamAttribute(c *call, s *stream) Result {
	if uint32(c.a[1]) > attributeLast {
		return ErrInvalidValue
	}
	value := s.context.attributes[streamAttributeKey{s.id, uint32(c.a[1])}]
	return c.out(c.a[2], value[:])
}

// streamCopyAttributes: to, from.
func streamCopyAttributes(c *call, to *stream) Result {
	from, r := c.streamOf(c.a[1])
	if r != Success {
		return r
	}
	for attribute := range uint32(attributeLast + 1) {
		if value, ok := from.context.attributes[streamAttributeKey{from.id, attribute}]; ok {
			to.setAttribute(attribute, value)
		}
	}
	return Success
}
