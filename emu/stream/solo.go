package stream

import "slices"

// Solo makes the steps of a block in which only one warp still works those of that warp, as shuffles do in the last steps of a reduction:
// barriers are gone between two steps that have the same warp alone. In such steps its lanes pass each other what they would have
// stored and loaded: of the accesses to memory the first load of each step stays, which takes as long as a shuffle. All of them stay in steps
// that leave several words for others, as those of a scan by trees do: then the warp goes on in memory, and waits for nobody else.
type Solo struct {
	single
	Barriers map[int32]bool
}

// A step is what the warps do between two gates.
type step struct {
	gate int32 // behind it, -1 for none
	warp int   // the only one that accesses memory, -1 for none, -2 for several
}

// Apply takes the barriers away.
func (x *Solo) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	steps := x.steps(b)
	gone := make(map[int32]bool) // gates
	alone := make([]bool, len(steps))
	for i := range len(steps) - 1 {
		if s, next := &steps[i], &steps[i+1]; s.gate >= 0 && s.warp >= 0 && (next.warp == s.warp || next.warp == -1) {
			gone[s.gate], alone[i], alone[i+1] = true, true, true
		}
	}
	leaves := x.leaves(b, steps, alone)
	for w := range b.Warps {
		old := &b.Warps[w]
		n, loaded, idle := 0, false, make([]bool, len(old.Events))
		for i := range old.Events {
			e := &old.Events[i]
			if e.Kind == RefSync {
				s := b.Syncs[e.Ref]
				if gone[s.Arrives] || gone[s.Waits] {
					idle[i] = true
				}
				if s.Waits >= 0 {
					n, loaded = n+1, false
				}
				continue
			}
			if n >= len(steps) || !alone[n] {
				continue
			}
			if s := &steps[n]; s.warp >= 0 && s.warp != w && s.gate >= 0 {
				idle[i] = true // a warp without work does not come here any more
				continue
			}
			if e.Kind == RefAccess && !leaves[n] {
				idle[i] = !x.stays(b, e, &loaded, n == len(steps)-1)
			}
		}
		drop(old, idle)
	}
	return blocks, nil
}

// stays reports whether an access of a warp that is alone is made after all: the first load of a step, and what the last step stores.
func (x *Solo) stays(b *Block, e *Event, loaded *bool, last bool) bool {
	a := &b.Access[e.Ref]
	switch {
	case a.Space != global && a.Space != shared || a.Kind == atomic || last && a.Kind == store:
		return true
	case a.Kind == load && !*loaded:
		*loaded = true
		if a.Space == global {
			e.As = Shared
		}
		return true
	}
	return false
}

// leaves reports of each step that has a warp alone whether it stores several words that others load in the next step that accesses them.
func (x *Solo) leaves(b *Block, steps []step, alone []bool) []bool {
	type access struct{ any, loads bool }
	others := make(map[uint64][]access)           // by word and step
	stored := make([]map[uint64]bool, len(steps)) // by step that has a warp alone
	for w := range b.Warps {
		n := 0
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if e.Kind == RefSync && b.Syncs[e.Ref].Waits >= 0 {
				n++
			}
			if e.Kind != RefAccess || n >= len(steps) || b.Access[e.Ref].Space != shared {
				continue
			}
			a := &b.Access[e.Ref]
			b.eachWord(a, func(word uint64) {
				switch {
				case !alone[n]:
					if others[word] == nil {
						others[word] = make([]access, len(steps))
					}
					others[word][n] = access{true, others[word][n].loads || a.Kind != store}
				case a.Kind == store:
					if stored[n] == nil {
						stored[n] = make(map[uint64]bool)
					}
					stored[n][word] = true
				}
			})
		}
	}
	leaves := make([]bool, len(steps))
	for n := range stored {
		words := 0
		for word := range stored[n] {
			if at := others[word]; at != nil {
				at = at[n+1:]
				if next := slices.IndexFunc(at, func(a access) bool { return a.any }); next >= 0 && at[next].loads {
					words++
				}
			}
		}
		leaves[n] = words > 1
	}
	return leaves
}

// steps finds out who works between the gates. There are none where the warps do not all meet at the same ones.
func (x *Solo) steps(b *Block) []step {
	var steps []step
	for w := range b.Warps {
		n := 0
		for i := range b.Warps[w].Events {
			e := &b.Warps[w].Events[i]
			if n == len(steps) {
				steps = append(steps, step{gate: -1, warp: -1})
			}
			s := &steps[n]
			switch {
			case e.Kind == RefAccess && b.Access[e.Ref].Mask != 0 && (b.Access[e.Ref].Space == global || b.Access[e.Ref].Space == shared):
				if s.warp == -1 {
					s.warp = w
				} else if s.warp != w {
					s.warp = -2
				}
			case e.Kind == RefWork:
				s.warp = -2
			case e.Kind == RefSync && b.Syncs[e.Ref].Waits >= 0:
				gate := b.Syncs[e.Ref].Waits
				if !x.Barriers[e.Op] || s.gate >= 0 && s.gate != gate {
					return nil
				}
				s.gate = gate
				n++
			}
		}
	}
	return steps
}
