package advisor

import (
	"math"
	"strings"
	"testing"

	"gpa/blamer/sasstest"
)

// A loop that loads four values and multiplies each of two with each of the other two.
const outerProduct = `
	loop: [B------:R-:W0:-:S01] LDS.U.64 R4, [R2] ; // executed=100 wavefronts=200/200
	[B------:R-:W0:-:S01] LDS.U.64 R6, [R3] ; // executed=100 wavefronts=200/200
	[B0-----:R-:W-:-:S02] FMA R10, R4, R6, R10 ; // selected=10 short_scoreboard=20/20 executed=100
	[B------:R-:W-:-:S02] FMA R11, R4, R7, R11 ; // selected=10 executed=100
	[B------:R-:W-:-:S02] FMA R12, R5, R6, R12 ; // selected=10 executed=100
	[B------:R-:W-:-:S02] FMA R13, R5, R7, R13 ; // selected=10 executed=100
	@P0 BRA ` + "`(loop)" + ` ; // executed=100` + rest + `40
	EXIT ;`

func TestTensorCores(t *testing.T) {
	with := func(op, source string) string { return strings.ReplaceAll(source, "FMA ", op+" ") }
	a100 := func(p *sasstest.Program) { p.Launch.GPU = "a100" }
	// 40 samples of multiply-adds at 32 a cycle instead of 128. A warp has 16 x 16 sums; 32 factors of 2 bytes, each twice on Volta, take
	// 1 pass for the 4 of now. On an A100 16 a cycle instead of 128, and 8 * sqrt(2) columns and rows of 4 bytes.
	const halves, tf32 = 40*.75 + 20*(1-1./4), 40*.875 + 20*(1-2*8*math.Sqrt2*4/128/4)
	checkOptimizer(t, tensorCores{}, []optimizerCase{
		{name: "halves", source: with("HFMA2", outerProduct), speedup: 100. / (100 - halves), says: []string{"HFMA2, 32 multiply-adds", "128 in half precision", "wmma"}},
		{name: "TF32", source: with("FFMA", outerProduct), change: a100, speedup: 100. / (100 - tf32), says: []string{"TF32 keeps 10 bits"}},
		{name: "near miss: single precision on Volta", source: with("FFMA", outerProduct)},
		{name: "near miss: no tensor cores", source: with("HFMA2", outerProduct), change: func(p *sasstest.Program) { p.Launch.GPU = "gtx1660s" }},
		{name: "near miss: scalar products", source: `
			loop: [B------:R-:W0:-:S01] LDS.U.64 R4, [R2] ; // executed=100 wavefronts=200/200
			[B------:R-:W0:-:S01] LDS.U.64 R6, [R3] ; // executed=100 wavefronts=200/200
			[B0-----:R-:W-:-:S02] HFMA2 R10, R4, R6, R10 ; // selected=20 short_scoreboard=20/20 executed=100
			HFMA2 R11, R5, R7, R11 ; // selected=20 executed=100
			@P0 BRA ` + "`(loop)" + ` ; // executed=100` + rest + `40
			EXIT ;`},
		{name: "near miss: a convolution", source: `
			loop: [B------:R-:W0:-:S01] LDS.U.64 R4, [R2] ; // executed=100 wavefronts=200/200
			[B------:R-:W0:-:S01] LDS.U.128 R16, [R3] ; // executed=100 wavefronts=200/200
			[B0-----:R-:W-:-:S02] HFMA2 R10, R4, R16, R10 ; // selected=20 short_scoreboard=20/20 executed=100
			HFMA2 R11, R4, R17, R11 ; // selected=20 executed=100
			HFMA2 R10, R5, R17, R10 ; // selected=20 executed=100
			HFMA2 R11, R5, R18, R11 ; // selected=20 executed=100
			@P0 BRA ` + "`(loop)" + ` ; // executed=100` + rest + `40
			EXIT ;`},
		{name: "near miss: a factor that is computed", source: `
			loop: [B------:R-:W0:-:S01] LDS.U.64 R4, [R2] ; // executed=100 wavefronts=200/200
			[B0-----:R-:W-:-:S02] HADD2 R6, R20, R21 ; // executed=100
			[B0-----:R-:W-:-:S02] HMUL2 R7, R20, R21 ; // executed=100
			HFMA2 R10, R4, R6, R10 ; // selected=20 executed=100
			HFMA2 R11, R4, R7, R11 ; // selected=20 executed=100
			HFMA2 R12, R5, R6, R12 ; // selected=20 executed=100
			HFMA2 R13, R5, R7, R13 ; // selected=20 executed=100
			@P0 BRA ` + "`(loop)" + ` ; // executed=100` + rest + `40
			EXIT ;`},
	})
}
