package stream

import (
	"cmp"
	"math/bits"
	"slices"
)

// A wordSet is a set of words of memory, by pages of 64, as what a warp accesses lies in few of them.
type wordSet struct {
	pages  map[uint64]int32 // where they are in list
	list   []wordPage
	last   int32   // page that was looked up
	sorted []int32 // pages in order
}

// A wordPage is the words of a page.
type wordPage struct {
	number, words uint64
	before        int // words of the set in front of the page
}

func (s *wordSet) clear() {
	clear(s.pages)
	s.list, s.last = s.list[:0], 0
}

// page finds the page of a word.
func (s *wordSet) page(n uint64) *wordPage {
	number := n / 64
	if int(s.last) < len(s.list) && s.list[s.last].number == number {
		return &s.list[s.last]
	}
	i, ok := s.pages[number]
	if !ok {
		i = int32(len(s.list))
		s.pages[number], s.list = i, append(s.list, wordPage{number: number})
	}
	s.last = i
	return &s.list[i]
}

func (s *wordSet) add(n uint64) { s.page(n).words |= 1 << (n % 64) }

// appendTo appends the words of the set in their order, and numbers them.
func (s *wordSet) appendTo(words []uint64) []uint64 {
	s.sorted = s.sorted[:0]
	for i := range s.list {
		s.sorted = append(s.sorted, int32(i))
	}
	slices.SortFunc(s.sorted, func(i, k int32) int { return cmp.Compare(s.list[i].number, s.list[k].number) })
	before := 0
	for _, i := range s.sorted {
		p := &s.list[i]
		p.before = before
		for m := p.words; m != 0; m &= m - 1 {
			words = append(words, p.number*64+uint64(bits.TrailingZeros64(m)))
		}
		before += bits.OnesCount64(p.words)
	}
	return words
}

// index is the number of a word of the set, from 0 on, as appendTo has numbered them last.
func (s *wordSet) index(n uint64) int {
	p := s.page(n)
	return p.before + bits.OnesCount64(p.words&(1<<(n%64)-1))
}
