package stream

import (
	"math/bits"
	"slices"
)

// Share makes accesses to global memory, by which the threads of a block pass values to each other, ones to shared memory. What a warp
// loads that nobody of the block has stored it loads and stores there first, all warps at the beginning, and they meet. The shared
// memory that the data take is for the caller to say.
type Share struct {
	single
	Accesses map[int32]bool
}

// Apply moves the accesses.
func (x *Share) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	stored := make(map[uint64]int) // by word: how many gates its first store is behind, of any warp
	x.each(b, func(_ int, a *Access, phase int, _ *Event) {
		if a.Kind != store {
			return
		}
		b.eachWord(a, func(n uint64) {
			if first, ok := stored[n]; !ok || phase < first {
				stored[n] = phase
			}
		})
	})
	staged := make([][]Event, len(b.Warps))
	own, warp := make(map[uint64]bool), -1 // what the warp itself has stored or staged
	x.each(b, func(w int, a *Access, phase int, e *Event) {
		if w != warp {
			warp = w
			clear(own)
		}
		known := true
		b.eachWord(a, func(n uint64) {
			first, ok := stored[n]
			known = known && (own[n] || ok && first < phase)
			own[n] = true
		})
		if a.Kind == load && !known {
			fetch, put := *e, *e
			fetch.As, put.As = Load, SharedStore
			staged[w] = append(staged[w], fetch, put)
		}
		e.As = Shared
	})
	x.begin(b, staged)
	return blocks, nil
}

// begin puts what is staged, and a barrier, before the first access of each warp that is moved, or its first barrier.
func (x *Share) begin(b *Block, staged [][]Event) {
	gate := b.addGate()
	meet := b.AddSync(Sync{Arrives: gate, Waits: gate})
	for w := range b.Warps {
		old := &b.Warps[w]
		at := max(0, slices.IndexFunc(old.Events, func(e Event) bool { return x.Accesses[e.Op] || e.Kind == RefSync }))
		e := old.Events[at]
		active := b.Lanes[e.Lanes].Active
		barrier := Event{Op: e.Op, As: Barrier, Kind: RefSync, Ref: meet, Lanes: b.LanesOf(Lanes{Active: active, Mask: active})}
		old.Events, old.Values = slices.Concat(old.Events[:at], staged[w], []Event{barrier}, old.Events[at:]), nil
	}
}

// each visits the accesses in the order of each warp, with the number of gates that the warp has passed.
func (x *Share) each(b *Block, visit func(warp int, a *Access, phase int, e *Event)) {
	for w := range b.Warps {
		phase := 0
		events := b.Warps[w].Events
		for i := range events {
			e := &events[i]
			switch {
			case e.Kind == RefSync && b.Syncs[e.Ref].Waits >= 0:
				phase++
			case e.Kind == RefAccess && x.Accesses[e.Op]:
				if a := &b.Access[e.Ref]; a.Space == global && a.Kind != atomic {
					visit(w, a, phase, e)
				}
			}
		}
	}
}

// eachWord visits the words of all lanes of an access.
func (b *Block) eachWord(a *Access, visit func(uint64)) {
	for m := a.Mask; m != 0; m &= m - 1 {
		a.words(b.address(a, bits.TrailingZeros32(m)), visit)
	}
}
