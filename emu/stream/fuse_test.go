package stream

import (
	"testing"

	"gpa/cubin/sass"
)

// A scripted is a source of one block of two warps of one lane each.
type scripted struct{ accesses [2][]Access }

// Block makes the block, which ends with an EXIT, op 1, of each warp; other instructions are op 0.
func (s *scripted) Block(int) (*Block, error) {
	b := NewBlock(2)
	lanes := b.LanesOf(Lanes{Active: 1, Mask: 1})
	for w, list := range s.accesses {
		for _, a := range list {
			a.Space, a.Size = global, 4
			ref := b.AddAccess(a, 1, &[warpLanes]uint64{a.base})
			b.Warps[w].Events = append(b.Warps[w].Events, Event{Lanes: lanes, Ref: ref, Kind: RefAccess})
			b.Warps[w].Values = append(b.Warps[w].Values, Value{})
		}
		b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: 1, Lanes: lanes, Ref: -1})
		b.Warps[w].Values = append(b.Warps[w].Values, Value{})
	}
	return b, nil
}

type twoOps struct{}

func (twoOps) Inst(op int32) *sass.Inst { return &sass.Inst{Op: []sass.Op{sass.LDG, sass.EXIT}[op]} }

// TestFused holds where the loads and stores of two launches go that become one.
func TestFused(t *testing.T) {
	get := func(addr uint64) Access { return Access{Kind: load, base: addr} }
	put := func(addr uint64) Access { return Access{Kind: store, base: addr} }
	for _, c := range []struct {
		name  string
		parts [2]scripted
		want  [2][]Form // what both warps issue, in order
	}{
		{"a register", [2]scripted{{[2][]Access{{get(0), put(64)}, {get(4), put(68)}}}, {[2][]Access{{get(64), put(128)}, {get(68), put(132)}}}},
			[2][]Form{{Plain, Gone, Gone, Gone, Plain, Plain}, {Plain, Gone, Gone, Gone, Plain, Plain}}},
		{"shared memory", [2]scripted{{[2][]Access{{put(64)}, {put(68)}}}, {[2][]Access{{get(68), put(128)}, {get(64), put(132)}}}},
			[2][]Form{{Shared, Gone, Barrier, Shared, Plain, Plain}, {Shared, Gone, Barrier, Shared, Plain, Plain}}},
		{"in place", [2]scripted{{[2][]Access{{put(64)}, {put(68)}}}, {[2][]Access{{get(64), put(64)}, {get(68), put(68)}}}},
			[2][]Form{{Gone, Gone, Gone, Plain, Plain}, {Gone, Gone, Gone, Plain, Plain}}},
		{"what the block has not stored", [2]scripted{{[2][]Access{{put(64)}, {put(68)}}}, {[2][]Access{{get(72), put(128)}, {get(76), put(132)}}}},
			[2][]Form{{Plain, Gone, Plain, Plain, Plain}, {Plain, Gone, Plain, Plain, Plain}}},
		{"loaded twice by a thread, and by another", [2]scripted{{[2][]Access{{get(0), put(64)}, {get(0)}}}, {[2][]Access{{get(0)}, {get(4)}}}},
			[2][]Form{{Plain, Plain, Gone, Plain, Plain}, {Plain, Gone, Plain, Plain}}},
		{"added to by an atomic operation", [2]scripted{{[2][]Access{{put(64)}, {put(68)}}}, {[2][]Access{{{Kind: atomic, base: 64}}, {get(68)}}}},
			[2][]Form{{Plain, Gone, Plain, Plain}, {Gone, Gone, Gone, Plain}}},
	} {
		f := Fused{Program: twoOps{}, Launches: []Source{&c.parts[0], &c.parts[1]}}
		b, err := f.Block(0)
		if err != nil {
			t.Fatal(err)
		}
		for w, want := range c.want {
			var got []Form
			for _, e := range b.Warps[w].Events {
				got = append(got, e.As)
			}
			if len(got) != len(want) {
				t.Errorf("%s: warp %d issues %v, want %v", c.name, w, got, want)
				continue
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s: warp %d issues %v, want %v", c.name, w, got, want)
					break
				}
			}
		}
	}
}
