package emu

import (
	"fmt"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/reconv"
	"gpa/emu/stall"
)

// TestTakenBranch holds what a taken branch costs a warp, whatever its stall count is, and where samples show it meanwhile: selected
// and wait behind the branch, then branch_resolving at the target, and no_instructions until the L0 cache has delivered. A stall count
// that lasts longer hides the last.
func TestTakenBranch(t *testing.T) {
	for _, c := range []struct {
		name, control  string
		sm             sass.Arch
		behind, target map[stall.Reason]int // samples of each taken branch
		cycles         int                  // from issue to issue
	}{
		{"V100", "-:S05", sass.SM70, map[stall.Reason]int{stall.Wait: 3}, map[stall.Reason]int{stall.BranchResolving: 3, stall.NoInstructions: 3}, 10},
		{"a low stall count", "-:S01", sass.SM70, map[stall.Reason]int{stall.Wait: 3}, map[stall.Reason]int{stall.BranchResolving: 3, stall.NoInstructions: 3}, 10},
		{"a high stall count", "Y:S15", sass.SM70, map[stall.Reason]int{stall.Wait: 3}, map[stall.Reason]int{stall.Wait: 8, stall.BranchResolving: 3}, 15},
		{"T4", "-:S05", sass.SM75, map[stall.Reason]int{stall.Wait: 3}, map[stall.Reason]int{stall.BranchResolving: 3, stall.NoInstructions: 4}, 11},
		{"GA102", "-:S05", sass.SM86, map[stall.Reason]int{stall.Wait: 4}, map[stall.Reason]int{stall.BranchResolving: 3, stall.NoInstructions: 4}, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := timedProgram{model: branchModel(t, c.sm), text: `
				[B------:R-:W-:-:S04] MOV R31, 0x9
				[B------:R-:W-:Y:S12] NOP
				loop:
				[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
				[B------:R-:W-:Y:S12] ISETP.NE.AND P6, PT, R31, RZ, PT
				[B------:R-:W-:` + c.control + `] @P6 BRA loop
				[B------:R-:W-:Y:S05] EXIT`}
			tr, _ := p.traced(t)
			const head, last, rounds = 2, 5, 8
			stalls := func(n int) int { return n - 1 }
			control, err := sass.ParseControl("[B------:R-:W-:" + c.control + "]")
			if err != nil {
				t.Fatal(err)
			}
			before := map[int]int{head: stalls(12), last: stalls(int(control.Stall))} // wait where the code falls through
			cycles := 1
			for at, want := range map[int]map[stall.Reason]int{head: c.target, last: c.behind} {
				got := tr.reasons[uint64(at*sass.InstSize)]
				for reason, n := range want {
					if reason == stall.Wait {
						got[reason] -= before[at]
					}
					if got[reason] != n*rounds {
						t.Errorf("instruction %d: %d samples of %s, want %d times %d", at, got[reason], reason, rounds, n)
					}
					cycles += n
				}
			}
			if n := tr.reasons[head*sass.InstSize][stall.Selected]; n != 1 {
				t.Errorf("%d samples of selected at the target, want that of the instruction before", n)
			}
			if n := tr.reasons[last*sass.InstSize][stall.Selected]; n != rounds+1 {
				t.Errorf("%d samples of selected behind the branch, want %d", n, rounds+1)
			}
			if cycles != c.cycles {
				t.Errorf("%d cycles each, want %d", cycles, c.cycles)
			}
		})
	}
}

// TestPartingBranch holds that a branch which some threads of a warp take is resolved for the others too, whoever goes first, and that
// one which none takes is not.
func TestPartingBranch(t *testing.T) {
	for _, tt := range []struct {
		name            string
		order           reconv.Volta
		taking          int // threads, the first ones
		wait, resolving int
	}{
		{"none", reconv.Volta{}, 0, 14, 0},
		{"some, first", reconv.Volta{}, 16, 4 + 14 - 3 - 4, 3}, // 4 of what takes it, the rest of when that has ended
		{"some, last", reconv.Volta{FallThroughFirst: true}, 16, 14 - 3, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := timedProgram{model: branchModel(t, sass.SM86), reconvergence: tt.order, text: fmt.Sprintf(`
				[B------:R-:W0:-:S02] S2R R4, SR_TID.X
				[B0-----:R-:W-:Y:S12] ISETP.LT.AND P0, PT, R4, %#x, PT
				[B------:R-:W-:Y:S15] @P0 BRA away
				[B------:R-:W-:Y:S05] EXIT
				[B------:R-:W-:-:S04] NOP
				away:
				[B------:R-:W-:Y:S15] EXIT`, tt.taking)}
			tr, _ := p.traced(t)
			const behind = 3
			if got := tr.reasons[behind*sass.InstSize]; got[stall.Wait] != tt.wait || got[stall.BranchResolving] != tt.resolving {
				t.Errorf("behind it: %v, want %d of wait and %d of branch_resolving", got, tt.wait, tt.resolving)
			}
		})
	}
}

// TestJoiningBranch holds that a branch which no thread takes is not resolved where others join the warp behind it.
func TestJoiningBranch(t *testing.T) {
	p := timedProgram{reconvergence: reconv.TFStack{}, text: `
		[B------:R-:W0:-:S02] S2R R4, SR_TID.X
		[B0-----:R-:W-:Y:S12] ISETP.LT.AND P0, PT, R4, 0x10, PT
		[B------:R-:W-:Y:S12] ISETP.LT.AND P1, PT, R4, RZ, PT
		[B------:R-:W-:Y:S15] @P0 BRA join
		[B------:R-:W-:-:S05] @P1 BRA away
		join:
		[B------:R-:W-:Y:S05] EXIT
		[B------:R-:W-:-:S04] NOP
		away:
		[B------:R-:W-:Y:S05] EXIT`}
	tr, r := p.traced(t)
	const join = 5
	if got := tr.reasons[join*sass.InstSize]; got[stall.Wait] != 4 || got[stall.BranchResolving] != 0 {
		t.Errorf("where they join: %v, want 4 of wait", got)
	}
	if want := int64(join + 1); r.WarpInstructions != want {
		t.Errorf("%d warp instructions, want %d: they have not joined", r.WarpInstructions, want)
	}
}

// TestReturn holds how long RET keeps a warp, and where samples show it: the target comes out of a register, which takes longer than
// that of a branch.
func TestReturn(t *testing.T) {
	p := timedProgram{text: twice(`
		[B------:R-:W-:-:S05] MOV R20, 0x50
		[B------:R-:W-:Y:S05] MOV R21, 0x0
		[B------:R-:W-:-:S05] BRA callee
		[B------:R-:W-:-:S04] NOP
		[B------:R-:W-:-:S04] FADD R4, R4, R6`) + `
		callee:
		[B------:R-:W-:-:S05] RET.REL.NODEC R20 0x0
		[B------:R-:W-:-:S05] NOP`}
	tr, _ := p.traced(t)
	const rounds, target, ret = 2, 5, 10
	behind, at := tr.reasons[(ret+1)*sass.InstSize], tr.reasons[target*sass.InstSize]
	if behind[stall.Wait] != 3*rounds || behind[stall.BranchResolving] != 29*rounds {
		t.Errorf("behind RET: %v, want 3 of wait and 29 of branch_resolving for each of %d", behind, rounds)
	}
	if at[stall.BranchResolving] != 3*rounds {
		t.Errorf("at its target: %v, want 3 of branch_resolving for each of %d", at, rounds)
	}
}

// TestExit holds how long a warp without stores takes to end, and what samples show meanwhile behind EXIT, whatever its stall count is.
func TestExit(t *testing.T) {
	for _, tt := range []struct {
		name            string
		sm              sass.Arch
		wait, resolving int
	}{{"V100", sass.SM70, 3, 9}, {"T4", sass.SM75, 4, 10}, {"GA102", sass.SM86, 5, 10}} {
		for _, control := range []string{"-:S05", "Y:S15"} {
			t.Run(tt.name+" "+control, func(t *testing.T) {
				p := timedProgram{model: branchModel(t, tt.sm), text: "NOP\n[B------:R-:W-:" + control + "] EXIT"}
				tr, _ := p.traced(t)
				got := tr.reasons[2*sass.InstSize]
				if got[stall.Selected] != 1 || got[stall.Wait] != tt.wait || got[stall.BranchResolving] != tt.resolving || got[stall.Drain] != 2 {
					t.Errorf("behind EXIT: %v, want %d of wait, %d of branch_resolving and 2 of drain", got, tt.wait, tt.resolving)
				}
			})
		}
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
