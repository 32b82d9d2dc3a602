package record

import (
	"slices"

	"gpa/emu"
)

// A shadow holds what is remembered of memory that a block has accessed, by lines of 128 bytes.
const (
	lineShift = 7
	lineBytes = 1 << lineShift
	lineWords = lineBytes / 4
)

// A cell is what is remembered of a word, or of a byte where narrow accesses touch the line.
type cell struct {
	store  int32 // the instruction that has stored the value, 1 for the first of the module; 0 for none of this block
	stored access
	atomic bool // it is one

	// Who has read the value: warps and lanes each by itself, and the last reads of the two warps that have read it last.
	warps, lanes uint32
	reads        [2]access
	loads        [2]int32 // the instructions of these, as in store; 0 for none
}

// An access is who has accessed a cell and when.
type access struct {
	time  moment
	epoch uint32 // barriers before it
	lanes uint32 // of the warp; of a store the last one only
	warp  uint8
}

// A line is 128 bytes of memory.
type line struct {
	cells  []cell
	narrow bool // a cell a byte, not a word
}

// concerns reports whether a warp has loaded something of a line, or any warp stored to it.
func (l *line) concerns(key lineKey, warp int) bool {
	if key.space == emu.Local && int(key.thread)/32 != warp {
		return false
	}
	return slices.ContainsFunc(l.cells, func(c cell) bool { return c.store != 0 || c.warps&(1<<warp) != 0 })
}

// split makes the cells of a line those of bytes.
func (b *block) split(l *line) {
	if l.narrow {
		return
	}
	b.cells += lineBytes
	cells := make([]cell, lineBytes)
	for i := range cells {
		cells[i] = l.cells[i/4]
	}
	l.cells, l.narrow = cells, true
}

// A touched is a cell that a lane of an instruction accesses.
type touched struct {
	cell  *cell
	lane  uint8
	bytes uint8
}

// A lineKey names a line: of global or shared memory, or of a thread's local memory.
type lineKey struct {
	space  emu.Space
	thread uint16
	number uint64
}

// line finds a line, or makes it; nil where there are too many.
func (b *block) line(key lineKey) *line {
	if b.recent != nil && b.recentKey == key {
		return b.recent
	}
	b.work += lineWork
	l, known := b.lines[key]
	if !known {
		if b.cells += lineWords; b.cells > maxCells {
			b.full = true
			return nil
		}
		if len(b.spare) < lineWords {
			b.spare = make([]cell, 64*lineWords)
		}
		l = &line{cells: b.spare[:lineWords:lineWords]}
		b.spare = b.spare[lineWords:]
		b.lines[key] = l
	}
	b.recent, b.recentKey = l, key
	return l
}

// touch lists the cells of a lane's access.
func (b *block) touch(space emu.Space, thread uint16, addr uint64, size int) {
	if space != emu.Local {
		thread &^= thread // whose memory it is does not matter
	}
	lane := uint8(b.lane)
	b.work++
	for end := addr + uint64(size); addr < end; {
		l := b.line(lineKey{space, thread, addr >> lineShift})
		if l == nil {
			return
		}
		if addr&3 != 0 || size&3 != 0 {
			b.split(l)
		}
		off, step := addr&(lineBytes-1), uint64(4)
		if l.narrow {
			step = 1
		} else {
			off /= 4
		}
		b.touched = append(b.touched, touched{&l.cells[off], lane, uint8(step)})
		addr += step
	}
}

// wrote makes an access the one that stored the value of a cell.
func (c *cell) wrote(site int, by access, atomic bool) {
	*c = cell{store: int32(site), stored: by, atomic: atomic}
}

// read adds an access to the reads of the value.
func (c *cell) read(site int, by access) {
	c.warps |= 1 << by.warp
	c.lanes |= by.lanes
	switch {
	case c.loads[0] != 0 && c.reads[0].warp == by.warp:
		if c.reads[0].time == by.time {
			by.lanes |= c.reads[0].lanes
		}
	default: // that of the other warp goes second, whether this warp's was there or not
		c.reads[1], c.loads[1] = c.reads[0], c.loads[0]
	}
	c.reads[0], c.loads[0] = by, int32(site)
}

// lanesOf returns the lanes of a warp that have read the value: all where no other warp has, else those that did so last, if that is from.
func (c *cell) lanesOf(warp uint8, from *access) uint32 {
	switch {
	case c.warps == 1<<warp:
		return c.lanes
	case from.warp == warp:
		return from.lanes
	}
	return 0
}

// lastRead returns the last read of the value, of a warp's where that is known; -1 where there is none.
func (c *cell) lastRead(warp uint8) int {
	switch {
	case c.loads[0] == 0:
		return -1
	case c.reads[0].warp != warp && c.loads[1] != 0 && c.reads[1].warp == warp:
		return 1
	}
	return 0
}
