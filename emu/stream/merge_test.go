package stream

import (
	"strings"
	"testing"
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
