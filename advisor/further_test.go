package advisor

import (
	"fmt"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/profiler"
)

// Tests of the optimizers beyond Table 2 of the paper: for each a kernel that draws its advice and near misses that do not.

func TestMemoryCoalescing(t *testing.T) {
	const scattered = `
			def: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=5 executed=10 threads=320 sectors=320/40
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=40/35 executed=10` + rest + `55
			EXIT ;`
	// An index that each lane, or one that all lanes load first: of what follows the index, and of a row that it begins.
	indexed := func(sectors string) string {
		return `
			LDG.E.SYS R10, [R12] ; // executed=10 threads=320 sectors=` + sectors + `
			IMAD.WIDE R2, R10, R13, R14 ; // executed=10` + scattered
	}
	row := strings.Replace(indexed("320/320"), "def:", "BRA `(def) ; // executed=10\n def:", 1)
	row = strings.Replace(row, "EXIT ;", "IADD3 R2, R2, 0x4, RZ ; // executed=10\n @P0 BRA `(def) ; // executed=10\n EXIT ;", 1)
	period := func(cycles int) func(*sasstest.Program) {
		return func(p *sasstest.Program) { p.Launch.Period = cycles }
	}
	checkOptimizer(t, memoryCoalescing{}, []optimizerCase{
		{name: "a sector for each thread", source: scattered, change: period(1 << 20),
			speedup: 100. / (100 - 40*.875), says: []string{"32.0 sectors", "would fill 4.0", "structures of arrays"}},
		{name: "near miss: loads that take no longer than memory does", source: scattered, change: period(1)},
		{name: "near miss: an index of each lane", source: indexed("40/40"), change: period(1 << 20)},
		{name: "an index of all lanes", source: indexed("10/10"), change: period(1 << 20), speedup: 100. / (100 - 40*.875)},
		{name: "a row of each lane", source: row, change: period(1 << 20), speedup: 100. / (100 - 40*.875)},
		{name: "stores that are drained", source: `
			STG.E.SYS [R2], R4 ; // selected=5 executed=10 threads=320 sectors=320/40
			tail: FADD R20, R20, R21 ; // selected=75
			EXIT ; // drain=20/20 executed=10`, speedup: 100. / (100 - 20*.875), says: []string{"transposition"}},
		{name: "near miss: neighbours", source: `
			def: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=5 executed=10 threads=320 sectors=40/40
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=40/35 executed=10` + rest + `55
			EXIT ;`},
		{name: "near miss: no counters", source: `
			def: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=5
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=40/35` + rest + `55
			EXIT ;`},
	})
}

func TestBankConflicts(t *testing.T) {
	checkOptimizer(t, bankConflicts{}, []optimizerCase{
		{name: "eight ways", source: `
			def: [B------:R-:W0:-:S01] LDS.U R4, [R2] ; // selected=5 executed=10 wavefronts=80/10
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=40/35 executed=10` + rest + `55
			EXIT ;`, speedup: 100. / (100 - 40*.875), says: []string{"8.0 passes", "tile[32][33]"}},
		{name: "near miss: none", source: `
			def: [B------:R-:W0:-:S01] LDS.U R4, [R2] ; // selected=5 executed=10 wavefronts=10/10
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=40/35 executed=10` + rest + `55
			EXIT ;`},
		{name: "near miss: a conversion is awaited", source: `
			STS [R2], R8 ; // executed=10 wavefronts=80/10
			def: [B------:R-:W0:-:S01] F2I R4, R2 ; // selected=5 executed=10
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=40/35 executed=10` + rest + `55
			EXIT ;`},
	})
}

func TestDivergenceReduction(t *testing.T) {
	checkOptimizer(t, divergenceReduction{}, []optimizerCase{
		{name: "a quarter of the lanes", source: `
			FADD R2, R2, R3 ; // selected=20 executed=100 threads=3200
			@P0 BRA ` + "`(end)" + ` ; // executed=100 threads=3200
			FADD R4, R4, R5 ; // selected=30 not_selected=10 executed=100 threads=800
			FADD R6, R4, R5 ; // selected=40 executed=100 threads=800
			end: EXIT ; // executed=100 threads=3200`, speedup: 100. / (100 - 80*.75), says: []string{"few of their 32 lanes"}},
		{name: "near miss: guards", source: `
			@P0 FADD R2, R2, R3 ; // selected=50 executed=100 threads=800
			@P0 FADD R4, R4, R5 ; // selected=50 executed=100 threads=800
			EXIT ; // executed=100 threads=3200`},
		{name: "near miss: full warps", source: `
			FADD R2, R2, R3 ; // selected=50 executed=100 threads=3200
			FADD R4, R4, R5 ; // selected=50 executed=100 threads=3000
			EXIT ; // executed=100 threads=3200`},
	})
}

func TestVectorAccess(t *testing.T) {
	checkOptimizer(t, vectorAccess{}, []optimizerCase{
		{name: "four words", source: `
			LDG.E.SYS R4, [R2] ; // lg_throttle=10/10
			LDG.E.SYS R5, [R2+0x4] ; // lg_throttle=10/10
			LDG.E.SYS R6, [R2+0x8] ; // lg_throttle=10/10
			LDG.E.SYS R7, [R2+0xc] ; // lg_throttle=10/10` + rest + `60
			EXIT ;`, speedup: 100. / (100 - 30), says: []string{"float4"}},
		{name: "two words of shared memory, the second behind a store", source: `
			[B------:R-:W0:-:S01] LDS R4, [0x100] ;
			[B0-----:R-:W-:-:S01] FADD R5, R4, R9 ; // short_scoreboard=20/20
			STS [R2], R5 ;
			[B------:R-:W0:-:S01] LDS R6, [0x104] ;
			[B0-----:R-:W-:-:S01] FADD R7, R6, R9 ; // short_scoreboard=20/20` + rest + `60
			EXIT ;`, speedup: 100. / (100 - 20), says: []string{"float4"}},
		{name: "near miss: words of shared memory that others store between", source: `
			[B------:R-:W0:-:S01] LDS R4, [0x100] ;
			[B0-----:R-:W-:-:S01] FADD R5, R4, R9 ; // short_scoreboard=20/20
			BAR.SYNC 0x0 ;
			[B------:R-:W0:-:S01] LDS R6, [0x104] ;
			[B0-----:R-:W-:-:S01] FADD R7, R6, R9 ; // short_scoreboard=20/20` + rest + `60
			EXIT ;`},
		{name: "near miss: the address changes", source: `
			LDG.E.SYS R4, [R2] ; // lg_throttle=20/20
			IADD3 R2, R2, R9, RZ ;
			LDG.E.SYS R5, [R2+0x4] ; // lg_throttle=20/20` + rest + `60
			EXIT ;`},
		{name: "near miss: far apart", source: `
			LDG.E.SYS R4, [R2] ; // lg_throttle=20/20
			LDG.E.SYS R5, [R2+0x80] ; // lg_throttle=20/20` + rest + `60
			EXIT ;`},
		{name: "near miss: a barrier between", source: `
			LDG.E.SYS R4, [R2] ; // lg_throttle=20/20
			BAR.SYNC 0x0 ;
			LDG.E.SYS R5, [R2+0x4] ; // lg_throttle=20/20` + rest + `60
			EXIT ;`},
		{name: "near miss: vectors already", source: `
			LDG.E.128.SYS R4, [R2] ; // lg_throttle=20/20
			LDG.E.128.SYS R8, [R2+0x10] ; // lg_throttle=20/20` + rest + `60
			EXIT ;`},
	})
}

// blockReads records that 4,000 bytes are read at loop: so many of them by several blocks, so many by lanes from different places, from a buffer of
// some size.
func blockReads(shared, apart, buffer int64) func(*sasstest.Program) {
	return recorded(func(p *sasstest.Program, r *profiler.Record) {
		r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 4000, Distinct: 4000, Shared: shared, Apart: apart, Buffer: buffer}}
	})
}

func TestConstantMemory(t *testing.T) {
	loop := func(load string) string {
		return `
			loop: ` + load + `
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R6 ; // long_scoreboard=50/45 executed=100 threads=3200
			@P0 BRA ` + "`(loop)" + ` ; // executed=100 threads=3200` + rest + `50
			EXIT ;`
	}
	block := loop(`[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // executed=100 threads=3200 sectors=100/100`)
	checkOptimizer(t, constantMemory{}, []optimizerCase{
		{name: "one word for all", source: loop(`[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // executed=100 threads=3200 sectors=100/100`),
			speedup: 2, says: []string{"__constant__"}},
		{name: "one byte for all", source: loop(`[B------:R-:W0:-:S01] LDG.E.U8.SYS R4, [R2] ; // executed=100 threads=3200 sectors=100/100`),
			speedup: 2, says: []string{"__constant__"}},
		{name: "near miss: a byte each", source: "\nS2R R2, SR_TID.X ;" + loop(`[B------:R-:W0:-:S01] LDG.E.U8.SYS R4, [R2] ; // executed=100 threads=3200 sectors=100/100`)},
		{name: "a word for each block of a small array", source: "\nS2R R2, SR_CTAID.X ;" + block, change: blockReads(4000, 0, 1<<16), speedup: 2, says: []string{"__constant__"}},
		{name: "words at a place that was loaded, of all lanes the same", source: "\nLDG.E.SYS R2, [R8] ;" + block, change: blockReads(4000, 0, 1<<16), speedup: 2, says: []string{"__constant__"}},
		{name: "near miss: lanes go apart there", source: "\nLDG.E.SYS R2, [R8] ;" + block, change: blockReads(4000, 100, 1<<16)},
		{name: "a small structure", source: "\nLDG.E.SYS R2, [R8] ;" + block, change: blockReads(4000, 0, 512), speedup: 2, says: []string{"passed by value"}},
		{name: "near miss: of a large array", source: "\nS2R R2, SR_CTAID.X ;" + block, change: blockReads(4000, 0, 1<<20)},
		{name: "near miss: a word for each block alone", source: "\nS2R R2, SR_CTAID.X ;" + block, change: blockReads(0, 0, 1<<16)},
		{name: "near miss: a word each", source: loop(`[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // executed=100 threads=3200 sectors=400/400`)},
		{name: "near miss: one thread", source: loop(`[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // executed=100 threads=100 sectors=100/100`)},
	})
}

func TestRestrictPointers(t *testing.T) {
	checkOptimizer(t, restrictPointers{}, []optimizerCase{
		{name: "loaded again after a store", source: `
			LDG.E.SYS R4, [R2] ;
			STG.E.SYS [R10], R12 ;
			def: [B------:R-:W0:-:S01] LDG.E.SYS R5, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R6, R5, R6 ; // long_scoreboard=50/45
			FADD R7, R6, R6 ; // selected=50
			EXIT ;`, speedup: 100. / 55, says: []string{"__restrict__"}},
		{name: "near miss: another word", source: `
			LDG.E.SYS R4, [R2] ;
			STG.E.SYS [R10], R12 ;
			def: [B------:R-:W0:-:S01] LDG.E.SYS R5, [R2+0x4] ;
			use: [B0-----:R-:W-:-:S01] FADD R6, R5, R6 ; // long_scoreboard=50/45
			FADD R7, R6, R6 ; // selected=50
			EXIT ;`},
		{name: "near miss: a barrier between", source: `
			LDG.E.SYS R4, [R2] ;
			STG.E.SYS [R10], R12 ;
			BAR.SYNC 0x0 ;
			def: [B------:R-:W0:-:S01] LDG.E.SYS R5, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R6, R5, R6 ; // long_scoreboard=50/45
			FADD R7, R6, R6 ; // selected=50
			EXIT ;`},
		{name: "near miss: the pointer moves", source: `
			LDG.E.SYS R4, [R2] ;
			STG.E.SYS [R10], R12 ;
			IADD3 R2, R2, R9, RZ ;
			def: [B------:R-:W0:-:S01] LDG.E.SYS R5, [R2] ;
			use: [B0-----:R-:W-:-:S01] FADD R6, R5, R6 ; // long_scoreboard=50/45
			FADD R7, R6, R6 ; // selected=50
			EXIT ;`},
	})
}

func TestAtomicContention(t *testing.T) {
	checkOptimizer(t, atomicContention{}, []optimizerCase{
		{name: "a value that is awaited", source: `
			def: [B------:R-:W0:-:S01] ATOMG.E.ADD.STRONG.GPU PT, R4, [R2], R5 ;
			use: [B0-----:R-:W-:-:S01] FADD R6, R4, R6 ; // long_scoreboard=30/30` + rest + `50
			RED.E.ADD.STRONG.GPU [R2], R5 ; // lg_throttle=20/20
			EXIT ;`, speedup: 2, says: []string{"__shfl_xor_sync"}},
		{name: "atomics that are drained, as hardware shows them", source: `
			RED.E.ADD.STRONG.GPU [R2], R5 ; // selected=20 executed=10 threads=320
			STG.E.SYS [R10], R5 ; // selected=30 executed=10 threads=80
			EXIT ; // executed=10
			BRA 0x30 ; // drain=50/50`, speedup: 100. / (100 - 50*.8), says: []string{"one atomic for all"}},
		{name: "atomics that are drained", source: `
			RED.E.ADD.STRONG.GPU [R2], R5 ; // selected=20 executed=10 threads=320
			STG.E.SYS [R10], R5 ; // selected=30 executed=10 threads=80
			EXIT ; // drain=50/50 executed=10`, speedup: 100. / (100 - 50*.8), says: []string{"one atomic for all"}},
		{name: "near miss: cheap atomics", source: `
			RED.E.ADD.STRONG.GPU [R2], R5 ; // selected=20` + rest + `80
			EXIT ;`},
	})
}

func TestSMBalance(t *testing.T) {
	launch := func(blocks int, busy float64) func(*sasstest.Program) {
		return func(p *sasstest.Program) {
			f := &p.Launch.Facts
			f.SMs, f.BlocksPerSM, f.Cycles = 80, 2, 98500
			f.SMActiveCycles = int64(busy * 80 * 98500)
			p.Launch.Grid, p.Launch.Block = [3]int{blocks, 1, 1}, [3]int{256, 1, 1}
		}
	}
	small := func(p *sasstest.Program) {
		launch(170, .625)(p)
		p.Launch.Block = [3]int{128, 1, 1}
	}
	recorded := func(blocks int) func(*sasstest.Program) {
		return func(p *sasstest.Program) {
			launch(blocks, .6)(p)
			p.Launch.Record = &profiler.Record{Complete: true}
		}
	}
	const program = `
		FADD R2, R2, R3 ; // selected=100
		EXIT ;`
	checkOptimizer(t, smBalance{}, []optimizerCase{
		{name: "a short last wave", source: program, change: launch(170, .625), speedup: 98500. / (.625*98500 + 1500),
			says: []string{"170 blocks are 2 waves of 160, and the last has only 10", "busy for 62% of the time"}},
		{name: "near miss: busy SMs", source: program, change: launch(1600, .95)},
		{name: "one wave, of more blocks on some SMs than on others", source: program, change: recorded(100), speedup: 98500. / (.6*98500 + 1500),
			says: []string{"of 100 blocks on 80 SMs some have 2 and the others 1", "smaller blocks, of 128 threads and not of 256"}},
		{name: "near miss: one wave, without a record", source: program, change: launch(100, .6)},
		{name: "near miss: one wave that waits for memory", source: strings.Replace(program, "selected=100", "long_scoreboard=96/96 selected=4", 1), change: recorded(100)},
		{name: "near miss: one wave of blocks that meet", source: "BAR.SYNC 0x0 ; // selected=5\n" + program, change: recorded(100)},
		{name: "near miss: a block an SM", source: program, change: recorded(80)},
		{name: "near miss: no smaller blocks", source: program, change: small},
	})
}

func TestAsyncCopy(t *testing.T) {
	const loop = `
		loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=30
		[B0-----:R-:W-:-:S01] STS [R8], R4 ; // long_scoreboard=20/20 selected=25
		BAR.SYNC 0x0 ; // selected=25
		@P0 BRA ` + "`(loop)" + ` ;
		EXIT ;`
	checkOptimizer(t, asyncCopy{}, []optimizerCase{
		{name: "a loop that stages through registers", source: loop, change: func(p *sasstest.Program) { p.Launch.GPU = "a100" },
			speedup: 1.25, says: []string{"memcpy_async", "two buffers"}},
		{name: "near miss: Volta has no such copies", source: loop},
		{name: "near miss: another value is stored", source: strings.Replace(loop, "STS [R8], R4", "STS [R8], R9", 1),
			change: func(p *sasstest.Program) { p.Launch.GPU = "a100" }},
	})
}

func TestRedundantBarrier(t *testing.T) {
	between := func(code string) string {
		return `
			STS [R8], R4 ;
			BAR.SYNC 0x0 ;
			LDS.U R4, [R2] ; // selected=40
			BAR.SYNC 0x0 ; // selected=20
			use: ` + code + ` ; // barrier=20/20 selected=20
			EXIT ;`
	}
	checkOptimizer(t, redundantBarrier{}, []optimizerCase{
		{name: "loads on both sides", source: between("LDS.U R6, [R2]"), speedup: 100. / 60, says: []string{"orders nothing"}},
		{name: "loads in a loop", source: `
			STS [R8], R4 ;
			BAR.SYNC 0x0 ;
			loop: LDS.U R4, [R2] ; // selected=40
			BAR.SYNC 0x0 ;
			use: FADD R6, R5, R6 ; // barrier=20/20 selected=40
			@P0 BRA ` + "`(loop)" + ` ;
			EXIT ;`, speedup: 1.25},
		{name: "near miss: behind it warps would wait for shared memory", source: `
			STS [R8], R4 ;
			BAR.SYNC 0x0 ;
			loop: LDS.U R4, [R2] ; // selected=40
			BAR.SYNC 0x0 ;
			use: FADD R6, R4, R6 ; // barrier=20/20 selected=40
			@P0 BRA ` + "`(loop)" + ` ;
			EXIT ;`},
		{name: "its stall count and the queue before it", source: `
			STS [R8], R4 ;
			BAR.SYNC 0x0 ;
			LDS.U R4, [R2] ; // selected=40
			[B------:R-:W-:-:S05] BAR.SYNC 0x0 ; // mio_throttle=10/10
			use: LDS.U R6, [R2] ; // wait=10/10 selected=40
			EXIT ;`, speedup: 1.25},
		{name: "near miss: a store behind it", source: between("STS [R2], R6")},
		{name: "near miss: an atomic operation behind it", source: between("ATOMS.ADD R6, [R2], R4")},
		{name: "near miss: a store in the next round", source: `
			loop: LDS.U R4, [R2] ; // barrier=20/20 selected=40
			BAR.SYNC 0x0 ; // selected=40
			STS [R8], R4 ;
			@P0 BRA ` + "`(loop)" + ` ;
			EXIT ;`},
		{name: "near miss: a function is called", source: between("CALL.REL.NOINC 0x0")},
	})
}

// TestDiffuse holds that advice whose places are many and cold says so and comes after what is about a few.
func TestDiffuse(t *testing.T) {
	p := sasstest.New(t, strings.Repeat(`
		[B------:R-:W0:-:S01] MUFU.RSQ R4, R2 ;
		[B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // short_scoreboard=1/1`, 60)+`
		BAR.SYNC 0x0 ;
		FADD R6, R4, R8 ; // barrier=20/20 selected=20
		EXIT ;`)
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	advice, err := Advise(r, Options{Optimizers: []Optimizer{strengthReduction{}, warpBalance{}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(advice) != 2 || advice[0].Optimizer != "warp-balance" || advice[0].Diffuse || !advice[1].Diffuse || advice[1].Speedup < advice[0].Speedup {
		t.Errorf("%+v", advice)
	}
}

func TestOccupancyIncrease(t *testing.T) {
	const program = `
		[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=10
		[B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=90/90
		EXIT ;`
	launch := func(blocks, shared, registers int) func(*sasstest.Program) {
		return func(p *sasstest.Program) {
			f := &p.Launch.Facts
			f.SMs, f.SchedulersPerSM, f.SharedStatic, f.Registers = 80, 4, shared, registers
			p.Launch.Grid, p.Launch.Block = [3]int{blocks, 1, 1}, [3]int{128, 1, 1}
		}
	}
	more := func(now, then float64) float64 { return IssueRate(.1, then) / IssueRate(.1, now) }
	// So many values are made before the first is used.
	alive := func(values int) string {
		var made, used strings.Builder
		for r := 9; r < 9+values; r++ {
			fmt.Fprintf(&made, "IADD3 R%d, R3, %#x, RZ ; // executed=8\n", r, r)
			fmt.Fprintf(&used, "IADD3 R8, R8, R%d, RZ ; // executed=8\n", r)
		}
		return made.String() + used.String() + `
			[B------:R-:W0:-:S01] MUFU.RCP R4, R2 ; // executed=8 selected=10
			[B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // executed=8 short_scoreboard=90/90
			EXIT ; // executed=8`
	}
	// Of the warps so many store.
	storing := func(warps int) string {
		return fmt.Sprintf(`
			[B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=10 executed=38400 threads=1228800
			[B0-----:R-:W-:-:S01] ISETP.NE.AND P0, PT, R4, RZ, PT ; // long_scoreboard=90/90 executed=38400 threads=1228800
			@P0 EXIT ; // executed=38400 threads=1228800
			STG.E.SYS [R2], R4 ; // executed=%d threads=%d
			EXIT ; // executed=%d threads=%d`, warps, 32*warps, warps, 32*warps)
	}
	checkOptimizer(t, occupancyIncrease{}, []optimizerCase{
		{name: "most warps have nothing to do", source: storing(9600), change: launch(9600, 0, 32), speedup: more(4, 8), says: []string{"25% come to", "blocks of 32 threads"}},
		{name: "near miss: most warps have work", source: storing(24000), change: launch(9600, 0, 32)},
		{name: "shared memory", source: program, change: launch(960, 48<<10, 32), speedup: more(2, 4), says: []string{"limited by shared memory", "49152 bytes"}},
		{name: "registers", source: program, change: launch(3200, 0, 128), speedup: more(4, 8), says: []string{"limited by registers", "__launch_bounds__(128, 8)"}},
		{name: "values in fewer registers", source: alive(40), change: launch(3200, 0, 128), speedup: more(4, 8), says: []string{"__launch_bounds__(128, 8)"}},
		{name: "values in some fewer registers", source: alive(70), change: launch(3200, 0, 128), speedup: more(4, 7), says: []string{"__launch_bounds__(128, 7)"}},
		{name: "near miss: values need their registers", source: alive(110), change: launch(3200, 0, 128)},
		{name: "near miss: no blocks are left", source: program, change: launch(160, 48<<10, 32)},
		{name: "near miss: the number of threads", source: program, change: launch(9600, 0, 16)},
	})
}

// Loops in which neighbouring threads take neighbouring elements: vectors, where the threads put together what they have.
func TestWideRounds(t *testing.T) {
	loop := func(label, sum string) string {
		return `
			` + label + `: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=4 executed=2048 threads=65536 sectors=8192/8192
			[B0-----:R-:W-:-:S01] ` + sum + ` ; // long_scoreboard=30/30 selected=4 executed=2048 threads=65536
			IADD3 R2, P0, R2, 0x400, RZ ; // selected=4 executed=2048 threads=65536
			IADD3.X R3, RZ, R3, RZ, P0, !PT ; // selected=4 executed=2048 threads=65536
			ISETP.NE.AND P1, PT, R2, R8, PT ; // selected=4 executed=2048 threads=65536
			@P1 BRA ` + "`(" + label + ")" + ` ; // executed=2048 threads=65536`
	}
	const begin = "MOV R6, RZ ; // executed=64"
	const together = `
			[B------:R-:W1:-:S01] SHFL.BFLY PT, R7, R6, 0x1, 0x1f ; // executed=64 threads=2048
			[B-1----:R-:W-:-:S01] FADD R6, R6, R7 ; // executed=64 threads=2048`
	const end = `
			STG.E.SYS [R10], R6 ; // executed=64 threads=2048 sectors=256/256
			EXIT ;`
	grid := shape(8, 256)
	checkOptimizer(t, vectorAccess{}, []optimizerCase{
		{name: "a sum of all threads", source: begin + loop("loop", "FADD R6, R4, R6") + together + end, change: grid, speedup: 50. / (50 - .75*42), says: []string{"4 neighbouring elements a round", "16 bytes"}},
		{name: "near miss: a sum of each thread", source: begin + loop("loop", "FADD R6, R4, R6") + end, change: grid},
		{name: "near miss: what a round has depends on the one before", source: begin + loop("loop", "FFMA R6, R6, R9, R4") + together + end, change: grid},
		{name: "two loops", source: begin + loop("loop", "FADD R6, R4, R6") + together + loop("second", "FADD R6, R4, R6") + together + end, change: grid, speedup: 50. / (50 - .75*42), says: []string{"In the loops at"}},
	})
}

// TestTranspositions holds which scattered accesses are told to go through shared memory.
func TestTranspositions(t *testing.T) {
	const rows = `
			LDG.E.SYS R4, [R2] ; // executed=10 threads=320 sectors=40/40
			STG.E.SYS [R6], R4 ; // selected=5 executed=10 threads=320 sectors=320/40
			tail: FADD R20, R20, R21 ; // selected=75
			EXIT ; // drain=20/20 executed=10`
	for _, c := range []struct {
		name, source string
		groups       int
	}{
		{"rows to columns", rows, 1},
		{"columns to rows", strings.NewReplacer("sectors=40/40", "sectors=320/40", "sectors=320/40", "sectors=40/40").Replace(rows), 1},
		{"near miss: one order of the threads fits both", strings.Replace(rows, "sectors=40/40", "sectors=320/40", 1), 0},
		{"near miss: members of a structure", strings.Replace(rows, "tail:", "STG.E.SYS [R6+0x4], R5 ; // executed=10 threads=320 sectors=320/40\n tail:", 1), 0},
		{"near miss: one value for all", strings.Replace(rows, "sectors=40/40", "sectors=10/10", 1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			in := NewInput(r)
			if got := len(in.transpositions(in.scattered())); got != c.groups {
				t.Errorf("%d groups, want %d", got, c.groups)
			}
		})
	}
}
