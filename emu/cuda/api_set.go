package cuda

var setFunctions = []function{
	{"cuMemsetD8_v2", "nbn", currentContext, setLinear(1)},
	{"cuMemsetD16_v2", "nhn", currentContext, setLinear(2)},
	{"cuMemsetD32_v2", "nin", currentContext, setLinear(4)},
	{"cuMemsetD8Async", "nbnn", currentContext, onStream(3, setLinear(1))},
	{"cuMemsetD16Async", "nhnn", currentContext, onStream(3, setLinear(2))},
	{"cuMemsetD32Async", "ninn", currentContext, onStream(3, setLinear(4))},
	{"cuMemsetD2D8_v2", "nnbnn", currentContext, setRows(1)},
	{"cuMemsetD2D16_v2", "nnhnn", currentContext, setRows(2)},
	{"cuMemsetD2D32_v2", "nninn", currentContext, setRows(4)},
	{"cuMemsetD2D8Async", "nnbnnn", currentContext, onStream(5, setRows(1))},
	{"cuMemsetD2D16Async", "nnhnnn", currentContext, onStream(5, setRows(2))},
	{"cuMemsetD2D32Async", "nninnn", currentContext, onStream(5, setRows(4))},
}

// setLinear sets count elements of a size at an address: address, value, count.
func setLinear(size uint64) func(*call) Result {
	return func(c *call) Result { return c.set(c.a[0], c.a[1], size, c.a[2]) }
}

// setRows sets the elements of rows: address, pitch, value, width, height.
func setRows(size uint64) func(*call) Result {
	return func(c *call) Result {
		addr, pitch, value, width, height := c.a[0], c.a[1], c.a[2], c.a[3], c.a[4]
		if width == 0 {
			return Success
		}
		if height > 1 && width > pitch/size {
			return ErrInvalidValue
		}
		for range height {
			if r := c.set(addr, value, size, width); r != Success {
				return r
			}
			addr += pitch
		}
		return Success
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
