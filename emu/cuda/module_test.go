//go:build linux && (amd64 || arm64)

package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Libraries give kernels, which are launched and asked as functions are.
func TestLibraryFunctions(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	image, name := corpus(t, saxpyFile), cString("saxpy")
	var library, kernel, again, module, function uint64
	var count, registers int32
	c.must("cuLibraryLoadData", pointer(&library), pointer(&image[0]), 0, 0, 0, 0, 0, 0)
	c.must("cuLibraryGetKernelCount", pointer(&count), library)
	c.must("cuLibraryGetKernel", pointer(&kernel), library, pointer(&name[0]))
	c.must("cuLibraryGetKernel", pointer(&again), library, pointer(&name[0]))
	c.must("cuLibraryGetModule", pointer(&module), library)
	c.must("cuModuleGetFunction", pointer(&function), module, pointer(&name[0]))
	if count != 1 || kernel != again || kernel != function {
		t.Errorf("%d kernels, %#x, %#x, %#x", count, kernel, again, function)
	}
	c.must("cuKernelGetAttribute", pointer(&registers), functionRegisters, kernel, 0)
	if registers < 8 {
		t.Errorf("%d registers", registers)
	}
	var offset, size uint64
	c.must("cuKernelGetParamInfo", kernel, 2, pointer(&offset), pointer(&size))
	if offset != 8 || size != 8 {
		t.Errorf("the third parameter has %d bytes at %d", size, offset)
	}
	args := saxpyArguments{n: 8, a: 2, x: c.floats(1, 8), y: c.floats(1, 8)}
	if r := c.launch(kernel, 1, 32, args.list()...); r != Success {
		t.Fatal(r)
	}
	if got := c.read(args.y, 8)[7]; got != 24 {
		t.Errorf("%g", got)
	}
	missing := cString("no such kernel")
	c.want(ErrNotFound, "cuLibraryGetKernel", pointer(&kernel), library, pointer(&missing[0]))
	c.must("cuLibraryUnload", library)
	c.want(ErrInvalidHandle, "cuLibraryGetKernel", pointer(&kernel), library, pointer(&name[0]))
	c.want(ErrInvalidHandle, "cuModuleGetFunction", pointer(&function), module, pointer(&name[0]))
	if r := c.launch(function, 1, 32, args.list()...); r != ErrInvalidHandle {
		t.Errorf("a kernel of a library that was unloaded: %v", r)
	}
}

func TestModuleFiles(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	path := filepath.Join(t.TempDir(), "saxpy.cubin")
	if err := os.WriteFile(path, corpus(t, saxpyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	name, missing := cString(path), cString(path+".not")
	var module uint64
	c.must("cuModuleLoad", pointer(&module), pointer(&name[0]))
	c.must("cuModuleUnload", module)
	c.want(ErrInvalidHandle, "cuModuleUnload", module)
	c.want(ErrFileNotFound, "cuModuleLoad", pointer(&module), pointer(&missing[0]))
}

// PTX is for the ptxas that the user has. Here it is one that knows a single answer, or complains.
func TestPTX(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	ptx := cString(".version 8.0\n.target sm_80\n.address_size 64\n")
	var module uint64
	tools := t.TempDir()
	t.Setenv("PATH", tools)
	c.want(ErrJITCompilerNotFound, "cuModuleLoadData", pointer(&module), pointer(&ptx[0]))
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "no ptxas") {
		t.Errorf("%q", p)
	}
	code := filepath.Join(tools, "code")
	if err := os.WriteFile(code, corpus(t, saxpyFile), 0o600); err != nil {
		t.Fatal(err)
	}
	const assembler = `#!/bin/sh
for a in "$@"; do
  case $a in
    --gpu-name=*) [ $a = --gpu-name=sm_80 ] || exit 1 ;;
    --output-file=*) out=${a#*=} ;;
    *) in=$a ;;
  esac
done
/bin/grep -q address_size $in || { echo "$in, line 1; fatal : it is not whole"; exit 1; }
/bin/cp %s $out
`
	script := strings.ReplaceAll(assembler, "%s", code)
	if err := os.WriteFile(filepath.Join(tools, "ptxas"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c.must("cuModuleLoadData", pointer(&module), pointer(&ptx[0]))
	var state, cubin, size uint64
	c.must("cuLinkCreate_v2", 0, 0, 0, pointer(&state))
	c.must("cuLinkAddData_v2", state, inputPTX, pointer(&ptx[0]), uint64(len(ptx)), 0, 0, 0, 0)
	c.must("cuLinkComplete", state, pointer(&cubin), pointer(&size))
	if size != uint64(len(corpus(t, saxpyFile))) {
		t.Errorf("%d bytes", size)
	}
	c.must("cuModuleLoadData", pointer(&module), cubin)
	c.must("cuLinkDestroy", state)

	bad, log := cString(".version 8.0"), make([]byte, 200)
	options := []uint32{optionErrorLog, optionErrorLength}
	values := []uint64{pointer(&log[0]), uint64(len(log))}
	c.want(ErrInvalidPTX, "cuModuleLoadDataEx", pointer(&module), pointer(&bad[0]), 2, pointer(&options[0]), pointer(&values[0]))
	if !strings.HasPrefix(string(log), "in.ptx, line 1; fatal : it is not whole") {
		t.Errorf("%q", log)
	}
}
