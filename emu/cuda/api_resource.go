package cuda

// Resources of the GPU are its SMs, which programs divide into groups. Contexts that have some of them (green contexts) are not supported.

var resourceFunctions = []function{
	{"cuDeviceGetDevResource", "ipi", initialized, ofDevice(0, func(c *call) Result { return c.wholeResource(c.a[2]) })},
	{"cuCtxGetDevResource", "npi", initialized, contextResource},
	{"cuDevSmResourceSplitByCount", "oppoii", initialized, splitResource},
}

// Places in CUdevResource: type; number of SMs, the least and the unit of a group.
const (
	resourceBytes  = 144
	resourceCount  = 96
	resourceLeast  = 100
	resourceUnit   = 104
	resourceSM     = 1 // type
	resourceAbsent = 0
)

// resourceGroups are the least SMs and the unit of a group by the CUDA C++ Programming Guide: an architecture with clusters keeps the SMs together
// that a cluster may need, unless the program does without.
func (c *call) resourceGroups(alone bool) (least, unit int) {
	if c.gpu().Arch >= 90 && !alone {
		return 8, 8
	}
	return 2, 2
}

// smResource is a CUdevResource of so many SMs.
func (c *call) smResource(sms int) []byte {
	b := make([]byte, resourceBytes)
	if sms > 0 {
		least, unit := c.resourceGroups(false)
		le.PutUint32(b, resourceSM)
		le.PutUint32(b[resourceCount:], uint32(sms))
		le.PutUint32(b[resourceLeast:], uint32(least))
		le.PutUint32(b[resourceUnit:], uint32(unit))
	}
	return b
}

// wholeResource returns all SMs.
func (c *call) wholeResource(kind uint64) Result {
	switch kind {
	case resourceSM:
		return c.out(c.a[1], c.smResource(c.gpu().SMs.Int()))
	case resourceAbsent:
		return ErrInvalidResourceType
	}
	return c.lackOf("of other resources than SMs")
}

// contextResource: context, resource, type. A context has the whole GPU.
func contextResource(c *call) Result {
	if _, r := c.contextOf(c.a[0]); r != Success {
		return r
	}
	return c.wholeResource(c.a[2])
}

// splitResource: groups or null, their number, what is divided, what remains or null, flags, the least SMs of a group. It returns how many groups there are,
// as many as asked for at most.
func splitResource(c *call) Result {
	const alone, largestCluster = 1, 2 // flags
	var number [4]byte
	if r := c.load(c.a[1], number[:]); r != Success {
		return r
	}
	b := make([]byte, resourceBytes)
	if r := c.load(c.a[2], b); r != Success {
		return r
	}
	all := int(le.Uint32(b[resourceCount:]))
	switch {
	case le.Uint32(b) != resourceSM:
		return ErrInvalidResourceType
	case c.a[4]&^(alone|largestCluster) != 0 || all > c.gpu().SMs.Int():
		return ErrInvalidValue
	}
	least, unit := c.resourceGroups(c.a[4]&alone != 0)
	wanted := max(int(uint32(c.a[5])), least)
	if wanted > all {
		return ErrInvalidResourceConfiguration
	}
	size := (wanted + unit - 1) / unit * unit
	groups := all / size
	if c.a[0] != 0 {
		groups = min(groups, int(le.Uint32(number[:])))
		var list []byte
		for range groups {
			list = append(list, c.smResource(size)...)
		}
		c.out(c.a[0], list)
		if c.a[3] != 0 {
			c.out(c.a[3], c.smResource(all-groups*size))
		}
	}
	return c.out32(c.a[1], uint32(groups))
}
