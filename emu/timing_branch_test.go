package emu

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// TestTakenBranch holds what a taken branch costs a warp, whatever its stall count is, and what samples show meanwhile at
// its target: wait, branch_resolving, and no_instructions until the L0 cache has delivered. A stall count that lasts
// longer hides the last.
func TestTakenBranch(t *testing.T) {
	for _, c := range []struct {
		name, control string
		sm            sass.Arch
		want          map[stall.Reason]int // samples at the target
		cycles        int                  // from issue to issue
	}{
		{"V100", "-:S05", sass.SM70, map[stall.Reason]int{stall.Wait: 3, stall.BranchResolving: 3, stall.NoInstructions: 3}, 10},
		{"a low stall count", "-:S01", sass.SM70, map[stall.Reason]int{stall.Wait: 3, stall.BranchResolving: 3, stall.NoInstructions: 3}, 10},
		{"a high stall count", "Y:S15", sass.SM70, map[stall.Reason]int{stall.Wait: 3 + 8, stall.BranchResolving: 3}, 15},
		{"T4", "-:S05", sass.SM75, map[stall.Reason]int{stall.Wait: 3, stall.BranchResolving: 3, stall.NoInstructions: 4}, 11},
		{"GA102", "-:S05", sass.SM86, map[stall.Reason]int{stall.Wait: 4, stall.BranchResolving: 3, stall.NoInstructions: 4}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds = 8
			p := timedProgram{model: branchModel(t, c.sm), text: `
				[B------:R-:W-:-:S04] MOV R31, 0x9
				[B------:R-:W-:Y:S12] NOP
				loop:
				[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
				[B------:R-:W-:Y:S12] ISETP.NE.AND P6, PT, R31, RZ, PT
				[B------:R-:W-:` + c.control + `] @P6 BRA loop
				[B------:R-:W-:Y:S05] EXIT`}
			tr, _ := p.traced(t)
			const head = 2
			got := tr.reasons[head*sass.InstSize]
			total := 0
			for reason, n := range c.want {
				before := 0
				if reason == stall.Wait {
					before = 11 // of the NOP
				}
				if got[reason]-before != n*rounds {
					t.Errorf("%d samples of %s, want %d times %d", got[reason]-before, reason, rounds, n)
				}
				total += n
			}
			if got[stall.Selected] != rounds+1 || 1+total != c.cycles {
				t.Errorf("%d issues, %d cycles each, want %d and %d", got[stall.Selected], 1+total, rounds+1, c.cycles)
			}
		})
	}
}

// TestSync holds what BSYNC costs a warp whose threads are all there: it goes on behind it, and nothing is fetched anew.
func TestSync(t *testing.T) {
	p := timedProgram{text: twice(`
		[B------:R-:W-:-:S01] BSSY B0, join
		[B------:R-:W-:-:S04] FADD R4, R5, R6
		join:
		[B------:R-:W-:-:S05] BSYNC B0
		[B------:R-:W-:-:S04] FADD R4, R4, R6`)}
	tr, _ := p.traced(t)
	const behind = 4
	got := tr.reasons[behind*sass.InstSize]
	if got[stall.Wait] != 2*3 || got[stall.BranchResolving] != 2*9 || got[stall.NoInstructions] != 0 {
		t.Errorf("behind BSYNC: %v, want 3 of wait and 9 of branch_resolving for each of 2", got)
	}
}

// branchModel is the V100 with what branches take on another architecture: programs of tests are of sm_70.
func branchModel(t *testing.T, sm sass.Arch) *arch.Model {
	m := *testModel(t)
	m.Issue = modelOf(sm).Issue
	return &m
}
