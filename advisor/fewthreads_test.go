package advisor

import (
	"testing"

	"gpa/blamer/sasstest"
	"gpa/profiler"
)

// TestWavefront has one warp that fills in a table whose cells need those before them, and the same in one loop, whose rounds are a chain.
func TestWavefront(t *testing.T) {
	const table = `
		MOV R11, RZ ; // executed=1 threads=32
		outer: IADD3 R9, RZ, 0x0, RZ ; // selected=1 executed=16 threads=512
		cell: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=8 executed=256 threads=8192
		[B0-----:R-:W-:-:S01] FADD R4, R4, R5 ; // long_scoreboard=80 executed=256 threads=8192
		store: STG.E.SYS [R2+0x4], R4 ; // executed=256 threads=8192
		IADD3 R2, R2, 0x4, RZ ; // executed=256 threads=8192
		IADD3 R9, R9, 0x1, RZ ; // executed=256 threads=8192
		ISETP.NE.AND P0, PT, R9, R10, PT ; // selected=1 executed=256 threads=8192
		@P0 BRA ` + "`(cell)" + ` ; // executed=256 threads=8192
		IADD3 R11, R11, 0x1, RZ ; // executed=16 threads=512
		ISETP.NE.AND P1, PT, R11, R12, PT ; // executed=16 threads=512
		@P1 BRA ` + "`(outer)" + ` ; // executed=16 threads=512
		EXIT ; // executed=1 threads=32`
	const chain = `
		cell: [B------:R-:W0:-:S01] LDG.E.SYS R4, [R2] ; // selected=8 executed=256 threads=8192
		[B0-----:R-:W-:-:S01] FADD R4, R4, R5 ; // long_scoreboard=80 executed=256 threads=8192
		store: STG.E.SYS [R2+0x4], R4 ; // executed=256 threads=8192
		IADD3 R2, R2, 0x4, RZ ; // executed=256 threads=8192
		ISETP.NE.AND P0, PT, R2, R10, PT ; // executed=256 threads=8192
		@P0 BRA ` + "`(cell)" + ` ; // executed=256 threads=8192
		EXIT ; // executed=1 threads=32`
	launched := func(blocks int, loops ...string) func(*sasstest.Program) {
		return recorded(func(p *sasstest.Program, r *profiler.Record) {
			shape(blocks, 32)(p)
			for _, loop := range loops { // of whose earlier rounds a cell reads
				r.Dependences = append(r.Dependences, profiler.Dependence{Kind: profiler.FlowDependence, From: at(p, "store"), To: at(p, "cell"), Party: profiler.SameThread, Space: "global",
					Carried: true, Loop: at(p, loop), Bytes: 4})
			}
		})
	}
	checkOptimizer(t, workDistribution{}, []optimizerCase{
		{name: "cells that need their neighbours", source: table, change: launched(1, "outer", "cell"), speedup: 16, says: []string{"16 x 16 rounds", "anti-diagonal", "__syncthreads()"}},
		{name: "near miss: blocks for all SMs", source: table, change: launched(1<<16, "outer", "cell")},
		{name: "near miss: a chain", source: chain, change: launched(1, "cell")},
	})
}
