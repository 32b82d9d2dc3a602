package cuda

// A work is what a stream can be asked to do: a kernel, a copy, a set, a call of a host function. It is done when it is submitted, or recorded
// as a node of a graph where the stream is being captured.
type work interface {
	kind() nodeKind
	run(c *call) Result
}

// submit does work on a stream, or records it.
func (c *call) submit(stream uint64, w work) Result {
	s, r := c.streamOf(stream)
	if r != Success {
		return r
	}
	switch {
	case s.capture != nil:
		return s.capture.record(c, s, w)
	case s.legacy():
		if r := c.implicit(); r != Success {
			return r
		}
	}
	return w.run(c)
}

// A hostWork calls a function of the program with one argument.
type hostWork struct{ function, argument uint64 }

func (*hostWork) kind() nodeKind       { return hostNode }
func (w *hostWork) run(c *call) Result { return c.callback(w.function, w.argument) }

// launchHost is cuLaunchHostFunc: stream, function, argument.
func launchHost(c *call) Result { return c.submit(c.a[0], &hostWork{c.a[1], c.a[2]}) }
