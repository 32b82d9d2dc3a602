package advisor

import (
	"testing"

	"gpa/cubin/sass"
)

// TestControl holds that of a loop in code of NVIDIA's compiler the branch, its test and the counting are done once for all rounds
// that are unrolled together, and the work is not.
func TestControl(t *testing.T) {
	r, _ := adviseKernel(t, "tuning/box_rolled/box_rolled.sm_70.cubin", loopUnrolling{})
	in := NewInput(r)
	for code, c := range in.codes {
		if c == nil || len(c.graph.Loops) == 0 {
			continue
		}
		once := map[sass.Op]int{}
		traces := in.traces(in.loopScope(code, c.graph.Loops[0]))
		for i, marked := range traces[0].control() {
			if marked {
				once[traces[0].steps[i].op]++
			}
		}
		if once[sass.BRA] != 1 || once[sass.ISETP] != 1 || once[sass.IADD3] != 2 || len(once) != 3 {
			t.Errorf("done once: %v", once)
		}
	}
}
