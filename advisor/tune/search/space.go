// Package search searches spaces of variants: axes with values, constraints between them, and strategies that say which variant to try next
// (grid, random, successive halving, the tree-structured Parzen estimator, and a neighbourhood that advice leads). It knows variants
// as points and outcomes as figures of reports; who runs them is somebody else.
package search

import (
	"fmt"
	"slices"
	"strings"
)

// An Axis is a name with the values that it takes, in an order that means something: neighbours are alike.
type Axis struct {
	Name   string
	Values []Value
}

// A Point is a variant: for each axis the number of its value.
type Point []int

// A Space is all points that meet the constraints.
type Space struct {
	Axes   []Axis
	Points []Point // in the order of the grid, the last axis fastest
	Pruned []Pruned
}

// Pruned counts the points that a constraint excluded, and that those before it had not.
type Pruned struct {
	Where string
	Count int
}

// maxPoints bounds a space. Beyond it the axes are wrong or the search is one for another tool.
const maxPoints = 4 << 20

// NewSpace lists the points that meet all constraints. Each is looked at as soon as the axes that it names have values, so that what it
// excludes is never listed.
func NewSpace(axes []Axis, where []*Expr) (*Space, error) {
	s := &Space{Axes: axes}
	last := make([]int, len(where)) // the axis after which a constraint has its values
	for k, w := range where {
		s.Pruned = append(s.Pruned, Pruned{Where: w.text})
		last[k] = -1
		for _, v := range w.vars {
			i := slices.IndexFunc(axes, func(a Axis) bool { return a.Name == v })
			if i < 0 {
				return nil, fmt.Errorf("where: %s: there is no axis %s", w, v)
			}
			last[k] = max(last[k], i)
		}
	}
	below := make([]int, len(axes)+1) // points of the grid below one of depth i
	below[len(axes)] = 1
	for i := len(axes) - 1; i >= 0; i-- {
		if len(axes[i].Values) == 0 {
			return nil, fmt.Errorf("axis %s has no values", axes[i].Name)
		}
		below[i] = below[i+1] * len(axes[i].Values)
		if below[i] > 1<<40 {
			return nil, fmt.Errorf("the axes have more than 2^40 combinations")
		}
	}
	at := make(map[string]Value)
	var visit func(p Point) error
	visit = func(p Point) error {
		for k, w := range where {
			if last[k] != len(p)-1 && !(last[k] < 0 && len(p) == 0) {
				continue
			}
			ok, err := w.Bool(at)
			if err != nil {
				return fmt.Errorf("where: %w", err)
			}
			if !ok {
				s.Pruned[k].Count += below[len(p)]
				return nil
			}
		}
		if len(p) == len(axes) {
			if len(s.Points) == maxPoints {
				return fmt.Errorf("more than %d variants meet the constraints", maxPoints)
			}
			s.Points = append(s.Points, slices.Clone(p))
			return nil
		}
		for v, value := range axes[len(p)].Values {
			at[axes[len(p)].Name] = value
			if err := visit(append(p, v)); err != nil {
				return err
			}
		}
		return nil
	}
	return s, visit(make(Point, 0, len(axes)))
}

// At returns the values of a point by the names of the axes.
func (s *Space) At(p Point) map[string]Value {
	at := make(map[string]Value, len(p))
	for i, v := range p {
		at[s.Axes[i].Name] = s.Axes[i].Values[v]
	}
	return at
}

// Label names a point by its values, leaving out axes that have only one.
func (s *Space) Label(p Point) string {
	var parts []string
	for i, v := range p {
		if len(s.Axes[i].Values) > 1 {
			parts = append(parts, s.Axes[i].Name+"="+string(s.Axes[i].Values[v]))
		}
	}
	return strings.Join(parts, " ")
}

// Axis returns the number of an axis, -1 where there is none of that name.
func (s *Space) Axis(name string) int {
	return slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name })
}

// Groups sorts the points by the values of some axes: the best of each group is looked for by itself. Groups are in the order of the
// grid and hold numbers of points.
func (s *Space) Groups(per []string) ([][]int, error) {
	var by []int
	for _, name := range per {
		i := s.Axis(name)
		if i < 0 {
			return nil, fmt.Errorf("per: there is no axis %s", name)
		}
		by = append(by, i)
	}
	var groups [][]int
	number := make(map[string]int)
	for i, p := range s.Points {
		var key strings.Builder
		for _, a := range by {
			fmt.Fprint(&key, p[a], " ")
		}
		g, ok := number[key.String()]
		if !ok {
			g = len(groups)
			number[key.String()] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups, nil
}
