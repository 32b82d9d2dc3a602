package record

import (
	"slices"

	"gpa/emu"
	"gpa/profiler"
)

// feeds are what the watched blocks of a launch load of what each of the nearest launches before has stored last.
type feeds struct {
	recorder *Recorder
	of       map[int]*feed // by how many launches back
	all      map[int]int64 // bytes that a load reads, by instruction
}

type feed struct {
	bytes       int64
	first, last uint64 // lines
	loads       map[int]int64
	blocks      int
}

func newFeeds(r *Recorder) *feeds {
	return &feeds{recorder: r, of: make(map[int]*feed), all: make(map[int]int64)}
}

// from is the feed of a launch so many back, nil where that is too far.
func (x *feeds) from(back int) *feed {
	if back > profiler.MostBack {
		return nil
	}
	f := x.of[back]
	if f == nil {
		f = &feed{loads: make(map[int]int64), first: ^uint64(0)}
		x.of[back] = f
	}
	return f
}

// load takes note of words of a line that a load reads.
func (x *feeds) load(site, back int, words uint32) {
	if f := x.from(back); f != nil {
		f.loads[site] += 4 * ones(words)
	}
}

// loaded takes note of all words of a line that a load reads.
func (x *feeds) loaded(site int, words uint32) { x.all[site] += 4 * ones(words) }

// block takes note of words of a line that a block loads.
func (x *feeds) block(back int, line uint64, words uint32) {
	if f := x.from(back); f != nil {
		f.bytes += 4 * ones(words)
		f.first, f.last = min(f.first, line), max(f.last, line)
	}
}

// threads counts the blocks from which single threads of a block load.
func (x *feeds) threads(b *block) {
	for i := range b.followed {
		found := make(map[int]map[uint32]bool)
		for _, sector := range b.followed[i] {
			x.recorder.earlier(func(back int, p *passage) bool {
				by := p.writers.of(sector)
				if by == 0 {
					return back < profiler.MostBack
				}
				if f := x.from(back); f != nil {
					if found[back] == nil {
						found[back] = make(map[uint32]bool)
					}
					found[back][by] = true
					n := len(found[back])
					if found[back][several] {
						n++
					}
					f.blocks = max(f.blocks, n)
				}
				return false
			})
		}
	}
}

// list is what there is, the nearest launch first.
func (x *feeds) list() (list []profiler.Feed) {
	passages := x.recorder.Trail.passages
	for back := 1; back <= profiler.MostBack; back++ {
		f := x.of[back]
		if f == nil {
			continue
		}
		p := passages[len(passages)-1-back]
		out := profiler.Feed{Back: back, Bytes: f.bytes, Left: 4 * p.stored.between(f.first, f.last), Blocks: f.blocks}
		for site, n := range f.loads {
			out.Loads = append(out.Loads, profiler.FeedLoad{Place: x.recorder.placeOf(site), Bytes: n, Of: x.all[site]})
		}
		slices.SortFunc(out.Loads, func(a, b profiler.FeedLoad) int { return profiler.ComparePlaces(a.Place, b.Place) })
		list = append(list, out)
	}
	return list
}

// between counts the words of lines from the first to the last that were stored to.
func (s *stored) between(first, last uint64) (n int64) {
	const lines = 1 << (chunkShift - lineShift)
	s.chunks.Range(func(_, value any) bool {
		c := value.(*chunk)
		if c.number < first/lines || c.number > last/lines {
			return true
		}
		for i := range c.lines {
			if line := c.number*lines + uint64(i); line >= first && line <= last {
				n += ones(c.lines[i].Load())
			}
		}
		return true
	})
	return n
}

// What is followed of single threads: sectors that two threads of a block load, which stand for all. More sectors than these are no few.
const (
	followedThreads = 2
	mostSectors     = 64
)

// followedLanes are those of the block's first warp.
var followedLanes = [followedThreads]int{1, 30}

// single takes note of what the followed threads load.
func (b *block) single(s *emu.Step, size int, lanes uint32) {
	for i, lane := range followedLanes {
		if lanes>>lane&1 == 0 || len(b.followed[i]) >= mostSectors {
			continue
		}
		_, addr := s.Lane(lane)
		for sector := addr >> storeSectorShift; sector <= (addr+uint64(size)-1)>>storeSectorShift; sector++ {
			if !slices.Contains(b.followed[i], sector) {
				b.followed[i] = append(b.followed[i], sector)
			}
		}
	}
}
