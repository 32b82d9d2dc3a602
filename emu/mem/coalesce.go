package mem

import "math/bits"

// A Line is what one warp instruction accesses of one 128-byte line.
type Line struct {
	Number  uint64                 // address divided by the size of a line
	Sectors uint8                  // bit i: sector i is accessed
	Bytes   [sectorsPerLine]uint32 // by sector, bit i: byte i is accessed
}

// full returns the sectors of which every byte is accessed.
func (l *Line) full() uint8 {
	var mask uint8
	for i, b := range l.Bytes {
		if b == 1<<sectorBytes-1 {
			mask |= 1 << i
		}
	}
	return mask
}

// words returns which words of 32 bits are accessed as a whole, eight of each sector.
func (l *Line) words() (mask uint32) {
	for i, b := range l.Bytes {
		if b == 0 {
			continue
		}
		b &= b >> 1 // bit 4w: all of the four bits from there on
		b = b & (b >> 2) & 0x11111111
		b = (b | b>>3) & 0x03030303
		b = (b | b>>6) & 0x000f000f
		mask |= (b | b>>12) & allWords << (i * sectorWords)
	}
	return mask
}

// A Coalescer turns the addresses of a warp instruction into lines and sectors. It is scratch space that is used again
// and again; the zero value is ready.
type Coalescer struct {
	Sectors int // accessed
	Ideal   int // sectors that the bytes accessed would fill
	lines   [32]Line
	n       int
	table   [64]uint8 // by hash of the line number: 1 + index in lines
}

// Lines returns the lines of the last access, in the order of the lanes that touch them first.
func (c *Coalescer) Lines() []Line { return c.lines[:c.n] }

// Add takes the access of size bytes (1 to 16, aligned) at each address whose lane is in mask.
func (c *Coalescer) Add(addr *[32]uint64, mask uint32, size int) {
	c.n, c.Sectors, c.Ideal = 0, 0, 0
	if mask == 0 {
		return
	}
	if mask == 1<<32-1 && contiguous(addr, uint64(size)) && addr[0]%sectorBytes == 0 {
		c.addRange(addr[0], 32*size)
		return
	}
	mask = once(addr, mask)
	if c.addAscending(addr, mask, size) {
		return
	}
	c.n, c.Sectors = 0, 0
	clear(c.table[:])
	for m := mask; m != 0; m &= m - 1 {
		c.addLane(addr[bits.TrailingZeros32(m)], size)
	}
	var bytes int
	for i := range c.lines[:c.n] {
		l := &c.lines[i]
		c.Sectors += bits.OnesCount8(l.Sectors)
		for _, b := range l.Bytes {
			bytes += bits.OnesCount32(b)
		}
	}
	c.Ideal = (bytes + sectorBytes - 1) / sectorBytes
}

// addAscending adds the lanes where each accesses what the lane before accesses or what lies behind it, as with a stride: then a line is
// that of the lane before or a new one. It reports whether that is so.
func (c *Coalescer) addAscending(addr *[32]uint64, mask uint32, size int) bool {
	var l *Line
	var behind uint64 // the end of the last access
	count := 0        // of different accesses
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&31]
		switch {
		case l == nil, a >= behind:
			count++
		case a+uint64(size) == behind:
			continue // the same access
		default:
			return false
		}
		behind = a + uint64(size)
		if number := a >> lineShift; l == nil || l.Number != number {
			l = &c.lines[c.n&31]
			c.n++
			*l = Line{Number: number}
		}
		sector := a >> sectorShift % sectorsPerLine
		if bit := uint8(1) << sector; l.Sectors&bit == 0 {
			l.Sectors |= bit
			c.Sectors++
		}
		l.Bytes[sector] |= uint32(1<<size-1) << (a % sectorBytes)
	}
	c.Ideal = (count*size + sectorBytes - 1) / sectorBytes
	return true
}

// once returns lanes that access all that those of the mask do. Where blocks are less wide than a warp, the lanes of its second half often
// access the same again as those of the first, or its quarters do.
func once(addr *[32]uint64, mask uint32) uint32 {
	if mask != 1<<32-1 {
		return mask
	}
	for n := len(addr) / 2; n > 0; n /= 2 {
		for i, a := range addr[:n] {
			if a != addr[n+i] {
				return 1<<(2*n) - 1
			}
		}
	}
	return 1
}

// contiguous reports whether every lane accesses what follows the lane before.
func contiguous(addr *[32]uint64, size uint64) bool {
	next := addr[0]
	for _, a := range addr {
		if a != next {
			return false
		}
		next += size
	}
	return true
}

// addRange adds whole sectors.
func (c *Coalescer) addRange(addr uint64, bytes int) {
	c.Sectors = bytes / sectorBytes
	c.Ideal = c.Sectors
	for s, end := addr>>sectorShift, (addr+uint64(bytes))>>sectorShift; s < end; s++ {
		number := s / sectorsPerLine
		if c.n == 0 || c.lines[c.n-1].Number != number {
			c.lines[c.n] = Line{Number: number}
			c.n++
		}
		l := &c.lines[c.n-1]
		l.Sectors |= 1 << (s % sectorsPerLine)
		l.Bytes[s%sectorsPerLine] = 1<<sectorBytes - 1
	}
}

func (c *Coalescer) addLane(addr uint64, size int) {
	l := c.line(addr >> lineShift)
	sector := addr >> sectorShift % sectorsPerLine
	l.Sectors |= 1 << sector
	l.Bytes[sector] |= uint32(1<<size-1) << (addr % sectorBytes)
}

// line finds or adds a line.
func (c *Coalescer) line(number uint64) *Line {
	h := number * 0x9E3779B97F4A7C15 >> 58
	for ; c.table[h] != 0; h = (h + 1) % uint64(len(c.table)) {
		if l := &c.lines[c.table[h]-1]; l.Number == number {
			return l
		}
	}
	l := &c.lines[c.n]
	*l = Line{Number: number}
	c.n++
	c.table[h] = uint8(c.n)
	return l
}
