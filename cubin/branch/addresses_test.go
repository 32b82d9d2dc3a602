package branch

import (
	"testing"

	"gpa/cubin/sass"
)

// TestAddresses holds that the weights of a filter are read from addresses that all threads have in common, those of its inputs and
// of a matrix product not.
func TestAddresses(t *testing.T) {
	for _, c := range []struct {
		kernel       string
		common, own  int // loads from global memory, at least
		commonAtMost int
	}{
		{"patterns/filter_global/filter_global", 1, 1, 64},
		{"linear/sgemm_naive/sgemm_naive", 0, 2, 0},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			module, graphs := open(t, "../../../kernels/"+c.kernel+".sm_70.cubin")
			found, err := Addresses(graphs, module.Kernels[0])
			if err != nil {
				t.Fatal(err)
			}
			common, own := 0, 0
			for at, o := range found {
				switch {
				case module.Codes[at.Code].Insts[at.Inst].Op != sass.LDG:
				case o&(Thread|CTA|Data) == 0:
					common++
				default:
					own++
				}
			}
			if common < c.common || common > c.commonAtMost || own < c.own {
				t.Errorf("%d loads at common addresses, %d at those of threads", common, own)
			}
		})
	}
}

// The two factors of a product are two arrays, in all rounds of unrolled loops.
func TestArrays(t *testing.T) {
	module, graphs := open(t, "../../../kernels/linear/sgemm_naive/sgemm_naive.sm_70.cubin")
	found, err := Arrays(graphs, module.Kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	loads := make(map[uint64]int)
	for at, set := range found {
		if module.Codes[at.Code].Insts[at.Inst].Op == sass.LDG {
			loads[set]++
		}
	}
	for set, n := range loads {
		if set == 0 || set&(set-1) != 0 {
			t.Errorf("%d loads from parameters %b", n, set)
		}
	}
	const a, b, c = 1 << 4, 1 << 5, 1 << 7 // m, n, k and alpha come first, beta before c
	if len(loads) != 3 || loads[a] != loads[b] || loads[a] == 0 || loads[c] != 1 {
		t.Errorf("loads by array: %v", loads)
	}
}

// TestExchanged finds the stores of what other threads have put into shared memory: those of a transposition by way of a tile, not those of
// rows that are divided by a sum which all threads read from one place.
func TestExchanged(t *testing.T) {
	for _, c := range []struct {
		kernel string
		stores int
	}{{"basic/transpose_tiled/transpose_tiled", 4}, {"ladders/rmsnorm/cubins/shuffles", 0}} {
		t.Run(c.kernel, func(t *testing.T) {
			module, graphs := open(t, "../../../kernels/"+c.kernel+".sm_80.cubin")
			found, err := Exchanged(graphs, module.Kernels[0])
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != c.stores {
				t.Errorf("%d stores, want %d: %v", len(found), c.stores, found)
			}
		})
	}
}
