package blamer

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer/sasstest"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
	"gpa/profiler"
)

// newTestAnalysis prepares the analysis of a program's section.
func newTestAnalysis(t testing.TB, p *sasstest.Program, plain bool) *analysis {
	t.Helper()
	model, err := arch.ByName(p.Launch.GPU)
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{Launch: profiler.Settle(p.Launch, p.Module, &model.Issue), Module: p.Module, Model: model, Graphs: make([]*cfg.Graph, len(p.Module.Codes))}
	units, err := linkUnits(p.Module, r.Graphs, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	return newAnalysis(r, units[0], Options{Plain: plain})
}

// A ruleCase is a program in which the dependency of use on def is looked at.
type ruleCase struct {
	name, source string
	full, paper  bool // kept by the default rules, by the paper's
}

// checkRule applies one rule to the dependency of use on def by a resource that the rule keeps or removes.
func checkRule(t *testing.T, cases []ruleCase, rule func(a *analysis, d dependency) bool) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, mode := range []struct{ plain, want bool }{{false, c.full}, {true, c.paper}} {
				p := sasstest.New(t, c.source)
				a := newTestAnalysis(t, p, mode.plain)
				if got := a.anyKept(t, p, rule); got != mode.want {
					t.Errorf("plain %v: kept %v, want %v", mode.plain, got, mode.want)
				}
			}
		})
	}
}

func (a *analysis) anyKept(t *testing.T, p *sasstest.Program, rule func(a *analysis, d dependency) bool) bool {
	t.Helper()
	a.deps = a.slicer.dependencies(p.Labels["use"], nil)
	found := false
	for _, d := range a.deps {
		if d.def != p.Labels["def"] {
			continue
		}
		found = true
		if rule(a, d) {
			return true
		}
	}
	if !found {
		t.Fatalf("slicing does not find def: %v", a.deps)
	}
	return false
}

func TestOpcodeRule(t *testing.T) {
	program := func(def string) string {
		return "def: " + def + " ;\n use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ;\n EXIT ;"
	}
	ldg := program("[B------:R-:W0:-:S01] LDG.E.SYS R0, [R2]")
	imad := program("[B------:R-:W-:-:S01] IMAD R0, R2, R3, RZ")
	lds := program("[B------:R-:W0:-:S01] LDS.U R0, [R2]")
	ldc := program("[B------:R-:W0:-:S01] LDC R0, c[0x3][R2]")
	stg := program("[B------:R0:W-:-:S01] STG.E.SYS [R2], R8")
	for _, c := range []struct {
		reason stall.Reason
		cases  []ruleCase
	}{
		{stall.LongScoreboard, []ruleCase{
			{"memory: LDG", ldg, true, true},
			{"memory: not IMAD", imad, false, false},
			{"memory: not LDS", lds, false, false},
			{"memory: LDC in the paper", ldc, false, true},
			{"memory: STG", stg, true, true},
		}},
		{stall.ShortScoreboard, []ruleCase{
			{"execution: not LDG", ldg, false, false},
			{"execution: IMAD", imad, true, true},
			{"execution: LDS", lds, true, true},
			{"execution: LDC", ldc, true, true},
			{"execution: STG in the paper", stg, false, true},
		}},
		{stall.Barrier, []ruleCase{{"synchronization: not LDG", ldg, false, false}}},
	} {
		checkRule(t, c.cases, func(a *analysis, d dependency) bool { return a.opcodeRule(d, c.reason) })
	}
}

func TestWaitRule(t *testing.T) {
	const source = `
		def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ;
		EXIT ;`
	p := sasstest.New(t, source)
	a := newTestAnalysis(t, p, false)
	for _, c := range []struct {
		res    sass.Resource
		reason stall.Reason
		want   bool
	}{
		{sass.ResSB, stall.LongScoreboard, true},
		{sass.ResReg, stall.LongScoreboard, false},
		{sass.ResReg, stall.Wait, true},
	} {
		if got := a.waitRule(dependency{0, 1, c.res}, c.reason); got != c.want {
			t.Errorf("resource %d, %v: kept %v, want %v", c.res, c.reason, got, c.want)
		}
	}
}

func TestExecutionRule(t *testing.T) {
	never := `
		def: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ; // executed=10
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // executed=10 threads=320
		EXIT ;`
	sometimes := `
		def: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ; // executed=10 threads=8
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // executed=10 threads=320
		EXIT ;`
	unknown := `
		def: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ;
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ;
		EXIT ;`
	checkRule(t, []ruleCase{
		{"no thread executed it", never, false, false},
		{"some threads executed it", sometimes, true, true},
		{"no source counters", unknown, true, true},
	}, (*analysis).executionRule)
}

func TestDominatorRule(t *testing.T) {
	rule := func(a *analysis, d dependency) bool { return a.dominatorRule(d.use, d.res, []int{d.def})[0] }
	checkRule(t, []ruleCase{
		{"an unpredicated use between", `
			def: FADD R0, R2, R3 ;
			k: FADD R6, R0, R5 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, false, false},
		{"a predicated use between", `
			def: FADD R0, R2, R3 ;
			k: @P0 FADD R6, R0, R5 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, true, true},
		{"a use of another register between", `
			def: FADD R0, R2, R3 ;
			k: FADD R6, R7, R5 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, true, true},
		{"a use on one of two paths", `
			def: FADD R0, R2, R3 ;
			@P0 BRA ` + "`(use)" + ` ;
			k: FADD R6, R0, R5 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, true, true},
		{"uses on both of two paths", `
			def: FADD R0, R2, R3 ;
			@P0 BRA ` + "`(other)" + ` ;
			FADD R6, R0, R5 ;
			BRA ` + "`(use)" + ` ;
			other: FADD R6, R0, R7 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, false, false},
		{"a wait for part of the counter's loads", `
			def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			k: DEPBAR.LE SB0, 0x1 ;
			use: [B0-----:R-:W-:-:S01] FADD R8, R9, R1 ;
			EXIT ;`, true, true},
		{"a use by the def itself", `
			def: FADD R0, R0, R3 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, true, true},
	}, rule)
}

func TestLatencyRule(t *testing.T) {
	rule := func(a *analysis, d dependency) bool { return a.latencyRule(d.use, d.res, []int{d.def})[0] }
	fill := func(n int, line string) string {
		text := ""
		for range n {
			text += line + "\n"
		}
		return text
	}
	straight := func(def string, n int) string {
		return "def: " + def + " ;\n" + fill(n, "FADD R6, R7, R5 ;") + "use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ;\n EXIT ;"
	}
	const fadd, lds, ldg = "FADD R0, R2, R3", "[B------:R-:W0:-:S01] LDS.U R0, [R2]", "[B------:R-:W0:-:S01] LDG.E.SYS R0, [R2]"
	checkRule(t, []ruleCase{
		{"FADD, 2 between", straight(fadd, 2), true, true},
		{"FADD, 3 between", straight(fadd, 3), false, true},
		{"FADD, 4 between", straight(fadd, 4), false, true},
		{"FADD, 5 between", straight(fadd, 5), false, false},
		{"LDS, 78 between", straight(lds, 78), true, true},
		{"LDS, 80 between", straight(lds, 80), false, true},
		{"LDS, 81 between", straight(lds, 81), false, false},
		{"LDG, 1000 between", straight(ldg, 1000), true, true},
		{"LDG, 1025 between", straight(ldg, 1025), false, false},
		{"stall counts are time", `
			def: [B------:R-:W-:-:S04] FADD R0, R2, R3 ;
			use: FADD R8, R0, R1 ;
			EXIT ;`, false, true},
		{"the short one of two paths", `
			def: FADD R0, R2, R3 ;
			@P0 BRA ` + "`(use)" + ` ;
			` + fill(6, "FADD R6, R7, R5 ;") + `
			use: FADD R8, R0, R1 ;
			EXIT ;`, true, true},
	}, rule)
}

func TestSlice(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"both words of a 64-bit operand", `
			lo: FADD R2, R8, R9 ;
			hi: FADD R3, R8, R9 ;
			use: LDG.E.SYS R0, [R2] ;
			EXIT ;`, []string{"lo", "hi"}},
		{"the guard", `
			p: ISETP.NE.AND P0, PT, R9, RZ, PT ;
			use: @P0 FADD R0, R5, R6 ;
			EXIT ;`, []string{"p"}},
		{"not a disabled instruction", `
			def: FADD R0, R8, R9 ;
			off: @!PT FADD R0, R8, R9 ;
			use: FADD R1, R0, R0 ;
			EXIT ;`, []string{"def"}},
		{"both ways of a branch", `
			@P0 BRA ` + "`(b)" + ` ;
			a: FADD R0, R8, R9 ;
			BRA ` + "`(use)" + ` ;
			b: FADD R0, R8, R9 ;
			use: FADD R1, R0, R5 ;
			EXIT ;`, []string{"a", "b"}},
		{"itself in a loop", `
			def: FADD R0, R8, R9 ;
			use: FADD R0, R0, R5 ;
			@P0 BRA ` + "`(use)" + ` ;
			EXIT ;`, []string{"def", "use"}},
		{"not across the function's entry", `
			FADD R0, R8, R9 ;
			EXIT ;
			.function f device
			use: FADD R1, R0, R5 ;
			EXIT ;`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			a := newTestAnalysis(t, p, false)
			var want, got []int
			for _, label := range c.want {
				want = append(want, p.Labels[label])
			}
			for _, d := range a.slicer.dependencies(p.Labels["use"], nil) {
				got = append(got, d.def)
			}
			slices.Sort(got)
			slices.Sort(want)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("defs %v, want %v", got, want)
			}
		})
	}
}

func TestOrderRule(t *testing.T) {
	const ldg, shfl, s2r = "LDG.E.SYS R0, [R2]", "SHFL.IDX PT, R0, R2, RZ, 0x1f", "S2R R0, SR_TID.X"
	both := func(def, other string) string {
		return "def: [B------:R-:W0:-:S01] " + def + " ;\n" +
			"[B------:R-:W1:-:S01] " + strings.Replace(other, "R0", "R4", 1) + " ;\n" +
			"use: [B01----:R-:W-:-:S01] FADD R8, R0, R4 ;\n EXIT ;"
	}
	for _, c := range []struct {
		name, source string
		reason       stall.Reason
		want         bool
	}{
		{"a later load of the same kind", both(ldg, ldg), stall.LongScoreboard, false},
		{"a later result that is due earlier", both(shfl, s2r), stall.ShortScoreboard, true},
		{"a later result that is due later", both(s2r, shfl), stall.ShortScoreboard, false},
		{"a later load under a predicate", both(ldg, "@P0 "+ldg), stall.LongScoreboard, true},
		{"a load on the other side of a branch", `
			@P0 BRA ` + "`(other)" + ` ;
			def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			BRA ` + "`(use)" + ` ;
			other: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R4] ;
			use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ;
			EXIT ;`, stall.LongScoreboard, true},
		{"an earlier load that is due later", `
			[B------:R-:W1:-:S01] SHFL.IDX PT, R4, R2, RZ, 0x1f ;
			def: [B------:R-:W0:-:S01] S2R R0, SR_TID.X ;
			use: [B01----:R-:W-:-:S01] FADD R8, R0, R4 ;
			EXIT ;`, stall.ShortScoreboard, false},
		{"operands of a store after a load", `
			[B------:R-:W1:-:S01] LDG.E.SYS R4, [R2] ;
			def: [B------:R0:W-:-:S01] STG.E.SYS [R6], R8 ;
			use: [B01----:R-:W-:-:S01] FADD R8, R0, R4 ;
			EXIT ;`, stall.LongScoreboard, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			a := newTestAnalysis(t, p, false)
			deps := a.prune(a.slicer.dependencies(p.Labels["use"], nil), c.reason)
			kept := slices.ContainsFunc(deps, func(d dependency) bool { return d.def == p.Labels["def"] })
			if kept != c.want {
				t.Errorf("kept %v, want %v: %v", kept, c.want, deps)
			}
		})
	}
}
