package mem

import "math/bits"

// Condense keeps of the sectors of the last access about as many as the bytes that it uses would fill, as if they lay side by side.
// Of each sector one byte is singled out; the access that uses this byte is the one that asks for the sector. Where a sector is used
// piece by piece, it is so asked for once. At least one sector is kept.
func (c *Coalescer) Condense() {
	first, kept := c.lines[0], 0
	for i := range c.lines[:c.n] {
		l := &c.lines[i]
		for s := range sectorsPerLine {
			if l.Sectors>>s&1 != 0 && l.Bytes[s]>>chosenByte(l.Number, s)&1 == 0 {
				l.Sectors &^= 1 << s
			}
		}
		if l.Sectors != 0 {
			c.lines[kept] = *l
			kept++
		}
	}
	if kept == 0 && c.n > 0 {
		first.Sectors &= -first.Sectors
		c.lines[0], kept = first, 1
	}
	c.n = kept
}

// chosenByte is the byte of a sector that stands for it: any, but always the same.
func chosenByte(line uint64, sector int) int {
	h := (line*sectorsPerLine + uint64(sector)) * 0x9E3779B97F4A7C15
	return int(bits.RotateLeft64(h, 5) % sectorBytes)
}
