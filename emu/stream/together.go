package stream

import "math/bits"

// Together makes wide accesses of the accesses of each group that go to one aligned vector of words of a thread, wherever they stand: as where each
// word has a test of its own. Loads are made at the place of the first one, stores at that of the last. Accesses are left as they are of which other
// lanes make those of the rest of the vector, and those that a barrier or the next execution of their instruction parts from it.
type Together struct {
	single
	Groups [][]int32 // loads or stores of one size each
}

// Apply merges accesses.
func (t *Together) Apply(p Program, blocks []*Block) ([]*Block, error) {
	b, group := blocks[0], make(map[int32]int)
	for g, ops := range t.Groups {
		for _, op := range ops {
			group[op] = g + 1
		}
	}
	b.eachOf(p, func(w int, do func(run []int)) { t.runs(b, w, group, do) }, b.merge)
	return blocks, nil
}

// runs hands on the events that make up vectors of a warp.
func (t *Together) runs(b *Block, w int, group map[int32]int, do func(run []int)) {
	type vector struct {
		at    uint64
		mask  uint32
		group int
	}
	open := make(map[vector][]int)
	var order []vector
	met := make(map[int32]bool)
	finish := func() {
		for _, v := range order {
			if run := open[v]; len(run) > 1 {
				do(run)
			}
		}
		clear(open)
		clear(met)
		order = order[:0]
	}
	for k := range b.Warps[w].Events {
		e := &b.Warps[w].Events[k]
		g := group[e.Op]
		if e.Kind == RefSync || g > 0 && met[e.Op] {
			finish()
		}
		if g == 0 || e.Kind != RefAccess {
			continue
		}
		met[e.Op] = true
		a := &b.Access[e.Ref]
		if a.Mask == 0 {
			continue
		}
		v := vector{b.address(a, bits.TrailingZeros32(a.Mask)) / widest, a.Mask, g}
		if open[v] == nil {
			order = append(order, v)
		}
		open[v] = append(open[v], k)
	}
	finish()
}
