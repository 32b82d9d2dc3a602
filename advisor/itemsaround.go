package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// A loop of a Triton kernel that takes one row a round, and adds it up, waits for its loads, for the shuffles, and, where a block has several warps, for
// the barriers in between, a round after the other. A block of rows in two dimensions has all loads under way at once, and is added up along one of
// them: warps have rows of their own, so that there are fewer shuffles, and barriers for all rows at once.

const (
	itemsARound = 8  // rows that are supposed
	fewWords    = 8  // that a thread loads in a round at most: with more there is enough under way
	leastRounds = 16 // of the loop
	leastOfRows = 1.1
)

// severalARound makes a match for a loop with barriers one for several rows a round, and reports whether it can be.
func (in *Input) severalARound(m *Match) bool {
	if in.language != triton {
		return false
	}
	code, l := m.Scope.Code, m.Scope.Loop
	if trips, known := in.TripCount(code, l); known && trips < leastRounds {
		return false
	}
	c, words, shuffles, other := &Change{}, 0, 0, false
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		p := in.Inst(n).Op.Properties()
		samples := in.codes[code].total[i]
		switch {
		case p.Class == sass.ClassMatrix || p.Class == sass.ClassGroup || in.Loop(n) != l:
			other = true
		case p.Loads(sass.SpaceGlobal):
			words += max(1, int(in.Inst(n).Operands[0].Width))
			other = other || in.waitsForRound(l, n)
			c.Overlapped = append(c.Overlapped, Overlapped{n, itemsARound})
		case in.Inst(n).Op == sass.BAR:
			c.Gone = append(c.Gone, n)
			m.Gone += samples
		case p.Class == sass.ClassShuffle || p.Accesses(sass.SpaceShared):
			if p.Class == sass.ClassShuffle {
				shuffles++
				other = other || in.carriedBack(l, n)
			}
			c.Thinned = append(c.Thinned, Thinned{n, itemsARound})
			m.Gone += samples * (1 - 1./itemsARound)
		}
	})
	if other || words == 0 || words > fewWords || shuffles == 0 || in.ByReason[stall.Selected] == 0 {
		return false
	}
	m.Change, m.Least, m.Spares = c, leastOfRows, IssueSlots|SharedMemory
	m.Spoken, m.Suggestions = true, []string{fmt.Sprintf(
		"Each round of the loop at %s loads one row or item and puts its parts together before the next one begins. Take several a round, as a block in two dimensions: rows = k + tl.arange(0, %d), loads with offsets rows[:, None] and columns[None, :], and tl.sum(..., axis=1) for all of them at once. Not where a round needs what the one before has computed for more than a running sum or maximum.",
		in.scopePlace(m.Scope), 2*itemsARound)}
	return true
}

// carriedBack reports whether a shuffle gets what depends on sums of the round before, which come from a shuffle or from shared memory: in the round they
// stand behind it.
func (in *Input) carriedBack(l *cfg.Loop, shuffle blamer.Node) bool {
	return in.reaches(l, shuffle, func(def int) bool {
		p := in.Inst(blamer.Node{Code: shuffle.Code, Inst: def}).Op.Properties()
		return def >= shuffle.Inst && (p.Class == sass.ClassShuffle || p.Loads(sass.SpaceShared))
	})
}
