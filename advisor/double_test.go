package advisor

import (
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/cubin/sass"
)

// TestWithoutDoubles has instructions that single precision does without, and such that it needs: those have samples.
func TestWithoutDoubles(t *testing.T) {
	horner := strings.Repeat("DFMA R12, R14, R12, c[0x2][0x10] ;\n", 9)
	for _, c := range []struct{ name, source string }{
		{"an exponential with its test of the exponent", `
			DADD R16, R18, R20 ; // selected=1
			FSETP.GEU.AND P0, PT, |R17|, 4.5, PT ;
			BSSY B0, ` + "`(join)" + ` ;
			DFMA R12, R14, R12, c[0x2][0x8] ;
			` + horner + `DFMA R12, R14, R12, 1 ; // selected=1
			DFMA R12, R14, R12, 2 ; // selected=1
			IMAD R13, R16, 0x100000, R13 ;
			@!P0 BRA ` + "`(join)" + ` ;
			DADD R12, R16, +INF ; // selected=1
			join: BSYNC B0 ;
			EXIT ;`},
		{"the reciprocal of a constant", `
			MUFU.RCP64H R9, 4.5 ;
			MOV R8, 0x1 ;
			MOV R10, 0x0 ;
			IMAD.MOV.U32 R11, RZ, RZ, 0x40120000 ;
			DFMA R14, R8, -R10, 1 ;
			DFMA R14, R14, R14, R14 ;
			DFMA R14, R8, R14, R8 ;
			DMUL R12, R20, R14 ; // selected=1
			EXIT ;`},
		{"that of a parameter", `
			MUFU.RCP64H R9, c[0x0][0x164] ; // selected=1
			DFMA R14, R8, -R10, 1 ; // selected=1
			EXIT ;`},
		{"integers beside doubles", `
			DADD R16, R18, R20 ; // selected=1
			IADD3 R4, R4, 0x1, RZ ; // selected=1
			F2I.F64 R5, R16 ; // selected=1
			IADD3 R6, R5, R4, RZ ; // selected=1
			LOP3.LUT R7, R17, 0x7ff00000, RZ, 0xc0, !PT ;
			EXIT ;`},
		{"a double moves by one move", `
			DADD R16, R18, R20 ; // selected=1
			IMAD.MOV.U32 R4, RZ, RZ, R16 ; // selected=1
			IMAD.MOV.U32 R5, RZ, RZ, R17 ;
			EXIT ;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(c.source), "\n")
			in := inputOf(t, sasstest.New(t, c.source))
			doubles := make(map[blamer.Node]bool)
			for i := range in.Module.Codes[0].Insts {
				doubles[blamer.Node{Inst: i}] = isDouble(in.Module.Codes[0].Insts[i].Op)
			}
			gone := in.onlyForDoubles(doubles)
			for i, line := range lines {
				if stays := strings.Contains(line, "selected") || strings.Contains(line, "EXIT"); gone[blamer.Node{Inst: i}] == stays {
					t.Errorf("%s: gone %v, want %v", strings.TrimSpace(line), stays, !stays)
				}
			}
		})
	}
}

// TestDividesDoubles has the function for quotients out of range, of which single precision has no work with integers.
func TestDividesDoubles(t *testing.T) {
	const source = `
		CALL.REL.NOINC ` + "`(div)" + ` ; // executed=8 threads=256
		STG.E.64.SYS [R10], R4 ; // executed=8 threads=256
		EXIT ; // executed=8 threads=256
		.function $k$__internal_0_$__cuda_sm20_div_rn_f64_full internal
		div: LOP3.LUT R12, R5, 0x800fffff, RZ, 0xc0, !PT ; // executed=8 threads=256
		IMAD.MOV.U32 R13, RZ, RZ, R6 ; // executed=8 threads=256
		DFMA R4, R6, R8, R12 ; // executed=8 threads=256
		RET.REL.NODEC R20 ` + "`(div)" + ` ; // executed=8 threads=256`
	for _, c := range []struct {
		name, function string
		want           int
	}{
		{"a quotient", "div_rn_f64_full", 2},
		{"of floats", "div_rn_noftz_f32_slowpath", 0},
	} {
		in := inputOf(t, sasstest.New(t, strings.Replace(source, "div_rn_f64_full", c.function, 1)))
		doubles := make(map[blamer.Node]bool)
		for _, n := range in.executedNodes(isDouble) {
			doubles[n] = true
		}
		gone := in.onlyForDoubles(doubles)
		if len(gone) != c.want {
			t.Errorf("%s: %d instructions go, want %d", c.name, len(gone), c.want)
		}
		for n := range gone {
			if doubles[n] || in.Inst(n).Op == sass.RET {
				t.Errorf("%s: %s goes", c.name, in.Inst(n).Text())
			}
		}
	}
}
