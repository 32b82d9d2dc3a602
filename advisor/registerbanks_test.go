package advisor

import "testing"

func TestRegisterBanks(t *testing.T) {
	// On a V100 three operands of one bank take a cycle more than the two that the pipe takes anyway.
	loop := func(instruction string) string {
		return `
			first: ` + instruction + ` ; // selected=20 math_pipe_throttle=40/40 executed=100
			FFMA R11, R4, R9, R11 ; // selected=20 executed=100` + rest + `20
			EXIT ;`
	}
	checkOptimizer(t, registerBanks{}, []optimizerCase{
		{name: "three of one bank", source: loop("FFMA R10, R4, R6, R8"), speedup: 100. / (100 - 30), // one of two instructions, 60 active
			says: []string{"R4, R6, R8", "multiple of 2", "float4", "unroll"}},
		{name: "the pipe is waited for less than it is held", source: `
			FFMA R10, R4, R6, R8 ; // selected=20 math_pipe_throttle=5/5 executed=100
			FFMA R11, R4, R9, R11 ; // selected=20 executed=100` + rest + `55
			EXIT ;`, speedup: 100. / (100 - 5)},
		{name: "near miss: two of one bank", source: loop("FFMA R10, R4, R7, R8")},
		{name: "near miss: nobody waits for the pipe", source: `
			FFMA R10, R4, R6, R8 ; // selected=20 long_scoreboard=40/40 executed=100
			FFMA R11, R4, R9, R11 ; // selected=20 executed=100` + rest + `20
			EXIT ;`},
		{name: "near miss: an operand kept for reuse", source: `
			FFMA R12, R4.reuse, R9, R11 ; // selected=20 executed=100
			FFMA R10, R4, R6, R8 ; // selected=20 math_pipe_throttle=40/40 executed=100` + rest + `20
			EXIT ;`},
	})
}
