package compile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin"
)

// A clang that writes down its command line, makes an empty cubin of kernels, and for a program copies the fatbin that it is to hold.
const clangScript = `#!/bin/sh
echo "$@" >>%q
while [ $# -gt 0 ]; do
  case $1 in
  -o) out=$2 ;;
  -MF) read=$2 ;;
  *.fatbin) fatbin=$1 ;;
  esac
  shift
done
if [ -n "$fatbin" ]; then cp "$fatbin" "$out"; else printf 'seven b' >"$out"; printf 'x: a.cu b.cuh\n' >"$read"; fi
`

// TestClang makes a program by clang, where NVIDIA's packages for CUDA 12 are there and no nvcc: the kernels first, then the host's part with
// them in a fatbin. A second time nothing is compiled.
func TestClang(t *testing.T) {
	home, path, work := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	nvidia := filepath.Join(home, "lib", "python3.11", "site-packages", "nvidia")
	for _, name := range []string{"cuda_nvcc/bin/ptxas", "cuda_nvcc/nvvm/libdevice/libdevice.10.bc", "cuda_nvcc/include/crt/host_config.h", "cuda_runtime/include/crt/mma.h"} {
		write(filepath.Join(nvidia, name), name, 0o700)
	}
	calls := filepath.Join(work, "calls")
	write(filepath.Join(path, "clang++-19"), fmt.Sprintf(clangScript, calls), 0o700)
	t.Setenv("PATH", path+":/usr/bin:/bin")
	t.Setenv("VIRTUAL_ENV", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(work, "caches"))
	if findClang(os.Getenv) != nil {
		t.Error("a compiler without the runtime's headers")
	}
	write(filepath.Join(nvidia, "cuda_runtime", "include", "cuda_runtime.h"), "", 0o600)
	write(filepath.Join(nvidia, "cuda_runtime", "lib", "libcudart.so.12"), "", 0o600)
	source := filepath.Join(work, "a.cu")
	write(source, "int main() {}", 0o600)
	write(filepath.Join(work, "b.cuh"), "", 0o600)

	b := Builder{Find: func() (*Compiler, error) { return findClang(os.Getenv).With("-DN=4") }}
	for range 2 {
		program, err := b.Program(t.Context(), source, 80)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		list, err := cubin.Entries(data)
		if err != nil || len(list) != 1 || list[0].Kind != cubin.CubinEntry || list[0].SM != 80 {
			t.Fatalf("%v, %v", list, err)
		}
		if code, err := list[0].Read(); err != nil || !strings.HasPrefix(string(code), "seven b") {
			t.Errorf("%q, %v", code, err)
		}
		if want := filepath.Join(work, "b.cuh"); len(b.Sources) != 2 || b.Sources[1] != want {
			t.Errorf("made of %q", b.Sources)
		}
	}
	said, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d commands: %q", len(lines), lines)
	}
	folder := findClang(os.Getenv).toolkit.folder
	for i, wants := range [][]string{
		{"--cuda-device-only -c ", "--cuda-path=" + folder, "--cuda-gpu-arch=sm_80", "-DN=4"},
		{"--cuda-host-only", "-fcuda-include-gpubinary", "-L" + folder + "/lib -lcudart", "-DN=4"},
	} {
		for _, want := range wants {
			if !strings.Contains(lines[i], want) {
				t.Errorf("%s has no %s", lines[i], want)
			}
		}
	}
	for name, want := range map[string]string{
		"bin/ptxas": "cuda_nvcc/bin/ptxas", "include/crt/host_config.h": "cuda_nvcc/include/crt/host_config.h", "include/crt/mma.h": "cuda_runtime/include/crt/mma.h",
		"lib/libcudart.so": "", "include/" + mtgp32: "",
	} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
