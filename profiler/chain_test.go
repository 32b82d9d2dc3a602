package profiler

import "testing"

// TestChain holds which launches could be one: those that load what the ones before have stored, as far as nothing keeps them apart.
func TestChain(t *testing.T) {
	launch := func(repeats int, own int64, apart int) *Launch {
		return &Launch{Facts: Facts{Repeats: repeats}, Inherits: &Inheritance{Loaded: 100, Own: own, Apart: apart}}
	}
	for _, c := range []struct {
		name        string
		launches    []*Launch
		k           int
		first, many int
	}{
		{"alone", []*Launch{launch(0, 0, 0)}, 0, 0, 1},
		{"all three, from the middle", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 50, 0)}, 1, 0, 3},
		{"equal launches", []*Launch{launch(0, 0, 0), launch(2, 100, 0)}, 0, 0, 4},
		{"the third is apart from the first", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 100, 2)}, 2, 1, 2},
		{"too little is inherited", []*Launch{launch(0, 0, 0), launch(0, 20, 0)}, 1, 1, 1},
		{"of another module", []*Launch{launch(0, 0, 0), {Module: 1, Inherits: &Inheritance{Loaded: 1, Own: 1}}}, 0, 0, 1},
		{"a fault", []*Launch{{Fault: &Fault{}}, launch(0, 100, 0)}, 1, 1, 1},
		{"nothing is known", []*Launch{launch(0, 0, 0), {}}, 0, 0, 1},
		{"no more than are followed", []*Launch{launch(99, 100, 0)}, 0, 0, 32},
	} {
		p := Profile{Launches: c.launches}
		if got := p.Chain(c.k); got.First != c.first || len(got.Launches) != c.many {
			t.Errorf("%s: %d launches from %d on, want %d from %d on", c.name, len(got.Launches), got.First, c.many, c.first)
		}
	}
}
