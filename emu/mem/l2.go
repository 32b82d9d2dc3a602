package mem

import "math/bits"

// A sectored cache is a partition of L2. Its lines can be there in part. The line of a set that was looked up the longest time ago
// makes way for a new one.
//
// What a look-up reads is kept together, as most of them miss the caches of the host: of a set a head, 64 bytes of up to 24 ways,
// and of a line its number with its state. Sets and lines get storage when they are first used: short launches use a small part of a
// large cache, and empty it for nothing.
type sectored struct {
	places
	ways   int
	words  int      // of the hashes of a set, of its order, and of its groups
	stride int      // words of a head
	first  []int32  // by set: its number among those that have a head plus one, 0 for none
	heads  []uint64 // stride a set: hashes by way, 0 for a way that holds nothing; ways, that of the last use first; groups of lines
	groups int      // in use
	slabs  [][]group
}

// A group is the lines of eight ways of a set.
type group [wordBytes]sectorState

// slabGroups is the number of groups that get storage together.
const slabGroups = 64

// A sectorState is a line of L2.
type sectorState struct {
	line   uint64
	valid  uint8 // bit i: sector i is there or on its way
	dirty  uint8
	words  uint32                // those of valid sectors that are there, eight of each
	arrive [sectorsPerLine]int64 // of valid sectors: when they are there
	reply  port                  // the answers to those who have asked for the line
	_      [8]byte               // to the size of a line of the host's caches
}

// A victim is a line that made way for another: its number, which of its sectors were dirty, and of which of these a part was
// not there.
type victim struct {
	line         uint64
	dirty, holes uint8
}

// Constants of arithmetic on the bytes of a word.
const (
	wordBytes = 8
	lowBits   = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// equalBytes returns a word whose lowest set bit lies in the first byte of w that is b; it has none where there is none. Bytes behind the first
// may be marked falsely.
func equalBytes(w, b uint64) uint64 {
	x := w ^ b*lowBits
	return (x - lowBits) &^ x & highBits
}

func newSectored(places places, ways int) *sectored {
	c := &sectored{places: places, ways: max(ways, 1)}
	c.words = (c.ways + wordBytes - 1) / wordBytes
	c.stride = 1 << bits.Len(uint(2*c.words+(c.words+1)/2-1))
	c.first = make([]int32, c.l2Sets)
	return c
}

// clear empties the cache.
func (c *sectored) clear() {
	clear(c.first)
	c.heads, c.groups = c.heads[:0], 0
}

// rewind sets the clock back to zero: all that is there has been there.
func (c *sectored) rewind() {
	for i := range c.slabs {
		for k := range c.slabs[i] {
			for way := range c.slabs[i][k] {
				l := &c.slabs[i][k][way]
				l.arrive, l.reply = [sectorsPerLine]int64{}, 0
			}
		}
	}
}

// fingerprint is the byte of the hash of a line's number.
func fingerprint(line uint64) uint64 { return max(line*0x9E3779B97F4A7C15>>56, 1) }

// head returns the head of a set that has one.
func (c *sectored) head(set uint64) []uint64 {
	return c.heads[int(c.first[set]-1)*c.stride:][:c.stride]
}

// group returns the k-th group of a set, which has been used.
func (c *sectored) group(head []uint64, k int) *group {
	n := int(head[2*c.words+k/2] >> (k % 2 * 32) & (1<<32 - 1))
	return &c.slabs[n/slabGroups][n%slabGroups]
}

// place returns a line of a set and its way, nil where it is not there. That is no look-up yet, see use.
func (c *sectored) place(line, set uint64) (l *sectorState, way int) {
	if c.first[set] == 0 {
		return nil, 0
	}
	head := c.head(set)
	f := fingerprint(line)
	for k, w := range head[:c.words] {
		for m := equalBytes(w, f); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) / 8
			if w>>(i*8)&0xff != f {
				continue
			}
			if l := &c.group(head, k)[i]; l.line == line {
				return l, k*wordBytes + i
			}
		}
	}
	return nil, 0
}

// find looks a line of a set up and returns it, nil where it is not there.
func (c *sectored) find(line, set uint64) *sectorState {
	l, way := c.place(line, set)
	if l != nil {
		c.use(set, way)
	}
	return l
}

// has reports whether a line is there, without looking it up.
func (c *sectored) has(line uint64) bool {
	l, _ := c.place(line, c.set(line))
	return l != nil
}

// use makes the line at a way of a set the one that was looked up last.
func (c *sectored) use(set uint64, way int) {
	head := c.head(set)
	first := uint64(way)
	for k := c.words; k < 2*c.words; k++ {
		w := head[k]
		if m := equalBytes(w, uint64(way)); m != 0 {
			before := uint64(1)<<(bits.TrailingZeros64(m)&^7) - 1
			head[k] = w&^(before<<8|0xff) | w&before<<8 | first
			return
		}
		head[k], first = w<<8|first, w>>56
	}
}

// add puts a line without sectors, which is not there, in a free place or in that of the set's oldest.
func (c *sectored) add(line, set uint64) (l *sectorState, old victim) {
	if c.first[set] == 0 {
		c.open(set)
	}
	head := c.head(set)
	last := c.ways - 1
	if head[last/wordBytes]>>(last%wordBytes*8)&0xff == 0 {
		l = c.fill(head, fingerprint(line))
	} else {
		way := int(head[c.words+last/wordBytes] >> (last % wordBytes * 8) & 0xff)
		c.use(set, way)
		hash := &head[way/wordBytes]
		*hash = *hash&^(0xff<<(way%wordBytes*8)) | fingerprint(line)<<(way%wordBytes*8)
		l = &c.group(head, way/wordBytes)[way%wordBytes]
		old = victim{line: l.line, dirty: l.dirty, holes: l.dirty &^ whole(l.words)}
	}
	*l = sectorState{line: line}
	return l, old
}

// fill takes the first free way of a set for a line of a hash, which is the one that was looked up last.
func (c *sectored) fill(head []uint64, hash uint64) *sectorState {
	var way int
	for head[way/wordBytes]>>(way%wordBytes*8)&0xff != 0 {
		way++
	}
	k, i := way/wordBytes, way%wordBytes
	head[k] |= hash << (i * 8)
	first := uint64(way)
	for k := c.words; k < 2*c.words; k++ {
		head[k], first = head[k]<<8|first, head[k]>>56
	}
	if i == 0 {
		head[2*c.words+k/2] |= uint64(c.newGroup()) << (k % 2 * 32)
	}
	return &c.group(head, k)[i]
}

// newGroup returns the number of a group that is not in use.
func (c *sectored) newGroup() int {
	if c.groups == len(c.slabs)*slabGroups {
		c.slabs = append(c.slabs, make([]group, slabGroups))
	}
	c.groups++
	return c.groups - 1
}

// open gives a set a head.
func (c *sectored) open(set uint64) {
	c.heads = grow(c.heads, c.stride)
	c.first[set] = int32(len(c.heads) / c.stride)
}
