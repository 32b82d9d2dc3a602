package advisor

import (
	"slices"

	"gpa/cubin/cfg"
)

// A visits says how often warps execute the blocks of a function, and how often they would if the block with the highest
// priority of those with threads was always executed first, as thread frontiers do (Diamos et al., "SIMD Re-Convergence At
// Thread Frontiers", MICRO 2011). Slices are by node of the shape, which is the place in the function's Blocks.
type visits struct {
	code      int
	fn        *cfg.Func
	shape     *cfg.Shape
	frontiers *cfg.Frontiers
	structure *cfg.Structure
	cycles    []cfg.Cycle
	inner     []int     // innermost cycle, -1 outside cycles
	preds     [][]int   // predecessors
	have      []float64 // times that warps execute the node
	threads   []float64 // times that threads do
	need      []float64 // times that warps have to
}

// newVisits returns the visits of a function; nil where there are no source counters, or the function is structured.
func (in *Input) newVisits(code int, f *cfg.Func) *visits {
	c := in.codes[code]
	if c.counters == nil {
		return nil
	}
	v := &visits{code: code, fn: f, shape: c.graph.Shape(f)}
	if v.structure = v.shape.Structure(); v.structure.Structured() {
		return nil
	}
	var err error
	if v.frontiers, err = v.shape.Frontiers(v.shape.Order()); err != nil {
		return nil // too large to be looked at
	}
	v.count(c)
	v.nest()
	v.require()
	return v
}

// count takes the executions from the source counters.
func (v *visits) count(c *codeSamples) {
	n := v.shape.Len()
	v.have, v.threads, v.need, v.preds = make([]float64, n), make([]float64, n), make([]float64, n), make([][]int, n)
	for node, id := range v.fn.Blocks {
		b := c.graph.Blocks[id]
		v.have[node] = c.counters[b.First].executions
		for i := b.First; i <= b.Last; i++ {
			v.threads[node] = max(v.threads[node], c.counters[i].threads)
		}
	}
	for from, list := range v.shape.Succs {
		for _, to := range list {
			if !slices.Contains(v.preds[to], from) {
				v.preds[to] = append(v.preds[to], from)
			}
		}
	}
}

// nest finds the innermost cycles of the nodes.
func (v *visits) nest() {
	v.cycles, v.inner = v.shape.Cycles(), make([]int, v.shape.Len())
	for node := range v.inner {
		v.inner[node] = -1
	}
	for i, c := range v.cycles {
		for _, node := range c.Nodes {
			v.inner[node] = i // inner ones come later
		}
	}
}

// around reports whether a cycle, -1 for the whole function, holds another one or is it.
func (v *visits) around(outer, inner int) bool {
	for inner >= 0 && inner != outer {
		inner = v.cycles[inner].Parent
	}
	return inner == outer
}

// require works out how often nodes have to be executed. Between two rounds of the cycles around it a node has to be executed
// once for each time that one of its dominators in the same cycle is. An entry of a cycle has to be as often as the threads
// go round that stay longest.
func (v *visits) require() {
	idom := v.shape.Dominators()
	for _, node := range v.frontiers.Order {
		if v.have[node] == 0 {
			continue
		}
		cycle := v.inner[node]
		entry := cycle >= 0 && v.enters(node, cycle)
		if entry {
			cycle = v.cycles[cycle].Parent
		}
		above := idom[node]
		for above >= 0 && !v.around(v.inner[above], cycle) {
			above = idom[above]
		}
		need := v.have[node]
		switch {
		case above < 0:
		case entry:
			need = min(need, v.rounds(node, above))
		default:
			need = min(need, v.need[above])
		}
		v.need[node] = min(v.have[node], max(need, v.threads[node]/warpSize))
	}
}

// enters reports whether control comes to a node of a cycle from outside.
func (v *visits) enters(node, cycle int) bool {
	return v.cycles[cycle].Header == node ||
		slices.ContainsFunc(v.preds[node], func(p int) bool { return !v.around(cycle, v.inner[p]) })
}

// rounds is how often warps have to execute an entry of a cycle, whose threads come from a dominator outside: the mean of the
// rounds of its threads, and more for the thread of a warp that stays longest. For that one the harmonic number of the threads
// is taken, the mean of the largest of so many draws from an exponential distribution: of loops whose threads leave by chance.
func (v *visits) rounds(node, above int) float64 {
	cycle, entering := v.inner[node], 0.0
	for _, p := range v.preds[node] {
		if !v.around(cycle, v.inner[p]) {
			entering += v.along(p, node)
		}
	}
	entering = min(max(entering, 1), max(v.threads[node], 1))
	groups := min(v.need[above], entering)
	mean := v.threads[node] / entering
	return groups * max(1, mean*harmonic(min(entering/groups, warpSize)))
}

// along is how many threads take an edge: those of its source, less those of its other targets that come from nowhere else.
func (v *visits) along(from, to int) float64 {
	threads := v.threads[from]
	for _, other := range v.shape.Succs[from] {
		if other != to && len(v.preds[other]) == 1 {
			threads -= v.threads[other]
		}
	}
	return max(0, min(threads, v.threads[to]))
}

// harmonic is the n-th harmonic number, rounded down.
func harmonic(n float64) float64 {
	sum := 1.0
	for k := 2.0; k <= n; k++ {
		sum += 1 / k
	}
	return sum
}

// again is the share of a node's executions that thread frontiers do without.
func (v *visits) again(node int) float64 {
	if v.have[node] == 0 {
		return 0
	}
	return 1 - v.need[node]/v.have[node]
}
