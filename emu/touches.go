package emu

import "math/bits"

// A touches notes, while a launch takes effect without timing, how many blocks of each of its portions touch each line of global
// memory. A portion stands for the whole launch only where its blocks use what they use alone: what all blocks read, the GPU fetches
// once, and not once in each of its parts, and hands to all its SMs from one place, not to those of a part.
type touches struct {
	portions []int   // of so many parts of the GPU, the smallest portion first
	level    []uint8 // by block: the first portion that it belongs to, or how many there are
	pages    map[uint64]*touchedPage
	number   uint64 // of the page that was touched last
	page     *touchedPage
}

const (
	lineShift    = 7
	touchedShift = 14
	mostLevels   = 5 // portions of a sixteenth, an eighth, a quarter and a half, and the rest
)

// A touchedPage is lines that follow each other.
type touchedPage [1 << touchedShift]touchedLine

// A touchedLine is a line of global memory. Blocks count from one.
type touchedLine struct {
	first, last int32
	blocks      [mostLevels]uint32 // that touch it, by level
}

// touch takes note of what the warp's last instruction has touched.
func (t *touches) touch(w *warp) {
	acc := &w.acc
	if acc.kind == accessNone || acc.space != spaceGlobal {
		return
	}
	block := int32(w.block.number) + 1
	if w.texels.n == 0 {
		t.touchLanes(block, &acc.addr, acc.mask)
	}
	for k := range w.texels.n {
		t.touchLanes(block, &w.texels.corners[k].addr, w.texels.corners[k].mask)
	}
}

// touchLanes takes note of what the lanes of a block's warp touch.
func (t *touches) touchLanes(block int32, addr *[32]uint64, lanes uint32) {
	before := ^uint64(0)
	for ; lanes != 0; lanes &= lanes - 1 {
		line := addr[bits.TrailingZeros32(lanes)] >> lineShift
		if line == before {
			continue
		}
		before = line
		l := t.line(line)
		if l.last == block {
			continue
		}
		if l.first == 0 {
			l.first = block
		}
		l.last = block
		l.blocks[t.level[block-1]]++
	}
}

// line returns a line, which gets a place where it has none.
func (t *touches) line(line uint64) *touchedLine {
	if n := line >> touchedShift; n != t.number || t.page == nil {
		t.number, t.page = n, t.pages[n]
		if t.page == nil {
			t.page = new(touchedPage)
			t.pages[n] = t.page
		}
	}
	return &t.page[line&(1<<touchedShift-1)]
}

// stepTouching executes one instruction and takes note of what it touches.
func (w *warp) stepTouching() error {
	step := (*warp).step
	if w.block.run.launch.Recorder != nil {
		step = (*warp).stepRecorded
	}
	err := step(w)
	w.block.run.launch.touches.touch(w)
	return err
}

// A portionLines is the lines of global memory as a portion of a launch uses them; it is what package mem asks.
type portionLines struct {
	*touches
	level   int
	share   float64
	run     *timedRun
	fetched map[uint64]bool // brought by others when the portion came to them
}

// Own returns which part of the uses of a line are the portion's, and whether a block that has ended before brought it to L2.
func (p *portionLines) Own(line uint64) (own float64, there bool) {
	page := p.pages[line>>touchedShift]
	if page == nil {
		return 1, false
	}
	l := &page[line&(1<<touchedShift-1)]
	var mine, all uint32
	for i, n := range l.blocks {
		if all += n; i <= p.level {
			mine += n
		}
	}
	if mine == 0 || mine == all {
		return 1, false
	}
	if float64(l.first-1) < float64(p.run.left)/p.share && !p.fetched[line] {
		p.fetched[line] = true
		there = true
	}
	return float64(mine) / float64(all), there
}

// newTouches prepares to take note of what a launch touches.
func (m *Machine) newTouches(l *Launch) *touches {
	t := &touches{pages: make(map[uint64]*touchedPage), level: make([]uint8, l.blocks())}
	for parts := mostParts; parts >= leastParts; parts /= 2 {
		if m.gpu.SMs.Int()/parts >= leastSMs {
			t.portions = append(t.portions, parts)
		}
	}
	for i := range t.level {
		t.level[i] = uint8(len(t.portions))
	}
	for k := len(t.portions) - 1; k >= 0; k-- {
		model, share := m.gpu.Part(t.portions[k])
		p := &Part{Share: share}
		blocks := p.blocks(l.blocks())
		perSM := l.occupancy(model, blocks).BlocksPerSM
		for n := range blocks {
			t.level[p.numberOf(n, blocks, model.SMs.Int(), perSM)] = uint8(k)
		}
	}
	return t
}
