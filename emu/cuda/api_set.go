package cuda

var setFunctions = []function{
	{"cuMemsetD8_v2", "nbn", currentContext, setLinear(1, inOrder)},
	{"cuMemsetD16_v2", "nhn", currentContext, setLinear(2, inOrder)},
	{"cuMemsetD32_v2", "nin", currentContext, setLinear(4, inOrder)},
	{"cuMemsetD8Async", "nbnn", currentContext, setLinear(1, 3)},
	{"cuMemsetD16Async", "nhnn", currentContext, setLinear(2, 3)},
	{"cuMemsetD32Async", "ninn", currentContext, setLinear(4, 3)},
	{"cuMemsetD2D8_v2", "nnbnn", currentContext, setRows(1, inOrder)},
	{"cuMemsetD2D16_v2", "nnhnn", currentContext, setRows(2, inOrder)},
	{"cuMemsetD2D32_v2", "nninn", currentContext, setRows(4, inOrder)},
	{"cuMemsetD2D8Async", "nnbnnn", currentContext, setRows(1, 5)},
	{"cuMemsetD2D16Async", "nnhnnn", currentContext, setRows(2, 5)},
	{"cuMemsetD2D32Async", "nninnn", currentContext, setRows(4, 5)},
}

// A setWork sets elements of 1, 2 or 4 bytes in rows.
type setWork struct {
	to, pitch     uint64
	value, size   uint64
	width, height uint64 // in elements, in rows
	slices, slice uint64 // how many more times, and how far apart
}

func (*setWork) kind() nodeKind { return setNode }

func (w *setWork) run(c *call) Result {
	if w.width == 0 {
		return Success
	}
	if w.height > 1 && w.width > w.pitch/w.size {
		return ErrInvalidValue
	}
	for z := range w.slices + 1 {
		for y := range w.height {
			if r := c.set(w.to+z*w.slice+y*w.pitch, w.value, w.size, w.width); r != Success {
				return r
			}
		}
	}
	return Success
}

// setLinear sets count elements of a size at an address: address, value, count.
func setLinear(size uint64, stream int) func(*call) Result {
	return func(c *call) Result {
		return c.onStreamOf(stream, &setWork{to: c.a[0], value: c.a[1], size: size, width: c.a[2], height: 1})
	}
}

// setRows sets the elements of rows: address, pitch, value, width, height.
func setRows(size uint64, stream int) func(*call) Result {
	return func(c *call) Result {
		return c.onStreamOf(stream, &setWork{to: c.a[0], pitch: c.a[1], value: c.a[2], size: size, width: c.a[3], height: c.a[4]})
	}
}

func (c *call) set(addr, value, size, count uint64) Result {
	if count == 0 {
		return Success
	}
	if count > 1<<62/size || addr%size != 0 {
		return ErrInvalidValue
	}
	to, ok := c.device.reachable(addr, size*count)
	if !ok {
		return ErrInvalidValue
	}
	element := le.AppendUint64(nil, value)[:size]
	for n := copy(to, element); n < len(to); n *= 2 {
		copy(to[n:], to[:n])
	}
	return Success
}
