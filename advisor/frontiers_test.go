package advisor

import (
	"math"
	"strings"
	"testing"

	"gpa/cubin/cfg"
)

// sharedArm is an if with two conditions and a shared arm, which is come to from two branches, and which warps execute as often as
// threads come there apart. The comments are what a profile says of 100 warps.
var sharedArm = `
	S2R R2, SR_TID.X ; // executed=100 threads=3200
	ISETP.GE.AND P0, PT, R2, 0x8, PT ; // executed=100 threads=3200
	ISETP.GE.AND P1, PT, R2, 0x4, PT ; // selected=10 executed=100 threads=3200
	@P0 BRA ` + "`(arm)" + ` ; // selected=10 executed=100 threads=3200
	FADD R4, R4, R5 ; // selected=10 executed=100 threads=1600
	@P1 BRA ` + "`(other)" + ` ; // selected=10 executed=100 threads=1600
	arm: FADD R6, R4, R5 ; // selected=10 executed=200 threads=2400
	` + strings.Repeat("FADD R6, R4, R5 ; // selected=10 executed=200 threads=2400\n", 19) + `
	BRA ` + "`(end)" + ` ; // executed=200 threads=2400
	other: FADD R8, R4, R5 ; // selected=20 executed=100 threads=800
	EXIT ; // executed=100 threads=800
	end: FADD R9, R6, R5 ; // executed=200 threads=2400
	EXIT ; // executed=200 threads=2400`

func TestTFReconvergence(t *testing.T) {
	checkOptimizer(t, tfReconvergence{}, []optimizerCase{
		// Of 5,400 instructions half of those of the arm go; BMOV, BSSY and BREAK come, and BSYNC in place of a branch.
		{name: "a shared arm is executed twice", source: sharedArm, speedup: 260. / (260 - 200*.5 + 260.*300/5400),
			says: []string{"2.0 times as often", "gpa rewrite --reconverge tf"}},
		{name: "near miss: a barrier at the join", source: `
			BSSY B0, ` + "`(arm)" + ` ; // executed=100 threads=3200
			@P0 BRA ` + "`(wait)" + ` ; // selected=10 executed=100 threads=3200
			FADD R4, R4, R5 ; // selected=10 executed=100 threads=1600
			@P1 BREAK B0 ; // executed=100 threads=800
			@P1 BRA ` + "`(other)" + ` ; // selected=10 executed=100 threads=1600
			wait: BSYNC B0 ; // executed=200 threads=2400
			arm: FADD R6, R4, R5 ; // selected=50 executed=100 threads=2400
			EXIT ; // executed=100 threads=2400
			other: FADD R8, R4, R5 ; // selected=20 executed=100 threads=800
			EXIT ; // executed=100 threads=800`},
		{name: "near miss: structured", source: `
			@P0 BRA ` + "`(arm)" + ` ; // selected=10 executed=100 threads=3200
			FADD R4, R4, R5 ; // selected=40 executed=100 threads=1600
			arm: FADD R6, R4, R5 ; // selected=50 executed=200 threads=3200
			EXIT ; // executed=200 threads=3200`},
		{name: "near miss: whole warps take each way", source: `
			FADD R2, R2, R3 ; // selected=20 executed=100 threads=3200
			@P0 BRA ` + "`(arm)" + ` ; // executed=100 threads=3200
			FADD R4, R4, R5 ; // selected=20 executed=50 threads=1600
			@P1 BRA ` + "`(other)" + ` ; // executed=50 threads=1600
			arm: FADD R6, R4, R5 ; // selected=40 executed=75 threads=2400
			EXIT ; // executed=75 threads=2400
			other: FADD R8, R4, R5 ; // selected=20 executed=25 threads=800
			EXIT ; // executed=25 threads=800`},
		{name: "near miss: no counters", source: `
			@P0 BRA ` + "`(arm)" + ` ; // selected=20
			FADD R4, R4, R5 ; // selected=20
			@P1 BRA ` + "`(other)" + ` ;
			arm: FADD R6, R4, R5 ; // selected=40
			EXIT ;
			other: FADD R8, R4, R5 ; // selected=20
			EXIT ;`},
	})
}

// TestRestructure has loops that are left from the middle, with a join in the middle, around which 32 threads of a warp go ten
// times on average: the last of them stays about 40.6 rounds, the 32nd harmonic number times ten.
func TestRestructure(t *testing.T) {
	loop := func(around string) string {
		body := strings.Repeat("FADD R4, R4, R5 ; // "+around+"\n", 36)
		return `
			FADD R2, R2, R3 ; // selected=10 executed=100 threads=3200
			head: FADD R4, R4, R5 ; // selected=30 ` + around + `
			@P1 BRA ` + "`(out)" + ` ; // ` + around + `
			@P0 BRA ` + "`(latch)" + ` ; // ` + around + `
			FADD R6, R6, R7 ; // executed=1600 threads=16000
			latch: FADD R8, R8, R9 ; // selected=30 ` + around + "\n" + body + `
			@P2 BRA ` + "`(head)" + ` ; // ` + around + `
			FADD R8, R8, R9 ; // selected=10 executed=100 threads=1600
			EXIT ; // executed=100 threads=1600
			out: FADD R10, R10, R11 ; // selected=20 executed=100 threads=1600
			FADD R10, R10, R11 ; // executed=100 threads=1600
			EXIT ; // executed=100 threads=1600`
	}
	need := 100 * 10 * harmonic(32)
	rounds := 100. / (41*8000 + 1600 + 6*100) * cutInstructions * need // samples that the flag costs
	checkOptimizer(t, restructure{}, []optimizerCase{
		{name: "the groups go round apart", source: loop("executed=8000 threads=32000"), speedup: 100. / (100 - 60*(1-need/8000) + rounds),
			says: []string{"Loop with several exits", "Set a flag"}},
		{name: "near miss: the flag would cost more", source: strings.ReplaceAll(loop("executed=8000 threads=32000"), "FADD R4, R4, R5 ; // executed=8000 threads=32000\n", "")},
		{name: "near miss: the groups go round together", source: loop("executed=1600 threads=32000")},
		{name: "near miss: only copies would make it structured", source: sharedArm},
	})
}

// TestVisits works out how often the blocks of a loop that is left in two places have to be executed.
func TestVisits(t *testing.T) {
	v := &visits{
		shape: &cfg.Shape{Exit: -1, Succs: [][]int{{1}, {2, 3}, {1, 3}, {}}},
		have:  []float64{10, 1000, 900, 100}, threads: []float64{320, 3200, 2880, 320},
		need: make([]float64, 4), preds: [][]int{nil, {0, 2}, {1}, {1, 2}},
	}
	var err error
	if v.frontiers, err = v.shape.Frontiers(v.shape.Order()); err != nil {
		t.Fatal(err)
	}
	v.nest()
	v.need = v.require(func(int) bool { return true })
	// 10 warps enter with 32 threads, which go round 10 times on average: the last of 32 stays about 40.6 rounds.
	head := 10 * 10 * harmonic(32)
	for node, want := range []float64{10, head, head, 10} {
		if math.Abs(v.need[node]-want) > 1e-9 {
			t.Errorf("node %d: %g, want %g", node, v.need[node], want)
		}
	}
	if share := v.again(3); share != 0.9 {
		t.Errorf("%g of the executions behind the loop go", share)
	}
	if got := harmonic(4); math.Abs(got-25./12) > 1e-12 {
		t.Errorf("harmonic(4) = %g", got)
	}
}
