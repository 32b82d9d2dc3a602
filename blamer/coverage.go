package blamer

// coverage counts single dependency nodes in one section (section 6.3 of the paper).
type coverage struct {
	node          []bool // by instruction: in the dependency graph
	multi, pruned int    // nodes with several sources in one class, before and after pruning
}

// add enters a sampled instruction with its unpruned dependencies; single says that after pruning no stall class of it
// has several sources.
func (c *coverage) add(use int, deps []dependency, single bool) {
	c.node[use] = true
	for _, d := range deps {
		c.node[d.def] = true
	}
	if severalDefs(deps) {
		c.multi++
	}
	if !single {
		c.pruned++
	}
}

// severalDefs reports whether the dependencies are on more than one instruction.
func severalDefs(deps []dependency) bool {
	for _, d := range deps {
		if d.def != deps[0].def {
			return true
		}
	}
	return false
}

// coverageTotal adds up the sections of a module.
type coverageTotal struct{ nodes, multi, pruned int }

func (t *coverageTotal) add(c *coverage) {
	for _, n := range c.node {
		if n {
			t.nodes++
		}
	}
	t.multi += c.multi
	t.pruned += c.pruned
}

// shares returns the shares of single dependency nodes before and after pruning, 1 where there are no nodes.
func (t *coverageTotal) shares() (before, after float64) {
	if t.nodes == 0 {
		return 1, 1
	}
	n := float64(t.nodes)
	return 1 - float64(t.multi)/n, 1 - float64(t.pruned)/n
}
