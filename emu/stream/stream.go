// Package stream holds what the warps of a block executed, instruction by instruction, and edits it: the rounds of loops are divided
// among lanes or blocks, the work of several threads becomes that of one, loads go elsewhere or earlier. An edited stream is not a
// program that anybody compiled. It is the instructions that such a program would issue as far as the recorded ones tell, so that
// package emu can time them: what they compute stays what it was.
package stream

import (
	"math/bits"
	"slices"
)

// A Block is the streams of a block's warps. What events refer to is kept in tables of the block.
type Block struct {
	Warps  []Warp
	Lanes  []Lanes
	Syncs  []Sync
	Gates  []Gate
	Waits  []Waits
	Access []Access
	list   []uint64 // addresses of accesses that are not affine

	lanes map[Lanes]int32
	home  *Pool // nil for none
}

// A Warp is the events of a warp in the order in which it issued them.
type Warp struct {
	Events []Event
	// Values are what the events that are no accesses computed, where that was recorded; else nil.
	Values []Value
}

// An Event is an instruction that a warp issued.
type Event struct {
	Op    int32 // index in the program
	Lanes int32 // in the block's Lanes
	Ref   int32 // in the block's Access or Syncs, or the launch's [Works], as Kind says
	Kind  RefKind
	As    Form
	Stall uint8 // cycles to the next issue, 0 for those of the instruction
	Wait  uint8 // one more than an index in the block's Waits, 0 for the counters that the instruction names
}

// RefKind says what an event's Ref is.
type RefKind uint8

// The kinds.
const (
	RefNone RefKind = iota
	RefAccess
	RefSync
	RefWork
)

// A Form says what is issued in the place of the event's instruction.
type Form uint8

// The forms. Those from Load on are instructions that an edit has added: their Op only says where in the program.
const (
	Plain       Form = iota
	Gone             // nothing
	Shared           // of an access to global memory, one to shared memory
	Added            // of a store to global memory, an atomic addition that returns nothing
	Summed           // of an atomic operation on global memory, one on a register
	Load             // of a global word a lane; a dependence counter tells its end
	Shuffle          // to another lane of the warp; a dependence counter tells its end
	Sum              // of two registers, one of which came from a shuffle or from shared memory
	SharedStore      // of a word a lane
	SharedLoad
	Barrier // of the block
	Index   // of integers, as of an address
)

// Combining is the dependence counter that added loads and shuffles release, and added sums and stores wait for.
const Combining = 5

// Lanes are those of an event, and what re-convergence cost before it.
type Lanes struct {
	Active uint32 // that came to the instruction
	Mask   uint32 // of those, whose guard was true
	Cost   int32  // cycles
}

// A Sync says what an event does at barriers of the block. -1 is none.
type Sync struct {
	Arrives int32 // at a gate
	Waits   int32 // the warp issues nothing more before this gate is open
}

// A Gate is a barrier of the block, once: it opens when all have arrived.
type Gate struct {
	All      bool  // who has ended is not waited for
	Arrivals int32 // events that arrive
	Ends     int32 // warps that never do and have to end first
	Cluster  int32 // for all blocks of a cluster: which of theirs, from 1 on; else 0
}

// Waits are how many events a warp leaves outstanding in each dependence counter instead of none; 0xff where the instruction's own
// wait holds.
type Waits [6]uint8

// ownWaits are those of the instruction, allOutstanding waits for nothing.
var ownWaits = Waits{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

const allOutstanding = 0xfe

// waitsOf returns what an event's Wait is for some waits, which are added to the block's where they are not there: 0, those of the
// instruction, where no more find room.
func (b *Block) waitsOf(w Waits) uint8 {
	i := slices.Index(b.Waits, w)
	if i < 0 {
		if i = len(b.Waits); i == 0xff {
			return 0
		}
		b.Waits = append(b.Waits, w)
	}
	return uint8(i + 1)
}

// An Access is what an event did to memory: Size bytes at an address in each lane of Mask. Kind and Space are those of package emu.
type Access struct {
	base   uint64 // of the first lane of Mask
	stride int32  // from lane to lane
	at     int32  // of the addresses in list, -1 where they are affine
	Mask   uint32
	Kind   uint8
	Space  uint8
	Size   uint8
}

// A Value summarises what an event wrote in its first destination.
type Value struct {
	First  uint32 // in the lowest lane that executed
	Shape  uint32 // a hash of the differences to First in all lanes that executed
	Stride int32  // from lane to lane, NoStride where that differs
}

// NoStride says that values are not affine in the lane.
const NoStride = -1 << 31

// NewBlock returns a block of so many warps without events.
func NewBlock(warps int) *Block {
	return &Block{Warps: make([]Warp, warps), lanes: make(map[Lanes]int32)}
}

// LanesOf returns the number of an entry of Lanes.
func (b *Block) LanesOf(l Lanes) int32 {
	const few = 8 // that are found the faster one by one
	n := len(b.Lanes)
	for i := n - 1; i >= max(0, n-few); i-- {
		if b.Lanes[i] == l {
			return int32(i)
		}
	}
	if i, ok := b.lanes[l]; ok {
		return i
	}
	i := int32(len(b.Lanes))
	b.Lanes, b.lanes[l] = append(b.Lanes, l), i
	return i
}

// addGate returns the number of a new gate that opens when all warps of the block have arrived that have not ended.
func (b *Block) addGate() int32 {
	b.Gates = append(b.Gates, Gate{All: true})
	return int32(len(b.Gates) - 1)
}

// AddSync returns the number of a new entry of Syncs.
func (b *Block) AddSync(s Sync) int32 {
	b.Syncs = append(b.Syncs, s)
	return int32(len(b.Syncs) - 1)
}

// AddAccess returns the number of a new access. The lanes of the mask are looked at; a.Mask is set.
func (b *Block) AddAccess(a Access, mask uint32, addr *[32]uint64) int32 {
	a.Mask = mask
	a.base, a.stride, a.at = 0, 0, -1
	if mask != 0 {
		first := bits.TrailingZeros32(mask)
		a.base = addr[first]
		if !a.affine(first, addr) {
			a.at = int32(len(b.list))
			for m := mask; m != 0; m &= m - 1 {
				b.list = append(b.list, addr[bits.TrailingZeros32(m)])
			}
		}
	}
	b.Access = append(b.Access, a)
	return int32(len(b.Access) - 1)
}

// addCopy returns the number of a new access that is one of another block.
func (b *Block) addCopy(c *Block, a Access) int32 {
	if a.at >= 0 {
		list := c.list[a.at : int(a.at)+bits.OnesCount32(a.Mask)]
		a.at = int32(len(b.list))
		b.list = append(b.list, list...)
	}
	b.Access = append(b.Access, a)
	return int32(len(b.Access) - 1)
}

// affine finds the stride, and reports whether it is that of all lanes.
func (a *Access) affine(first int, addr *[32]uint64) bool {
	rest := a.Mask & (a.Mask - 1)
	if rest == 0 {
		return true
	}
	second := bits.TrailingZeros32(rest)
	gap := int64(second - first)
	stride := int64(addr[second]-addr[first]) / gap
	if stride != int64(int32(stride)) {
		return false
	}
	a.stride = int32(stride)
	for m := rest; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m); addr[i] != a.base+uint64(stride*int64(i-first)) {
			return false
		}
	}
	return true
}

// Addresses fills in the addresses of the lanes of an access.
func (b *Block) Addresses(a *Access, addr *[32]uint64) {
	if a.Mask == 0 {
		return
	}
	if a.at < 0 {
		at := a.base - uint64(int64(a.stride)*int64(bits.TrailingZeros32(a.Mask)))
		for i := range addr {
			addr[i] = at
			at += uint64(int64(a.stride))
		}
		return
	}
	list := b.list[a.at:]
	for m := a.Mask; m != 0; m &= m - 1 {
		addr[bits.TrailingZeros32(m)&31] = list[0]
		list = list[1:]
	}
}

// address returns the address of one lane.
func (b *Block) address(a *Access, lane int) uint64 {
	first := bits.TrailingZeros32(a.Mask)
	if a.at < 0 {
		return a.base + uint64(int64(a.stride)*int64(lane-first))
	}
	return b.list[int(a.at)+bits.OnesCount32(a.Mask&(1<<lane-1))]
}

// equal reports whether two accesses of two blocks are the same lanes' to the same addresses.
func equal(b *Block, a *Access, c *Block, d *Access) bool {
	if a.Mask != d.Mask || a.Size != d.Size || a.Space != d.Space || a.Kind != d.Kind || a.at < 0 != (d.at < 0) {
		return false
	}
	if a.Mask == 0 || a.at < 0 {
		return a.base == d.base && (a.stride == d.stride || a.Mask&(a.Mask-1) == 0)
	}
	for i := range int32(bits.OnesCount32(a.Mask)) {
		if b.list[a.at+i] != c.list[d.at+i] {
			return false
		}
	}
	return true
}

// Close counts who comes to the gates.
func (b *Block) Close() {
	for i := range b.Gates {
		b.Gates[i].Arrivals, b.Gates[i].Ends = 0, 0
	}
	seen := make([]int, len(b.Gates)) // the last warp that came, from 1 on
	for i := range b.Gates {
		if b.Gates[i].All {
			b.Gates[i].Ends = int32(len(b.Warps))
		}
	}
	for w := range b.Warps {
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind != RefSync || b.Syncs[e.Ref].Arrives < 0 {
				continue
			}
			n := b.Syncs[e.Ref].Arrives
			g := &b.Gates[n]
			g.Arrivals++
			if g.All && seen[n] != w+1 {
				g.Ends--
			}
			seen[n] = w + 1
		}
	}
	if b.home != nil {
		b.home.note(b)
	}
}

// Events is the number of all events.
func (b *Block) Events() (n int) {
	for i := range b.Warps {
		n += len(b.Warps[i].Events)
	}
	return n
}

// exists is the lanes that a warp had at its beginning.
func (b *Block) exists(w int) uint32 {
	if len(b.Warps[w].Events) == 0 {
		return 0
	}
	return b.Lanes[b.Warps[w].Events[0].Lanes].Active
}
