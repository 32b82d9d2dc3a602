package advisor

import (
	"strings"
	"testing"
)

// wraparoundsOnly is the advice about negative indices, in a kernel of Numba's.
type wraparoundsOnly struct{ strengthReduction }

func (wraparoundsOnly) Match(in *Input) []*Match {
	in.language = numba
	return in.wraparounds(in.longDivisions())
}

// TestWraparounds has an index of 64 bits to which the length of an axis is added where it is negative, as Numba's compiler writes it.
func TestWraparounds(t *testing.T) {
	const source = `
		LDG.E.64.SYS R2, [R12] ; // executed=8 threads=256
		SHF.R.S32.HI R5, RZ, 0x1f, R3 ; // selected=10 executed=8 threads=256
		SHF.R.S32.HI R7, RZ, 0x1f, R3 ; // selected=10 executed=8 threads=256
		LOP3.LUT R5, R5, c[0x0][0x190], RZ, 0xc0, !PT ; // selected=10 executed=8 threads=256
		LOP3.LUT R7, R7, c[0x0][0x194], RZ, 0xc0, !PT ; // selected=10 executed=8 threads=256
		IADD3 R4, P0, R2, R5, RZ ; // selected=10 executed=8 threads=256
		IMAD.X R7, R3, 0x1, R7, P0 ; // selected=10 executed=8 threads=256
		LEA R6, P0, R4, c[0x0][0x168], 0x2 ; // selected=10 executed=8 threads=256
		LEA.HI.X R7, R4, c[0x0][0x16c], R7, 0x2, P0 ; // selected=10 executed=8 threads=256
		LDG.E.SYS R8, [R6] ; // selected=20 executed=8 threads=256
		STG.E.SYS [R10], R8 ; // selected=20 executed=8 threads=256
		EXIT ; // executed=8 threads=256`
	checkOptimizer(t, wraparoundsOnly{}, []optimizerCase{
		{name: "an index", source: source, speedup: 120. / 60, says: []string{"unsigned", "numba.uint32(i)"}},
		// The addition of three values stays, as that of two.
		{name: "with an offset", source: strings.Replace(source, "R2, R5, RZ ;", "R2, R5, R9 ;", 1), speedup: 120. / 70, says: []string{"unsigned"}},
		{name: "near miss: the remainder by a power of two", source: strings.NewReplacer("c[0x0][0x190]", "0x7", "c[0x0][0x194]", "0x0").Replace(source)},
		{name: "near miss: bits", source: strings.ReplaceAll(source, "0x1f, R3", "0x3, R3")},
	})
	in := &Input{}
	if in.wraparounds(nil) != nil {
		t.Error("indices of CUDA C++ do not wrap around")
	}
}
