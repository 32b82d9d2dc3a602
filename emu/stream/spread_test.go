package stream

import (
	"strings"
	"testing"
)

// alone is a block of two warps: the first lane of the first one goes through so many rounds of a loop (1 and 2, which stores word k in the k-th),
// between instructions 0 and 3, which stores a result; the second warp does instruction 0 alone.
func alone(rounds int) *Block {
	b := NewBlock(2)
	all, one := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1}), b.LanesOf(Lanes{Active: 1, Mask: 1})
	for w := range b.Warps {
		b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: 0, Lanes: all, Ref: -1})
	}
	access := func(op int32, addr uint64) Event {
		return Event{Op: op, Lanes: one, Kind: RefAccess, Ref: b.AddAccess(Access{Kind: store, Space: global, Size: 4}, 1, &[warpLanes]uint64{addr})}
	}
	for k := range rounds {
		b.Warps[0].Events = append(b.Warps[0].Events, Event{Op: 1, Lanes: one, Ref: -1}, access(2, uint64(4*k)))
	}
	b.Warps[0].Events = append(b.Warps[0].Events, access(3, 1<<20))
	return b
}

// TestSpread makes threads of the rounds that one thread goes through: who had none is left out, each round is done once by a thread of its own,
// neighbours store neighbouring words, and only one thread stores what stands behind the loop, or one of each block where results are put together.
func TestSpread(t *testing.T) {
	loop := Loop{Header: 1, Body: []bool{1: true, 2: true}}
	for _, c := range []struct {
		Spread
		blocks, stores int // blocks that it becomes, instructions that store behind the loop
	}{
		{Spread{Workers: 1, Parts: 160, Threads: 64}, 3, 1},
		{Spread{Workers: 1, Parts: 128, Threads: 64, Combine: true}, 2, 2},
		{Spread{Workers: 32, Parts: 2, Threads: 32, Beside: true}, 2, 1},
	} {
		c.Loops = []Loop{loop}
		const rounds = 150
		after, made, err := c.Reshape(Shape{Grid: [3]int{1, 1, 1}, Threads: 64})
		if err != nil {
			t.Fatal(err)
		}
		if made != c.blocks || after.Grid[0] != c.blocks || after.Threads != c.Threads {
			t.Errorf("%+v: %d blocks, %+v", c.Spread, made, after)
		}
		blocks, err := c.Apply(nil, []*Block{alone(rounds)})
		if err != nil {
			t.Fatal(err)
		}
		if len(blocks) != c.blocks {
			t.Errorf("%+v: %d blocks", c.Spread, len(blocks))
		}
		met, behind := make(map[uint64]int), 0
		for _, b := range blocks {
			for w := range b.Warps {
				for _, e := range b.Warps[w].Events {
					if e.Kind != RefAccess || b.Access[e.Ref].Space != global || b.Access[e.Ref].Mask == 0 {
						continue
					}
					a := b.Access[e.Ref]
					if e.Op == 3 {
						behind++
						if c.Combine != (e.As == Added) {
							t.Errorf("%+v: stored as %d behind the loop", c.Spread, e.As)
						}
						continue
					}
					var addr [warpLanes]uint64
					b.Addresses(&a, &addr)
					for i := range addr {
						if a.Mask>>i&1 != 0 {
							met[addr[i]]++
						}
					}
				}
			}
		}
		for k := range rounds {
			if met[uint64(4*k)] != 1 {
				t.Errorf("%+v: round %d is done %d times", c.Spread, k, met[uint64(4*k)])
			}
		}
		if len(met) != rounds || behind != c.stores {
			t.Errorf("%+v: %d words are stored in the loop, %d times behind it", c.Spread, len(met), behind)
		}
	}
	x := Spread{Loops: []Loop{loop}, Workers: 2, Parts: 64, Threads: 64}
	if _, err := x.Apply(nil, []*Block{alone(100)}); err == nil || !strings.Contains(err.Error(), "not 2") {
		t.Errorf("a block of another number of threads: %v", err)
	}
	x = Spread{Loops: []Loop{loop}, Workers: 1, Parts: 40, Threads: 64}
	if _, _, err := x.Reshape(Shape{Grid: [3]int{1, 1, 1}, Threads: 64}); err == nil {
		t.Error("40 parts fill warps")
	}
}
