package advisor

import (
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// TestNarrow holds that a match is told of the smallest scope that holds nearly all of its samples.
func TestNarrow(t *testing.T) {
	program := func(inner, outer, outside string) string {
		return `
			outer: MUFU.RCP R0, R2 ; // selected=100
			inner: [B------:R-:W0:-:S01] MUFU.RCP R4, R2 ;
			[B0-----:R-:W-:-:S01] FADD R6, R4, R4 ; // short_scoreboard=` + inner + `
			[B------:R-:W-:-:S05] @P0 BRA ` + "`(inner)" + ` ;
			[B------:R-:W0:-:S01] MUFU.RCP R4, R2 ;
			[B0-----:R-:W-:-:S01] FADD R6, R4, R4 ; // short_scoreboard=` + outer + `
			[B------:R-:W-:-:S05] @P1 BRA ` + "`(outer)" + ` ;
			[B------:R-:W0:-:S01] MUFU.RCP R4, R2 ;
			[B0-----:R-:W-:-:S01] FADD R6, R4, R4 ; // short_scoreboard=` + outside + `
			EXIT ;`
	}
	for _, c := range []struct {
		name, source string
		kind         ScopeKind
		depth        int
	}{
		{"inner loop", program("100", "5", "5"), LoopScope, 2},
		{"outer loop", program("60", "40", "5"), LoopScope, 1},
		{"everywhere", program("60", "40", "50"), KernelScope, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			advice, err := Advise(r, Options{Optimizers: []Optimizer{strengthReduction{}}})
			if err != nil || len(advice) != 1 {
				t.Fatalf("advice %v, error %v", advice, err)
			}
			s := advice[0].Match.Scope
			if s.Kind != c.kind || c.depth > 0 && s.Loop.Depth != c.depth {
				t.Errorf("scope %+v, want %s of depth %d", s, c.kind, c.depth)
			}
		})
	}
	_, advice := adviseKernel(t, "math/half2/half2.sm_70.cubin", strengthReduction{})
	if len(advice) != 1 || advice[0].Match.Scope.Kind != LineScope || advice[0].Match.Scope.Frame.Line != 21 {
		t.Errorf("advice %+v, want one at half2.cu:21", advice)
	}
}
