package record

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// sectorShift is the size of a sector as a power of two, and chunkShift that of the memory of which a chunk knows.
const (
	sectorShift = 5
	chunkShift  = 20
	chunkWords  = 1 << (chunkShift - sectorShift - 6)
)

// A chunk has a bit for each sector of a part of memory.
type chunk struct {
	number uint64
	bits   [chunkWords]atomic.Uint64
}

// stored are the sectors of global memory that the blocks of a launch store to. Blocks add to it at the same time; what is in it in
// the end does not depend on their order.
type stored struct {
	chunks sync.Map // *chunk by number
	last   atomic.Pointer[chunk]
}

// add adds what the lanes of a warp store.
func (s *stored) add(addr *[32]uint64, size int, lanes uint32) {
	last := ^uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		sector := addr[bits.TrailingZeros32(m)] >> sectorShift // which an access does not leave
		if sector == last {
			continue
		}
		last = sector
		c := s.chunk(sector >> (chunkShift - sectorShift))
		word, bit := &c.bits[sector>>6%chunkWords], uint64(1)<<(sector&63)
		if word.Load()&bit == 0 {
			word.Or(bit)
		}
	}
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

// words returns which of the 32 words of a line lie in sectors that were stored to.
func (s *stored) words(line uint64) (mask uint32) {
	first := line << (lineShift - sectorShift)
	known, ok := s.chunks.Load(first >> (chunkShift - sectorShift))
	if !ok {
		return 0
	}
	set := known.(*chunk).bits[first>>6%chunkWords].Load() >> (first & 63)
	for k := range uint64(4) {
		if set>>k&1 != 0 {
			mask |= 0xff << (8 * k)
		}
	}
	return mask
}
