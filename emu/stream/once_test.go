package stream

import "testing"

// TestOnce leaves one store of each block to one place, and all others; the warps meet before they end.
func TestOnce(t *testing.T) {
	const flag, other, exit = 1, 2, 3
	b := NewBlock(3)
	all := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1})
	for w := range b.Warps {
		for _, op := range []int32{flag, other, flag} {
			ref := b.AddAccess(Access{Kind: store, Space: global, Size: 4}, 1, &[warpLanes]uint64{uint64(1024 * op)})
			b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: op, Lanes: all, Kind: RefAccess, Ref: ref})
		}
		b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: exit, Lanes: all, Ref: -1})
	}
	blocks, err := (&Once{Stores: map[int32]bool{flag: true}}).Apply(nil, []*Block{b})
	if err != nil {
		t.Fatal(err)
	}
	stores := make(map[int32]int)
	for w := range blocks[0].Warps {
		events := blocks[0].Warps[w].Events
		for _, e := range events {
			if e.Kind == RefAccess {
				stores[e.Op]++
			}
		}
		if n := len(events); n != 5 || events[n-2].Kind != RefSync || events[n-1].Op != exit {
			t.Errorf("warp %d: %+v", w, events)
		}
	}
	if stores[flag] != 1 || stores[other] != 3 {
		t.Errorf("%d stores to one place and %d others, want 1 and 3", stores[flag], stores[other])
	}
}
