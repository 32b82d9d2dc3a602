package cxx

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestEval evaluates what stands between the brackets of eval(…).
func TestEval(t *testing.T) {
	for _, c := range []struct {
		source string
		want   float64
		fails  bool
	}{
		{source: "eval(1 + 2 * 3)", want: 7},
		{source: "eval((1 << 20) >> 2)", want: 1 << 18},
		{source: "eval(7 / 2 * 2.0f)", want: 6},
		{source: "eval(-7 % 4)", want: -3},
		{source: "eval(1'000u + 0x10)", want: 1016},
		{source: "eval(1e-3f * 1000)", want: 1},
		{source: "#define N 1024\n#define BLOCK (N / 4)\neval((N + BLOCK - 1) / BLOCK)", want: 4},
		{source: "#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))\neval(CEIL_DIV(1000, 256))", want: 4},
		{source: "static inline int div_up(int a, int b) { return (a + b - 1) / b; }\nint main() { int n = 1000; eval(div_up(n, 256)); }", want: 4},
		{source: "int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 4096; eval(n * sizeof(float4)); }", want: 65536},
		{source: "int n = 100; if (argc > 1) n = atoi(argv[1]); eval(n)", want: 100},
		{source: "int n = 1; n = 2; eval(n)", want: 2},
		{source: "const size_t bytes = (size_t)3 * sizeof(double), other = 4; eval(bytes + other)", want: 28},
		{source: "eval((int)ceil((float)1000 / 256))", want: 4},
		{source: "eval(std::min(3, 4) + max(1, 2))", want: 5},
		{source: "eval(static_cast<int>(2.9))", want: 2},
		{source: "eval(true && 3 < 2 || !0)", want: 1},
		{source: "eval(1 ? 2 ? 3 : 4 : 5)", want: 3},
		{source: "eval(width)", fails: true},
		{source: "int n = n; eval(n)", fails: true},
		{source: "#define A B\n#define B A\neval(A)", fails: true},
		{source: "eval(1 / 0)", fails: true},
		{source: "eval(sizeof())", fails: true},
		{source: "p.n = 3; eval(n)", fails: true},
		{source: "eval(1 +)", fails: true},
	} {
		s := NewSource([]byte(c.source))
		v, ok := evalBracket(s)
		if ok == c.fails || ok && v.Number() != c.want {
			t.Errorf("%q: %+v, %v", c.source, v, ok)
		}
	}
}

// TestEvalLong gives up where definitions name each other many times.
func TestEvalLong(t *testing.T) {
	text := "#define A0 1\n"
	for i := range 15 {
		text += fmt.Sprintf("#define A%d A%d + A%d + A%d + A%d\n", i+1, i, i, i, i)
	}
	if _, ok := evalBracket(NewSource([]byte(text + "eval(A15)"))); ok {
		t.Errorf("%v", ok)
	}
	if v, ok := evalBracket(NewSource([]byte(text + "eval(A3)"))); !ok || v.Int != 64 {
		t.Errorf("%v, %v", v, ok)
	}
}

// evalBracket evaluates the argument of the last call of eval.
func evalBracket(s *Source) (v Value, ok bool) {
	for i := range s.Tokens {
		if s.At(i) == "eval" && s.At(i+1) == "(" && s.Match(i+1) > i+2 {
			v, ok = s.Eval(i+2, s.Match(i+1)-1)
		}
	}
	return v, ok
}

// TestEvalAnything evaluates what is no expression.
func TestEvalAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"(", ")", "[", "]", "a", "b", "1", "2.f", "+", "-", "?", ":", ">", ">>", "<", "<<", ",", "*", "sizeof", "float", "a=", "=", ";", "{", "}", "return", "static_cast", "\n#define a b\n", "\n#define f(a) a\n", "f", "::", "\""}), 1, 40).Draw(t, "words")
		text := ""
		for _, w := range words {
			text += w + " "
		}
		s := NewSource([]byte(text))
		for i := range s.Tokens {
			s.Eval(i, len(s.Tokens)-1)
			s.Parts(i, len(s.Tokens)-1)
		}
		for _, f := range s.Functions("") {
			s.Parameters(&f)
		}
	})
}

// A cast without a type ends the text.
func TestEvalUnfinishedCast(t *testing.T) {
	for _, text := range []string{"static_cast <", "static_cast < >", "static_cast < > ( 1"} {
		s := NewSource([]byte(text))
		if v, ok := s.Eval(0, len(s.Tokens)-1); ok {
			t.Errorf("%s: %v", text, v)
		}
	}
}

func TestElementOf(t *testing.T) {
	for name, want := range map[string]Element{
		"const float": {"f32", 1}, "float4": {"f32", 4}, "unsigned long long": {"u64", 1}, "std::uint32_t": {"u32", 1}, "__half2": {"f16", 2}, "longlong2": {"i64", 2},
		"float * ": {}, "struct body": {}, "half24": {}, "4": {}, "": {}, "uchar3": {"u8", 3},
	} {
		if got := ElementOf(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
