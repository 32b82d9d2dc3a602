package record

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"gpa/profiler"
)

// A Trail follows the launches of a sequence: which blocks have stored what, and what the watched blocks have loaded. Its zero value is
// ready; every launch that takes effect on the same memory has to go through it, or it has to be cut.
type Trail struct {
	passages  []*passage
	forgotten bool // there were more
}

const (
	mostFollowed = 32  // launches that a trail knows, as many as package profiler makes one
	mostChunks   = 512 // of all of them: 64 MB for 512 MB that they have stored to
)

// A passage is a launch of a trail.
type passage struct {
	grid, block [3]int
	writers     writers
	stored      *stored
	reads       []reads // by watched block
}

// reads are the words that a block has loaded, by line.
type reads struct {
	block int
	lines map[uint64]uint32
}

// Cut forgets the launches: others have taken effect.
func (t *Trail) Cut() { *t = Trail{} }

// begin adds a launch.
func (t *Trail) begin(p *passage) {
	chunks := 0
	for i := len(t.passages) - 1; i >= 0; i-- {
		if chunks += t.passages[i].writers.count(); chunks > mostChunks || len(t.passages)-i >= mostFollowed {
			t.passages, t.forgotten = slices.Delete(t.passages, 0, i+1), true
			break
		}
	}
	t.passages = append(t.passages, p)
}

// storeSectorShift is the size of what has a writer as a power of two: a sector.
const storeSectorShift = 5

// writers are the blocks that store to sectors of global memory: by sector the number of the one that does and 1, or several. It does not
// depend on the order in which they do.
type writers struct {
	chunks sync.Map // *writerChunk by number
	last   atomic.Pointer[writerChunk]
}

type writerChunk struct {
	number  uint64
	sectors [1 << (chunkShift - storeSectorShift)]atomic.Uint32
}

const several = ^uint32(0)

// add adds what the lanes of a warp of a block store.
func (s *writers) add(block int, addr *[32]uint64, lanes uint32) {
	last, own := ^uint64(0), uint32(block)+1
	for m := lanes; m != 0; m &= m - 1 {
		sector := addr[bits.TrailingZeros32(m)] >> storeSectorShift // an access does not leave it
		if sector == last {
			continue
		}
		last = sector
		for at := s.chunk(sector, true).sector(sector); ; {
			was, is := at.Load(), own
			if was == own || was == several {
				break
			}
			if was != 0 {
				is = several
			}
			if at.CompareAndSwap(was, is) {
				break
			}
		}
	}
}

// chunk finds the chunk of a sector, nil where there is none and none is to be made.
func (s *writers) chunk(sector uint64, make bool) *writerChunk {
	number := sector >> (chunkShift - storeSectorShift)
	if c := s.last.Load(); c != nil && c.number == number {
		return c
	}
	known, ok := s.chunks.Load(number)
	switch {
	case !ok && !make:
		return nil
	case !ok:
		known, _ = s.chunks.LoadOrStore(number, &writerChunk{number: number})
	}
	c := known.(*writerChunk)
	s.last.Store(c)
	return c
}

func (c *writerChunk) sector(number uint64) *atomic.Uint32 {
	return &c.sectors[number%uint64(len(c.sectors))]
}

// of returns who stores to a sector: a block's number and 1, several, or 0 for nobody.
func (s *writers) of(sector uint64) uint32 {
	if c := s.chunk(sector, false); c != nil {
		return c.sector(sector).Load()
	}
	return 0
}

func (s *writers) count() (n int) {
	s.chunks.Range(func(any, any) bool { n++; return true })
	return n
}

// Inherits returns what the launch takes over from those before it on its trail. There is nothing where none is before it. Where blocks were not
// watched to their ends, it is apart from all.
func (r *Recorder) Inherits() *profiler.Inheritance {
	list := r.watched()
	if r.Trail == nil || len(list) == 0 {
		return nil
	}
	x, loads, feeds := new(profiler.Inheritance), map[int]bool{}, newFeeds(r)
	for _, b := range list {
		all := map[uint64]uint32{}
		for site, l := range b.loads {
			l.flush()
			own := int64(0)
			for number, words := range l.lines {
				own += r.inherited(x, b.number, number, words, func(back int, words uint32) { feeds.load(site, back, words) })
				feeds.loaded(site, words)
				all[number] |= words
			}
			loads[site] = loads[site] || own > 0
		}
		for number, words := range all {
			x.Loaded += 4 * ones(words)
			x.Own += 4 * r.inherited(x, b.number, number, words, func(back int, words uint32) { feeds.block(back, number, words) })
		}
		feeds.threads(b)
		r.passage.reads = append(r.passage.reads, reads{b.number, all})
	}
	if len(r.Trail.passages) < 2 {
		return nil
	}
	r.overwrites(x)
	if r.Trail.forgotten {
		x.Part(len(r.Trail.passages))
	}
	if slices.ContainsFunc(list, func(b *block) bool { return b.done || b.alone }) {
		x.Part(1)
	}
	for site, own := range loads {
		if own {
			x.Loads = append(x.Loads, r.placeOf(site))
		}
	}
	x.Feeds = feeds.list()
	x.Sort()
	return x
}

// earlier calls f with the launches before, the nearest first, and how many launches back they are, until it returns false.
func (r *Recorder) earlier(f func(back int, p *passage) bool) {
	list := r.Trail.passages
	for i := len(list) - 2; i >= 0; i-- {
		if !f(len(list)-1-i, list[i]) {
			return
		}
	}
}

// inherited counts the words of a line that, of the launches before, the block of the same number has stored last. Where others have, the
// launch is apart. It calls of with the words that a launch so many back has stored last.
func (r *Recorder) inherited(x *profiler.Inheritance, block int, line uint64, words uint32, of func(back int, words uint32)) (own int64) {
	const sectorWords = 1 << (storeSectorShift - 2)
	for k := range uint64(lineWords / sectorWords) {
		part := words >> (sectorWords * k) & (1<<sectorWords - 1)
		if part == 0 {
			continue
		}
		r.earlier(func(back int, p *passage) bool {
			by := p.writers.of(line<<(lineShift-storeSectorShift) + k)
			if by == 0 {
				return true
			}
			of(back, part<<(sectorWords*k))
			switch {
			case by == uint32(block)+1 && p.shape() == r.passage.shape():
				own += ones(part)
			default:
				x.Part(back)
			}
			return false
		})
	}
	return own
}

// overwrites finds the launches before in which a watched block loads what another block stores now, and those of another shape. Of the nearest it
// also finds those in which a watched block loads what any block stores now.
func (r *Recorder) overwrites(x *profiler.Inheritance) {
	r.earlier(func(back int, p *passage) bool {
		if p.shape() != r.passage.shape() {
			x.Part(back)
		}
		if any, others := r.stores(p); any && back <= profiler.MostBack {
			x.Overwrites = append(x.Overwrites, back)
			if others {
				x.Part(back)
			}
		} else if others {
			x.Part(back)
		}
		return x.Apart == 0 || back < profiler.MostBack
	})
}

// stores reports whether blocks of this launch, and whether others than it, store what a watched block of an earlier one loads.
func (r *Recorder) stores(p *passage) (any, others bool) {
	for _, b := range p.reads {
		for number, words := range b.lines {
			if words&r.stored.words(number) == 0 {
				continue
			}
			any = true
			for k := range uint64(lineBytes >> storeSectorShift) {
				by := r.passage.writers.of(number<<(lineShift-storeSectorShift) + k)
				if by != 0 && by != uint32(b.block)+1 && words>>(8*k)&0xff != 0 {
					return true, true
				}
			}
		}
	}
	return any, false
}

func (p *passage) shape() [2][3]int { return [2][3]int{p.grid, p.block} }
