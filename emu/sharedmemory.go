package emu

import (
	"fmt"
)

// A Memory is the global memory of a GPU on which several machines run, each with a module of its own, as modules of one CUDA context
// do: what one stores the others load, and device-side malloc takes from one heap. The bytes are those of a [Source], which others may
// read and write too while no launch runs. The machines launch one at a time.
type Memory struct {
	global  globalMemory
	heap    heap
	objects headers
}

// A Source gives out the bytes of a shared memory. Bytes that were taken stay where they are.
type Source interface {
	// Take returns size bytes of zeros for what a module needs, and their address. The name is for messages.
	Take(name string, size int64) (addr uint64, data []byte, err error)
	// Return takes the bytes at an address back.
	Return(addr uint64)
}

// NewMemory returns a memory without buffers. heap is the number of bytes for device-side malloc.
func NewMemory(source Source, heap int64) *Memory {
	m := newMemory(heap, 0)
	m.global.source = source
	return m
}

func newMemory(heapSize, padding int64) *Memory {
	m := &Memory{}
	m.global.gap = max(bufferGap, uint64(max(padding, 0)))
	m.heap.memory, m.heap.size, m.heap.padding = &m.global, heapSize, padding
	return m
}

// Map makes data the device memory at an address. The name is for messages.
func (m *Memory) Map(name string, addr uint64, data []byte) error {
	end := addr + uint64(len(data))
	if end < addr {
		return fmt.Errorf("mapping %d bytes at %#x: they run past the end of the address space", len(data), addr)
	}
	at, found := m.global.search(addr)
	if found || at > 0 && m.global.buffers[at-1].end() > addr || at < len(m.global.buffers) && m.global.buffers[at].addr < end {
		return fmt.Errorf("mapping %d bytes at %#x: there is memory already", len(data), addr)
	}
	m.global.insertFixed(name, addr, data)
	return nil
}

// Unmap takes the memory away that begins at an address.
func (m *Memory) Unmap(addr uint64) error {
	at, found := m.global.search(addr)
	if !found {
		return fmt.Errorf("unmapping %#x: %w", addr, errNotMapped)
	}
	m.global.remove(m.global.buffers[at])
	return nil
}

// Unload gives the memory of the machine's module back to the source of a shared memory. The machine cannot launch any more.
func (m *Machine) Unload() {
	if m.memory.source == nil {
		return
	}
	var buffers []*buffer
	for i := range m.globals {
		buffers = append(buffers, m.globals[i].buffer)
	}
	if b := m.memory.find(m.constants); b != nil && b.addr == m.constants {
		buffers = append(buffers, b)
	}
	for _, b := range buffers {
		m.memory.remove(b)
		m.memory.source.Return(b.addr)
	}
	m.globals, m.constants = nil, 0
}

// SetHeap changes the number of bytes for device-side malloc, which must not have been at work yet.
func (m *Memory) SetHeap(size int64) error {
	if m.heap.count > 0 || size < 0 {
		return fmt.Errorf("a heap of %d bytes: the size is fixed once kernels have allocated memory, and not negative", size)
	}
	m.heap.size = size
	return nil
}
