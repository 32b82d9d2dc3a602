package stream

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Spread makes threads of the rounds of loops that few threads of a launch go through, as a kernel has them that takes the number of the round from
// those of its block and thread: each thread that comes to the loops becomes Parts threads, of which the j-th does the rounds j, j+Parts, …, and all
// that the thread does elsewhere, but that only the first one stores there. Threads that do not come to them are left out, with what they do.
//
// Neighbouring threads have rounds that follow each other. With Beside the lanes of a warp stay neighbours, and their warps are divided.
//
// Each block has to have as many threads that come to the loops as Workers says, of Beside lanes the ones of warps that do. A barrier
// within the loops is an error.
type Spread struct {
	Loops   []Loop
	Workers int
	Parts   int // a multiple of the lanes of a warp where threads are not Beside each other
	Threads int // of a new block, a multiple of the lanes of a warp
	Beside  bool
	// Combine: behind each loop the threads of a block put together what they have, so many Results each, and one of them adds it to memory by atomics.
	// Threads are a power of two then, by which Parts can be divided, and not Beside each other.
	Combine bool
	Results int // 0 for one
	// Added: stores to global memory within the loops that become atomic additions.
	Added map[int32]bool

	pool Pool
}

// Reshape makes as many blocks of one as its threads need.
func (s *Spread) Reshape(shape Shape) (Shape, int, error) {
	switch {
	case len(s.Loops) == 0:
		return shape, 0, errors.New("spread: no loop is named")
	case s.Workers < 1 || s.Parts < 1 || s.Threads < 1:
		return shape, 0, fmt.Errorf("spread: %d threads into %d parts, in blocks of %d", s.Workers, s.Parts, s.Threads)
	case s.Threads%warpLanes != 0 || !s.Beside && s.Parts%warpLanes != 0 || s.Beside && s.Workers%warpLanes != 0:
		return shape, 0, fmt.Errorf("spread: %d threads in %d parts do not fill warps of blocks of %d", s.Workers, s.Parts, s.Threads)
	case s.Combine && (s.Beside || s.Parts%s.Threads != 0 || s.Threads&(s.Threads-1) != 0):
		return shape, 0, fmt.Errorf("spread: %d parts cannot be put together in blocks of %d", s.Parts, s.Threads)
	}
	made := (s.Workers*s.Parts + s.Threads - 1) / s.Threads
	shape.Grid[0] *= made
	shape.Threads = s.Threads
	return shape, made, nil
}

// Inputs takes blocks one by one.
func (s *Spread) Inputs(_ Shape, n int) []int { return []int{n} }

// Apply makes the blocks that share out the rounds.
func (s *Spread) Apply(p Program, blocks []*Block) ([]*Block, error) {
	old := blocks[0]
	if err := old.withoutWork(p, "spread"); err != nil {
		return nil, err
	}
	var warps []newWarp
	workers := 0
	for w := range old.Warps {
		working := s.working(old, w)
		if working == 0 {
			continue
		}
		if err := withoutBarriers(old, w, s.Loops); err != nil {
			return nil, fmt.Errorf("spread: %w", err)
		}
		if s.Beside {
			workers += warpLanes
			warps = append(warps, s.divided(old, w)...)
		} else {
			workers += bits.OnesCount32(working)
			warps = append(warps, s.lanes(w, working)...)
		}
	}
	if workers != s.Workers {
		return nil, fmt.Errorf("spread: %d threads of a block go through the loops, not %d as of others", workers, s.Workers)
	}
	if n := repeated(old, s.Loops, warps); n > mostRepeated {
		return nil, fmt.Errorf("spread: the threads of a block would repeat %d instructions outside of the loops", n)
	}
	out := s.pool.distributed(old, s.Loops, s.Added, warps, s.Threads, &Transpose{Combine: s.Combine, Width: s.Threads, Results: s.Results, atomic: s.Combine})
	old.Release()
	return out, nil
}

// working is the lanes of a warp that go through rounds of the loops.
func (s *Spread) working(b *Block, w int) (lanes uint32) {
	events := b.Warps[w].Events
	for i := range events {
		if slices.ContainsFunc(s.Loops, func(l Loop) bool { return l.Header == events[i].Op }) {
			lanes |= b.Lanes[events[i].Lanes].Active
		}
	}
	return lanes
}

// lanes makes warps of neighbouring parts of the lanes of a warp that work.
func (s *Spread) lanes(w int, working uint32) (warps []newWarp) {
	for m := working; m != 0; m &= m - 1 {
		for part := range s.Parts {
			if part%warpLanes == 0 {
				warps = append(warps, newWarp{old: w})
			}
			warps[len(warps)-1].set(part%warpLanes, newLane{old: int8(bits.TrailingZeros32(m)), part: part, parts: s.Parts, exists: true, stores: s.Combine && part%s.Threads == 0})
		}
	}
	return warps
}

// divided makes warps of the parts of a warp whose lanes stay together.
func (s *Spread) divided(b *Block, w int) (warps []newWarp) {
	exists := b.exists(w)
	for part := range s.Parts {
		x := newWarp{old: w}
		for m := exists; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			x.set(i, newLane{old: int8(i), part: part, parts: s.Parts, exists: true})
		}
		warps = append(warps, x)
	}
	return warps
}
