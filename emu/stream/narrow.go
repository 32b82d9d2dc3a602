package stream

// Narrow makes accesses to global and shared memory ones to elements of half the size, in arrays of half the size: what was at an address is at
// half of it, where no buffer is. So it is where floats take the place of doubles.
type Narrow struct {
	single
	Accesses map[int32]bool
}

// Apply halves sizes and addresses.
func (n *Narrow) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	var addr [warpLanes]uint64
	for w := range b.Warps {
		events := b.Warps[w].Events
		for i := range events {
			e := &events[i]
			if e.Kind != RefAccess || !n.Accesses[e.Op] {
				continue
			}
			a := b.Access[e.Ref]
			b.Addresses(&a, &addr)
			for l := range addr {
				addr[l] /= 2
			}
			e.Ref = b.AddAccess(Access{Kind: a.Kind, Space: a.Space, Size: a.Size / 2}, a.Mask, &addr)
		}
	}
	return blocks, nil
}
