package launch

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const good = `# a comment
module: saxpy.sm_70.cubin
stack: 4096
buffers:
  x: {type: f32, shape: [4], init: {uniform: [-1, 1], seed: 7}}
  y: {type: f32, shape: [4], init: {file: y.npy}}
  p: {type: u64, shape: [1], pointers: [{at: 0, buffer: x, offset: 4}]}
launches:
  - kernel: saxpy
    grid: [128]
    block: [16, 16]
    args: [{i32: 4}, {f32: 1e-5}, {buffer: x}, {buffer: y, offset: 8}, {bytes: "00ff"}]
expect:
  y: {file: y.expected.npy, rtol: 1e-5, atol: 1e-6}
`

// noFiles is an empty folder.
var noFiles Dir = fstest.MapFS{}

func TestParse(t *testing.T) {
	f, err := Parse("a.yaml", []byte(good), noFiles)
	if err != nil {
		t.Fatal(err)
	}
	if f.Module != "saxpy.sm_70.cubin" || f.Stack != 4096 || f.Heap != DefaultHeap || f.Caches != Cold {
		t.Errorf("file: %+v", f)
	}
	if names := []string{f.Buffers[0].Name, f.Buffers[1].Name, f.Buffers[2].Name}; !slices.Equal(names, []string{"x", "y", "p"}) {
		t.Errorf("buffers %v", names)
	}
	if x := f.Buffers[0]; x.Type != F32 || x.Init.Kind != InitUniform || x.Init.Seed != 7 || x.Init.A.f != -1 {
		t.Errorf("x = %+v", x)
	}
	l := f.Launches[0]
	if l.Kernel != "saxpy" || l.Grid != [3]int{128, 1, 1} || l.Block != [3]int{16, 16, 1} || l.Repeat != 1 {
		t.Errorf("launch %+v", l)
	}
	if a := l.Args[1]; a.Type != F32 || a.Value.f != 1e-5 {
		t.Errorf("second argument %+v", a)
	}
	if a := l.Args[3]; a.Buffer != "y" || a.Offset != 8 {
		t.Errorf("fourth argument %+v", a)
	}
	if e := f.Expect[0]; e.Rtol != 1e-5 || e.Atol != 1e-6 {
		t.Errorf("expectation %+v", e)
	}
}

// TestAliases holds that anchors and aliases, which programs write for values that they use twice, stand for their values.
func TestAliases(t *testing.T) {
	text := strings.Replace(strings.Replace(good, "shape: [4]", "shape: &one [4]", 1), "shape: [4]", "shape: *one", 1)
	f, err := Parse("a.yaml", []byte(text), noFiles)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := f.Buffers[0].Shape, f.Buffers[1].Shape; !slices.Equal(x, []int{4}) || !slices.Equal(y, x) {
		t.Errorf("shapes %v and %v", x, y)
	}
	for text, want := range map[string]string{
		"module: *none\n": "no &none stands before",
		"module: a.cubin\nbuffers:\n  x: &x {type: f32, shape: &s [" + strings.Repeat("1, ", 1000) + "1]}\n  y: {type: f32, shape: *s}\n": "more than a short value",
		"module: a.cubin\nbuffers: {x: {type: f32, shape: [&a 1]}, y: {type: f32, shape: &b [*a]}, z: {type: f32, shape: *b}}\n":          "without aliases",
	} {
		if _, err := Parse("a.yaml", []byte(text), noFiles); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", want, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"unknown key", "stack: 4096", "stak: 4096", "a.yaml:3: stak: unknown key; the keys here are buffers"},
		{"duplicate key", "stack: 4096", "module: b", "a.yaml:3: mapping key \"module\" already defined"},
		{"syntax", "[128]", "[128", "a.yaml:1"},
		{"type", "type: u64", "type: u65", `a.yaml:7: buffers.p.type: "u65" is not a type`},
		{"missing type", "type: u64, ", "", "a.yaml:7: buffers.p: the type is missing"},
		{"missing value", "stack: 4096", "stack:", "a.yaml:3: stack: a value is missing"},
		{"negative shape", "shape: [1]", "shape: [-1]", "a.yaml:7: buffers.p.shape[0]: -1 is not an integer"},
		{"huge shape", "shape: [1]", "shape: [1000000, 1000000]", "a.yaml:7: buffers.p.shape: the buffer is larger"},
		{"grid 0", "grid: [128]", "grid: [0]", "a.yaml:10: launches[0].grid[0]: 0 is not an integer from 1"},
		{"four dimensions", "grid: [128]", "grid: [1, 1, 1, 1]", "a.yaml:10: launches[0].grid: one to three"},
		{"no grid", "    grid: [128]\n", "", "a.yaml:9: launches[0]: grid: the key is missing"},
		{"argument range", "{i32: 4}", "{i32: 4294967296}", "a.yaml:12: launches[0].args[0].i32: 4294967296 is out of the range of i32"},
		{"argument type", "{i32: 4}", "{i32: 4.5}", "4.5 is not an integer that i32 can hold"},
		{"argument name", "{i32: 4}", "{int: 4}", "launches[0].args[0].int: unknown key"},
		{"two arguments in one", "{i32: 4}", "{i32: 4, u32: 4}", "an argument is one of"},
		{"unknown buffer", "{buffer: x}", "{buffer: z}", `launches[0].args[2]: there is no buffer "z"`},
		{"hex", `"00ff"`, `"0ff"`, "not hexadecimal digits"},
		{"pointer to nowhere", "buffer: x, offset: 4", "buffer: q", `there is no buffer "q"`},
		{"f32 overflow", "1e-5}, {buffer: x}", "1e39}, {buffer: x}", "out of the range of f32"},
		{"two generators", "seed: 7", "fill: 7", "more than one way"},
		{"empty range", "[-1, 1]", "[1, 1]", "uniform needs a low end"},
		{"negative tolerance", "rtol: 1e-5", "rtol: -1", "a tolerance is not negative"},
		{"caches", "stack: 4096", "caches: hot", `"hot" is neither cold nor warm`},
		{"alias", "stack: 4096", "stack: *x", "a.yaml:3: stack: no &x stands before *x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(good, test.old, test.new, 1)
			if text == good {
				t.Fatal("the case changes nothing")
			}
			_, err := Parse("a.yaml", []byte(text), noFiles)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v\nwant %s", err, test.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			var e *Error
			if !errors.As(err, &e) || e.File != "a.yaml" {
				t.Errorf("%v does not name the file", err)
			}
		})
	}
	for _, text := range []string{"", "# nothing\n", "module: a\nlaunches: []\n", "launches: [{kernel: k, grid: [1], block: [1]}]\n", "a: 1\n---\nb: 2\n", "- 1\n", "just text"} {
		if _, err := Parse("a.yaml", []byte(text), noFiles); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// FuzzParse begins with small files, as YAML takes its time; TestMutatedFiles of cmd/gpa changes whole ones.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"launches: [{kernel: k, grid: [1], block: [2, 2], args: [{i32: 4}, {buffer: b, offset: 8}, {bytes: \"00ff\"}]}]",
		"launches: [{kernel: k, grid: [1], block: [2], args: [{tensormap: {buffer: a, type: f16, dims: [64, 8], strides: [128], box: [64, 8]}}]}]",
		"buffers: {b: {type: f32, shape: [4], init: {uniform: [-1, 1], seed: 7}}}", "expect: {b: {file: b.npy, rtol: 1e-5}}", "a: &x [*x, *x]",
	} {
		f.Add([]byte("module: m\n" + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("f.yaml", data, noFiles)
		if (file == nil) == (err == nil) && err == nil {
			t.Error("neither a file nor an error")
		}
	})
}

// TestFillEnds holds that buffers are filled as long as the context lasts: large ones take minutes.
func TestFillEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, in := range []Init{{Kind: InitUniform, B: intNumber(1)}, {Kind: InitNormal, B: intNumber(1)}, {Kind: InitFill}, {Kind: InitIota}, {Kind: InitPermutation}} {
		if err := in.generate(ctx, I32, make([]byte, 64)); !errors.Is(err, context.Canceled) {
			t.Errorf("kind %d: error %v", in.Kind, err)
		}
	}
}

// The vectors are those of the splitmix64 reference with seed 0 and 7.
func TestGenerators(t *testing.T) {
	if got := draw(0, 0); got != 0xe220a8397b1dcdaf {
		t.Errorf("draw(0, 0) = %#x", got)
	}
	floats := func(in Init, e Elem, n int) []float64 {
		data := make([]byte, n*e.Size())
		if err := in.generate(t.Context(), e, data); err != nil {
			t.Fatal(err)
		}
		out := make([]float64, n)
		for i := range out {
			out[i] = e.get(data[i*e.Size():]).f
		}
		return out
	}
	if got := floats(Init{Kind: InitIota, A: intNumber(5), B: intNumber(-2)}, I16, 4); !slices.Equal(got, []float64{5, 3, 1, -1}) {
		t.Errorf("iota: %v", got)
	}
	p := floats(Init{Kind: InitPermutation, Seed: 3}, U32, 1000)
	slices.Sort(p)
	for i, v := range p {
		if v != float64(i) {
			t.Fatalf("permutation lacks %d", i)
		}
	}
	for _, e := range []Elem{F16, BF16, F32, F64, I8, U64} {
		sum := 0.0
		for _, v := range floats(Init{Kind: InitUniform, A: intNumber(2), B: intNumber(6), Seed: 9}, e, 20000) {
			if v < 2 || v >= 6 {
				t.Fatalf("%s: %v is outside [2, 6)", e, v)
			}
			sum += v
		}
		want := 4.0
		if !e.IsFloat() {
			want = 3.5
		}
		if mean := sum / 20000; math.Abs(mean-want) > 0.05 {
			t.Errorf("%s: mean %v, want %v", e, mean, want)
		}
	}
	mean, square := 0.0, 0.0
	for _, v := range floats(Init{Kind: InitNormal, A: intNumber(3), B: intNumber(2)}, F32, 20000) {
		mean += v / 20000
		square += (v - 3) * (v - 3) / 20000
	}
	if math.Abs(mean-3) > 0.05 || math.Abs(square-4) > 0.15 {
		t.Errorf("normal: mean %v, variance %v", mean, square)
	}
	if err := (&Init{Kind: InitIota, A: intNumber(0), B: intNumber(100)}).generate(t.Context(), I8, make([]byte, 4)); err == nil {
		t.Error("iota past the range of i8 is accepted")
	}
}
func TestHalf(t *testing.T) {
	for h := range uint32(0x10000) {
		v := float16Value(uint16(h))
		if got := float16Bits(v); got != uint16(h) && !math.IsNaN(v) {
			t.Fatalf("float16 %#04x is %v is %#04x", h, v, got)
		}
		b := float64(math.Float32frombits(h << 16))
		if got := bfloat16Bits(b); got != uint16(h) && !math.IsNaN(b) {
			t.Fatalf("bfloat16 %#04x is %v is %#04x", h, b, got)
		}
	}
	tests := []struct {
		v         float64
		half, b16 uint16
	}{
		{1 + 0x1p-11, 0x3c00, 0x3f80}, // ties to even
		{1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80},
		{1 + 0x3p-11, 0x3c02, 0x3f80},
		{1 + 0x1p-8, 0x3c04, 0x3f80},
		{1 + 0x1p-8 + 0x1p-40, 0x3c04, 0x3f81}, // not twice rounded
		{0x1p-25, 0, 0x3300},
		{0x1.8p-25, 1, 0x3340},
		{65519, 0x7bff, 0x4780},
		{-65520, 0xfc00, 0xc780},
	}
	for _, test := range tests {
		if h, b := float16Bits(test.v), bfloat16Bits(test.v); h != test.half || b != test.b16 {
			t.Errorf("%v: %#04x %#04x, want %#04x %#04x", test.v, h, b, test.half, test.b16)
		}
	}
}

func TestNpy(t *testing.T) {
	a := &Array{Descr: "f4", Shape: []int{2, 3}, Data: make([]byte, 24)}
	a.Data[5] = 9
	file := WriteNpy(a)
	if len(file)%64 != 24 {
		t.Errorf("data at %d", len(file)-24)
	}
	b, err := ReadNpy(file)
	if err != nil || !slices.Equal(b.Shape, a.Shape) || b.Descr != a.Descr || !slices.Equal(b.Data, a.Data) {
		t.Errorf("%+v, %v", b, err)
	}
	columns := &Array{Descr: "u1", Shape: []int{2, 3}, Data: []byte{1, 4, 2, 5, 3, 6}}
	fortran := strings.Replace(string(WriteNpy(columns)), "'fortran_order': False", "'fortran_order': True ", 1)
	if c, err := ReadNpy([]byte(fortran)); err != nil || !slices.Equal(c.Data, []byte{1, 2, 3, 4, 5, 6}) {
		t.Errorf("Fortran order: %+v, %v", c, err)
	}
	for name, bad := range map[string][]byte{
		"empty":    nil,
		"text":     []byte("hello, world, this is no array"),
		"cut off":  file[:40],
		"one less": file[:len(file)-1],
		"object":   []byte(strings.Replace(string(file), "'<f4'", "'|O8'", 1)),
		"overflow": WriteNpy(&Array{Descr: "f4", Shape: []int{1 << 32, 1 << 32}}),
	} {
		if _, err := ReadNpy(bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReadNpy(f *testing.F) {
	f.Add(WriteNpy(&Array{Descr: "i2", Shape: []int{3}, Data: make([]byte, 6)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ReadNpy(data)
		if err != nil {
			return
		}
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		if size := int(a.Descr[1] - '0'); n*size != len(a.Data) {
			t.Errorf("shape %v of %s with %d bytes", a.Shape, a.Descr, len(a.Data))
		}
	})
}

func TestExpectation(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name      string
		x         Expectation
		got, want float64
		ok        bool
	}{
		{"equal", Expectation{}, 1, 1, true},
		{"zeros", Expectation{}, math.Copysign(0, -1), 0, true},
		{"within rtol", Expectation{Rtol: 1e-3}, 1000.5, 1000, true},
		{"beyond rtol", Expectation{Rtol: 1e-4}, 1000.5, 1000, false},
		{"within atol", Expectation{Atol: 1}, 0.5, 0, true},
		{"NaN", Expectation{}, nan, nan, true},
		{"NaN for a number", Expectation{Rtol: 1}, nan, 1, false},
		{"infinity", Expectation{}, inf, inf, true},
		{"a number for infinity", Expectation{Rtol: 1}, 1e300, inf, false},
		{"infinity for a number", Expectation{Rtol: 1}, inf, 1, false},
	}
	for _, test := range tests {
		if ok := test.x.matches(floatNumber(test.got), floatNumber(test.want)); ok != test.ok {
			t.Errorf("%s: %v", test.name, ok)
		}
	}
	for _, test := range []struct {
		x       Expectation
		e       Elem
		precise bool
	}{{Expectation{Rtol: 1e-9}, F64, true}, {Expectation{}, F64, true}, {Expectation{Atol: 1e-9}, F64, true}, {Expectation{Rtol: 1e-6}, F64, false},
		{Expectation{Rtol: 1e-12, Atol: 1}, F64, false}, {Expectation{Rtol: 1e-9}, F32, false}} {
		want := make([]byte, 2*test.e.Size())
		if err := test.e.put(want, floatNumber(100)); err != nil {
			t.Fatal(err)
		}
		if c := test.x.compare(test.e, want, want); c.Precise != test.precise {
			t.Errorf("%s within %g and %g: %v", test.e, test.x.Rtol, test.x.Atol, c.Precise)
		}
	}
	c := (&Expectation{Name: "y"}).compare(I32, []byte{1, 0, 0, 0, 7, 0, 0, 0}, []byte{1, 0, 0, 0, 2, 0, 0, 0})
	if c.OK() || c.String() != "y: 1 of 2 values differ, the first at index 1: got 7, want 2" {
		t.Error(c.String())
	}
}

func TestParseArg(t *testing.T) {
	tests := []struct {
		text   string
		arg    Arg
		shape  []int
		kind   InitKind
		failed string
	}{
		{text: "i32:5", arg: Arg{Type: I32, Value: intNumber(5)}},
		{text: "f32:2.0", arg: Arg{Type: F32, Value: floatNumber(2)}},
		{text: "bytes:00ff", arg: Arg{Bytes: []byte{0, 255}}},
		{text: "f32[1024]:uniform(0,1)", shape: []int{1024}, kind: InitUniform},
		{text: "f32[4,8]:uniform(0, 1, 99)", shape: []int{4, 8}, kind: InitUniform},
		{text: "i32[8]", shape: []int{8}},
		{text: "i32[8]:permutation", shape: []int{8}, kind: InitPermutation},
		{text: "i8:300", failed: "out of the range of i8"},
		{text: "i32", failed: `"" is not a number`},
		{text: "x32:1", failed: `"x32" is not a type`},
		{text: "f32[a]:1", failed: "not of the form"},
		{text: "f32[2]:uniform(1)", failed: "uniform takes 2 numbers, not 1"},
		{text: "f32[2]:random", failed: `"random" is not a generator`},
		{text: "", failed: "not of the form"},
	}
	for _, test := range tests {
		a, b, err := ParseArg(test.text)
		switch {
		case test.failed != "":
			if err == nil || !strings.Contains(err.Error(), test.failed) {
				t.Errorf("%q: error %v", test.text, err)
			}
		case err != nil:
			t.Errorf("%q: %v", test.text, err)
		case test.shape != nil:
			if b == nil || !slices.Equal(b.Shape, test.shape) || b.Init.Kind != test.kind {
				t.Errorf("%q: %+v", test.text, b)
			}
		case a.Type != test.arg.Type || a.Value != test.arg.Value || !slices.Equal(a.Bytes, test.arg.Bytes):
			t.Errorf("%q: %+v", test.text, a)
		}
	}
}

// TestHostileYAML holds that files which the parser would take very much memory for are refused before.
func TestHostileYAML(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 60_000), strings.Repeat("{a: ", 60_000), strings.Repeat("- ", 60_000), strings.Repeat("? ", 60_000),
		strings.Repeat("[ # ]\n", 10_000), "launches: " + strings.Repeat("[", 33) + strings.Repeat("]", 33),
		"# " + strings.Repeat("x", 1<<20),
	} {
		_, err := Parse("bad.yaml", []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), "in each other") && !strings.Contains(err.Error(), "too many") {
			t.Errorf("%.20q…: %v", text, err)
		}
	}
}

// TestPlainElements holds that what is stored in one loop has the bytes that its elements have one by one, up to the one that cannot be stored so.
func TestPlainElements(t *testing.T) {
	const n = 5000
	short, long := false, false
	for _, in := range []Init{
		{A: intNumber(-1), B: intNumber(1)}, {A: intNumber(-7), B: intNumber(12)}, {A: floatNumber(-.5), B: floatNumber(2.5)},
		{A: floatNumber(1), B: floatNumber(1 + 0x1p-23)},         // every second one rounds to the upper end
		{A: intNumber(-5), B: intNumber(1 << 33)},                // most are beyond 32 bits
		{A: floatNumber(-1e39), B: floatNumber(1e39)},            // some are
		{A: floatNumber(-0x1p-149), B: floatNumber(0x1p-149)},    // they round to zeros of either sign
		{A: floatNumber(0), B: floatNumber(math.MaxFloat32 * 2)}, // half of them are
	} {
		in.Kind, in.Seed = InitUniform, 77
		for _, e := range []Elem{F32, I32, U32} {
			got, want := make([]byte, 4*n), make([]byte, 4*n)
			for first := 0; first < n; first++ {
				stored := in.plain(e, got[4*first:], uint64(first))
				for i := first; i < first+stored; i++ {
					if err := e.put(want[4*i:], in.element(e, uint64(i))); err != nil || !bytes.Equal(got[4*i:4*i+4], want[4*i:4*i+4]) {
						t.Fatalf("%s of %v to %v, element %d: % x, want % x, %v", e, in.A, in.B, i, got[4*i:4*i+4], want[4*i:4*i+4], err)
					}
				}
				first += stored
				short, long = short || first < n, long || stored == n
			}
		}
	}
	if !short || !long {
		t.Errorf("one loop ended early: %v, and stored all: %v", short, long)
	}
}
