package mem

import "math/bits"

// calendarWords is the size of a calendar's window in words of 64 cycles. All instructions that can wait for an LSU at a
// time fit into it: ten of each of four sub-cores with 64 cycles each.
const calendarWords = 64

// A calendar says in which cycles a unit is taken that several sub-cores share. Unlike a next-free time it leaves the
// cycles before a late instruction to the earlier ones of other sub-cores.
type calendar struct {
	base int64 // first cycle of the window, a multiple of 64
	busy [calendarWords]uint64
}

// forget moves the window up to a cycle before which nothing will be asked for any more.
func (c *calendar) forget(before int64) {
	if before-c.base >= 64*calendarWords {
		clear(c.busy[:])
		c.base = before &^ 63
	}
	for c.base+64 <= before {
		c.busy[c.base>>6%calendarWords] = 0
		c.base += 64
	}
}

// take occupies the first n free cycles from one on and returns the first of them. What does not fit into the window is
// forgotten.
func (c *calendar) take(from int64, n int) int64 {
	first := int64(Never)
	for at := max(from, c.base); n > 0; at = (at | 63) + 1 {
		if at >= c.base+64*calendarWords {
			return min(first, at)
		}
		word := &c.busy[at>>6%calendarWords]
		for free := ^*word >> (at & 63) << (at & 63); free != 0 && n > 0; free &= free - 1 {
			bit := bits.TrailingZeros64(free)
			*word |= 1 << bit
			first = min(first, at&^63+int64(bit))
			n--
		}
	}
	return first
}
