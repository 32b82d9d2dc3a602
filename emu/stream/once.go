package stream

// Once leaves the last execution of each store in a block, as where threads keep in a register what they have to say, and one of them says it in the
// end: all warps that are still there meet before they end.
type Once struct {
	single
	Stores map[int32]bool
}

// Apply takes the other stores away.
func (x *Once) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	last := make(map[int32]*Event)
	for w := range b.Warps {
		events := b.Warps[w].Events
		for i := range events {
			e := &events[i]
			if e.Kind != RefAccess || !x.Stores[e.Op] || b.Access[e.Ref].Mask == 0 {
				continue
			}
			if before := last[e.Op]; before != nil {
				before.As, before.Kind, before.Ref = Gone, RefNone, -1
			}
			last[e.Op] = e
		}
	}
	if len(last) == 0 {
		return blocks, nil
	}
	gate := b.addGate()
	for w := range b.Warps {
		warp := &b.Warps[w]
		n := len(warp.Events)
		if n == 0 {
			continue
		}
		e := warp.Events[n-1]
		e.As, e.Kind, e.Ref = Barrier, RefSync, b.AddSync(Sync{Arrives: gate, Waits: gate})
		warp.Events, warp.Values = append(append(warp.Events[:n-1:n-1], e), warp.Events[n-1]), nil
	}
	return blocks, nil
}
