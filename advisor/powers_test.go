package advisor

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
)

// Exponents of powers are read from the code: of floats, whose powers stand in the line, and of doubles, whose powers a function computes for one exponent
// or several. A kernel with powers of which one is not known, or not whole, has none.
func TestPowers(t *testing.T) {
	for _, c := range []struct {
		kernel    string
		exponents []float64
		says      string
	}{
		{"square_floats", []float64{2, 5}, "powers.cu:4, powers.cu:5: pow or powf with the exponents 2 and 5"},
		{"cube_doubles", []float64{3}, "powers.cu:10: pow or powf with the exponent 3."},
		{"two_exponents", []float64{-6, 12}, "a product of 1 / x for pow(x, -6)"},
		{"unknown_exponents", nil, ""},
		{"broken_exponents", nil, ""},
	} {
		module, launch := executedEverywhere(t, "testdata/powers.sm_80.cubin", c.kernel, warpSize)
		r, err := blamer.Analyze(launch, module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		in := NewInput(r)
		if got := in.wholePowers().exponents; !slices.Equal(got, c.exponents) {
			t.Errorf("%s: exponents %v, want %v", c.kernel, got, c.exponents)
		}
		said := ""
		for _, m := range in.powers() {
			said += strings.Join(m.Suggestions, " ")
			if len(m.Change.Gone) == 0 || !m.Named {
				t.Errorf("%s: %d instructions go", c.kernel, len(m.Change.Gone))
			}
		}
		if (said == "") != (c.says == "") || !strings.Contains(said, c.says) {
			t.Errorf("%s: %q", c.kernel, said)
		}
		for _, m := range (fastMath{}).Match(in) {
			if len(c.exponents) > 0 && strings.Contains(c.kernel, "floats") {
				t.Errorf("%s: fast functions at %s", c.kernel, m.Suggestions[0])
			}
		}
	}
}
