package blamer

import "gpa/profiler"

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

// agreement counts the dependency-stall samples whose producer is known and how many of them are blamed on it.
type agreement struct{ known, agreed, plain float64 }

// add compares the edges of a group with its producers.
func (t *agreement) add(a *analysis, g *group, edges, plain []edge) {
	for _, s := range g.producers {
		t.known += float64(s.Count)
		t.agreed += float64(s.Count) * a.shareOf(edges, s.Producer)
		t.plain += float64(s.Count) * a.shareOf(plain, s.Producer)
	}
}

// shareOf returns the share of the stalls that the edges blame on a producer.
func (a *analysis) shareOf(edges []edge, p profiler.Producer) float64 {
	share := 0.0
	for _, e := range edges {
		if p.Code == a.index && p.PC == a.code.Insts[e.def].PC {
			share += e.share
		}
	}
	return share
}

// shares returns the agreement of the rules in use and of the paper's rules.
func (t *agreement) shares() (agreed, plain float64, known bool) {
	if t.known == 0 {
		return 0, 0, false
	}
	return t.agreed / t.known, t.plain / t.known, true
}
