package sass_test

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"gpa/cubin/sass"
)

// assemble parses text with plain control fields.
func assemble(t testing.TB, text string) sass.Inst {
	t.Helper()
	i, err := sass.Parse(sass.SM70, 0x100, text, sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestDecodeUnknown(t *testing.T) {
	tests := []struct {
		name string
		arch sass.Arch
		word string
		want string
	}{
		{"zero", sass.SM70, "00000000000000000000000000000000",
			"unknown instruction at 0x0020: 0x00000000000000000000000000000000 for sm_70"},
		{"ones", sass.SM70, "ffffffffffffffffffffffffffffffff",
			"unknown instruction at 0x0020: 0xffffffffffffffffffffffffffffffff for sm_70"},
		{"opcode of graphics", sass.SM70, "000fe200078e02ff0000000609097324",
			"unknown instruction at 0x0020: 0x000fe200078e02ff0000000609097324 for sm_70"},
		{"illegal modifier", sass.SM70, "000fe200038e030000000000000057806"[:32],
			"unknown instruction at 0x0020: 0x000fe200038e03000000000000005780 for sm_70"},
		{"illegal stall code", sass.SM70, "000fe00000000f000000001500167202",
			"unknown instruction at 0x0020: 0x000fe00000000f000000001500167202 for sm_70"},
		{"dependence counter 6", sass.SM70, "000fa40000000f000000001500167202",
			"unknown instruction at 0x0020: 0x000fa40000000f000000001500167202 for sm_70"},
		{"architecture without rows", sass.Arch(35), "000fe40000000f000000001500167202",
			"unknown instruction at 0x0020: 0x000fe40000000f000000001500167202 for sm_35"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := sass.Decode(tt.arch, 0x20, parseWord(t, tt.word))
			var unknown *sass.UnknownError
			if !errors.As(err, &unknown) {
				t.Fatalf("got error %v, want an UnknownError", err)
			}
			if err.Error() != tt.want {
				t.Errorf("got  %s\nwant %s", err, tt.want)
			}
		})
	}
}

// TestOperands holds what an emulator relies on: kinds, positions, widths and values of operands.
func TestOperands(t *testing.T) {
	reg := func(n, width uint8) sass.Operand {
		return sass.Operand{Kind: sass.KindReg, Source: true, Reg: n, UReg: sass.URZ, Width: width}
	}
	tests := []struct {
		text  string
		index int
		want  sass.Operand
	}{
		{"FFMA R0, R1, -R2, |R3|", 2, sass.Operand{Kind: sass.KindReg, Source: true, Reg: 2, UReg: sass.URZ, Width: 1, Neg: true}},
		{"FFMA R0, R1, -R2, |R3|", 3, sass.Operand{Kind: sass.KindReg, Source: true, Reg: 3, UReg: sass.URZ, Width: 1, Abs: true}},
		{"FFMA R0, R1, 0.5, R3", 2, sass.Operand{Kind: sass.KindImm, Source: true, UReg: sass.URZ, Width: 1, Imm: 0x3f000000}},
		{"DFMA R0, R2, 0.5, R4", 2, sass.Operand{Kind: sass.KindImm, Source: true, UReg: sass.URZ, Width: 1, Imm: 0x3fe0000000000000}},
		{"DFMA R0, R2, 0.5, R4", 3, reg(4, 2)},
		{"HFMA2 R0, R1.H1_H1, 1, 2, R4", 1, sass.Operand{Kind: sass.KindReg, Source: true, Reg: 1, UReg: sass.URZ, Width: 1, Swz: sass.SwzH1H1}},
		{"HFMA2 R0, R1.H1_H1, 1, 2, R4", 2, sass.Operand{Kind: sass.KindImm, Source: true, UReg: sass.URZ, Width: 1, Imm: 0x3c004000}},
		{"IADD3 R0, R1, -0x1, R3", 4, sass.Operand{Kind: sass.KindImm, Source: true, UReg: sass.URZ, Width: 1, Imm: 0xffffffff}},
		{"IADD3 R0, R1, R2, R3", 1, sass.Operand{Kind: sass.KindPred, Dest: true, Reg: sass.PT, UReg: sass.URZ, Width: 1}},
		{"IADD3 R0, R1, R2, R3", 6, sass.Operand{Kind: sass.KindPred, Reg: sass.PT, UReg: sass.URZ, Width: 1, Not: true}},
		{"IADD3.X R0, R1, ~R2, R3, P0, !PT", 4, sass.Operand{Kind: sass.KindReg, Source: true, Reg: 2, UReg: sass.URZ, Width: 1, Not: true}},
		{"IADD3.X R0, R1, ~R2, R3, P0, !PT", 6, sass.Operand{Kind: sass.KindPred, Source: true, Reg: 0, UReg: sass.URZ, Width: 1}},
		{"IMAD.WIDE R4, R0, R1, R6", 0, sass.Operand{Kind: sass.KindReg, Dest: true, Reg: 4, UReg: sass.URZ, Width: 2}},
		{"IMAD.WIDE R4, R0, R1, R6", 4, reg(6, 2)},
		{"IMAD R4, R0, R1, c[0x0][0x160]", 4, sass.Operand{Kind: sass.KindConst, Source: true, Reg: sass.RZ, UReg: sass.URZ, Width: 1, Offset: 0x160}},
		{"LDG.E.128.SYS R4, [R2+-0x10]", 1, sass.Operand{Kind: sass.KindReg, Dest: true, Reg: 4, UReg: sass.URZ, Width: 4}},
		{"LDG.E.128.SYS R4, [R2+-0x10]", 2, sass.Operand{Kind: sass.KindMem, Source: true, Reg: 2, UReg: sass.URZ, Width: 2, Offset: -16}},
		{"LDS R4, [0x100]", 2, sass.Operand{Kind: sass.KindMem, Source: true, Reg: sass.RZ, UReg: sass.URZ, Width: 1, Offset: 0x100}},
		{"LDC.64 R4, c[0x2][R6+0x8]", 1, sass.Operand{Kind: sass.KindConst, Source: true, Reg: 6, UReg: sass.URZ, Width: 2, Bank: 2, Offset: 8}},
		{"STG.E.64.SYS [R2], R8", 1, reg(8, 2)},
		{"ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R2], R6, R8", 4, reg(8, 2)},
		{"F2I.F64.TRUNC R0, R2", 1, reg(2, 2)},
		{"F2F.F64.F32 R0, R2", 0, sass.Operand{Kind: sass.KindReg, Dest: true, Reg: 0, UReg: sass.URZ, Width: 2}},
		{"S2R R0, SR_TID.X", 1, sass.Operand{Kind: sass.KindSReg, Source: true, UReg: sass.URZ, Width: 1, Imm: sass.SRTIDX}},
		{"BRA 0x40", 1, sass.Operand{Kind: sass.KindTarget, Source: true, UReg: sass.URZ, Width: 1, Imm: 0x40}},
		{"BRX R8 -0x1b0", 2, sass.Operand{Kind: sass.KindTarget, Source: true, UReg: sass.URZ, Width: 1, Imm: 1<<64 - 0x1b0}},
		{"RET.REL.NODEC R20 0x0", 1, sass.Operand{Kind: sass.KindLabelReg, Source: true, Reg: 20, UReg: sass.URZ, Width: 2}},
		{"VOTE.ANY P1, P0", 0, sass.Operand{Kind: sass.KindReg, Dest: true, Reg: sass.RZ, UReg: sass.URZ, Width: 1}},
	}
	for _, tt := range tests {
		i := assemble(t, tt.text)
		if got := i.Operands[tt.index]; got != tt.want {
			t.Errorf("%s: operand %d\n got %+v\nwant %+v", tt.text, tt.index, got, tt.want)
		}
	}
}

func TestMods(t *testing.T) {
	tests := []struct {
		text string
		kind sass.ModKind
		want uint16
	}{
		{"FFMA.FTZ.RZ.SAT R0, R1, R2, R3", sass.FTZ, sass.FTZFlush},
		{"FFMA.FTZ.RZ.SAT R0, R1, R2, R3", sass.Round, sass.RoundRZ},
		{"FFMA.FTZ.RZ.SAT R0, R1, R2, R3", sass.Sat, 1},
		{"FFMA R0, R1, R2, R3", sass.Sat, 0},
		{"ISETP.GE.U32.AND P0, PT, R0, R1, PT", sass.U32, 1},
		{"ISETP.GE.AND P0, PT, R0, R1, PT", sass.U32, 0},
		{"ISETP.GE.AND P0, PT, R0, R1, PT", sass.Compare, sass.CompareGE},
		{"ISETP.T.AND P0, PT, R0, R1, PT", sass.Compare, sass.CompareT},
		{"DSETP.MAX.AND P0, P1, R0, R2, PT", sass.Compare, sass.CompareMAX},
		{"IMAD.MOV.U32 R0, RZ, RZ, R1", sass.U32, 1},
		{"IMAD.WIDE R4, R0, R1, R6", sass.Wide, 1},
		{"SHF.R.S32.HI R0, RZ, 0x1f, R1", sass.ShfType, sass.TypeS32},
		{"SHF.R.S32.HI R0, RZ, 0x1f, R1", sass.Dir, sass.DirR},
		{"MUFU.RSQ64H R1, R3", sass.MufuFn, sass.MufuRSQ64H},
		{"F2I.FTZ.U32.TRUNC.NTZ R0, R1", sass.DstType, sass.TypeU32},
		{"F2I.FTZ.U32.TRUNC.NTZ R0, R1", sass.SrcType, sass.TypeF32},
		{"I2F R0, R1", sass.SrcType, sass.TypeS32},
		{"LDG.E.64.CONSTANT.SYS R4, [R2]", sass.Size, sass.Size64},
		{"LDG.E.64.CONSTANT.SYS R4, [R2]", sass.Order, sass.OrderConstant},
		{"LDG.E.64.CONSTANT.SYS R4, [R2]", sass.Evict, sass.EvictNormal},
		{"ATOMS.CAST.SPIN R0, [R1], R2, R3", sass.AtomOp, sass.AtomCASTSPIN},
		{"RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2], R0", sass.AtomType, sass.TypeF32},
		{"RET.REL.NODEC R20 0x0", sass.Abs, 0},
		{"BAR.RED.POPC 0x1, P0", sass.BarMode, sass.BarRED},
		{"MEMBAR.SC.GPU", sass.Scope, sass.ScopeGPU},
	}
	for _, tt := range tests {
		i := assemble(t, tt.text)
		if !i.HasMod(tt.kind) {
			t.Errorf("%s: no modifier %d", tt.text, tt.kind)
		}
		if got := i.Mod(tt.kind); got != tt.want {
			t.Errorf("%s: modifier %d is %d, want %d", tt.text, tt.kind, got, tt.want)
		}
	}
}

func TestUsesAndDefs(t *testing.T) {
	r := func(n ...int) (l []sass.Resource) {
		for _, n := range n {
			l = append(l, sass.ResReg+sass.Resource(n))
		}
		return l
	}
	p := func(n sass.Resource) sass.Resource { return sass.ResPred + n }
	sb := func(n sass.Resource) sass.Resource { return sass.ResSB + n }
	cb := func(n sass.Resource) sass.Resource { return sass.ResConvBar + n }
	tests := []struct {
		text       string
		control    string
		uses, defs []sass.Resource
	}{
		{"FADD R0, R1, R2", "[B------:R-:W-:-:S04]", r(1, 2), r(0)},
		{"@!P2 FADD R0, R1, RZ", "[B------:R-:W-:-:S04]", append(r(1), p(2)), r(0)},
		{"DFMA R4, R2, R8, c[0x0][0x160]", "[B------:R-:W1:-:S04]", r(2, 3, 8, 9), append(r(4, 5), sb(1))},
		{"IADD3 R0, P1, R2, R3, RZ", "[B------:R-:W-:-:S04]", r(2, 3), append(r(0), p(1))},
		{"IADD3.X R0, R2, R3, RZ, P1, !PT", "[B------:R-:W-:-:S04]", append(r(2, 3), p(1)), r(0)},
		{"ISETP.GE.AND P1, PT, R11, RZ, P3", "[B------:R-:W-:-:S04]", append(r(11), p(3)), []sass.Resource{p(1)}},
		{"LDG.E.128.SYS R4, [R2]", "[B------:R-:W3:-:S04]", r(2, 3), append(r(4, 5, 6, 7), sb(3))},
		{"LDG.SYS R4, [R2]", "[B------:R-:W3:-:S04]", r(2), append(r(4), sb(3))},
		{"STG.E.64.SYS [R2+0x8], R4", "[B--2---:R0:W-:-:S04]", append(r(2, 3, 4, 5), sb(2)), []sass.Resource{sb(0)}},
		{"ATOMG.E.CAS.64.STRONG.GPU PT, R4, [R2], R6, R8", "[B------:R-:W0:-:S04]", r(2, 3, 6, 7, 8, 9), append(r(4, 5), sb(0))},
		{"RED.E.ADD.F64.RN.STRONG.GPU [R2], R4", "[B------:R-:W-:-:S04]", r(2, 3, 4, 5), nil},
		{"LDC R4, c[0x2][R6+0x8]", "[B------:R-:W0:-:S04]", r(6), append(r(4), sb(0))},
		{"IMAD.WIDE.U32 R4, P0, R0, R1, R6", "[B------:R-:W-:-:S04]", r(0, 1, 6, 7), append(r(4, 5), p(0))},
		{"MATCH.ANY.U64 R0, R2", "[B------:R-:W0:-:S04]", r(2, 3), append(r(0), sb(0))},
		{"BSSY B3, 0x40", "[B------:R-:W-:-:S04]", nil, []sass.Resource{cb(3)}},
		{"BSYNC B3", "[B------:R-:W-:-:S04]", []sass.Resource{cb(3)}, nil},
		{"@P0 BREAK B3", "[B------:R-:W-:-:S04]", []sass.Resource{cb(3), p(0)}, []sass.Resource{cb(3)}},
		{"BMOV.32.CLEAR R2, B1", "[B------:R-:W-:-:S04]", []sass.Resource{cb(1)}, append(r(2), cb(1))},
		{"BMOV.32 B1, R2", "[B------:R-:W-:-:S04]", r(2), []sass.Resource{cb(1)}},
		{"DEPBAR.LE SB5, 0x2, {1,0}", "[B------:R-:W-:-:S04]", []sass.Resource{sb(0), sb(1), sb(5)}, nil},
		{"P2R R0, PR, RZ, 0x5", "[B------:R-:W-:-:S04]", []sass.Resource{p(0), p(2)}, r(0)},
		{"R2P PR, R0, 0x6", "[B------:R-:W-:-:S04]", r(0), []sass.Resource{p(1), p(2)}},
		{"PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0", "[B------:R-:W-:-:S04]", []sass.Resource{p(1), p(2)}, []sass.Resource{p(0)}},
		{"RET.REL.NODEC R20 0x0", "[B------:R-:W-:-:S05]", r(20, 21), nil},
		{"HMMA.884.F32.F32.STEP1 R6, R2.ROW, R4.COL, R8", "[B------:R-:W-:-:S04]", r(2, 3, 4, 5, 8, 9), r(6, 7)},
		{"LEA.HI.X.SX32 R9, R0, R1, 0x1, P0", "[B------:R-:W-:-:S04]", append(r(0, 1), p(0)), r(9)},
		{"LDS.128 R252, [RZ]", "[B------:R-:W0:-:S04]", nil, append(r(252, 253, 254), sb(0))},
	}
	for _, tt := range tests {
		control, err := sass.ParseControl(tt.control)
		if err != nil {
			t.Fatal(err)
		}
		i, err := sass.Parse(sass.SM70, 0x100, tt.text, control)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range []struct {
			what      string
			got, want []sass.Resource
		}{{"uses", i.Uses(nil), tt.uses}, {"defs", i.Defs(nil), tt.defs}} {
			slices.Sort(c.got)
			slices.Sort(c.want)
			if !slices.Equal(c.got, c.want) {
				t.Errorf("%s: %s %v, want %v", tt.text, c.what, c.got, c.want)
			}
		}
	}
}

func TestTextWith(t *testing.T) {
	label := func(target uint64) string {
		if target == 0x40 {
			return "`(.L_x_1)"
		}
		return ""
	}
	for _, tt := range []struct{ text, want string }{
		{"@P0 BRA 0x40", "@P0 BRA `(.L_x_1)"},
		{"BRA 0x80", "BRA 0x80"},
		{"BSSY B0, 0x40", "BSSY B0, `(.L_x_1)"},
		{"RET.REL.NODEC R20 0x40", "RET.REL.NODEC R20 `(.L_x_1)"},
		{"BRX R8 0x40", "BRX R8 0x40"},
	} {
		i := assemble(t, tt.text)
		if got := i.TextWith(label); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestEncodeErrors holds that what a word has no room for is an error.
func TestEncodeErrors(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		change func(*sass.Inst)
		want   string
	}{
		{"modifier value", "FADD R0, R1, R2", func(i *sass.Inst) { i.Mods[1].Value = 9 },
			"encode FADD: modifier 1 has no value 9"},
		{"operator", "IADD3 R0, R1, R2, R3", func(i *sass.Inst) { i.Operands[3].Abs = true },
			"encode IADD3: operand A: no such unary operator"},
		{"target alignment", "BRA 0x40", func(i *sass.Inst) { i.Operands[1].Imm = 0x42 },
			"encode BRA: operand target: value out of range"},
		{"target range", "BSSY B0, 0x40", func(i *sass.Inst) { i.Operands[2].Imm = 1 << 40 },
			"encode BSSY: operand target: value out of range"},
		{"offset", "LDG.SYS R0, [R2]", func(i *sass.Inst) { i.Operands[2].Offset = 1 << 23 },
			"encode LDG: operand address: value out of range"},
		{"constant offset", "MOV R0, c[0x0][0x160]", func(i *sass.Inst) { i.Operands[1].Offset = 0x161 },
			"encode MOV: operand B: constant offset 0x161 is no multiple of 4"},
		{"double immediate", "DADD R0, R2, 1", func(i *sass.Inst) { i.Operands[2].Imm |= 1 },
			"encode DADD: operand B: value out of range"},
		{"stall", "NOP", func(i *sass.Inst) { i.Control.Stall = 12 },
			"encode NOP: stall count 12 without yield: 1 to 11"},
		{"operand count", "NOP", func(i *sass.Inst) { i.Operands = make([]sass.Operand, 1) },
			"encode NOP: 0 modifiers and 1 operands, the form has 0 and 0"},
		{"form", "NOP", func(i *sass.Inst) { i.Form = nil }, "encode NOP: no form"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := assemble(t, tt.text)
			tt.change(&i)
			if _, err := sass.Encode(&i); err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestEncodeChanges holds that changed fields reach the word.
func TestEncodeChanges(t *testing.T) {
	i := assemble(t, "@P1 BRA 0x40")
	i.Operands[1].Imm = 0x200
	i.Guard.Neg = true
	i.Control.WaitMask = 0x21
	w, err := sass.Encode(&i)
	if err != nil {
		t.Fatal(err)
	}
	back, err := sass.Decode(sass.SM70, i.PC, w)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := back.Text()+" "+back.Control.String(), "@!P1 BRA 0x200 [B0----5:R-:W-:-:S01]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCoverage holds that every form of sm_70 has a golden. Of the forms of later architectures it counts those that do.
func TestCoverage(t *testing.T) {
	have := make(map[*sass.Form]int)
	for _, g := range readGoldens(t) {
		if i, err := sass.Decode(sass.SM70, 0, g.word); err == nil {
			have[i.Form]++
		}
	}
	for _, arch := range laterArchs {
		for _, g := range readGoldenFile(t, fmt.Sprintf("testdata/sm_%d.txt", arch)) {
			if i, err := sass.Decode(arch, 0, g.word); err == nil {
				have[i.Form]++
			}
		}
	}
	forms := sass.Forms()
	for k := range forms {
		if f := &forms[k]; have[f] == 0 && f.Archs&1 != 0 {
			t.Errorf("no golden for row %d: %s %#03x", k, f.Op, f.Opcode)
		}
	}
	t.Logf("%d rows, %d with goldens", len(forms), len(have))
}

// FuzzDecode holds that no word makes the package panic, and that an accepted word encodes to itself and prints a text that
// parses to an instruction with the same text.
func FuzzDecode(f *testing.F) {
	for n, arch := range allArchs {
		for k, g := range readGoldenFile(f, fmt.Sprintf("testdata/sm_%d.txt", arch)) {
			if k%16 == 0 {
				f.Add(uint8(n), g.word.Lo, g.word.Hi)
			}
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, lo, hi uint64) {
		arch, w := allArchs[int(n)%len(allArchs)], sass.Word{Lo: lo, Hi: hi}
		i, err := sass.Decode(arch, 0x80, w)
		if err != nil {
			return
		}
		if back, err := sass.Encode(&i); err != nil || back != w {
			t.Errorf("%s: encode: got %x, %v, want %x", &i, back, err, w)
		}
		i.Uses(nil)
		i.Defs(nil)
		if i.Text() == "" {
			t.Errorf("%x: no text", w)
		}
		text := i.AssemblyText(nil)
		if j, err := sass.Parse(arch, 0x80, text, i.Control); err != nil || j.AssemblyText(nil) != text {
			t.Errorf("%x: %s parses to %q, %v", w, text, &j, err)
		}
	})
}

// TestRandomRoundTrip is FuzzDecode on random words of every form, and parses their text.
func TestRandomRoundTrip(t *testing.T) {
	for _, arch := range allArchs {
		for _, w := range sass.RandomWords(arch, rand.New(rand.NewSource(3)), 6) {
			i, err := sass.Decode(arch, 0, w)
			if err != nil {
				continue // an operand without a legal value
			}
			if back, err := sass.Encode(&i); err != nil || back != w {
				t.Errorf("%s: encode: got %x, %v, want %x", &i, back, err, w)
			}
			text := i.AssemblyText(nil)
			if j, err := sass.Parse(arch, 0, text, i.Control); err != nil || j.AssemblyText(nil) != text {
				t.Errorf("sm_%d %x: %s parses to %q, %v", arch, w, text, &j, err)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	words := goldenWords(b)
	insts := make([]sass.Inst, len(words))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		var err error
		if insts[n%len(words)], err = sass.Decode(sass.SM70, 0, words[n%len(words)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	words := goldenWords(b)
	insts := make([]sass.Inst, len(words))
	for k, w := range words {
		insts[k], _ = sass.Decode(sass.SM70, 0, w)
	}
	var buf []byte
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		buf = insts[n%len(insts)].AppendText(buf[:0], nil)
	}
}

func BenchmarkParse(b *testing.B) {
	goldens := readGoldens(b)
	control := sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if _, err := sass.Parse(sass.SM70, 0, goldens[n%len(goldens)].text, control); err != nil {
			b.Fatal(err)
		}
	}
}

func goldenWords(b *testing.B) []sass.Word {
	var words []sass.Word
	for _, g := range readGoldens(b) {
		words = append(words, g.word)
	}
	return words
}
