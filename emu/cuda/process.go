package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"gpa/emu"
	"gpa/emu/cuda/solib"
	"gpa/emu/cuda/wire"
)

var le = binary.LittleEndian

// A process is what a process that calls the driver has: contexts, memory, handles. One call is carried out at a time.
type process struct {
	server      *Server
	pid         int
	connections int // under the server's lock

	mu           sync.Mutex
	initialized  bool
	device       *deviceMemory // nil until it is needed
	memory       *emu.Memory
	threads      map[int]*thread
	primary      *driverContext
	contexts     int
	handles      map[uint64]any
	nextHandle   uint64
	pools        map[poolPlace]*pool // that have taken the place of the default ones
	coredump     map[uint64][]byte   // settings, by number
	graphBytes   uint64              // of graphs, as counted last
	graphHigh    [2]uint64           // the most so far, used and reserved
	registered   []*registration
	printed      []byte
	texts        map[string]uint64 // constant strings, by contents
	capturing    []*streamCapture
	reservations []reservation
	runtime      runtimeState
	ranges       map[uint64]namedRange // of the process that are open, by identifier
	rangesMade   uint64
	left         bool   // launches are left out, by cuProfilerStop
	captures     uint64 // begun so far

	untraceable bool   // its memory cannot be read directly
	mapped      bool   // it has mapped the device memory
	descriptor  uint64 // of the device memory in the client, if opened
	opened      bool
}

// firstHandle is the first handle that a program is given. They are no addresses.
const firstHandle = 0x4750_0000

func newProcess(s *Server, pid int) *process {
	return &process{server: s, pid: pid, threads: make(map[int]*thread), handles: make(map[uint64]any), nextHandle: firstHandle, texts: make(map[string]uint64), left: s.options.ProfilerOff}
}

// close gives everything back.
func (p *process) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server.unshareAll(p)
	if p.device != nil {
		for _, a := range p.device.list {
			if a.opened != nil {
				p.server.letGo(a.opened.share.device)
			}
		}
		p.server.letGo(p.device)
		p.device = nil
	}
}

// disconnected says whether the other end of a connection is gone.
func disconnected(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// open makes the device memory.
func (p *process) open() error {
	if p.device != nil {
		return nil
	}
	d, err := newDeviceMemory(int64(p.server.options.GPU.DRAM.Size.Value))
	if err != nil {
		return err
	}
	p.device = d
	p.memory = emu.NewMemory(moduleMemory{p}, defaultHeap)
	return nil
}

// add gives an object a handle.
func (p *process) add(object any) uint64 {
	p.nextHandle += 16
	p.handles[p.nextHandle] = object
	return p.nextHandle
}

// find returns the object of a handle, if it is one of that type.
func find[T any](p *process, handle uint64) (object T, ok bool) {
	object, ok = p.handles[handle].(T)
	return object, ok
}

// load copies memory of the client.
func (c *call) load(addr uint64, to []byte) Result {
	if len(to) == 0 {
		return Success
	}
	if !c.untraceable {
		denied, err := wire.ReadMemory(c.pid, addr, to)
		if !denied {
			return addressResult(err)
		}
		c.untraceable = true
	}
	return c.staged(uint64(len(to)), func(at uint64, staging []byte) error {
		err := c.conn.Pwrite(c.descriptor, addr, uint64(len(to)), at)
		copy(to, staging)
		return err
	})
}

// loadPieces copies pieces of memory of the client.
func (c *call) loadPieces(addrs []uint64, to [][]byte) Result {
	if !c.untraceable {
		denied, err := wire.ReadPieces(c.pid, addrs, to)
		if !denied {
			return addressResult(err)
		}
		c.untraceable = true
	}
	for i, b := range to {
		if r := c.load(addrs[i], b); r != Success {
			return r
		}
	}
	return Success
}

// store copies bytes to memory of the client, before the function returns.
func (c *call) store(addr uint64, from []byte) Result {
	if len(from) == 0 {
		return Success
	}
	if !c.untraceable {
		denied, err := wire.WriteMemory(c.pid, addr, from)
		if !denied {
			return addressResult(err)
		}
		c.untraceable = true
	}
	return c.staged(uint64(len(from)), func(at uint64, staging []byte) error {
		copy(staging, from)
		return c.conn.Pread(c.descriptor, addr, uint64(len(from)), at)
	})
}

// addressResult is the result of a copy from or to memory of the client. The hardware reports bad host addresses as it does those of
// kernels, but no context is lost by it.
func addressResult(err error) Result {
	if err != nil {
		return ErrInvalidValue
	}
	return Success
}

// staged has the client's own kernel copy through the device memory: the way where its memory cannot be read directly.
func (c *call) staged(size uint64, move func(at uint64, staging []byte) error) Result {
	if err := c.openDevice(); err != nil {
		c.server.problem(err)
		return ErrOperatingSystem
	}
	a, err := c.device.take(size, stagingMemory, "staging")
	if err != nil {
		return ErrOutOfMemory
	}
	defer c.device.give(a)
	return addressResult(move(a.addr-deviceBase, a.data))
}

// openDevice has the client open the device memory.
func (c *call) openDevice() error {
	if c.opened {
		return nil
	}
	if err := c.open(); err != nil {
		return err
	}
	path := append([]byte(c.device.shared.Path()), 0)
	if len(path) > solib.ScratchSize {
		return fmt.Errorf("the path %s is too long", path)
	}
	at := solib.Scratch(c.data)
	if err := c.conn.Put(at, path); err != nil {
		return err
	}
	fd, err := c.conn.Open(at)
	c.descriptor, c.opened = fd, err == nil
	return err
}

// mapDevice has the client map the device memory, at the same addresses. A forked child has a mapping of its parent's memory there.
func (c *call) mapDevice() Result {
	if c.mapped {
		return Success
	}
	if err := c.openDevice(); err != nil {
		c.server.problem(fmt.Errorf("device memory in the program: %w", err))
		return ErrOperatingSystem
	}
	size := uint64(len(c.device.shared.Data))
	err := c.conn.Map(deviceBase, size, c.descriptor, false)
	if err != nil && c.inherited() {
		err = c.conn.Map(deviceBase, size, c.descriptor, true)
	}
	if err != nil {
		c.server.problem(fmt.Errorf("device memory in the program: %w", err))
		return ErrOutOfMemory
	}
	c.mapped = true
	if !c.untraceable {
		c.opened = false
		if err := c.conn.CloseFile(c.descriptor); err != nil {
			c.server.problem(err)
		}
	}
	return Success
}

// inherited says whether device memory of another process lies where the client's is to be.
func (c *call) inherited() bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasPrefix(line, fmt.Sprintf("%x-", uint64(deviceBase))) {
			return strings.Contains(line, "/memfd:"+memoryName)
		}
	}
	return false
}

const pageSize = 4096

// text reads a string of the client that ends with a zero. Longer ones than limit are errors.
func (c *call) text(addr uint64, limit int) (string, Result) {
	data, r := c.terminated(addr, limit)
	return string(data), r
}

func (c *call) terminated(addr uint64, limit int) ([]byte, Result) {
	var b []byte
	for len(b) < limit {
		n := pageSize - int(addr%pageSize) // what follows the string may not be mapped
		chunk := make([]byte, min(n, limit-len(b)))
		if r := c.load(addr, chunk); r != Success {
			return nil, r
		}
		for i, ch := range chunk {
			if ch == 0 {
				return append(b, chunk[:i]...), Success
			}
		}
		b, addr = append(b, chunk...), addr+uint64(len(chunk))
	}
	return nil, ErrInvalidValue
}

// constant returns the address in the client of a string that stays as it is.
func (c *call) constant(s string) (uint64, Result) {
	if addr, ok := c.texts[s]; ok {
		return addr, Success
	}
	if r := c.mapDevice(); r != Success {
		return 0, r
	}
	a, err := c.device.take(uint64(len(s)+1), stagingMemory, "text")
	if err != nil {
		return 0, ErrOutOfMemory
	}
	copy(a.data, s)
	c.texts[s] = a.addr
	return a.addr, Success
}

// callback has the client call a function. Other threads may call the driver meanwhile, and the function itself.
func (c *call) callback(function uint64, args ...uint64) Result {
	c.mu.Unlock()
	defer c.mu.Lock()
	if _, err := c.conn.Callback(function, args...); err != nil {
		return ErrUnknown
	}
	return Success
}
