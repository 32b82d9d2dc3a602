package sass_test

import (
	"testing"

	"gpa/cubin/sass"
)

// Any instruction can be asked whether it closes a group, also one without operands.
func TestClosesGroup(t *testing.T) {
	for op := range sass.NumOps {
		if in := (sass.Inst{Op: op}); in.Op.Properties().Async != sass.AsyncMatrix && in.ClosesGroup() {
			t.Errorf("%s closes a group of products", op)
		}
	}
}
