package advisor

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTritonWords holds that every optimizer has words for Triton's authors, with one place, and none of CUDA C++.
func TestTritonWords(t *testing.T) {
	for _, o := range Optimizers() {
		words := tritonWords[o.Name()]
		if strings.Count(words, "%s") != 1 || strings.Count(words, "%") != 1 {
			t.Errorf("%s: %q does not have one place", o.Name(), words)
		}
		for _, w := range []string{"__", "float4", "#pragma", "-maxrregcount", "threadIdx"} {
			if strings.Contains(words, w) {
				t.Errorf("%s speaks of %s", o.Name(), w)
			}
		}
	}
	if len(tritonWords) != len(Optimizers()) {
		t.Errorf("%d optimizers have words, there are %d", len(tritonWords), len(Optimizers()))
	}
}

// TestLanguages holds which kernels count as Triton's and which as Numba's.
func TestLanguages(t *testing.T) {
	for _, tt := range []struct {
		file, kernel string
		want         language
	}{
		{"softmax.cu", "softmax", cudaC},
		{"softmax.cu", "_Z7softmaxPf", cudaC},
		{"softmax.py", "softmax", triton},
		{"softmax.py", "_ZN6cudapy8__main__7softmaxB2v1B38cE", numba},
		{"softmax.py", "_ZN8__main__4sumsB2v1B106cw51cXTE", numba},
	} {
		if got := languageIn(tt.file, tt.kernel); got != tt.want {
			t.Errorf("%s of %s: %d, want %d", tt.kernel, tt.file, got, tt.want)
		}
	}
}

// TestNumbaWords holds that no sentence of the package's advice speaks of CUDA C++ to those who write Numba's Python.
func TestNumbaWords(t *testing.T) {
	foreign := regexp.MustCompile(`(^|[^a-z])__[a-z]|#pragma|(float|u?int|double|half)[24]\b|-maxrregcount|-use_fast_math|::|reinterpret|constexpr|template|const T|[0-9]f\b|(^|[^.])\b(thread|block)Idx|(^|[^.])\br?sqrtf|with f\b`)
	numbers := regexp.MustCompile(`%(d|\.[0-9]f)`)
	sentences := 0
	for _, text := range sentencesOf(t) {
		text = numbers.ReplaceAllString(text, "4")
		if !foreign.MatchString(text) {
			continue
		}
		sentences++
		said := inNumba(text)
		if found := foreign.FindString(said); found != "" {
			t.Errorf("%q in %q", found, said)
		}
	}
	if sentences < 40 {
		t.Errorf("%d sentences found", sentences)
	}
}

// sentencesOf returns the texts of several words in the package's sources.
func sentencesOf(t *testing.T) []string {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if name == "language.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, err := strconv.Unquote(l.Value); err == nil && strings.Contains(text, " ") {
					out = append(out, text)
				}
			}
			return true
		})
	}
	return out
}
