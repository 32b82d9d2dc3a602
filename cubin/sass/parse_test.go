package sass_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

func TestParseErrors(t *testing.T) {
	tests := []struct {
		text   string
		column int
		want   string
	}{
		{"", 1, "an opcode"},
		{"FOO R0, R1", 1, "an opcode"},
		{"@P0 FOO R0, R1", 5, "an opcode"},
		{"@P8 FADD R0, R1, R2", 2, "a predicate P0 to P6 or PT"},
		{"FADD.XX R0, R1, R2", 5, "no modifier .XX"},
		{"FSETP.AND P0, PT, R0, R1, PT", 6, ".F or .LT or .EQ or .LE or .GT or .NE or .GE or .NUM or .NAN or .LTU or .EQU or .LEU or .GTU or .NEU or .GEU or .T"},
		{"FADD R0, X, R2", 10, "a register R0 to R254 or RZ"},
		{"FADD R0 R1, R2", 9, "a comma and A"},
		{"FADD R0, R1", 12, "a comma and B"},
		{"FADD R0, R1, R2, R3", 16, "the end of the instruction"},
		{"FADD R255, R1, R2", 6, "a register R0 to R254 or RZ"},
		{"FADD R0, |R1, R2", 13, "|"},
		{"MOV R0, c[0x0][0x160", 21, "]"},
		{"LDG.SYS R0, [R2+R4]", 17, "an offset"},
		{"S2R R0, SR_NOTHING", 9, "a special register"},
		{"BSSY B16, 0x40", 6, "a convergence barrier B0 to B15"},
		{"BRA", 4, "a code address"},
		{"SHFL.UP P0, R5, R6, 0x20, RZ", 21, "a register R0 to R254 or RZ, or an integer of 5 bits"},
		{"DADD R0, R2, 0.1", 14,
			"a register R0 to R254 or RZ, or a floating-point number that the immediate can hold, or a constant c[bank][offset]"},
		{"IMAD.MOV.U32 R0, R1, R2, R3", 13, "operands that IMAD.MOV stands for"},
	}
	for _, tt := range tests {
		_, err := sass.Parse(sass.SM70, 0, tt.text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		var syntax *sass.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: got error %v, want a SyntaxError", tt.text, err)
			continue
		}
		if syntax.Column != tt.column || syntax.Want != tt.want {
			t.Errorf("%q: got column %d, want %q; expected column %d, %q", tt.text, syntax.Column, syntax.Want, tt.column, tt.want)
		}
	}
}

func TestParseNotations(t *testing.T) {
	tests := []struct{ text, want string }{
		{"  FADD  R0 ,R1,  R2 ; ", "FADD R0, R1, R2"},
		{"FADD R0,R1,R2;", "FADD R0, R1, R2"},
		{"@!P0 MOV R0, 16", "@!P0 MOV R0, 0x10"},
		{"IADD3 R0, R1, -1, RZ", "IADD3 R0, R1, -0x1, RZ"},
		{"LOP3.LUT R0, R1, -1, RZ, 0xc0, !PT", "LOP3.LUT R0, R1, 0xffffffff, RZ, 0xc0, !PT"},
		{"FADD R0, R1, 0x3f800000", "FADD R0, R1, 1"},
		{"FADD R0, R1, 1e10", "FADD R0, R1, 1.00000000000000000000e+10"},
		{"DADD R0, R2, 0x3ff00000", "DADD R0, R2, 1"},
		{"HADD2 R0, R1, 0x3c004000", "HADD2 R0, R1, 1, 2"},
		{"MUFU.RSQ R0, -QNAN", "MUFU.RSQ R0, -QNAN"},
		{"IMAD R0, RZ, RZ, R1", "IMAD.MOV R0, RZ, RZ, R1"},
		{"MOV R0, c[0x0] [0x160]", "MOV R0, c[0x0][0x160]"},
		{"FFMA R0, R1.reuse, R2, R3", "FFMA R0, R1.reuse, R2, R3"},
		{"IADD3 R0, PT, PT, R1, R2, R3", "IADD3 R0, R1, R2, R3"},
	}
	for _, tt := range tests {
		i, err := sass.Parse(sass.SM70, 0, tt.text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil || i.Text() != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.text, &i, err, tt.want)
		}
	}
}

// TestParseRejects holds that what fits no word is an error though every operand is well formed.
func TestParseRejects(t *testing.T) {
	tests := []struct {
		text    string
		control sass.Control
		want    string
	}{
		{"BAR.SYNC R1, R2", sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}, "no such combination"},
		{"FADD R0, R1.reuse, R2", sass.Control{Stall: 1, Yield: true, WriteBarrier: -1, ReadBarrier: -1}, "operand reuse with yield"},
		{"NOP", sass.Control{Stall: 14, WriteBarrier: -1, ReadBarrier: -1}, "stall count 14 without yield"},
		{"NOP", sass.Control{Stall: 1, WriteBarrier: 6, ReadBarrier: -1}, "dependence counter"},
		{"LDG.SYS R0, [R2+0x800000]", sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}, "column 13: want an address with an offset of 24 bits"},
	}
	for _, tt := range tests {
		if _, err := sass.Parse(sass.SM70, 0, tt.text, tt.control); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzParse holds that no text makes the parser panic and that what it accepts prints and parses to the same.
func FuzzParse(f *testing.F) {
	for n, arch := range allArchs {
		for k, g := range readGoldenFile(f, fmt.Sprintf("testdata/sm_%d.txt", arch)) {
			if k%16 == 0 {
				f.Add(uint8(n), g.text)
			}
		}
	}
	f.Add(uint8(0), "@!UP3 FADD.FTZ R0, -|R1.reuse|, c[0x3][R5+-0x8] ;")
	control := sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		arch := allArchs[int(n)%len(allArchs)]
		i, err := sass.Parse(arch, 0x40, text, control)
		if err != nil {
			return
		}
		j, err := sass.Parse(arch, 0x40, i.AssemblyText(nil), control)
		if err != nil || j.AssemblyText(nil) != i.AssemblyText(nil) {
			t.Errorf("%q prints %q, which parses to %q, %v", text, &i, &j, err)
		}
	})
}

func TestControlText(t *testing.T) {
	tests := []struct {
		text    string
		control sass.Control
	}{
		{"[B------:R-:W-:-:S01]", sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}},
		{"[B0----5:R3:W2:Y:S15]", sass.Control{Stall: 15, Yield: true, WriteBarrier: 2, ReadBarrier: 3, WaitMask: 0x21}},
		{"[B-12---:R-:W0:-:S11]", sass.Control{Stall: 11, WriteBarrier: 0, ReadBarrier: -1, WaitMask: 6}},
	}
	for _, tt := range tests {
		if got := tt.control.String(); got != tt.text {
			t.Errorf("got %s, want %s", got, tt.text)
		}
		if got, err := sass.ParseControl(tt.text); err != nil || got != tt.control {
			t.Errorf("%s: got %+v, %v", tt.text, got, err)
		}
	}
}

func TestControlErrors(t *testing.T) {
	for _, text := range []string{
		"", "[B]", "B------:R-:W-:-:S01", "[B------:R-:W-:-:S01", "[B-----:R-:W-:-:S01]", "[B1-----:R-:W-:-:S01]",
		"[B------:R6:W-:-:S01]", "[B------:W-:R-:-:S01]", "[B------:R-:W-:X:S01]", "[B------:R-:W-:-:S16]",
		"[B------:R-:W-:-:S12]", "[B------:R-:W-:-:S00]", "[B------:R-:W-:-:1]", "[B------:R-:W-:-:S01:T99]",
		"[B------:R-:W-:-:S01:T1:T1]",
	} {
		if c, err := sass.ParseControl(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, c)
		}
	}
}

// TestAssemblyText: what the text of nvdisasm leaves out is in that for the assembler.
func TestAssemblyText(t *testing.T) {
	tests := []struct {
		arch        sass.Arch
		text, plain string
	}{
		{sass.SM80, "LDG.E.64 R14, desc[UR4][R4.64+0x8]", "LDG.E.64 R14, [R4.64+0x8]"},
		{sass.SM90, "LDG.E.64 R14, desc[UR4][R4.64+0x8]", "LDG.E.64 R14, desc[UR4][R4.64+0x8]"},
		{sass.SM70, "FADD R0, R0, 0x7fc12345", "FADD R0, R0, +QNAN "},
		{sass.SM70, "HADD2 R0, R0, 0x7c013c00", "HADD2 R0, R0, +QNAN , 1"},
		{sass.SM70, "DADD R0, R0, 0x7ff12345", "DADD R0, R0, +SNAN "},
		{sass.SM70, "FADD R0, R0, +INF ", "FADD R0, R0, +INF "},
	}
	for _, test := range tests {
		in, err := sass.Parse(test.arch, 0, test.text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := in.AssemblyText(nil); got != strings.TrimRight(test.text, " ") {
			t.Errorf("%s: printed %s for the assembler", test.text, got)
		}
		if got := in.Text(); got != strings.TrimRight(test.plain, " ") {
			t.Errorf("%s: text %s, want %s", test.text, got, test.plain)
		}
	}
}
