package mem

import "math/bits"

// A dataCache is L1, whose lines can be there in part. The line of a set that was looked up the longest time ago makes way for a new
// one.
//
// A set is a few words side by side, so that a look-up which hits reads one line of the host's caches: one word of each way, and one of
// the order of their last uses. When sectors arrive is written elsewhere, and looked at only while they may be on their way.
type dataCache struct {
	sets    uint64
	ways    int
	shift   uint   // log2 of the words of a set
	inverse uint64 // 2^64 / sets, rounded up
	words   []uint64
	touched []uint32                // sets that are not empty
	slots   []uint16                // by place: of its arrivals, 0 for none yet
	arrive  [][sectorsPerLine]int64 // by slot: of valid sectors, see awaited
}

// The word of a way is 0 where it holds nothing, else the line's number plus one, lineOpen and the valid sectors: those that are there
// or on their way.
const (
	wordShift = 5
	lineOpen  = 1 << sectorsPerLine // a valid sector may not be there yet
)

// maxWaysL1 is how many ways have a byte in the word that orders them.
const maxWaysL1 = 8

// awaited stands for an arrival that is not known: that of a fill. It is negative.
func awaited(fill int32) int64 { return ^int64(fill) }

func newDataCache(sets, ways int) *dataCache {
	c := &dataCache{sets: uint64(max(sets, 1)), ways: min(max(ways, 1), maxWaysL1)}
	c.shift = uint(bits.Len(uint(c.ways)))
	c.inverse = ^uint64(0)/c.sets + 1
	c.words = make([]uint64, c.sets<<c.shift)
	c.slots = make([]uint16, int(c.sets)*c.ways)
	c.arrive = make([][sectorsPerLine]int64, 1)
	return c
}

// clear empties the cache.
func (c *dataCache) clear() {
	for _, set := range c.touched {
		clear(c.set(uint64(set)))
		clear(c.slots[int(set)*c.ways:][:c.ways])
	}
	c.touched, c.arrive = c.touched[:0], c.arrive[:1]
}

// setOf returns the set of a line: the remainder of its number. A product with the inverse finds it where the error of the inverse, less
// than sets / 2^64, stays below 1 / sets.
func (c *dataCache) setOf(line uint64) uint64 {
	const exact = 1 << 40
	if c.sets == 1 {
		return 0
	}
	if line >= exact {
		return line % c.sets
	}
	quotient, _ := bits.Mul64(line, c.inverse)
	return line - quotient*c.sets
}

// set returns the words of a set.
func (c *dataCache) set(set uint64) []uint64 { return c.words[set<<c.shift:][:1<<c.shift] }

// find looks a line of a set up. It returns its word, nil where it is not there, and its place.
func (c *dataCache) find(line, set uint64) (word *uint64, place int32) {
	words := c.set(set)
	for way := range c.ways {
		if words[way]>>wordShift != line+1 {
			continue
		}
		order := &words[len(words)-1]
		before := uint64(1)<<(bits.TrailingZeros64(equalBytes(*order, uint64(way)))&^7&63) - 1
		*order = *order&^(before<<8|0xff) | *order&before<<8 | uint64(way)
		return &words[way], int32(set)*int32(c.ways) + int32(way)
	}
	return nil, 0
}

// add puts a line without sectors, which is not there, in a free place or in that of the set's oldest. The caller makes some valid.
func (c *dataCache) add(line, set uint64) (word *uint64, place int32) {
	words := c.set(set)
	order := &words[len(words)-1]
	if words[0] == 0 {
		c.touched = append(c.touched, uint32(set))
	}
	way := 0
	for way < c.ways && words[way] != 0 {
		way++
	}
	if way == c.ways {
		last := uint(c.ways-1) * 8
		way = int(*order >> last & 0xff)
		*order &= 1<<last - 1
	}
	*order = *order<<8 | uint64(way)
	words[way] = (line + 1) << wordShift
	place = int32(set)*int32(c.ways) + int32(way)
	if c.slots[place] == 0 {
		c.slots[place] = uint16(len(c.arrive))
		c.arrive = append(c.arrive, [sectorsPerLine]int64{})
	}
	return &words[way], place
}

// arrivals returns when the sectors of the line at a place arrive.
func (c *dataCache) arrivals(place int32) *[sectorsPerLine]int64 { return &c.arrive[c.slots[place]] }

// settle notes when the sectors of a fill arrive, if the line is still where it was.
func (c *dataCache) settle(place int32, line uint64, sectors uint8, fill int32, at int64) {
	ways := int32(c.ways)
	if c.words[uint64(place/ways)<<c.shift+uint64(place%ways)]>>wordShift != line+1 {
		return
	}
	arrive := c.arrivals(place)
	for i := range arrive {
		if sectors>>i&1 != 0 && arrive[i] == awaited(fill) {
			arrive[i] = at
		}
	}
}
