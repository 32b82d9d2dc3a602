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
	v.need = v.require(func(int) bool { return true })
	return v
}

// count takes the executions from the source counters.
func (v *visits) count(c *codeSamples) {
	n := v.shape.Len()
	v.have, v.threads, v.preds = make([]float64, n), make([]float64, n), make([][]int, n)
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

// require works out how often nodes have to be executed where threads wait for each other at some of them. Between two rounds of
// the cycles around it, a node where they wait has to be executed once for each time that one of its dominators in the same
// cycle is. An entry of a cycle has to be as often as the threads go round that stay longest. A node where they do not wait is
// executed once for each execution of what leads to it.
func (v *visits) require(waits func(node int) bool) []float64 {
	idom := v.shape.Dominators()
	needed := make([]float64, len(v.have))
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
		case entry && (waits(node) || v.meets(node, waits)):
			need = min(need, v.rounds(node, needed[above]))
		case entry && v.straight(v.inner[node]):
			need = min(need, v.longer(node, v.coming(node, needed)))
		case !waits(node):
			need = min(need, v.coming(node, needed))
		default:
			need = min(need, needed[above])
		}
		needed[node] = min(v.have[node], max(need, v.threads[node]/warpSize))
	}
	return needed
}

// meets reports whether threads wait for each other somewhere on all ways around the cycle of an entry.
func (v *visits) meets(entry int, waits func(node int) bool) bool {
	seen := make(map[int]bool)
	for work := []int{entry}; len(work) > 0; {
		node := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range v.shape.Succs[node] {
			switch {
			case waits(to) || seen[to] || !v.around(v.inner[entry], v.inner[to]):
			case to == entry:
				return false
			default:
				seen[to] = true
				work = append(work, to)
			}
		}
	}
	return true
}

// straight reports whether the threads that stay in a cycle all go the same way around it.
func (v *visits) straight(cycle int) bool {
	for _, node := range v.cycles[cycle].Nodes {
		stay := 0
		for _, to := range v.shape.Succs[node] {
			if v.around(cycle, v.inner[to]) {
				stay++
			}
		}
		if stay > 1 {
			return false
		}
	}
	return true
}

// coming is how often warps come to a node, to the entry of a cycle from outside. What has not been looked at yet counts as
// often as it is executed.
func (v *visits) coming(node int, needed []float64) float64 {
	sum, cycle := 0.0, v.inner[node]
	entry := cycle >= 0 && v.enters(node, cycle) && v.straight(cycle)
	for _, p := range v.preds[node] {
		switch {
		case entry && v.around(cycle, v.inner[p]):
		case needed[p] == 0 && v.have[p] > 0:
			return v.have[node]
		default:
			sum += needed[p]
		}
	}
	return sum
}

// enters reports whether control comes to a node of a cycle from outside.
func (v *visits) enters(node, cycle int) bool {
	return v.cycles[cycle].Header == node ||
		slices.ContainsFunc(v.preds[node], func(p int) bool { return !v.around(cycle, v.inner[p]) })
}

// rounds is how often warps have to execute an entry of a cycle to which threads come in so many groups: the mean of the rounds of
// its threads, whichever entry they came by, and more for the thread of a warp that stays longest. For that one the harmonic
// number of the threads is taken, the mean of the largest of so many draws from an exponential distribution: of loops whose
// threads leave by chance.
func (v *visits) rounds(node int, groups float64) float64 {
	cycle, entering := v.inner[node], 0.0
	for _, entry := range v.cycles[cycle].Nodes {
		for _, p := range v.preds[entry] {
			if !v.around(cycle, v.inner[p]) {
				entering += v.along(p, entry)
			}
		}
	}
	entering = min(max(entering, 1), max(v.threads[node], 1))
	groups = max(1, min(groups, entering))
	mean := v.threads[node] / entering
	return groups * max(1, mean*harmonic(min(entering/groups, warpSize)))
}

// longer is how often warps execute the entry of a cycle if their threads come to it in so many groups. Larger groups stay
// longer: by the harmonic numbers of their threads, as in rounds.
func (v *visits) longer(node int, groups float64) float64 {
	cycle, before, entering := v.inner[node], 0.0, 0.0
	for _, p := range v.preds[node] {
		if !v.around(cycle, v.inner[p]) {
			threads := v.along(p, node)
			before += v.have[p] * threads / max(1, v.threads[p])
			entering += threads
		}
	}
	if before <= groups || groups <= 0 {
		return v.have[node]
	}
	return groups * v.have[node] / before * harmonic(entering/groups) / harmonic(entering/before)
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
func (v *visits) again(node int) float64 { return v.fewer(node, v.need) }

// fewer is the share of a node's executions that goes where it is executed as often as it has to.
func (v *visits) fewer(node int, needed []float64) float64 {
	if v.have[node] == 0 {
		return 0
	}
	return 1 - needed[node]/v.have[node]
}
