package advisor

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/profiler"
)

// An optimizerCase is a kernel that draws a certain advice, or none of an optimizer.
type optimizerCase struct {
	name, source string
	change       func(*sasstest.Program)
	speedup      float64  // 0 where the optimizer must stay silent
	says         []string // parts of the suggestions
	precise      bool     // see Options.Precise
}

func checkOptimizer(t *testing.T, o Optimizer, cases []optimizerCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			if c.change != nil {
				c.change(p)
			}
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			advice, err := Advise(r, Options{Optimizers: []Optimizer{o}, Precise: c.precise})
			if err != nil {
				t.Fatal(err)
			}
			if c.speedup == 0 {
				if len(advice) != 0 {
					t.Errorf("advice %+v, want none", advice[0])
				}
				return
			}
			checkAdvice(t, c, o, advice)
		})
	}
}

func checkAdvice(t *testing.T, c optimizerCase, o Optimizer, advice []Advice) {
	t.Helper()
	if len(advice) == 0 {
		t.Fatal("no advice")
	}
	a := advice[0]
	if math.Abs(a.Speedup-c.speedup) > 1e-3 || a.Optimizer != o.Name() || a.Class != o.Class() {
		t.Errorf("%s (%s) %.4f, want %s %.4f", a.Optimizer, a.Class, a.Speedup, o.Name(), c.speedup)
	}
	text := strings.Join(a.Match.Suggestions, "\n")
	for _, part := range c.says {
		if !strings.Contains(text, part) {
			t.Errorf("suggestions lack %q:\n%s", part, text)
		}
	}
	if len(a.Match.Suggestions) == 0 {
		t.Error("no suggestions")
	}
}

// rest are samples that bring a program's total to a round number.
const rest = "\n tail: FADD R20, R20, R21 ; // selected="

func TestStrengthReduction(t *testing.T) {
	checkOptimizer(t, strengthReduction{}, []optimizerCase{
		{
			name: "float and double conversion",
			source: `
				def: [B------:R-:W0:-:S01] F2F.F64.F32 R4, R2 ; // selected=5
				use: [B0-----:R-:W-:-:S01] DADD R6, R4, R8 ; // short_scoreboard=20/15` + rest + `75
				EXIT ;`,
			speedup: 100. / (100 - 5 - 20), // the conversion and what waits for it
			says:    []string{"2.0f"},
		},
		{
			name: "doubles from memory",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.64.SYS R4, [R2] ; // executed=10 threads=320
				use: [B0-----:R-:W-:-:S01] DADD R6, R4, R8 ; // long_scoreboard=40/40
				[B------:R-:W-:-:S01] STG.E.64.SYS [R10], R6 ; // executed=10 threads=320` + rest + `60
				EXIT ;`,
			speedup: 100. / (100 - 40/2), // half of the bytes
			says:    []string{"as float"},
		},
		{
			name: "near miss: doubles from memory, where only doubles are as expected",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.64.SYS R4, [R2] ; // executed=10 threads=320
				use: [B0-----:R-:W-:-:S01] DADD R6, R4, R8 ; // long_scoreboard=40/40
				[B------:R-:W-:-:S01] STG.E.64.SYS [R10], R6 ; // executed=10 threads=320` + rest + `60
				EXIT ;`,
			precise: true,
		},
		{
			name: "near miss: numbers beyond single precision",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.64.SYS R4, [R2] ; // executed=10 threads=320
				use: [B0-----:R-:W-:-:S01] DADD R6, R4, R8 ; // long_scoreboard=40/40
				[B------:R-:W-:-:S01] STG.E.64.SYS [R10], R6 ; // executed=10 threads=320` + rest + `60
				EXIT ;`,
			change: recorded(func(p *sasstest.Program, r *profiler.Record) { r.Beyond = []profiler.Place{at(p, "use")} }),
		},
		{
			name: "near miss: two words from memory",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.64.SYS R4, [R2] ; // executed=10 threads=320
				use: [B0-----:R-:W-:-:S01] IADD3 R6, R4, R5, RZ ; // long_scoreboard=40/40` + rest + `60
				EXIT ;`,
		},
		{
			name: "a power",
			source: `
				MUFU.LG2 R2, R2 ;
				def: [B------:R-:W0:-:S01] MUFU.EX2 R4, R2 ; // selected=5
				use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=20/15` + rest + `75
				EXIT ;`,
			speedup: 1.25,
			says:    []string{"MUFU.EX2"},
		},
		{
			name: "near miss: an exponential that has no cheaper form",
			source: `
				def: [B------:R-:W0:-:S01] MUFU.EX2 R4, R2 ; // selected=5
				use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=20/15` + rest + `75
				EXIT ;`,
		},
		{
			name: "a sum that is cut off to an integer",
			source: `
				add: [B------:R-:W-:-:S01] DADD R6, R4, R8 ;
				def: [B------:R-:W2:-:S01] F2I.F64.TRUNC R2, R6 ; // selected=5
				use: [B--2---:R-:W3:-:S01] I2F.F64 R4, R2 ; // short_scoreboard=20/15
				[B---3--:R-:W-:-:S01] STG.E.64.SYS [R10], R4 ; // short_scoreboard=30/20` + rest + `45
				EXIT ;`,
			speedup: 1.25, // one of the two conversions stays
			says:    []string{"trunc()"},
		},
		{
			name: "64-bit integer division",
			source: `
				CALL.REL.NOINC ` + "`(div)" + ` ;` + rest + `80
				EXIT ;
				.function $k$__internal_0_$__cuda_sm20_div_s64 internal
				div: [B------:R-:W-:-:S05] IMAD R4, R4, R5, RZ ;
				use: IADD3 R6, R4, R8, RZ ; // wait=20/15
				RET.REL.NODEC R20 ` + "`(div)" + ` ;`,
			speedup: 1.25,
			says:    []string{"64-bit integer division"},
		},
		{
			name: "a division of floats between conversions",
			source: `
				I2F R2, R2 ;
				def: [B------:R-:W0:-:S01] MUFU.RCP R4, R2 ; // selected=5
				use: [B0-----:R-:W-:-:S01] FMUL R6, R4, R8 ; // short_scoreboard=20/15
				F2I R6, R6 ;` + rest + `75
				EXIT ;`,
			speedup: 1.25,
			says:    []string{"a single-precision division"},
		},
		{
			name: "near miss: cheap arithmetic",
			source: `
				def: [B------:R-:W-:-:S04] FADD R4, R2, R3 ; // selected=5
				use: FADD R6, R4, R8 ; // wait=20/15` + rest + `75
				EXIT ;`,
		},
		{
			name: "near miss: a conversion that nothing waits for",
			source: `
				def: [B------:R-:W0:-:S01] F2I R4, R2 ; // selected=5
				use: [B0-----:R-:W-:-:S01] IADD3 R6, R4, R8, RZ ; // not_selected=20` + rest + `75
				EXIT ;`,
		},
	})
}

func TestLoopUnrolling(t *testing.T) {
	loop := func(use, exec string) string {
		return `
			pre: FADD R10, R11, R12 ; // executed=10
			loop: FADD R20, R21, R22 ; // selected=10 ` + exec + `
			FADD R23, R21, R22 ; // selected=10
			FADD R24, R21, R22 ; // selected=10
			def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=5
			use: [B0-----:R-:W-:-:S01] ` + use + ` ; // long_scoreboard=60/40 selected=5
			[B------:R-:W-:-:S05] @P0 BRA ` + "`(loop)" + ` ;
			EXIT ;`
	}
	stepping := func(step string) string {
		return strings.Replace(loop("FADD R4, R0, R5", ""), "[B------:R-:W-:-:S05] @P0", step+" ;\nISETP.LT.AND P0, PT, R6, R7, PT ;\n[B------:R-:W-:-:S05] @P0", 1)
	}
	checkOptimizer(t, loopUnrolling{}, []optimizerCase{
		{name: "a step in the code", source: stepping("IADD3 R6, R6, 0x100, RZ"), speedup: 100.0 / 60, says: []string{"#pragma unroll 4 before it"}},
		{name: "a step that is known when the kernel runs", source: stepping("IADD3 R6, R6, c[0x0][0x10], RZ"), speedup: 100.0 / 60, says: []string{"by hand: as long as", "#pragma unroll alone does little"}},
		{name: "a step in a register", source: stepping("IMAD R6, R8, R9, R6"), speedup: 100.0 / 60, says: []string{"by hand: as long as"}},
		{name: "a number that is halved", source: stepping("SHF.R.U32.HI R6, RZ, 0x1, R6"), speedup: 100.0 / 60, says: []string{"#pragma unroll 4 before it", "make the bound a constant"}},
		{name: "a condition that is loaded", source: stepping("FADD R6, R0, R6"), speedup: 100.0 / 60, says: []string{"by hand: make the loads of 4 iterations", "stay behind that test"}},
		// The arithmetic of four rounds, 120 samples, hides the wait of 60 that the loads then share; of it a third had another warp issue.
		{name: "load and use in a loop", source: loop("FADD R4, R0, R5", ""), speedup: 100.0 / 60, says: []string{"#pragma unroll"}},
		{name: "four iterations", source: loop("FADD R4, R0, R5", "executed=40"), speedup: 100.0 / 60, says: []string{"about 4 times"}},
		{name: "near miss: a single iteration", source: loop("FADD R4, R0, R5", "executed=10")},
		{
			name: "near miss: load before the loop",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=5
				loop: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=60/40 selected=35
				[B------:R-:W-:-:S05] @P0 BRA ` + "`(loop)" + ` ;
				EXIT ;`,
		},
		{
			name: "near miss: local memory",
			source: `
				loop: FADD R20, R21, R22 ; // selected=40
				def: [B------:R-:W0:-:S01] LDL R0, [R2] ;
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=60/40
				[B------:R-:W-:-:S05] @P0 BRA ` + "`(loop)" + ` ;
				EXIT ;`,
		},
	})
}

// TestNestedLoops holds what rounds side by side hide in each of two nested loops: the inner one's additions depend on each
// other, so that 4 rounds take 70 samples instead of 160; of the outer loop's wait, 4 rounds leave what the chain of its sums
// takes. Equation 5 itself is held in TestHideLatency.
func TestNestedLoops(t *testing.T) {
	p := sasstest.New(t, `
		outer: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=5
		inner: FADD R20, R20, R21 ; // selected=10
		[B------:R-:W1:-:S01] LDS.U R6, [R7] ;
		use1: [B-1----:R-:W-:-:S01] FADD R8, R6, R8 ; // short_scoreboard=30/30
		[B------:R-:W-:-:S05] @P0 BRA `+"`(inner)"+` ;
		use2: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=30/30
		[B------:R-:W-:-:S05] @P1 BRA `+"`(outer)"+` ;
		FADD R20, R20, R21 ; // selected=25
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := Advise(r, Options{Optimizers: []Optimizer{loopUnrolling{}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(advice) != 2 {
		t.Fatalf("%d pieces of advice, want 2", len(advice))
	}
	near(t, "inner loop", advice[0].Speedup, 100/77.5, 5e-5)
	near(t, "outer loop", advice[1].Speedup, 1.2834, 5e-5)
	if advice[0].Match.Scope.Loop.Depth != 2 || advice[1].Match.Scope.Loop.Depth != 1 {
		t.Errorf("loops of depth %d and %d, want 2 and 1", advice[0].Match.Scope.Loop.Depth, advice[1].Match.Scope.Loop.Depth)
	}
}

func TestCodeReordering(t *testing.T) {
	filler := strings.Repeat("FADD R20, R20, R21 ;\n", 12)
	checkOptimizer(t, codeReordering{}, []optimizerCase{
		{
			name: "use right after the load", // 40 of the 50 samples of waiting could be spent on the work before
			source: strings.Repeat("FADD R20, R21, R22 ; // selected=4\n", 10) + `
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=10
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=50/25
				EXIT ;`,
			speedup: 1.25,
			says:    []string{"Load earlier", "one instruction later"},
		},
		{
			name: "near miss: the work before makes the address",
			source: strings.Repeat("IADD3 R2, R2, R22, RZ ; // selected=4\n", 10) + `
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=10
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=50/25
				EXIT ;`,
		},
		{
			name: "near miss: a barrier stands between",
			source: strings.Repeat("FADD R20, R21, R22 ; // selected=4\n", 10) + `
				BAR.SYNC 0x0 ;
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=10
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=50/25
				EXIT ;`,
		},
		{
			name: "near miss: the load is far from its use",
			source: `
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=50
				` + filler + `
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=50/20
				EXIT ;`,
		},
		{
			name: "near miss: no latency samples",
			source: filler + `
				def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=50
				use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=50
				EXIT ;`,
		},
	})
}

func TestRegisterReuse(t *testing.T) {
	program := func(load string) string {
		return `
			def: [B------:R-:W0:-:S01] ` + load + ` R0, [R2] ; // selected=5
			use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=20/20` + rest + `75
			EXIT ;`
	}
	checkOptimizer(t, registerReuse{}, []optimizerCase{
		{name: "spilled value", source: program("LDL"), speedup: 100. / 75, says: []string{"Split the loop or the function"}},
		{name: "what is alive across a function's call of itself", source: `
			CALL.REL.NOINC ` + "`(trace)" + ` ; // selected=5
			EXIT ;
			.function trace device
			trace: [B------:R-:W-:-:S05] STL [R1], R16 ; // selected=5
			CALL.REL.NOINC ` + "`(trace)" + ` ; // selected=5
			def: [B------:R-:W0:-:S01] LDL R16, [R1] ; // selected=5
			use: [B0-----:R-:W-:-:S01] FADD R4, R16, R4 ; // long_scoreboard=20/20` + rest + `60
			RET.REL.NODEC R20 ` + "`(trace)" + ` ;`, speedup: 100. / 70, says: []string{"calls itself", "template"}},
		{name: "near miss: global load", source: program("LDG.E.SYS")},
	})
}

func TestWarpBalance(t *testing.T) {
	checkOptimizer(t, warpBalance{}, []optimizerCase{
		{name: "barrier", source: `
			BAR.SYNC 0x0 ; // selected=80
			use: FADD R4, R0, R4 ; // barrier=20
			EXIT ;`, speedup: 1.25, says: []string{"barrier"}},
		{name: "a wait that hides part of the latency of shared memory, 19 cycles but for the two issues", source: `
			[B------:R-:W0:-:S02] LDS.U R0, [R2] ; // selected=2
			BAR.SYNC 0x0 ; // selected=2
			use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // barrier=80 selected=2
			EXIT ; // selected=14
			NOP ;`, speedup: 100. / (100 - (80 - (19*2 - 2*2))), says: []string{"barrier"}},
		{name: "near miss: what it hides takes longer", source: `
			[B------:R-:W0:-:S02] LDS.U R0, [R2] ; // selected=20
			BAR.SYNC 0x0 ; // selected=20
			use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // barrier=80 selected=20
			EXIT ;`},
		{name: "one warp of four works before the barrier", source: `
			@P0 BRA ` + "`(all)" + ` ; // executed=40 threads=1280
			serial: FADD R4, R0, R4 ; // selected=30 executed=10 threads=320
			all: BAR.SYNC 0x0 ; // selected=50 executed=40 threads=1280
			use: FADD R4, R0, R4 ; // barrier=20 executed=40 threads=1280
			EXIT ;`, speedup: 1.25, says: []string{"1 in 4", "barrier"}},
		{name: "near miss: all warps do the same", source: `
			FADD R4, R0, R4 ; // selected=30 executed=40 threads=1280
			BAR.SYNC 0x0 ; // selected=50 executed=40 threads=1280
			use: FADD R4, R0, R4 ; // barrier=20 executed=40 threads=1280
			EXIT ;`},
		{name: "near miss: nobody waits", source: `
			BAR.SYNC 0x0 ; // selected=80
			use: FADD R4, R0, R4 ; // not_selected=20
			EXIT ;`},
		{name: "near miss: memory barrier", source: `
			MEMBAR.SC.GPU ; // selected=80
			use: FADD R4, R0, R4 ; // membar=20
			EXIT ;`},
	})
}

func TestTransactionReduction(t *testing.T) {
	flag := func(value, more string) string { // four warps of each block store to one place
		const executed = " ; // executed=640 threads=20480"
		return `
			MOV R2, c[0x0][0x160]` + executed + `
			MOV R3, c[0x0][0x164]` + executed + "\n" + value + executed + "\n" + more + executed + `
			STG.E.U8.SYS [R2], R4 ; // selected=60 executed=640 threads=20480 sectors=640/640
			EXIT ; // drain=40 executed=640 threads=20480`
	}
	checkOptimizer(t, transactionReduction{}, []optimizerCase{
		{name: "memory queue full", source: `
			LDG.E.SYS R0, [R2] ; // selected=80 lg_throttle=20
			EXIT ;`, speedup: 100. / (100 - 20*.75), says: []string{"queue"}},
		{name: "a flag", source: flag("MOV R5, 0x1", "PRMT R4, R5, 0x7610, R4"), speedup: 100. / 60, says: []string{"one place, 640 times", "__syncthreads_or"}},
		{name: "near miss: values of threads", source: flag("S2R R5, SR_TID.X", "PRMT R4, R5, 0x7610, R4")},
		{name: "near miss: places of threads", source: flag("MOV R4, 0x1", "S2R R2, SR_TID.X")},
		{name: "near miss: latency, not throughput", source: `
			[B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=80
			[B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=20
			EXIT ;`},
		{name: "near miss: drain", source: `
			FADD R4, R0, R4 ; // selected=80
			EXIT ; // drain=20`},
	})
}

// TestToOnePlace tells stores to one place in all rounds of a loop from those that go on from round to round.
func TestToOnePlace(t *testing.T) {
	for register, want := range map[string]int{"R2": 0, "R6": 1} {
		const each, rounds = " ; // executed=640 threads=20480", " ; // executed=2560 threads=81920"
		p := sasstest.New(t, `
			MOV R2, c[0x0][0x160]`+each+`
			MOV R3, c[0x0][0x164]`+each+`
			MOV R4, 0x1`+each+`
			MOV R5, RZ`+each+`
			loop: STG.E.SYS [R2], R4`+rounds+` sectors=2560/2560
			IADD3 `+register+", "+register+`, 0x4, RZ`+rounds+`
			IADD3 R5, R5, 0x1, RZ`+rounds+`
			ISETP.NE.AND P0, PT, R5, 0x4, PT`+rounds+`
			@P0 BRA `+"`(loop)"+rounds+`
			EXIT`+each)
		if got := inputOf(t, p).toOnePlace(); len(got) != want {
			t.Errorf("%s goes on: stores to one place are %v, want %d", register, got, want)
		}
	}
}

func TestFastMath(t *testing.T) {
	program := func(function string) string {
		return `
			CALL.REL.NOINC ` + "`(f)" + ` ; // selected=80
			EXIT ;
			.function ` + function + `
			f: [B------:R-:W-:-:S05] FADD R4, R4, R5 ;
			use: FADD R6, R4, R8 ; // wait=20
			RET.REL.NODEC R20 ` + "`(f)" + ` ;`
	}
	checkOptimizer(t, fastMath{}, []optimizerCase{
		{name: "division helper", source: program("$k$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath internal"), speedup: 1.25, says: []string{"-use_fast_math"}},
		{name: "near miss: user function", source: program("$k$_Z6squaref device")},
		{name: "near miss: integer division helper", source: program("$k$__internal_0_$__cuda_sm20_div_s64 internal")},
	})
}

// TestAccurateSaves holds what approximate functions save on a line: of a division its arithmetic and its branch, but no index that the line
// computes; of a logarithm its integers too.
func TestAccurateSaves(t *testing.T) {
	p := sasstest.New(t, `
		FFMA R4, R5, R6, R4 ;
		IADD3 R7, R7, 0x1, RZ ;
		F2I R8, R4 ;
		FCHK P0, R5, R6 ;
		MUFU.RCP R9, R6 ;
		EXIT ;`)
	division := accurate{floats: 5, others: 4}
	division.add(divisionFloats, 0)
	logarithm := accurate{floats: logFloats, longer: true}
	logarithm.add(logFloats, 0)
	in := inputOf(t, p)
	for i, want := range [][2]float64{{.6, 11. / 13}, {0, 1}, {0, 1}, {1, 1}, {0, 0}} {
		inst := in.Inst(blamer.Node{Inst: i})
		if d, l := division.saved(inst), logarithm.saved(inst); math.Abs(d-want[0]) > 1e-9 || math.Abs(l-want[1]) > 1e-9 {
			t.Errorf("%s: %g and %g, want %g", inst.Text(), d, l, want)
		}
	}
}

func TestFunctionInlining(t *testing.T) {
	program := func(function, body string) string {
		return `
			CALL.REL.NOINC ` + "`(f)" + ` ; // selected=80
			EXIT ;
			.function ` + function + `
			f: [B------:R-:W-:-:S05] FADD R4, R4, R5 ;
			use: FADD R6, R4, R8 ; // wait=20/20
			` + body + `
			RET.REL.NODEC R20 ` + "`(f)" + ` ;`
	}
	checkOptimizer(t, functionInlining{}, []optimizerCase{
		{name: "small user function", source: program("f device", ""), speedup: 1.25, says: []string{"__forceinline__"}},
		{name: "near miss: compiler intrinsic", source: program("$k$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath internal", "")},
		{name: "near miss: recursion", source: program("f device", "CALL.REL.NOINC `(f) ;")},
		{name: "near miss: large function", source: program("f device", strings.Repeat("FADD R9, R9, R9 ;\n", 200))},
	})
}

func TestFunctionSplitting(t *testing.T) {
	large := strings.Repeat("FADD R9, R9, R9 ; // selected=1 no_instructions=1\n", 800)
	checkOptimizer(t, functionSplitting{}, []optimizerCase{
		{name: "code beyond the instruction cache", source: large + "EXIT ;", speedup: 2, says: []string{"12 KiB"}},
		{name: "near miss: branches whose targets are in the cache", source: strings.ReplaceAll(large, "no_instructions=1", "branch_resolving=1") + "EXIT ; // no_instructions=20 branch_resolving=20"},
		{name: "near miss: small kernel", source: "FADD R9, R9, R9 ; // selected=1 no_instructions=1\n EXIT ;"},
	})
}

// shape sets the launch's grid and block.
func shape(blocks, threads int) func(*sasstest.Program) {
	return func(p *sasstest.Program) {
		p.Launch.Grid = [3]int{blocks, 1, 1}
		p.Launch.Block = [3]int{threads, 1, 1}
	}
}

const tenPercentIssued = `
	[B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=100
	[B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=900/600
	EXIT ;`

func TestBlockIncrease(t *testing.T) {
	checkOptimizer(t, blockIncrease{}, []optimizerCase{
		{name: "two large blocks", source: tenPercentIssued, change: shape(2, 512), speedup: 1.163, says: []string{"2 blocks for 80 SMs", "of 128 instead of 512 threads", "grid of 8 blocks"}},
		{name: "half as many blocks as SMs", source: tenPercentIssued, change: shape(40, 512),
			speedup: 2 * IssueRate(.1, 2) / IssueRate(.1, 4), says: []string{"of 256 instead of 512"}},
		{name: "near miss: blocks for every SM", source: tenPercentIssued, change: shape(160, 512)},
		{name: "near miss: small blocks", source: tenPercentIssued, change: shape(2, 128)},
		{name: "near miss: shape unknown", source: tenPercentIssued, change: shape(0, 0)},
	})
}

// TestFurtherWaysLast holds that a third way to deal with the same waits stands behind what deals with others, but before what was not tried.
func TestFurtherWaysLast(t *testing.T) {
	about := func(name string, tried float64, overlaps ...string) Advice {
		return Advice{Optimizer: name, Match: &Match{}, Speedup: 1.1, Tried: tried, Overlaps: overlaps}
	}
	advice := []Advice{about("a", 1.5, "b", "c"), about("b", 1.4, "a", "c"), about("c", 1.3, "a", "b"), about("d", 1.2), about("e", 1.1, "c", "f"), about("f", 0)}
	furtherWaysLast(advice)
	order := ""
	for i := range advice {
		order += advice[i].Optimizer
	}
	twice := []Advice{about("a", 1.5), about("b", 1.5), about("c", 1.4), about("d", 1.396, "c"), about("e", 1.2)}
	furtherWaysLast(twice)
	for i := range twice {
		order += twice[i].Optimizer + twice[i].Same
	}
	if order != "abdecf"+"acebadc" { // of what e overlaps with, c is a further way itself
		t.Errorf("order %s", order)
	}
}

// TestSurerFirst holds that of ways that come out alike the one stands first that is surer to be had, and no other.
func TestSurerFirst(t *testing.T) {
	merged := func(name string, tried float64) Advice {
		return Advice{Optimizer: name, Tried: tried, Match: &Match{Change: &Change{Streams: &Streams{Merged: []Merged{{Factor: 4}}}}}}
	}
	for _, c := range []struct {
		list []Advice
		want string
	}{
		{[]Advice{{Optimizer: "code-reordering", Tried: 1.5, Match: &Match{}}, {Optimizer: "shared-memory-tiling", Tried: 1.499, Match: &Match{}, Overlaps: []string{"code-reordering"}}}, "shared-memory-tiling"},
		{[]Advice{{Optimizer: "code-reordering", Tried: 1.6, Match: &Match{}}, {Optimizer: "shared-memory-tiling", Tried: 1.5, Match: &Match{}, Overlaps: []string{"code-reordering"}}}, "code-reordering"},
		{[]Advice{{Optimizer: "code-reordering", Tried: 1.5, Match: &Match{}}, {Optimizer: "shared-memory-tiling", Tried: 1.499, Match: &Match{}}}, "code-reordering"},
		{[]Advice{merged("vectorized-access", 1.5), merged("thread-coarsening", 1.499)}, "thread-coarsening"},
		{[]Advice{{Optimizer: "vectorized-access", Tried: 1.5, Match: &Match{}}, merged("thread-coarsening", 1.499)}, "vectorized-access"},
	} {
		if surerFirst(c.list); c.list[0].Optimizer != c.want {
			t.Errorf("%s first, want %s", c.list[0].Optimizer, c.want)
		}
	}
}

// TestOverlaps holds that advice about the same samples says so.
func TestOverlaps(t *testing.T) {
	p := sasstest.New(t, `
		loop: FADD R20, R21, R22 ; // selected=30
		FADD R20, R21, R22 ;
		def: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // selected=10
		use: [B0-----:R-:W-:-:S01] FADD R4, R0, R4 ; // long_scoreboard=60/40
		[B------:R-:W-:-:S05] @P0 BRA `+"`(loop)"+` ;
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := Advise(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(advice) != 2 || !slices.Equal(advice[0].Overlaps, []string{advice[1].Optimizer}) {
		t.Fatalf("advice %+v", advice)
	}
	h := advice[0].Match.Hotspots
	if len(h) != 1 || h[0].Def.Inst != p.Labels["def"] || h[0].Use.Inst != p.Labels["use"] || h[0].Distance != 1 || h[0].Samples != 60 || h[0].Share != .6 {
		t.Errorf("hotspots %+v", h)
	}
}

func TestAdviseWithoutBlame(t *testing.T) {
	if _, err := Advise(nil, Options{}); err == nil {
		t.Error("no error")
	}
	p := sasstest.New(t, "EXIT ;")
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if advice, err := Advise(r, Options{}); err != nil || len(advice) != 0 {
		t.Errorf("advice %v, error %v, want none", advice, err)
	}
}

func TestThreadIncrease(t *testing.T) {
	with := func(blocks, threads, registers int) func(*sasstest.Program) {
		return func(p *sasstest.Program) {
			shape(blocks, threads)(p)
			p.Launch.Facts.Registers = registers
		}
	}
	// warps that a scheduler holds on average
	held := func(blocks, threads int, warps float64) func(*sasstest.Program) {
		return func(p *sasstest.Program) {
			with(blocks, threads, 32)(p)
			f := &p.Launch.Facts
			f.SMActiveCycles = 1000
			f.WarpActiveCycles = int64(warps * 1000 * float64(f.SchedulersPerSM))
		}
	}
	// An SM of a V100 holds 32 blocks: 8 warps a scheduler with blocks of one warp, 16 with larger ones.
	full := IssueRate(.1, 16) / IssueRate(.1, 8)
	checkOptimizer(t, threadIncrease{}, []optimizerCase{
		{name: "half a warp", source: tenPercentIssued, change: with(100000, 16, 32), speedup: 2 * full, says: []string{"of 64 instead of 16 threads", "grid of 25000 blocks", "16 lanes", "limited by the number of threads"}},
		{name: "one warp", source: tenPercentIssued, change: with(100000, 32, 32), speedup: full, says: []string{"of 64 instead of 32 threads", "16 instead of 8 warps"}},
		{name: "registers are the next limit", source: tenPercentIssued, change: with(100000, 32, 48),
			speedup: IssueRate(.1, 10) / IssueRate(.1, 8), says: []string{"limited by registers"}},
		{name: "places stay empty", source: tenPercentIssued, change: held(100000, 64, 8), speedup: 2, says: []string{"of the 16 warps", "holds 8", "Let a block of 256 threads do what 4 blocks do", "grid of 25000 blocks"}},
		{name: "near miss: places are taken", source: tenPercentIssued, change: held(100000, 64, 14)},
		{name: "near miss: no block waits for a place", source: tenPercentIssued, change: held(2000, 64, 8)},
		{name: "near miss: limited by registers", source: tenPercentIssued, change: with(100000, 32, 128)},
		{name: "near miss: limited by threads", source: tenPercentIssued, change: with(100000, 256, 32)},
		{name: "near miss: a small grid", source: tenPercentIssued, change: with(160, 32, 32)},
		{name: "near miss: 16 threads in all", source: tenPercentIssued, change: with(1, 16, 32)},
		{name: "near miss: larger blocks would leave SMs idle", source: tenPercentIssued, change: with(90, 48, 32)},
	})
}

// TestLoopCopies holds that loops which the compiler made of one loop of the source are one piece of advice, and that
// each can hide latency only with its own active samples.
func TestLoopCopies(t *testing.T) {
	x, y, outer := &cfg.Loop{Header: 1, Blocks: []int{1, 2}}, &cfg.Loop{Header: 4, Blocks: []int{4, 5}}, &cfg.Loop{Header: 0, Blocks: []int{0, 1, 2}}
	line := cubin.Frame{Function: "k", File: "k.cu", Line: 9}
	match := func(l *cfg.Loop, f cubin.Frame, active, latency float64) *Match {
		return &Match{Scope: Scope{Kind: LoopScope, Loop: l, Frame: f}, Samples: latency, Latency: latency, Active: active}
	}
	groups := sameSource([]*Match{
		match(x, line, 5, 30),
		match(y, line, 30, 10),
		match(outer, line, 50, 1),
		match(y, cubin.Frame{Function: "k", File: "k.cu", Line: 12}, 1, 1),
		match(y, cubin.Frame{}, 1, 1),
	})
	if len(groups) != 4 || len(groups[0]) != 2 {
		t.Fatalf("%d groups, the first of %d, want 4, the first of 2", len(groups), len(groups[0]))
	}
	in := &Input{Total: 100, Active: 50}
	near(t, "two copies", estimate(in, LatencyHiding, groups[0]), 100.0/85, 1e-9)
	if m := join(in, groups[0]); m.Samples != 40 || m.Active != 35 || m.Scope.Loop != x {
		t.Errorf("joined %+v", m)
	}
}
