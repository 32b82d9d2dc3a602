//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"gpa/emu"
)

// CuTe DSL's host code finds its functions in the library, and what it does with them launches a kernel.
func TestCute(t *testing.T) {
	s := start(t, "a100")
	var variables []string
	for _, v := range Variables(s.Folder(), nil) {
		if path, ok := strings.CutPrefix(v, "CUTE_DSL_LIBS="); ok {
			variables = append(variables, path)
		}
	}
	if want := filepath.Join(s.Folder(), "libcute_dsl_runtime.so"); !slices.Equal(variables, []string{want}) {
		t.Fatalf("CUTE_DSL_LIBS is %q, want %s", variables, want)
	}
	data, err := os.ReadFile(variables[0])
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range symbols {
		names = append(names, x.Name)
	}
	for _, name := range cuteNames {
		if !slices.Contains(names, name) {
			t.Errorf("the library has no %s", name)
		}
	}
	if len(names) != len(cuteNames) {
		t.Errorf("%d functions, want %d", len(names), len(cuteNames))
	}

	c := newClient(t, s)
	c.library = cuteLibrary
	image, name := corpus(t, saxpyFile), cString("saxpy")
	var library, kernel uint64
	c.must("cudaLibraryLoadData", pointer(&library), pointer(&image[0]), 0, 0, 0, 0, 0, 0)
	c.must("cudaLibraryGetKernel", pointer(&kernel), library, pointer(&name[0]))
	c.must("cudaKernelSetAttributeForDevice", kernel, functionDynamic, 64, 0)
	c.want(ErrInvalidDevice, "cudaKernelSetAttributeForDevice", kernel, functionDynamic, 64, 1)
	const n = 64
	args := saxpyArguments{n: n, a: 3, x: c.floats(1, n), y: c.floats(0, n)}
	list := args.list()
	var config [configSize / 4]uint32
	copy(config[:], []uint32{1, 1, 1, n, 1, 1, 64}) // and 64 bytes of shared memory
	c.must("cudaLaunchKernelExC", pointer(&config[0]), kernel, uint64(uintptr(unsafe.Pointer(&list[0]))))
	c.must("cudaDeviceSynchronize")
	if got := c.read(args.y, n)[n-1]; got != 3*n+n-1 {
		t.Errorf("%g", got)
	}
	c.must("cudaLibraryUnload", library)
	c.want(ErrInvalidHandle, "cudaLibraryUnload", library)
}

// Tensor maps that the host makes are those that the copy engine reads.
func TestTensorMapEncodeTiled(t *testing.T) {
	s := start(t, "h100")
	c := newClient(t, s)
	m := emu.TensorMap{Address: 0x7f0000001000, Type: emu.TensorBF16, Sizes: []uint64{256, 64}, Strides: []uint64{512}, Box: []uint32{64, 8}, ElementStrides: []uint32{1, 1}, Swizzle: emu.Swizzle128, NaN: true}
	want := m.Encode()
	const bfloat16, tfloat32 = 9, 11
	room := make([]byte, 2*emu.TensorMapBytes)
	to := pointer(&room[0])
	to += -to % emu.TensorMapAlign
	got := unsafe.Slice(at[byte](to), emu.TensorMapBytes)
	arguments := func(change map[int]uint64) []uint64 {
		a := []uint64{to, bfloat16, 2, m.Address, pointer(&m.Sizes[0]), pointer(&m.Strides[0]), pointer(&m.Box[0]), pointer(&m.ElementStrides[0]), 0, 3, 2, 1}
		for i, v := range change {
			a[i] = v
		}
		return a
	}
	c.must("cuTensorMapEncodeTiled", arguments(nil)...)
	if !bytes.Equal(got, want[:]) {
		t.Errorf("%x, want %x", got, want)
	}
	m.Type, m.NaN = emu.TensorTF32, false
	m.Box[0] = 32
	c.must("cuTensorMapEncodeTiled", arguments(map[int]uint64{1: tfloat32, 11: 0})...)
	if b := m.Encode(); !bytes.Equal(got, b[:]) {
		t.Errorf("of TF32 %x, want %x", got, b)
	}
	m.Type, m.NaN = emu.TensorBF16, true
	m.Box[0] = 64
	c.must("cuTensorMapEncodeTiled", arguments(nil)...)
	c.must("cuTensorMapReplaceAddress", to, m.Address+64)
	m.Address += 64
	if want = m.Encode(); !bytes.Equal(got, want[:]) {
		t.Errorf("at another address %x, want %x", got, want)
	}
	for _, tt := range []struct {
		name   string
		change map[int]uint64
		want   Result
	}{
		{"map not aligned", map[int]uint64{0: to + 16}, Success}, // as kernels need it, but not the driver
		{"no such type", map[int]uint64{1: 16}, ErrInvalidValue},
		{"a box of TF32 wider than the swizzle", map[int]uint64{1: tfloat32}, ErrInvalidValue},
		{"no dimension", map[int]uint64{2: 0}, ErrInvalidValue},
		{"address not aligned", map[int]uint64{3: 0x7f0000001008}, ErrInvalidValue},
		{"no sizes", map[int]uint64{4: 0}, ErrInvalidValue},
		{"no strides", map[int]uint64{5: 0}, ErrInvalidValue},
		{"bad address of the box", map[int]uint64{6: 16}, ErrInvalidValue},
		{"interleaved", map[int]uint64{8: 1}, ErrNotSupported},
		{"another swizzle", map[int]uint64{9: 4}, ErrNotSupported},
		{"no such swizzle", map[int]uint64{9: 7}, ErrInvalidValue},
		{"what lies outside", map[int]uint64{11: 2}, ErrInvalidValue},
		{"one dimension", map[int]uint64{2: 1, 5: 0}, Success},
	} {
		if r := c.call("cuTensorMapEncodeTiled", arguments(tt.change)...); r != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, r, tt.want)
		}
	}
	c.want(ErrInvalidValue, "cuTensorMapReplaceAddress", to, m.Address+8)
}
