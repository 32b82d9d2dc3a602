package reconv

import (
	"fmt"
	"math/bits"
	"slices"
)

func (v *voltaWarp) SyncLanes(lanes uint32, masks *[32]uint32, next int32) {
	v.running.PC = next
	for lanes != 0 {
		mask := masks[bits.TrailingZeros32(lanes)]
		var same uint32
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); masks[l] == mask {
				same |= 1 << l
			}
		}
		lanes &^= same
		v.block(same, wait{kind: waitLanes, mask: mask, pc: next})
		v.completeLanes(mask)
	}
	v.run()
}

// completeLanes lets the lanes go on that wait with a mask if all that it names are there. As bar.warp.sync of the PTX
// ISA, they need not wait at the same instruction.
func (v *voltaWarp) completeLanes(mask uint32) {
	var there uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w := &v.waits[l]; w.kind == waitLanes && w.mask == mask {
			there |= 1 << l
		}
	}
	if mask&v.live&^there == 0 {
		v.free(there)
	}
}

// Yield also brings groups together that stand behind the same YIELD: compiled loops count on it to gather lanes again
// (VOTE, YIELD, VOTE, go on while more have come).
//
// When every group that could run has yielded, lanes that yield count as arrived at the barriers where others wait, as
// in the patent: the holder of a lock may be among those.
func (v *voltaWarp) Yield(next int32) {
	v.running.PC = next
	if v.allYielded() {
		v.endYielded(v.running.Lanes)
	}
	if len(v.ready) == 0 {
		return
	}
	v.ready = slices.DeleteFunc(v.ready, func(g readyGroup) bool {
		if !g.yielded || g.PC != next {
			return false
		}
		v.running.Lanes |= g.Lanes
		return true
	})
	v.rotate(true)
}

// allYielded reports whether all ready groups have yielded.
func (v *voltaWarp) allYielded() bool {
	return !slices.ContainsFunc(v.ready, func(g readyGroup) bool { return !g.yielded })
}

// endYielded ends the youngest barrier at which lanes wait for lanes that have yielded only.
func (v *voltaWarp) endYielded(yielded uint32) {
	for _, g := range v.ready {
		yielded |= g.Lanes
	}
	v.awaited(func(i int) bool {
		b := &v.barriers[i]
		if b.mask&v.live&^(b.arrived|yielded) != 0 {
			return false
		}
		v.stats.Forced++
		v.end(i)
		return true
	})
}

func (v *voltaWarp) Hold(barrier int, lanes uint32, next int32) {
	v.block(lanes, wait{kind: waitHeld, number: uint8(barrier), pc: next})
	v.run()
}

func (v *voltaWarp) Resume(barrier int) bool {
	var held uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if w := &v.waits[l]; w.kind == waitHeld && int(w.number) == barrier {
			held |= 1 << l
		}
	}
	v.free(held)
	v.run()
	return held != 0
}

// Unblock ends the youngest barrier whose missing lanes all wait at other barriers or for a WARPSYNC: they would wait for each other for
// ever, and a BSYNC only helps performance. A WARPSYNC is the program's own (bar.warp.sync): the lanes that it names go on until they come to one
// as well, or exit, as the PTX ISA says, and what the compiler has added must not keep them from it. Kernels count on that, as Numba's
// reductions, of whose last step two lanes end with a full mask. Lanes that wait for a WARPSYNC or a CTA barrier themselves are left to wait.
func (v *voltaWarp) Unblock() bool {
	var syncing uint32
	for m := v.waiting; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); v.waits[l].kind == waitSync || v.waits[l].kind == waitLanes {
			syncing |= 1 << l
		}
	}
	return v.awaited(func(i int) bool {
		if v.barriers[i].mask&v.live&^syncing != 0 {
			return false
		}
		v.stats.Forced++
		v.end(i)
		v.run()
		return true
	})
}

func (v *voltaWarp) Waiting() []Waiting {
	var list []Waiting
	for rest := v.waiting; rest != 0; {
		w := v.waits[bits.TrailingZeros32(rest)]
		group := Waiting{Group: Group{PC: w.pc}}
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); v.waits[l] == w {
				group.Lanes |= 1 << l
			}
		}
		rest &^= group.Lanes
		switch w.kind {
		case waitSync:
			group.At, group.Mask = fmt.Sprintf("BSYNC B%d", w.number), v.barriers[v.find(w.id)].mask&v.live
		case waitLanes:
			group.At, group.Mask = "WARPSYNC", w.mask&v.live
		default:
			group.At = fmt.Sprintf("BAR %d", w.number)
		}
		list = append(list, group)
	}
	return list
}
