package reconv

import (
	"math/bits"
	"slices"
)

// find returns the position of a barrier in v.barriers, -1 where nobody takes part in it any more.
func (v *voltaWarp) find(id barrierID) int {
	for i := len(v.barriers) - 1; i >= 0; i-- {
		if v.barriers[i].id == id {
			return i
		}
	}
	return -1
}

// named returns those of the lanes that have the same barrier in register b as the lowest of them, and that barrier.
func (v *voltaWarp) named(b int, lanes uint32) (same uint32, id barrierID) {
	r := v.register(b)
	id = r[bits.TrailingZeros32(lanes)&31]
	for m := lanes; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m) & 31; r[l] == id {
			same |= 1 << l
		}
	}
	return same, id
}

func (v *voltaWarp) Set(b int, lanes uint32) {
	if lanes == 0 {
		return
	}
	if len(v.barriers) >= maxBarriers {
		v.forget()
	}
	v.lastID++
	v.barriers = append(v.barriers, barrier{id: v.lastID, mask: lanes})
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		r[bits.TrailingZeros32(m)&31] = v.lastID
	}
}

// forget drops the older half of the barriers, except those at which lanes wait.
func (v *voltaWarp) forget() {
	kept := v.barriers[:0]
	for i, b := range v.barriers {
		if b.arrived != 0 || i >= maxBarriers/2 {
			kept = append(kept, b)
		}
	}
	v.barriers = kept
}

func (v *voltaWarp) Sync(b int, lanes uint32, next int32) {
	v.running.PC = next
	for lanes != 0 {
		same, id := v.named(b, lanes)
		lanes &^= same
		if i := v.find(id); i >= 0 {
			there := same & v.barriers[i].mask
			v.barriers[i].arrived |= there
			v.block(there, wait{kind: waitSync, number: uint8(b), id: id, pc: next})
			v.complete(i)
		}
	}
	v.run()
}

// complete ends the barrier at position i if nobody is missing.
func (v *voltaWarp) complete(i int) {
	if b := &v.barriers[i]; b.mask&^b.arrived == 0 {
		v.end(i)
	}
}

// end lets all lanes at a barrier go on. Lanes that come later find that it is gone and go on at once.
func (v *voltaWarp) end(i int) {
	arrived := v.barriers[i].arrived
	v.barriers = slices.Delete(v.barriers, i, i+1)
	v.free(arrived)
}

func (v *voltaWarp) Break(b int, lanes uint32) {
	for lanes != 0 {
		same, id := v.named(b, lanes)
		lanes &^= same
		if i := v.find(id); i >= 0 {
			v.barriers[i].mask &^= same
			v.complete(i)
		}
	}
}

func (v *voltaWarp) Save(b int, lanes uint32, to *[32]uint32, clear bool) {
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		to[l] = 0
		if i := v.find(r[l]); i >= 0 {
			to[l] = v.barriers[i].mask
			v.remember(l, savedBarrier{to[l], r[l]})
		}
		if clear {
			r[l] = 0
		}
	}
}

// remember notes a saved barrier, and forgets those that have ended.
func (v *voltaWarp) remember(lane int, s savedBarrier) {
	if v.saved == nil {
		v.saved = new([32][]savedBarrier)
	}
	kept := v.saved[lane][:0]
	for _, old := range v.saved[lane] {
		if old.id != s.id && v.find(old.id) >= 0 {
			kept = append(kept, old)
		}
	}
	v.saved[lane] = append(kept, s)
}

// Restore finds the barrier by its mask: of those that the lane has saved and that have not ended, the last. Functions
// save and restore in pairs, one inside the other. A mask that was not saved names no barrier.
func (v *voltaWarp) Restore(b int, lanes uint32, from *[32]uint32) {
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if r[l] = 0; v.saved == nil {
			continue
		}
		for i := len(v.saved[l]) - 1; i >= 0; i-- {
			if s := v.saved[l][i]; s.mask == from[l] && v.find(s.id) >= 0 {
				r[l] = s.id
				v.saved[l] = v.saved[l][:i+1]
				break
			}
		}
	}
}
