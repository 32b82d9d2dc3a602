package blamer_test

import (
	"math"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// code is a number of instructions that have nothing to do with others.
func code(n int) string { return strings.Repeat("FADD R30, R31, R29 ;\n", n) }

// TestCases has what the blamer of the GPA paper must do, B1 to B8, each with a dependency that is kept and one that is removed, by the
// paper's rules as printed. Blames are written as def>use reason samples.
func TestCases(t *testing.T) {
	const (
		load  = "load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;\n"
		fadd  = "fadd: FADD R0, R2, R3 ;\n"
		end   = "\nEXIT ;"
		waits = "use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // "
		reads = "use: FADD R8, R0, R5 ; // "
	)
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		// A virtual barrier register is a dependency like any register (Figure 3).
		{"B1 keep: a branch that waits for the barrier of a load", load + "use: [B0-----:R-:W-:-:S01] BRA `(end) ; // long_scoreboard=10\nend: EXIT ;", []string{"load>use global_memory 10"}},
		{"B1 remove: a branch that waits for another barrier", load + "other: [B------:R-:W1:-:S01] LDG.E.SYS R6, [R4] ;\nuse: [B-1----:R-:W-:-:S01] BRA `(end) ; // long_scoreboard=10\nend: EXIT ;", []string{"other>use global_memory 10"}},

		// The search ends where the predicates of the definitions cover that of the use (Figure 4a).
		{"B2 keep: loads under both values of a predicate", "ldc: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R6] ;\nldg: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ;\nFADD R30, R31, R29 ;\n" + waits + "long_scoreboard=9" + end,
			[]string{"ldc>use global_memory 3", "ldg>use global_memory 6"}},
		{"B2 remove: a load before an unpredicated one", "old: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R6] ;\n" + load + waits + "long_scoreboard=9" + end, []string{"load>use global_memory 9"}},
		{"B2 remove: the other predicate, for a use under this one", "old: @!P0 FADD R0, R6, R7 ;\nfadd: @P0 FADD R0, R2, R3 ;\nuse: @P0 FADD R8, R0, R5 ; // wait=9" + end, []string{"fadd>use arithmetic 9"}},

		// Memory stalls come from memory instructions (Figure 4b to 4c), synchronization stalls from barriers.
		{"B3 keep: a memory stall of a load", load + "imad: IMAD R5, R6, R7, RZ ;\n" + waits + "long_scoreboard=10" + end, []string{"load>use global_memory 10"}},
		{"B3 remove: a memory stall of arithmetic", "imad: IMAD R5, R6, R7, RZ ;\n" + load + waits + "long_scoreboard=10" + end, []string{"load>use global_memory 10"}},
		{"B3 remove: a synchronization stall of a load", load + "bar: BAR.SYNC 0x0 ;\n" + waits + "barrier=10" + end, []string{"bar>use synchronization 10"}},

		// Had a definition caused stalls, they would have been seen at a use before that every path meets.
		{"B4 remove: an unpredicated use before", fadd + "FADD R7, R0, R5 ;\nother: FADD R5, R2, R4 ;\n" + reads + "wait=10" + end, []string{"other>use arithmetic 10"}},
		{"B4 keep: a predicated use before", fadd + "@P0 FADD R7, R0, R6 ;\n" + reads + "wait=10" + end, []string{"fadd>use arithmetic 10"}},
		{"B4 keep: a use on one of two paths", fadd + "@P0 BRA `(use) ;\nFADD R7, R0, R6 ;\n" + reads + "wait=10" + end, []string{"fadd>use arithmetic 10"}},

		// A result is there when more instructions than its latency has cycles are between, on every path.
		{"B5 keep: FADD and three instructions", fadd + code(3) + reads + "wait=10" + end, []string{"fadd>use arithmetic 10"}},
		{"B5 remove: FADD and five instructions", fadd + code(4) + "last: FADD R30, R31, R29 ;\n" + reads + "wait=10" + end, []string{"last>use scheduling 10"}},
		{"B5 keep: five instructions on one of two paths", fadd + "@P0 BRA `(use) ;\n" + code(5) + reads + "wait=10" + end, []string{"fadd>use arithmetic 10"}},
		{"B5 keep: LDS and 80 instructions", "lds: [B------:R-:W0:-:S01] LDS.U R0, [R2] ;\n" + code(80) + waits + "short_scoreboard=10" + end, []string{"lds>use shared_memory 10"}},
		{"B5 remove: LDS and 81 instructions", "lds: [B------:R-:W0:-:S01] LDS.U R0, [R2] ;\n" + code(80) + "mufu: [B------:R-:W0:-:S01] MUFU.RCP R5, R4 ;\n" + waits + "short_scoreboard=10" + end, []string{"mufu>use arithmetic 10"}},
		{"B5 remove: SHFL and 26 instructions", "shfl: [B------:R-:W0:-:S01] SHFL.IDX PT, R0, R2, RZ, 0x1f ;\n" + code(25) + "mufu: [B------:R-:W1:-:S01] MUFU.RCP R5, R4 ;\nuse: [B01----:R-:W-:-:S01] FADD R8, R0, R5 ; // short_scoreboard=10" + end, []string{"mufu>use arithmetic 10"}},
		{"B5 keep: LDG and 1024 instructions, of two", load + code(1023) + "other: [B------:R-:W1:-:S01] LDG.E.SYS R5, [R6] ; // selected=1\nuse: [B01----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=2049" + end, []string{"load>use global_memory 1", "other>use global_memory 2048"}},
		{"B5 remove: LDG and 1025 instructions", load + code(1024) + "other: [B------:R-:W1:-:S01] LDG.E.SYS R5, [R6] ;\nuse: [B01----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=10" + end, []string{"other>use global_memory 10"}},

		// Equation 1: by issues, and inversely by the longest path (Figure 4d).
		{"B6 half each: twice the issues, twice the path", "ldc: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R6] ; // selected=20\nldg: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ; // selected=10\nFADD R30, R31, R29 ;\n" + waits + "long_scoreboard=12/6" + end,
			[]string{"ldc>use global_memory 6", "ldg>use global_memory 6"}},
		{"B6 longest of two paths", "a: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R6] ;\n@P1 BRA `(b) ;\n" + code(4) + "b: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ;\nFADD R30, R31, R29 ;\n" + waits + "long_scoreboard=8" + end,
			[]string{"a>use global_memory 1", "b>use global_memory 7"}},

		// Figure 5.
		{"B7 local memory", "def: [B------:R-:W0:-:S01] LDL R0, [R2] ;\n" + waits + "long_scoreboard=10" + end, []string{"def>use local_memory 10"}},
		{"B7 global memory", load + waits + "long_scoreboard=10" + end, []string{"load>use global_memory 10"}},
		{"B7 constant memory", "def: [B------:R-:W0:-:S01] LDC R0, c[0x3][R4] ;\n" + waits + "short_scoreboard=10" + end, []string{"def>use constant_memory 10"}},
		{"B7 shared memory", "def: [B------:R-:W0:-:S01] LDS.U R0, [R2] ;\n" + waits + "short_scoreboard=10" + end, []string{"def>use shared_memory 10"}},
		{"B7 arithmetic", fadd + reads + "wait=10" + end, []string{"fadd>use arithmetic 10"}},
		{"B7 write after read", "def: [B------:R0:W-:-:S01] STS [R2], R0 ;\nuse: [B0-----:R-:W-:-:S01] FADD R0, R4, R5 ; // short_scoreboard=10" + end, []string{"def>use war 10"}},
		{"B7 scheduling", "def: [B------:R-:W-:-:S05] FADD R9, R2, R3 ;\n" + reads + "wait=10" + end, []string{"def>use scheduling 10"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.source, blamer.Options{Plain: true}, c.want...) })
	}
}

// TestSingleDependencyCoverage is B8: the share of the nodes of a dependency graph that have one dependency, before and after pruning.
func TestSingleDependencyCoverage(t *testing.T) {
	for _, c := range []struct {
		name, source  string
		before, after float64
	}{
		{"pruned", `
			imad: IMAD R5, R6, R7, RZ ;
			load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=10
			EXIT ;`, 2.0 / 3, 1},
		{"kept", `
			a: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R6] ;
			b: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=10
			EXIT ;`, 2.0 / 3, 2.0 / 3},
		{"one dependency", `
			load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R0 ; // long_scoreboard=10
			EXIT ;`, 1, 1},
	} {
		t.Run("B8 "+c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{Plain: true})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.SingleDependencyBefore-c.before) > 1e-9 || math.Abs(r.SingleDependencyAfter-c.after) > 1e-9 {
				t.Errorf("coverage %g before and %g after pruning, want %g and %g", r.SingleDependencyBefore, r.SingleDependencyAfter, c.before, c.after)
			}
		})
	}
}
