package stream

import (
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// TestMergeEdges holds that pairs of blocks which execute different instructions are merged where they are few, as at the edges of a problem.
func TestMergeEdges(t *testing.T) {
	const pairs = 40
	for _, c := range []struct {
		uneven int // pairs
		fits   bool
	}{{0, true}, {pairs / 10, true}, {pairs/10 + 1, false}} {
		m := &Merge{Factor: 2, Axis: GridX}
		if _, _, err := m.Reshape(Shape{Grid: [3]int{2 * pairs, 1, 1}, Threads: warpLanes}); err != nil {
			t.Fatal(err)
		}
		var err error
		for n := 0; n < pairs && err == nil; n++ {
			first, second := branching(0, warpLanes), branching(0, warpLanes)
			if n < c.uneven {
				second = branching(1, warpLanes)
			}
			for _, b := range []*Block{first, second} {
				b.Warps[0].Values = make([]Value, len(b.Warps[0].Events))
			}
			_, err = m.Apply(loadsAndShuffles{}, []*Block{first, second})
		}
		if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "are not those of all") {
			t.Errorf("%d of %d pairs differ: %v", c.uneven, pairs, err)
		}
	}
}

// TestMergeBarriers holds that streams which are merged come to a barrier together, also where one of them does something before that lies behind the
// barrier in the code, as what a compiler takes to be rare.
func TestMergeBarriers(t *testing.T) {
	const before, barrier, rare = 1, 5, 9
	var blocks []*Block
	for _, ops := range [][]int32{{before, barrier}, {before, rare, barrier}} {
		b := NewBlock(1)
		all := b.LanesOf(Lanes{Active: 1<<warpLanes - 1, Mask: 1<<warpLanes - 1})
		b.Gates = append(b.Gates, Gate{All: true})
		w := &b.Warps[0]
		for _, op := range ops {
			e := Event{Op: op, Lanes: all, Ref: -1}
			if op == barrier {
				e.As, e.Kind, e.Ref = Barrier, RefSync, b.AddSync(Sync{Arrives: 0, Waits: 0})
			}
			w.Events = append(w.Events, e)
		}
		w.Values = make([]Value, len(w.Events))
		blocks = append(blocks, b)
	}
	m := &Merge{Factor: 2, Axis: GridX, Folded: true}
	if _, _, err := m.Reshape(Shape{Grid: [3]int{2, 1, 1}, Threads: warpLanes}); err != nil {
		t.Fatal(err)
	}
	m.warps = 1000 // enough that one which differs does not matter
	out, err := m.Apply(barriers{}, blocks)
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, e := range out[0].Warps[0].Events {
		if e.Kind == RefSync {
			met++
		}
	}
	if met != 1 {
		t.Errorf("the warp meets others %d times, want once", met)
	}
}

// barriers is a program whose instructions are barriers.
type barriers struct{}

func (barriers) Inst(int32) *sass.Inst { return &sass.Inst{Op: sass.BAR} }
