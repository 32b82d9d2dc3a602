package advisor

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/profiler"
)

// Tests of the optimizers that lay the work out over threads otherwise.

// sumLoop is a loop of 64 rounds that sums up what it loads: 80 of 100 samples.
const sumLoop = `
	top: MOV R6, RZ ; // selected=10 executed=4
	loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=8 executed=256 threads=8192 sectors=SECTORS
	IADD3 R2, P0, R2, 0x4, RZ ; // selected=2 executed=256
	IADD3.X R3, RZ, R3, RZ, P0, !PT ; // selected=2 executed=256
	use: [B0-----:R-:W-:-:S01] FADD R6, R4, R6 ; // long_scoreboard=60/60 selected=4 executed=256
	ISETP.NE.AND P1, PT, R2, R8, PT ; // selected=2 executed=256
	@P1 BRA ` + "`(loop)" + ` ; // selected=2 executed=256
	tail: FADD R20, R20, R21 ; // selected=10 executed=4
	EXIT ;`

// recurrentLoop is the same loop, but each round needs the value of the one before.
const recurrentLoop = `
	top: MOV R6, RZ ; // selected=10 executed=4
	loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=8 executed=256 threads=8192 sectors=8192/1024
	IADD3 R2, R2, 0x4, RZ ; // selected=4 executed=256
	use: [B0-----:R-:W-:-:S01] FFMA R6, R6, R9, R4 ; // long_scoreboard=60/60 selected=4 executed=256
	ISETP.NE.AND P1, PT, R2, R8, PT ; // selected=2 executed=256
	@P1 BRA ` + "`(loop)" + ` ; // selected=2 executed=256
	tail: FADD R20, R20, R21 ; // selected=10 executed=4
	EXIT ;`

// twoLoops are a loop of 30 samples and one of 60, and what lies between them.
func twoLoops(last, between, second string) string {
	return `
	MOV R6, RZ ; // selected=10 executed=4
	first: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=2 executed=256 threads=8192 sectors=1024/1024
	IADD3 R2, R2, 0x4, RZ ; // selected=4 executed=256
	[B0-----:R-:W-:-:S01] ` + last + ` ; // long_scoreboard=20/20 selected=2 executed=256
	ISETP.NE.AND P1, PT, R2, R8, PT ; // selected=2 executed=256
	@P1 BRA ` + "`(first)" + ` ; // executed=256
	` + between + `
	second: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R12] ; // selected=2 executed=256 threads=8192 sectors=1024/1024
	IADD3 R12, R12, 0x4, RZ ; // selected=4 executed=256
	[B0-----:R-:W-:-:S01] ` + second + ` ; // long_scoreboard=50/50 selected=2 executed=256
	ISETP.NE.AND P1, PT, R12, R8, PT ; // selected=2 executed=256
	@P1 BRA ` + "`(second)" + ` ; // executed=256
	EXIT ;`
}

func TestWorkDistribution(t *testing.T) {
	source := func(sectors string) string { return replaceSectors(sumLoop, sectors) }
	checkOptimizer(t, workDistribution{}, []optimizerCase{
		{name: "rows that threads walk along", source: source("8192/1024"), change: shape(1<<20, 256), speedup: 1 / (.2 + .8/8),
			says: []string{"64 rounds", "a warp", "__shfl_xor_sync"}},
		{name: "room for eight times the warps", source: source("1024/1024"), change: shape(40, 256), speedup: 1 / (.2 + .8/16), says: []string{"16 times as many threads"}},
		{name: "a grid of which one warp in a hundred has work", source: "S2R R0, SR_TID.X ; // executed=400\n@P0 EXIT ; // executed=400" + source("1024/1024"), change: shape(80, 256),
			speedup: 1 / (.2 + .8/32), says: []string{"32 times as many threads"}},
		{name: "a sum that two loops add to", source: twoLoops("FADD R6, R4, R6", "NOP ; // executed=4", "FADD R6, R4, R6"), change: shape(40, 256), speedup: 1 / (.1 + .9/16)},
		{name: "a sum that the second loop scales by", source: twoLoops("FADD R6, R4, R6", "MUFU.RCP R9, R6 ; // executed=4", "FFMA R7, R4, R9, R7"), change: shape(40, 256), speedup: 1 / (.4 + .6/16)},
		{name: "values that the second loop finds in shared memory", source: twoLoops("STS [R2], R4", "LDS R9, [R14] ; // executed=4", "FFMA R7, R4, R9, R7"), change: shape(40, 256), speedup: 1 / (.4 + .6/16)},
		{name: "a block an SM, whose warps wait for memory", source: source("1024/1024"), change: shape(80, 256), speedup: 1 / (.2 + .8/8)},
		{name: "near miss: each SM has four blocks", source: source("1024/1024"), change: shape(320, 256)},
		{name: "near miss: half of the warps have work", source: "S2R R0, SR_TID.X ; // executed=8\n@P0 EXIT ; // executed=8" + source("1024/1024"), change: shape(640, 256)},
		{name: "near miss: a full GPU that reads whole sectors", source: source("1024/1024"), change: shape(1<<20, 256)},
		{name: "prefix sums", source: strings.Replace(source("8192/1024"), "ISETP.NE", "STG.E.SYS [R2], R6 ; // selected=0 executed=256 threads=8192 sectors=8192/1024\n	ISETP.NE", 1), change: recorded(func(p *sasstest.Program, r *profiler.Record) {
			shape(1<<20, 256)(p)
			r.Complete = true
		}), speedup: 1 / (.2 + .8/8), says: []string{"running sum", "scan"}},
		{name: "near miss: each round needs the one before", source: recurrentLoop, change: shape(40, 256)},
	})
}

func TestRegisterTiling(t *testing.T) {
	common := func(bytes int64) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			l := profiler.LoadRecord{Place: at(p, "loop"), Bytes: 1000, Distinct: 1000 - bytes}
			l.InEarlierRound[profiler.SameBlock] = bytes
			r.Loads = []profiler.LoadRecord{l}
		})
	}
	checkOptimizer(t, registerTiling{}, []optimizerCase{
		{name: "what other threads have loaded", source: replaceSectors(sumLoop, "1024/1024"), change: common(900), speedup: 100. / (100 - 60./2*.75),
			says: []string{"4 results", "registers"}},
		{name: "what lanes load together", source: replaceSectors(sumLoop, "1024/1024"), change: recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 1000, Distinct: 100}}
		}), speedup: 100. / (100 - 60./2*.75), says: []string{"4 results"}},
		{name: "near miss: shared memory that each thread reads once", source: replaceSectors(sumLoop, "1024/1024"), change: recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 1000}}
		})},
		{name: "near miss: each thread its own data", source: replaceSectors(sumLoop, "1024/1024"), change: common(100)},
		{name: "near miss: nothing is known of the loads", source: replaceSectors(sumLoop, "1024/1024")},
	})
}

func TestSharedTiling(t *testing.T) {
	read := func(party profiler.Party, stored int64) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			l := profiler.LoadRecord{Place: at(p, "loop"), Bytes: 1000, Stored: stored}
			l.Earlier[party] = 900
			r.Loads = []profiler.LoadRecord{l}
		})
	}
	source := replaceSectors(sumLoop, "1024/1024")
	// Of the 60 samples that wait for L2, 212 cycles, shared memory leaves 19.
	checkOptimizer(t, sharedTiling{}, []optimizerCase{
		{name: "what another warp has loaded", source: source, change: read(profiler.SameBlock, 0), speedup: 100. / (100 - 60*(1-19./212)), says: []string{"tile", "__syncthreads"}},
		{name: "near miss: what the thread itself has loaded", source: source, change: read(profiler.SameThread, 0)},
		{name: "near miss: somebody stores to it", source: source, change: read(profiler.SameBlock, 40)},
	})
}

func TestThreadCoarsening(t *testing.T) {
	const short = `
		[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=10 executed=100 threads=3200
		use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=40/40 executed=100
		STG.E.SYS [R2], R6 ; // selected=10 executed=100 threads=3200
		tail: FADD R20, R20, R21 ; // selected=40
		EXIT ;`
	checkOptimizer(t, threadCoarsening{}, []optimizerCase{
		{name: "many short blocks", source: short, change: shape(1<<16, 256), speedup: 100. / (100 - 60*.75), says: []string{"4 items", "side by side"}},
		{name: "near miss: a grid of one wave", source: short, change: shape(160, 256)},
		{name: "near miss: long loops", source: replaceSectors(sumLoop, "1024/1024"), change: shape(1<<16, 256)},
	})
}

func TestSinglePass(t *testing.T) {
	again := func(earlier, stored int64) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			l := profiler.LoadRecord{Place: at(p, "loop"), Bytes: 1000, Stored: stored}
			l.Earlier[profiler.SameThread] = earlier
			r.Loads = []profiler.LoadRecord{l}
		})
	}
	source := `
		first: [B------:R-:W1:-:S01] LDG.E.SYS R12, [R10] ; // executed=256 threads=8192
		[B-1----:R-:W-:-:S01] IADD3 R10, P0, R10, R12, RZ ; // executed=256
		@P0 BRA ` + "`(first)" + ` ; // executed=256` + replaceSectors(sumLoop, "1024/1024")
	checkOptimizer(t, singlePass{}, []optimizerCase{
		{name: "a second pass", source: source, change: again(900, 0), speedup: 2.5, says: []string{"one"}},
		{name: "near miss: the first pass", source: source, change: again(0, 0)},
		{name: "near miss: somebody stores to it", source: source, change: again(900, 40)},
		{name: "near miss: no pass before", source: replaceSectors(sumLoop, "1024/1024"), change: again(900, 0)},
	})
	checkOptimizer(t, registerTiling{}, []optimizerCase{
		{name: "windows that overlap", source: replaceSectors(sumLoop, "1024/1024"), change: again(900, 0), speedup: 2.5, says: []string{"overlap", "neighbouring results"}},
		{name: "near miss: a second pass", source: source, change: again(900, 0)},
	})
}

func TestRegisterCaching(t *testing.T) {
	const source = `
		loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=5 executed=256 threads=8192
		use: [B0-----:R-:W-:-:S01] FADD R6, R4, R9 ; // long_scoreboard=60/60 selected=5 executed=256
		store: STG.E.SYS [R2], R6 ; // selected=5 executed=256
		IADD3 R10, R10, 0x1, RZ ; // selected=15 executed=256
		ISETP.NE.AND P1, PT, R10, R8, PT ; // selected=5 executed=256
		@P1 BRA ` + "`(loop)" + ` ; // selected=5 executed=256
		EXIT ;`
	through := func(party profiler.Party, next bool) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Dependences = []profiler.Dependence{{Kind: profiler.FlowDependence, From: at(p, "store"), To: at(p, "loop"), Party: party, Space: "global",
				Carried: true, Loop: at(p, "loop"), Next: next, Bytes: 1000}}
		})
	}
	within := func(bytes int64, space string) func(*sasstest.Program) { // of unrolled rounds
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 1000}}
			r.Dependences = []profiler.Dependence{{Kind: profiler.FlowDependence, From: at(p, "store"), To: at(p, "loop"), Party: profiler.SameThread, Space: space, Bytes: bytes}}
		})
	}
	checkOptimizer(t, registerCaching{}, []optimizerCase{
		{name: "a sum in memory", source: source, change: through(profiler.SameThread, true), speedup: 2.5, says: []string{"register"}},
		{name: "a sum in memory, rounds unrolled", source: source, change: within(900, "global"), speedup: 2.5, says: []string{"register"}},
		{name: "near miss: it mostly reads what others have stored", source: source, change: within(100, "global")},
		{name: "its own part of shared memory", source: source, change: within(900, "shared"), speedup: 2.5, says: []string{"register"}},
		{name: "near miss: a tile in shared memory", source: source, change: func(p *sasstest.Program) {
			within(900, "shared")(p)
			r := p.Launch.Record
			r.Dependences = append(r.Dependences, r.Dependences[0])
			r.Dependences[1].Party = profiler.SameBlock
		}},
		{name: "near miss: what another thread has stored", source: source, change: through(profiler.SameBlock, true)},
		{name: "near miss: from rounds before the last", source: source, change: through(profiler.SameThread, false)},
	})
}

// A running sum that two unrolled rounds store to the same place: without the stores the second load is issued with the first, and of the
// 40 samples that its use waits those remain in which the first sum is made.
func TestStoredEachRound(t *testing.T) {
	const source = `
		loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R10] ; // selected=1 executed=256 threads=8192
		[B0-----:R-:W-:-:S04] FADD R6, R4, R6 ; // long_scoreboard=40/40 selected=4 executed=256
		first: STG.E.SYS [R2], R6 ; // selected=1 executed=256
		behind: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R10+0x100] ; // selected=1 executed=256 threads=8192
		[B0-----:R-:W-:-:S04] FADD R6, R4, R6 ; // long_scoreboard=40/40 selected=4 executed=256
		second: STG.E.SYS [R2], R6 ; // selected=1 executed=256
		IADD3 R10, R10, 0x200, RZ ; // selected=4 executed=256
		ISETP.NE.AND P1, PT, R10, R8, PT ; // selected=4 executed=256
		@P1 BRA ` + "`(loop)" + ` ; // executed=256
		EXIT ;`
	over := func(more ...profiler.Dependence) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			for _, d := range append(more, profiler.Dependence{Kind: profiler.OutputDependence, From: at(p, "first"), To: at(p, "second"), Space: "global"}) {
				if d.Kind == profiler.FlowDependence {
					d.From, d.To = at(p, "first"), at(p, "behind")
				}
				d.Bytes = 1000
				r.Dependences = append(r.Dependences, d)
			}
			r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 1000, Distinct: 1000}, {Place: at(p, "behind"), Bytes: 1000, Distinct: 1000}}
		})
	}
	checkOptimizer(t, registerCaching{}, []optimizerCase{
		{name: "a running sum", source: source, change: over(), speedup: 100. / (100 - 2 - 34.11), says: []string{"local variable", "behind the loop"}},
		{name: "near miss: another thread reads it", source: source, change: over(profiler.Dependence{Kind: profiler.FlowDependence, Party: profiler.SameBlock, Space: "global"})},
		{name: "a value that is read behind its store", source: source, change: over(profiler.Dependence{Kind: profiler.FlowDependence, Party: profiler.SameThread, Space: "global"}), speedup: 5, says: []string{"shortly before", "local variable"}},
	})
}

// TestUnrolledWithout has a running sum whose store keeps the bound of the loop in memory: without it rounds can be counted, and are unrolled; not
// where the bound moves, or another store stays.
func TestUnrolledWithout(t *testing.T) {
	const source = `
		FADD R20, R20, R21 ; // executed=4
		loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R10] ; // selected=1 executed=256 threads=8192
		[B0-----:R-:W-:-:S04] FADD R6, R4, R6 ; // long_scoreboard=40/40 selected=4 executed=256
		store: STG.E.SYS [R2], R6 ; // selected=1 executed=256
		OTHER
		bound: [B------:R-:W1:-:S01] LDG.E.SYS R8, [BASE] ; // selected=1 executed=256 threads=8192
		IADD3 R10, R10, 0x4, RZ ; // selected=4 executed=256
		IADD3 R18, R18, 0x1, RZ ; // selected=1 executed=256
		[B-1----:R-:W-:-:S04] ISETP.NE.AND P1, PT, R18, R8, PT ; // long_scoreboard=20/20 selected=4 executed=256
		@P1 BRA ` + "`(loop)" + ` ; // executed=256
		EXIT ;`
	for _, c := range []struct{ name, other, base, variant string }{
		{"the bound of a row", "", "R12", "stored once, unrolled"},
		{"near miss: a bound that moves", "", "R10+0x100", ""},
		{"near miss: another store", "STG.E.SYS [R16], R4 ; // executed=256", "R12", ""},
	} {
		p := sasstest.New(t, strings.NewReplacer("OTHER", c.other, "BASE", c.base).Replace(source))
		recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Dependences = []profiler.Dependence{{Kind: profiler.OutputDependence, From: at(p, "store"), To: at(p, "store"), Space: "global", Carried: true, Next: true, Loop: at(p, "loop"), Bytes: 1000}}
			r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 1000, Distinct: 1000}, {Place: at(p, "bound"), Bytes: 1000, Distinct: 1000}}
		})(p)
		found := ""
		for _, m := range inputOf(t, p).storedEachRound() {
			if m.Variant == "stored once, unrolled" {
				found = m.Variant
				if !slices.Contains(m.Change.Gone, nodeOf(at(p, "bound"))) || len(m.Change.Overlapped) == 0 {
					t.Errorf("%s: %+v", c.name, m.Change)
				}
			}
		}
		if found != c.variant {
			t.Errorf("%s: variant %q, want %q", c.name, found, c.variant)
		}
	}
}

func replaceSectors(source, sectors string) string {
	return strings.ReplaceAll(source, "SECTORS", sectors)
}

// TestEntries holds how often warps come to the hottest loop: 4 of them 8 times each.
func TestEntries(t *testing.T) {
	const nested = `
		FADD R20, R20, R21 ; // executed=4
		outer: MOV R2, R10 ; // selected=1 executed=32
		inner: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=8 executed=512
		IADD3 R2, R2, 0x4, RZ ; // selected=2 executed=512
		[B0-----:R-:W-:-:S01] FFMA R6, R6, R9, R4 ; // long_scoreboard=60/60 executed=512
		ISETP.NE.AND P1, PT, R2, R8, PT ; // executed=512
		@P1 BRA ` + "`(inner)" + ` ; // executed=512
		[B------:R-:W1:-:S01] STG.E.SYS [R10], R6 ; // executed=32
		IADD3 R10, R10, 0x100, RZ ; // executed=32
		ISETP.NE.AND P1, PT, R10, R8, PT ; // executed=32
		@P1 BRA ` + "`(outer)" + ` ; // executed=32
		EXIT ;`
	p := sasstest.New(t, nested)
	in := inputOf(t, p)
	inner := nodeOf(at(p, "inner"))
	if got := in.entries(&loopNest{code: inner.Code, hottest: in.Loop(inner)}); got != 32 {
		t.Errorf("entered %g times, want 32", got)
	}
}

// TestNamedPlaces holds that what is said of an unrolled loop names all of its loads, and nothing that hardly counts.
func TestNamedPlaces(t *testing.T) {
	m := &Match{}
	for i, samples := range []float64{12, 11, 10, 10, 10, 10, 2, 1} {
		m.Hotspots = append(m.Hotspots, Hotspot{Def: blamer.Node{Inst: i}, Use: blamer.Node{Inst: 100 + i}, Samples: samples})
	}
	if defs, uses := m.defs(), m.uses(); len(defs) != 7 || len(uses) != 7 || defs[6].Inst != 6 || uses[6].Inst != 106 {
		t.Errorf("defs %v, uses %v", defs, uses)
	}
}
