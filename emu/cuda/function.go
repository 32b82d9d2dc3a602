package cuda

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"gpa/emu/cuda/wire"
)

// A need is what a program must have done before it calls a function.
type need uint8

const (
	nothing        need = iota
	initialized         // cuInit
	currentContext      // a context is current to the thread; an error of the context is the result of the call
	runtimeContext      // likewise, but that the primary context is made current where there is none
	runtimeCall         // nothing; it is a function of the runtime, whose errors are kept
)

// A function is a function of the driver API.
type function struct {
	name string
	// args has a letter for each argument: p is a pointer that must not be null, o one that may be, i a number of 32 bits, h of 16, b of 8,
	// n one of 64 bits, a handle or a device address. A structure of more than 16 bytes that is passed by value has a letter for each 8 bytes,
	// s and then dots; r before the first argument is where one goes that the function returns.
	args  string
	needs need
	run   func(*call) Result // nil where the function is not supported
}

// driverNames are the functions of cuda.h, of CUDA 12.9 and 13.
//
//go:embed names.txt
var driverNames string

// hidden are functions that programs get from cuGetProcAddress alone: old Numba looks for name_v2 of every function first, and would
// call these with the arguments of the functions without it.
var hidden = []string{"cuCtxSynchronize_v2", "cuCtxGetDevice_v2"}

// A table is all functions of all libraries, by the number that a library sends.
type table struct {
	list    []function
	numbers map[string]int
}

// newTable puts the functions of cuda.h and the runtime's, and the rows of those that are supported together.
func newTable() *table {
	rows := slices.Concat(deviceFunctions, contextFunctions, memoryFunctions, registerFunctions, mirrored(copyFunctions), mirrored(setFunctions), pointerFunctions, ipcFunctions, poolFunctions, virtualFunctions, moduleFunctions,
		libraryFunctions, linkFunctions, functionFunctions, mirrored(launchFunctions), streamFunctions, captureFunctions, graphFunctions, graphNodeFunctions, graphExecFunctions, graphMemoryFunctions, managedFunctions, coredumpFunctions, checkpointFunctions, resourceFunctions, conditionalFunctions, userObjectFunctions, mirrored(arrayFunctions), mipmapFunctions, textureFunctions, tensorMapFunctions, eventFunctions, occupancyFunctions, entryFunctions, errorFunctions, nvtxFunctions)
	rows = append(rows, runtimeRows(rows)...)
	byName := make(map[string]function)
	names := append(strings.Fields(driverNames), strings.Fields(runtimeNames)...)
	for _, f := range rows {
		byName[f.name] = f
		names = append(names, f.name)
	}
	slices.Sort(names)
	t := &table{numbers: make(map[string]int)}
	for i, name := range slices.Compact(names) {
		f := byName[name]
		f.name = name
		t.list = append(t.list, f)
		t.numbers[name] = i
	}
	return t
}

// names are the functions that a library has by name, by number: those of the driver, those of the runtime, or CuTe DSL's.
func (t *table) names(library int) []string {
	list := make([]string, len(t.list))
	for i, f := range t.list {
		switch {
		case slices.Contains(hidden, f.name) || strings.HasPrefix(f.name, nvtxPrefix):
		case library == cuteLibrary:
			list[i] = cuteNames[f.name]
		case isRuntime(f.name) == (library != driverLibrary):
			list[i] = f.name
		}
	}
	return list
}

// A call is a driver call while it is carried out.
type call struct {
	*process
	conn     *wire.Conn
	function *function
	thread   *thread
	context  *driverContext // current to the thread, nil for none
	library  int            // that was called
	data     uint64         // of the library in the client
	a        [wire.MaxArgs]uint64
	result   uint64 // where a structure goes that is returned, where that is no argument
	outs     []out
	value    *uint64      // what the function returns that returns no CUresult
	inGraph  bool         // it is launching a graph
	tails    []*graphExec // that kernels of the graph have launched to follow it
}

// An out is what a function returns through a pointer.
type out struct {
	addr uint64
	data []byte
}

// serve carries out one call after the other, until the connection ends. The error says how.
func (p *process) serve(conn *wire.Conn) error {
	for {
		var w wire.Call
		if err := conn.Next(&w); err != nil {
			return err
		}
		p.server.calls.Add(1)
		library, number := w.Number/libraryBase, w.Number%libraryBase
		if library >= len(p.server.images) || number >= len(p.server.table.list) {
			return fmt.Errorf("it called function %d, which does not exist", w.Number)
		}
		c := &call{process: p, conn: conn, function: &p.server.table.list[number], library: library, data: w.Data, a: w.Args, result: w.Result}
		r := c.answer(w.Thread)
		if r == Success {
			for _, o := range c.outs {
				if err := conn.Put(o.addr, o.data); err != nil {
					return err
				}
			}
		}
		value := uint64(r)
		if c.value != nil {
			value = *c.value
		}
		if err := conn.Return(value); err != nil {
			return err
		}
	}
}

// answer carries out a call. What a program passes never ends gpa: a mistake in gpa is the error of one call.
func (c *call) answer(thread int) (r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		if e := recover(); e != nil {
			c.server.problem(fmt.Errorf("%s: a mistake in gpa: %v", c.function.name, e))
			r = ErrUnknown
		}
	}()
	f := c.function
	if f.run == nil {
		return c.server.lack(f.name)
	}
	c.thread = c.threadOf(thread)
	if f.needs >= runtimeContext {
		defer func() { c.keepError(r) }()
	}
	switch {
	case f.needs == runtimeContext:
		c.enterRuntime()
	case f.needs == initialized || f.needs == currentContext:
		if !c.initialized {
			return ErrNotInitialized
		}
	}
	c.context = c.thread.current()
	if r := c.structures(); r != Success {
		return r
	}
	if r := c.arguments(); r != Success {
		return r
	}
	if f.needs == currentContext || f.needs == runtimeContext {
		switch {
		case c.context == nil:
			return ErrInvalidContext
		case c.context.destroyed:
			return ErrContextIsDestroyed
		case c.context.failed != Success:
			return c.context.failed
		}
	}
	return f.run(c)
}

// arguments makes the arguments what the function takes.
func (c *call) arguments() Result {
	for i, kind := range []byte(c.function.args) {
		switch a := &c.a[i]; kind {
		case 'p', 'r':
			if *a == 0 {
				return ErrInvalidValue
			}
		case 'i':
			*a = uint64(uint32(*a))
		case 'h':
			*a = uint64(uint16(*a))
		case 'b':
			*a = uint64(uint8(*a))
		}
	}
	return Success
}

// integer is an argument of type int.
func (c *call) integer(i int) int { return int(int32(c.a[i])) }

// out returns bytes through a pointer; a null pointer takes none.
func (c *call) out(addr uint64, data []byte) Result {
	if addr != 0 {
		c.outs = append(c.outs, out{addr, data})
	}
	return Success
}

func (c *call) out32(addr uint64, v uint32) Result { return c.out(addr, le.AppendUint32(nil, v)) }
func (c *call) out64(addr uint64, v uint64) Result { return c.out(addr, le.AppendUint64(nil, v)) }
