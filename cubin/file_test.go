package cubin

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func open(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// golden compares a text with the file of that name in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestContents holds everything that the reader finds in a file against a list that was checked with cuobjdump -elf.
func TestContents(t *testing.T) {
	for _, name := range []string{"module.cubin", "linked.cubin", "inline.cubin", "flow.cubin"} {
		t.Run(name, func(t *testing.T) { golden(t, name+".txt", contents(open(t, name))) })
	}
}

// contents lists a file.
func contents(f *File) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("sm_%d externs %v", f.Arch, f.Externs)
	p("global %d bytes, %d initialized, align %d", f.Global.Size, len(f.Global.Init), f.Global.Align)
	for _, c := range f.Codes {
		p("code %s: %d instructions", c.Name, len(c.Insts))
		for _, fn := range c.Functions {
			p("  %04x +%04x kind %d frame %d %s = %s", fn.Offset, fn.Size, fn.Kind, fn.Frame, fn.Name, fn.Demangled)
		}
		var pcs []uint64
		for pc := range c.IndirectTargets {
			pcs = append(pcs, pc)
		}
		slices.Sort(pcs)
		for _, pc := range pcs {
			p("  %04x branches to %04x", pc, c.IndirectTargets[pc])
		}
	}
	for _, k := range f.Kernels {
		p("kernel %s = %s at %s+%#x", k.Name, k.Demangled, k.Code.Name, k.Entry)
		p("  registers %d shared %d local %d barriers %d", k.Registers, k.SharedStatic, k.LocalFrame, k.Barriers)
		p("  max threads %v required %v", k.MaxThreads, k.ReqThreads)
		p("  bank 0: %d bytes, parameters %d at %#x %v; bank 2: %x", k.ConstBank0Size, k.ParamSize, k.ParamBase, k.Params, k.ConstBank2)
		p("  externs %v called at %x", k.Externs, k.Syscalls)
	}
	for _, v := range f.Variables {
		p("variable %s space %d %s %#x +%d", v.Name, v.Space, v.Kernel, v.Offset, v.Size)
	}
	for _, bank := range f.Banks {
		p("bank %d %s %x", bank.Number, bank.Kernel, bank.Data)
	}
	for _, r := range f.Relocs {
		p("reloc %d %s+%#x = %s + %#x: %s", r.Kind, r.Section, r.Offset, r.Symbol, r.Addend, targetText(&r.Target))
	}
	for _, e := range f.CallGraph {
		p("call %s -> %s indirect %t", e.Caller, e.Callee, e.Indirect)
	}
	return b.String()
}

func targetText(t *Target) string {
	switch {
	case t.Extern != "":
		return "extern " + t.Extern
	case t.Code != nil:
		return fmt.Sprintf("code %s+%#x", t.Code.Name, t.Offset)
	case t.Global:
		return fmt.Sprintf("global+%#x", t.Offset)
	case t.Constant:
		return fmt.Sprintf("constant+%#x", t.Offset)
	}
	return "nothing"
}

func TestKernelByName(t *testing.T) {
	f := open(t, "inline.cubin")
	for _, test := range []struct{ name, symbol, err string }{
		{name: "chain", symbol: "chain"},
		{name: "_Z5scaleILi3EEvPfi", symbol: "_Z5scaleILi3EEvPfi"},
		{name: "scale<3>", symbol: "_Z5scaleILi3EEvPfi"},
		{name: "scale<4>", symbol: "_Z5scaleILi4EEvPfi"},
		{name: "scale", err: `testdata/inline.cubin: no kernel "scale"; it has scale<4>, scale<3>, chain`},
		{name: "", err: `testdata/inline.cubin: no kernel ""; it has scale<4>, scale<3>, chain`},
	} {
		t.Run(test.name, func(t *testing.T) {
			k, err := f.Kernel(test.name)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Fatalf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || k.Name != test.symbol {
				t.Fatalf("kernel %v, error %v", k, err)
			}
		})
	}
}

// TestFindKernel holds that people need not spell a kernel's name as the compiler does.
func TestFindKernel(t *testing.T) {
	f := &File{Name: "f.cubin", Kernels: []*Kernel{
		{Name: "_Z5scaleILj32EEvPf", Demangled: "scale<32u>"}, {Name: "_Z5scaleILj64EEvPf", Demangled: "scale<64u>"},
		{Name: "_Z5scalePf", Demangled: "scale"}, {Name: "a", Demangled: "(anonymous namespace)::gather<float, 4ul>"},
		{Name: "_Z1ki", Demangled: "k"}, {Name: "_Z1kf", Demangled: "k"},
	}}
	for _, c := range []struct{ name, symbol, err string }{
		{"scale", "_Z5scalePf", ""},
		{"scale<32>", "_Z5scaleILj32EEvPf", ""},
		{"scale<6", "_Z5scaleILj64EEvPf", ""},
		{"gather<float,4>", "a", ""},
		{"gath", "a", ""},
		{"_Z5scaleILj3", "_Z5scaleILj32EEvPf", ""},
		{"scale<", "", `f.cubin: "scale<" is ambiguous: scale<32u>, scale<64u>`},
		{"k", "", `f.cubin: "k" is ambiguous: _Z1ki, _Z1kf`},
		{"row", "", `f.cubin: no kernel "row"; it has scale<32u>, scale<64u>, scale, (anonymous namespace)::gather<float, 4ul>, k, k`},
		{"", "", `f.cubin: no kernel ""; it has scale<32u>, scale<64u>, scale, (anonymous namespace)::gather<float, 4ul>, k, k`},
	} {
		k, err := f.FindKernel(c.name)
		switch {
		case err != nil && err.Error() != c.err, err == nil && c.err != "":
			t.Errorf("%q: error %v, want %s", c.name, err, c.err)
		case err == nil && k.Name != c.symbol:
			t.Errorf("%q: %s, want %s", c.name, k.Name, c.symbol)
		}
	}
}

func TestKernelNameIsAmbiguous(t *testing.T) {
	f := &File{Name: "f.cubin", Kernels: []*Kernel{
		{Name: "_Z1ki", Demangled: "k"}, {Name: "_Z1kf", Demangled: "k"},
	}}
	_, err := f.Kernel("k")
	if want := `f.cubin: "k" is ambiguous: _Z1ki, _Z1kf`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if k, err := f.Kernel("_Z1kf"); err != nil || k != f.Kernels[1] {
		t.Errorf("by symbol: %v, %v", k, err)
	}
}

func TestManyKernelsAreNotAllListed(t *testing.T) {
	f := &File{Name: "f.cubin"}
	for i := range 25 {
		name := fmt.Sprintf("k%d", i)
		f.Kernels = append(f.Kernels, &Kernel{Name: name, Demangled: name})
	}
	_, err := f.Kernel("x")
	if err == nil || !strings.HasSuffix(err.Error(), "k19, and 5 more") {
		t.Errorf("error %v", err)
	}
}

func TestLookups(t *testing.T) {
	f := open(t, "module.cubin")
	k, err := f.Kernel("calls")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.KernelOf(k.Code); got != k {
		t.Errorf("kernel of %s is %v", k.Code.Name, got)
	}
	for _, test := range []struct {
		pc       uint64
		function string
	}{{0, "calls"}, {0x2d0, "calls"}, {0x2e0, "twice"}, {0x368, "twice"}, {0x370, "square"}, {0xb70, "ackermann"}} {
		if fn := k.Code.FunctionAt(test.pc); fn == nil || fn.Demangled != test.function {
			t.Errorf("function at %#x is %v, want %s", test.pc, fn, test.function)
		}
	}
	if fn := k.Code.FunctionAt(k.Code.Size()); fn != nil {
		t.Errorf("function behind the section is %v", fn)
	}
	if i, ok := k.Code.InstIndex(0x20); i != 2 || !ok {
		t.Errorf("instruction at 0x20 is %d, %t", i, ok)
	}
	for _, pc := range []uint64{8, k.Code.Size()} {
		if _, ok := k.Code.InstIndex(pc); ok {
			t.Errorf("an instruction begins at %#x", pc)
		}
	}
	if v := f.Variable("big"); v == nil || v.Size != 800 {
		t.Errorf("variable big is %v", v)
	}
	if v := f.Variable("nothing"); v != nil {
		t.Errorf("variable nothing is %v", v)
	}
	linked := open(t, "linked.cubin")
	for _, code := range linked.Codes {
		if k := linked.KernelOf(code); (k == nil) != (code.Functions[0].Kind != KernelFunction) {
			t.Errorf("kernel of section %s is %v", code.Name, k)
		}
	}
}

func TestDemangle(t *testing.T) {
	for _, test := range []struct{ symbol, want string }{
		{"saxpy", "saxpy"},
		{"_Z5scaleILi3EEvPfi", "scale<3>"},
		{"_ZN2ns4talkEi", "ns::talk"},
		{"_ZN12_GLOBAL__N_13fooEi", "(anonymous namespace)::foo"},
		{"_ZZN1A1fEvENKUliE_clEi", "A::f()::{lambda(int)#1}::operator()"},
		{"_ZN8__main__5scaleB2v1B6cw51cXEx", "__main__::scale"},
		{"_Zbroken", "_Zbroken"},
		{"", ""},
	} {
		if got := Demangle(test.symbol); got != test.want {
			t.Errorf("Demangle(%q) = %q, want %q", test.symbol, got, test.want)
		}
	}
}

func TestFunctionName(t *testing.T) {
	for _, test := range []struct {
		section, symbol, want string
		kind                  FunctionKind
	}{
		{"fptr", "$fptr$_Z2f0iPi", "_Z2f0iPi", DeviceFunction},
		{"k", "$__internal_0_$__cuda_sm20_sqrt_rn_f32_slowpath", "__cuda_sm20_sqrt_rn_f32_slowpath", InternalFunction},
		{"k", "$k$__cuda_sm3x_div_rn_noftz_f32_slowpath", "__cuda_sm3x_div_rn_noftz_f32_slowpath", InternalFunction},
		{"__cuda_sm20_div_s64", "__cuda_sm20_div_s64", "__cuda_sm20_div_s64", InternalFunction},
		{"_Z5twicei", "_Z5twicei", "_Z5twicei", DeviceFunction},
		{"k", "$__internal_0", "$__internal_0", InternalFunction},
		{"k", "$other$_Z1fv", "$other$_Z1fv", DeviceFunction},
	} {
		name, kind := functionName(test.section, test.symbol)
		if name != test.want || kind != test.kind {
			t.Errorf("functionName(%q, %q) = %q, %d, want %q, %d", test.section, test.symbol, name, kind, test.want, test.kind)
		}
	}
}

// A kernel whose calls the compiler could not follow says so in the place of its stack.
func TestUnknownStack(t *testing.T) {
	r := &reader{stack: make(map[int]stackUse)}
	for symbol, value := range []uint32{64, unknownStack, 1 << 31} {
		r.noteStack(attrMinStackSize, symbol, value)
	}
	if r.stack[0].minStack != 64 || r.stack[1].minStack != 0 || r.stack[2].minStack != 1<<31-1 {
		t.Errorf("%v", r.stack)
	}
}
