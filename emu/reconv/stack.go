package reconv

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A unified is what the models have in common that know of one program counter for each warp and no convergence barriers:
// a group that waits stops the whole warp.
type unified struct {
	live    uint32
	waits   string // what the warp waits for, empty while it runs
	barrier int    // CTA barrier that it waits for, -1 for a WARPSYNC
	need    uint32 // lanes that a WARPSYNC waits for
	waiting uint32 // lanes that wait; the rest of their group waits with them
	behind  int32  // the instruction behind the wait
	cost    int64
	stats   Stats
}

// noBarriers are convergence barrier registers that mean nothing: programs save and restore them.
type noBarriers struct{}

func (*noBarriers) Set(int, uint32)   {}
func (*noBarriers) Break(int, uint32) {}

// Save gives an empty mask: nobody takes part in any barrier.
func (*noBarriers) Save(_ int, lanes uint32, to *[32]uint32, _ bool) {
	for m := lanes; m != 0; m &= m - 1 {
		to[bits.TrailingZeros32(m)] = 0
	}
}

func (*noBarriers) Restore(int, uint32, *[32]uint32) {}

func (u *unified) Live() uint32 { return u.live }
func (u *unified) Stats() Stats { return u.stats }

// Cost returns the cycles since the last call.
func (u *unified) Cost() int64 {
	c := u.cost
	u.cost = 0
	return c
}

// Unblock does nothing: a stack has no groups that it could let go on.
func (*unified) Unblock() bool { return false }

// hold makes the warp wait for a CTA barrier.
func (u *unified) hold(barrier int, lanes uint32, next int32) {
	u.waits, u.barrier, u.waiting, u.need, u.behind = fmt.Sprintf("BAR %d", barrier), barrier, lanes, 0, next
}

// resume reports whether the warp waited for a CTA barrier, and lets it go on.
func (u *unified) resume(barrier int) bool {
	if u.waits == "" || u.barrier != barrier {
		return false
	}
	u.waits = ""
	return true
}

// syncLanes reports whether all lanes that the masks of the executing ones name execute together; otherwise the warp
// waits for ever.
func (u *unified) syncLanes(lanes uint32, masks *[32]uint32, next int32) bool {
	for m := lanes; m != 0; m &= m - 1 {
		if mask := masks[bits.TrailingZeros32(m)] & u.live; mask&^lanes != 0 {
			u.waits, u.barrier, u.waiting, u.need, u.behind = "WARPSYNC", -1, lanes, mask, next
			return false
		}
	}
	return true
}

// waitingList describes the group that waits, and those that come after it.
func (u *unified) waitingList(groups []Group) []Waiting {
	var list []Waiting
	if u.waits != "" {
		list = append(list, Waiting{Group: Group{u.behind, u.waiting}, At: u.waits, Mask: u.need})
	}
	for _, g := range groups {
		if g.Lanes != 0 {
			list = append(list, Waiting{Group: g, Queued: true})
		}
	}
	return list
}

// snapshot appends the state that is common.
func (u *unified) snapshot(to []byte) []byte {
	for _, word := range []uint32{u.live, uint32(len(u.waits)), uint32(u.barrier), u.need, u.waiting, uint32(u.behind)} {
		to = binary.LittleEndian.AppendUint32(to, word)
	}
	return to
}

// parts divides lanes by target, the group with the lowest lane first.
func parts(lanes uint32, targets *[32]int32, to []Group) []Group {
	for lanes != 0 {
		g := Group{PC: targets[bits.TrailingZeros32(lanes)]}
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); targets[l] == g.PC {
				g.Lanes |= 1 << l
			}
		}
		lanes &^= g.Lanes
		to = append(to, g)
	}
	return to
}
