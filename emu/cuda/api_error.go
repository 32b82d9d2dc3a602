package cuda

var errorFunctions = []function{
	{"cuGetErrorName", "ip", nothing, func(c *call) Result { return c.errorText(Result(c.a[0]).String()) }},
	{"cuGetErrorString", "ip", nothing, func(c *call) Result { return c.errorText(results[Result(c.a[0])].text) }},
}

// errorText returns a string for a result that is the first argument.
func (c *call) errorText(s string) Result {
	if _, known := results[Result(c.a[0])]; !known {
		c.out64(c.a[1], 0)
		return ErrInvalidValue
	}
	addr, r := c.constant(s)
	if r != Success {
		return r
	}
	return c.out64(c.a[1], addr)
}
