package stream

import "testing"

// looped is a block of warps that go through so many rounds of a loop each, whose header is op 1, between op 0 and op 3; with meet they meet at a
// barrier in every round.
func looped(meet bool, rounds ...int) *Block {
	b := NewBlock(len(rounds))
	all := b.LanesOf(Lanes{Active: ^uint32(0), Mask: ^uint32(0)})
	most := 0
	for _, n := range rounds {
		most = max(most, n)
	}
	if meet {
		for range most {
			b.Gates = append(b.Gates, Gate{})
		}
	}
	for w, n := range rounds {
		add := func(e Event) {
			e.Lanes = all
			b.Warps[w].Events = append(b.Warps[w].Events, e)
			b.Warps[w].Values = append(b.Warps[w].Values, Value{First: uint32(len(b.Warps[w].Events))})
		}
		add(Event{Op: 0})
		for r := range n {
			add(Event{Op: 1})
			if meet {
				add(Event{Op: 2, Kind: RefSync, Ref: b.AddSync(Sync{Arrives: int32(r), Waits: int32(r)})})
			} else {
				add(Event{Op: 2})
			}
		}
		add(Event{Op: 3})
	}
	b.Close()
	return b
}

// TestCut holds that a cut leaves the first rounds and the last, with what was computed in them, and barriers to which all come that came before.
func TestCut(t *testing.T) {
	cut := &Cut{Loop: Loop{Header: 1, Body: []bool{false, true, true, false}}, Every: 4}
	for _, x := range []struct {
		name   string
		meet   bool
		rounds []int
		events int // of the first warp
		fails  bool
	}{
		{"rounds that divide", false, []int{16, 16}, 2 + 2*4, false},
		{"rounds that do not", false, []int{17, 3}, 2 + 2*5, false},
		{"one round", false, []int{1, 0}, 2 + 2, false},
		{"barriers", true, []int{16, 16}, 2 + 2*4, false},
		{"barriers of other rounds", true, []int{16, 12}, 0, true},
	} {
		b := looped(x.meet, x.rounds...)
		made, err := cut.Apply(nil, []*Block{b})
		if err != nil != x.fails {
			t.Errorf("%s: %v", x.name, err)
		}
		if err != nil {
			continue
		}
		w := &made[0].Warps[0]
		if len(w.Events) != x.events || len(w.Values) != x.events {
			t.Errorf("%s: %d events with %d values, want %d", x.name, len(w.Events), len(w.Values), x.events)
			continue
		}
		last := uint32(2 + 2*x.rounds[0])
		if w.Values[x.events-1].First != last || w.Values[x.events-3].First != last-2 || w.Values[1].First != 2 {
			t.Errorf("%s: not the first rounds and the last: %v", x.name, w.Values)
		}
		for i, g := range made[0].Gates {
			if n := arrivals(made[0])[i].arrive; n != 0 && n != len(x.rounds) {
				t.Errorf("%s: %d warps come to gate %d, %v", x.name, n, i, g)
			}
		}
	}
}
