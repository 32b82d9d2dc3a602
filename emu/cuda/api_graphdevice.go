package cuda

import (
	"slices"
	"sync"
)

// Kernels of a graph can launch other graphs that were instantiated for that. As kernels run one after the other, a graph that is launched to run beside the
// launching one runs as soon as the kernel has ended.

// Streams on which kernels launch graphs (cuda_device_runtime_api.h): behind the launching graph, beside it within, or beside it.
const (
	graphTail    = 0x0100_0000_0000_0000
	graphForget  = 0x0200_0000_0000_0000
	graphSibling = 0x0300_0000_0000_0000
)

// mostDeviceLaunches is how many graphs may wait for a graph to end, as with the device runtime (CUDA C++ Programming Guide, Device Graph Launch).
const mostDeviceLaunches = 255

// graphLaunches are the graphs that a kernel has launched.
type graphLaunches struct {
	mu           sync.Mutex
	beside, tail []*graphExec
}

// graphLaunch notes what a kernel launches.
func (c *call) graphLaunch(l *graphLaunches, handle, stream uint64) Result {
	e, ok := find[*graphExec](c.process, handle)
	if !ok || e.flags&instantiateDevice == 0 || !c.inGraph {
		return ErrInvalidValue
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.beside) >= mostDeviceLaunches || len(l.tail)+len(c.tails) >= mostDeviceLaunches:
		return ErrLaunchOutOfResources
	case stream == graphTail:
		l.tail = append(l.tail, e)
	case stream == graphForget || stream == graphSibling:
		l.beside = append(l.beside, e)
	default:
		return ErrInvalidValue
	}
	return Success
}

// follow does what a kernel has launched, but for what follows the whole graph.
func (c *call) follow(l *graphLaunches) Result {
	c.tails = append(c.tails, l.tail...)
	for _, e := range l.beside {
		if r := c.runExec(e); r != Success {
			return r
		}
	}
	return Success
}

// runExec does the steps of a graph within another.
func (c *call) runExec(e *graphExec) Result {
	if err := c.server.ctx.Err(); err != nil {
		return ErrUnknown // gpa ends
	}
	if r := e.begin(c); r != Success {
		return r
	}
	return c.runSteps(e.steps)
}

// runTails does the graphs that follow the one that has ended. What one of them launches to follow itself comes before the next.
func (c *call) runTails() Result {
	waiting := c.tails
	for len(waiting) > 0 {
		e := waiting[0]
		waiting = waiting[1:]
		c.tails, c.inGraph = nil, true
		r := c.runExec(e)
		c.inGraph = false
		if r != Success {
			return r
		}
		waiting = slices.Concat(c.tails, waiting)
	}
	return Success
}

// onDevice says whether the device can launch a graph: kernels, copies, sets and graphs of these.
func (g *graph) onDevice() bool {
	for _, n := range g.nodes {
		switch w := n.work.(type) {
		case *kernelWork, *copyWork, *setWork, emptyWork:
		case *childWork:
			if !w.graph.onDevice() {
				return false
			}
		default:
			return false
		}
	}
	return true
}
