package stream

import (
	"math/bits"
	"slices"
)

// Exchange makes the threads of a block exchange through shared memory what they load from global memory or store there, as where tiles are
// transposed: loads are followed by stores to shared memory, a barrier and loads from there, which then give the values; stores come behind
// such steps. What the block accesses at a time its threads access in the order of the addresses, where that takes at most half as many
// sectors; else the addresses stay, and what another shape of the block makes of them is for the caller to suppose. Those in shared memory
// have no bank conflicts, as of a padded tile.
type Exchange struct {
	single
	Groups [][]int32 // accesses of one basic block each, in their order, all loads or all stores
}

// Apply adds the steps.
func (x *Exchange) Apply(p Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	m := &exchanger{block: b, program: p, tiles: make(map[tileKey]*tile)}
	runs := make([]map[int]*exchange, len(b.Warps)) // by the last event of an execution
	groups := newRuns(x.Groups)
	for w := range b.Warps {
		runs[w] = make(map[int]*exchange)
		times := make(map[int]int)
		groups.each(b, w, func(g int, run []int) {
			runs[w][run[len(run)-1]] = m.enter(w, tileKey{g, times[g]}, run)
			times[g]++
		})
	}
	for _, t := range m.tiles {
		m.deal(t)
	}
	lists := make([][]Event, len(b.Warps))
	for w := range b.Warps {
		lists[w] = m.warp(w, runs[w])
	}
	for w := range lists {
		b.Warps[w].Events, b.Warps[w].Values = lists[w], nil
	}
	return blocks, nil
}

// An exchange is an execution of a group by a warp.
type exchange struct {
	warp int
	run  []int   // its events
	refs []int32 // their accesses to global memory
	tile *tile
}

// A tile is what the warps of a block access by their n-th executions of a group.
type tile struct {
	gate      int32
	exchanges []*exchange
}

type tileKey struct{ group, time int }

// enter takes note of an execution.
func (m *exchanger) enter(w int, key tileKey, run []int) *exchange {
	t := m.tiles[key]
	if t == nil {
		t = &tile{gate: int32(len(m.block.Gates))}
		m.block.Gates = append(m.block.Gates, Gate{})
		m.tiles[key] = t
	}
	e := &exchange{warp: w, run: slices.Clone(run), tile: t}
	for _, k := range run {
		e.refs = append(e.refs, m.block.Warps[w].Events[k].Ref)
	}
	t.exchanges = append(t.exchanges, e)
	return e
}

// deal gives the elements of a tile to its threads in the order of their addresses.
func (m *exchanger) deal(t *tile) {
	first := m.block.Access[t.exchanges[0].refs[0]]
	var elements []uint64
	var addr [warpLanes]uint64
	before := 0
	for _, e := range t.exchanges {
		for _, ref := range e.refs {
			a := &m.block.Access[ref]
			if a.Size != first.Size || a.Kind != first.Kind {
				return
			}
			from := len(elements)
			m.block.Addresses(a, &addr)
			for rest := a.Mask; rest != 0; rest &= rest - 1 {
				elements = append(elements, addr[bits.TrailingZeros32(rest)&31])
			}
			slices.Sort(elements[from:])
			before += sectorsOf(elements[from:])
		}
	}
	slices.Sort(elements)
	elements = slices.Compact(elements)
	after := 0
	for chunk := range slices.Chunk(elements, warpLanes) {
		after += sectorsOf(chunk)
	}
	if 2*after > before {
		return
	}
	for k := range t.exchanges[0].refs {
		for _, e := range t.exchanges {
			n := min(len(elements), bits.OnesCount32(m.block.Access[e.refs[k]].Mask))
			copy(addr[:], elements[:n])
			elements = elements[n:]
			e.refs[k] = m.block.AddAccess(Access{Kind: first.Kind, Space: first.Space, Size: first.Size}, uint32(1<<n-1), &addr)
		}
	}
}

// sectorsOf counts the sectors of 32 bytes that elements begin in, in the order of their addresses.
func sectorsOf(elements []uint64) (n int) {
	const sector = 32
	for i, at := range elements {
		if i == 0 || at/sector != elements[i-1]/sector {
			n++
		}
	}
	return n
}

// runs finds the executions of groups of instructions.
type runs struct {
	groups [][]int32
	places []groupPlace // by instruction
}

// A groupPlace is where an instruction is in groups: the group, from 1 on, 0 for none, and the number in it.
type groupPlace struct{ group, order int32 }

func newRuns(groups [][]int32) *runs {
	r := &runs{groups: groups}
	for g, ops := range groups {
		for k, op := range ops {
			if more := int(op) + 1 - len(r.places); more > 0 {
				r.places = append(r.places, make([]groupPlace, more)...)
			}
			r.places[op] = groupPlace{int32(g + 1), int32(k)}
		}
	}
	return r
}

// each calls do with the events of each execution of a group by a warp.
func (r *runs) each(b *Block, w int, do func(g int, run []int)) {
	open := make([][]int, len(r.groups)) // events of a group so far
	for k := range b.Warps[w].Events {
		e := &b.Warps[w].Events[k]
		if e.Kind != RefAccess || int(e.Op) >= len(r.places) || r.places[e.Op].group == 0 {
			continue
		}
		g, order := int(r.places[e.Op].group-1), int(r.places[e.Op].order)
		if order != len(open[g]) {
			open[g] = open[g][:0]
		}
		if order == len(open[g]) {
			open[g] = append(open[g], k)
		}
		if len(open[g]) == len(r.groups[g]) {
			do(g, open[g])
			open[g] = open[g][:0]
		}
	}
}

// An exchanger adds the steps to the warps of a block.
type exchanger struct {
	block   *Block
	program Program
	tiles   map[tileKey]*tile
}

// warp returns the events of a warp with the steps.
func (m *exchanger) warp(w int, runs map[int]*exchange) (list []Event) {
	events := m.block.Warps[w].Events
	dealt := make(map[int]int32)
	for _, x := range runs {
		for i, k := range x.run {
			dealt[k] = x.refs[i]
		}
	}
	for k, e := range events {
		ref, listed := dealt[k]
		x, stores := runs[k], listed && m.block.Access[ref].Kind == store
		if listed && !stores {
			e.Ref = ref
		}
		if !stores {
			list = append(list, e)
		}
		switch {
		case x != nil && stores:
			list = m.storeLate(list, events, x)
		case x != nil:
			list = m.passOn(list, events, x)
		}
	}
	return list
}

// storeLate stores to shared memory, loads from there and stores. All of it stands where the last of the stores did, as later loads from global
// memory do not wait for stores to shared memory, which cannot change what they load.
func (m *exchanger) storeLate(list, events []Event, x *exchange) []Event {
	for _, k := range x.run {
		put := events[k]
		put.As, put.Ref = Shared, m.shared(&put, store)
		list = append(list, put)
	}
	list = append(list, m.meet(&events[x.run[0]], x.tile.gate))
	for _, k := range x.run {
		list = append(list, m.added(&events[k], SharedLoad, m.shared(&events[k], load)))
	}
	for i, k := range x.run {
		late := events[k]
		late.Ref = x.refs[i]
		m.block.leave(&late, 0, Combining, len(x.run)-1-i)
		list = append(list, late)
	}
	return list
}

// passOn stores to shared memory what was loaded, and loads it from there.
func (m *exchanger) passOn(list, events []Event, x *exchange) []Event {
	for i, k := range x.run {
		put := m.added(&events[k], SharedStore, m.shared(&events[k], store))
		if c := m.program.Inst(events[k].Op).Control.WriteBarrier; c >= 0 {
			m.block.leave(&put, 0, int(c), len(x.run)-1-i)
		}
		list = append(list, put)
	}
	list = append(list, m.meet(&events[x.run[0]], x.tile.gate))
	for _, k := range x.run {
		take := events[k]
		take.As, take.Ref = Shared, m.shared(&take, load)
		list = append(list, take)
	}
	return list
}

// added is an event beside an access, by its lanes.
func (m *exchanger) added(beside *Event, as Form, ref int32) Event {
	active, mask := m.block.Lanes[beside.Lanes].Active, m.block.Lanes[beside.Lanes].Mask
	return Event{Op: beside.Op, As: as, Kind: RefAccess, Ref: ref, Lanes: m.block.LanesOf(Lanes{Active: active, Mask: mask})}
}

// meet is the arrival at a barrier of the warps that come to it.
func (m *exchanger) meet(beside *Event, gate int32) Event {
	e := m.added(beside, Barrier, m.block.AddSync(Sync{Arrives: gate, Waits: gate}))
	e.Kind = RefSync
	return e
}

// shared adds the access to shared memory that stands for one to global memory: a place of its own for each lane.
func (m *exchanger) shared(e *Event, kind uint8) int32 {
	a := m.block.Access[e.Ref]
	var addr [warpLanes]uint64
	for rest := a.Mask; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros32(rest) & 31
		addr[i] = uint64(i) * uint64(a.Size)
	}
	return m.block.AddAccess(Access{Kind: kind, Space: shared, Size: a.Size}, a.Mask, &addr)
}
