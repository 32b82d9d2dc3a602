package cuda

var copyRuntimeFunctions = []function{
	{"cudaMemcpy", "nnni", runtimeContext, func(c *call) Result { return c.copyKind(3, inOrder, linear(c.a[0], c.a[1], c.a[2])) }},
	{"cudaMemcpyAsync", "nnnin", runtimeContext, func(c *call) Result { return c.copyKind(3, 4, linear(c.a[0], c.a[1], c.a[2])) }},
	{"cudaMemcpyPeer", "ninin", runtimeContext, func(c *call) Result { return c.copyLinear(toDevice|fromDevice, inOrder, c.a[0], c.a[2], c.a[4]) }},
	{"cudaMemcpyPeerAsync", "nininn", runtimeContext, func(c *call) Result { return c.copyLinear(toDevice|fromDevice, 5, c.a[0], c.a[2], c.a[4]) }},
	{"cudaMemcpy2D", "nnnnnni", runtimeContext, func(c *call) Result { return c.copyKind(6, inOrder, c.rows()) }},
	{"cudaMemcpy2DAsync", "nnnnnnin", runtimeContext, func(c *call) Result { return c.copyKind(6, 7, c.rows()) }},
	{"cudaMemcpy3D", "p", runtimeContext, func(c *call) Result { return c.copy3DOf(inOrder) }},
	{"cudaMemcpy3DAsync", "pn", runtimeContext, func(c *call) Result { return c.copy3DOf(1) }},
	{"cudaMemcpyToSymbol", "nnnni", runtimeContext, func(c *call) Result { return c.copySymbol(0, inOrder) }},
	{"cudaMemcpyToSymbolAsync", "nnnnin", runtimeContext, func(c *call) Result { return c.copySymbol(0, 5) }},
	{"cudaMemcpyFromSymbol", "nnnni", runtimeContext, func(c *call) Result { return c.copySymbol(1, inOrder) }},
	{"cudaMemcpyFromSymbolAsync", "nnnnin", runtimeContext, func(c *call) Result { return c.copySymbol(1, 5) }},
	{"cudaMemcpy2DToArray", "nnnnnnni", runtimeContext, func(c *call) Result { return c.copyRowsArray(true, inOrder) }},
	{"cudaMemcpy2DToArrayAsync", "nnnnnnnin", runtimeContext, func(c *call) Result { return c.copyRowsArray(true, 8) }},
	{"cudaMemcpy2DFromArray", "nnnnnnni", runtimeContext, func(c *call) Result { return c.copyRowsArray(false, inOrder) }},
	{"cudaMemcpy2DFromArrayAsync", "nnnnnnnin", runtimeContext, func(c *call) Result { return c.copyRowsArray(false, 8) }},
	{"cudaMemcpy2DArrayToArray", "nnnnnnnni", runtimeContext, copyRowsBetween},
	{"cudaMemcpyToArray", "nnnnni", runtimeContext, func(c *call) Result { return c.copyRun(true, inOrder) }},
	{"cudaMemcpyToArrayAsync", "nnnnnin", runtimeContext, func(c *call) Result { return c.copyRun(true, 6) }},
	{"cudaMemcpyFromArray", "nnnnni", runtimeContext, func(c *call) Result { return c.copyRun(false, inOrder) }},
	{"cudaMemcpyFromArrayAsync", "nnnnnin", runtimeContext, func(c *call) Result { return c.copyRun(false, 6) }},
	{"cudaMemcpyArrayToArray", "nnnnnnni", runtimeContext, copyRunBetween},
	{"cudaGraphAddMemcpyNode", "pnonp", runtimeContext, addNodeOf(runtimeCopyOf)},
	{"cudaGraphMemcpyNodeSetParams", "np", runtimeContext, ofNode(0, setNodeTo(runtimeCopyOf))},
	{"cudaGraphExecMemcpyNodeSetParams", "nnp", runtimeContext, ofStep(setStepTo(runtimeCopyOf))},
	{"cudaGraphAddMemcpyNode1D", "pnonnnni", runtimeContext, addNodeOf(func(c *call, to uint64) (work, Result) { return linear(to, c.a[5], c.a[6]), Success })},
	{"cudaGraphMemcpyNodeSetParams1D", "nnnni", runtimeContext, ofNode(0, setNodeTo(func(c *call, to uint64) (work, Result) { return linear(to, c.a[2], c.a[3]), Success }))},
	{"cudaGraphAddMemcpyNodeToSymbol", "pnonnnnni", runtimeContext, addNodeOf(symbolNode(true))},
	{"cudaGraphAddMemcpyNodeFromSymbol", "pnonnnnni", runtimeContext, addNodeOf(symbolNode(false))},
	{"cudaGraphExecMemcpyNodeSetParams1D", "nnnnni", runtimeContext, ofStep(setStepTo(func(c *call, to uint64) (work, Result) { return linear(to, c.a[3], c.a[4]), Success }))},
}

// Directions of copies (cudaMemcpyKind). The last is for copies whose addresses say it.
const (
	hostToHost = iota
	hostToDevice
	deviceToHost
	deviceToDevice
	directionByAddress
)

// copyKind copies in the direction that an argument names, which has to be that of the addresses.
func (c *call) copyKind(kind, stream int, w *copyWork) Result {
	k := c.a[kind]
	if k > directionByAddress {
		return ErrInvalidMemcpyDirection
	}
	if w.size[0] == 0 || w.size[1] == 0 || w.size[2] == 0 {
		return Success
	}
	check := func(r *rectangle, onDevice bool) bool {
		return !onDevice || r.array != nil || c.device.find(r.row(0, 0)) != nil
	}
	if !check(&w.to, k == hostToDevice || k == deviceToDevice) || !check(&w.from, k == deviceToHost || k == deviceToDevice) {
		return ErrInvalidValue
	}
	return c.onStreamOf(stream, w)
}

// rows is what cudaMemcpy2D takes: to, its pitch, from, its pitch, width, height.
func (c *call) rows() *copyWork {
	return &copyWork{to: rectangle{base: c.a[0], pitch: c.a[1], kind: memoryUnified}, from: rectangle{base: c.a[2], pitch: c.a[3], kind: memoryUnified},
		size: [3]uint64{c.a[4], c.a[5], 1}}
}

// symbolNode reads the copy of a node: to, from, count, offset and direction after what all nodes have.
func symbolNode(into bool) reader {
	return func(c *call, to uint64) (work, Result) {
		symbol := to
		if !into {
			symbol = c.a[5]
		}
		w, r := c.symbolCopy(symbol, into, 5)
		return w, r
	}
}

// symbolCopy is a copy between a variable and an address. Of to, from, count and offset in the variable, second is the index of the second argument.
func (c *call) symbolCopy(symbol uint64, into bool, second int) (*copyWork, Result) {
	at, size, r := c.variableAt(symbol)
	if r != Success {
		return nil, r
	}
	n, offset := c.a[second+1], c.a[second+2]
	if offset > size || n > size-offset {
		return nil, ErrInvalidValue
	}
	if into {
		return linear(at+offset, c.a[second], n), Success
	}
	return linear(c.a[second-1], at+offset, n), Success
}

// copySymbol copies between a variable and an address: to, from, count, offset in the variable, direction.
func (c *call) copySymbol(symbol, stream int) Result {
	w, r := c.symbolCopy(c.a[symbol], symbol == 0, 1)
	if r != Success {
		return r
	}
	return c.copyKind(4, stream, w)
}

// copyRowsArray copies rows to an array (array, x, y, from, pitch, width, height, direction) or from one (to, pitch, array, x, y, width, height,
// direction).
func (c *call) copyRowsArray(into bool, stream int) Result {
	at, address, pitch := 0, 3, 4
	if !into {
		at, address, pitch = 2, 0, 1
	}
	a, ok := find[*array](c.process, c.a[at])
	if !ok {
		return ErrInvalidHandle
	}
	there := a.box(c.a[at+1], c.a[at+2], 0)
	here := rectangle{base: c.a[address], pitch: c.a[pitch], kind: memoryUnified}
	w := &copyWork{to: there, from: here, size: [3]uint64{c.a[5], c.a[6], 1}}
	if !into {
		w.to, w.from = here, there
	}
	return c.copyKind(7, stream, w)
}

// copyRowsBetween copies rows between arrays: array, x, y, array, x, y, width, height, direction.
func copyRowsBetween(c *call) Result {
	to, ok1 := find[*array](c.process, c.a[0])
	from, ok2 := find[*array](c.process, c.a[3])
	if !ok1 || !ok2 {
		return ErrInvalidHandle
	}
	w := &copyWork{to: to.box(c.a[1], c.a[2], 0), from: from.box(c.a[4], c.a[5], 0), size: [3]uint64{c.a[6], c.a[7], 1}}
	return c.copyKind(8, inOrder, w)
}

// run returns where so many bytes of an array begin, at a byte of a row: they may go on in the rows that follow.
func (a *array) run(x, y, size uint64) (addr uint64, ok bool) {
	row, all := a.rowBytes(), a.bytes()
	if x >= row || y >= max(1, a.height) || size > all-(y*row+x) {
		return 0, false
	}
	return a.memory.addr + y*row + x, true
}

// copyRun copies a run of bytes to an array (array, x, y, from, size, direction) or from one (to, array, x, y, size, direction).
func (c *call) copyRun(into bool, stream int) Result {
	at, other := 0, 3
	if !into {
		at, other = 1, 0
	}
	a, ok := find[*array](c.process, c.a[at])
	if !ok {
		return ErrInvalidHandle
	}
	there, ok := a.run(c.a[at+1], c.a[at+2], c.a[4])
	if !ok {
		return ErrInvalidValue
	}
	if into {
		return c.copyKind(5, stream, linear(there, c.a[other], c.a[4]))
	}
	return c.copyKind(5, stream, linear(c.a[other], there, c.a[4]))
}

// copyRunBetween copies a run of bytes between arrays: array, x, y, array, x, y, size, direction.
func copyRunBetween(c *call) Result {
	to, ok1 := find[*array](c.process, c.a[0])
	from, ok2 := find[*array](c.process, c.a[3])
	if !ok1 || !ok2 {
		return ErrInvalidHandle
	}
	there, ok1 := to.run(c.a[1], c.a[2], c.a[6])
	here, ok2 := from.run(c.a[4], c.a[5], c.a[6])
	if !ok1 || !ok2 {
		return ErrInvalidValue
	}
	return c.copyKind(7, inOrder, linear(there, here, c.a[6]))
}

// copy3DOf copies as a cudaMemcpy3DParms says.
func (c *call) copy3DOf(stream int) Result {
	w, r := runtimeCopyOf(c, c.a[0])
	if r != Success {
		return r
	}
	return c.onStreamOf(stream, w)
}

// runtimeCopyOf reads a cudaMemcpy3DParms: array, x, y, z, pointer, pitch, width, height of the source, the same of the destination, the extent, and
// the direction. Where there is an array, x and width count its elements.
func runtimeCopyOf(c *call, addr uint64) (work, Result) {
	w, r := c.words(addr, 20)
	if r != Success {
		return nil, r
	}
	k := &copyWork{size: [3]uint64(w[16:19])}
	element := uint64(1)
	for i, side := range []*rectangle{&k.from, &k.to} {
		v := w[8*i:]
		if v[0] == 0 {
			*side = rectangle{base: v[4], x: v[1], y: v[2], z: v[3], pitch: v[5], height: v[7], kind: memoryUnified}
			continue
		}
		a, ok := find[*array](c.process, v[0])
		if !ok {
			return nil, ErrInvalidHandle
		}
		element = formatBytes[a.format] * uint64(a.channels)
		*side = a.box(v[1]*element, v[2], v[3])
	}
	k.size[0] *= element
	return k, Success
}
