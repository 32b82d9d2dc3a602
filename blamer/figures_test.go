package blamer_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// analyze blames a program and lists the blames as "def>use detail count", with labels for instructions that have
// them.
func analyze(t *testing.T, source string, opt blamer.Options) []string {
	t.Helper()
	p := sasstest.New(t, source)
	r, err := blamer.Analyze(p.Launch, p.Module, opt)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, b := range r.Blames {
		list = append(list, fmt.Sprintf("%s>%s %v %.4g", name(p, b.Def), name(p, b.Use), b.Detail, b.Count))
	}
	return list
}

func name(p *sasstest.Program, n blamer.Node) string {
	for label, inst := range p.Labels {
		if inst == n.Inst {
			return label
		}
	}
	return fmt.Sprint(n.Inst)
}

func check(t *testing.T, source string, opt blamer.Options, want ...string) {
	t.Helper()
	if got := analyze(t, source, opt); !slices.Equal(got, want) {
		t.Errorf("plain %v\n got %s\nwant %s", opt.Plain, strings.Join(got, ", "), strings.Join(want, ", "))
	}
}

// both checks the paper's rules and the default ones.
func both(t *testing.T, source string, want ...string) {
	t.Helper()
	check(t, source, blamer.Options{Plain: true}, want...)
	check(t, source, blamer.Options{}, want...)
}

// TestFigure3 is the paper's example of a dependency by a virtual barrier register alone.
func TestFigure3(t *testing.T) {
	both(t, `
		load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
		use:  [B0-----:R-:W-:-:S01] BRA `+"`(end)"+` ; // long_scoreboard=10/8
		end:  EXIT ;
	`, "load>use global_memory 10")
}

// TestFigure4 is the paper's example of predicated sources. The memory stalls of IADD come from LDC or LDG, whichever
// the predicate chose, and not from IMAD; with twice the issues and twice the path, each has half.
func TestFigure4(t *testing.T) {
	const source = `
		ldc:  [B------:R-:W0:-:S01] @!P0 LDC R0, c[0x3][R4] ;   // selected=20
		ldg:  [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R2] ;  // selected=10
		imad: [B------:R-:W-:-:S01] IMAD R5, R6, R7, RZ ;     // selected=10
		iadd: [B0-----:R-:W-:-:S04] IADD3 R8, R0, R5, RZ ;    // long_scoreboard=12/6
		EXIT ;
	`
	check(t, source, blamer.Options{Plain: true},
		"ldc>iadd constant_memory 6", "ldg>iadd global_memory 6")
	// With the reasons told apart LDC does not come into question: it shows as short_scoreboard.
	check(t, source, blamer.Options{}, "ldg>iadd global_memory 12")
}

func TestPredicateCovering(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"unpredicated def ends the search", `
			a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			b: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R4] ;
			use: [B0-----:R-:W-:-:S01] IADD3 R8, R0, R5, RZ ; // long_scoreboard=10
			EXIT ;`,
			[]string{"b>use global_memory 10"}},
		{"one condition leaves the other open", `
			a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			IADD3 R9, R9, 0x1, RZ ;
			b: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R4] ;
			use: [B0-----:R-:W-:-:S01] IADD3 R8, R0, R5, RZ ; // long_scoreboard=10
			EXIT ;`,
			[]string{"a>use global_memory 2", "b>use global_memory 8"}},
		{"both conditions cover", `
			a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			b: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R4] ;
			IADD3 R9, R9, 0x1, RZ ;
			c: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R6] ;
			use: [B0-----:R-:W-:-:S01] IADD3 R8, R0, R5, RZ ; // long_scoreboard=10
			EXIT ;`,
			[]string{"b>use global_memory 2", "c>use global_memory 8"}},
		{"conditions on different values of a predicate do not cover", `
			a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			b: [B------:R-:W0:-:S01] @!P0 LDG.E.SYS R0, [R4] ;
			ISETP.NE.AND P0, PT, R9, RZ, PT ;
			c: [B------:R-:W0:-:S01] @P0 LDG.E.SYS R0, [R6] ;
			use: [B0-----:R-:W-:-:S01] IADD3 R8, R0, R5, RZ ; // long_scoreboard=17
			EXIT ;`,
			[]string{"a>use global_memory 2", "b>use global_memory 3", "c>use global_memory 12"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.source, blamer.Options{Plain: true}, c.want...) })
	}
}

// TestPredicatedUse holds that the guard of the use covers what has the same guard, for operands; what is waited for by
// the wait mask is waited for in any case.
func TestPredicatedUse(t *testing.T) {
	const source = `
		a: [B------:R-:W-:-:S01] FADD R0, R2, R3 ;
		b: [B------:R-:W-:-:S04] @P0 FADD R0, R4, R5 ;
		use: @P0 FMUL R8, R0, R5 ; // wait=10
		EXIT ;`
	both(t, source, "b>use arithmetic 10")
	const unguarded = `
		a: [B------:R-:W-:-:S01] FADD R0, R2, R3 ;
		b: [B------:R-:W-:-:S04] @P0 FADD R0, R4, R5 ;
		use: FMUL R8, R0, R5 ; // wait=9
		EXIT ;`
	check(t, unguarded, blamer.Options{Plain: true}, "a>use arithmetic 3", "b>use arithmetic 6")
	check(t, unguarded, blamer.Options{}, "b>use arithmetic 9")
}

// TestFigure5 has one kernel for each detailed reason of the paper's figure.
func TestFigure5(t *testing.T) {
	for _, c := range []struct{ name, def, use, samples, want string }{
		{"local", "[B------:R-:W0:-:S01] LDL R0, [R2]", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "long_scoreboard", "local_memory"},
		{"global", "[B------:R-:W0:-:S01] LDG.E.SYS R0, [R2]", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "long_scoreboard", "global_memory"},
		{"texture", "[B------:R-:W0:-:S01] TEX.SCR.LL RZ, R0, R6, R11, 0x0, 0x58, 2D, 0x1", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "long_scoreboard", "texture_memory"},
		{"constant", "[B------:R-:W0:-:S01] LDC R0, c[0x3][R4]", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "short_scoreboard", "constant_memory"},
		{"shared", "[B------:R-:W0:-:S01] LDS.U R0, [R2]", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "short_scoreboard", "shared_memory"},
		{"arithmetic, variable latency", "[B------:R-:W0:-:S01] MUFU.RCP R0, R2", "[B0-----:R-:W-:-:S01] FADD R8, R0, R5", "short_scoreboard", "arithmetic"},
		{"arithmetic, fixed latency", "[B------:R-:W-:-:S04] FADD R0, R2, R3", "FADD R8, R0, R5", "wait", "arithmetic"},
		{"write after read of a shared store", "[B------:R0:W-:-:S01] STS [R2], R8", "[B0-----:R-:W-:-:S01] FADD R8, R4, R5", "short_scoreboard", "war"},
		{"write after read of a global store", "[B------:R0:W-:-:S01] STG.E.SYS [R2], R8", "[B0-----:R-:W-:-:S01] FADD R8, R4, R5", "long_scoreboard", "war"},
		{"write after read beside a result", "[B------:R1:W0:-:S01] LDS.U R0, [R8]", "[B-1----:R-:W-:-:S01] FADD R8, R4, R5", "short_scoreboard", "war"},
		{"scheduling", "[B------:R-:W-:-:S05] FADD R9, R2, R3", "FADD R8, R0, R5", "wait", "scheduling"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, "def: "+c.def+" ;\n use: "+c.use+" ; // "+c.samples+"=10\n EXIT ;", "def>use "+c.want+" 10")
		})
	}
}

// TestSelfBlame holds that reasons without a dependency stay where they are seen.
func TestSelfBlame(t *testing.T) {
	for reason, want := range map[string]string{
		"no_instructions":    "instruction_fetch",
		"branch_resolving":   "instruction_fetch",
		"math_pipe_throttle": "pipe_busy",
		"mio_throttle":       "pipe_busy",
		"lg_throttle":        "memory_throttle",
		"drain":              "memory_throttle",
		"tex_throttle":       "texture_memory",
		"imc_miss":           "constant_memory",
		"not_selected":       "not_selected",
		"dispatch_stall":     "other",
		"misc":               "other",
		"sleeping":           "sleeping",
	} {
		t.Run(reason, func(t *testing.T) {
			both(t, `
				[B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ;
				use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // `+reason+`=7/3 selected=3
				EXIT ;`, "use>use "+want+" 7")
		})
	}
}

func TestSynchronization(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"at the instruction after the barrier", `
			bar: BAR.SYNC 0x0 ;
			use: FADD R8, R0, R5 ; // barrier=10
			EXIT ;`, "bar>use synchronization 10"},
		{"at a barrier after a barrier", `
			first: BAR.SYNC 0x0 ;
			second: BAR.SYNC 0x0 ; // barrier=10
			EXIT ;`, "first>second synchronization 10"},
		{"at the barrier itself", `
			FADD R8, R0, R5 ;
			bar: BAR.SYNC 0x0 ; // barrier=10
			EXIT ;`, "bar>bar synchronization 10"},
		{"a memory barrier is not a block barrier", `
			membar: MEMBAR.SC.GPU ;
			BAR.SYNC 0x0 ;
			use: FADD R8, R0, R5 ; // membar=10
			EXIT ;`, "membar>use synchronization 10"},
	} {
		t.Run(c.name, func(t *testing.T) { both(t, c.source, c.want) })
	}
}

// TestThresholds holds that DEPBAR.LE SBx, n waits for all but the n youngest.
func TestThresholds(t *testing.T) {
	for n, want := range []string{"c", "b", "a"} {
		both(t, fmt.Sprintf(`
			a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
			b: [B------:R-:W0:-:S01] LDG.E.SYS R1, [R2+0x4] ;
			c: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2+0x8] ;
			use: DEPBAR.LE SB0, %#x ; // long_scoreboard=10
			EXIT ;`, n), want+">use global_memory 10")
	}
}

// TestLoops holds that dependencies are followed around back edges, and how long such paths are.
func TestLoops(t *testing.T) {
	p := sasstest.New(t, `
		CS2R R0, SRZ ;
		loop: FADD R4, R4, R5 ;
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=10
		@P0 BRA `+"`(skip)"+` ;
		FADD R6, R6, R5 ;
		FADD R7, R6, R5 ;
		skip: FADD R9, R9, R5 ;
		load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
		@P1 BRA `+"`(loop)"+` ;
		EXIT ;`)
	for _, plain := range []bool{false, true} {
		r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{Plain: plain})
		if err != nil {
			t.Fatal(err)
		}
		want := blamer.Blame{Def: node(p, "load"), Use: node(p, "use"), Class: r.Blames[0].Class, Detail: blamer.GlobalMemory, Count: 10, Distance: 3}
		if len(r.Blames) != 1 || r.Blames[0] != want {
			t.Errorf("plain %v: %+v, want %+v", plain, r.Blames, want)
		}
	}
}

// TestLongestPath holds that of two ways around a branch the longer counts.
func TestLongestPath(t *testing.T) {
	p := sasstest.New(t, `
		load: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ;
		@P0 BRA `+"`(skip)"+` ;
		FADD R6, R6, R5 ;
		FADD R7, R6, R5 ;
		skip: FADD R9, R9, R5 ;
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R5 ; // long_scoreboard=10
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Blames) != 1 || r.Blames[0].Distance != 5 {
		t.Errorf("blames %+v, want one at distance 5", r.Blames)
	}
}

// TestWaitThroughBlocks holds that the wait of a block's first instruction is blamed on the ends of the blocks before
// it, by how often these issued.
func TestWaitThroughBlocks(t *testing.T) {
	check(t, `
		@P0 BRA `+"`(other)"+` ;
		one: [B------:R-:W-:-:S05] BRA `+"`(join)"+` ; // selected=30 executed=30
		other: [B------:R-:W-:-:S05] FADD R0, R2, R3 ; // selected=10 executed=10
		join: FADD R8, R0, R5 ; // wait=16
		EXIT ;`, blamer.Options{}, "one>join scheduling 12", "other>join arithmetic 4")
}

// TestWaitBehindBranch holds that the wait at the target of a branch, and behind BSYNC, is not laid to a result that would
// have been late without them.
func TestWaitBehindBranch(t *testing.T) {
	check(t, `
		head: FADD R8, R0, R5 ; // wait=16
		[B------:R-:W-:-:S01] FADD R0, R2, R3 ; // selected=10 executed=10
		end: [B------:R-:W-:-:S02] BRA `+"`(head)"+` ; // selected=10 executed=10
		EXIT ;`, blamer.Options{}, "end>head scheduling 16")
	check(t, `
		[B------:R-:W-:-:S01] FADD R0, R2, R3 ; // selected=10 executed=10
		join: [B------:R-:W-:-:S02] BSYNC B0 ; // selected=10 executed=10
		use: FADD R8, R0, R5 ; // wait=16
		EXIT ;`, blamer.Options{}, "join>use scheduling 16")
}

// TestWaitBehindLoads holds that the stall count of an instruction is not laid to a load that shares the counter of a later one.
func TestWaitBehindLoads(t *testing.T) {
	check(t, `
		first: [B------:R-:W-:-:S01] LDS.U R4, [R7] ;
		last:  [B------:R-:W0:-:S02] LDS.U R5, [R2] ;
		use:   [B0-----:R-:W-:Y:S08] FADD R4, R4, R5 ; // wait=16 short_scoreboard=20
		EXIT ;`, blamer.Options{}, "last>use shared_memory 20", "last>use scheduling 16")
}

// TestExact holds that the true producers replace the heuristic, and that agreement measures it.
func TestExact(t *testing.T) {
	const source = `
		a: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=10
		b: [B------:R-:W1:-:S01] LDG.E.SYS R1, [R4] ; // selected=10
		FADD R9, R9, R5 ;
		use: [B01----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=30/10@a long_scoreboard=10@b long_scoreboard=5
		EXIT ;`
	check(t, source, blamer.Options{Exact: true}, "a>use global_memory 30", "b>use global_memory 15")
	p := sasstest.New(t, source)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, plain := 10.0/40, (30*(1.0/3)+10*(2.0/3))/40
	if !r.HasAgreement || math.Abs(r.Agreement-want) > 1e-9 || math.Abs(r.AgreementPlain-plain) > 1e-9 {
		t.Errorf("agreement %v %.4f, plain %.4f, want %.4f, %.4f", r.HasAgreement, r.Agreement, r.AgreementPlain, want, plain)
	}
}

func node(p *sasstest.Program, label string) blamer.Node {
	return blamer.Node{Inst: p.Labels[label]}
}
