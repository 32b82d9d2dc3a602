package record

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// chunkShift is the size of the memory of which a chunk knows as a power of two.
const chunkShift = 20

// A chunk has a bit for each word of a part of memory.
type chunk struct {
	number uint64
	lines  [1 << (chunkShift - lineShift)]atomic.Uint32
}

// stored are the words of global memory that the blocks of a launch store to. Blocks add to it at the same time; what is in it in
// the end does not depend on their order.
type stored struct {
	chunks sync.Map // *chunk by number
	last   atomic.Pointer[chunk]
}

// add adds what the lanes of a warp store.
func (s *stored) add(addr *[32]uint64, size int, lanes uint32) {
	line, words := uint64(0), uint32(0)
	for m := lanes; m != 0; m &= m - 1 {
		at := addr[bits.TrailingZeros32(m)] // a line is left by no access
		if at>>lineShift != line {
			s.store(line, words)
			line, words = at>>lineShift, 0
		}
		words |= wordsOf(at, size)
	}
	s.store(line, words)
}

// wordsOf are the words of its line that an access touches.
func wordsOf(addr uint64, size int) uint32 {
	first, last := addr%lineBytes/4, (addr+uint64(size)-1)%lineBytes/4
	return uint32(1<<(last-first+1)-1) << first
}

// store adds words of a line.
func (s *stored) store(line uint64, words uint32) {
	if words == 0 {
		return
	}
	l := s.chunk(line >> (chunkShift - lineShift)).line(line)
	if l.Load()&words != words {
		l.Or(words)
	}
}

// line is the words of a line of the chunk.
func (c *chunk) line(number uint64) *atomic.Uint32 {
	return &c.lines[number%uint64(len(c.lines))]
}

func (s *stored) chunk(number uint64) *chunk {
	if c := s.last.Load(); c != nil && c.number == number {
		return c
	}
	known, ok := s.chunks.Load(number)
	if !ok {
		known, _ = s.chunks.LoadOrStore(number, &chunk{number: number})
	}
	c := known.(*chunk)
	s.last.Store(c)
	return c
}

// words returns which of the 32 words of a line were stored to.
func (s *stored) words(line uint64) uint32 {
	known, ok := s.chunks.Load(line >> (chunkShift - lineShift))
	if !ok {
		return 0
	}
	return known.(*chunk).line(line).Load()
}
