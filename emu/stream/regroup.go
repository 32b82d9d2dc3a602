package stream

import (
	"errors"
	"fmt"
)

// Regroup gives the threads of a block of X by Y new places in its warps, as where the program swaps threadIdx.x and threadIdx.y: those that
// were a column become neighbours. The warps of the block have to execute the same instructions, and none that looks at other lanes.
type Regroup struct {
	single
	X, Y int
}

// Apply lays the lanes of all warps out anew, instruction by instruction.
func (r *Regroup) Apply(p Program, blocks []*Block) ([]*Block, error) {
	old := blocks[0]
	if r.X*r.Y != warpLanes*len(old.Warps) {
		return nil, fmt.Errorf("regroup: a block of %d by %d has no whole warps", r.X, r.Y)
	}
	if err := old.withoutWork(p, "regroup"); err != nil {
		return nil, err
	}
	if err := old.alike(p); err != nil {
		return nil, err
	}
	b := NewBlock(len(old.Warps))
	b.Gates, b.Syncs, b.Waits = old.Gates, old.Syncs, old.Waits // old is not released
	for w := range b.Warps {
		for i := range old.Warps[0].Events {
			b.Warps[w].Events = append(b.Warps[w].Events, r.event(b, old, w, i))
		}
	}
	return []*Block{b}, nil
}

// alike reports an error where the warps do not execute the same instructions lane by lane.
func (b *Block) alike(p Program) error {
	first := b.Warps[0].Events
	for w := range b.Warps {
		events := b.Warps[w].Events
		if len(events) != len(first) {
			return errors.New("regroup: the warps execute different instructions")
		}
		for i := range events {
			e, f := &events[i], &first[i]
			if e.Op != f.Op || e.Kind != f.Kind || e.As != f.As || e.Kind == RefSync && b.Syncs[e.Ref] != b.Syncs[f.Ref] {
				return errors.New("regroup: the warps execute different instructions")
			}
			if p.Inst(e.Op).Op.Properties().Crosses {
				return errors.New("regroup: lanes pass values to each other")
			}
		}
	}
	return nil
}

// event is the i-th of a new warp.
func (r *Regroup) event(b, old *Block, w, i int) Event {
	e := old.Warps[0].Events[i]
	var lanes Lanes
	var access Access
	var addr, from [warpLanes]uint64
	mask, last := uint32(0), -1
	for l := range warpLanes {
		t := w*warpLanes + l
		t = t%r.Y*r.X + t/r.Y // as it was numbered
		at, lane := t/warpLanes, t%warpLanes
		bit := uint32(1) << lane
		o := &old.Warps[at].Events[i]
		was := old.Lanes[o.Lanes]
		if was.Active&bit != 0 {
			lanes.Active |= 1 << l
		}
		if was.Mask&bit != 0 {
			lanes.Mask |= 1 << l
		}
		lanes.Cost = max(lanes.Cost, was.Cost)
		if o.Kind != RefAccess {
			continue
		}
		a := &old.Access[o.Ref]
		if access = *a; a.Mask&bit != 0 {
			if last != at {
				old.Addresses(a, &from)
				last = at
			}
			addr[l] = from[lane]
			mask |= 1 << l
		}
	}
	e.Lanes = b.LanesOf(lanes)
	if e.Kind == RefAccess {
		e.Ref = b.AddAccess(Access{Kind: access.Kind, Space: access.Space, Size: access.Size}, mask, &addr)
	}
	return e
}
