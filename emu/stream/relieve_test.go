package stream

import "testing"

// TestRelieve divides the rounds of a loop of one warp among the four of its block, and leaves alone those that all warps have.
func TestRelieve(t *testing.T) {
	for _, c := range []struct {
		name    string
		working int     // warps that go through the rounds
		by      float64 // among so many at most
		want    [4]int  // rounds of each warp
	}{
		{"one of four", 1, 32, [4]int{3, 3, 3, 3}},
		{"by two at most", 1, 2, [4]int{6, 6, 0, 0}},
		{"all", 4, 32, [4]int{12, 12, 12, 12}},
		{"three of four", 3, 32, [4]int{12, 12, 12, 0}},
		{"two of four", 2, 32, [4]int{6, 6, 6, 6}},
	} {
		const rounds, work = 12, 1
		b := NewBlock(4)
		all := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1})
		b.Gates = append(b.Gates, Gate{All: true})
		for w := range b.Warps {
			list := []Event{{Op: 0, Lanes: all, Ref: -1}}
			for range rounds {
				if w < c.working {
					list = append(list, Event{Op: work, Lanes: all, Ref: -1})
				}
			}
			list = append(list, Event{Op: 2, Lanes: all, As: Barrier, Kind: RefSync, Ref: b.AddSync(Sync{Arrives: 0, Waits: 0})})
			b.Warps[w].Events = append(list, Event{Op: 3, Lanes: all, Ref: -1})
		}
		x := &Relieve{Ops: map[int32]Relief{work: {c.by, 7}}}
		blocks, err := x.Apply(nil, []*Block{b})
		if err != nil {
			t.Fatal(err)
		}
		for w := range blocks[0].Warps {
			events := blocks[0].Warps[w].Events
			got := 0
			for _, e := range events {
				if e.Op == work {
					got++
				}
			}
			if got != c.want[w] {
				t.Errorf("%s: warp %d goes through %d rounds, want %d", c.name, w, got, c.want[w])
			}
			if n := len(events); events[0].Op != 0 || events[n-2].Op != 2 || events[n-1].Op != 3 {
				t.Errorf("%s: warp %d: what it does around them has moved", c.name, w)
			}
		}
	}
}
