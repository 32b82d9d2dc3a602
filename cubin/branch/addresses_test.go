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
