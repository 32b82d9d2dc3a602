package emu

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The layout of the generic address space. Global buffers lie far apart from each other, so that running past the end
// of one does not hit the next; nothing is mapped near address 0.
const (
	sharedWindow    = 0x7f00_0000_0000 // generic addresses of shared memory
	localWindow     = 0x7f01_0000_0000 // generic addresses of local memory
	windowSize      = 1 << 24          // of each window
	parameterWindow = 0x7f02_0000_0000 // generic addresses of parameters, see launchRun.parameters
	globalBase      = 0x7f10_0000_0000
	heapBase        = 0x7f80_0000_0000
	heapEnd         = 0x7f9f_0000_0000
	codeBase        = 0x7fa0_0000_0000 // code addresses, 16 bytes an instruction
	syscallBase     = 0x7fb0_0000_0000 // addresses of the functions that the device runtime provides
	bufferAlign     = 512              // as cudaMalloc's
	bufferGap       = 1 << 16          // unmapped bytes between buffers, at least
)

// MaxPadding is the most that Options.Padding may keep free behind each buffer, in bytes: 448 buffers have room with that much.
const MaxPadding = 1 << 30

// A globalMemory is the device's memory: buffers in the order of their addresses.
type globalMemory struct {
	buffers []*buffer
	next    uint64
	gap     uint64 // unmapped bytes between buffers, at least
	used    int64  // bytes of the buffers that alloc made
	source  Source // where alloc takes memory from; nil for this computer's
	others  bool   // others know bytes of it by their place
}

// alloc adds a buffer of zeros.
func (g *globalMemory) alloc(name string, size int64) (*buffer, error) {
	if g.source != nil {
		addr, data, err := g.source.Take(name, size)
		if err != nil {
			return nil, err
		}
		return g.insertFixed(name, addr, data), nil
	}
	if g.next == 0 {
		g.next = globalBase
	}
	if uint64(size) > heapBase-g.next {
		return nil, fmt.Errorf("no room at %#x: buffers and the %d bytes kept free behind each have %d GiB of addresses", g.next, g.gap, (heapBase-globalBase)>>30)
	}
	b, err := newBuffer(name, g.next, uint64(size))
	if err != nil {
		return nil, err
	}
	g.next = min(heapBase, g.next+(uint64(size)+g.gap+bufferAlign-1)&^(bufferAlign-1))
	g.used += size
	g.insert(b)
	return b, nil
}

// insertFixed adds a buffer over bytes that stay where they are.
func (g *globalMemory) insertFixed(name string, addr uint64, data []byte) *buffer {
	b := &buffer{name: name, addr: addr, data: data, own: data, store: &storage{data: data}, fixed: true}
	g.others = true
	g.insert(b)
	return b
}

// insert adds a buffer at its place.
func (g *globalMemory) insert(b *buffer) {
	at, _ := g.search(b.addr)
	g.buffers = slices.Insert(g.buffers, at, b)
}

// remove takes a buffer away.
func (g *globalMemory) remove(b *buffer) {
	if at, found := g.search(b.addr); found {
		g.buffers = slices.Delete(g.buffers, at, at+1)
	}
}

// search returns the place of the buffer that begins at an address, and whether there is one.
func (g *globalMemory) search(addr uint64) (at int, found bool) {
	return slices.BinarySearchFunc(g.buffers, addr, func(x *buffer, addr uint64) int { return cmp.Compare(x.addr, addr) })
}

// find returns the buffer that holds an address, nil where none does.
func (g *globalMemory) find(addr uint64) *buffer {
	if b := g.before(addr); b != nil && addr < b.end() {
		return b
	}
	return nil
}

// before returns the last buffer that begins at or before an address.
func (g *globalMemory) before(addr uint64) *buffer {
	at, found := g.search(addr)
	if found {
		return g.buffers[at]
	}
	if at == 0 {
		return nil
	}
	return g.buffers[at-1]
}

// holder returns the buffer that holds size bytes at an address, nil where they are not all in one.
func (g *globalMemory) holder(addr uint64, size int) *buffer {
	b := g.find(addr)
	if b == nil || b.end()-addr < uint64(size) {
		return nil
	}
	return b
}

// near says where an address lies in relation to the nearest buffer.
func (g *globalMemory) near(addr uint64) string {
	if addr < 1<<16 {
		return "a null pointer"
	}
	before := g.before(addr)
	var after *buffer
	for _, b := range g.buffers {
		if b.addr > addr {
			after = b
			break
		}
	}
	switch {
	case before != nil && addr < before.end():
		return fmt.Sprintf("byte %d of %s, which has %d", addr-before.addr, before.name, len(before.data))
	case before != nil && (after == nil || addr-before.end() <= after.addr-addr):
		return fmt.Sprintf("%d bytes past the end of %s, which has %d", addr-before.end(), before.name, len(before.data))
	case after != nil:
		return fmt.Sprintf("%d bytes before the start of %s", after.addr-addr, after.name)
	}
	return ""
}

var errNotMapped = errors.New("the device has no memory there")

// Alloc adds a buffer of zeros to device memory and returns its address. The name is for messages.
func (m *Machine) Alloc(name string, size int64) (uint64, error) {
	if free := int64(m.gpu.DRAM.Size.Value) - m.memory.used; size < 0 || size > free {
		return 0, fmt.Errorf("buffer %s: %d bytes, of which the GPU's memory has %d free", name, size, free)
	}
	b, err := m.memory.alloc(name, size)
	if err != nil {
		return 0, fmt.Errorf("buffer %s: %w", name, err)
	}
	return b.addr, nil
}

// Upcoming returns the address that the next buffer will have.
func (m *Machine) Upcoming() uint64 {
	if m.memory.next == 0 {
		return globalBase
	}
	return m.memory.next
}

// Write copies data to device memory.
func (m *Machine) Write(addr uint64, data []byte) error {
	return m.Fill(addr, len(data), func(to []byte) error {
		copy(to, data)
		return nil
	})
}

// Fill has a function write size bytes of device memory, in place.
func (m *Machine) Fill(addr uint64, size int, fill func(to []byte) error) error {
	if size == 0 {
		return fill(nil)
	}
	b := m.memory.holder(addr, size)
	if b == nil {
		return fmt.Errorf("writing %d bytes at %#x: %w", size, addr, errNotMapped)
	}
	to, err := b.writable()
	if err != nil {
		return err
	}
	at := addr - b.addr
	return fill(to[at : at+uint64(size)])
}

// View returns size bytes of device memory to read. They are valid until something is written or launched, while the machine is in use.
func (m *Machine) View(addr uint64, size int) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	b := m.memory.holder(addr, size)
	if b == nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", size, addr, errNotMapped)
	}
	at := addr - b.addr
	return b.data[at : at+uint64(size)], nil
}

// Read copies device memory to data.
func (m *Machine) Read(addr uint64, data []byte) error {
	from, err := m.View(addr, len(data))
	copy(data, from)
	return err
}

// localPage is the unit in which a thread's local memory comes into being, bytes.
const localPage = 1024

// A localMemory is the local memory of a warp's threads. Pages exist once they have been touched.
type localMemory struct {
	size  int // bytes a thread
	pages [][]byte
	base  uint64 // where it lies behind the caches, 0 where every warp of the grid has its own
}

// bytes returns size bytes at an offset of a lane's local memory, nil where they are outside of it. An access does not
// cross pages, being aligned.
func (l *localMemory) bytes(lane int, offset uint64, size int) []byte {
	if offset >= uint64(l.size) || uint64(l.size)-offset < uint64(size) {
		return nil
	}
	if l.pages == nil {
		l.pages = make([][]byte, (l.size+localPage-1)/localPage)
	}
	page := &l.pages[offset/localPage]
	if *page == nil {
		*page = make([]byte, 32*localPage)
	}
	at := lane*localPage + int(offset%localPage)
	return (*page)[at : at+size]
}

// clear makes all of it zero.
func (l *localMemory) clear() {
	for _, page := range l.pages {
		clear(page)
	}
}

// load reads a little-endian word of 1, 2 or 4 bytes.
func load(b []byte) uint32 {
	switch len(b) {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return binary.LittleEndian.Uint32(b)
}
