package mem

// A Cache holds tags: which lines and sectors are there and when their data arrive. The index of a line is a hash of
// its number in which contiguous lines fill all sets evenly. The oldest line of a set makes way for a new one.
type Cache struct {
	ways  int
	sets  uint64
	bits  uint
	tags  []uint64 // by set and way: line number plus one
	used  []int64  // when the line was last looked up
	lines []cacheLine
	clock int64
}

// A cacheLine is the state of a line beside its tag.
type cacheLine struct {
	valid  uint8 // bit i: sector i is there or on its way
	dirty  uint8
	arrive [sectorsPerLine]int64 // Never while the answer is outstanding
	fill   [sectorsPerLine]int32 // which answer that is
}

// NewCache returns an empty cache. The number of sets is rounded down to a power of two, at least 1.
func NewCache(sets, ways int) *Cache {
	c := &Cache{ways: max(ways, 1), sets: 1}
	for c.sets*2 <= uint64(sets) {
		c.sets *= 2
		c.bits++
	}
	n := int(c.sets) * c.ways
	c.tags, c.used, c.lines = make([]uint64, n), make([]int64, n), make([]cacheLine, n)
	return c
}

// Clear empties the cache.
func (c *Cache) Clear() { clear(c.tags) }

// set returns the index of the set that a line belongs to.
func (c *Cache) set(line uint64) uint64 {
	if c.bits == 0 {
		return 0
	}
	h := line
	for rest := line >> c.bits; rest != 0; rest >>= c.bits {
		h ^= rest
	}
	return h & (c.sets - 1)
}

// find returns the place of a line in a set.
func (c *Cache) find(line, set uint64) (int, bool) {
	first := int(set) * c.ways
	for i, tag := range c.tags[first : first+c.ways] {
		if tag == line+1 {
			c.clock++
			c.used[first+i] = c.clock
			return first + i, true
		}
	}
	return 0, false
}

// insert puts a line without sectors in the place of the set's oldest.
func (c *Cache) insert(line, set uint64) (place int, victim cacheLine) {
	first := int(set) * c.ways
	place = first
	for i := first; i < first+c.ways; i++ {
		if c.tags[i] == 0 {
			place = i
			break
		}
		if c.used[i] < c.used[place] {
			place = i
		}
	}
	if c.tags[place] != 0 {
		victim = c.lines[place]
	}
	c.clock++
	c.tags[place], c.used[place], c.lines[place] = line+1, c.clock, cacheLine{}
	return place, victim
}

// Look finds or adds a line of a cache without sectors and reports whether it was there.
func (c *Cache) Look(line uint64) (place int, hit bool) {
	set := c.set(line)
	if place, hit = c.find(line, set); hit {
		return place, true
	}
	place, _ = c.insert(line, set)
	return place, false
}

// Has reports whether the line is there, without touching it.
func (c *Cache) Has(line uint64) bool {
	first := int(c.set(line)) * c.ways
	for _, tag := range c.tags[first : first+c.ways] {
		if tag == line+1 {
			return true
		}
	}
	return false
}

// Arrival returns when the line at a place arrives, Never if that is not known yet.
func (c *Cache) Arrival(place int) int64 { return c.lines[place].arrive[0] }

// SetArrival sets when the line at a place arrives.
func (c *Cache) SetArrival(place int, at int64) { c.lines[place].arrive[0] = at }
