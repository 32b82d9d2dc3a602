package stream

import (
	"errors"
	"fmt"
	"math/bits"
)

// Keep takes loads away whose bytes the thread has read before by one of them, as if it had kept them in registers. An execution is gone
// where that is so in all of its lanes, and nobody of the warp has stored there since.
type Keep struct {
	single
	Loads map[int32]bool
}

// word is the unit in which edits see memory, bytes.
const word = 4

// words calls do with each word of a lane's access.
func (a *Access) words(addr uint64, do func(uint64)) {
	for n := addr / word; n <= (addr+uint64(a.Size)-1)/word; n++ {
		do(n)
	}
}

// Apply marks what is read again.
func (k *Keep) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	for w := range b.Warps {
		read := make(map[uint64]uint32) // by word: the lanes that hold it
		events := b.Warps[w].Events
		for i := range events {
			e := &events[i]
			if e.Kind != RefAccess {
				continue
			}
			a := &b.Access[e.Ref]
			switch {
			case a.Space != global:
			case k.Loads[e.Op]:
				if again(b, a, read) && a.Mask != 0 {
					e.As, e.Kind, e.Ref = Gone, RefNone, -1
				}
			case a.Kind >= store:
				forget(b, a, read)
			}
		}
	}
	return blocks, nil
}

// again notes what an access reads, and reports whether every lane had read all of it.
func again(b *Block, a *Access, read map[uint64]uint32) bool {
	all := true
	for m := a.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		a.words(b.address(a, i), func(n uint64) {
			if read[n]>>i&1 == 0 {
				read[n] |= 1 << i
				all = false
			}
		})
	}
	return all
}

func forget(b *Block, a *Access, read map[uint64]uint32) {
	for m := a.Mask; m != 0; m &= m - 1 {
		a.words(b.address(a, bits.TrailingZeros32(m)), func(n uint64) { delete(read, n) })
	}
}

// Omit takes accesses away, so that nothing is outstanding in the counters that they would release.
type Omit struct {
	single
	Accesses map[int32]bool
}

// Apply makes the events nothing.
func (o *Omit) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	for w := range blocks[0].Warps {
		events := blocks[0].Warps[w].Events
		for i := range events {
			if events[i].Kind == RefAccess && o.Accesses[events[i].Op] {
				events[i].As, events[i].Kind, events[i].Ref = Gone, RefNone, -1
			}
		}
	}
	return blocks, nil
}

// Prefetch issues loads so many rounds of their loop earlier than the instructions that use them; those of the first rounds issue before
// the loop. Instructions of a round wait for the loads of that round only, which takes as many more registers as the loads that are under
// way together: the caller says how many that makes.
type Prefetch struct {
	single
	Loads  map[int32]bool
	Loop   Loop
	Rounds int
}

// Apply moves the loads.
func (f *Prefetch) Apply(p Program, blocks []*Block) ([]*Block, error) {
	if f.Rounds < 1 {
		return nil, fmt.Errorf("prefetch: %d rounds early", f.Rounds)
	}
	b := blocks[0]
	for w := range b.Warps {
		old := &b.Warps[w]
		var list []Event
		for _, s := range segments(old.Events, []Loop{f.Loop}) {
			if s.loop < 0 {
				list = append(list, old.Events[s.first:s.last]...)
				continue
			}
			m := prefetcher{Prefetch: f, program: p, block: b, events: old.Events, segment: &s, list: list}
			if err := m.loop(); err != nil {
				return nil, err
			}
			list = m.list
		}
		old.Events, old.Values = list, nil
	}
	return blocks, nil
}

// A prefetcher moves the loads of a loop.
type prefetcher struct {
	*Prefetch
	program Program
	block   *Block
	events  []Event
	segment *segment
	list    []Event

	issued [6][]int // by dependence counter: the rounds that what was issued belongs to
}

// loop adds the rounds.
func (m *prefetcher) loop() error {
	rounds := len(m.segment.rounds)
	for r := range min(m.Rounds, rounds) {
		for _, e := range m.loads(r) {
			m.add(e, r)
		}
	}
	for r := range rounds {
		first, last := m.segment.round(r)
		if at := r + m.Rounds; at < rounds && len(m.loads(at)) != 0 && len(m.loads(r)) == 0 {
			return errors.New("prefetch: a round loads nothing that the next one does")
		}
		var ahead []Event
		if r+m.Rounds < rounds {
			ahead = m.loads(r + m.Rounds)
		}
		for i := first; i < last; i++ {
			e := m.events[i]
			if !m.Loads[e.Op] {
				m.wait(&e, r)
				m.add(e, r)
				continue
			}
			if len(ahead) > 0 {
				m.add(ahead[0], r+m.Rounds)
				ahead = ahead[1:]
			}
		}
		for _, e := range ahead {
			m.add(e, r+m.Rounds)
		}
	}
	return nil
}

// loads are those of a round.
func (m *prefetcher) loads(r int) (list []Event) {
	first, last := m.segment.round(r)
	for i := first; i < last; i++ {
		if m.Loads[m.events[i].Op] {
			list = append(list, m.events[i])
		}
	}
	return list
}

// add issues an event that belongs to a round.
func (m *prefetcher) add(e Event, round int) {
	m.list = append(m.list, e)
	if c := m.program.Inst(e.Op).Control.WriteBarrier; c >= 0 && e.As < Load && e.As != Gone {
		m.issued[c] = append(m.issued[c], round)
	}
}

// wait makes an event of a round leave those loads outstanding that belong to later ones.
func (m *prefetcher) wait(e *Event, round int) {
	w := ownWaits
	changed := false
	for c := range w {
		if m.program.Inst(e.Op).Control.WaitMask>>c&1 == 0 {
			continue
		}
		later := 0
		for i := len(m.issued[c]) - 1; i >= 0 && m.issued[c][i] > round; i-- {
			later++
		}
		if later > 0 {
			w[c], changed = uint8(min(later, allOutstanding)), true
		}
	}
	if !changed {
		return
	}
	e.Wait = m.block.waitsOf(w)
}

// Tile makes loads of a loop find their data in shared memory. Before each so many rounds the warps of the block load what these read,
// each word once and 32 neighbouring ones at a time, store it and meet at a barrier; after them they meet again. All
// that a warp loads so is under way together, as in loops of constant length, and Index instructions find the places of each. Warps that go through fewer rounds than the others do so to the end.
// Without a loop all that a warp does from its first such load to its last is one round, of those warps that load at all: a window around the elements
// of the block. The shared memory that the data take is for the caller to say.
type Tile struct {
	single
	Loads  map[int32]bool
	Loop   Loop // with an empty body for none
	Rounds int
	Index  int

	spare [][]Event // for the streams of the next block
	added int       // most events that a warp of the last one got
}

// Apply stages the loads.
func (t *Tile) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	if t.Rounds < 1 {
		return nil, fmt.Errorf("tile: %d rounds at a time", t.Rounds)
	}
	b := blocks[0]
	var at []int // warps that load
	var parts [][]segment
	for w := range b.Warps {
		p := t.parts(b, b.Warps[w].Events)
		if t.isWindow() && len(p) == 0 {
			continue
		}
		at, parts = append(at, w), append(parts, p)
		if len(p) != len(parts[0]) {
			return nil, errors.New("tile: not all warps come to the loop equally often")
		}
	}
	if len(at) == 0 {
		return blocks, nil
	}
	x := &tiler{Tile: t, block: b, at: at, parts: parts, lists: make([][]Event, len(at)), places: wordSet{pages: make(map[uint64]int32)}}
	for w := range at {
		x.lists[w] = t.room(len(x.events(w)))
	}
	for n := range parts[0] {
		rounds := 0
		for w := range parts {
			s := &parts[w][n]
			if s.loop != parts[0][n].loop {
				return nil, errors.New("tile: not all warps come to the loop equally often")
			}
			if rounds = max(rounds, len(s.rounds)); s.loop < 0 {
				x.lists[w] = append(x.lists[w], x.events(w)[s.first:s.last]...)
			}
		}
		for r := 0; r < rounds; r += t.Rounds {
			x.tile(n, r)
		}
	}
	for w := range x.lists {
		warp := &b.Warps[at[w]]
		t.added = max(t.added, len(x.lists[w])-len(warp.Events))
		t.spare = append(t.spare, warp.Events[:0])
		warp.Events, warp.Values = x.lists[w], warp.Values[:0]
	}
	return blocks, nil
}

// room returns a list for so many events and those that are added, where these are no more than they were.
func (t *Tile) room(events int) []Event {
	events += t.added
	if n := len(t.spare); n > 0 {
		list := t.spare[n-1]
		if t.spare = t.spare[:n-1]; cap(list) >= events {
			return list
		}
	}
	return make([]Event, 0, events)
}

// isWindow reports whether the tile is that of a window.
func (t *Tile) isWindow() bool { return len(t.Loop.Body) == 0 }

// parts cuts what a warp does: at the ends of the loop and its rounds, or at the first and the last load, none where it has no load.
func (t *Tile) parts(b *Block, events []Event) []segment {
	if !t.isWindow() {
		return segments(events, []Loop{t.Loop})
	}
	first, last := -1, 0
	for i := range events {
		if t.access(b, &events[i]) == nil {
			continue
		}
		if last = i + 1; first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil
	}
	return []segment{{loop: -1, last: first}, {first: first, last: last, rounds: []int{first}}, {loop: -1, first: last, last: len(events)}}
}

// A tiler stages the loads of a block.
type tiler struct {
	*Tile
	block *Block
	at    []int // the warps that take part
	parts [][]segment
	lists [][]Event

	places wordSet // of global memory, in shared memory
	words  []uint64
}

// events are those of the w-th warp that takes part.
func (t *tiler) events(w int) []Event { return t.block.Warps[t.at[w]].Events }

// tile adds so many rounds of a loop.
func (t *tiler) tile(n, r int) {
	b, parts := t.block, t.parts
	t.places.clear()
	ranges := make([][2]int, len(parts))
	for w := range parts {
		s := &parts[w][n]
		if r >= len(s.rounds) {
			continue
		}
		first, _ := s.round(r)
		_, last := s.round(min(r+t.Rounds, len(s.rounds)) - 1)
		ranges[w] = [2]int{first, last}
		for _, e := range t.events(w)[first:last] {
			if a := t.access(b, &e); a != nil {
				for m := a.Mask; m != 0; m &= m - 1 {
					a.words(b.address(a, bits.TrailingZeros32(m)), t.places.add)
				}
			}
		}
	}
	t.words = t.places.appendTo(t.words[:0])
	t.fetch(t.words, n)
	place := func(n uint64) uint64 { return uint64(t.places.index(n) * word) }
	for w := range parts {
		for _, e := range t.events(w)[ranges[w][0]:ranges[w][1]] {
			if a := t.access(b, &e); a != nil {
				e.As, e.Ref = Shared, b.staged(a, place)
			}
			t.lists[w] = append(t.lists[w], e)
		}
	}
	if !t.isWindow() {
		t.meet(n)
	}
}

// access is what a staged load reads, nil of other events.
func (t *Tile) access(b *Block, e *Event) *Access {
	if e.Kind != RefAccess || !t.Loads[e.Op] || b.Access[e.Ref].Space != global || b.Access[e.Ref].Kind != load {
		return nil
	}
	return &b.Access[e.Ref]
}

// staged adds the access of a load in shared memory.
func (b *Block) staged(a *Access, place func(word uint64) uint64) int32 {
	var addr [warpLanes]uint64
	for m := a.Mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		at := b.address(a, i)
		addr[i] = place(at/word) + at%word
	}
	return b.AddAccess(Access{Kind: load, Space: shared, Size: a.Size}, a.Mask, &addr)
}

// fetch makes the warps of the block load words and store them in shared memory, in turns.
func (t *tiler) fetch(words []uint64, n int) {
	b, lists := t.block, t.lists
	var addr, to [warpLanes]uint64
	held := make([][]Event, len(lists))
	for i := 0; i*warpLanes < len(words); i++ {
		w := i % len(lists)
		chunk := words[i*warpLanes : min((i+1)*warpLanes, len(words))]
		for k, n := range chunk {
			addr[k], to[k] = n*word, uint64((i*warpLanes+k)*word)
		}
		mask := uint32(1<<len(chunk) - 1)
		e := t.event(w, n)
		for range t.Index {
			e.As = Index
			lists[w] = append(lists[w], e)
		}
		e.Kind = RefAccess
		e.As, e.Ref = Load, b.AddAccess(Access{Kind: load, Space: global, Size: word}, mask, &addr)
		lists[w] = append(lists[w], e)
		e.As, e.Ref = SharedStore, b.AddAccess(Access{Kind: store, Space: shared, Size: word}, mask, &to)
		held[w] = append(held[w], e)
	}
	for w := range lists {
		lists[w] = append(lists[w], held[w]...)
	}
	t.meet(n)
}

// meet adds a barrier of all warps.
func (t *tiler) meet(n int) {
	b, lists := t.block, t.lists
	gate := b.addGate()
	for w := range lists {
		e := t.event(w, n)
		e.As, e.Kind, e.Ref = Barrier, RefSync, b.AddSync(Sync{Arrives: gate, Waits: gate})
		lists[w] = append(lists[w], e)
	}
}

// event is one at the head of the loop, by all lanes that come there.
func (t *tiler) event(w, n int) Event {
	e := t.events(w)[t.parts[w][n].first]
	active := t.block.Lanes[e.Lanes].Active
	return Event{Op: e.Op, Ref: -1, Lanes: t.block.LanesOf(Lanes{Active: active, Mask: active})}
}
