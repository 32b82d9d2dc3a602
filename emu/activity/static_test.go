package activity

import (
	"math"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cfg"
)

// The thread frontiers of Figure 1's code: four divergent blocks of nine, three joins where PDOM has one.
func TestFigure1Frontiers(t *testing.T) {
	file, err := cubin.Open("testdata/figures.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range file.Kernels {
		if k.Name != "figure1" {
			continue
		}
		g, err := cfg.Build(file, k.Code)
		if err != nil {
			t.Fatal(err)
		}
		s := g.Shape(g.Funcs[0])
		f, err := s.Frontiers(s.Order())
		if err != nil {
			t.Fatal(err)
		}
		divergent := 0
		for b := range s.Succs {
			if s.Divergent(b) {
				divergent++
			}
		}
		least, mean, most := f.Sizes()
		if s.Exit != 9 || divergent != 4 || least != 0 || math.Abs(mean-7.0/9) > 1e-9 || most != 2 {
			t.Errorf("%d blocks, %d divergent, frontiers of %d, %.2f, %d blocks", s.Exit, divergent, least, mean, most)
		}
		if len(f.Checks()) != 4 || len(f.Joins()) != 3 || len(s.PDOMJoins()) != 1 {
			t.Errorf("checks %v, joins %v, PDOM joins %v", f.Checks(), f.Joins(), s.PDOMJoins())
		}
		if st := s.Structure(); st.Structured() || !st.Reducible || len(st.Interactions) != 2 {
			t.Errorf("structure %+v", st)
		}
		return
	}
	t.Fatal("no kernel figure1")
}
