package emu

import "fmt"

// A heap is the memory that device-side malloc takes from. Every allocation is a buffer of its own, so that running
// past its end faults.
type heap struct {
	machine *Machine
	size    int64
	used    int64
	next    uint64
	count   int
}

func (h *heap) alloc(size uint64) uint64 {
	size = (size + 15) &^ 15
	if size == 0 || size > uint64(h.size-h.used) {
		return 0
	}
	if h.next == 0 {
		h.next = heapBase
	}
	b, err := newBuffer(fmt.Sprintf("heap allocation %d", h.count+1), h.next, size)
	if err != nil {
		return 0
	}
	h.count++
	h.next += size + bufferAlign
	h.used += int64(size)
	h.machine.memory.insert(b)
	return b.addr
}

// free gives an allocation back; null is nothing to do.
func (h *heap) free(addr uint64) bool {
	if addr == 0 {
		return true
	}
	b := h.machine.memory.find(addr)
	if b == nil || b.addr != addr || addr < heapBase || addr >= h.next {
		return false
	}
	h.used -= int64(len(b.data))
	h.machine.memory.remove(b)
	return true
}
