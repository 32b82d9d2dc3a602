package asm

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// corpus returns the cubins of the corpus and of the reader's tests, and those that the pattern in GPA_CUBINS names.
func corpus(t testing.TB) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../testdata/*.cubin", "../../kernels/*/*/*.cubin.gz", os.Getenv("GPA_CUBINS")} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) < 50 {
		t.Fatalf("only %d cubins", len(all))
	}
	return all
}

// TestPrintRoundTrip prints cubins and assembles them again: to the same bytes, with instructions as text.
func TestPrintRoundTrip(t *testing.T) {
	instructions, words := 0, 0
	for _, name := range corpus(t) {
		f, err := cubin.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var text bytes.Buffer
		if err := Print(&text, f); err != nil {
			t.Error(err)
			continue
		}
		got, err := Assemble(name, text.Bytes())
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, f.Raw) {
			t.Errorf("%s: assembles to other bytes", name)
		}
		for _, c := range f.Codes {
			for i := range c.Insts {
				if c.Insts[i].Op != sass.OpNone {
					instructions++
				} else {
					words--
				}
			}
		}
		words += strings.Count(text.String(), ".inst ")
	}
	t.Logf("%d known instructions, %d of them as words", instructions, words)
	if words*1000 > instructions {
		t.Errorf("%d of %d instructions are printed as words", words, instructions)
	}
}

const saxpy = `
// y = a x + y
.arch sm_70
.equ BLOCK, 128
.kernel saxpy
    .param n, 4
    .param a, 4
    .param x, 8
    .param y, 8
    .maxthreads BLOCK
    .line "saxpy.cu", 3
        S2R R0, SR_CTAID.X
        S2R R3, SR_TID.X
        IMAD R0, R0, BLOCK, R3          // the index
        ISETP.GE.AND P0, PT, R0, c[0x0][n], PT
    @P0 EXIT
    .line 5
        MOV R4, 0x4
        IMAD.WIDE R2, R0, R4, c[0x0][x]
        IMAD.WIDE R4, R0, R4, c[0x0][y]
        [B------:R-:W2:-:S01] LDG.E.SYS R2, [R2] ;
        [B------:R-:W3:-:S02] LDG.E.SYS R6, [R4] ;
        [B--23--:R-:W-:-:S05] FFMA R6, R2, c[0x0][a], R6 ;
        STG.E.SYS [R4], R6
done:   EXIT

.global counter, 4
.global table
    .word 1, 2, 0xffffffff
    .float 1.5
.constant limits
    .double 2.5
`

// TestAssembleKernel reads back what the form that people write makes.
func TestAssembleKernel(t *testing.T) {
	data, err := Assemble("saxpy.sass", []byte(saxpy))
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.NewFile("saxpy.cubin", data)
	if err != nil {
		t.Fatal(err)
	}
	k, err := f.Kernel("saxpy")
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Params) != 4 || k.ParamSize != 24 || k.Params[2].Offset != 8 || k.MaxThreads != [3]int{128, 1, 1} || k.Registers != 8 {
		t.Errorf("kernel %+v", k)
	}
	if len(f.Variables) != 3 || f.Global.Size != 20 || string(f.Global.Init[:4]) != "\x01\x00\x00\x00" {
		t.Errorf("variables %+v, memory %+v", f.Variables, f.Global)
	}
	for _, want := range []struct {
		inst, line    int
		text, control string
	}{
		{0, 3, "S2R R0, SR_CTAID.X", "[B012345:R-:W0:Y:S15]"},
		{2, 3, "IMAD R0, R0, 0x80, R3", "[B012345:R-:W-:Y:S15]"},
		{3, 3, "ISETP.GE.AND P0, PT, R0, c[0x0][0x160], PT", "[B012345:R-:W-:Y:S15]"},
		{6, 5, "IMAD.WIDE R2, R0, R4, c[0x0][0x168]", "[B012345:R-:W-:Y:S15]"},
		{10, 5, "FFMA R6, R2, c[0x0][0x164], R6", "[B--23--:R-:W-:-:S05]"},
		{11, 5, "STG.E.SYS [R4], R6", "[B012345:R1:W-:Y:S15]"},
	} {
		in := &k.Code.Insts[want.inst]
		frame := k.Code.Line(in.PC)
		if in.Text() != want.text || in.Control.String() != want.control || frame.Line != want.line || frame.File != "saxpy.cu" {
			t.Errorf("instruction %d: %s %s, %s:%d", want.inst, in.Control, in.Text(), frame.File, frame.Line)
		}
	}
}

// TestMistakes gives texts that do not assemble.
func TestMistakes(t *testing.T) {
	const head = ".arch sm_70\n.kernel k\n"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "t.sass:1:1: want .arch sm_NN"},
		{"no kernel", ".arch sm_70\n", "want a .kernel"},
		{"architecture", ".arch sm_35", "t.sass:1:7: want one of sm_70, sm_75"},
		{"directive", head + ".prologue", "t.sass:3:1: no directive .prologue"},
		{"opcode", head + "  FROB R0, R1\n", "t.sass:3:3: want an opcode"},
		{"operand", head + "  [B------:R-:W-:-:S01] MOV R1, Q2\n", "t.sass:3:33: want"},
		{"operand behind a name", head + ".equ LONGNAME, 1\n IADD3 R1, R2, LONGNAME, Q7\n", "t.sass:4:26: want"},
		{"control", head + "  [B------:R-:W9:-:S01] MOV R1, R2\n", "t.sass:3:3: control"},
		{"control without end", head + "  [B---- MOV R1, R2\n", "t.sass:3:3: want a control code"},
		{"no label", head + "  BRA nowhere\n", "t.sass:3:7: want a code address; nowhere is no label, parameter or number"},
		{"no parameter", head + "  MOV R1, c[0x0][q]\n", "t.sass:3:18: want an offset; q is no label, parameter or number"},
		{"offset too large", head + "  LDG.E.SYS R1, [R2+0x10000000]\n", "t.sass:3:17: want an address with an offset of 24 bits"},
		{"no quoted label", head + "  BRA `(nowhere)\n", "t.sass:3:7: no label nowhere"},
		{"second label", head + "a: EXIT\na: EXIT\n", "t.sass:4:1: a second label a"},
		{"register as label", head + "R2: EXIT\n", "t.sass:3:1: R2 means something else"},
		{"reuse without control", head + "  FADD R1, R2.reuse, R3\n", "t.sass:3:3: want a control code"},
		{"too many registers", head + ".reg 300\n", "t.sass:3:6: want a number of registers, from 0 to 255"},
		{"behind the number", head + ".local 12 13\n", "t.sass:3:11: want the end of the line"},
		{"string", ".arch sm_70\n.global s\n.asciz \"abc\n", "t.sass:3:8: want the string to end"},
		{"data too large", ".arch sm_70\n.global s\n.byte 256\n", "256 does not fit into 1 bytes"},
		{"instruction without kernel", ".arch sm_70\nEXIT\n", "t.sass:2:1: want .kernel"},
		{"second kernel of a name", head + "EXIT\n.kernel k\n", "t.sass:4:9: a second k"},
		{"empty kernel", head, "k has no instructions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Assemble("t.sass", []byte(test.text))
			var place *Error
			if !errors.As(err, &place) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

// TestRelocations assembles the addresses that a loader fills in.
func TestRelocations(t *testing.T) {
	const text = ".arch sm_70\n.kernel k\n" +
		"MOV R2, 32@lo(table+8)\nMOV R3, 32@hi(table+8)\nMOV R20, 32@lo(back)\nCALL.ABS.NOINC `(vprintf)\nback: EXIT\n.global table, 16\n"
	data, err := Assemble("t.sass", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.NewFile("t.cubin", data)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind   cubin.RelocKind
		symbol string
		addend int64
	}{{cubin.Abs32Lo, "table", 8}, {cubin.Abs32Hi, "table", 8}, {cubin.Abs32Lo, "k", 0x40}, {cubin.AbsCall, "vprintf", 0}} {
		if r := &f.Relocs[i]; r.Kind != want.kind || r.Symbol != want.symbol || r.Addend != want.addend || r.Offset != uint64(i)*sass.InstSize {
			t.Errorf("relocation %d: %+v", i, r)
		}
	}
	if len(f.Externs) != 1 || f.Externs[0] != "vprintf" || len(f.Kernels[0].Syscalls) != 1 || f.Kernels[0].Syscalls[0] != 0x30 {
		t.Errorf("undefined functions %v, called at %x", f.Externs, f.Kernels[0].Syscalls)
	}
	// The same with the relocation types of sm_90, whose numbers stand in the file.
	section := 0
	for i := range f.Sections {
		if f.Sections[i].Name == ".rela.text.k" {
			section = i
		}
	}
	for i, kind := range []byte{0x70, 0x71, 0x70, 0x4b} {
		data[int(f.Sections[section].Offset)+24*i+8] = kind
	}
	g, err := cubin.NewFile("t.cubin", data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Relocs {
		if g.Relocs[i].Kind != f.Relocs[i].Kind {
			t.Errorf("relocation %d is of kind %d, want %d", i, g.Relocs[i].Kind, f.Relocs[i].Kind)
		}
	}
}

// TestListing assembles a listing without control codes.
func TestListing(t *testing.T) {
	f, err := cubin.Open("../testdata/flow.cubin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Codes {
		text := ".arch sm_70\n.kernel " + c.Name + "\n"
		for i := range c.Insts {
			text += "/*0000*/ " + strings.ReplaceAll(c.Insts[i].Text(), ".reuse", "") + " ;\n"
		}
		data, err := Assemble("listing", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		g, err := cubin.NewFile("listing", data)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Insts {
			want := strings.ReplaceAll(c.Insts[i].Text(), ".reuse", "")
			in := &g.Codes[0].Insts[i]
			if in.Text() != want || in.Control.WaitMask != 0x3f || in.Control.Stall != 15 || in.PC != uint64(i)*sass.InstSize {
				t.Errorf("%s: instruction %d: %s %s, want %s", c.Name, i, in.Control, in.Text(), want)
			}
		}
	}
}

func FuzzAssemble(f *testing.F) {
	f.Add([]byte(saxpy))
	for _, name := range []string{"flow", "module"} {
		file, err := cubin.Open("../testdata/" + name + ".cubin")
		if err != nil {
			f.Fatal(err)
		}
		var text bytes.Buffer
		if err := Print(&text, file); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := Assemble("fuzz.sass", text)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %v", err)
		}
	})
}
