package advisor

import (
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
		"_ZN6cudapy8__main__5saxpyB2v1Ef": numba, "_Z5scale5ArrayIfLi1E1C7mutable7alignedE": numba, // of numba-cuda, and of numba-cuda-mlir
	} {
		k.Name = name
		if got := languageOf(f, name); got != want {
			t.Errorf("%s: language %d, want %d", name, got, want)
		}
	}
}
