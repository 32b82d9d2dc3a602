package mem

import "math/bits"

// tags say which lines a cache holds. The index of a line is a hash of its number in which contiguous lines fill all
// sets evenly: the exclusive or of its parts where the number of sets is a power of two, else the remainder. The line of a set that was looked up the longest time ago makes way for a new one.
type tags struct {
	ways  int
	sets  uint64
	bits  uint     // log2 of sets where they are a power of two
	tag   []uint64 // by set and way: line number plus one
	used  []int64  // when the line was last looked up
	clock int64
}

// newTags returns the tags of an empty cache of one set at least.
func newTags(sets, ways int) tags {
	t := tags{ways: max(ways, 1), sets: uint64(max(sets, 1))}
	if t.sets&(t.sets-1) == 0 {
		t.bits = uint(bits.TrailingZeros64(t.sets))
	}
	t.tag, t.used = make([]uint64, t.size()), make([]int64, t.size())
	return t
}

func (t *tags) size() int { return int(t.sets) * t.ways }

// clear empties the cache.
func (t *tags) clear() { clear(t.tag) }

// set returns the index of the set that a line belongs to.
func (t *tags) set(line uint64) uint64 {
	switch {
	case t.bits > 0:
		h := line
		for rest := line >> t.bits; rest != 0; rest >>= t.bits {
			h ^= rest
		}
		return h & (t.sets - 1)
	case t.sets == 1:
		return 0
	}
	return line % t.sets
}

// find returns the place of a line in a set.
func (t *tags) find(line, set uint64) (int, bool) {
	first := int(set) * t.ways
	for i, tag := range t.tag[first : first+t.ways] {
		if tag == line+1 {
			t.clock++
			t.used[first+i] = t.clock
			return first + i, true
		}
	}
	return 0, false
}

// insert puts a line in the place of the set's oldest and reports whether there was one, and its number.
func (t *tags) insert(line, set uint64) (place int, old uint64, replaced bool) {
	first := int(set) * t.ways
	place = first
	for i := first; i < first+t.ways; i++ {
		if t.tag[i] == 0 {
			place = i
			break
		}
		if t.used[i] < t.used[place] {
			place = i
		}
	}
	old, replaced = t.tag[place]-1, t.tag[place] != 0
	t.clock++
	t.tag[place], t.used[place] = line+1, t.clock
	return place, old, replaced
}

// has reports whether a line is there, without looking it up.
func (t *tags) has(line uint64) bool {
	first := int(t.set(line)) * t.ways
	for _, tag := range t.tag[first : first+t.ways] {
		if tag == line+1 {
			return true
		}
	}
	return false
}

// A Cache is a cache without sectors, of instructions or constants. It knows when each of its lines arrives.
type Cache struct {
	tags
	arrive []int64
}

// NewCache returns an empty cache of one set at least.
func NewCache(sets, ways int) *Cache {
	c := &Cache{tags: newTags(sets, ways)}
	c.arrive = make([]int64, c.size())
	return c
}

// Look finds or adds a line and reports whether it was there or on its way.
func (c *Cache) Look(line uint64) (place int, hit bool) {
	set := c.set(line)
	if place, hit = c.find(line, set); hit {
		return place, true
	}
	place, _, _ = c.insert(line, set)
	return place, false
}

// Has reports whether the line is there or on its way, without looking it up.
func (c *Cache) Has(line uint64) bool { return c.has(line) }

// Arrival returns when the line at a place arrives, [Never] if that is not known yet.
func (c *Cache) Arrival(place int) int64 { return c.arrive[place] }

// SetArrival sets when the line at a place arrives.
func (c *Cache) SetArrival(place int, at int64) { c.arrive[place] = at }

// A sectored cache is one of data, whose lines can be there in part.
type sectored struct {
	tags
	lines []sectorState
}

// A sectorState is the state of the sectors of a line.
type sectorState struct {
	valid  uint8 // bit i: sector i is there or on its way
	dirty  uint8
	arrive [sectorsPerLine]int64 // Never while the answer is outstanding
	fill   [sectorsPerLine]int32 // which answer that is
}

func newSectored(sets, ways int) *sectored {
	c := &sectored{tags: newTags(sets, ways)}
	c.lines = make([]sectorState, c.size())
	return c
}

// add puts a line without sectors in the place of another and returns that one's number and which of its sectors were
// dirty.
func (c *sectored) add(line, set uint64) (place int, old uint64, dirty uint8) {
	place, old, replaced := c.insert(line, set)
	if replaced {
		dirty = c.lines[place].dirty
	}
	c.lines[place] = sectorState{}
	return place, old, dirty
}

// settle notes when sectors arrive, if the line is still where it was.
func (c *sectored) settle(place int, line uint64, sectors uint8, fill int32, at int64) {
	if c.tag[place] != line+1 {
		return
	}
	l := &c.lines[place]
	for i := range l.arrive {
		if sectors>>i&1 != 0 && l.arrive[i] == Never && l.fill[i] == fill {
			l.arrive[i] = at
		}
	}
}
