package search

import (
	"math"
	"slices"
)

// An Effect says what one value of an axis does against that of the best point, over pairs of points that differ in nothing else.
type Effect struct {
	Axis  string      `json:"axis"`
	From  Value       `json:"from"` // another value
	To    Value       `json:"to"`   // that of the best point
	Pairs int         `json:"pairs"`
	Ratio float64     `json:"ratio"`  // of the objective, geometric mean over the pairs: below 1, the best point's value has less
	Moved []StallMove `json:"stalls"` // that change most, in shares of the cycles with From
}

// A StallMove is the change of the cycles that a stall reason stands for.
type StallMove struct {
	Reason string  `json:"reason"`
	Share  float64 `json:"share"` // below 0: fewer
}

// mostMoves is the number of stall reasons told of an effect.
const mostMoves = 3

// leastMove is the least share of the cycles that is told.
const leastMove = 0.001

// Why explains a point by its axes: for each other value of each axis, what the step from it to the point's value does to the objective and to
// stalls, in the mean of all pairs of outcomes in the group. Values without a pair are left out.
func Why(space *Space, group []int, outcomes map[int]*Outcome, best int) []Effect {
	var effects []Effect
	number := make(map[string]int)
	for _, i := range group {
		if o := outcomes[i]; o != nil && o.Status == OK {
			number[pointKey(space.Points[i])] = i
		}
	}
	for a := range space.Axes {
		to := space.Points[best][a]
		for from := range space.Axes[a].Values {
			if from == to {
				continue
			}
			if e := effect(space, number, outcomes, a, from, to); e.Pairs > 0 {
				effects = append(effects, e)
			}
		}
	}
	return effects
}

func pointKey(p Point) string {
	key := make([]byte, 0, 4*len(p))
	for _, v := range p {
		key = append(key, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return string(key)
}

// effect averages over the pairs of points that have two values of an axis and are equal otherwise.
func effect(space *Space, number map[string]int, outcomes map[int]*Outcome, axis, from, to int) Effect {
	e := Effect{Axis: space.Axes[axis].Name, From: space.Axes[axis].Values[from], To: space.Axes[axis].Values[to]}
	moved := make(map[string]float64)
	sum := 0.0
	keys := make([]string, 0, len(number))
	for key := range number {
		keys = append(keys, key)
	}
	slices.Sort(keys) // sums of floats depend on their order
	for _, key := range keys {
		i := number[key]
		p := space.Points[i]
		if p[axis] != from {
			continue
		}
		q := slices.Clone(p)
		q[axis] = to
		j, ok := number[pointKey(q)]
		if !ok {
			continue
		}
		a, b := outcomes[i], outcomes[j]
		if a.Objective == 0 || b.Objective/a.Objective <= 0 {
			continue
		}
		e.Pairs++
		sum += math.Log(b.Objective / a.Objective)
		for reason, n := range a.Stalls {
			moved[reason] -= n / float64(max(1, a.Cycles))
		}
		for reason, n := range b.Stalls {
			moved[reason] += n / float64(max(1, a.Cycles))
		}
	}
	if e.Pairs == 0 {
		return e
	}
	e.Ratio = math.Exp(sum / float64(e.Pairs))
	for reason, n := range moved {
		if share := n / float64(e.Pairs); math.Abs(share) >= leastMove {
			e.Moved = append(e.Moved, StallMove{reason, share})
		}
	}
	slices.SortFunc(e.Moved, func(a, b StallMove) int {
		switch x, y := math.Abs(a.Share), math.Abs(b.Share); {
		case x > y, x == y && a.Reason < b.Reason:
			return -1
		}
		return 1
	})
	e.Moved = e.Moved[:min(mostMoves, len(e.Moved))]
	return e
}
