package advisor

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// at is the place of an instruction of a program.
func at(p *sasstest.Program, label string) profiler.Place {
	return profiler.Place{PC: uint64(p.Labels[label]) * sass.InstSize}
}

// recorded gives a program a record.
func recorded(fill func(p *sasstest.Program, r *profiler.Record)) func(*sasstest.Program) {
	return func(p *sasstest.Program) {
		p.Launch.Record = &profiler.Record{Blocks: []int{0}}
		fill(p, p.Launch.Record)
		p.Launch.Record.Sort()
	}
}

// What the record tells of a barrier goes before what the code does.
func TestRedundantBarrierByRecord(t *testing.T) {
	const source = `
		STS [R8], R4 ;
		first: BAR.SYNC 0x0 ;
		LDS.U R4, [R2] ; // selected=40
		BAR: BAR.SYNC 0x0 ; // selected=20
		use: LDS.U R5, [R2] ; // barrier=20/20 selected=20
		EXIT ;`
	barrier := func(b profiler.BarrierRecord) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			b.Place = at(p, "BAR")
			r.Barriers = []profiler.BarrierRecord{b}
		})
	}
	checkOptimizer(t, redundantBarrier{}, []optimizerCase{
		{name: "it orders nothing", source: source, change: barrier(profiler.BarrierRecord{Episodes: 8}), speedup: 100. / 60},
		{name: "near miss: it orders different warps", source: source, change: barrier(profiler.BarrierRecord{Episodes: 8, Between: 1})},
		{name: "near miss: it orders lanes of a warp", source: source, change: barrier(profiler.BarrierRecord{Episodes: 8, Within: 1})},
		{name: "near miss: it is for a part of the threads", source: source, change: barrier(profiler.BarrierRecord{Episodes: 8, Partial: true})},
		{name: "near miss: the blocks watched did not come to it", source: source, change: recorded(func(*sasstest.Program, *profiler.Record) {})},
		{name: "near miss: it orders with itself what no other barrier does", source: source, change: recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Barriers = []profiler.BarrierRecord{{Place: at(p, "BAR"), Episodes: 8}}
			r.Together = [][]profiler.Place{{at(p, "BAR")}}
		})},
	})
}

// Of two barriers one behind the other, of which either would do, one stays.
func TestOneOfTwoBarriersStays(t *testing.T) {
	p := sasstest.New(t, `
		STS [R8], R4 ; // selected=40
		first: BAR.SYNC 0x0 ; // selected=5
		MOV R9, R8 ; // barrier=20/20
		second: BAR.SYNC 0x0 ;
		LDS.U R5, [R2] ; // barrier=10/10 selected=25
		EXIT ;`)
	in := inputOf(t, p)
	blames := in.redundantBarriers()
	if len(blames) != 1 || in.recordPlace(blames[0].Def) != at(p, "first") {
		t.Fatalf("%d blames, want that of the first barrier, which costs more", len(blames))
	}
}

func inputOf(t *testing.T, p *sasstest.Program) *Input {
	t.Helper()
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewInput(r)
}

// Recurrences through registers, reductions and induction variables.
func TestRecurrence(t *testing.T) {
	loop := func(body string) string {
		return "loop: " + body + `
			IADD3 R5, R5, 0x1, RZ ; // selected=9
			ISETP.LT.AND P0, PT, R5, 0x40, PT ;
			@P0 BRA ` + "`(loop)" + ` ;
			EXIT ;`
	}
	for _, c := range []struct {
		name, body string
		recurs     bool
	}{
		{"a sum", "FADD R4, R4, R8 ;", false},
		{"a sum of products", "FFMA R4, R8, R9, R4 ;", false},
		{"a sum in two parts", "FADD R4, R4, R8 ; FFMA R4, R8, R9, R4 ;", false},
		{"a sum of what is loaded", "LDG.E.SYS R8, [R2] ; FADD R4, R8, R4 ; IADD3 R2, R2, 0x4, RZ ;", false},
		{"a conditional sum", "ISETP.GT.AND P1, PT, R8, R9, PT ; @P1 IADD3 R4, R4, R8, RZ ;", false},
		{"a sum by IMAD.IADD", "IMAD.IADD R4, R4, 0x1, R8 ;", false},
		{"a sum by IMAD.IADD, the other way round", "IMAD.IADD R4, R8, 0x1, R4 ;", false},
		{"y * x + 1", "IMAD R4, R4, R8, 0x1 ;", true},
		{"what is left of a range", "ISETP.GT.AND P1, PT, R4, RZ, PT ; SEL R6, RZ, 0xffffffff, !P1 ; IMAD.IADD R4, R4, 0x1, R6 ; SEL R9, RZ, 0x1, !P1 ; IADD3 R5, R5, R9, RZ ; SEL R7, R5, RZ, P1 ;", false},
		{"what is left of a range that data end", "LDG.E.SYS R8, [R2] ; ISETP.GT.AND P1, PT, R8, RZ, PT ; SEL R6, RZ, 0xffffffff, !P1 ; IADD3 R4, R4, R6, RZ ; STG.E.SYS [R2+0x4], R4 ;", true},
		{"differences", "ISETP.GT.AND P1, PT, R4, R5, PT ; @P1 IADD3 R4, R4, -R5, RZ ; @!P1 IADD3 R5, R5, -R4, RZ ;", true},
		{"a product", "FMUL R4, R4, R8 ;", false},
		{"a maximum", "FMNMX R4, R4, R8, !PT ;", false},
		{"a maximum of doubles", "DSETP.MAX.AND P2, P3, R14, R8, PT ; MOV R6, R15 ; FSEL R7, R6, R9, P2 ; SEL R14, R14, R8, P2 ; @P3 LOP3.LUT R7, R9, 0x80000, RZ, 0xfc, !PT ; MOV R15, R7 ;", false},
		{"a maximum and a minimum", "DSETP.MAX.AND P2, P3, R14, R8, PT ; FSEL R15, R15, R9, P2 ; SEL R14, R14, R8, P2 ; DSETP.MIN.AND P2, P3, R14, R10, PT ; FSEL R15, R15, R11, P2 ; SEL R14, R14, R10, P2 ;", true},
		{"bits", "LOP3.LUT R4, R4, R8, RZ, 0xfc, !PT ;", false},
		{"parity", "LOP3.LUT R4, R4, R8, RZ, 0x3c, !PT ;", false},
		{"a double sum", "DADD R6, R6, R8 ;", false},
		{"a 64-bit address", "LDG.E.SYS R8, [R2] ; IADD3 R2, P1, R2, 0x4, RZ ; IADD3.X R3, R3, RZ, RZ, P1, !PT ;", false},
		{"a value of the round before alone", "MOV R9, R8 ; LDG.E.SYS R8, [R5] ; FADD R4, R4, R9 ;", false},
		{"an address that advances by a register", "LDG.E.SYS R8, [R2] ; IMAD.WIDE R2, R12, 0x4, R2 ; FADD R4, R4, R8 ;", false},
		{"an address that advances by what the loop computes of constants", "LDG.E.SYS R8, [R2] ; SHF.L.U32 R13, R12, 0x2, RZ ; IADD3 R2, R2, R13, RZ ;", false},
		{"the high word of an address by IMAD.X", "LDG.E.SYS R8, [R2] ; IADD3 R2, P1, R2, 0x4, RZ ; IMAD.X R3, RZ, RZ, R3, P1 ;", false},
		{"a maximum by comparison", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; FSEL R4, R8, R4, P1 ;", false},
		{"a maximum by a guarded move", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; @P1 IMAD.MOV.U32 R4, RZ, RZ, R8 ;", false},
		{"the place of a maximum", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; FSEL R4, R8, R4, P1 ; SEL R9, R5, R9, P1 ;", false},
		{"a temporary under a guard", "FSETP.GT.AND P1, PT, R8, RZ, PT ; @P1 FADD R9, R8, 1 ; @P1 FADD R4, R4, R9 ;", false},
		{"a temporary under a guard that changes", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, RZ, PT ; @P1 FADD R9, R8, R9 ; FSETP.GT.AND P1, PT, R8, R10, PT ; @P1 FMUL R9, R9, R8 ;", true},
		{"an online softmax", "LDG.E.SYS R8, [R5] ; FMNMX R10, R4, R8, !PT ; FADD R11, R4, -R10 ; MUFU.EX2 R11, R11 ; FADD R12, R8, -R10 ; MUFU.EX2 R12, R12 ; FFMA R9, R9, R11, R12 ; MOV R4, R10 ;", false},
		{"an online softmax under a guard", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; @P1 FADD R10, R4, -R8 ; @P1 MUFU.EX2 R10, R10 ; @P1 MOV R4, R8 ; @P1 FMUL R9, R9, R10 ; FADD R11, R8, -R4 ; MUFU.EX2 R11, R11 ; FADD R9, R9, R11 ;", false},
		{"an extreme that each round stores", "LDG.E.SYS R8, [R5] ; FMNMX R4, R4, R8, !PT ; STG.E.SYS [R5], R4 ;", true},
		{"a count of extremes", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; FSEL R4, R8, R4, P1 ; @P1 IADD3 R9, R9, 0x1, RZ ;", true},
		{"an extreme that ends the loop", "LDG.E.SYS R8, [R5] ; FMNMX R4, R4, R8, !PT ; FSETP.GT.AND P1, PT, R4, R12, PT ; @P1 EXIT ;", true},
		{"a half that is put beside what was there", "LDG.E.U16.SYS R8, [R2] ; PRMT R4, R8, 0x7610, R4 ; STG.E.U16.SYS [R5], R4 ;", false},
		{"halves that change places", "LDG.E.U16.SYS R8, [R2] ; PRMT R4, R8, 0x5410, R4 ; STG.E.U16.SYS [R5], R4 ;", true},
		{"a choice by something else", "LDG.E.SYS R8, [R5] ; FSETP.GT.AND P1, PT, R8, R4, PT ; FSEL R4, R9, R4, P1 ;", true},
		{"an address that advances by what advances", "LDG.E.SYS R8, [R2] ; IADD3 R2, R2, R12, RZ ; IADD3 R12, R12, 0x4, RZ ;", true},
		{"y*.5 + 1", "FFMA R4, R4, R8, R9 ;", true},
		{"x - y", "FADD R4, R8, -R4 ;", true},
		{"a sum and a product", "FADD R4, R4, R8 ; FMUL R4, R4, R9 ;", true},
		{"a minimum of a maximum", "FMNMX R4, R4, R8, !PT ; FMNMX R4, R4, R9, PT ;", true},
		{"a sum that each round sees", "FADD R4, R4, R8 ; STG.E.SYS [R5], R4 ;", true},
		{"a list", "LDG.E.SYS R4, [R4] ;", true},
		{"a sum of loaded steps as an address", "LDG.E.SYS R8, [R4] ; IADD3 R4, R4, R8, RZ ;", true},
		{"y & x | z", "LDG.E.SYS R8, [R5] ; LOP3.LUT R4, R4, R8, R9, 0xea, !PT ;", true},
		{"a buffer that comes round again", "LDS.U R8, [R4] ; IADD3 R4, R4, 0x1, RZ ; ISETP.GE.AND P1, PT, R4, 0x3, PT ; SEL R4, RZ, R4, P1 ;", false},
		{"one of two buffers", "LDS.U R8, [R4] ; LOP3.LUT R4, R4, 0x1, RZ, 0x3c, !PT ;", false},
		{"a place that data move on", "LDS.U R8, [R4] ; ISETP.GE.AND P1, PT, R8, 0x3, PT ; SEL R9, RZ, 0x1, P1 ; IADD3 R4, R4, R9, RZ ;", true},
		{"doubling of both addends", "FADD R4, R4, R4 ;", true},
		{"an end that depends on what is loaded", "LDG.E.SYS R8, [R5] ; ISETP.EQ.AND P1, PT, R8, RZ, PT ; @P1 EXIT ;", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, loop(strings.ReplaceAll(c.body, "; ", ";\n")))
			in := inputOf(t, p)
			l := in.codes[0].graph.Loops[0]
			if n, found := in.recurrence(0, l); found != c.recurs {
				t.Errorf("recurrence %v at %s, want %v", found, in.Inst(n).Text(), c.recurs)
			}
		})
	}
}

// An inner loop's sum that begins anew in each round of the outer one is no recurrence of that.
func TestRecurrenceOfNestedLoops(t *testing.T) {
	in := inputOf(t, sasstest.New(t, `
		outer: MOV R4, RZ ; // selected=9
		inner: FFMA R4, R4, R8, R9 ;
		IADD3 R5, R5, 0x1, RZ ;
		ISETP.LT.AND P0, PT, R5, 0x40, PT ;
		@P0 BRA `+"`(inner)"+` ;
		MOV R5, RZ ;
		IADD3 R6, R6, 0x1, RZ ;
		ISETP.LT.AND P0, PT, R6, 0x40, PT ;
		@P0 BRA `+"`(outer)"+` ;
		EXIT ;`))
	for _, l := range in.codes[0].graph.Loops {
		if n, found := in.recurrence(0, l); found != (l.Parent != nil) {
			t.Errorf("loop of depth %d: recurrence %v at %s", l.Depth, found, in.Inst(n).Text())
		}
	}
}

// Loads of what the launch stores to are told neither to be constant nor restrict.
func TestWrittenLoads(t *testing.T) {
	load := func(stored int64) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			r.Loads = []profiler.LoadRecord{{Place: at(p, "def"), Bytes: 128, Distinct: 128, Stored: stored}}
		})
	}
	const again = `
		LDG.E.SYS R4, [R2] ;
		STG.E.SYS [R10], R12 ;
		def: [B------:R-:W0:-:S01] LDG.E.SYS R5, [R2] ;
		use: [B0-----:R-:W-:-:S01] FADD R6, R5, R6 ; // long_scoreboard=50/45
		FADD R7, R6, R6 ; // selected=50
		EXIT ;`
	checkOptimizer(t, restrictPointers{}, []optimizerCase{
		{name: "nobody stores there", source: again, change: load(0), speedup: 100. / 55},
		{name: "near miss: somebody does", source: again, change: load(32)},
	})
	const broadcast = `
		loop: nop: MOV R9, R9 ;
		def: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // executed=100 threads=3200 sectors=100/100
		use: [B0-----:R-:W-:-:S01] FADD R6, R4, R6 ; // long_scoreboard=50/45 executed=100 threads=3200
		@P0 BRA ` + "`(loop)" + ` ; // executed=100 threads=3200 selected=50
		EXIT ;`
	checkOptimizer(t, constantMemory{}, []optimizerCase{
		{name: "nobody stores there", source: strings.Replace(broadcast, "nop: ", "", 1), change: load(0), speedup: 2},
		{name: "near miss: somebody does", source: strings.Replace(broadcast, "nop: ", "", 1), change: load(4)},
	})
}

// A load of what the round before has stored cannot be under way before that has ended.
func TestLoadsThatFeedBack(t *testing.T) {
	p := sasstest.New(t, `
		loop: MOV R9, R9 ;
		def: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ;
		use: [B0-----:R-:W-:-:S01] FADD R6, R4, R8 ; // long_scoreboard=50/45
		store: STG.E.SYS [R2+0x4], R6 ;
		IADD3 R2, R2, 0x4, RZ ;
		@P0 BRA `+"`(loop)"+` ; // selected=50
		EXIT ;`)
	flow := profiler.Dependence{From: at(p, "store"), To: at(p, "def"), Space: "global", Carried: true, Loop: at(p, "loop"), Next: true, Bytes: 128}
	for _, c := range []struct {
		record *profiler.Record
		feeds  bool
		assume assumption
	}{
		{nil, false, assumedIndependent},
		{&profiler.Record{Stores: []profiler.StoreRecord{{Place: at(p, "store"), Bytes: 128}}}, false, ""},
		{&profiler.Record{Dependences: []profiler.Dependence{flow}}, true, ""},
	} {
		p.Launch.Record = c.record
		in := inputOf(t, p)
		l, def := in.codes[0].graph.Loops[0], blamer.Node{Inst: p.Labels["def"]}
		ordered, assumed := in.ordered(0, l)
		if in.waitsForRound(l, def) != c.feeds || ordered != c.feeds || assumed != c.assume {
			t.Errorf("%+v: waits %v, ordered %v, assumed %q", c.record, in.waitsForRound(l, def), ordered, assumed)
		}
	}
}

// A block can only have a copy of what atomics change where it knows which words these are, or has room for all of them.
func TestCopies(t *testing.T) {
	const indexed = `
		LDG.E.SYS R2, [R4] ; // executed=10 threads=320 sectors=40/40
		RED: RED.E.ADD.STRONG.GPU [R2], R5 ; // executed=10 threads=320
		EXIT ;`
	for _, c := range []struct {
		name, source string
		shared       int64
		bytes        int
		fit          bool
	}{
		{"bins of all blocks", indexed, 4096, 1024, true},
		{"near miss: each block changes other words", indexed, 0, 1024 * 1000, false},
		{"words of its own", strings.Replace(indexed, "R2, [R4]", "R7, [R4]", 1), 0, 1024, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			p.Launch.Grid = [3]int{1000, 1, 1}
			recorded(func(p *sasstest.Program, r *profiler.Record) {
				r.Blocks = []int{0, 1, 2, 3}
				r.Loads = []profiler.LoadRecord{{Place: at(p, "RED"), Bytes: 8192, Distinct: 4096, Shared: c.shared}}
			})(p)
			in := inputOf(t, p)
			bytes, fit := in.copies([]blamer.Node{nodeOf(at(p, "RED"))})
			if bytes != c.bytes || fit != c.fit {
				t.Errorf("%d bytes, fit %t, want %d, %t", bytes, fit, c.bytes, c.fit)
			}
		})
	}
}

// carriedFrom is a program in whose loop an instruction loads what the one at STORE has stored in the round before, by whom party says.
func carriedFrom(t *testing.T, source, load string, party profiler.Party) (*Input, *cfg.Loop) {
	t.Helper()
	p := sasstest.New(t, source)
	recorded(func(p *sasstest.Program, r *profiler.Record) {
		r.Dependences = []profiler.Dependence{{Kind: profiler.FlowDependence, From: at(p, "STORE"), To: at(p, load), Party: party, Space: "global",
			Carried: true, Loop: at(p, "loop"), Next: true, Bytes: 4}}
	})(p)
	in := inputOf(t, p)
	l := in.Loop(nodeOf(at(p, "loop")))
	if l == nil {
		t.Fatal("no loop")
	}
	return in, l
}

// Sums in memory could be in registers where a loop only adds to them.
func TestMemorySums(t *testing.T) {
	const sum = `
		loop: LDG.E.SYS R4, [R2] ;
		FADD R4, R4, R8 ;
		FFMA R4, R9, R10, R4 ;
		STORE: STG.E.SYS [R2], R4 ;
		IADD3 R5, R5, 0x1, RZ ; // selected=9
		ISETP.LT.AND P0, PT, R5, 0x40, PT ;
		@P0 BRA ` + "`(loop)" + ` ;
		EXIT ;`
	for _, c := range []struct {
		name, source string
		party        profiler.Party
		sums         int
		ordered      bool
	}{
		{"a sum", sum, profiler.SameThread, 2, false},
		{"near miss: another thread's", sum, profiler.SameBlock, 0, true},
		{"near miss: a recurrence", strings.Replace(sum, "R9, R10, R4", "R4, R10, R9", 1), profiler.SameThread, 0, true},
		{"near miss: the loop looks at it", strings.Replace(sum, "IADD3 R5", "FMUL R12, R4, R4 ;\n STG.E.SYS [R6], R12 ;\n IADD3 R5", 1), profiler.SameThread, 0, true},
		{"near miss: the place moves, atomics can add there in any order", strings.Replace(sum, "IADD3 R5", "IADD3 R2, R2, 0x4, RZ ;\n IADD3 R5", 1), profiler.SameThread, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := carriedFrom(t, c.source, "loop", c.party)
			if got := len(in.memorySums(0, l)); got != c.sums {
				t.Errorf("%d accesses, want %d", got, c.sums)
			}
			if ordered, _ := in.ordered(0, l); ordered != c.ordered {
				t.Errorf("ordered %t", ordered)
			}
		})
	}
}

// Counts at places that data name could be added atomically, in any order.
func TestMemoryCounts(t *testing.T) {
	const count = `
		loop: LDG.E.SYS R6, [R8] ;
		IMAD.WIDE R2, R6, R11, c[0x0][0x168] ;
		LOAD: LDG.E.SYS R4, [R2] ;
		IADD3 R4, R4, 0x1, RZ ;
		STORE: STG.E.SYS [R2], R4 ;
		IADD3 R8, R8, 0x4, RZ ;
		IADD3 R5, R5, 0x1, RZ ; // selected=9
		ISETP.LT.AND P0, PT, R5, 0x40, PT ;
		@P0 BRA ` + "`(loop)" + ` ;
		EXIT ;`
	rows := strings.NewReplacer("IMAD.WIDE", "inner: IMAD.WIDE", "IADD3 R8", "IADD3 R6, R6, 0x1, RZ ;\n ISETP.LT.AND P1, PT, R6, R14, PT ;\n @P1 BRA `(inner) ;\n IADD3 R8").Replace(count)
	for _, c := range []struct {
		name, source string
		party        profiler.Party
		counts       int
	}{
		{"counts", count, profiler.SameThread, 2},
		{"in a loop within", rows, profiler.SameThread, 2},
		{"near miss: others count too", count, profiler.SameWarp, 0},
		{"near miss: no addition", strings.Replace(count, "IADD3 R4, R4, 0x1, RZ", "SHF.L.U32 R4, R4, 0x1, RZ", 1), profiler.SameThread, 0},
		{"near miss: stored elsewhere", strings.Replace(count, "STG.E.SYS [R2], R4", "STG.E.SYS [R2+0x4], R4", 1), profiler.SameThread, 0},
		{"near miss: the loop looks at it", strings.Replace(count, "IADD3 R8", "FMUL R12, R4, R4 ;\n STG.E.SYS [R8], R12 ;\n IADD3 R8", 1), profiler.SameThread, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, l := carriedFrom(t, c.source, "LOAD", c.party)
			if got := len(in.memoryCounts(0, l)); got != c.counts {
				t.Errorf("%d accesses, want %d", got, c.counts)
			}
			if ordered, _ := in.ordered(0, l); ordered != (c.counts == 0) {
				t.Errorf("ordered %t", ordered)
			}
		})
	}
}

// What a thread has stored in the round before could stay in a register, also where the place moves.
func TestOwnValues(t *testing.T) {
	const prefix = `
		loop: LDG.E.SYS R4, [R2+-0x4] ;
		OTHER: LDG.E.SYS R6, [R8] ;
		IADD3 R4, R4, R6, RZ ;
		STORE: STG.E.SYS [R2], R4 ;
		IADD3 R2, R2, 0x4, RZ ;
		IADD3 R8, R8, 0x4, RZ ;
		IADD3 R5, R5, 0x1, RZ ; // selected=9
		ISETP.LT.AND P0, PT, R5, 0x40, PT ;
		@P0 BRA ` + "`(loop)" + ` ;
		EXIT ;`
	for _, c := range []struct {
		name  string
		party profiler.Party
		next  bool
		bytes int64
		own   int
	}{
		{"a prefix sum", profiler.SameThread, true, 96, 1},
		{"near miss: another thread's", profiler.SameWarp, true, 96, 0},
		{"near miss: some rounds before", profiler.SameThread, false, 96, 0},
		{"near miss: of few rounds", profiler.SameThread, true, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, prefix)
			recorded(func(p *sasstest.Program, r *profiler.Record) {
				r.Loads = []profiler.LoadRecord{{Place: at(p, "loop"), Bytes: 100}, {Place: at(p, "OTHER"), Bytes: 100}}
				r.Dependences = []profiler.Dependence{{Kind: profiler.FlowDependence, From: at(p, "STORE"), To: at(p, "loop"), Party: c.party, Space: "global",
					Carried: true, Loop: at(p, "loop"), Next: c.next, Bytes: c.bytes}}
			})(p)
			if got := len(inputOf(t, p).ownValues()); got != c.own {
				t.Errorf("%d loads, want %d", got, c.own)
			}
		})
	}
}

// TestAhead holds which loads of a loop can be issued a round ahead.
func TestAhead(t *testing.T) {
	p := sasstest.New(t, `
		loop: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ;
		[B0-----:R-:W-:-:S06] IADD3 R6, R4, R12, RZ ;
		behind: [B------:R-:W1:-:S01] LDG.E.SYS R5, [R6] ;
		ISETP.LT.AND P1, PT, R2, R9, PT ;
		@P1 BRA `+"`(skip)"+` ;
		some: [B------:R-:W2:-:S01] LDG.E.SYS R7, [R2+0x100] ;
		[B-12---:R-:W-:-:S04] FADD R8, R7, R5 ;
		skip: IADD3 R2, R2, 0x4, RZ ;
		predicated: [B------:R-:W3:-:S01] @P1 LDG.E.SYS R10, [R2+0x200] ;
		[B---3--:R-:W-:-:S04] FADD R11, R10, R11 ;
		ISETP.NE.AND P0, PT, R2, R9, PT ; // selected=9
		@P0 BRA `+"`(loop)"+` ;
		EXIT ;`)
	in := inputOf(t, p)
	got := in.ahead(0, in.Loop(nodeOf(at(p, "loop"))))
	if want := []blamer.Node{nodeOf(at(p, "loop")), nodeOf(at(p, "predicated"))}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
