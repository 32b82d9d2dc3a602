package stream

import (
	"errors"
	"maps"
	"math/bits"
	"slices"

	"gpa/cubin/sass"
)

// Private makes atomic operations on global memory ones of the block's own, put together at its end. What all lanes of a warp add to one
// word they add up in registers, and by shuffles at the end. Other words have a copy in shared memory, zero at the beginning, on which
// the block's atomics work; at the end one thread a word looks at it, and adds to global memory what is not zero. As nobody knows before
// which words will be needed, there is a copy of all between the first and the last. Where what was there is asked for, one lane asks
// for all that have the same word, and hands on what it got; other atomics that return something stay as they are.
//
// More words than shared memory can hold are an error. The shared memory that they take is for the caller to say.
type Private struct {
	single
	Atomics map[int32]bool
}

// mostPrivate is how many words of 4 bytes a block can have: 48 KB, what every GPU gives a block that does not ask for more.
const mostPrivate = 48 << 10 / word

// Apply moves the atomics.
func (x *Private) Apply(p Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	m := privatizer{Private: x, program: p, block: b, op: -1, sums: make([]map[uint64]bool, len(b.Warps))}
	m.find()
	if len(m.words) > mostPrivate {
		return nil, errors.New("private: a block's atomics go to more words than shared memory holds")
	}
	for w := range b.Warps {
		m.warp(w)
	}
	if m.op >= 0 {
		m.begin()
		m.end()
	}
	return blocks, nil
}

// A privatizer changes a block.
type privatizer struct {
	*Private
	program Program
	block   *Block
	op      int32             // an atomic that returns nothing, -1 for none
	place   map[uint64]uint64 // by word: where its copy is in shared memory
	met     map[uint64]bool   // words that are changed
	words   []uint64          // that have a copy, in their order, those that are summed up in registers included
	sums    []map[uint64]bool // by warp: words that it sums up in registers
	copied  bool              // there are words besides
}

// find looks for the words.
func (m *privatizer) find() {
	m.met = make(map[uint64]bool)
	for w := range m.block.Warps {
		m.sums[w] = make(map[uint64]bool)
		for i := range m.block.Warps[w].Events {
			e := &m.block.Warps[w].Events[i]
			if a := m.access(e); a != nil && !m.returns(e) {
				m.op = e.Op
				at, one := m.one(a)
				if one {
					m.sums[w][at] = true
				}
				m.copied = m.copied || !one
				m.block.eachWord(a, func(n uint64) { m.met[n] = true })
			}
		}
	}
	m.place = make(map[uint64]uint64)
	m.words = slices.Sorted(maps.Keys(m.met))
	if m.copied {
		m.words = between(m.words)
	}
	for i, n := range m.words {
		m.place[n] = uint64(i) * word
	}
}

// apart is how many words at least lie between those of one array and those of another.
const apart = 4096

// between returns sorted words with all that lie between them, array by array; too many where there are more than a block can have.
func between(words []uint64) (all []uint64) {
	for i, n := range words {
		if i > 0 && n-words[i-1] < apart {
			for k := words[i-1] + 1; k < n; k++ {
				all = append(all, k)
			}
		}
		if all = append(all, n); len(all) > mostPrivate {
			break
		}
	}
	return all
}

// access is that of an event that is one of the atomics on global memory, nil for others.
func (m *privatizer) access(e *Event) *Access {
	if e.Kind != RefAccess || !m.Atomics[e.Op] {
		return nil
	}
	if a := &m.block.Access[e.Ref]; a.Kind == atomic && a.Space == global && a.Mask != 0 {
		return a
	}
	return nil
}

// returns reports whether an atomic's result is read.
func (m *privatizer) returns(e *Event) bool {
	in := m.program.Inst(e.Op)
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Dest && o.Kind == sass.KindReg && o.Reg != sass.RZ {
			return true
		}
	}
	return false
}

// one returns the word that all lanes of an access have in common.
func (m *privatizer) one(a *Access) (at uint64, ok bool) {
	first := m.block.address(a, bits.TrailingZeros32(a.Mask))
	for rest := a.Mask & (a.Mask - 1); rest != 0; rest &= rest - 1 {
		if m.block.address(a, bits.TrailingZeros32(rest)) != first {
			return 0, false
		}
	}
	return first / word, true
}

// warp moves the atomics of a warp.
func (m *privatizer) warp(w int) {
	old := &m.block.Warps[w]
	var list []Event
	for _, e := range old.Events {
		a := m.access(&e)
		if a == nil {
			list = append(list, e)
			continue
		}
		_, one := m.one(a)
		switch {
		case m.returns(&e) && one:
			list = m.elect(list, e, a)
		case m.returns(&e):
			list = append(list, e)
		case one:
			e.As, e.Kind, e.Ref = Summed, RefNone, -1
			list = append(list, e)
		case m.ofFloats(&e):
			list = m.swap(list, e, a)
		default:
			e.As, e.Ref = Shared, m.block.staged(a, m.placeOf)
			m.block.Access[e.Ref].Kind = atomic
			list = append(list, e)
		}
	}
	old.Events, old.Values = list, nil
}

// ofFloats reports whether an atomic adds floating-point numbers: shared memory has no such operation.
func (m *privatizer) ofFloats(e *Event) bool {
	in := m.program.Inst(e.Op)
	if !in.HasMod(sass.AtomType) {
		return false
	}
	switch in.Mod(sass.AtomType) {
	case sass.TypeF32, sass.TypeF32RN, sass.TypeF16x2, sass.TypeBF16x2, sass.TypeF64:
		return true
	}
	return false
}

// swap makes an atomic on shared memory the loop that compilers make of one that adds floating-point numbers: load, add, compare and swap, and once
// more for the lanes that others of the warp came before. Those of other warps are not counted.
func (m *privatizer) swap(list []Event, e Event, a *Access) []Event {
	place := m.block.Access[m.block.staged(a, m.placeOf)]
	var addr [warpLanes]uint64
	m.block.Addresses(&place, &addr)
	step := Event{Op: e.Op, As: Sum, Ref: -1, Lanes: e.Lanes}
	for left := place.Mask; left != 0; {
		var first uint32 // lanes that come before others to their words
		met := make(map[uint64]bool)
		for i := range lanesOf(left) {
			if !met[addr[i]] {
				met[addr[i]] = true
				first |= 1 << i
			}
		}
		for _, kind := range []uint8{load, atomic} {
			access := step
			access.As, access.Kind, access.Ref = SharedLoad, RefAccess, m.block.AddAccess(Access{Kind: kind, Space: shared, Size: a.Size}, left, &addr)
			list = append(list, access, step)
		}
		left &^= first
	}
	return list
}

// elect lets one lane do an atomic: a vote says for how many, a shuffle hands on the result, and each lane adds its place.
func (m *privatizer) elect(list []Event, e Event, a *Access) []Event {
	lanes := m.block.Lanes[e.Lanes]
	other := Event{Op: e.Op, Ref: -1, Lanes: m.block.LanesOf(Lanes{Active: lanes.Active, Mask: lanes.Mask})}
	vote, pass, add := other, other, other
	vote.As, pass.As, add.As = Sum, Shuffle, Sum
	var addr [warpLanes]uint64
	first := bits.TrailingZeros32(a.Mask) & 31
	addr[first] = m.block.address(a, first)
	e.Ref = m.block.AddAccess(Access{Kind: a.Kind, Space: a.Space, Size: a.Size}, 1<<first, &addr)
	return append(list, vote, vote, e, pass, add)
}

// placeOf is where a word of global memory is in shared memory.
func (m *privatizer) placeOf(n uint64) uint64 { return m.place[n] }

// begin zeroes the copies in shared memory.
func (m *privatizer) begin() {
	if !m.copied {
		return
	}
	lists := make([][]Event, len(m.block.Warps))
	m.chunks(func(w int, mask uint32, from, _ *[warpLanes]uint64) {
		lists[w] = append(lists[w], m.event(w, 0, SharedStore, m.block.AddAccess(Access{Kind: store, Space: shared, Size: word}, mask, from)))
	})
	m.meet(lists, 0)
	for w := range lists {
		m.block.Warps[w].Events = append(lists[w], m.block.Warps[w].Events...)
	}
}

// end adds what the block has to global memory, before each warp's last instruction.
func (m *privatizer) end() {
	lists := make([][]Event, len(m.block.Warps))
	last := func(w int) int { return len(m.block.Warps[w].Events) - 1 }
	for w := range lists {
		if last(w) < 0 {
			return
		}
	}
	for w, sums := range m.sums {
		for _, n := range slices.Sorted(maps.Keys(sums)) {
			lists[w] = m.reduce(lists[w], w, last(w))
			addr := [warpLanes]uint64{m.place[n]}
			lists[w] = append(lists[w], m.event(w, last(w), SharedStore, m.block.AddAccess(Access{Kind: store, Space: shared, Size: word}, 1, &addr)))
		}
	}
	m.meetAt(lists, last)
	m.chunks(func(w int, mask uint32, from, to *[warpLanes]uint64) {
		lists[w] = append(lists[w], m.event(w, last(w), SharedLoad, m.block.AddAccess(Access{Kind: load, Space: shared, Size: word}, mask, from)))
		if !m.copied { // a sum of each warp
			lists[w] = m.reduce(lists[w], w, last(w))
		}
		for k := range to {
			if !m.met[to[k]/word] {
				mask &^= 1 << k // still zero
			}
		}
		if mask == 0 {
			return
		}
		e := m.event(w, last(w), Plain, m.block.AddAccess(Access{Kind: atomic, Space: global, Size: word}, mask, to))
		e.Op = m.op
		lists[w] = append(lists[w], e)
	})
	for w := range lists {
		events := m.block.Warps[w].Events
		m.block.Warps[w].Events = slices.Concat(events[:last(w)], lists[w], events[last(w):])
	}
}

// reduce adds the steps by which the lanes of a warp add up what they have.
func (m *privatizer) reduce(list []Event, w, at int) []Event {
	for d := warpLanes / 2; d > 0; d /= 2 {
		list = append(list, m.event(w, at, Shuffle, -1), m.event(w, at, Sum, -1))
	}
	return list
}

// chunks calls do with 32 words at a time, where they are in shared memory and in global memory, and which warp is to have them.
func (m *privatizer) chunks(do func(w int, mask uint32, from, to *[warpLanes]uint64)) {
	var from, to [warpLanes]uint64
	for i := 0; i*warpLanes < len(m.words); i++ {
		part := m.words[i*warpLanes : min((i+1)*warpLanes, len(m.words))]
		for k, n := range part {
			from[k], to[k] = m.place[n], n*word
		}
		do(i%len(m.block.Warps), uint32(1<<len(part)-1), &from, &to)
	}
}

// event is one beside another of a warp, by all lanes that come there.
func (m *privatizer) event(w, beside int, as Form, ref int32) Event {
	e := m.block.Warps[w].Events[beside]
	active := m.block.Lanes[e.Lanes].Active
	out := Event{Op: e.Op, As: as, Ref: ref, Lanes: m.block.LanesOf(Lanes{Active: active, Mask: active})}
	if ref >= 0 {
		out.Kind = RefAccess
	}
	return out
}

func (m *privatizer) meet(lists [][]Event, at int) { m.meetAt(lists, func(int) int { return at }) }

// meetAt adds a barrier of all warps.
func (m *privatizer) meetAt(lists [][]Event, at func(w int) int) {
	gate := m.block.addGate()
	for w := range lists {
		e := m.event(w, at(w), Barrier, -1)
		e.Kind, e.Ref = RefSync, m.block.AddSync(Sync{Arrives: gate, Waits: gate})
		lists[w] = append(lists[w], e)
	}
}
