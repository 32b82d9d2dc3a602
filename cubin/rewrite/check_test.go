package rewrite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// assemble makes a file of one kernel from lines of control code and instruction.
func assemble(t *testing.T, lines ...string) *cubin.File {
	t.Helper()
	return assembleFor(t, sass.SM70, lines...)
}

func assembleFor(t *testing.T, isa sass.Arch, lines ...string) *cubin.File {
	t.Helper()
	code := &cubin.Code{Name: "k"}
	for i, line := range lines {
		control, text, _ := strings.Cut(line, " ")
		c, err := sass.ParseControl(control)
		if err != nil {
			t.Fatal(err)
		}
		in, err := sass.Parse(isa, uint64(i)*sass.InstSize, text, c)
		if err != nil {
			t.Fatal(err)
		}
		code.Insts = append(code.Insts, in)
	}
	code.Functions = []cubin.Function{{Name: "k", Size: code.Size()}}
	return &cubin.File{Name: "test", Arch: isa, Codes: []*cubin.Code{code}}
}

// corpus returns the cubins of the repository's kernels whose instructions are all known.
func corpus(t testing.TB) map[string]*cubin.File {
	t.Helper()
	names, err := filepath.Glob("../../kernels/*/*/*.cubin.gz")
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]*cubin.File)
	for _, name := range names {
		file, err := cubin.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = latencies(file.Arch)
		if err == nil && !slices.ContainsFunc(file.Codes, func(c *cubin.Code) bool { return c.Err != nil }) {
			files[filepath.Base(name)] = file
		}
	}
	if len(files) == 0 {
		t.Fatal("no cubins")
	}
	return files
}

func TestCheck(t *testing.T) {
	const exit = "[B------:R-:W-:-:S05] EXIT"
	tests := []struct {
		name  string
		lines []string
		want  []string // hazard and resource of the findings
	}{
		{"arithmetic covered", []string{
			"[B------:R-:W-:-:S04] IADD3 R0, R1, R2, RZ", "[B------:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, nil},
		{"arithmetic too early", []string{
			"[B------:R-:W-:-:S03] IADD3 R0, R1, R2, RZ", "[B------:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, []string{"RAW R0"}},
		{"from ALU to FMA", []string{
			"[B------:R-:W-:-:S04] IADD3 R0, R1, R2, RZ", "[B------:R-:W-:-:S01] FMUL R3, R0, R2", exit}, []string{"RAW R0"}},
		{"two cycles between", []string{
			"[B------:R-:W-:-:S02] IADD3 R0, R1, R2, RZ", "[B------:R-:W-:-:S02] IADD3 R4, R1, R2, RZ",
			"[B------:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, nil},
		{"barriers kept in registers", []string{
			"[B------:R-:W-:-:S01] BSSY B0, 0x60", "[B------:R-:W1:-:S02] BMOV.32.CLEAR R6, B0",
			"[B-1----:R-:W-:-:S01] BMOV.32 B0, R6", "[B------:R-:W-:-:S05] BSYNC B0", exit}, nil},
		{"guard too early", []string{
			"[B------:R-:W-:-:S11] ISETP.NE.AND P0, PT, R0, RZ, PT", "[B------:R-:W-:-:S01] @P0 IADD3 R3, R0, R2, RZ", exit},
			[]string{"RAW P0"}},
		{"load waited for", []string{
			"[B------:R-:W2:-:S02] LDG.E.SYS R0, [R2]", "[B--2---:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, nil},
		{"load with a counter that nobody waits for", []string{
			"[B------:R-:W2:-:S02] LDG.E.SYS R0, [R2]", "[B-1----:R-:W-:-:S01] IADD3 R5, R0, R2, RZ", exit}, []string{"RAW R0"}},
		{"waits before the counter counts", []string{
			"[B------:R-:W2:-:S01] LDG.E.SYS R0, [R2]", "[B--2---:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, []string{"wait SB2"}},
		{"load overwritten", []string{
			"[B------:R-:W2:-:S02] LDG.E.SYS R0, [R2]", "[B------:R-:W-:-:S01] IADD3 R0, R5, R4, RZ", exit}, []string{"WAW R0"}},
		{"address overwritten", []string{
			"[B------:R-:W2:-:S02] LDG.E.SYS R0, [R2]", "[B------:R-:W-:-:S01] IADD3 R3, R5, R4, RZ", exit}, []string{"WAR R3"}},
		{"address read before", []string{
			"[B------:R1:W2:-:S02] LDG.E.SYS R0, [R2]", "[B-1----:R-:W-:-:S01] IADD3 R3, R5, R4, RZ", exit}, nil},
		{"shared loads finish in order", []string{
			"[B------:R-:W-:-:S01] LDS.U R0, [R2]", "[B------:R-:W0:-:S02] LDS.U R1, [R2]",
			"[B0-----:R-:W-:-:S01] IADD3 R3, R0, R2, RZ", exit}, nil},
		{"a shared load after a wider one", []string{
			"[B------:R-:W0:-:S04] LDS.U.128 R8, [R2]", "[B------:R-:W1:-:S02] LDS.U R10, [R2]",
			"[B01----:R-:W-:-:S01] IADD3 R3, R8, R10, RZ", exit}, nil},
		{"a barrier waits for shuffles to read", []string{
			"[B------:R-:W5:-:S02] SHFL.IDX PT, R11, R10, R5, 0x1f", "[B------:R-:W-:-:S05] BAR.SYNC 0x0",
			"[B------:R-:W-:-:S01] IADD3 R5, R1, R2, RZ", exit}, nil},
		{"global loads do not", []string{
			"[B------:R-:W-:-:S01] LDG.E.SYS R0, [R2]", "[B------:R-:W0:-:S02] LDG.E.SYS R1, [R2]",
			"[B0-----:R-:W-:-:S01] IADD3 R4, R0, R2, RZ", exit}, []string{"RAW R0"}},
		{"textures but for the last", []string{
			"[B------:R-:W5:-:S02] TEX.SCR.LL RZ, R0, R4, R6, 0x0, 0x5a, 2D, 0x1", "[B------:R-:W5:-:S02] TEX.SCR.LL RZ, R1, R4, R6, 0x0, 0x5a, 2D, 0x1",
			"[B------:R-:W-:-:S04] DEPBAR.LE SB5, 0x1", "[B------:R-:W-:-:S05] FADD R9, R0, R0", "[B------:R-:W-:-:S01] FADD R8, R1, R1", exit}, []string{"RAW R1"}},
		{"one texture but for the last", []string{
			"[B------:R-:W5:-:S02] TEX.SCR.LL RZ, R0, R4, R6, 0x0, 0x5a, 2D, 0x1", "[B------:R-:W-:-:S04] @P0 BRA 0x30",
			"[B------:R-:W5:-:S02] TEX.SCR.LL RZ, R1, R4, R6, 0x0, 0x5a, 2D, 0x1", "[B------:R-:W-:-:S04] DEPBAR.LE SB5, 0x1",
			"[B------:R-:W-:-:S01] FADD R9, R0, R0", exit}, []string{"RAW R0"}},
		{"one of two paths", []string{
			"[B------:R-:W0:-:S02] LDG.E.SYS R0, [R2]", "[B------:R-:W-:-:S05] @P0 BRA 0x30", "[B0-----:R-:W-:-:S01] NOP",
			"[B------:R-:W-:-:S01] IADD3 R4, R0, R2, RZ", exit}, []string{"RAW R0"}},
		{"around a loop", []string{
			"[B------:R-:W-:-:S01] IADD3 R4, R0, R2, RZ", "[B------:R-:W0:-:S02] LDG.E.SYS R0, [R2]",
			"[B------:R-:W-:-:S05] @P0 BRA 0x0", exit}, []string{"RAW R0"}},
		{"operands of other lanes", []string{
			"[B------:R-:W2:-:S02] @P0 LDG.E.SYS R0, [R2]", "[B------:R-:W-:-:S01] @!P0 IADD3 R3, R5, R4, RZ", exit}, nil},
		{"opposite guards", []string{
			"[B------:R-:W0:-:S02] @P0 MUFU.RCP R0, R2", "[B------:R-:W-:-:S01] @!P0 MOV R0, R5", exit}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkFinds(t, assemble(t, test.lines...), test.want) })
	}
}

// checkFinds holds what Check says of a file, a hazard and a resource each.
func checkFinds(t *testing.T, file *cubin.File, want []string) {
	t.Helper()
	found, err := Check(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.Hazard.String()+" "+resourceName(f.Resource))
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestCheckGroups holds a warpgroup's products: their registers are theirs until their group has been waited for.
func TestCheckGroups(t *testing.T) {
	const exit = "[B------:R-:W-:-:S05] EXIT"
	for _, test := range []struct {
		name        string
		lines, want []string
	}{
		{"a product of a warpgroup", []string{
			"[B------:R-:W-:-:S01] HGMMA.64x8x16.F32 R24, gdesc[UR8], R24", "[B------:R-:W-:-:S01] HGMMA.64x8x16.F32 R24, gdesc[UR12], R24, gsb0",
			"[B------:R-:W-:-:S01] WARPGROUP.DEPBAR.LE gsb0, 0x0", "[B------:R-:W-:-:S05] FADD R0, R24, R25", exit}, nil},
		{"one that nothing waits for", []string{
			"[B------:R-:W-:-:S01] HGMMA.64x8x16.F32 R24, gdesc[UR8], R24, gsb0", "[B------:R-:W-:-:S01] HGMMA.64x8x16.F32 R28, gdesc[UR12], R28, gsb0",
			"[B------:R-:W-:-:S01] WARPGROUP.DEPBAR.LE gsb0, 0x1", "[B------:R-:W-:-:S05] FADD R0, R24, R24", "[B------:R-:W-:-:S05] FADD R0, R28, R28", exit}, []string{"RAW R28"}},
		{"an operand of one", []string{
			"[B------:R-:W-:-:S01] HGMMA.64x8x16.F32 R24, R4, gdesc[UR8], R24, gsb0", "[B------:R-:W-:-:S05] MOV R5, RZ",
			"[B------:R-:W-:-:S01] WARPGROUP.DEPBAR.LE gsb0, 0x0", exit}, []string{"WAR R5"}},
	} {
		t.Run(test.name, func(t *testing.T) { checkFinds(t, assembleFor(t, sass.SM90, test.lines...), test.want) })
	}
}

// TestCheckCompiler holds the checker's idea of the machine against what NVIDIA's compiler relies on.
func TestCheckCompiler(t *testing.T) {
	for name, file := range corpus(t) {
		found, err := Check(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range found {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// TestCheckSeesLostWaits takes away what covers dependences, one wait or stall at a time. Compilers wait a little more
// than they must, so that not every loss is a fault; more than half are.
func TestCheckSeesLostWaits(t *testing.T) {
	file, err := cubin.Open("../../kernels/linear/sgemm_tiled/sgemm_tiled.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	code := file.Codes[0]
	tried, seen := 0, 0
	try := func(i int, change func(*sass.Control)) {
		in := &code.Insts[i]
		old := in.Control
		change(&in.Control)
		found, err := Check(file)
		if err != nil {
			t.Fatal(err)
		}
		in.Control = old
		if tried++; len(found) > 0 {
			seen++
		}
	}
	for i := range code.Insts {
		c := code.Insts[i].Control
		if c.WaitMask != 0 {
			try(i, func(c *sass.Control) { c.WaitMask = 0 })
		}
		if c.Stall >= 4 {
			try(i, func(c *sass.Control) { c.Stall = 1 })
		}
	}
	if tried < 20 || seen*2 < tried {
		t.Errorf("of %d changed control codes, %d were found", tried, seen)
	}
	t.Logf("%d of %d", seen, tried)
}

func BenchmarkCheck(b *testing.B) {
	files := corpus(b)
	n := 0
	for b.Loop() {
		n = 0
		for _, file := range files {
			if _, err := Check(file); err != nil {
				b.Fatal(err)
			}
			for _, code := range file.Codes {
				n += len(code.Insts)
			}
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "instructions/s")
}
