package search

import (
	"math"
	"slices"
)

// Parzen is the tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kégl, "Algorithms for Hyper-Parameter Optimization", NeurIPS
// 2011): the points told so far are parted into the best and the rest, the density of each part is estimated axis by axis, and the
// next point is that with the highest ratio of the two. The spaces here are finite, so every point that is left is rated instead of
// some that were drawn. Values of an axis that lie near each other share density, as their order means something.
type parzen struct{ *problem }

const (
	startup = 8    // points at random to begin with
	good    = 0.2  // share of the points that count as the best
	fewest  = 3    // of them, at least
	near    = 0.35 // density that a neighbouring value has of a point's, and its square the one after
	prior   = 0.5  // weight of the uniform density, in points
)

// Next returns seeds, then points at random, then those with the best ratio. What is under way counts as one of the rest, so that several
// asked for at a time differ.
func (t *parzen) Next(n int) []int {
	out, _ := t.take(t.first, n)
	for len(out) < n && t.left > 0 {
		var one []int
		if len(t.asked) < startup || len(t.told) == 0 {
			one, _ = t.take(t.points, 1)
		} else {
			one, _ = t.take([]int{t.propose()}, 1)
		}
		if len(one) == 0 {
			break
		}
		out = append(out, one...)
	}
	return out
}

// propose returns the point with the highest ratio, the first of equals in the shuffled order; -1 where none is left.
func (t *parzen) propose() int {
	ranked := t.best()
	cut := min(max(fewest, int(math.Ceil(good*float64(len(ranked))))), len(ranked))
	best, rest := ranked[:cut], slices.Clone(ranked[cut:])
	for _, i := range t.points {
		if _, told := t.told[i]; t.asked[i] && !told {
			rest = append(rest, i)
		}
	}
	if i := slices.IndexFunc(best, func(i int) bool { return math.IsInf(t.told[i], 1) }); i >= 0 {
		best, rest = best[:i], append(slices.Clone(best[i:]), rest...)
	}
	above, below := t.densities(best), t.densities(rest)
	found, highest := -1, math.Inf(-1)
	for _, i := range t.points {
		if t.asked[i] {
			continue
		}
		ratio := 0.0
		for a, v := range t.space.Points[i] {
			ratio += above[a][v] - below[a][v]
		}
		if ratio > highest {
			found, highest = i, ratio
		}
	}
	return found
}

// densities estimates for each axis the logarithm of the density of its values.
func (t *parzen) densities(points []int) [][]float64 {
	all := make([][]float64, len(t.space.Axes))
	for a := range t.space.Axes {
		d := make([]float64, len(t.space.Axes[a].Values))
		for v := range d {
			d[v] = prior / float64(len(d))
		}
		for _, i := range points {
			at := t.space.Points[i][a]
			norm := 0.0
			for v := range d {
				norm += math.Pow(near, math.Abs(float64(v-at)))
			}
			for v := range d {
				d[v] += math.Pow(near, math.Abs(float64(v-at))) / norm
			}
		}
		for v := range d {
			d[v] = math.Log(d[v] / (float64(len(points)) + prior))
		}
		all[a] = d
	}
	return all
}
