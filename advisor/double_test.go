package advisor

import (
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
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
