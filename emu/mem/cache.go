package mem

import (
	"math/bits"
	"slices"
)

// An index says which set of a cache a line belongs to: a hash of its number in which contiguous lines fill all sets evenly, the
// exclusive or of its parts where the number of sets is a power of two, else the remainder.
type index struct {
	sets uint64
	bits uint // log2 of sets where they are a power of two
}

// newIndex returns the index of a cache of one set at least.
func newIndex(sets int) index {
	x := index{sets: uint64(max(sets, 1))}
	if x.sets&(x.sets-1) == 0 {
		x.bits = uint(bits.TrailingZeros64(x.sets))
	}
	return x
}

// set returns the index of the set that a line belongs to.
func (x *index) set(line uint64) uint64 {
	switch {
	case x.bits > 0:
		h := line
		for rest := line >> x.bits; rest != 0; rest >>= x.bits {
			h ^= rest
		}
		return h & (x.sets - 1)
	case x.sets == 1:
		return 0
	}
	return line % x.sets
}

// tags say which lines a cache holds. The line of a set that was looked up the longest time ago makes way for a new one.
//
// A set gets its places with its first line: short launches use a small part of a large cache, and empty it for nothing.
type tags struct {
	index
	ways  int
	first []int32  // by set: its first place, 0 for none yet
	tag   []uint64 // by place: line number plus one; those below ways are nobody's
	used  []int64  // by place: when the line was last looked up
	clock int64
}

// newTags returns the tags of an empty cache of one set at least.
func newTags(sets, ways int) tags { return newTagsFor(sets, ways, sets) }

// newTagsFor does so for a cache in which only lines of numbers below a bound are looked up. Where there are more sets than
// such lines, each has a set of its own number, and the sets behind need no storage.
func newTagsFor(sets, ways, lines int) tags {
	t := tags{index: newIndex(sets), ways: max(ways, 1)}
	t.first = make([]int32, max(min(int(t.sets), lines), 1))
	t.tag, t.used = make([]uint64, t.ways), make([]int64, t.ways)
	return t
}

// clear empties the cache.
func (t *tags) clear() {
	clear(t.first)
	t.tag, t.used = t.tag[:t.ways], t.used[:t.ways]
}

// places returns the first place of a set, which it gets here where it has none.
func (t *tags) places(set uint64) int {
	if t.first[set] == 0 {
		t.first[set] = int32(len(t.tag))
		t.tag, t.used = grow(t.tag, t.ways), grow(t.used, t.ways)
	}
	return int(t.first[set])
}

// grow adds n zeros to a list.
func grow[T any](list []T, n int) []T {
	end := len(list)
	list = slices.Grow(list, n)[:end+n]
	clear(list[end:])
	return list
}

// find looks a line of a set up and returns its place.
func (t *tags) find(line, set uint64) (int, bool) {
	place, hit := t.place(line, set)
	if hit {
		t.use(place)
	}
	return place, hit
}

// use makes the line at a place the one that was looked up last.
func (t *tags) use(place int) {
	t.clock++
	t.used[place] = t.clock
}

// place returns the place of a line in a set, without looking it up.
func (t *tags) place(line, set uint64) (int, bool) {
	first := int(t.first[set])
	for i, tag := range t.tag[first : first+t.ways] {
		if tag == line+1 {
			return first + i, true
		}
	}
	return 0, false
}

// insert puts a line in the place of the set's oldest and reports whether there was one, and its number.
func (t *tags) insert(line, set uint64) (place int, old uint64, replaced bool) {
	first := t.places(set)
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
	t.tag[place] = line + 1
	t.use(place)
	return place, old, replaced
}

// has reports whether a line is there, without looking it up.
func (t *tags) has(line uint64) bool {
	_, hit := t.place(line, t.set(line))
	return hit
}

// A Cache is a cache without sectors, of instructions or constants. It knows when each of its lines arrives.
type Cache struct {
	tags
	arrive []int64
}

// NewCache returns an empty cache of one set at least, in which only lines of numbers below a bound are looked up, 0 for any.
func NewCache(sets, ways, lines int) *Cache {
	if lines == 0 {
		lines = sets
	}
	c := &Cache{tags: newTagsFor(sets, ways, lines)}
	c.arrive = make([]int64, len(c.tag))
	return c
}

// Look finds or adds a line and reports whether it was there or on its way.
func (c *Cache) Look(line uint64) (place int, hit bool) {
	set := c.set(line)
	if place, hit = c.find(line, set); hit {
		return place, true
	}
	place, _, _ = c.insert(line, set)
	if n := len(c.tag) - len(c.arrive); n > 0 {
		c.arrive = grow(c.arrive, n)
	}
	return place, false
}

// Has reports whether the line is there or on its way, without looking it up.
func (c *Cache) Has(line uint64) bool { return c.has(line) }

// Arrival returns when the line at a place arrives, [Never] if that is not known yet.
func (c *Cache) Arrival(place int) int64 { return c.arrive[place] }

// SetArrival sets when the line at a place arrives.
func (c *Cache) SetArrival(place int, at int64) { c.arrive[place] = at }
