package advisor

import (
	"testing"

	"gpa/cubin/sass"
)

// TestEffects holds that what the schedule of a what-if keeps in place is known of copies, matrix fragments and caches too.
func TestEffects(t *testing.T) {
	for op, want := range map[sass.Op]effect{
		sass.LDGSTS: loadGlobal | accessShared | writeShared,
		sass.LDSM:   accessShared,
		sass.STSM:   accessShared | writeShared,
		sass.REDG:   loadGlobal | writeGlobal,
		sass.CCTL:   fence,
		sass.FENCE:  fence,
		sass.SYNCS:  fence,
		sass.REDUX:  flow,
		sass.FFMA:   0,
		sass.LDC:    0,
	} {
		if got := effectOf(&sass.Inst{Op: op}); got != want {
			t.Errorf("%v: %b, want %b", op, got, want)
		}
	}
}
