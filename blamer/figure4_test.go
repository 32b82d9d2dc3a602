package blamer

import (
	"slices"
	"testing"

	"gpa/blamer/sasstest"
	"gpa/emu/stall"
)

// TestFigure4Steps takes the paper's example through the steps of its Figure 4: the code with its samples (a), the dependency graph by
// slicing (b), what pruning leaves of it (c), and the stalls apportioned by Equation 1 (d).
func TestFigure4Steps(t *testing.T) {
	p := sasstest.New(t, `
		ldc:  [B------:R-:W0:-:S01] @!P0 LDC R0, c[0x3][R4] ; // selected=20
		ldg:  [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ; // selected=10
		imad: [B------:R-:W-:-:S01] IMAD R5, R6, R7, RZ ; // selected=10
		use:  [B0-----:R-:W-:-:S04] IADD3 R8, R0, R5, RZ ; // long_scoreboard=12/6
		EXIT ;`)
	a := newTestAnalysis(t, p, true)
	use := p.Labels["use"]
	sources := func(deps []dependency) []int {
		defs := defsOf(deps)
		slices.Sort(defs)
		return slices.Compact(defs)
	}
	ldc, ldg, imad := p.Labels["ldc"], p.Labels["ldg"], p.Labels["imad"]

	a.plainDeps = a.slicer.dependencies(use, nil)
	t.Run("Figure4b", func(t *testing.T) {
		if got := sources(a.plainDeps); !slices.Equal(got, []int{ldc, ldg, imad}) {
			t.Errorf("sources %v, want LDC, LDG and IMAD", got)
		}
	})
	t.Run("Figure4c", func(t *testing.T) {
		if got := sources(a.prune(a.plainDeps, stall.LongScoreboard)); !slices.Equal(got, []int{ldc, ldg}) {
			t.Errorf("sources %v, want LDC and LDG", got)
		}
	})
	t.Run("Figure4d", func(t *testing.T) {
		edges := a.edges(&group{inst: use, reason: stall.LongScoreboard, count: 12, latency: 6})
		if len(edges) != 2 || edges[0].share != .5 || edges[1].share != .5 || edges[0].distance != 3 || edges[1].distance != 2 {
			t.Errorf("edges %+v, want half each", edges)
		}
	})
}
