package stream

import (
	"fmt"
	"slices"
)

// Gather makes one block of Factor blocks that follow each other, the last one of what is left: the same threads in fewer, larger blocks,
// as where a block takes several items. Their warps meet at the same barriers where the blocks have as many, as one __syncthreads() holds
// all of the new block; else each meets at its own. Blocks that are no whole warps share the lanes of warps, whose lanes part where the
// blocks go different ways.
type Gather struct {
	Factor int

	threads int // of a block before
}

// Reshape makes blocks larger. What becomes of the grid is told along x.
func (g *Gather) Reshape(s Shape) (Shape, int, error) {
	if g.Factor < 2 {
		return s, 0, fmt.Errorf("gather: %d blocks of %d threads", g.Factor, s.Threads)
	}
	g.threads = s.Threads
	s.Grid = [3]int{(s.blocks() + g.Factor - 1) / g.Factor, 1, 1}
	s.Threads *= g.Factor
	return s, 1, nil
}

// blocks is their number.
func (s *Shape) blocks() int { return s.Grid[0] * s.Grid[1] * s.Grid[2] }

// Inputs are the blocks that become the n-th.
func (g *Gather) Inputs(s Shape, n int) (list []int) {
	for i := n * g.Factor; i < min((n+1)*g.Factor, s.blocks()); i++ {
		list = append(list, i)
	}
	return list
}

// Apply makes a block of the blocks.
func (g *Gather) Apply(p Program, blocks []*Block) ([]*Block, error) {
	if g.threads%warpLanes != 0 {
		out, err := g.pack(p, blocks)
		return []*Block{out}, err
	}
	out := blocks[0]
	for _, b := range blocks[1:] {
		out.join(b)
	}
	return []*Block{out}, nil
}

// join adds the warps of another block.
func (b *Block) join(c *Block) {
	gates := int32(0)
	if !slices.EqualFunc(b.Gates, c.Gates, func(x, y Gate) bool { return x.All == y.All }) {
		gates = int32(len(b.Gates))
	}
	b.take(c, gates)
	b.Warps = append(b.Warps, c.Warps...)
}

// take makes what the events of another block refer to part of the block's tables, and them refer to these. Its gates are those from a
// number on, new ones where there are none yet.
func (b *Block) take(c *Block, gates int32) {
	syncs, access := int32(len(b.Syncs)), int32(len(b.Access))
	if int(gates) == len(b.Gates) {
		b.Gates = append(b.Gates, c.Gates...)
	}
	for _, s := range c.Syncs {
		b.AddSync(Sync{later(s.Arrives, gates), later(s.Waits, gates)})
	}
	for _, a := range c.Access {
		b.addCopy(c, a)
	}
	for _, w := range c.Warps {
		for i := range w.Events {
			e := &w.Events[i]
			e.Lanes = b.LanesOf(c.Lanes[e.Lanes])
			if e.Wait > 0 {
				e.Wait = b.waitsOf(c.Waits[e.Wait-1])
			}
			switch e.Kind {
			case RefAccess:
				e.Ref += access
			case RefSync:
				e.Ref += syncs
			}
		}
	}
}

// later is the number of a gate behind others, -1 for none.
func later(gate, others int32) int32 {
	if gate < 0 {
		return gate
	}
	return gate + others
}
