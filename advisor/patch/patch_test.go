package patch

import (
	"errors"
	"strings"
	"testing"
)

// An applied case is a source, a change of it, and what the source is then, "" for no change.
type appliedCase struct {
	name, source string
	change       func(*Source) ([]byte, error)
	want         string
}

func checkApplied(t *testing.T, cases []appliedCase) {
	t.Helper()
	for _, c := range cases {
		got, err := c.change(NewSource([]byte(c.source)))
		switch {
		case c.want == "" && !errors.Is(err, ErrNothing):
			t.Errorf("%s: %v, %q; wanted no change", c.name, err, got)
		case c.want != "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case string(got) != c.want:
			t.Errorf("%s:\n%s\nwanted\n%s", c.name, got, c.want)
		}
	}
}

func unroll(line, factor int) func(*Source) ([]byte, error) {
	return func(s *Source) ([]byte, error) { return s.Unroll(line, factor) }
}

func TestUnroll(t *testing.T) {
	checkApplied(t, []appliedCase{
		{"header", "void f() {\n\tfor (int i = 0; i < n; i++) {\n\t\tx += i;\n\t}\n}\n", unroll(2, 4),
			"void f() {\n\t#pragma unroll 4\n\tfor (int i = 0; i < n; i++) {\n\t\tx += i;\n\t}\n}\n"},
		{"line in the body", "  for (;;)\n    x++;\n", unroll(2, 2), "  #pragma unroll 2\n  for (;;)\n    x++;\n"},
		{"inner loop", "for (;;) {\n  for (;;)\n    x++;\n  y++;\n}\n", unroll(3, 2), "for (;;) {\n  #pragma unroll 2\n  for (;;)\n    x++;\n  y++;\n}\n"},
		{"outer loop by its own line", "for (;;) {\n  for (;;)\n    x++;\n  y++;\n}\n", unroll(4, 2), "#pragma unroll 2\nfor (;;) {\n  for (;;)\n    x++;\n  y++;\n}\n"},
		{"innermost of one line", "for (;;) for (;;) x++;\n", unroll(1, 2), "for (;;) \n#pragma unroll 2\nfor (;;) x++;\n"},
		{"pragma there", "#pragma unroll 1\nfor (;;) x++;\n", unroll(2, 8), "#pragma unroll 8\nfor (;;) x++;\n"},
		{"pragma nounroll", "#pragma nounroll\nfor (;;) x++;\n", unroll(2, Full), "#pragma unroll\nfor (;;) x++;\n"},
		{"the same pragma", "#pragma unroll 8\nfor (;;) x++;\n", unroll(2, 8), ""},
		{"another pragma", "#pragma diag\nfor (;;) x++;\n", unroll(2, 8), "#pragma diag\n#pragma unroll 8\nfor (;;) x++;\n"},
		{"directive in the body", "for (;;) {\n#if X\n  x++;\n#endif\n}\n", unroll(3, 2), "#pragma unroll 2\nfor (;;) {\n#if X\n  x++;\n#endif\n}\n"},
		{"macro", "#define LOOP for (;;) { \\\n  x++; }\nLOOP\n", unroll(2, 2), ""},
		{"braces in comments", "for (;;) { // }\n  /* } */ x++;\n}\nfor (;;) y++;\n", unroll(2, 2), "#pragma unroll 2\nfor (;;) { // }\n  /* } */ x++;\n}\nfor (;;) y++;\n"},
		{"in a comment", "// for (;;)\nx++;\n", unroll(1, 2), ""},
		{"in a string", "s = \"for (;;) x++;\";\n", unroll(1, 2), ""},
		{"raw string", "s = R\"a(\nfor (;;) { \")\n)a\"; while (x)\n  y++;\n", unroll(4, 2), "s = R\"a(\nfor (;;) { \")\n)a\"; \n#pragma unroll 2\nwhile (x)\n  y++;\n"},
		{"do", "do {\n  x++;\n} while (x < 3);\n", unroll(3, 2), "#pragma unroll 2\ndo {\n  x++;\n} while (x < 3);\n"},
		{"do without braces, if and else", "do if (a) b(); else c(); while (x);\nwhile (y) z++;\n", unroll(2, 2), "do if (a) b(); else c(); while (x);\n#pragma unroll 2\nwhile (y) z++;\n"},
		{"header over lines", "  for (int i = 0;\n       i < n;\n       i++)\n    x++;\n", unroll(3, 4), "  #pragma unroll 4\n  for (int i = 0;\n       i < n;\n       i++)\n    x++;\n"},
		{"behind if", "  if (a) for (;;) x++;\n", unroll(1, 4), "  if (a) \n  #pragma unroll 4\n  for (;;) x++;\n"},
		{"lines end with carriage return", "a;\r\nfor (;;)\r\n  x++;\r\n", unroll(2, 2), "a;\r\n#pragma unroll 2\r\nfor (;;)\r\n  x++;\r\n"},
		{"template", "template <int N> __global__ void f(A<B<int>> a) {\n  for (int i = 0; i < N >> 1; i++) a[i] <<= 1;\n}\n", unroll(2, 2),
			"template <int N> __global__ void f(A<B<int>> a) {\n  #pragma unroll 2\n  for (int i = 0; i < N >> 1; i++) a[i] <<= 1;\n}\n"},
		{"no loop", "x++;\n", unroll(1, 2), ""},
		{"open brace", "for (;;) { x++;\n", unroll(1, 2), ""},
		{"spliced comment", "// a \\\nfor (;;) x++;\nx++;\n", unroll(2, 2), ""},
		{"digit separators", "for (int i = 0; i < 1'000; i++)\n  x++;\n", unroll(1, 2), "#pragma unroll 2\nfor (int i = 0; i < 1'000; i++)\n  x++;\n"},
	})
}

func restrict(s *Source) ([]byte, error) { return s.Restrict("k") }

func TestRestrict(t *testing.T) {
	checkApplied(t, []appliedCase{
		{"const where only read", "extern \"C\" __global__ void k(float *x, float *y, int n) { y[0] = x[n] + x[n + 1]; }\n", restrict,
			"extern \"C\" __global__ void k(const float *__restrict__ x, float *__restrict__ y, int n) { y[0] = x[n] + x[n + 1]; }\n"},
		{"star at the type", "extern \"C\" __global__ void k(float* x) { x[0] = 1; }", restrict, "extern \"C\" __global__ void k(float* __restrict__ x) { x[0] = 1; }"},
		{"C++ linkage: const is part of the symbol", "__global__ void k(float *x, float *y) { y[0] = x[0]; }", restrict, "__global__ void k(float *__restrict__ x, float *__restrict__ y) { y[0] = x[0]; }"},
		{"some have it", "__global__ void k(const float *__restrict__ x, float *y) { y[0] = x[0]; }", restrict, "__global__ void k(const float *__restrict__ x, float *__restrict__ y) { y[0] = x[0]; }"},
		{"all have it", "__global__ void k(const float *__restrict__ x) {}", restrict, ""},
		{"pointers to pointers and constant pointers", "__global__ void k(float **x, float *const y, A<int *, 2> z) { }", restrict, "__global__ void k(float **__restrict__ x, float *const __restrict__ y, A<int *, 2> z) { }"},
		{"functions, arrays, references", "__global__ void k(void (*f)(int *), float x[], float *&y) { }", restrict, ""},
		{"written, escaping, changed", "extern \"C\" __global__ void k(int *a, int *b, int *c, int *d, int *e, V *g) {\n a[0]++; f(b); c += 1; int *p = &d[1]; e[0].x = 1; ++g[0]; }", restrict,
			"extern \"C\" __global__ void k(int *__restrict__ a, int *__restrict__ b, int *__restrict__ c, int *__restrict__ d, int *__restrict__ e, V *__restrict__ g) {\n a[0]++; f(b); c += 1; int *p = &d[1]; e[0].x = 1; ++g[0]; }"},
		{"declared before", "extern \"C\" __global__ void k(int *a);\nextern \"C\" __global__ void k(int *a) { int x = a[0]; }", restrict,
			"extern \"C\" __global__ void k(int *a);\nextern \"C\" __global__ void k(int *__restrict__ a) { int x = a[0]; }"},
		{"comments", "__global__ void k(float * /* in, { */ x, // out\n  float *y) { }", restrict, "__global__ void k(float *__restrict__ /* in, { */ x, // out\n  float *__restrict__ y) { }"},
		{"launch bounds", "__global__ void __launch_bounds__(256) k(float *x) { x[0]++; }", restrict, "__global__ void __launch_bounds__(256) k(float *__restrict__ x) { x[0]++; }"},
		{"another function", "void k(float *x) { }", restrict, ""},
		{"two of the name", "template <int N> __global__ void k(int *x) { } __global__ void k(float *x) { }", restrict, ""},
	})
}

func bounds(threads, blocks int) func(*Source) ([]byte, error) {
	return func(s *Source) ([]byte, error) { return s.LaunchBounds("k", threads, blocks) }
}

func TestLaunchBounds(t *testing.T) {
	checkApplied(t, []appliedCase{
		{"none", "extern \"C\" __global__ void k(float *x) { }", bounds(128, 4), "extern \"C\" __global__ void __launch_bounds__(128, 4) k(float *x) { }"},
		{"threads alone", "template <class T>\n__global__ void\nk(T x) { }", bounds(128, 0), "template <class T>\n__global__ void\n__launch_bounds__(128) k(T x) { }"},
		{"others", "__global__ void __launch_bounds__(T * (2), 1) k() { }", bounds(128, 4), "__global__ void __launch_bounds__(128, 4) k() { }"},
		{"the same", "__launch_bounds__(128, 4) __global__ void k() { }", bounds(128, 4), ""},
		{"a call is no definition", "__global__ void a() { k(); }", bounds(128, 4), ""},
	})
}

func floats(lines ...int) func(*Source) ([]byte, error) {
	return func(s *Source) ([]byte, error) { return s.FloatConstants(lines) }
}

func TestFloatConstants(t *testing.T) {
	checkApplied(t, []appliedCase{
		{"kinds of constants", "__device__ void k(float x) { x = 2.0 * x + .5 + 3. + 1e-3 + 0x1p3 + 1'0.0 + 2.0f + 1.0L + 7 + 0x1e + 1.0_km; }", floats(),
			"__device__ void k(float x) { x = 2.0f * x + .5f + 3.f + 1e-3f + 0x1p3f + 1'0.0f + 2.0f + 1.0L + 7 + 0x1e + 1.0_km; }"},
		{"lines", "__global__ void k(float x) {\n  x = 1.0;\n  x = 2.0; // 3.0\n}", floats(3), "__global__ void k(float x) {\n  x = 1.0;\n  x = 2.0f; // 3.0\n}"},
		{"doubles stay", "__global__ void k(float x) { double a = 1.0, b; b = 2.0 * a; x = (double)x * 2.0; x = 3.0; }", floats(), "__global__ void k(float x) { double a = 1.0, b; b = 2.0 * a; x = (double)x * 2.0; x = 3.0f; }"},
		{"pointers to double", "__global__ void k(const double *p, float x) { x = p[0] * 2.0; }", floats(), ""},
		{"host code", "void k(float x) { x = 2.0; }", floats(), ""},
	})
}

func fast(lines ...int) func(*Source) ([]byte, error) {
	return func(s *Source) ([]byte, error) { return s.FastFunctions(lines) }
}

// inFloats puts statements into a function with float x, y, p[] and int i, j.
func inFloats(statements string) string {
	return "__global__ void k(float x, float y, float *p, double d, int i, int j) { " + statements + " }"
}

func TestFastFunctions(t *testing.T) {
	var cases []appliedCase
	for _, c := range []struct{ from, to string }{
		{"x = expf(y) + sinf(x);", "x = __expf(y) + __sinf(x);"},
		{"x = exp(y);", "x = __expf(y);"},
		{"x = exp(d);", ""},
		{"x = exp(g);", ""},
		{"x = a.expf(y);", ""},
		{"x = std::expf(y);", ""},
		{"x = x / y;", "x = __fdividef(x, y);"},
		{"x = expf(x) / (y + 1.0f);", "x = __fdividef(__expf(x), (y + 1.0f));"},
		{"x = i / j;", ""},
		{"x = p[i / j];", ""},
		{"x = p[i / j] / y;", "x = __fdividef(p[i / j], y);"},
		{"x = d / y;", ""},
		{"x = (float)i / y;", ""},
		{"x = y / (float)i;", ""},
		{"x = x * y / 3.0f;", "x = x * __fdividef(y, 3.0f);"},
		{"x = x / y / 3.0f;", "x = __fdividef(x, y) / 3.0f;"},
		{"x = *p / y;", ""},
		{"x = -x / y;", "x = -__fdividef(x, y);"},
		{"x /= y;", ""},
		{"x = 1.0f / sqrtf(x * x + y);", "x = rsqrtf(x * x + y);"},
		{"x = 1.0f / sqrtf(x) * y;", "x = rsqrtf(x) * y;"},
		{"return (x + y) / (x - y);", "return __fdividef((x + y), (x - y));"},
		{"x = (x / y) / y;", "x = __fdividef((__fdividef(x, y)), y);"},
		{"x = \"a / 2.0f\"[0]; // x / y", ""},
		{"x = i ? x : y / 2.0f;", "x = i ? x : __fdividef(y, 2.0f);"},
	} {
		want := ""
		if c.to != "" {
			want = inFloats(c.to)
		}
		cases = append(cases, appliedCase{c.from, inFloats(c.from), fast(), want})
	}
	checkApplied(t, cases)
}

func TestInline(t *testing.T) {
	inline := func(s *Source) ([]byte, error) { return s.Inline("f") }
	checkApplied(t, []appliedCase{
		{"noinline", "__device__ __noinline__ float f(float x) { return x; }", inline, "__device__ __forceinline__ float f(float x) { return x; }"},
		{"neither", "static __device__ float f(float x) { return x; }", inline, "static __device__ __forceinline__ float f(float x) { return x; }"},
		{"both declarations", "__device__ __forceinline__ float f(float x) { return x; }", inline, ""},
		{"overloads", "__device__ int f(int x) { return x; } __device__ int f(float x) { return x; }", inline, ""},
	})
}

func TestDiff(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"
	after := "1\n2\n3\n4\nx\n5\n6\n7\n8\n9\n10\n11\ny"
	want := "--- a\n+++ b\n@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+x\n 5\n 6\n 7\n@@ -9,5 +10,4 @@\n 9\n 10\n 11\n-12\n-13\n+y\n\\ No newline at end of file\n"
	if got := Diff("a", "b", []byte(before), []byte(after)); got != want {
		t.Errorf("%s\nwanted\n%s", got, want)
	}
	if got := Diff("a", "b", []byte(before), []byte(before)); got != "" {
		t.Errorf("equal texts differ: %s", got)
	}
}

// FuzzPatches holds that no text makes a patch panic, and that what it changes is what it says: the text without the pragma is the one before.
func FuzzPatches(f *testing.F) {
	for _, s := range []string{"", "for (", "do ; while (x);", "R\"(", "'", "#pragma \\\n", "/*", "__global__ void k(float *", inFloats("x = x / y; for (;;) ;"), "\"\\", "1e+", "}{)(]["} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		s := NewSource([]byte(source))
		for line := range strings.Count(source, "\n") + 2 {
			if got, err := s.Unroll(line, 3); err == nil && !strings.Contains(string(got), "#pragma unroll 3") {
				t.Errorf("%q became %q", source, got)
			}
		}
		_, _ = s.Restrict("k")
		_, _ = s.LaunchBounds("k", 32, 0)
		_, _ = s.FloatConstants(nil)
		_, _ = s.FastFunctions(nil)
		_, _ = s.Inline("k")
	})
}

func TestSourceName(t *testing.T) {
	for from, want := range map[string]string{
		"k": "k", "scale<3>": "scale", "ns::scale<float, (int)2>(float*)": "scale", "void a::b::k<1>": "k", "(anonymous namespace)::k": "k",
	} {
		if got := SourceName(from); got != want {
			t.Errorf("%s: %q", from, got)
		}
	}
}
