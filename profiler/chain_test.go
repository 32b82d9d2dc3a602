package profiler

import (
	"math"
	"slices"
	"testing"
)

// TestChains holds which launches could be one: those that load what the ones before have stored, as far as nothing keeps them apart.
func TestChains(t *testing.T) {
	launch := func(repeats int, own int64, apart int) *Launch {
		return &Launch{Facts: Facts{Cycles: 10, Repeats: repeats}, Inherits: &Inheritance{Loaded: 100, Own: own, Apart: apart}}
	}
	other := launch(0, 100, 0)
	other.Kernel = "other"
	for _, c := range []struct {
		name     string
		launches []*Launch
		want     []int // first and number of launches of each chain
		alone    int64
	}{
		{"alone", []*Launch{launch(0, 0, 0)}, nil, 10},
		{"all three", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 50, 0)}, []int{0, 3}, 0},
		{"equal launches", []*Launch{launch(0, 0, 0), launch(2, 100, 0)}, []int{0, 4}, 0},
		{"the third is apart from the first", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 100, 2), launch(0, 100, 1)}, []int{0, 2}, 20},
		{"two chains", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 0, 0), launch(0, 100, 0), other}, []int{0, 2, 2, 3}, 0},
		{"chains of another kernel", []*Launch{launch(0, 0, 0), launch(0, 0, 1), other, other}, []int{1, 3}, 10},
		{"too little is inherited", []*Launch{launch(0, 0, 0), launch(0, 20, 0)}, nil, 20},
		{"of another module", []*Launch{launch(0, 0, 0), {Module: 1, Inherits: &Inheritance{Loaded: 1, Own: 1}}}, nil, 10},
		{"a fault", []*Launch{{Fault: &Fault{}}, launch(0, 100, 0)}, nil, 10},
		{"nothing is known", []*Launch{launch(0, 0, 0), {}}, nil, 10},
		{"no more than are followed", []*Launch{launch(63, 100, 0)}, []int{0, 32, 32, 32}, 0},
	} {
		p := Profile{Launches: c.launches}
		got := p.Chains(0)
		var list []int
		for _, x := range got.List {
			list = append(list, x.First, len(x.Launches))
		}
		if !slices.Equal(list, c.want) || got.Alone != c.alone {
			t.Errorf("%s: chains %v and %d cycles besides, want %v and %d", c.name, list, got.Alone, c.want, c.alone)
		}
	}
}

// TestChainsSpeedup holds what chains of different lengths gain, and what is alone does not.
func TestChainsSpeedup(t *testing.T) {
	l := &Launch{Facts: Facts{Cycles: 100}}
	c := Chains{List: []Chain{{Launches: []*Launch{l, l}}, {First: 2, Launches: []*Launch{l, l, l, l}}}, Alone: 200}
	// Of the four, the first takes 100 and each further one 20, so that two take 120.
	if got, want := c.Speedup(400.0/160), 800.0/(120+160+200); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}
