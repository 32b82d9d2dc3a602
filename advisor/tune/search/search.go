package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Methods are the names of the strategies.
var Methods = []string{"grid", "random", "halving", "tpe", "advice"}

// A Strategy chooses which variants of a group to run. Several may be under way at a time.
type Strategy interface {
	// Next returns at most n numbers of points that it has not returned before. None means that it waits for what is under way, or, where
	// nothing is, that it is done.
	Next(n int) []int
	// Tell says how a point came out that Next has returned, or that is known from elsewhere, and which Next does not return any more then.
	Tell(point int, o *Outcome)
	// Left is how many points Next may return yet, at most.
	Left() int
}

// A problem is what strategies share: the points of a group, which were returned, and what came of them.
type problem struct {
	space  *Space
	points []int // numbers in the space
	left   int   // runs that may be begun
	max    bool
	asked  map[int]bool
	told   map[int]float64 // less is better; +Inf for what is disqualified
	order  []int           // told, in the order in which they came
	first  []int           // seeds to begin with
	rand   *rand.Rand
	advice map[string][]move
	why    map[int]*Outcome
}

// NewStrategy begins the search of a group of points of a sweep's space.
func NewStrategy(s *Spec, space *Space, group []int, number int) (Strategy, error) {
	p := &problem{
		space: space, points: group, left: s.Search.Budget, max: s.Goal == "max",
		asked: make(map[int]bool), told: make(map[int]float64), why: make(map[int]*Outcome),
		rand: rand.New(rand.NewPCG(s.Search.Seed, uint64(number))),
	}
	if p.left == 0 {
		p.left = len(group)
		if s.Search.Method == "tpe" || s.Search.Method == "advice" {
			p.left = (len(group) + 3) / 4
		}
	}
	p.seeds(s.First)
	var err error
	if p.advice, err = moves(s, space); err != nil {
		return nil, err
	}
	switch s.Search.Method {
	case "random":
		p.shuffle()
		return newInOrder(p), nil
	case "halving":
		return newHalving(p, s.Search.Fidelity, s.Search.Eta)
	case "tpe":
		p.shuffle()
		return &parzen{p}, nil
	case "advice":
		p.shuffle()
		return &guided{problem: p}, nil
	case "grid":
		return newInOrder(p), nil
	}
	return nil, fmt.Errorf("there is no search %q", s.Search.Method)
}

// seeds finds the points of a group that have the values of `first`; axes that a seed leaves out may have any.
func (p *problem) seeds(first []map[string]Value) {
	for _, seed := range first {
		for _, i := range p.points {
			at, match := p.space.At(p.space.Points[i]), true
			for name, v := range seed {
				match = match && at[name] == v
			}
			if match {
				p.first = append(p.first, i)
				break
			}
		}
	}
}

func (p *problem) shuffle() {
	p.points = slices.Clone(p.points)
	p.rand.Shuffle(len(p.points), func(i, j int) { p.points[i], p.points[j] = p.points[j], p.points[i] })
}

// take marks up to n points of a list as asked for, as far as the budget goes. behind is what of the list comes after the last of them, so that who goes
// through a list step by step does not begin at its head each time.
func (p *problem) take(list []int, n int) (out, behind []int) {
	for k, i := range list {
		if len(out) == n || p.left == 0 {
			return out, list[k:]
		}
		if !p.asked[i] {
			p.asked[i] = true
			p.left--
			out = append(out, i)
		}
	}
	return out, nil
}

// Tell notes an outcome.
func (p *problem) Tell(i int, o *Outcome) {
	score := math.Inf(1)
	if o.Status == OK {
		score = o.Objective
		if p.max {
			score = -score
		}
	}
	p.asked[i] = true
	p.told[i], p.why[i] = score, o
	p.order = append(p.order, i)
}

// best returns the points told, the best first; ties in the order in which they came.
func (p *problem) best() []int {
	list := slices.Clone(p.order)
	slices.SortStableFunc(list, func(a, b int) int {
		switch x, y := p.told[a], p.told[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list
}

// Left is what the budget and the points leave.
func (p *problem) Left() int { return min(p.left, len(p.points)-len(p.asked)) }

// pending is the number of points asked for and not told.
func (p *problem) pending() int { return len(p.asked) - len(p.told) }

// inOrder goes through the points in their order: the grid, or at random.
type inOrder struct {
	*problem
	ahead []int // points that were not asked for, and seeds before them
}

func newInOrder(p *problem) *inOrder { return &inOrder{p, slices.Concat(p.first, p.points)} }

// Next returns the next points, seeds first.
func (g *inOrder) Next(n int) (out []int) {
	out, g.ahead = g.take(g.ahead, n)
	return out
}

// Halving is successive halving (Jamieson and Talwalkar, AISTATS 2016): all configurations run at the cheapest value of an axis, the best of
// eta go on to the next value, and so on. What counts is the last value.
type halving struct {
	*problem
	axis  int
	eta   int
	level int
	rung  []int // points of the present level
	ahead []int // of these, that were not asked for
}

func newHalving(p *problem, fidelity string, eta int) (*halving, error) {
	h := &halving{problem: p, axis: p.space.Axis(fidelity), eta: eta}
	if h.axis < 0 {
		return nil, fmt.Errorf("search.fidelity: there is no axis %s", fidelity)
	}
	p.shuffle()
	met := make(map[int]bool)
	for _, i := range slices.Concat(p.first, p.points) {
		if p.space.Points[i][h.axis] == 0 && !met[i] {
			met[i] = true
			h.rung = append(h.rung, i)
		}
	}
	if most := h.affordable(len(h.rung)); most < len(h.rung) {
		h.rung = h.rung[:most]
	}
	h.ahead = h.rung
	return h, nil
}

// affordable is how many configurations can begin so that the budget lasts to the last level.
func (h *halving) affordable(n int) int {
	for ; n > 1; n-- {
		runs, at := 0, n
		for range h.space.Axes[h.axis].Values {
			runs += at
			at = max(1, at/h.eta)
		}
		if runs <= h.left {
			break
		}
	}
	return n
}

// Next returns the points of the present level, and goes on to the next one when all of it are told.
func (h *halving) Next(n int) (out []int) {
	for {
		if out, h.ahead = h.take(h.ahead, n); len(out) > 0 || h.pending() > 0 {
			return out
		}
		if h.level++; h.level >= len(h.space.Axes[h.axis].Values) || len(h.rung) == 0 {
			return nil
		}
		h.promote()
	}
}

// promote replaces the rung by the best of it at the next value of the axis.
func (h *halving) promote() {
	var next []int
	keep := max(1, len(h.rung)/h.eta)
	here := make(map[int]bool, len(h.rung))
	for _, i := range h.rung {
		here[i] = true
	}
	for _, i := range h.best() {
		if !here[i] || math.IsInf(h.told[i], 1) || len(next) == keep {
			continue
		}
		want := slices.Clone(h.space.Points[i])
		want[h.axis] = h.level
		if j, ok := slices.BinarySearchFunc(h.space.Points, want, slices.Compare[Point]); ok { // the constraints may leave it out
			next = append(next, j)
		}
	}
	h.rung, h.ahead = next, next
}
