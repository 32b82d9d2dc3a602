package emu

import (
	"math/bits"
	"slices"
)

// storeSector is the number of bytes that an element of a store buffer covers. No access crosses its border.
const storeSector = 32

// A storeBuffer holds what a domain that runs ahead has stored and the others do not see yet, by sector of memory. The
// domain's own loads look into it.
type storeBuffer struct {
	sectors []stored  // in the order of their first store
	buffers []*buffer // that they lie in
	slots   []int32   // hash table of positions in sectors, plus one; a power of two of them
	last    int32     // the position that was looked up last
	scratch [storeSector]byte
}

// A stored is a sector of memory that has been stored to in part.
type stored struct {
	addr uint64
	to   *buffer
	mask uint32 // bytes
	data [storeSector]byte
}

// empty reports whether nothing has been stored.
func (b *storeBuffer) empty() bool { return len(b.sectors) == 0 }

// holds reports whether something has been stored to a buffer of memory.
func (b *storeBuffer) holds(to *buffer) bool { return slices.Contains(b.buffers, to) }

// at returns where a store of size bytes at an address, which lies in the buffer to, leaves them.
func (b *storeBuffer) at(to *buffer, addr, size uint64) []byte {
	s := b.sector(to, addr&^(storeSector-1))
	off := addr % storeSector
	s.mask |= byteMask(off, size)
	return s.data[off : off+size]
}

func byteMask(off, size uint64) uint32 { return uint32(1<<size-1) << off }

// sector finds a sector or adds it.
func (b *storeBuffer) sector(to *buffer, addr uint64) *stored {
	if int(b.last) < len(b.sectors) && b.sectors[b.last].addr == addr {
		return &b.sectors[b.last]
	}
	if 2*len(b.sectors) >= len(b.slots) {
		b.grow()
	}
	slot := b.find(addr)
	if b.slots[slot] == 0 {
		b.sectors = append(b.sectors, stored{addr: addr, to: to})
		b.slots[slot] = int32(len(b.sectors))
		if !b.holds(to) {
			b.buffers = append(b.buffers, to)
		}
	}
	b.last = b.slots[slot] - 1
	return &b.sectors[b.last]
}

// find returns the slot of a sector, or the empty one that it would take.
func (b *storeBuffer) find(addr uint64) uint64 {
	mask := uint64(len(b.slots) - 1)
	slot := addr / storeSector * 0x9E3779B97F4A7C15 >> 32 & mask
	for b.slots[slot] != 0 && b.sectors[b.slots[slot]-1].addr != addr {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow doubles the table.
func (b *storeBuffer) grow() {
	b.slots = make([]int32, max(64, 2*len(b.slots)))
	for i := range b.sectors {
		b.slots[b.find(b.sectors[i].addr)] = int32(i + 1)
	}
}

// read returns what a load of the bytes at an address sees, where memory holds from.
func (b *storeBuffer) read(addr uint64, from []byte) []byte {
	sector, off := addr&^(storeSector-1), addr%storeSector
	i := b.last
	if int(i) >= len(b.sectors) || b.sectors[i].addr != sector {
		if i = b.slots[b.find(sector)] - 1; i < 0 {
			return from
		}
		b.last = i
	}
	s := &b.sectors[i]
	want := byteMask(off, uint64(len(from)))
	switch s.mask & want {
	case 0:
		return from
	case want:
		return s.data[off : off+uint64(len(from))]
	}
	out := b.scratch[:len(from)]
	copy(out, from)
	for k := range out {
		if s.mask>>(off+uint64(k))&1 != 0 {
			out[k] = s.data[off+uint64(k)]
		}
	}
	return out
}

// commit writes everything to memory and empties the buffer.
func (b *storeBuffer) commit() error {
	if b.empty() {
		return nil
	}
	if len(b.sectors) > len(b.slots)/8 {
		clear(b.slots)
	} else {
		for i := len(b.sectors) - 1; i >= 0; i-- { // the last first: it lies behind those before it
			b.slots[b.find(b.sectors[i].addr)] = 0
		}
	}
	for i := range b.sectors {
		if err := b.sectors[i].write(); err != nil {
			return err
		}
	}
	b.sectors, b.buffers, b.last = b.sectors[:0], b.buffers[:0], 0
	return nil
}

// write copies the bytes that were stored to memory, run by run.
func (s *stored) write() error {
	to, err := s.to.writable()
	if err != nil {
		return err
	}
	for m := s.mask; m != 0; {
		first := bits.TrailingZeros32(m)
		n := bits.TrailingZeros32(^(m >> first))
		copy(to[s.addr+uint64(first)-s.to.addr:], s.data[first:first+n])
		m &^= uint32(1<<n-1) << first
	}
	return nil
}
