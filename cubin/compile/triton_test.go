package compile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gpa/cubin"
)

// tritonPython answers as the script does of which standard input is kept: the kernel as it was, with eight warps, the same again, and an error.
const tritonPython = `#!/bin/sh
cat >%[1]q/asked
cp %[2]q 0.cubin; cp %[3]q 1.cubin; cp %[2]q 2.cubin
echo '{"warps": 4, "shared": 32, "scratch": 0}' | tee 0.json >2.json
echo '{"warps": 8, "shared": 64, "scratch": 0}' >1.json
echo '{"error": "OutOfResources: shared memory"}' >3.json
`

// TestTritonAgain compiles a kernel again that a cache has, by an interpreter that has prepared what Triton makes.
func TestTritonAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for the interpreter")
	}
	was, with8 := fixture(t, "rows.cubin"), fixture(t, "rows_8.cubin")
	cache, seen := t.TempDir(), t.TempDir()
	for folder, from := range map[string]string{"another": with8, "this": was} {
		copyTo(t, from, filepath.Join(cache, folder, "rows.cubin"))
	}
	python := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(python, fmt.Appendf(nil, tritonPython, seen, was, with8), 0o700); err != nil {
		t.Fatal(err)
	}
	module, err := cubin.Open(was)
	if err != nil {
		t.Fatal(err)
	}
	found := FindTriton(python, func(name string) string { return map[string]string{"TRITON_CACHE_DIR": cache}[name] })
	if found == nil || found.Python != python || found.Cache != cache {
		t.Fatalf("found %+v", found)
	}
	builds, err := found.Again(t.Context(), module, "rows", [3]int{1, 1, 1}, []TritonOptions{{Warps: 8}, {Stages: 2}, {Registers: 32}})
	if err != nil {
		t.Fatal(err)
	}
	if b := builds[0]; b.Err != nil || b.Same || b.Warps != 8 || b.Shared != 64 || sameCode(b.Module, module) {
		t.Errorf("with eight warps: %+v", b)
	}
	if b := builds[1]; b.Err != nil || !b.Same {
		t.Errorf("the same code: %+v", b)
	}
	if b := builds[2]; b.Err == nil || !strings.Contains(b.Err.Error(), "OutOfResources") {
		t.Errorf("an error: %+v", b)
	}
	asked, err := os.ReadFile(filepath.Join(seen, "asked"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"arch":80`, `"options":[{},{"num_warps":8},{"num_stages":2},{"maxnreg":32}]`, filepath.Join(cache, "this", "rows.ttir")} {
		if !strings.Contains(string(asked), want) {
			t.Errorf("%s is not in %s", want, asked)
		}
	}

	other, err := cubin.Open(with8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := found.Again(t.Context(), other, "rows", [3]int{1, 1, 1}, nil); !errors.Is(err, ErrNotCached) {
		t.Errorf("another kernel than this Triton makes: %v", err)
	}
	if _, err := found.Again(t.Context(), module, "columns", [3]int{1, 1, 1}, nil); !errors.Is(err, ErrNotCached) {
		t.Errorf("a kernel that is not there: %v", err)
	}
	if FindTriton(python, func(string) string { return "" }) != nil {
		t.Error("there is a Triton without a cache")
	}
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("..", "testdata", "triton", name))
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
