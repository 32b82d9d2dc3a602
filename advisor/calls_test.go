package advisor

import (
	"testing"

	"gpa/blamer/sasstest"
)

// What a loop has from a function that it calls was made by the call; what the function reads comes from the caller, but for what it writes before,
// under a predicate and its opposite too.
func TestRecurrenceOfCalls(t *testing.T) {
	for _, c := range []struct {
		name, loop, callee string
		recurs             bool
	}{
		{"a result", "MOV R7, R4 ;", "f: FMUL R4, R8, R8 ;", false},
		{"an argument of the round before", "MOV R8, R4 ;", "f: FMUL R4, R8, R8 ;", true},
		{"a temporary", "MOV R7, R4 ;", "f: FMUL R9, R8, R8 ;\n FADD R9, R9, R8 ;\n FADD R4, R9, 1 ;", false},
		{"a temporary either way", "MOV R7, R4 ;", "f: FSETP.GT.AND P1, PT, R8, RZ, PT ;\n @P1 MOV R9, RZ ;\n @!P1 MOV R9, R8 ;\n FADD R9, R9, 1 ;\n MOV R4, R9 ;", false},
		{"a temporary one way alone", "MOV R7, R4 ;", "f: FSETP.GT.AND P1, PT, R8, RZ, PT ;\n @P1 MOV R9, RZ ;\n FADD R9, R9, 1 ;\n MOV R4, R9 ;", true},
		{"a temporary on two ways", "MOV R7, R4 ;", "f: FSETP.GT.AND P1, PT, R8, RZ, PT ;\n @P1 MOV R9, RZ ;\n @P1 BRA `(g) ;\n FADD R9, R8, 1 ;\n g: FADD R4, R9, 1 ;", false},
		{"what ends the loop comes from memory there", "FSETP.GT.AND P2, PT, R4, RZ, PT ;\n @P2 EXIT ;", "f: LDG.E.SYS R4, [R12] ;", true},
	} {
		in := inputOf(t, sasstest.New(t, `
			loop: CALL.REL.NOINC `+"`(f)"+` ; // selected=9
			`+c.loop+`
			IADD3 R5, R5, 0x1, RZ ;
			ISETP.LT.AND P0, PT, R5, 0x40, PT ;
			@P0 BRA `+"`(loop)"+` ;
			EXIT ;
			.function f device
			`+c.callee+`
			RET.REL.NODEC R20 0x0 ;`))
		if n, found := in.recurrence(0, in.codes[0].graph.Loops[0]); found != c.recurs {
			t.Errorf("%s: recurrence %v at %s, want %v", c.name, found, in.Inst(n).Text(), c.recurs)
		}
	}
}
