package reconv

import (
	"cmp"
	"math/bits"
	"slices"
)

// find returns the position of a barrier in v.barriers, -1 where nobody takes part in it any more.
func (v *voltaWarp) find(id barrierID) int {
	i := len(v.barriers) - 1
	if i < 0 || id == 0 {
		return -1
	}
	if v.barriers[i].id != id { // not the youngest
		var found bool
		i, found = slices.BinarySearchFunc(v.barriers, id, func(b barrier, id barrierID) int { return cmp.Compare(b.id, id) })
		if !found {
			return -1
		}
	}
	if v.barriers[i].mask&v.live == 0 {
		return -1
	}
	return i
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
	if len(v.barriers) >= v.sweepAt {
		v.sweep()
	}
	v.lastID++
	v.barriers = append(v.barriers, barrier{id: v.lastID, mask: lanes})
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		r[bits.TrailingZeros32(m)&31] = v.lastID
	}
}

// minSweep is the number of barriers below which it is not worth while to look for those that can be forgotten.
const minSweep = 64

// sweep forgets the barriers that have ended, and those that no lane can come to any more: nobody waits there, and no
// register or saved mask of a live lane names them. The next sweep comes when there are twice as many, so that a barrier
// costs constant time however deep calls are nested.
func (v *voltaWarp) sweep() {
	named := make(map[barrierID]bool)
	for lanes := v.live; lanes != 0; lanes &= lanes - 1 {
		l := bits.TrailingZeros32(lanes)
		for _, r := range v.registers {
			if r != nil {
				named[r[l]] = true
			}
		}
	}
	saved := 0
	if v.saved != nil {
		for l := range v.saved {
			v.saved[l] = slices.DeleteFunc(v.saved[l], func(s savedBarrier) bool { return v.find(s.id) < 0 })
			saved += len(v.saved[l])
			for _, s := range v.saved[l] {
				named[s.id] = true
			}
		}
	}
	v.barriers = slices.DeleteFunc(v.barriers, func(b barrier) bool {
		return b.arrived == 0 && (!named[b.id] || b.mask&v.live == 0)
	})
	v.sweepAt = max(minSweep, 2*len(v.barriers)+saved/32)
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
	if b := &v.barriers[i]; b.mask&v.live&^b.arrived == 0 {
		v.end(i)
	}
}

// end lets all lanes at a barrier go on. Lanes that come later find that it is gone and go on at once.
func (v *voltaWarp) end(i int) {
	b := &v.barriers[i]
	arrived := b.arrived
	b.mask, b.arrived = 0, 0
	last := len(v.barriers)
	for last > 0 && v.barriers[last-1].mask == 0 {
		last--
	}
	v.barriers = v.barriers[:last]
	v.free(arrived)
}

// awaited calls f with the barriers at which lanes wait, the youngest first, until f returns true.
func (v *voltaWarp) awaited(f func(i int) bool) bool {
	var list [32]barrierID
	ids := list[:0]
	for m := v.waiting; m != 0; m &= m - 1 {
		if w := &v.waits[bits.TrailingZeros32(m)&31]; w.kind == waitSync && !slices.Contains(ids, w.id) {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) {
		if i := v.find(id); i >= 0 && f(i) {
			return true
		}
	}
	return false
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
			to[l] = v.barriers[i].mask & v.live
			v.remember(l, savedBarrier{to[l], r[l]})
		}
		if clear {
			r[l] = 0
		}
	}
}

// maxSaved bounds the masks that a lane has saved: the 32-bit words of its local memory and of its registers (512 KB and
// 255: CUDA C++ Programming Guide, compute capabilities). It has no place for more.
const maxSaved = 1<<17 + 255

// maxLook is the number of saved masks, the youngest, among which a restored one is looked for. A function saves no
// more than there are registers, and those that it has called have restored theirs.
const maxLook = 4 * Barriers

// remember notes a saved barrier, the youngest.
func (v *voltaWarp) remember(lane int, s savedBarrier) {
	if v.saved == nil {
		v.saved = new([32][]savedBarrier)
	}
	list := v.saved[lane]
	for len(list) > 0 && v.find(list[len(list)-1].id) < 0 {
		list = list[:len(list)-1]
	}
	for i := len(list) - 1; i >= max(0, len(list)-maxLook); i-- {
		if list[i].id == s.id {
			list = slices.Delete(list, i, i+1)
			break
		}
	}
	if len(list) >= maxSaved {
		list = slices.Delete(list, 0, maxSaved/2)
	}
	v.saved[lane] = append(list, s)
}

// Restore finds the barrier by its mask: of those that the lane has saved and that have not ended, the last that no other register of the lane
// names, since barriers around each other often have the same lanes; else the last. Functions save and restore in pairs, one inside the other. A mask
// that was not saved names no barrier.
func (v *voltaWarp) Restore(b int, lanes uint32, from *[32]uint32) {
	r := v.register(b)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if r[l] = 0; v.saved == nil {
			continue
		}
		list := v.saved[l]
		found := -1
		for i := len(list) - 1; i >= max(0, len(list)-maxLook); i-- {
			if s := list[i]; s.mask != from[l] || v.find(s.id) < 0 {
				continue
			}
			if held := v.holds(l, list[i].id); found < 0 || !held {
				if found = i; !held {
					break
				}
			}
		}
		if found >= 0 {
			r[l] = list[found].id
			v.saved[l] = list[:found+1]
		}
	}
}

// holds reports whether a register of a lane names a barrier.
func (v *voltaWarp) holds(lane int, id barrierID) bool {
	return slices.ContainsFunc(v.registers[:], func(r *[32]barrierID) bool { return r != nil && r[lane] == id })
}
