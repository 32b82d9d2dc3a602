// Package record notes, while a launch runs on the emulated GPU, what depends on what through memory: who stored the values that
// loads read, what is read again, which rounds of loops depend on each other, and what barriers order. A [Recorder] watches some
// blocks of a launch, timed or not, and gives a [profiler.Record].
package record

import (
	"slices"
	"sync"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/emu"
)

// What bounds the time and the storage that a block takes: it is watched from its beginning on as far as the first of these leads, and one of its
// warps beyond that.
const (
	maxWork  = 1 << 18 // accesses of lanes, and lineWork for each line of memory that one finds after another
	lineWork = 6
	maxCells = 1 << 16 // words of memory (bytes, where accesses are narrow) that are remembered
	maxPairs = 1 << 12 // kinds of dependences of a block
	maxAlone = 1 << 20 // as maxWork, of what one warp goes on with by itself
)

// A Recorder is an emu.Recorder. Its zero value is ready; it is for one launch at a time.
type Recorder struct {
	// Trail is the launches before, to which this one is added; nil where they are not followed.
	Trail *Trail

	facts  *emu.LaunchFacts
	codes  []code
	watch  []int // linear numbers of blocks, ascending
	blocks []*block
	stored *stored

	passage *passage // where there is a trail
}

var _ emu.Recorder = (*Recorder)(nil)

// Begin forgets the launch before and chooses the blocks to watch.
func (r *Recorder) Begin(f *emu.LaunchFacts) {
	if r.passage != nil { // the launch begins anew
		r.Trail.passages = slices.DeleteFunc(r.Trail.passages, func(p *passage) bool { return p == r.passage })
	}
	*r = Recorder{Trail: r.Trail, facts: f, codes: make([]code, len(f.Module.Codes)), stored: new(stored)}
	if r.Trail != nil {
		r.passage = &passage{grid: f.Grid, block: f.Block, stored: r.stored}
		r.Trail.begin(r.passage)
	}
	first := 0
	for i, section := range f.Module.Codes {
		c := &r.codes[i]
		c.module, c.code, c.first = f.Module, section, first
		first += len(section.Insts)
	}
	r.watch = chosen(f.Grid)
	r.blocks = make([]*block, len(r.watch))
}

// chosen returns the blocks to watch: the first, its neighbours in the grid, two in the middle and the last, but no more than one of
// four.
func chosen(grid [3]int) []int {
	n := grid[0] * grid[1] * grid[2]
	list := []int{0, 1, grid[0], n / 2, n/2 + 1, n - 1}
	list = slices.DeleteFunc(list, func(b int) bool { return b >= n })
	list = list[:min(len(list), max(1, n/4))]
	slices.Sort(list)
	return slices.Compact(list)
}

// Block returns the recorder of a block that is watched.
func (r *Recorder) Block(number, sharedBytes int) emu.BlockRecorder {
	i, found := slices.BinarySearch(r.watch, number)
	if !found {
		return nil
	}
	size := r.facts.Block
	r.blocks[i] = newBlock(r, number, (size[0]*size[1]*size[2]+31)/32, size[0]*size[1]*size[2], sharedBytes)
	return r.blocks[i]
}

// Stored notes the words that a block stores to.
func (r *Recorder) Stored(block int, addr *[32]uint64, size int, lanes uint32) {
	r.stored.add(addr, size, lanes)
	if r.passage != nil {
		r.passage.writers.add(block, addr, lanes)
	}
}

// A code is a section with what is known of its instructions.
type code struct {
	module *cubin.File
	code   *cubin.Code
	first  int // number of its first instruction among those of the module

	once  sync.Once
	loops []loop
	insts []inst
}

// An inst is an instruction of a section.
type inst struct {
	loop   int16 // innermost loop, -1 for none
	leader bool  // of a basic block
	header int16 // the loop whose rounds begin with it, -1 for none
	fn     int16
}

// A loop is a natural loop.
type loop struct {
	header uint64 // pc
	parent int16  // -1 for none
	fn     int16
	depth  int
}

// analyse finds the loops of the section when it is first executed.
func (c *code) analyse() {
	c.once.Do(func() {
		c.insts = make([]inst, len(c.code.Insts))
		for i := range c.insts {
			c.insts[i] = inst{loop: -1, header: -1, fn: -1}
		}
		g, err := cfg.Build(c.module, c.code)
		if err != nil || len(g.Loops) > maxLoops {
			return // loops are not told apart
		}
		c.number(g)
	})
}

// maxLoops bounds what is kept of the rounds of each thread.
const maxLoops = 512

// number gives the loops of the graph, but those that are none of the source, their numbers.
func (c *code) number(g *cfg.Graph) {
	numbers := map[*cfg.Loop]int16{nil: -1}
	for _, l := range g.Loops { // outer before inner
		if l.Gather {
			numbers[l] = numbers[l.Parent]
			continue
		}
		first := g.Blocks[l.Header].First
		numbers[l] = int16(len(c.loops))
		c.insts[first].header = numbers[l]
		own := loop{header: c.code.Insts[first].PC, parent: numbers[l.Parent], fn: int16(l.Func), depth: 1}
		if own.parent >= 0 {
			own.depth = c.loops[own.parent].depth + 1
		}
		c.loops = append(c.loops, own)
	}
	for _, b := range g.Blocks {
		c.insts[b.First].leader = true
		for i := b.First; i <= b.Last; i++ {
			c.insts[i].loop, c.insts[i].fn = numbers[b.Loop], int16(b.Func)
		}
	}
}

// common returns the innermost loop around two instructions of the section, -1 for none.
func (c *code) common(a, b int) int16 {
	x, y := c.insts[a].loop, c.insts[b].loop
	for x != y {
		switch {
		case x < 0 || y < 0:
			return -1
		case c.loops[x].depth > c.loops[y].depth:
			x = c.loops[x].parent
		case c.loops[y].depth > c.loops[x].depth:
			y = c.loops[y].parent
		default:
			x, y = c.loops[x].parent, c.loops[y].parent
		}
	}
	return x
}

// inside reports whether a loop, -1 for none, is or lies in another one.
func (c *code) inside(inner, outer int16) bool {
	for inner >= 0 && inner != outer {
		inner = c.loops[inner].parent
	}
	return inner == outer
}
