package branch

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/cfg"
)

var update = flag.Bool("update", false, "rewrite testdata/branches.txt")

// open reads a file of testdata and the control flow of its sections.
func open(t testing.TB, name string) (*cubin.File, []*cfg.Graph) {
	t.Helper()
	return openFile(t, "testdata/"+name)
}

// openFile reads a file and the control flow of its sections.
func openFile(t testing.TB, name string) (*cubin.File, []*cfg.Graph) {
	t.Helper()
	module, err := cubin.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var graphs []*cfg.Graph
	for _, code := range module.Codes {
		g, err := cfg.Build(module, code)
		if err != nil {
			t.Fatal(err)
		}
		graphs = append(graphs, g)
	}
	return module, graphs
}

// find returns the branches of a kernel of testdata/branches.cu.
func find(t testing.TB, arch int, kernel string) (*cubin.File, []Branch) {
	t.Helper()
	module, graphs := open(t, fmt.Sprintf("branches.sm_%d.cubin", arch))
	for _, k := range module.Kernels {
		if k.Name == kernel {
			list, err := Find(module, graphs, k)
			if err != nil {
				t.Fatal(err)
			}
			return module, list
		}
	}
	t.Fatalf("no kernel %s", kernel)
	return nil, nil
}

// TestTypes holds the branches of kernels that Gupta and Datta look at: the guard and the reduction of vector_dot are
// extrinsic, its sum is intrinsic however often it is unrolled; gaussian has no intrinsic branches.
func TestTypes(t *testing.T) {
	var got strings.Builder
	for _, arch := range []int{70, 80} {
		for _, kernel := range []string{"vector_dot", "bfs", "fan2", "kinds", "selected"} {
			fmt.Fprintf(&got, "%s sm_%d\n", kernel, arch)
			module, list := find(t, arch, kernel)
			for i := range list {
				b := &list[i]
				code := module.Codes[b.Code]
				fmt.Fprintf(&got, "  line %d: %s: %s: %s\n", code.Line(b.PC).Line, code.Insts[b.Inst].Text(), b.Type, b.Origins)
			}
		}
	}
	const file = "testdata/branches.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

func TestOriginsType(t *testing.T) {
	for _, test := range []struct {
		origins Origins
		want    Type
	}{
		{0, Uniform},
		{Param | Geometry, Uniform},
		{Param | Loop, Intrinsic},
		{Thread | CTA | Geometry | Param, Extrinsic},
		{Thread | Loop, Extrinsic},
		{CTA, Extrinsic},
		{Thread | Data, Intrinsic},
		{Thread | Warp, Intrinsic},
		{Data | Loop, Intrinsic},
		{Thread | Float | Loop, Intrinsic},
		{Param | Float, Uniform},
	} {
		if got := test.origins.Type(); got != test.want {
			t.Errorf("%s: %s, want %s", test.origins, got, test.want)
		}
	}
}

func TestParseRule(t *testing.T) {
	for _, test := range []struct {
		text string
		want Rule
		bad  string // part of the error
	}{
		{text: "a.cu:12=extrinsic", want: Rule{"a.cu", 12, 12, Extrinsic}},
		{text: "src/a.cu:12-20=intrinsic", want: Rule{"src/a.cu", 12, 20, Intrinsic}},
		{text: "a.cu:1=uniform", want: Rule{"a.cu", 1, 1, Uniform}},
		{text: "a.cu:12", bad: "no type"},
		{text: "a.cu=intrinsic", bad: "no line"},
		{text: "a.cu:x=intrinsic", bad: "no lines"},
		{text: "a.cu:9-8=intrinsic", bad: "no lines"},
		{text: "a.cu:0=intrinsic", bad: "no lines"},
		{text: "a.cu:8=inner", bad: "no type of branches"},
		{text: ":8=uniform", bad: "no line"},
	} {
		got, err := ParseRule(test.text)
		if test.bad != "" {
			if err == nil || !strings.Contains(err.Error(), test.bad) {
				t.Errorf("%s: %v, want %q", test.text, err, test.bad)
			}
			continue
		}
		if err != nil || got != test.want || got.String() != test.text {
			t.Errorf("%s: %+v, %v", test.text, got, err)
		}
	}
}

func FuzzParseRule(f *testing.F) {
	f.Add("a.cu:12-20=intrinsic")
	f.Add("a:1=uniform")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRule(text)
		if err != nil {
			return
		}
		if again, err := ParseRule(r.String()); err != nil || again != r {
			t.Errorf("%q: %q, %v", text, r.String(), err)
		}
	})
}

// TestApply: all copies of the unrolled sum of vector_dot have the type that a rule gives its lines, the last rule wins,
// and a rule that no branch is on is seen.
func TestApply(t *testing.T) {
	module, list := find(t, 70, "vector_dot")
	rules := []Rule{{"branches.cu", 1, 20, Uniform}, {"branches.cu", 13, 15, Extrinsic}, {"other.cu", 14, 14, Extrinsic}, {"branches.cu", 9, 9, Extrinsic}}
	if diff := cmp.Diff([]int{0, len(list) - 1, 0, 1}, Apply(module, list, rules)); diff != "" {
		t.Error(diff)
	}
	for i := range list {
		b := &list[i]
		if b.Type != Extrinsic || b.Rule == nil {
			t.Errorf("%#x: %s", b.PC, b.Type)
		}
		if want := b.Origins.Type() != Extrinsic; b.Contradicts() != want {
			t.Errorf("%#x (%s): contradiction %v", b.PC, b.Origins, b.Contradicts())
		}
	}
}

// BenchmarkFind slices the branches of real kernels.
func BenchmarkFind(b *testing.B) {
	module, graphs := open(b, "branches.sm_70.cubin")
	insts := 0
	for _, c := range module.Codes {
		insts += len(c.Insts)
	}
	for b.Loop() {
		for _, k := range module.Kernels {
			if _, err := Find(module, graphs, k); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(insts)*float64(b.N)/b.Elapsed().Seconds(), "inst/s")
}

// large makes a function of 10,000 instructions, of which every fourth is a branch, one in seven of them back; one in fifty waits
// at a barrier.
func large(b *testing.B) (*cubin.File, []*cfg.Graph) {
	b.Helper()
	const blocks = 2500
	rng := rand.New(rand.NewPCG(1, 2))
	text := []byte(".arch sm_70\n.kernel large\n    S2R R0, SR_TID.X\n")
	for i := range blocks {
		to := min(blocks, i+1+rng.IntN(30))
		if i%7 == 6 {
			to = max(0, i-rng.IntN(20))
		}
		r := func() int { return rng.IntN(100) }
		text = fmt.Appendf(text, "at%d:\n    IADD3 R%d, R%d, R%d, RZ\n    IMAD R%d, R%d, R%d, R%d\n    ISETP.GE.AND P%d, PT, R%d, 0x5, PT\n@P%d BRA at%d\n",
			i, r(), r(), r(), r(), r(), r(), r(), rng.IntN(7), r(), rng.IntN(7), to)
		if i%50 == 49 {
			text = append(text, "    BAR.SYNC 0x0\n"...)
		}
	}
	data, err := asm.Assemble("large.sass", fmt.Appendf(text, "at%d:\n    EXIT\n", blocks))
	if err != nil {
		b.Fatal(err)
	}
	module, err := cubin.NewFile("large", data)
	if err != nil {
		b.Fatal(err)
	}
	g, err := cfg.Build(module, module.Codes[0])
	if err != nil {
		b.Fatal(err)
	}
	return module, []*cfg.Graph{g}
}

// BenchmarkFindLarge slices the branches of a large function.
func BenchmarkFindLarge(b *testing.B) {
	module, graphs := large(b)
	for b.Loop() {
		list, err := Find(module, graphs, module.Kernels[0])
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(list)), "branches")
	}
}

// BenchmarkWarningsLarge looks for warnings in a large function.
func BenchmarkWarningsLarge(b *testing.B) {
	module, graphs := large(b)
	for b.Loop() {
		list, err := Warnings(module, graphs, module.Kernels[0])
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(list)), "warnings")
	}
}
