package advisor

import (
	"strings"
	"testing"
)

// alikeOnly is the advice about arithmetic that all threads of a row do alike, without what else strength-reduction says.
type alikeOnly struct{ strengthReduction }

func (alikeOnly) Match(in *Input) []*Match { return in.alike() }

// TestAlike has arithmetic of doubles that depends on parameters and the number of the block alone, and such that the thread's own number goes into.
func TestAlike(t *testing.T) {
	const source = `
		S2R R0, SR_CTAID.X ; // executed=8 threads=256
		I2F.F64 R2, R0 ; // executed=8 threads=256
		DFMA R4, R2, R2, c[0x0][0x160] ; // selected=10 math_pipe_throttle=30 executed=8 threads=256
		DMUL R6, R4, R4 ; // selected=10 math_pipe_throttle=30 executed=8 threads=256
		STG.E.64.SYS [R8], R6 ; // selected=20 executed=8 threads=256
		EXIT ; // executed=8 threads=256`
	checkOptimizer(t, alikeOnly{}, []optimizerCase{
		{name: "of the block", source: source, speedup: 5, says: []string{"compute the same", "into an array", "shared memory"}},
		{name: "near miss: of the thread", source: strings.Replace(source, "SR_CTAID.X", "SR_TID.X", 1)},
		{name: "near miss: of data", source: strings.Replace(source, "S2R R0, SR_CTAID.X", "S2R R10, SR_TID.X ; // executed=8 threads=256\n\t\tLDG.E.SYS R0, [R10]", 1)},
	})
	const quotients = `
		S2R R0, SR_TID.X ; // executed=8 threads=256
		I2F.F64 R2, R0 ; // executed=8 threads=256
		MUFU.RCP64H R9, c[0x0][0x164] ; // selected=2 executed=8 threads=256
		MOV R10, c[0x0][0x160] ; // executed=8 threads=256
		MOV R11, c[0x0][0x164] ; // executed=8 threads=256
		MOV R8, 0x1 ; // executed=8 threads=256
		DFMA R14, R8, -R10, 1 ; // selected=10 executed=8 threads=256
		DFMA R14, R8, R14, R8 ; // selected=10 executed=8 threads=256
		DMUL R12, R2, R14 ; // selected=10 executed=8 threads=256
		DFMA R16, R12, -R10, R2 ; // selected=10 executed=8 threads=256
		DFMA R12, R14, R16, R12 ; // selected=10 executed=8 threads=256
		STG.E.64.SYS [R18], R12 ; // selected=10 executed=8 threads=256
		EXIT ; // executed=8 threads=256`
	checkOptimizer(t, alikeOnly{}, []optimizerCase{
		{name: "divisions by a parameter", source: quotients, speedup: 62. / 20, says: []string{"divisions of doubles", "reciprocal"}},
	})
}
