package cuda

// Nothing dumps the memory of the emulated GPU when a kernel fails: what a program wants of such files is kept for whoever asks.
var coredumpFunctions = []function{
	{"cuCoredumpGetAttribute", "ipp", currentContext, coredumpAttribute},
	{"cuCoredumpGetAttributeGlobal", "ipp", initialized, coredumpAttribute},
	{"cuCoredumpSetAttribute", "ipp", currentContext, coredumpSetAttribute},
	{"cuCoredumpSetAttributeGlobal", "ipp", initialized, coredumpSetAttribute},
}

// Settings of dumps (CUcoredumpSettings): two names of files among yes and no, and a number.
const (
	coredumpFile  = 5
	coredumpPipe  = 6
	coredumpFlags = 7
)

// coredumpSize is how many bytes a setting has at most.
func coredumpSize(number uint64) uint64 {
	switch number {
	case 1, 2, 3, 4:
		return 1
	case coredumpFile, coredumpPipe:
		return 1023
	case coredumpFlags:
		return 4
	}
	return 0
}

// coredumpAttribute: setting, value, room for it and for the answer its size. The end of a name is part of it.
func coredumpAttribute(c *call) Result {
	most := coredumpSize(c.a[0])
	room, r := c.words(c.a[2], 1)
	if r != Success {
		return r
	}
	if most == 0 || room[0] == 0 {
		return ErrInvalidValue
	}
	value := c.coredump[c.a[0]]
	if c.a[0] == coredumpFile || c.a[0] == coredumpPipe {
		most = uint64(len(value)) + 1
	}
	b := make([]byte, most)
	copy(b, value)
	b = b[:min(uint64(len(b)), room[0])]
	c.out64(c.a[2], uint64(len(b)))
	return c.out(c.a[1], b)
}

// coredumpSetAttribute: setting, value, its size.
func coredumpSetAttribute(c *call) Result {
	size, r := c.words(c.a[2], 1)
	if r != Success {
		return r
	}
	if size[0] == 0 || size[0] > coredumpSize(c.a[0]) {
		return ErrInvalidValue
	}
	value := make([]byte, size[0])
	if r := c.load(c.a[1], value); r != Success {
		return r
	}
	if c.coredump == nil {
		c.process.coredump = make(map[uint64][]byte)
	}
	c.coredump[c.a[0]] = value
	return Success
}

// A process cannot be checkpointed: it runs, whoever asks. Its threads are what the system says.
var checkpointFunctions = []function{
	{"cuCheckpointProcessGetState", "ip", nothing, ofClient(func(c *call) Result { return c.out32(c.a[1], processRunning) })},
	{"cuCheckpointProcessGetRestoreThreadId", "ip", nothing, ofClient(func(c *call) Result { return c.out32(c.a[1], uint32(c.a[0])) })},
}

// processRunning is CU_PROCESS_STATE_RUNNING.
const processRunning = 0

// ofClient checks that a number is that of a process that uses the GPU.
func ofClient(run func(*call) Result) func(*call) Result {
	return func(c *call) Result {
		if !c.server.has(c.integer(0)) {
			return ErrInvalidValue
		}
		return run(c)
	}
}
