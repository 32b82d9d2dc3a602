package blamer

import (
	"testing"

	"gpa/blamer/sasstest"
)

// TestFootprint holds what is seen of the block's index and of the round of a loop in the address of a load.
func TestFootprint(t *testing.T) {
	const block = "S2R R5, SR_CTAID.X ;\n"
	const end = "def: LDG.E.SYS R0, [R2] ;\n EXIT ;"
	loop := func(body string) string {
		return block + "loop: " + body + "def: LDG.E.SYS R0, [R2] ;\nIADD3 R6, R6, 0x1, RZ ;\n@P0 BRA `(loop)" + " ;\nEXIT ;"
	}
	for _, c := range []struct {
		name, source string
		block, round part
	}{
		{"an index", block + "IADD3 R2, R5, R9, RZ ;\n" + end, whole, 0},
		{"a mask of low bits", block + "LOP3.LUT R2, R5, 0x3f, RZ, 0xc0, !PT ;\n" + end, remainder, 0},
		{"a mask of high bits", block + "LOP3.LUT R2, R5, 0xffffffc0, RZ, 0xc0, !PT ;\n" + end, quotient, 0},
		{"bits set", block + "LOP3.LUT R2, R5, 0xc0, RZ, 0xfc, !PT ;\n" + end, remainder, 0},
		{"an index less its multiple", block + "LOP3.LUT R7, R5, 0xffffc0, RZ, 0xc0, !PT ;\nIMAD.IADD R2, R5, 0x1, -R7 ;\n" + end, remainder, 0},
		{"the same in all rounds", loop("IADD3 R2, R5, R9, RZ ;\n"), whole, 0},
		{"index and round", loop("IADD3 R2, R5, R6, RZ ;\n"), whole, whole},
		{"what the round adds to a copy", loop("MOV R7, R6 ;\nIADD3 R2, R5, R7, RZ ;\n"), whole, whole},
		{"a pointer that walks", block + "IADD3 R2, R5, R9, RZ ;\ndef: LDG.E.SYS R0, [R2] ;\nIADD3 R2, R2, 0x80, RZ ;\n@P0 BRA `(def) ;\nEXIT ;", whole, whole},
		{"remainder of index and round", loop("IADD3 R7, R5, R6, RZ ;\nLOP3.LUT R2, R7, 0x3f, RZ, 0xc0, !PT ;\n"), remainder, remainder},
		{"remainder of the index alone", loop("LOP3.LUT R7, R5, 0x3f, RZ, 0xc0, !PT ;\nIADD3 R2, R7, R6, RZ ;\n"), remainder, whole},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			a := newTestAnalysis(t, p, false)
			def := p.Labels["def"]
			f := a.addressFootprint(def, globalLoad(&a.code.Insts[def]))
			if f.parts[ctaidX] != c.block || f.parts[round] != c.round || f.data {
				t.Errorf("footprint %+v, want %d of the block, %d of the round", f, c.block, c.round)
			}
		})
	}
}

// TestReusedInLaterRounds holds that a load is not late whose data other blocks have read in earlier rounds of their loop, and that
// one is whose data is new in each round.
func TestReusedInLaterRounds(t *testing.T) {
	const counts = " // executed=5120 threads=163840 selected=1\n"
	program := func(index string) string {
		return "S2R R5, SR_CTAID.X ; // executed=640 threads=20480\n" +
			"loop: IADD3 R7, R5, R6, RZ ;" + counts +
			"IMAD.WIDE R2, R7, 0x400, R12 ;" + counts +
			index + counts +
			"IMAD.WIDE R10, R8, 0x400, R14 ;" + counts +
			"first: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; " + counts +
			"second: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10] ; " + counts +
			"use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // executed=5120 threads=163840 long_scoreboard=1000\n" +
			"IADD3 R6, R6, 0x1, RZ ;" + counts +
			"@P0 BRA `(loop) ;" + counts +
			"EXIT ; // executed=640 threads=20480"
	}
	for _, c := range []struct{ name, index, want string }{
		{"read again", "LOP3.LUT R8, R7, 0x3f, RZ, 0xc0, !PT ;", "first"},
		{"new in each round", "IADD3 R8, R7, R16, RZ ;", "second"},
		{"read by other blocks in the same round", "LOP3.LUT R8, R5, 0x3f, RZ, 0xc0, !PT ;", "second"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, program(c.index))
			r, err := Analyze(p.Launch, p.Module, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range r.Blames {
				if b.Use.Inst == p.Labels["use"] && b.Def.Inst != p.Labels[c.want] {
					t.Errorf("%.0f samples blamed on instruction %d, want all on %s", b.Count, b.Def.Inst, c.want)
				}
			}
		})
	}
}
