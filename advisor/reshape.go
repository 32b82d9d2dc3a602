package advisor

// reshaped is the change to blocks of another size with as many threads in all. Blocks shrink in their last dimension that allows
// it, and grow in x; nil where the sizes do not divide.
func (in *Input) reshaped(threads, newThreads int) *Change {
	c := &Change{Grid: in.Launch.Grid, Block: in.Launch.Block}
	switch {
	case newThreads < threads && threads%newThreads == 0:
		factor := threads / newThreads
		for d := 2; d >= 0; d-- {
			if c.Block[d]%factor == 0 {
				c.Block[d] /= factor
				c.Grid[d] *= factor
				return c
			}
		}
	case newThreads > threads && c.Block[1]*c.Block[2] == 1:
		c.Grid[0] = ceilDiv(c.Grid[0]*c.Block[0], newThreads)
		c.Block[0] = newThreads
		return c
	}
	return nil
}
