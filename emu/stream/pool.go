package stream

// A Pool makes blocks of the arrays of others that nobody looks at any more or, where there are none, with room for what the last one took, as
// the blocks of a launch are much alike. Its zero value is ready.
type Pool struct {
	free []*Block
	room room
	made bool // a block, since the room was noted
}

// A room is how much a block took.
type room struct {
	events            []int // by warp
	values            bool
	lanes, syncs      int
	access, addresses int
}

// Block returns a block of so many warps without events.
func (p *Pool) Block(warps int) *Block {
	p.made = true
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		if more := warps - len(b.Warps); more > 0 {
			b.Warps = append(b.Warps, make([]Warp, more)...)
		}
		b.Warps = b.Warps[:warps]
		return b
	}
	b := NewBlock(warps)
	b.home = p
	b.Lanes, b.Syncs = make([]Lanes, 0, p.room.lanes), make([]Sync, 0, p.room.syncs)
	b.Access, b.list = make([]Access, 0, p.room.access), make([]uint64, 0, p.room.addresses)
	for w := range min(warps, len(p.room.events)) {
		b.Warps[w].Events = make([]Event, 0, p.room.events[w])
		if p.room.values {
			b.Warps[w].Values = make([]Value, 0, p.room.events[w])
		}
	}
	return b
}

// note takes note of what a block takes: the most of the last one, which edits close once more.
func (p *Pool) note(b *Block) {
	r := &p.room
	if p.made {
		*r, p.made = room{events: r.events[:0]}, false
	}
	for w := range b.Warps {
		if w == len(r.events) {
			r.events = append(r.events, 0)
		}
		r.events[w] = max(r.events[w], len(b.Warps[w].Events))
		r.values = r.values || len(b.Warps[w].Values) > 0
	}
	r.lanes, r.syncs = max(r.lanes, len(b.Lanes)), max(r.syncs, len(b.Syncs))
	r.access, r.addresses = max(r.access, len(b.Access)), max(r.addresses, len(b.list))
}

// Release gives a block that nobody looks at any more, nor at its events, back to the pool that it is from, where it is from one.
func (b *Block) Release() {
	if b.home == nil {
		return
	}
	for w := range b.Warps {
		b.Warps[w] = Warp{Events: emptied(b.Warps[w].Events), Values: emptied(b.Warps[w].Values)}
	}
	b.Lanes, b.Syncs, b.Gates, b.Waits = emptied(b.Lanes), emptied(b.Syncs), emptied(b.Gates), emptied(b.Waits)
	b.Access, b.list = emptied(b.Access), emptied(b.list)
	clear(b.lanes)
	b.home.free = append(b.home.free, b)
}

// Keep makes a block one that stays when it is released, and its pool one that can go before it.
func (b *Block) Keep() { b.home = nil }

// emptied is an array for new elements. One that was hardly used goes: after a single large block it would stay as large as that.
func emptied[T any](list []T) []T {
	const least = 64
	if cap(list) > 2*len(list)+least {
		return nil
	}
	return list[:0]
}
