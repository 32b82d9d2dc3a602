package advisor

import (
	"slices"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// TestLongDivisions has a remainder of Numba's, of 64-bit integers that are small, as its compiler writes it.
func TestLongDivisions(t *testing.T) {
	const source = `
		ISETP.NE.U32.AND P1, PT, R13, RZ, PT ; // executed=8 threads=256
		ISETP.NE.AND.EX P1, PT, R11, RZ, PT, P1 ; // executed=8 threads=256
		@!P1 BRA ` + "`(zero)" + ` ; // executed=8 threads=256
		LOP3.LUT R4, R3, R11, RZ, 0xfc, !PT ; // executed=8 threads=256
		BSSY B0, ` + "`(join)" + ` ; // executed=8 threads=256
		ISETP.NE.U32.AND P0, PT, R4, RZ, PT ; // executed=8 threads=256
		@!P0 BRA ` + "`(fast)" + ` ; // executed=8 threads=256
		CALL.REL.NOINC ` + "`(rem)" + ` ;
		IMAD.MOV.U32 R4, RZ, RZ, R12 ;
		BRA ` + "`(join)" + ` ;
		fast: I2F.U32.RP R10, R13 ; // executed=8 threads=256
		MUFU.RCP R10, R10 ; // executed=8 threads=256
		F2I.FTZ.U32.TRUNC.NTZ R5, R10 ; // executed=8 threads=256
		IMAD R5, R5, R2, RZ ; // executed=8 threads=256
		IMAD R4, R13, R5, R2 ; // executed=8 threads=256
		IMAD.MOV.U32 R5, RZ, RZ, RZ ; // executed=8 threads=256
		join: BSYNC B0 ; // executed=8 threads=256
		LOP3.LUT R10, R5, R11, RZ, 0x3c, !PT ; // executed=8 threads=256
		ISETP.NE.U32.AND P1, PT, R4, RZ, PT ; // executed=8 threads=256
		ISETP.GE.AND P0, PT, R10, RZ, PT ; // executed=8 threads=256
		ISETP.NE.AND.EX P0, PT, R5, RZ, !P0, P1 ; // executed=8 threads=256
		SEL R15, R13, RZ, P0 ; // executed=8 threads=256
		SEL R17, R11, RZ, P0 ; // executed=8 threads=256
		IADD3 R4, P0, R4, R15, RZ ; // executed=8 threads=256
		IMAD.X R5, R5, 0x1, R17, P0 ; // executed=8 threads=256
		zero: STG.E.64.SYS [R6], R4 ; // executed=8 threads=256
		EXIT ; // executed=8 threads=256
		.function $k$__internal_0_$__cuda_sm20_rem_s64 internal
		rem: RET.REL.NODEC R20 ` + "`(rem)" + ` ;`
	tests := "ISETP ISETP BRA LOP3 BSSY ISETP BRA "
	for _, c := range []struct {
		name, old, new string
		marks          string
		signed         bool
	}{
		{"a remainder", "", "", tests + "BSYNC LOP3 ISETP ISETP ISETP SEL SEL IADD3 IMAD", true},
		{"a test that the program asks, as i < n", "ISETP.NE.AND.EX P1, PT, R11, RZ, PT, P1", "ISETP.LT.AND.EX P1, PT, R11, RZ, PT, P1", "LOP3 BSSY ISETP BRA BSYNC LOP3 ISETP ISETP ISETP SEL SEL IADD3 IMAD", true},
		{"a test whose result is used again", "zero: STG", "zero: @P1 STG", "BRA LOP3 BSSY ISETP BRA BSYNC LOP3 ISETP ISETP SEL SEL IADD3 IMAD", true},
		{"signs that are used again", "[R6], R4", "[R10], R4", tests + "BSYNC", false},
		{"of C++", "LOP3.LUT R10, R5, R11, RZ, 0x3c", "LOP3.LUT R10, R5, R11, RZ, 0xc0", tests + "BSYNC", false},
		{"another function", "__cuda_sm20_rem_s64", "__cuda_sm20_sqrt", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(source, c.old) {
				t.Fatalf("no %q", c.old)
			}
			in := inputOf(t, sasstest.New(t, strings.Replace(source, c.old, c.new, 1)))
			d := in.longDivisionsOf(0)
			var marks []string
			for _, n := range d.nodes() {
				marks = append(marks, in.Inst(blamer.Node{Inst: n.Inst}).Op.String())
			}
			if want := strings.Fields(c.marks); !slices.Equal(marks, want) || d.signed != c.signed {
				t.Errorf("marks %v, signed %v, want %v, %v", marks, d.signed, want, c.signed)
			}
		})
	}
}

// TestDivisionInACircle has a call in code that nothing leads to, whose blocks each have the other one before them.
func TestDivisionInACircle(t *testing.T) {
	in := inputOf(t, sasstest.New(t, `
		EXIT ; // executed=8 threads=256
		first: ISETP.NE.AND P0, PT, R3, RZ, PT ;
		@!P0 BRA `+"`(second)"+` ;
		CALL.REL.NOINC `+"`(rem)"+` ;
		EXIT ;
		second: ISETP.NE.AND P0, PT, R3, RZ, PT ;
		@P0 BRA `+"`(first)"+` ;
		EXIT ;
		.function $k$__internal_0_$__cuda_sm20_rem_s64 internal
		rem: RET.REL.NODEC R20 `+"`(rem)"+` ;`))
	if d := in.longDivisionsOf(0); d.found[2] == 0 || d.found[6] == 0 {
		t.Errorf("marks %v, want both branches", d.found)
	}
}
