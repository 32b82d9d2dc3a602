package record

import (
	"cmp"
	"math/bits"
	"slices"

	"gpa/profiler"
)

func ones(words uint32) int64 { return int64(bits.OnesCount32(words)) }

// readers are the words that each of several blocks reads of a line.
type readers map[uint64][]reader

type reader struct {
	block *block
	words uint32
}

func readersOf(list []*block) readers {
	all := readers{}
	for _, b := range list {
		for _, l := range b.loads {
			for number, words := range l.lines {
				of := all[number]
				if i := slices.IndexFunc(of, func(x reader) bool { return x.block == b }); i >= 0 {
					of[i].words |= words
				} else {
					all[number] = append(of, reader{b, words})
				}
			}
		}
	}
	return all
}

// others returns the words of a line that other blocks than one read.
func (r readers) others(b *block, number uint64) (words uint32) {
	for _, x := range r[number] {
		if x.block != b {
			words |= x.words
		}
	}
	return words
}

// minimal returns the sets that hold none of the others.
func minimal(sets [][]profiler.Place) [][]profiler.Place {
	order := func(a, b profiler.Place) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.PC, b.PC)) }
	for _, s := range sets {
		slices.SortFunc(s, order)
	}
	slices.SortFunc(sets, func(a, b []profiler.Place) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.CompareFunc(a, b, order))
	})
	var kept [][]profiler.Place
	for _, s := range sets {
		holds := func(x profiler.Place) bool { return slices.Contains(s, x) }
		within := func(other []profiler.Place) bool {
			return !slices.ContainsFunc(other, func(x profiler.Place) bool { return !holds(x) })
		}
		if !slices.ContainsFunc(kept, within) {
			kept = append(kept, s)
		}
	}
	return kept
}
