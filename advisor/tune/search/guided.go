package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A move is a step along an axis: up, down, or (0) either.
type move struct{ axis, step int }

// byDefault says which way what the advisor names goes along the axes that every launch has.
var byDefault = map[string]string{"thread-increase": "block+", "block-increase": "block-"}

// moves reads which axes each optimizer's advice goes along: "UNROLL+", "BM- BN-", "VEC".
func moves(s *Spec, space *Space) (map[string][]move, error) {
	all := make(map[string][]move)
	texts := maps.Clone(byDefault)
	for _, name := range slices.Sorted(maps.Keys(s.Advice)) {
		texts[name] = s.Advice[name]
	}
	for name, text := range texts {
		for _, word := range strings.Fields(text) {
			axis := strings.TrimRight(word, "+-")
			m := move{axis: space.Axis(axis)}
			switch strings.TrimPrefix(word, axis) {
			case "+":
				m.step = 1
			case "-":
				m.step = -1
			case "":
			default:
				return nil, fmt.Errorf("advice: %s: %q is not an axis with + or -", name, word)
			}
			if m.axis < 0 && s.Advice[name] == "" {
				continue // a default for an axis that is not there
			}
			if m.axis < 0 {
				return nil, fmt.Errorf("advice: %s: there is no axis %s", name, axis)
			}
			all[name] = append(all[name], m)
		}
	}
	return all, nil
}

// Guided searches the neighbourhood of the best points found: those that differ in one or two axes. What the advisor says of a point leads:
// a neighbour in the direction that advice names is taken to be as much faster as the advice says. What was measured corrects
// that: an additive model of the logarithm of the objective, one term for each value of an axis, fitted to all points told.
type guided struct {
	*problem
	terms [][]float64 // by axis and value
}

const (
	begin   = 4   // points at random beside the seeds
	centres = 3   // best points whose neighbourhood is looked at
	ridge   = 1.0 // weight of a term's being 0, in points
	rounds  = 20  // of fitting one axis after the other
	trust   = 0.5 // of the speedup that advice names, as an exponent
)

// Next returns seeds and points at random, then the most promising neighbours.
func (g *guided) Next(n int) []int {
	out, _ := g.take(g.first, n)
	for len(out) < n && len(g.asked) < max(len(g.first), begin) {
		one, _ := g.take(g.points, 1)
		if len(one) == 0 {
			return out
		}
		out = append(out, one...)
	}
	if len(out) >= n || g.left == 0 {
		return out
	}
	if len(g.told) < min(begin, len(g.points)) && g.pending() > 0 {
		return out // there is nothing to go by yet
	}
	g.fit()
	promising, _ := g.take(g.ranked(), n-len(out))
	return append(out, promising...)
}

// ranked lists the points left, the most promising first.
func (g *guided) ranked() []int {
	best := g.best()
	best = best[:min(centres, len(best))]
	promise := make(map[int]float64)
	var list []int
	for _, i := range g.points {
		if g.asked[i] {
			continue
		}
		list = append(list, i)
		promise[i] = g.promise(i, best)
	}
	slices.SortStableFunc(list, func(a, b int) int {
		switch x, y := promise[a], promise[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list
}

// far is what is added to the promise of a point for each axis beyond the second that it differs in from the nearest best one.
const far = 0.25

// promise predicts the logarithm of a point's objective.
func (g *guided) promise(i int, best []int) float64 {
	p := g.space.Points[i]
	predicted := 0.0
	for a, v := range p {
		predicted += g.terms[a][v]
	}
	nearest, named := math.Inf(1), 0.0
	for _, b := range best {
		q := g.space.Points[b]
		differ := 0
		for a := range p {
			if p[a] != q[a] {
				differ++
			}
		}
		if d := float64(differ); d < nearest {
			nearest = d
		}
		if differ <= 2 {
			named = max(named, g.named(b, p))
		}
	}
	return predicted - named + far*max(0, nearest-2)
}

// named is the logarithm of the speedup that advice on a point promises of another one.
func (g *guided) named(from int, to Point) float64 {
	at := g.space.Points[from]
	most := 0.0
	for _, a := range g.why[from].Advice {
		for _, m := range g.advice[a.Optimizer] {
			d := to[m.axis] - at[m.axis]
			if d != 0 && (m.step == 0 || d*m.step > 0) && a.Speedup > 1 {
				most = max(most, trust*math.Log(a.Speedup))
			}
		}
	}
	return most
}

// fit fits the additive model to the points told that are not disqualified, axis by axis (Gauss-Seidel on the ridge regression's normal
// equations). A value that only disqualified points have is taken to be as bad as the worst.
func (g *guided) fit() {
	var points []int
	for _, i := range g.order {
		if !math.IsInf(g.told[i], 1) {
			points = append(points, i)
		}
	}
	rest := make(map[int]float64) // what the model does not explain
	mean, worst := 0.0, 0.0
	scale := g.scale()
	for _, i := range points {
		rest[i] = scale(g.told[i])
		mean += rest[i] / float64(len(points))
	}
	for _, i := range points {
		rest[i] -= mean
		worst = max(worst, rest[i])
	}
	g.terms = make([][]float64, len(g.space.Axes))
	for a := range g.terms {
		g.terms[a] = make([]float64, len(g.space.Axes[a].Values))
	}
	for range rounds {
		for a := range g.terms {
			g.fitAxis(a, points, rest)
		}
	}
	g.penalise(worst)
}

func (g *guided) fitAxis(a int, points []int, rest map[int]float64) {
	sum, count := make([]float64, len(g.terms[a])), make([]float64, len(g.terms[a]))
	for _, i := range points {
		v := g.space.Points[i][a]
		rest[i] += g.terms[a][v]
		sum[v] += rest[i]
		count[v]++
	}
	for v := range sum {
		g.terms[a][v] = sum[v] / (count[v] + ridge)
	}
	for _, i := range points {
		rest[i] -= g.terms[a][g.space.Points[i][a]]
	}
}

// penalise adds to the terms of values that no good point has and a disqualified one does.
func (g *guided) penalise(worst float64) {
	for a := range g.terms {
		ok, bad := make([]bool, len(g.terms[a])), make([]bool, len(g.terms[a]))
		for _, i := range g.order {
			v := g.space.Points[i][a]
			if math.IsInf(g.told[i], 1) {
				bad[v] = true
			} else {
				ok[v] = true
			}
		}
		for v := range ok {
			if bad[v] && !ok[v] {
				g.terms[a][v] += worst
			}
		}
	}
}

// scale turns objectives into what adds up: logarithms where all are of one sign.
func (g *guided) scale() func(float64) float64 {
	positive, negative := true, true
	for _, v := range g.told {
		if !math.IsInf(v, 1) {
			positive, negative = positive && v > 0, negative && v < 0
		}
	}
	switch {
	case positive:
		return math.Log
	case negative:
		return func(v float64) float64 { return -math.Log(-v) }
	}
	return func(v float64) float64 { return v }
}
