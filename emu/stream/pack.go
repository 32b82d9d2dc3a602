package stream

import (
	"errors"
	"math/bits"
	"slices"
)

// pack lays the threads of blocks one behind the other into the lanes of as few warps as hold them.
func (g *Gather) pack(p Program, blocks []*Block) (*Block, error) {
	first := blocks[0]
	k := &packer{program: p, threads: g.threads, blocks: blocks, out: NewBlock((g.threads*len(blocks) + warpLanes - 1) / warpLanes)}
	k.out.Gates = slices.Clone(first.Gates)
	for _, b := range blocks {
		if !slices.EqualFunc(b.Gates, first.Gates, func(x, y Gate) bool { return x.All == y.All }) {
			return nil, errors.New("gather: the blocks meet at other barriers")
		}
		if err := b.withoutWork(p, "gather"); err != nil {
			return nil, err
		}
		k.part = max(k.part, b.sharedEnd())
	}
	for w := range k.out.Warps {
		if err := k.warp(w); err != nil {
			return nil, err
		}
	}
	return k.out, nil
}

// sharedEnd is the end of what a block accesses in shared memory.
func (b *Block) sharedEnd() (end uint64) {
	var addr [warpLanes]uint64
	for i := range b.Access {
		a := &b.Access[i]
		if a.Space != shared {
			continue
		}
		b.Addresses(a, &addr)
		for m := a.Mask; m != 0; m &= m - 1 {
			end = max(end, addr[bits.TrailingZeros32(m)]+uint64(a.Size))
		}
	}
	const word = 4
	return (end + word - 1) / word * word
}

// A packer makes a block of blocks that are no whole warps.
type packer struct {
	program Program
	threads int // of each
	blocks  []*Block
	out     *Block
	part    uint64 // bytes of shared memory for each
}

// A packed warp is one of a block before: some of its lanes, or all, are lanes of the new warp.
type packed struct {
	block  *Block
	events []Event
	mask   uint32 // the lanes
	shift  int    // by which they are moved up
	part   uint64 // where the block's part of shared memory begins
}

// moved are the lanes of a mask in the new warp.
func (x *packed) moved(mask uint32) uint32 {
	if mask &= x.mask; x.shift < 0 {
		return mask >> -x.shift
	}
	return mask << x.shift
}

// warp makes the w-th warp.
func (k *packer) warp(w int) error {
	var list []packed
	for t := w * warpLanes; t < min((w+1)*warpLanes, k.threads*len(k.blocks)); {
		n, own := t/k.threads, t%k.threads
		b := k.blocks[n]
		lane, to := own%warpLanes, t%warpLanes
		lanes := min(warpLanes-lane, k.threads-own, warpLanes-to) // that stay together
		mask := uint32(1<<lanes-1) << lane
		list = append(list, packed{b, b.Warps[own/warpLanes].Events, mask, to - lane, uint64(n) * k.part})
		t += lanes
	}
	var at []*packed
	for {
		first := int32(-1)
		for i := range list {
			x := &list[i]
			for len(x.events) > 0 && x.block.Lanes[x.events[0].Lanes].Active&x.mask == 0 { // of other lanes
				x.events = x.events[1:]
			}
			if len(x.events) > 0 && (first < 0 || x.events[0].Op < first) {
				first = x.events[0].Op
			}
		}
		if first < 0 {
			return nil
		}
		if k.program.Inst(first).Op.Properties().Crosses {
			return errors.New("gather: lanes of blocks that are no whole warps pass values to each other")
		}
		at = at[:0]
		for i := range list {
			if x := &list[i]; len(x.events) > 0 && x.events[0].Op == first {
				at = append(at, x)
			}
		}
		if err := k.event(w, at); err != nil {
			return err
		}
		for _, x := range at {
			x.events = x.events[1:]
		}
	}
}

// event adds what some parts of a warp execute together.
func (k *packer) event(w int, at []*packed) error {
	e := at[0].events[0]
	var lanes Lanes
	var access Access
	var addr, from [warpLanes]uint64
	mask := uint32(0)
	for _, x := range at {
		o := &x.events[0]
		old := x.block.Lanes[o.Lanes]
		lanes.Active |= x.moved(old.Active)
		lanes.Mask |= x.moved(old.Mask)
		lanes.Cost = max(lanes.Cost, old.Cost)
		if o.Kind != e.Kind || o.Kind == RefSync && x.block.Syncs[o.Ref] != at[0].block.Syncs[e.Ref] {
			return errors.New("gather: the blocks do not come to the same barriers together")
		}
		if o.Kind != RefAccess {
			continue
		}
		a := x.block.Access[o.Ref]
		if mask != 0 && a.Space != access.Space {
			return errors.New("gather: the blocks access different spaces")
		}
		own := a.Mask & x.mask
		if mask == 0 || own != 0 {
			access = a
		}
		x.block.Addresses(&a, &from)
		for m := own; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			to := lane + x.shift
			if addr[to] = from[lane] + a.shift(to, lane); a.Space == shared {
				addr[to] += x.part
			}
			mask |= 1 << to
		}
	}
	switch e.Kind {
	case RefAccess:
		e.Ref = k.out.AddAccess(Access{Kind: access.Kind, Space: access.Space, Size: access.Size}, mask, &addr)
	case RefSync:
		e.Ref = k.out.AddSync(at[0].block.Syncs[e.Ref])
	}
	e.Wait = 0
	e.Lanes = k.out.LanesOf(lanes)
	k.out.Warps[w].Events = append(k.out.Warps[w].Events, e)
	return nil
}
