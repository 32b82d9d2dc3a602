package cfg

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The shapes of figures, with the papers' numbers; the last node is the exit.
var (
	figure1  = shapeOf([][]int{{1}, {2, 3}, {3, 6}, {4, 5}, {5, 6}, {6}, {}}) // Thread Frontiers: BB1 to BB5
	figure2c = shapeOf([][]int{{1}, {2, 3}, {0, 4}, {2}, {}})                 // Thread Frontiers: a barrier in BB1
	figure3  = shapeOf([][]int{{1, 3}, {2, 3}, {4, 5}, {4, 5}, {6, 7}, {6, 7}, {7}, {}})
)

// shapeOf makes a shape that begins at node 0 and ends at the last one.
func shapeOf(succs [][]int) *Shape { return &Shape{Exit: len(succs) - 1, Succs: succs} }

// frontiers finds the frontiers under an order, by default the shape's own.
func frontiers(t testing.TB, s *Shape, order []int) *Frontiers {
	t.Helper()
	if order == nil {
		order = s.Order()
	}
	f, err := s.Frontiers(order)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Figure 1 of Thread Frontiers and the frontiers of its blocks. Its first block here only leads to BB1.
func TestFrontiersFigure1(t *testing.T) {
	f := frontiers(t, figure1, nil)
	if want := []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(f.Order, want) {
		t.Fatalf("order %v, want %v", f.Order, want)
	}
	for block, want := range map[int][]int{1: nil, 2: {3}, 3: {6}, 4: {5, 6}, 5: {6}, 6: nil} {
		if got := f.Of(block); !slices.Equal(got, want) {
			t.Errorf("frontier of BB%d: %v, want %v", block, got, want)
		}
	}
	if want := []Edge{{2, 3}, {4, 5}}; !slices.Equal(f.Checks(), want) {
		t.Errorf("checks %v, want %v", f.Checks(), want)
	}
	if want := []int{3, 5}; !slices.Equal(f.Joins(), want) {
		t.Errorf("joins %v, want %v", f.Joins(), want)
	}
	if got := figure1.PDOMJoins(); len(got) != 0 {
		t.Errorf("PDOM joins before the exit: %v", got)
	}
	if least, mean, most := f.Sizes(); least != 0 || most != 2 || mean != 5.0/6 {
		t.Errorf("sizes %d, %g, %d", least, mean, most)
	}
}

func TestFrontiersFigure3(t *testing.T) {
	f := frontiers(t, figure3, []int{0, 1, 2, 3, 4, 5, 6, 7})
	want := map[int][]int{1: {3}, 2: {3}, 3: {4, 5}, 4: {5}, 5: {6, 7}, 6: {7}}
	for block := range figure3.Succs {
		if got := f.Of(block); !slices.Equal(got, want[block]) {
			t.Errorf("frontier of BB%d: %v, want %v", block, got, want[block])
		}
	}
}

// The barrier rule of Thread Frontiers, Figure 2 (c) and (d): with BB2 before BB3 a thread would come to the barrier of
// BB1 alone.
func TestOrderBarrier(t *testing.T) {
	s := *figure2c
	s.Barrier = []bool{1: true, 4: false}
	order := s.Order()
	for _, before := range []int{0, 2, 3} {
		if slices.Index(order, before) > slices.Index(order, 1) {
			t.Errorf("order %v: the barrier's block is before %d", order, before)
		}
	}
}

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name  string
		succs [][]int
		want  []int
	}{
		{"diamond", [][]int{{1, 2}, {3}, {3}, {}}, []int{0, 1, 2, 3}},
		{"the exit of a loop behind its body", [][]int{{1}, {3, 2}, {1}, {}}, []int{0, 1, 2, 3}},
		{"nested loops", [][]int{{1}, {5, 2}, {4, 3}, {2}, {1}, {}}, []int{0, 1, 2, 3, 4, 5}},
		{"unreachable", [][]int{{2}, {2}, {}}, []int{0, 1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			order := shapeOf(test.succs).Order()
			if test.name == "unreachable" {
				slices.Sort(order)
			}
			if !slices.Equal(order, test.want) {
				t.Errorf("order %v, want %v", order, test.want)
			}
		})
	}
}

// randomShape makes a shape of at most n nodes in which every node lies on a path from the entry to the exit; ok is false
// where the dice fall otherwise.
func randomShape(rng *rand.Rand, n int, cyclic bool) (s *Shape, ok bool) {
	succs := make([][]int, n)
	for b := range n - 1 {
		next := b + 1
		if rng.Float64() >= 0.8 {
			next = b + 1 + rng.IntN(n-b-1)
		}
		succs[b] = []int{next}
		if rng.Float64() < 0.25 {
			continue
		}
		other := b + 1 + rng.IntN(n-b-1)
		if cyclic && b > 0 && rng.Float64() < 0.3 {
			other = 1 + rng.IntN(b)
		}
		if other != next {
			succs[b] = append(succs[b], other)
			rng.Shuffle(2, func(i, j int) { succs[b][i], succs[b][j] = succs[b][j], succs[b][i] })
		}
	}
	s = shapeOf(succs)
	post := s.PostDominators()
	for node, reachable := range s.Reachable() {
		if !reachable || node != s.Exit && post[node] < 0 {
			return nil, false
		}
	}
	return s, true
}

// forRandomShapes calls check with n random shapes, every second one with cycles.
func forRandomShapes(t *testing.T, n int, check func(*testing.T, *rand.Rand, *Shape)) {
	t.Helper()
	for seed, made := uint64(0), 0; made < n; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		s, ok := randomShape(rng, 4+rng.IntN(8), seed%2 == 1)
		if !ok {
			continue
		}
		made++
		if check(t, rng, s); t.Failed() {
			t.Fatalf("seed %d: %v", seed, s.Succs)
		}
	}
}

// waitingPairs walks over the pairs of two threads by brute force.
func waitingPairs(s *Shape, rank []int) map[Edge]bool {
	seen := map[Edge]bool{{s.Entry, s.Entry}: true}
	for work := []Edge{{s.Entry, s.Entry}}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		var next []Edge
		for _, a := range s.Succs[at.From] {
			if at.From != at.To {
				next = append(next, Edge{a, at.To})
				continue
			}
			for _, b := range s.Succs[at.From] {
				next = append(next, Edge{a, b})
			}
		}
		for _, p := range next {
			if rank[p.From] > rank[p.To] {
				p = Edge{p.To, p.From}
			}
			if !seen[p] {
				seen[p] = true
				work = append(work, p)
			}
		}
	}
	maps.DeleteFunc(seen, func(p Edge, _ bool) bool { return p.From == p.To })
	return seen
}

func TestFrontiersAreTheReachablePairs(t *testing.T) {
	forRandomShapes(t, 1500, func(t *testing.T, rng *rand.Rand, s *Shape) {
		order := s.Order()
		if rng.IntN(2) == 0 { // whatever the order is
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		f := frontiers(t, s, order)
		want := waitingPairs(s, f.Rank)
		for x := range s.Succs {
			for y := range s.Succs {
				if f.Has(x, y) != want[Edge{x, y}] {
					t.Errorf("order %v: %d in the frontier of %d: %t", order, y, x, f.Has(x, y))
				}
			}
		}
	})
}

// An order is topological but for edges into loops that have begun; each node stands in it once.
func TestOrderIsTopological(t *testing.T) {
	forRandomShapes(t, 1500, func(t *testing.T, _ *rand.Rand, s *Shape) {
		order := s.Order()
		sorted := slices.Sorted(slices.Values(order))
		if want := (&residual{Shape: *s}).all(); !slices.Equal(sorted, want) {
			t.Fatalf("order %v", order)
		}
		rank := make([]int, len(order))
		for at, node := range order {
			rank[node] = at
		}
		for from, list := range s.Succs {
			for _, to := range list {
				if rank[to] <= rank[from] && !s.reaches(to, from) {
					t.Errorf("order %v: edge %d to %d goes up outside a cycle", order, from, to)
				}
			}
		}
	})
}

// reaches reports whether there is a path from a to b.
func (s *Shape) reaches(a, b int) bool {
	from := Shape{Entry: a, Succs: s.Succs}
	return from.Reachable()[b]
}

func TestShapeStructure(t *testing.T) {
	for _, test := range []struct {
		name      string
		succs     [][]int
		residual  int
		reducible bool
		want      []Interaction
	}{
		{"if-then-else", [][]int{{1, 2}, {3}, {3}, {}}, 1, true, nil},
		{"case", [][]int{{1, 2, 3, 4}, {4}, {4}, {4}, {}}, 1, true, nil},
		{"while around if-then", [][]int{{1}, {5, 2}, {3, 4}, {4}, {1}, {}}, 1, true, nil},
		{"do-while", [][]int{{1}, {2}, {1, 3}, {}}, 1, true, nil},
		{"Thread Frontiers, Figure 1", [][]int{{1, 2}, {2, 5}, {3, 4}, {4, 5}, {5}, {}}, 6, true, []Interaction{
			{BranchOut, Edge{1, 5}, 0, 2}, {BranchOut, Edge{3, 5}, 2, 4},
		}},
		{"loop with a break", [][]int{{1}, {4, 2}, {3, 4}, {1}, {}}, 5, true, []Interaction{{LoopOut, Edge{2, 4}, 1, 1}}},
		{"loop with two entries", [][]int{{1, 2}, {2}, {1, 3}, {}}, 4, false, []Interaction{{LoopIn, Edge{0, 1}, 2, 2}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := shapeOf(test.succs).Structure()
			if got.Residual != test.residual || got.Reducible != test.reducible {
				t.Errorf("residual %d, reducible %t, want %d, %t", got.Residual, got.Reducible, test.residual, test.reducible)
			}
			if diff := cmp.Diff(test.want, got.Interactions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A shape has interactions exactly where it does not fold, and those of a shape without cycles are not about loops.
func TestInteractionsSayWhyNothingFolds(t *testing.T) {
	structured := 0
	forRandomShapes(t, 3000, func(t *testing.T, _ *rand.Rand, s *Shape) {
		got := s.Structure()
		if got.Structured() {
			structured++
		}
		if got.Structured() != (len(got.Interactions) == 0) {
			t.Errorf("residual %d, interactions %v", got.Residual, got.Interactions)
		}
		hasLoopIn := slices.ContainsFunc(got.Interactions, func(i Interaction) bool { return i.Kind == LoopIn })
		if hasLoopIn == got.Reducible {
			t.Errorf("reducible %t, interactions %v", got.Reducible, got.Interactions)
		}
	})
	if structured == 0 {
		t.Error("no shape is structured")
	}
}

// ladder is a shape like large generated code: nested loops with breaks, and chains of short-circuit conditions.
func ladder(n int) *Shape {
	s := shapeOf(make([][]int, n+1))
	rng := rand.New(rand.NewPCG(1, 2))
	for b := range n {
		s.Succs[b] = []int{b + 1}
		switch {
		case b%20 == 19:
			s.Succs[b] = append(s.Succs[b], b-18)
		case b%3 != 0:
			s.Succs[b] = append(s.Succs[b], min(n, b+1+rng.IntN(30)))
		}
	}
	return s
}

func BenchmarkFrontiers(b *testing.B) {
	for _, n := range []int{100, 1000, 2500} { // blocks; code has about four instructions in each
		s := ladder(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				frontiers(b, s, nil)
			}
		})
	}
}

func BenchmarkStructure(b *testing.B) {
	s := ladder(2500)
	for b.Loop() {
		s.Structure()
	}
}

// BenchmarkAnalysis analyses the code of a function of 10,000 instructions, of which every fourth ends a block: graph,
// loops, dominators, priorities through calls, frontiers and structure.
func BenchmarkAnalysis(b *testing.B) {
	const size = 10_000
	p := make(program, size)
	for i := range p {
		p[i] = "next"
	}
	s := ladder(size / 4)
	for block, succs := range s.Succs[:size/4] {
		if len(succs) == 2 && succs[1] < size/4 {
			p[4*block+3] = fmt.Sprintf("@bra %d", 4*succs[1])
		}
	}
	p[size-1] = "exit"
	file, code := p.code(b)
	for b.Loop() {
		g, err := Build(file, code)
		if err != nil {
			b.Fatal(err)
		}
		super, err := NewSupergraph([]*Graph{g}, 0, 0)
		if err != nil {
			b.Fatal(err)
		}
		f := frontiers(b, super.Shape, nil)
		b.ReportMetric(float64(len(g.Blocks)), "blocks")
		_, mean, most := f.Sizes()
		b.ReportMetric(mean, "mean-frontier")
		b.ReportMetric(float64(most), "largest-frontier")
		g.Shape(g.Funcs[0]).Structure()
	}
}
