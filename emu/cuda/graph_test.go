//go:build linux && (amd64 || arm64)

package cuda

import (
	"testing"
	"unsafe"
)

// captured begins a capture of a new stream that does not wait for the null stream, and returns the stream.
func (c *testClient) captured(mode uint64) uint64 {
	c.t.Helper()
	var s uint64
	c.must("cuStreamCreate", pointer(&s), 1)
	c.must("cuStreamBeginCapture_v2", s, mode)
	return s
}

// launchOn launches a kernel on a stream.
func (c *testClient) launchOn(stream, function uint64, grid, block uint64, params ...unsafe.Pointer) {
	c.t.Helper()
	c.must("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, stream, parameterList(params), 0)
}

// end ends a capture and returns the graph.
func (c *testClient) end(stream uint64) (graph uint64) {
	c.t.Helper()
	c.must("cuStreamEndCapture", stream, pointer(&graph))
	return graph
}

// instantiate makes a graph that can be launched.
func (c *testClient) instantiate(graph uint64) (exec uint64) {
	c.t.Helper()
	c.must("cuGraphInstantiateWithFlags", pointer(&exec), graph, 0)
	return exec
}

// nodes lists the nodes of a graph.
func (c *testClient) nodes(graph uint64) []uint64 {
	c.t.Helper()
	var n uint64
	c.must("cuGraphGetNodes", graph, 0, pointer(&n))
	list := make([]uint64, n+1)
	c.must("cuGraphGetNodes", graph, pointer(&list[0]), pointer(&n))
	return list[:n]
}

// What is submitted to a captured stream is done when the graph is launched, as often as it is, and not before.
func TestCapture(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: n, a: 2, x: c.floats(1, n), y: c.floats(0, n)}
	y := args.y
	s := c.captured(captureGlobal)
	c.launchOn(s, f, 1, n, args.list()...)
	c.launchOn(s, f, 1, n, args.list()...)
	args.a, args.y = 100, args.x // parameters are those of the call
	var status uint32
	c.must("cuStreamIsCapturing", s, pointer(&status))
	if status != captureActive {
		t.Errorf("status %d", status)
	}
	graph := c.end(s)
	exec := c.instantiate(graph)
	if got := c.read(y, n)[0]; got != 0 {
		t.Fatalf("y[0] is %g before the graph has been launched", got)
	}
	c.must("cuGraphDestroy", graph)
	for i := range 3 {
		c.must("cuGraphLaunch", exec, s)
		c.must("cuStreamSynchronize", s)
		if got, want := c.read(y, n)[n-1], float32(n-1)+float32(4*n*(i+1)); got != want {
			t.Fatalf("y[%d] is %g after launch %d, want %g", n-1, got, i+1, want)
		}
	}
	c.must("cuGraphExecDestroy", exec)
	c.want(ErrInvalidValue, "cuGraphLaunch", exec, s)
}

// A second stream joins the capture by an event, and is joined to the first by another.
func TestCaptureFork(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	f := c.function(saxpyFile, "saxpy")
	x, y := c.floats(1, n), c.alloc(4*n)
	first, second := saxpyArguments{n: n, a: 2, x: x, y: y}, saxpyArguments{n: n, a: 3, x: y, y: x}
	var other, forked, joined, graph uint64
	c.must("cuStreamCreate", pointer(&other), 1)
	c.must("cuEventCreate", pointer(&forked), 0)
	c.must("cuEventCreate", pointer(&joined), 0)
	s := c.captured(captureRelaxed)
	c.must("cuMemsetD32Async", y, 0, n, s)
	c.must("cuEventRecord", forked, s)
	c.must("cuStreamWaitEvent", other, forked, 0)
	c.launchOn(other, f, 1, n, first.list()...) // y = 2x
	c.must("cuEventRecord", joined, other)
	c.want(ErrCapturedEvent, "cuEventQuery", joined)
	// The query was not allowed, by which the capture is lost.
	c.want(ErrStreamCaptureInvalidated, "cuStreamEndCapture", s, pointer(&graph))

	c.must("cuStreamBeginCapture_v2", s, captureRelaxed)
	c.must("cuMemsetD32Async", y, 0, n, s)
	c.must("cuEventRecord", forked, s)
	c.must("cuStreamWaitEvent", other, forked, 0)
	c.launchOn(other, f, 1, n, first.list()...)
	c.want(ErrStreamCaptureUnmatched, "cuStreamEndCapture", other, pointer(&graph))
	c.want(ErrStreamCaptureInvalidated, "cuStreamEndCapture", s, pointer(&graph))

	c.must("cuStreamBeginCapture_v2", s, captureRelaxed)
	c.must("cuMemsetD32Async", y, 0, n, s)
	c.must("cuEventRecord", forked, s)
	c.must("cuStreamWaitEvent", other, forked, 0)
	c.launchOn(other, f, 1, n, first.list()...)
	c.want(ErrStreamCaptureUnjoined, "cuStreamEndCapture", s, pointer(&graph))

	c.must("cuStreamBeginCapture_v2", s, captureRelaxed)
	c.must("cuMemsetD32Async", y, 0, n, s)
	c.must("cuEventRecord", forked, s)
	c.must("cuStreamWaitEvent", other, forked, 0)
	c.launchOn(other, f, 1, n, first.list()...)
	c.must("cuEventRecord", joined, other)
	c.must("cuStreamWaitEvent", s, joined, 0)
	c.launchOn(s, f, 1, n, second.list()...) // x = x + 3y
	graph = c.end(s)
	nodes := c.nodes(graph)
	if len(nodes) != 3 {
		t.Fatalf("%d nodes", len(nodes))
	}
	for i, want := range []nodeKind{setNode, kernelNode, kernelNode} {
		var kind uint32
		c.must("cuGraphNodeGetType", nodes[i], pointer(&kind))
		var count uint64
		c.must("cuGraphNodeGetDependencies", nodes[i], 0, pointer(&count))
		if nodeKind(kind) != want || count != uint64(i) {
			t.Errorf("node %d is of kind %d with %d dependencies", i, kind, count)
		}
	}
	c.must("cuGraphLaunch", c.instantiate(graph), 0)
	if got := c.read(x, n)[n-1]; got != 7*n {
		t.Errorf("%g, want %d", got, 7*n)
	}
	c.must("cuEventRecord", joined, s)
	c.must("cuEventQuery", joined)
}

// What a capture cannot record is an error, and the capture is lost.
func TestCaptureErrors(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	var graph, blocking uint64
	addr, word := c.alloc(4), uint32(1)
	c.want(ErrStreamCaptureUnsupported, "cuStreamBeginCapture_v2", nullStream, 0)
	c.want(ErrIllegalState, "cuStreamEndCapture", perThreadStream, pointer(&graph))
	s := c.captured(captureThreadLocal)
	c.want(ErrIllegalState, "cuStreamBeginCapture_v2", s, 0)
	c.want(ErrStreamCaptureUnsupported, "cuStreamSynchronize", s)
	c.want(ErrStreamCaptureInvalidated, "cuMemsetD32Async", addr, 0, 1, s)
	c.want(ErrStreamCaptureInvalidated, "cuStreamEndCapture", s, pointer(&graph))
	c.must("cuStreamSynchronize", s)

	c.must("cuStreamBeginCapture_v2", s, 0)
	c.must("cuMemcpyHtoD_v2", addr, pointer(&word), 4) // the stream does not wait for the null stream
	c.want(ErrStreamCaptureUnsupported, "cuCtxSynchronize")
	c.want(ErrStreamCaptureInvalidated, "cuStreamEndCapture", s, pointer(&graph))

	c.must("cuStreamCreate", pointer(&blocking), 0)
	c.must("cuStreamBeginCapture_v2", blocking, 0)
	c.want(ErrStreamCaptureImplicit, "cuMemcpyHtoD_v2", addr, pointer(&word), 4)
	c.want(ErrStreamCaptureInvalidated, "cuStreamEndCapture", blocking, pointer(&graph))

	c.must("cuStreamBeginCapture_v2", s, captureThreadLocal)
	c.thread++
	c.context()
	c.want(ErrStreamCaptureWrongThread, "cuStreamEndCapture", s, pointer(&graph))
	c.thread--
	c.end(s)
}

// A graph that the program builds node by node, with a graph in it, host functions, and parameters that change after it was instantiated.
func TestGraph(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	f := c.function(saxpyFile, "saxpy")
	x, y, z := c.floats(1, n), c.alloc(4*n), c.alloc(4*n)
	args := saxpyArguments{n: n, a: 2, x: x, y: y}
	list := args.list()
	type kernelNodeParams struct {
		function    uint64
		grid, block [3]uint32
		_           uint32
		_           uint32
		params      *unsafe.Pointer
		_           uint64
		_           uint64
		_           uint64
	}
	kernel := kernelNodeParams{function: f, grid: [3]uint32{1, 1, 1}, block: [3]uint32{n, 1, 1}, params: &list[0]}
	set := struct {
		to, pitch     uint64
		value, size   uint32
		width, height uint64
	}{to: y, value: 0, size: 4, width: n, height: 1}
	copied := linear(z, y, 4*n).words()
	host := [2]uint64{0x1234, 5}
	var graph, inner, setAt, kernelAt, copyAt, hostAt, childAt, emptyAt, inCopy uint64
	c.must("cuGraphCreate", pointer(&graph), 0)
	c.must("cuGraphCreate", pointer(&inner), 0)
	c.must("cuGraphAddMemcpyNode", pointer(&inCopy), inner, 0, 0, pointer(&copied[0]), 0)
	c.must("cuGraphAddEmptyNode", pointer(&emptyAt), graph, 0, 0)
	c.must("cuGraphAddMemsetNode", pointer(&setAt), graph, pointer(&emptyAt), 1, pointer(&set), 0)
	c.must("cuGraphAddChildGraphNode", pointer(&childAt), graph, 0, 0, inner)
	c.must("cuGraphAddKernelNode_v2", pointer(&kernelAt), graph, pointer(&setAt), 1, pointer(&kernel))
	c.must("cuGraphAddHostNode", pointer(&hostAt), graph, pointer(&childAt), 1, pointer(&host))
	c.must("cuGraphAddDependencies", graph, pointer(&kernelAt), pointer(&childAt), 1) // the copy was added before the kernel
	c.want(ErrInvalidValue, "cuGraphAddDependencies", graph, pointer(&kernelAt), pointer(&childAt), 1)
	c.want(ErrInvalidValue, "cuGraphAddMemcpyNode", pointer(&copyAt), graph, pointer(&inCopy), 1, pointer(&copied[0]), 0) // of another graph
	exec := c.instantiate(graph)
	called := 0
	c.answers = func(function uint64, a []uint64) uint64 {
		if function == host[0] && a[0] == host[1] {
			called++
		}
		return 0
	}
	launch := func(factor float32) {
		t.Helper()
		c.must("cuGraphLaunch", exec, 0)
		if got := c.read(z, n)[n-1]; got != factor*n {
			t.Errorf("%g, want %g", got, factor*n)
		}
	}
	launch(2)
	if called != 1 {
		t.Errorf("the host function was called %d times", called)
	}
	var read kernelNodeParams
	c.must("cuGraphKernelNodeGetParams_v2", kernelAt, pointer(&read))
	if read.function != f || read.block != kernel.block || *(*float32)(*at[unsafe.Pointer](pointer(read.params) + 8)) != 2 {
		t.Errorf("%+v", read)
	}
	args.a = 5
	c.must("cuGraphExecKernelNodeSetParams_v2", exec, kernelAt, pointer(&kernel))
	launch(5)
	c.must("cuGraphNodeSetEnabled", exec, hostAt, 0)
	launch(5)
	if called != 2 {
		t.Errorf("the host function was called %d times", called)
	}
	args.a = 7
	c.must("cuGraphKernelNodeSetParams_v2", kernelAt, pointer(&kernel))
	launch(5)
	var result [3]uint64
	c.must("cuGraphExecUpdate_v2", exec, graph, pointer(&result))
	launch(7)
	c.must("cuGraphAddEmptyNode", pointer(&emptyAt), graph, 0, 0)
	c.want(ErrGraphExecUpdateFailure, "cuGraphExecUpdate_v2", exec, graph, pointer(&result))
	if result[0] != updateTopologyChanged {
		t.Errorf("%v", result)
	}
	var clone, found uint64
	c.must("cuGraphClone", pointer(&clone), graph)
	c.must("cuGraphNodeFindInClone", pointer(&found), kernelAt, clone)
	c.must("cuGraphDestroyNode", found)
	if a, b := len(c.nodes(graph)), len(c.nodes(clone)); a != 6 || b != 5 {
		t.Errorf("%d and %d nodes", a, b)
	}
	c.must("cuGraphAddDependencies", graph, pointer(&childAt), pointer(&setAt), 1)
	c.want(ErrInvalidValue, "cuGraphInstantiateWithFlags", pointer(&found), graph, 0)                 // they wait for each other
	c.want(ErrNotSupported, "cuGraphInstantiateWithFlags", pointer(&found), clone, instantiateDevice) // it calls the host
}

// A graph keeps objects of the program's until it and all that was instantiated of it are gone.
func TestUserObject(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	destroyed := 0
	c.answers = func(function uint64, a []uint64) uint64 {
		if function == 0x77 && a[0] == 0x88 {
			destroyed++
		}
		return 0
	}
	var object, graph uint64
	c.must("cuUserObjectCreate", pointer(&object), 0x88, 0x77, 1, 1)
	c.must("cuGraphCreate", pointer(&graph), 0)
	c.must("cuGraphRetainUserObject", graph, object, 1, 1)
	exec := c.instantiate(graph)
	c.must("cuGraphDestroy", graph)
	if destroyed != 0 {
		t.Error("destroyed while a graph has it")
	}
	c.must("cuGraphExecDestroy", exec)
	if destroyed != 1 {
		t.Errorf("destroyed %d times", destroyed)
	}
	c.want(ErrInvalidValue, "cuUserObjectRelease", object, 1)
}

// A fault in a graph is an error of later calls, as that of a launch, and what comes after it is not done.
func TestGraphFault(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: 1000, x: c.alloc(4000), y: c.alloc(400)}
	s := c.captured(captureGlobal)
	c.launchOn(s, f, 1, 1000, args.list()...)
	c.must("cuMemsetD32Async", args.x, 1, 1, s)
	exec := c.instantiate(c.end(s))
	c.want(ErrIllegalAddress, "cuGraphLaunch", exec, s)
	c.want(ErrIllegalAddress, "cuCtxSynchronize")
}
