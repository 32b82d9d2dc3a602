package cuda

import (
	"crypto/rand"
	"fmt"
	"slices"
)

// Memory and events of one process that others use (IPC). A handle stands in the server's table as long as what it names exists. Memory that another
// process has opened has an address of its own there; the bytes are those of the process that it belongs to, whose device memory stays until the last
// one has closed them.

// A shareHandle is a CUipcMemHandle or a CUipcEventHandle. Who has not been told it cannot guess it.
type shareHandle [64]byte

// A share is memory or an event that other processes may open.
type share struct {
	handle shareHandle
	owner  *process
	device *deviceMemory // of memory: where it lies
	data   []byte
	size   uint64 // as asked for
	event  bool
}

// An opening is memory of another process that has been opened.
type opening struct {
	share *share
	count int // how often
}

var ipcFunctions = []function{
	{"cuIpcGetMemHandle", "pn", currentContext, shareMemory},
	{"cuIpcOpenMemHandle_v2", "ps.......i", currentContext, openMemory},
	{"cuIpcOpenMemHandle", "ps.......i", currentContext, openMemory},
	{"cuIpcCloseMemHandle", "n", currentContext, closeMemory},
	{"cuIpcGetEventHandle", "pn", currentContext, ofEvent(1, shareEvent)},
	{"cuIpcOpenEventHandle", "ps.......", currentContext, openEvent},
}

// passedHandle is the handle among the arguments, which is passed by value.
func (c *call) passedHandle() (h shareHandle) {
	for i := range len(h) / 8 {
		le.PutUint64(h[8*i:], c.a[1+i])
	}
	return h
}

// share makes a handle for something of the process.
func (c *call) share(s *share) *share {
	rand.Read(s.handle[:])
	s.owner = c.process
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.shares[s.handle] = s
	return s
}

// unshare takes a handle back: nobody can open it any more.
func (s *Server) unshare(h *share) {
	if h == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shares, h.handle)
}

// unshareAll takes all handles of a process back.
func (s *Server) unshareAll(p *process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, h := range s.shares {
		if h.owner == p {
			delete(s.shares, key)
		}
	}
}

// shared finds what a handle names, and holds the device memory that it lies in.
func (s *Server) shared(h shareHandle, event bool) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.shares[h]
	if found == nil || found.event != event {
		return nil
	}
	if !event {
		found.device.holders++
	}
	return found
}

// letGo gives device memory back that nobody holds any more.
func (s *Server) letGo(d *deviceMemory) {
	s.mu.Lock()
	d.holders--
	last := d.holders == 0
	s.mu.Unlock()
	if last {
		if err := d.shared.Close(); err != nil {
			s.problem(err)
		}
	}
}

// shareable says whether other processes can have memory: what cuMemAlloc gave out, and no pool or graph.
func (a *allocation) shareable() bool {
	return a.kind == plainMemory && a.pool == nil && a.graph == nil
}

// shareMemory: handle, address. The handle is of the whole allocation that the address lies in, and always the same.
func shareMemory(c *call) Result {
	a := c.device.find(c.a[1])
	if a == nil || !a.shareable() {
		return ErrInvalidValue
	}
	if a.share == nil {
		a.share = c.share(&share{device: c.device, data: c.reached(a), size: a.size})
	}
	return c.out(c.a[0], a.share.handle[:])
}

// openMemory: address, handle, flags. Memory that is open already is where it was.
func openMemory(c *call) Result {
	const lazyPeerAccess = 1
	if c.a[9]&^lazyPeerAccess != 0 {
		return ErrInvalidValue
	}
	if err := c.open(); err != nil {
		c.server.problem(err)
		return ErrOutOfMemory
	}
	s := c.server.shared(c.passedHandle(), false)
	switch {
	case s == nil:
		return ErrInvalidValue
	case s.owner == c.process: // which has the memory, and must not
		c.server.letGo(s.device)
		return ErrInvalidContext
	}
	if i := slices.IndexFunc(c.device.list, func(a *allocation) bool { return a.opened != nil && a.opened.share == s }); i >= 0 {
		c.server.letGo(s.device)
		a := c.device.list[i]
		a.opened.count++
		return c.out64(c.a[0], a.addr)
	}
	a, err := c.device.place(s.size, openedMemory, "memory of another process")
	if err == nil {
		a.data, a.context, a.opened = s.data[:s.size:s.size], c.context, &opening{s, 1}
		err = c.memory.Map(fmt.Sprintf("memory %d, of another process, of %d bytes", a.number, a.size), a.addr, s.data)
	}
	if err != nil {
		c.server.letGo(s.device)
		c.server.problem(err)
		return ErrOutOfMemory
	}
	return c.out64(c.a[0], a.addr)
}

func closeMemory(c *call) Result {
	a := c.device.find(c.a[0])
	if a == nil || a.addr != c.a[0] || a.opened == nil {
		return ErrInvalidValue
	}
	if a.opened.count--; a.opened.count > 0 {
		return Success
	}
	return c.release(a)
}

func shareEvent(c *call, e *event) Result {
	if e.flags&eventInterproc == 0 {
		return ErrInvalidHandle
	}
	if e.share == nil {
		e.share = c.share(&share{event: true})
	}
	return c.out(c.a[0], e.share.handle[:])
}

// openEvent makes an event that stands for another process's. There is nothing that one tells the other: work is done when it is submitted, so that
// whoever waits for it waits for nothing, and such events keep no time.
func openEvent(c *call) Result {
	s := c.server.shared(c.passedHandle(), true)
	switch {
	case s == nil:
		return ErrInvalidValue
	case s.owner == c.process:
		return ErrInvalidContext
	}
	e := &event{context: c.context, flags: eventNoTiming | eventInterproc}
	e.handle = c.add(e)
	return c.out64(c.a[0], e.handle)
}
