//go:build linux && (amd64 || arm64)

package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// graphFile has kernels that decide what a graph does next.
const graphFile = "../emu/cuda/testdata/graph.sm_80.cubin"

// allocNode adds a node that allocates device memory, and returns it and the address.
func (c *testClient) allocNode(graph, size uint64) (node, addr uint64) {
	c.t.Helper()
	params := [allocParams / 8]uint64{0: 1, 1: 1, allocBytes / 8: size}
	c.must("cuGraphAddMemAllocNode", pointer(&node), graph, 0, 0, pointer(&params))
	return node, params[allocAddress/8]
}

// graphUse is an attribute of what graphs allocate.
func (c *testClient) graphUse(attribute uint64) (bytes uint64) {
	c.t.Helper()
	c.must("cuDeviceGetGraphMemAttribute", 0, attribute, pointer(&bytes))
	return bytes
}

// What a graph allocates is there from the node that allocates it to the one that frees it, at the same address in every launch.
func TestGraphMemory(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	var graph, set, copied, freed uint64
	out := c.alloc(4 * n)
	c.must("cuGraphCreate", pointer(&graph), 0)
	node, addr := c.allocNode(graph, 4*n)
	params := struct {
		to, pitch     uint64
		value, size   uint32
		width, height uint64
	}{to: addr, value: 7, size: 4, width: n, height: 1}
	c.must("cuGraphAddMemsetNode", pointer(&set), graph, pointer(&node), 1, pointer(&params), 0)
	words := linear(out, addr, 4*n).words()
	c.must("cuGraphAddMemcpyNode", pointer(&copied), graph, pointer(&set), 1, pointer(&words[0]), 0)
	c.want(ErrInvalidValue, "cuGraphAddMemFreeNode", pointer(&freed), graph, pointer(&copied), 1, out) // no graph's
	c.must("cuGraphAddMemFreeNode", pointer(&freed), graph, pointer(&copied), 1, addr)
	var word uint64
	c.must("cuGraphMemFreeNodeGetParams", freed, pointer(&word))
	if word != addr {
		t.Errorf("frees %#x, not %#x", word, addr)
	}
	c.must("cuGraphMemAllocNodeGetParams", node, pointer(new([allocParams]byte)))
	c.want(ErrInvalidValue, "cuMemcpyDtoD_v2", out, addr, 4) // not allocated yet
	c.want(ErrInvalidValue, "cuMemFree_v2", addr)
	c.want(ErrNotSupported, "cuGraphClone", pointer(&word), graph)
	c.want(ErrNotSupported, "cuGraphDestroyNode", set)
	c.want(ErrNotSupported, "cuGraphRemoveDependencies", graph, pointer(&node), pointer(&set), 1)
	exec := c.instantiate(graph)
	c.must("cuGraphDestroy", graph)
	for range 2 {
		c.must("cuMemsetD32_v2", out, 0, n)
		c.must("cuGraphLaunch", exec, 0)
		if got := *(*uint32)(unsafe.Pointer(&c.read(out, n)[n-1])); got != 7 {
			t.Fatalf("%d", got)
		}
		c.want(ErrInvalidValue, "cuMemcpyDtoD_v2", out, addr, 4) // it has been freed
	}
	if used, high := c.graphUse(graphUsed), c.graphUse(graphReservedHigh); used != 4*n || high != used {
		t.Errorf("%d bytes are used, %d at most", used, high)
	}
	c.must("cuGraphExecDestroy", exec)
	c.must("cuDeviceGraphMemTrim", 0)
	if used := c.graphUse(graphReserved); used != 0 {
		t.Errorf("%d bytes are used", used)
	}
	zero, one := uint64(0), uint64(1)
	c.want(ErrInvalidValue, "cuDeviceSetGraphMemAttribute", 0, graphUsedHigh, pointer(&one))
	c.want(ErrInvalidValue, "cuDeviceSetGraphMemAttribute", 0, graphUsed, pointer(&zero))
	c.must("cuDeviceSetGraphMemAttribute", 0, graphUsedHigh, pointer(&zero))
	if high := c.graphUse(graphUsedHigh); high != 0 {
		t.Errorf("%d bytes at most", high)
	}
}

// A captured stream allocates in the graph. What the graph leaves there is the program's to free, or the next launch's that was told so.
func TestGraphMemoryLeft(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	f := c.function(saxpyFile, "saxpy")
	x := c.floats(1, n)
	s := c.captured(captureGlobal)
	var y, none uint64
	c.must("cuMemAllocAsync", pointer(&none), 0, s)
	if none != 0 {
		t.Errorf("no bytes lie at %#x", none)
	}
	c.must("cuMemAllocAsync", pointer(&y), 4*n, s)
	c.must("cuMemcpyDtoDAsync_v2", y, x, 4*n, s)
	args := saxpyArguments{n: n, a: 2, x: x, y: y}
	c.launchOn(s, f, 1, n, args.list()...)
	graph := c.end(s)
	exec := c.instantiate(graph)
	c.must("cuGraphLaunch", exec, s)
	if got := c.read(y, n)[n-1]; got != 3*n {
		t.Errorf("%g", got)
	}
	c.want(ErrInvalidValue, "cuGraphLaunch", exec, s) // it is still there
	c.must("cuMemFreeAsync", y, s)
	c.want(ErrInvalidValue, "cuMemFreeAsync", y, s)
	c.must("cuGraphLaunch", exec, s)
	c.must("cuGraphExecDestroy", exec)
	c.must("cuGraphDestroy", graph)
	if got := c.read(y, n)[0]; got != 3 { // longer than the graph
		t.Errorf("%g", got)
	}
	c.must("cuMemFree_v2", y)
	if r := c.call("cuMemFree_v2", y); r != ErrInvalidValue {
		t.Errorf("%v", r)
	}

	c.must("cuStreamBeginCapture_v2", s, 0)
	c.must("cuMemAllocAsync", pointer(&y), 4*n, s)
	c.must("cuMemsetD32Async", y, 0x40000000, n, s)
	graph = c.end(s)
	c.must("cuGraphInstantiateWithFlags", pointer(&exec), graph, instantiateAutoFree)
	for range 2 {
		c.must("cuGraphLaunch", exec, s)
		if got := c.read(y, n)[0]; got != 2 {
			t.Errorf("%g", got)
		}
	}
}

// A conditional node does what kernels have decided: one of two graphs, one of many, or one again and again.
func TestConditional(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	decide, countDown := c.function(graphFile, "decide"), c.function(graphFile, "count_down")
	marks, left, rounds := c.alloc(8), c.alloc(4), c.alloc(4)
	words := func(addr uint64, n int) []uint32 {
		b := make([]uint32, n)
		c.must("cuMemcpyDtoH_v2", pointer(&b[0]), addr, uint64(4*n))
		return b
	}
	// conditional adds a node behind what a stream has captured, and returns the graphs that it chooses from.
	conditional := func(s, handle uint64, form, count uint32) []uint64 {
		t.Helper()
		var status uint32
		var id, graph, after, edges, n, node uint64
		c.must("cuStreamGetCaptureInfo_v3", s, pointer(&status), pointer(&id), pointer(&graph), pointer(&after), pointer(&edges), pointer(&n))
		if n == 0 || edges == 0 || *at[uint64](edges) != 0 {
			t.Fatalf("%d dependencies, their data at %#x", n, edges)
		}
		params := [32]uint64{0: uint64(conditionalNode), 2: handle, 3: uint64(form) | uint64(count)<<32}
		c.must("cuGraphAddNode_v2", pointer(&node), graph, after, edges, n, pointer(&params))
		c.must("cuStreamUpdateCaptureDependencies_v2", s, pointer(&node), 0, 1, 1)
		return unsafe.Slice(at[uint64](params[4]), count)
	}
	// body records setting a mark as the only node of a graph.
	body := func(graph uint64, place, value uint64) {
		t.Helper()
		var s uint64
		c.must("cuStreamCreate", pointer(&s), 1)
		c.must("cuStreamBeginCaptureToGraph", s, graph, 0, 0, 0, captureRelaxed)
		c.must("cuMemsetD32Async", marks+4*place, value, 1, s)
		c.end(s)
	}
	capturedGraph := func(s uint64) (graph uint64) {
		var status uint32
		var id uint64
		c.must("cuStreamGetCaptureInfo_v2", s, pointer(&status), pointer(&id), pointer(&graph), 0, pointer(new(uint64)))
		return graph
	}
	for _, tt := range []struct {
		form, count, value uint32
		want               uint32
	}{
		{conditionalIf, 1, 0, 0}, {conditionalIf, 1, 5, 10}, {conditionalIf, 2, 0, 11}, {conditionalIf, 2, 1, 10},
		{conditionalSwitch, 3, 2, 12}, {conditionalSwitch, 3, 3, 0},
	} {
		c.must("cuMemsetD32_v2", marks, 0, 2)
		s := c.captured(captureRelaxed)
		var handle uint64
		c.must("cuGraphConditionalHandleCreate", pointer(&handle), capturedGraph(s), 0, 0, 0)
		c.launchOn(s, decide, 1, 1, unsafe.Pointer(&handle), unsafe.Pointer(&tt.value))
		for i, g := range conditional(s, handle, tt.form, tt.count) {
			body(g, 0, uint64(10+i))
		}
		c.must("cuMemsetD32Async", marks+4, 1, 1, s)
		c.must("cuGraphLaunch", c.instantiate(c.end(s)), 0)
		if got := words(marks, 2); got[0] != tt.want || got[1] != 1 {
			t.Errorf("%+v: %d", tt, got)
		}
	}

	var handle, other, second, node uint64
	s := c.captured(captureRelaxed)
	graph := capturedGraph(s)
	const assignDefault = 1
	c.must("cuGraphConditionalHandleCreate", pointer(&handle), graph, 0, 1, assignDefault)
	c.must("cuMemsetD32Async", rounds, 0, 1, s)
	bodies := conditional(s, handle, conditionalWhile, 1)
	c.must("cuStreamCreate", pointer(&second), 1)
	c.must("cuStreamBeginCaptureToGraph", second, bodies[0], 0, 0, 0, captureRelaxed)
	c.launchOn(second, countDown, 1, 1, unsafe.Pointer(&handle), unsafe.Pointer(&left), unsafe.Pointer(&rounds))
	c.end(second)
	exec := c.instantiate(c.end(s))
	for _, n := range []uint32{10, 3} {
		c.must("cuMemsetD32_v2", left, uint64(n), 1)
		c.must("cuGraphLaunch", exec, 0)
		if got := words(rounds, 1)[0]; got != n {
			t.Errorf("%d rounds, want %d", got, n)
		}
	}
	params := [32]uint64{0: uint64(conditionalNode), 2: handle, 3: conditionalIf | 1<<32}
	c.want(ErrInvalidValue, "cuGraphAddNode_v2", pointer(&node), graph, 0, 0, 0, pointer(&params)) // a node depends on it
	c.must("cuGraphCreate", pointer(&other), 0)
	c.must("cuGraphConditionalHandleCreate", pointer(&params[2]), graph, 0, 0, 0)
	c.want(ErrInvalidValue, "cuGraphAddNode_v2", pointer(&node), other, 0, 0, 0, pointer(&params)) // it is of another graph
	c.want(ErrNotSupported, "cuGraphClone", pointer(&other), graph)

	path := filepath.Join(t.TempDir(), "graph.dot")
	name := cString(path)
	c.must("cuGraphDebugDotPrint", graph, pointer(&name[0]), 0)
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "CONDITIONAL") || !strings.Contains(string(text), "KERNEL count_down") || strings.Count(string(text), "->") != 1 {
		t.Errorf("%v, %s", err, text)
	}

	// A node in a body may depend on a condition of the graph around it, not the other way round.
	for _, tt := range []struct {
		of, in uint64
		want   Result
	}{{graph, bodies[0], Success}, {bodies[0], graph, ErrInvalidValue}} {
		c.must("cuGraphConditionalHandleCreate", pointer(&params[2]), tt.of, 0, 0, 0)
		c.want(tt.want, "cuGraphAddNode_v2", pointer(&node), tt.in, 0, 0, 0, pointer(&params))
	}
}

// A stream that has recorded its part of a capture can be destroyed; what it recorded has to be joined all the same.
func TestCaptureDestroyed(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	x := c.alloc(8)
	var forked, joined, graph uint64
	c.must("cuEventCreate", pointer(&forked), 0)
	c.must("cuEventCreate", pointer(&joined), 0)
	s := c.captured(captureRelaxed)
	for _, join := range []bool{true, false} {
		if !join {
			c.must("cuStreamBeginCapture_v2", s, captureRelaxed)
		}
		var other uint64
		c.must("cuStreamCreate", pointer(&other), 1)
		c.must("cuMemsetD32Async", x, 1, 1, s)
		c.must("cuEventRecord", forked, s)
		c.must("cuStreamWaitEvent", other, forked, 0)
		c.must("cuMemsetD32Async", x+4, 1, 1, other)
		if join {
			c.must("cuEventRecord", joined, other)
			c.must("cuStreamWaitEvent", s, joined, 0)
		}
		c.must("cuStreamDestroy_v2", other)
		if join {
			if n := len(c.nodes(c.end(s))); n != 2 {
				t.Errorf("%d nodes", n)
			}
		} else {
			c.want(ErrStreamCaptureUnjoined, "cuStreamEndCapture", s, pointer(&graph))
		}
	}
}

// User objects of a graph within a graph go with its node, and those of a graph that was replaced by an update go with the update.
func TestUserObjectsInside(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	destroyed := 0
	c.answers = func(function uint64, a []uint64) uint64 {
		destroyed++
		return 0
	}
	withObject := func() (graph, object uint64) {
		const noDestructorSync, move = 1, 1
		c.must("cuUserObjectCreate", pointer(&object), 0x88, 0x77, 1, noDestructorSync)
		c.must("cuGraphCreate", pointer(&graph), 0)
		c.must("cuGraphRetainUserObject", graph, object, 1, move)
		return graph, object
	}
	inside, _ := withObject()
	var graph, node uint64
	c.must("cuGraphCreate", pointer(&graph), 0)
	c.must("cuGraphAddChildGraphNode", pointer(&node), graph, 0, 0, inside)
	exec := c.instantiate(graph)
	c.must("cuGraphDestroy", inside)
	c.must("cuGraphDestroyNode", node)
	if destroyed != 0 {
		t.Error("destroyed while an executable graph has it")
	}
	fresh, _ := withObject()
	c.must("cuGraphAddEmptyNode", pointer(&node), fresh, 0, 0)
	c.must("cuGraphExecDestroy", exec)
	if destroyed != 1 {
		t.Errorf("destroyed %d times", destroyed)
	}
	exec = c.instantiate(fresh)
	c.must("cuGraphDestroy", fresh)
	c.must("cuGraphCreate", pointer(&graph), 0)
	c.must("cuGraphAddEmptyNode", pointer(&node), graph, 0, 0)
	c.must("cuGraphExecUpdate_v2", exec, graph, pointer(new([3]uint64)))
	if destroyed != 2 {
		t.Errorf("destroyed %d times", destroyed)
	}
}

// There are pools of the host's memory and of managed memory, whose places tell what they are.
func TestPoolPlaces(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	for _, tt := range []struct {
		allocation, location, kind uint32
		managed                    bool
	}{
		{allocationPinned, locationDevice, memoryDevice, false}, {allocationPinned, locationHost, memoryHost, false},
		{allocationPinned, locationHostNode, memoryHost, false}, {allocationManaged, locationNone, memoryDevice, true},
	} {
		place := uint64(tt.location)
		props := [11]uint64{0: uint64(tt.allocation), 1: place, 3: 1000}
		var first, current, pool, addr uint64
		c.must("cuMemGetDefaultMemPool", pointer(&first), pointer(&place), uint64(tt.allocation))
		c.must("cuMemPoolCreate", pointer(&pool), pointer(&props))
		c.must("cuMemSetMemPool", pointer(&place), uint64(tt.allocation), pool)
		c.must("cuMemGetMemPool", pointer(&current), pointer(&place), uint64(tt.allocation))
		if current != pool || first == pool {
			t.Errorf("%+v: pools %#x, %#x and %#x", tt, first, pool, current)
		}
		c.want(ErrOutOfMemory, "cuMemAllocFromPoolAsync", pointer(&addr), 1001, pool, 0)
		c.must("cuMemAllocFromPoolAsync", pointer(&addr), 1000, pool, 0)
		var kind, location uint32
		var managed uint8
		c.must("cuPointerGetAttribute", pointer(&kind), pointerMemoryType, addr)
		c.must("cuPointerGetAttribute", pointer(&managed), pointerManaged, addr)
		c.must("cuMemPoolGetAttribute", pool, poolLocation, pointer(&location))
		if kind != tt.kind || managed != uint8(btoi(tt.managed)) || location != tt.location {
			t.Errorf("%+v: type %d, managed %d, location %d", tt, kind, managed, location)
		}
		if tt.kind == memoryHost || tt.managed {
			*at[uint32](addr) = 5 // the program reaches it
		}
		c.must("cuMemFreeAsync", addr, 0)
		c.must("cuMemPoolDestroy", pool)
		c.must("cuMemGetMemPool", pointer(&current), pointer(&place), uint64(tt.allocation))
		if current != first {
			t.Errorf("%+v: pool %#x, not %#x", tt, current, first)
		}
	}
	nowhere := uint64(locationNone)
	c.want(ErrInvalidValue, "cuMemGetMemPool", pointer(&nowhere), pointer(&nowhere), allocationPinned)
	var addr uint64
	c.must("cuMemAllocAsync", pointer(&addr), 0, 0)
	if addr != 0 {
		t.Errorf("no bytes lie at %#x", addr)
	}
}

// What a program says of managed memory can be asked for.
func TestManagedAdvice(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const size = 4096
	var addr uint64
	c.must("cuMemAllocManaged", pointer(&addr), size, attachGlobal)
	get := func(attribute uint64) (v uint32) {
		t.Helper()
		c.must("cuMemRangeGetAttribute", pointer(&v), 4, attribute, addr, size)
		return v
	}
	if mostly, at, last := get(rangeReadMostly), get(rangePreferred), get(rangePrefetched); mostly != 0 || at != deviceInvalid || last != deviceInvalid {
		t.Errorf("%d, %#x, %#x at the beginning", mostly, at, last)
	}
	node := uint64(locationHostNode)
	c.must("cuMemAdvise", addr, size, adviseReadMostly, 0)
	c.must("cuMemAdvise_v2", addr, size, advisePreferred, node)
	c.must("cuMemAdvise", addr, size, adviseAccessed, 0)
	c.must("cuMemAdvise", addr, size, adviseAccessed, deviceHost)
	c.must("cuMemPrefetchAsync", addr, size, deviceHost, 0)
	if mostly, at, kind, last := get(rangeReadMostly), get(rangePreferred), get(rangePreferredKind), get(rangePrefetched); mostly != 1 || at != deviceInvalid ||
		kind != locationHostNode || last != deviceHost {
		t.Errorf("%d, %#x of kind %d, %#x", mostly, at, kind, last)
	}
	var accessed [3]uint32
	c.must("cuMemRangeGetAttribute", pointer(&accessed), 12, rangeAccessed, addr, size)
	if accessed != [3]uint32{0, deviceHost, deviceInvalid} {
		t.Errorf("%#x", accessed)
	}
	c.must("cuMemAdvise", addr, size, adviseNoAccess, 0)
	c.must("cuMemAdvise", addr, size, adviseNoMostly, 0)
	var mostly uint32
	answers, sizes, attributes := [2]uint64{pointer(&mostly), pointer(&accessed)}, [2]uint64{4, 4}, [2]uint32{rangeReadMostly, rangeAccessed}
	mostly = 7
	c.must("cuMemRangeGetAttributes", pointer(&answers), pointer(&sizes), pointer(&attributes), 2, addr, size)
	if mostly != 0 || accessed[0] != deviceHost {
		t.Errorf("%d, %#x", mostly, accessed)
	}
	device, start := uint64(locationDevice), uint64(0)
	list, length := addr, uint64(size)
	c.must("cuMemPrefetchBatchAsync", pointer(&list), pointer(&length), 1, pointer(&device), pointer(&start), 1, 0, 0)
	if last := get(rangePrefetched); last != 0 {
		t.Errorf("%#x", last)
	}
	c.must("cuMemDiscardBatchAsync", pointer(&list), pointer(&length), 1, 0, 0)
	c.want(ErrInvalidDevice, "cuMemAdvise", addr, size, advisePreferred, 1)
	c.want(ErrInvalidValue, "cuMemAdvise_v2", addr, size, adviseAccessed, node)
	c.want(ErrInvalidValue, "cuMemRangeGetAttribute", pointer(&mostly), 4, rangeReadMostly, addr, size+1)
	c.want(ErrInvalidValue, "cuMemRangeGetAttribute", pointer(&mostly), 8, rangeReadMostly, addr, size)
}

// What gpa does not do by itself is kept or said: files of failed kernels, and that a process runs.
func TestDebugSettings(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	state := uint32(7)
	c.must("cuCheckpointProcessGetState", uint64(os.Getpid()), pointer(&state)) // before cuInit too
	if state != processRunning {
		t.Errorf("state %d", state)
	}
	c.want(ErrInvalidValue, "cuCheckpointProcessGetState", 1<<30, pointer(&state))
	c.must("cuInit", 0)
	name, yes, size := cString("core"), uint8(1), uint64(5)
	c.must("cuCoredumpSetAttributeGlobal", coredumpFile, pointer(&name[0]), pointer(&size))
	size = 1
	c.must("cuCoredumpSetAttributeGlobal", 3, pointer(&yes), pointer(&size))
	c.want(ErrInvalidValue, "cuCoredumpSetAttributeGlobal", 99, pointer(&yes), pointer(&size))
	var got [64]byte
	size = 64
	c.must("cuCoredumpGetAttributeGlobal", coredumpFile, pointer(&got), pointer(&size))
	if string(got[:5]) != "core\x00" {
		t.Errorf("%q", got[:size])
	}
	size = 1
	c.must("cuCoredumpGetAttributeGlobal", 3, pointer(&got), pointer(&size))
	if got[0] != 1 || size != 1 {
		t.Errorf("%d in %d bytes", got[0], size)
	}
}

// The clock of events passes while a kernel sleeps, also where launches are not timed.
func TestSleepTakesTime(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	var from, to uint64
	c.must("cuEventCreate", pointer(&from), 0)
	c.must("cuEventCreate", pointer(&to), 0)
	c.must("cuEventRecord", from, 0)
	times, ms := int32(20), float32(0)
	if r := c.launch(c.function(graphFile, "nap"), 1, 1, unsafe.Pointer(&times)); r != Success {
		t.Fatal(r)
	}
	c.must("cuEventRecord", to, 0)
	c.must("cuEventElapsedTime", pointer(&ms), from, to)
	if ms < 19 || ms > 41 {
		t.Errorf("%g ms", ms)
	}
}

// Smaller rules: no more dynamic shared memory than a kernel has opted in to, and which errors are what.
func TestSmallRules(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.must("cuInit", 0)
	var name, array, bytes uint64
	attributes, values := [1]uint32{pointerMemoryType}, [1]uint32{9}
	list := pointer(&values)
	c.must("cuPointerGetAttributes", 1, pointer(&attributes), pointer(&list), pointer(&name)) // before there is a context
	if values[0] != 0 {
		t.Errorf("type %d of the host's memory", values[0])
	}
	c.context()
	c.want(ErrInvalidValue, "cuKernelGetName", pointer(&name), 0)
	c.want(ErrInvalidValue, "cuFuncGetName", pointer(&name), 0)
	c.want(ErrInvalidValue, "cuArrayCreate_v2", pointer(&array), pointer(new([24]byte)))
	f := c.function(saxpyFile, "saxpy")
	c.must("cuOccupancyAvailableDynamicSMemPerBlock", pointer(&bytes), f, 1, 64)
	if bytes != defaultShared {
		t.Errorf("%d bytes", bytes)
	}
	const optIn = 100 << 10
	c.must("cuFuncSetAttribute", f, functionDynamic, optIn)
	c.must("cuOccupancyAvailableDynamicSMemPerBlock", pointer(&bytes), f, 1, 64)
	if bytes != optIn {
		t.Errorf("%d bytes", bytes)
	}
}

// The SMs of the GPU are divided into groups of a least size and a unit.
func TestResources(t *testing.T) {
	for _, tt := range []struct {
		gpu                       string
		least, asked, flags       uint32
		all, possible, size, rest uint32
	}{
		{gpu: "a100", least: 3, asked: 5, all: 108, possible: 27, size: 4, rest: 88},
		{gpu: "h100", least: 0, asked: 2, all: 132, possible: 16, size: 8, rest: 116},
		{gpu: "h100", least: 0, asked: 66, flags: 1, all: 132, possible: 66, size: 2, rest: 0},
	} {
		c := newClient(t, start(t, tt.gpu))
		c.context()
		var whole, rest [resourceBytes]byte
		c.must("cuDeviceGetDevResource", 0, pointer(&whole), resourceSM)
		c.must("cuCtxGetDevResource", 0, pointer(&rest), resourceSM)
		if whole != rest || le.Uint32(whole[resourceCount:]) != tt.all {
			t.Fatalf("%s has %d SMs", tt.gpu, le.Uint32(whole[resourceCount:]))
		}
		var n uint32
		c.must("cuDevSmResourceSplitByCount", 0, pointer(&n), pointer(&whole), 0, uint64(tt.flags), uint64(tt.least))
		if n != tt.possible {
			t.Errorf("%s: %d groups are possible, want %d", tt.gpu, n, tt.possible)
		}
		n = tt.asked
		groups := make([][resourceBytes]byte, n)
		c.must("cuDevSmResourceSplitByCount", pointer(&groups[0]), pointer(&n), pointer(&whole), pointer(&rest), uint64(tt.flags), uint64(tt.least))
		last := groups[len(groups)-1]
		if size, left := le.Uint32(last[resourceCount:]), le.Uint32(rest[resourceCount:]); n != tt.asked || size != tt.size || left != tt.rest {
			t.Errorf("%s: %d groups of %d SMs, %d remain", tt.gpu, n, size, left)
		}
		c.want(ErrInvalidResourceConfiguration, "cuDevSmResourceSplitByCount", 0, pointer(&n), pointer(&whole), 0, 0, 1000)
		if tt.rest == 0 {
			c.want(ErrInvalidResourceType, "cuDevSmResourceSplitByCount", 0, pointer(&n), pointer(&rest), 0, 0, 1)
		}
	}
}

// Kernels of a graph launch other graphs: beside theirs, or to follow it.
func TestDeviceLaunch(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	f := c.function(graphFile, "start_graph")
	word, result := c.alloc(4), c.alloc(4)
	value := func(addr uint64) (v uint32) {
		c.must("cuMemcpyDtoH_v2", pointer(&v), addr, 4)
		return v
	}
	s := c.captured(captureRelaxed)
	c.must("cuMemsetD32Async", word, 1, 1, s)
	graph := c.end(s)
	plain := c.instantiate(graph)
	var inner uint64
	c.must("cuGraphInstantiateWithFlags", pointer(&inner), graph, instantiateDevice)
	for _, tt := range []struct {
		exec, stream uint64
		result       Result
		want         uint32
	}{
		{inner, graphForget, Success, 2},  // the set that comes after the kernel is the last
		{inner, graphSibling, Success, 2}, // likewise
		{inner, graphTail, Success, 1},    // the launched graph is
		{inner, 0, ErrInvalidValue, 2},
		{plain, graphTail, ErrInvalidValue, 2},
	} {
		c.must("cuStreamBeginCapture_v2", s, captureRelaxed)
		c.launchOn(s, f, 1, 1, unsafe.Pointer(&tt.exec), unsafe.Pointer(&tt.stream), unsafe.Pointer(&result))
		c.must("cuMemsetD32Async", word, 2, 1, s)
		exec := c.instantiate(c.end(s))
		c.must("cuMemsetD32_v2", word, 0, 1)
		c.must("cuGraphLaunch", exec, 0)
		if r, got := Result(value(result)), value(word); r != tt.result || got != tt.want {
			t.Errorf("%+v: %v, the word is %d", tt, r, got)
		}
	}
	tail := uint64(graphTail)
	if r := c.launch(f, 1, 1, unsafe.Pointer(&inner), unsafe.Pointer(&tail), unsafe.Pointer(&result)); r != Success {
		t.Fatal(r)
	}
	if r := Result(value(result)); r != ErrInvalidValue { // the kernel is part of no graph
		t.Errorf("%v", r)
	}
	c.must("cuGraphLaunch", inner, 0) // by the host
	if got := value(word); got != 1 {
		t.Errorf("the word is %d", got)
	}
}

// Clusters lie on one GPC each, which has so many SMs.
func TestClusterOccupancy(t *testing.T) {
	type attribute struct {
		id, _ uint32
		size  [3]uint32
		_     [13]uint32
	}
	type config struct {
		grid, block [3]uint32
		_, _        uint32 // shared memory
		_, at       uint64 // stream, attributes
		count, _    uint32
	}
	files := map[string]string{"a100": saxpyFile, "h100": "basic/saxpy/saxpy.sm_90.cubin"}
	ask := func(gpu string, cluster uint32) (clusters, most uint32, results [2]Result) {
		c := newClient(t, start(t, gpu))
		c.context()
		f := c.function(files[gpu], "saxpy")
		a := attribute{id: attributeCluster, size: [3]uint32{cluster, 1, 1}}
		q := config{grid: [3]uint32{128, 1, 1}, block: [3]uint32{1024, 1, 1}, at: pointer(&a), count: 1}
		results[0] = c.call("cuOccupancyMaxActiveClusters", pointer(&clusters), f, pointer(&q))
		results[1] = c.call("cuOccupancyMaxPotentialClusterSize", pointer(&most), f, pointer(&q))
		// A cudaLaunchConfig_t lies as a CUlaunchConfig does.
		c.library = runtime13Library
		p := c.register(files[gpu], "saxpy", "")
		var n, size uint32
		if r := [2]Result{c.call("cudaOccupancyMaxActiveClusters", pointer(&n), p.kernel, pointer(&q)), c.call("cudaOccupancyMaxPotentialClusterSize", pointer(&size), p.kernel, pointer(&q))}; n != clusters || size != most || r[0] != results[0] || r[1] != results[1] {
			t.Errorf("the runtime has %d clusters, %d blocks at most, %v", n, size, r)
		}
		return clusters, most, results
	}
	// 108 SMs that hold two blocks each, and no clusters.
	if n, _, r := ask("a100", 1); n != 216 || r[0] != Success || r[1] != ErrInvalidClusterSize {
		t.Errorf("%d clusters of one block, %v", n, r)
	}
	if _, _, r := ask("a100", 2); r[0] != ErrInvalidClusterSize {
		t.Errorf("%v", r)
	}
	// Two GPCs of 18 SMs and six of 16.
	if n, most, r := ask("h100", 8); n != 32 || most != portableCluster || r != [2]Result{} {
		t.Errorf("%d clusters of 8 blocks, %d blocks at most, %v", n, most, r)
	}
	if n, _, _ := ask("h100", 3); n != 2*12+6*10 {
		t.Errorf("%d clusters of 3 blocks", n)
	}
}

// The runtime's calls for what graphs allocate and decide, in both of its versions.
func TestRuntimeGraphMemory(t *testing.T) {
	for _, library := range []int{runtime12Library, runtime13Library} {
		c := newClient(t, start(t, "a100"))
		c.library = library
		var graph, node, freed, decided, exec, handle, bytes uint64
		c.must("cudaGraphCreate", pointer(&graph), 0)
		params := [allocParams / 8]uint64{0: 1, 1: 1, allocBytes / 8: 4096}
		c.must("cudaGraphAddMemAllocNode", pointer(&node), graph, 0, 0, pointer(&params))
		c.must("cudaGraphAddMemFreeNode", pointer(&freed), graph, pointer(&node), 1, params[allocAddress/8])
		c.must("cudaGraphConditionalHandleCreate", pointer(&handle), graph, 1, 1)
		any := [256 / 8]uint64{0: uint64(conditionalNode), anyParams / 8: handle, anyParams/8 + 1: 1 << 32} // an if with one body
		copied := [256 / 8]uint64{0: uint64(copyNode)}
		if library == runtime12Library {
			c.must("cudaGraphAddNode", pointer(&decided), graph, pointer(&freed), 1, pointer(&any))
			c.want(ErrNotSupported, "cudaGraphAddNode", pointer(&decided), graph, 0, 0, pointer(&copied))
		} else {
			c.must("cudaGraphAddNode", pointer(&decided), graph, pointer(&freed), 0, 1, pointer(&any))
			c.want(ErrNotSupported, "cudaGraphAddNode", pointer(&decided), graph, 0, 0, 0, pointer(&copied))
		}
		c.must("cudaGraphInstantiate", pointer(&exec), graph, 0)
		c.must("cudaGraphLaunch", exec, 0)
		c.must("cudaDeviceGetGraphMemAttribute", 0, graphUsedHigh, pointer(&bytes))
		if bytes < 4096 {
			t.Errorf("%d bytes at most", bytes)
		}
	}
}
