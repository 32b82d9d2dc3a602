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

	"gpa/cubin"
)

// TestWords holds that every optimizer has words for the authors of tiles, with one place, and none of CUDA C++.
func TestWords(t *testing.T) {
	for name, list := range map[string]map[string]string{"Triton": tritonWords, "cuTile": cuTileWords} {
		for _, o := range Optimizers() {
			words := list[o.Name()]
			if strings.Count(words, "%s") != 1 || strings.Count(words, "%") != 1 {
				t.Errorf("%s, %s: %q does not have one place", name, o.Name(), words)
			}
			for _, w := range []string{"__", "float4", "#pragma", "-maxrregcount", "threadIdx"} {
				if strings.Contains(words, w) {
					t.Errorf("%s, %s speaks of %s", name, o.Name(), w)
				}
			}
			if name == "cuTile" && (strings.Contains(words, "tl.") || strings.Contains(words, "num_stages")) {
				t.Errorf("%s: %q is of Triton", o.Name(), words)
			}
		}
		if len(list) != len(Optimizers()) {
			t.Errorf("%s: %d optimizers have words, there are %d", name, len(list), len(Optimizers()))
		}
	}
}

// The language of a kernel follows from its lines, its name and its launch.
func TestLanguageOf(t *testing.T) {
	f, err := cubin.Open("../emu/cuda/testdata/tile.sm_90.cubin")
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kernels[0]
	if got := languageOf(f, k.Name); got != cuTile {
		t.Errorf("a tile kernel: language %d", got)
	}
	k.Tile = nil
	for name, want := range map[string]language{
		"add_kernel": triton, "kernel_cutlass_k_tensorptrf32gmemalign16o10241_0": cudaC,
		"_ZN6cudapy8__main__5saxpyB2v1Ef": numba, "_ZN8__main__4sumsB2v1B106cw51cXTE": numba, "_Z5scale5ArrayIfLi1E1C7mutable7alignedE": numba, // of numba-cuda, and of numba-cuda-mlir
	} {
		k.Name = name
		if got := languageOf(f, name); got != want {
			t.Errorf("%s: language %d, want %d", name, got, want)
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
		if strings.HasPrefix(name, "language") || strings.HasSuffix(name, "_test.go") {
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
