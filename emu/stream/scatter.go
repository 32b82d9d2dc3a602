package stream

import (
	"errors"
	"fmt"
)

// Scatter makes Parts blocks of each block, of warps that follow each other: the same threads in more, smaller blocks. Blocks whose warps meet or
// leave each other something in shared memory stay together.
type Scatter struct {
	Parts int
}

// Reshape makes blocks smaller. The parts of a block follow each other along x.
func (s *Scatter) Reshape(shape Shape) (Shape, int, error) {
	if s.Parts < 2 || shape.Threads%(s.Parts*warpLanes) != 0 {
		return shape, 0, fmt.Errorf("scatter: %d threads into %d parts", shape.Threads, s.Parts)
	}
	shape.Grid[0] *= s.Parts
	shape.Threads /= s.Parts
	return shape, s.Parts, nil
}

// Inputs takes blocks one by one.
func (s *Scatter) Inputs(_ Shape, n int) []int { return []int{n} }

// Apply makes the blocks of the parts.
func (s *Scatter) Apply(p Program, blocks []*Block) ([]*Block, error) {
	old := blocks[0]
	if err := old.withoutWork(p, "scatter"); err != nil {
		return nil, err
	}
	if len(old.Gates) > 0 || old.sharedEnd() > 0 {
		return nil, errors.New("scatter: the warps of a block work together")
	}
	warps := len(old.Warps) / s.Parts
	var out []*Block
	for part := range s.Parts {
		b := NewBlock(0) // with the tables of the old one, which is not released
		b.Lanes, b.Syncs, b.Waits, b.Access, b.list = old.Lanes, old.Syncs, old.Waits, old.Access, old.list
		b.Warps = old.Warps[part*warps : (part+1)*warps]
		out = append(out, b)
	}
	return out, nil
}
