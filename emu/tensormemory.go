package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"gpa/cubin"
)

// Tensor memory of sm_100 (PTX ISA, tcgen05): lanes of columns of 32 bits, which an SM has once. Blocks allocate columns, in units.
const (
	tensorLanes   = 128
	tensorColumns = 512
	tensorUnit    = 32
)

// A tensorMemory is what a block sees of it.
type tensorMemory struct {
	tensorUnits
	cells [tensorLanes][tensorColumns]uint32
}

// The tensorUnits of a block are the columns that it has allocated. Their numbers are those of the SM, so that two blocks on one have
// different ones.
type tensorUnits struct {
	allocated uint32  // units of the block, a bit each
	taken     *uint32 // units that nobody else may have: those of all blocks of the SM with timing, of the block alone without
}

// tensorMemory returns the block's. Code that does not use it costs nothing.
func (b *block) tensorMemory() *tensorMemory {
	if b.tensor == nil {
		b.tensor = new(tensorMemory)
		b.tensor.taken = &b.tensor.allocated
		if b.resident != nil {
			b.tensor.taken = &b.resident.sm.tensorTaken
		}
	}
	return b.tensor
}

// find allocates n units side by side, at a multiple of so many where aligned is set, and returns the first; ok is false where there are
// not so many.
func (m *tensorUnits) find(n int, aligned bool) (first int, ok bool) {
	return findUnits([]*tensorUnits{m}, n, aligned)
}

// findUnits is find for blocks that get the same units.
func findUnits(all []*tensorUnits, n int, aligned bool) (first int, ok bool) {
	const units = tensorColumns / tensorUnit
	if n <= 0 || n > units {
		return 0, false
	}
	step := 1
	if aligned {
		step = 1 << bits.Len(uint(n-1))
	}
	mask, taken := uint32(1)<<n-1, uint32(0)
	for _, m := range all {
		taken |= *m.taken
	}
	for first := 0; first+n <= units; first += step {
		if taken>>first&mask == 0 {
			for _, m := range all {
				m.change(m.allocated | mask<<first)
			}
			return first, true
		}
	}
	return 0, false
}

// change makes the block's units others.
func (m *tensorUnits) change(units uint32) {
	before := m.allocated
	m.allocated = units
	*m.taken = *m.taken&^before | units
}

// release frees what a block that has ended has not (PTX ISA: a kernel must).
func (m *tensorUnits) release() { m.change(0) }

// A pairing is what code that compilers write for allocations by a pair of blocks finds in the shared memory that belongs to the system: a barrier at
// which one thing arrives, and the parity of its phase that the block waits for. The first block of a pair, which allocates, waits for the second one to
// have read what it sent it the time before, the second one for what the first sends.
type pairing struct {
	barrier, parity uint64 // offsets in shared memory
}

// pairingOf finds it by the names that compilers give it: those of CUDA 12 name the two, those of 13 what they are part of.
func pairingOf(module *cubin.File) *pairing {
	const system = "__nv_reservedSMEM_"
	var p pairing
	for _, v := range module.Variables {
		switch {
		case v.Space != cubin.SharedSpace:
		case v.Name == system+"tcgen05_partition":
			return &pairing{v.Offset + 8, v.Offset + 16}
		case v.Name == system+"tmem_allocation_pipeline_mbarrier":
			p.barrier = v.Offset
		case v.Name == system+"tmem_allocation_pipeline_mbarrier_parity":
			p.parity = v.Offset
		}
	}
	if p.barrier == 0 || p.parity == 0 {
		return nil
	}
	return &p
}

// begin writes it for a block that begins.
func (p *pairing) begin(b *block) {
	if end := uint64(len(b.shared)); end < 8 || p.barrier > end-8 || p.parity > end-4 {
		return
	}
	const one = 1<<arrivalBits - 1
	barrier := transactionBarrier(0).addTo(expectedAt, arrivalBits, one).addTo(pendingAt, arrivalBits, one)
	binary.LittleEndian.PutUint64(b.shared[p.barrier:], uint64(barrier))
	binary.LittleEndian.PutUint32(b.shared[p.parity:], uint32(b.rank&1^1))
}

// A tensorPlace is an address in tensor memory, with the lane in its upper half (PTX ISA, tensor memory addressing).
type tensorPlace uint32

func (p tensorPlace) lane() int   { return int(p >> 16) }
func (p tensorPlace) column() int { return int(p & 0xffff) }

// window checks that a block has lanes and columns from a place on.
func (b *block) window(w *warp, o *op, at tensorPlace, lanes, columns int) (*tensorMemory, error) {
	m := b.tensorMemory()
	detail := ""
	switch {
	case at.lane()+lanes > tensorLanes || at.column()+columns > tensorColumns:
		detail = fmt.Sprintf("in tensor memory: %d lanes and %d columns from lane %d and column %d on, of %d and %d", lanes, columns, at.lane(), at.column(), tensorLanes, tensorColumns)
	default:
		for c := at.column() / tensorUnit; c <= (at.column()+max(columns, 1)-1)/tensorUnit; c++ {
			if m.allocated>>c&1 == 0 {
				detail = fmt.Sprintf("in tensor memory: of columns %d to %d the block has not allocated column %d", at.column(), at.column()+columns-1, c*tensorUnit)
				break
			}
		}
	}
	if detail != "" {
		return nil, w.addressFault(o, w.first(), OutOfBounds, uint64(at), detail)
	}
	return m, nil
}
