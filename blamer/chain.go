package blamer

import (
	"cmp"
	"slices"
)

// maxHops is the number of instructions that a chain has at most.
const maxHops = 6

// A Chain says how stalls follow from one another: each hop waits for the next one, as in "the store waits for the add,
// which waits for the load, whose address needed a division".
type Chain struct {
	Hops    []Node    // what waits first, its causes after it
	Samples []float64 // blamed samples of each hop on the next; one fewer than hops
	Total   float64   // sum of Samples
}

// Chains returns the n costliest chains of blamed dependencies, the costliest first. A chain goes from an instruction to
// the source of most of its stalls, and on from there. No def-use pair is in two chains.
func (r *Result) Chains(n int) []Chain {
	g := newLinks(r.Blames)
	var chains []Chain
	for i := range g.links {
		if !g.taken[i] {
			chains = append(chains, g.follow(i))
		}
	}
	slices.SortStableFunc(chains, func(x, y Chain) int { return cmp.Compare(y.Total, x.Total) })
	return chains[:min(n, len(chains))]
}

// links are the edges of the blamed dependency graph, those with the most samples first.
type links struct {
	links []Blame
	byUse map[Node][]int
	byDef map[Node][]int
	taken []bool // by link: in a chain
}

// newLinks adds up the blames of each pair of different instructions. Blames are sorted by def and use.
func newLinks(blames []Blame) *links {
	g := &links{byUse: map[Node][]int{}, byDef: map[Node][]int{}}
	for _, b := range blames {
		if b.Def == b.Use || b.Count == 0 {
			continue
		}
		if n := len(g.links); n > 0 && g.links[n-1].Def == b.Def && g.links[n-1].Use == b.Use {
			g.links[n-1].Count += b.Count
			continue
		}
		g.links = append(g.links, b)
	}
	slices.SortStableFunc(g.links, func(x, y Blame) int { return cmp.Compare(y.Count, x.Count) })
	for i, l := range g.links {
		g.byUse[l.Use] = append(g.byUse[l.Use], i)
		g.byDef[l.Def] = append(g.byDef[l.Def], i)
	}
	g.taken = make([]bool, len(g.links))
	return g
}

// follow builds the chain around a link: on to causes and back to consequences, by the heaviest links that are free.
func (g *links) follow(start int) Chain {
	c := Chain{Hops: []Node{g.links[start].Use}}
	for i := start; i >= 0 && len(c.Hops) < maxHops; i = g.free(g.byUse[c.Hops[len(c.Hops)-1]], c.Hops) {
		c.Hops, c.Samples = append(c.Hops, g.links[i].Def), append(c.Samples, g.links[i].Count)
		g.taken[i] = true
	}
	for len(c.Hops) < maxHops {
		i := g.free(g.byDef[c.Hops[0]], c.Hops)
		if i < 0 {
			break
		}
		c.Hops, c.Samples = slices.Insert(c.Hops, 0, g.links[i].Use), slices.Insert(c.Samples, 0, g.links[i].Count)
		g.taken[i] = true
	}
	for _, s := range c.Samples {
		c.Total += s
	}
	return c
}

// free returns the first link of a list that is in no chain and closes no circle, -1 where there is none.
func (g *links) free(list []int, hops []Node) int {
	for _, i := range list {
		use, def := slices.Contains(hops, g.links[i].Use), slices.Contains(hops, g.links[i].Def)
		if !g.taken[i] && !(use && def) {
			return i
		}
	}
	return -1
}
