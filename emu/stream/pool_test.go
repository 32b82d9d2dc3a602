package stream

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// product is a block of so many warps that go through rounds of a loop, each with a load of a row and one of a column, as of a matrix product with
// a thread for each element.
func product(b *Block, rounds int) *Block {
	var row, column [warpLanes]uint64
	lanes := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1})
	for w := range b.Warps {
		for r := range rounds {
			for i := range row {
				row[i], column[i] = uint64(w*2+i/16)*4096+uint64(4*r), 1<<20+uint64(r*4096+4*(i%16))
			}
			for op, addr := range []*[warpLanes]uint64{&row, &column} {
				ref := b.AddAccess(Access{Kind: load, Space: global, Size: 4}, 1<<warpLanes-1, addr)
				b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: int32(op), Lanes: lanes, Kind: RefAccess, Ref: ref})
			}
			b.Warps[w].Events = append(b.Warps[w].Events, Event{Op: 2, Lanes: lanes, Ref: -1})
		}
	}
	b.Close()
	return b
}

// tileOf stages the loads of a product.
func tileOf() *Tile {
	return &Tile{Loads: map[int32]bool{0: true, 1: true}, Loop: Loop{Body: []bool{true, true, true}}, Rounds: 16}
}

// TestPool holds that blocks of a pool become what new ones do, whatever those were whose arrays they have.
func TestPool(t *testing.T) {
	var pool Pool
	tile := tileOf()
	for _, shape := range [][2]int{{8, 32}, {8, 32}, {2, 16}, {8, 64}, {3, 16}} {
		want, err := tileOf().Apply(nil, []*Block{product(NewBlock(shape[0]), shape[1])})
		if err != nil {
			t.Fatal(err)
		}
		got, err := tile.Apply(nil, []*Block{product(pool.Block(shape[0]), shape[1])})
		if err != nil {
			t.Fatal(err)
		}
		w, g := want[0], got[0]
		if !slices.Equal(w.Lanes, g.Lanes) || !slices.Equal(w.Syncs, g.Syncs) || !slices.Equal(w.Gates, g.Gates) || !slices.Equal(w.Access, g.Access) ||
			!slices.Equal(w.list, g.list) || !reflect.DeepEqual(w.lanes, g.lanes) || len(w.Warps) != len(g.Warps) {
			t.Errorf("%v: the tables of a block of the pool differ", shape)
		}
		for i := range w.Warps {
			if !slices.Equal(w.Warps[i].Events, g.Warps[i].Events) {
				t.Errorf("%v: the events of warp %d differ", shape, i)
			}
		}
		g.Release()
		if again := pool.Block(1); again != g {
			t.Errorf("%v: the block is not used again", shape)
		} else {
			again.Release()
		}
	}
}

// TestWordSet compares sets of words with maps.
func TestWordSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	set := wordSet{pages: make(map[uint64]int32)}
	for range 20 {
		set.clear()
		all := make(map[uint64]bool)
		for range random.IntN(500) {
			n := random.Uint64N(3)<<40 + random.Uint64N(1000)
			set.add(n)
			all[n] = true
		}
		words := set.appendTo(nil)
		if !slices.IsSorted(words) || len(words) != len(all) {
			t.Fatalf("%d words, want %d in their order", len(words), len(all))
		}
		for i, n := range words {
			if !all[n] || set.index(n) != i {
				t.Fatalf("word %d is %#x, number %d", i, n, set.index(n))
			}
		}
	}
}

// BenchmarkTile makes blocks whose loads are staged, of those that were released or all new.
func BenchmarkTile(b *testing.B) {
	for _, released := range []bool{false, true} {
		name := "new"
		if released {
			name = "released"
		}
		b.Run(name, func(b *testing.B) {
			var pool Pool
			tile := tileOf()
			for b.Loop() {
				out, err := tile.Apply(nil, []*Block{product(pool.Block(8), 256)})
				if err != nil {
					b.Fatal(err)
				}
				if released {
					out[0].Release()
				}
			}
		})
	}
}
