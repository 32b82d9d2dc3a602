package emu

import (
	"cmp"
	"fmt"
	"slices"
)

// A heap is the memory that device-side malloc takes from. Every allocation is a buffer of its own that is as long as was asked
// for, so that running past its end faults. An address is given out once, so that use after free faults too.
type heap struct {
	memory  *globalMemory
	size    int64
	padding int64
	used    int64
	next    uint64
	count   int
	calls   []allocation // all that there ever were, in the order of their addresses
}

// An allocation is what a call of malloc returned.
type allocation struct {
	addr, size uint64
	number     int // from 1
	freed      bool
}

// heapAlign is the alignment of what malloc returns (CUDA C++ Programming Guide, dynamic global memory allocation: 16 bytes).
const heapAlign = 16

// heapRoom is what an allocation takes from the heap.
func heapRoom(size uint64) uint64 { return (size + heapAlign - 1) &^ (heapAlign - 1) }

func (h *heap) alloc(size uint64) uint64 {
	if size == 0 || size > uint64(h.size) || heapRoom(size) > uint64(h.size-h.used) {
		return 0
	}
	if h.next == 0 {
		h.next = heapBase
	}
	if size > heapEnd-h.next {
		return 0
	}
	b, err := newBuffer(fmt.Sprintf("heap allocation %d", h.count+1), h.next, size)
	if err != nil {
		return 0
	}
	h.count++
	h.calls = append(h.calls, allocation{addr: h.next, size: size, number: h.count})
	h.next = min(heapEnd, h.next+heapRoom(size)+h.gap())
	h.used += int64(heapRoom(size))
	h.memory.insert(b)
	return b.addr
}

// gap is what is kept free behind an allocation: the padding, or the 64th part of the addresses that are left, so that there are always some.
func (h *heap) gap() uint64 {
	return max(bufferAlign, min(heapRoom(uint64(max(h.padding, 0))), heapRoom((heapEnd-h.next)/64)))
}

// free gives an allocation back; null is nothing to do. What is wrong with an address that is none has a kind, else it is "".
func (h *heap) free(addr uint64) (kind FaultKind, detail string) {
	if addr == 0 {
		return "", ""
	}
	a := h.find(addr)
	switch {
	case a == nil:
		return InvalidFree, "free of what malloc did not return"
	case a.addr != addr:
		return InvalidFree, fmt.Sprintf("free of byte %d of heap allocation %d, not of its beginning", addr-a.addr, a.number)
	case a.freed:
		return DoubleFree, fmt.Sprintf("heap allocation %d, which had %d bytes, has been freed before", a.number, a.size)
	}
	a.freed = true
	h.used -= int64(heapRoom(a.size))
	h.memory.remove(h.memory.find(addr))
	return "", ""
}

// find returns the allocation that an address is or was of, nil where there is none.
func (h *heap) find(addr uint64) *allocation {
	at, found := slices.BinarySearchFunc(h.calls, addr, func(a allocation, addr uint64) int { return cmp.Compare(a.addr, addr) })
	if !found {
		at--
	}
	if at < 0 || addr-h.calls[at].addr >= h.calls[at].size {
		return nil
	}
	return &h.calls[at]
}

// freed returns the allocation that an address was of and that has been freed.
func (h *heap) freed(addr uint64) *allocation {
	if a := h.find(addr); a != nil && a.freed {
		return a
	}
	return nil
}
