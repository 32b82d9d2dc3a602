//go:build linux && (amd64 || arm64)

package cuda

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// A registered program is what the compiler's code has told the runtime: addresses that stand for a kernel and a variable.
type registered struct{ kernel, variable uint64 }

// register registers a kernel and a variable of the corpus, as the start of a program does.
func (c *testClient) register(file, kernel, variable string) registered {
	c.t.Helper()
	image, k, v := corpus(c.t, file), cString(kernel), cString(variable)
	wrapper := &[3]uint64{wrapperMagic | 1<<32, pointer(&image[0]), 0}
	c.kept = append(c.kept, image, wrapper) // it is loaded when it is needed
	handle := uint64(c.call("__cudaRegisterFatBinary", pointer(wrapper)))
	r := registered{kernel: 0x401000, variable: 0x402000}
	c.call("__cudaRegisterFunction", handle, r.kernel, r.kernel, pointer(&k[0]), math.MaxUint64, 0, 0, 0, 0, 0)
	c.call("__cudaRegisterVar", handle, r.variable, r.variable, pointer(&v[0]), 0, 0, 1, 0)
	c.call("__cudaRegisterFatBinaryEnd", handle)
	return r
}

// configured launches a kernel as <<<grid, block>>> does.
func (c *testClient) configured(kernel uint64, grid, block [3]uint32, params ...unsafe.Pointer) Result {
	c.t.Helper()
	low := func(d [3]uint32) uint64 { return uint64(d[0]) | uint64(d[1])<<32 }
	c.call("__cudaPushCallConfiguration", low(grid), uint64(grid[2]), low(block), uint64(block[2]), 0, 0)
	var g, b [3]uint32
	var shared, stream uint64
	c.must("__cudaPopCallConfiguration", pointer(&g), pointer(&b), pointer(&shared), pointer(&stream))
	return c.call("cudaLaunchKernel", kernel, low(g), uint64(g[2]), low(b), uint64(b[2]), parameterList(params), shared, stream)
}

// A program of the runtime's calls, from its registration on: no call makes anything ready.
func TestRuntime(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.library = runtime13Library
	p := c.register("stencil/convolution/convolution.sm_80.cubin", "convolution", "weights")
	const width, height = 32, 32
	const toDevice, toHost = 1, 2
	var in, out, size uint64
	c.must("cudaMalloc", pointer(&in), 4*width*height)
	c.must("cudaMalloc", pointer(&out), 4*width*height)
	c.must("cudaGetSymbolSize", pointer(&size), p.variable)
	weights, ones := make([]float32, size/4), make([]float32, width*height)
	for i := range weights {
		weights[i] = 0.5
	}
	for i := range ones {
		ones[i] = 1
	}
	c.must("cudaMemcpyToSymbol", p.variable, pointer(&weights[0]), size, 0, toDevice)
	c.want(ErrInvalidValue, "cudaMemcpyToSymbol", p.variable, pointer(&weights[0]), size, 4, toDevice)
	c.want(ErrInvalidSymbol, "cudaMemcpyToSymbol", p.kernel, pointer(&weights[0]), size, 0, toDevice)
	c.must("cudaMemcpy", in, pointer(&ones[0]), uint64(4*len(ones)), toDevice)
	c.want(ErrInvalidValue, "cudaMemcpy", in, pointer(&ones[0]), 4, toHost)
	w, h := int32(width), int32(height)
	args := []unsafe.Pointer{unsafe.Pointer(&in), unsafe.Pointer(&out), unsafe.Pointer(&w), unsafe.Pointer(&h)}
	if r := c.configured(p.kernel, [3]uint32{4, 4, 1}, [3]uint32{8, 8, 1}, args...); r != Success {
		t.Fatal(r)
	}
	c.must("cudaDeviceSynchronize")
	back := make([]float32, width*height)
	c.must("cudaMemcpy", pointer(&back[0]), out, uint64(4*len(back)), toHost)
	if got, want := back[16*width+16], 0.5*float32(len(weights)); got != want {
		t.Errorf("%g, want %g", got, want)
	}
	// Errors are kept for the thread until it asks.
	c.call("cudaGetLastError")
	if r := c.configured(p.kernel, [3]uint32{1, 1, 1}, [3]uint32{2048, 1, 1}, args...); r != ErrInvalidConfiguration {
		t.Error(r)
	}
	c.must("cudaDeviceSynchronize")
	for _, tt := range []struct {
		name string
		want Result
	}{{"cudaPeekAtLastError", ErrInvalidConfiguration}, {"cudaGetLastError", ErrInvalidConfiguration}, {"cudaGetLastError", Success}} {
		if got := c.call(tt.name); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if r := c.configured(0x403000, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, args...); r != ErrInvalidDeviceFunction {
		t.Error(r)
	}
	// A fault is an error of all that follows, until the device is reset; then the code is loaded again.
	in = 0
	if r := c.configured(p.kernel, [3]uint32{4, 4, 1}, [3]uint32{8, 8, 1}, args...); r != Success {
		t.Fatal(r)
	}
	c.want(ErrIllegalAddress, "cudaDeviceSynchronize")
	c.must("cudaDeviceReset")
	c.must("cudaGetSymbolAddress", pointer(&in), p.variable)
	if list := s.Unsupported(); len(list) > 0 {
		t.Errorf("not supported: %v", list)
	}
}

// Calls that programs make beside the usual ones.
func TestRuntimeOthers(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.library = runtime13Library
	p := c.register("stencil/convolution/convolution.sm_80.cubin", "convolution", "weights")
	const toDevice, toHost = 1, 2
	// A pitched pointer and an extent are passed by value.
	const width, height, depth = 40, 5, 6
	var memory [4]uint64
	c.must("cudaMalloc3D", pointer(&memory[0]), width, height, depth)
	c.must("cudaMemset3D", memory[0], memory[1], memory[2], memory[3], 7, width, height, depth)
	c.must("cudaMemset3DAsync", memory[0], memory[1], memory[2], memory[3], 9, 3, 2, depth)
	back := make([]byte, memory[1]*height*depth)
	c.must("cudaMemcpy", pointer(&back[0]), memory[0], uint64(len(back)), toHost)
	for i, b := range back {
		x, y := i%int(memory[1]), i/int(memory[1])%height
		want := byte(0)
		switch {
		case x < 3 && y < 2:
			want = 9
		case x < width:
			want = 7
		}
		if b != want {
			t.Fatalf("byte %d of row %d is %d, want %d", x, y, b, want)
		}
	}
	c.want(ErrInvalidValue, "cudaMemset3D", memory[0], memory[1], memory[2], 2, 7, width, height, depth)
	// Nodes that copy to a variable and from it.
	var graph, to, from, size uint64
	c.must("cudaGetSymbolSize", pointer(&size), p.variable)
	in, out := []uint32{3, 5}, []uint32{0, 0}
	c.must("cudaGraphCreate", pointer(&graph), 0)
	c.must("cudaGraphAddMemcpyNodeToSymbol", pointer(&to), graph, 0, 0, p.variable, pointer(&in[0]), 8, 4, toDevice)
	c.must("cudaGraphAddMemcpyNodeFromSymbol", pointer(&from), graph, pointer(&to), 1, pointer(&out[0]), p.variable, 8, 4, toHost)
	c.want(ErrInvalidValue, "cudaGraphAddMemcpyNodeToSymbol", pointer(&to), graph, 0, 0, p.variable, pointer(&in[0]), 8, size, toDevice)
	c.must("cudaGraphLaunch", c.instantiate(graph), 0)
	c.must("cudaDeviceSynchronize")
	if out[0] != 3 || out[1] != 5 {
		t.Errorf("the variable holds %v, want %v", out, in)
	}
	// Attributes of streams, the default one's too.
	var stream uint64
	c.must("cudaStreamCreate", pointer(&stream))
	window := [8]uint64{memory[0], 1 << 20, 0x3f800000, 1}
	const accessPolicy = 1
	c.must("cudaStreamSetAttribute", 0, accessPolicy, pointer(&window[0]))
	c.must("cudaStreamCopyAttributes", stream, 0)
	var found [8]uint64
	c.must("cudaStreamGetAttribute", stream, accessPolicy, pointer(&found[0]))
	if found != window {
		t.Errorf("the stream has %v, want %v", found, window)
	}
	c.want(ErrInvalidValue, "cudaStreamGetAttribute", stream, 99, pointer(&found[0]))
	// More shared memory than the kernel has asked for is an invalid value, not a bad shape.
	list := make([]uint64, 5)
	c.want(ErrInvalidValue, "cudaLaunchKernel", p.kernel, 1|1<<32, 1, 1|1<<32, 1, pointer(&list[0]), 96<<10, 0)
	var word uint64
	for i := range list {
		list[i] = pointer(&word)
	}
	c.want(ErrCooperativeLaunchTooLarge, "cudaLaunchCooperativeKernel", p.kernel, 100000|1<<32, 1, 256|1<<32, 1, pointer(&list[0]), 0, 0)
	// Parameters of contexts that say nothing.
	var none [3]uint64
	var context uint64
	c.must("cuCtxCreate_v4", pointer(&context), pointer(&none[0]), 0, 0)
	if list := s.Unsupported(); len(list) > 0 {
		t.Errorf("not supported: %v", list)
	}
	none[2] = pointer(&none[0])
	c.want(ErrNotSupported, "cuCtxCreate_v4", pointer(&context), pointer(&none[0]), 0, 0)
}

// The structures of the two versions differ.
func TestRuntimeVersions(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	for _, tt := range []struct {
		library, version int
		name             string
		size             int
		sms              int
	}{{runtime12Library, 12090, "cudaGetDeviceProperties_v2", 1032, 388}, {runtime13Library, 13000, "cudaGetDeviceProperties", 1008, 384}} {
		c.library = tt.library
		var version uint32
		c.must("cudaRuntimeGetVersion", pointer(&version))
		if int(version) != tt.version {
			t.Errorf("version %d", version)
		}
		b := make([]byte, 2048)
		for i := range b {
			b[i] = 0xee
		}
		c.must(tt.name, pointer(&b[0]), 0)
		if name := string(b[:len("NVIDIA A100")]); name != "NVIDIA A100" || le.Uint32(b[tt.sms:]) != 108 || le.Uint32(b[360:]) != 8 {
			t.Errorf("%s: %q, %d SMs, sm_%d", tt.name, name, le.Uint32(b[tt.sms:]), le.Uint32(b[360:]))
		}
		if b[tt.size] != 0xee || b[tt.size-1] != 0 {
			t.Errorf("%s: not %d bytes", tt.name, tt.size)
		}
	}
	c.library = runtime12Library
	c.want(ErrNotSupported, "cudaGetDeviceProperties", pointer(&c.data[0]), 0)
}

// A loader finds the functions of all libraries, by their versions where they have any.
func TestLoader(t *testing.T) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no C compiler here")
	}
	const source = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
	const char *names[] = {"libcudart.so.12", "libcudart.so.13"};
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(names[i], RTLD_NOW);
		if (!library) { puts(dlerror()); return 1; }
		int (*version)(int *) = dlvsym(library, "cudaRuntimeGetVersion", names[i]);
		int number = 0;
		if (!version || version(&number)) { puts("no version"); return 1; }
		printf("%d %d\n", number, dlvsym(library, "cudaMalloc", names[1 - i]) == 0);
		if (dlsym(library, "cuInit") || dlsym(library, "nvtxRangePop")) { puts("functions of other libraries"); return 1; }
	}
	return 0;
}
`
	folder := t.TempDir()
	file, program := filepath.Join(folder, "a.c"), filepath.Join(folder, "a")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, file, "-o", program, "-ldl").CombinedOutput(); err != nil {
		t.Skipf("it does not compile here: %s", out)
	}
	command := exec.Command(program)
	command.Env = start(t, "a100").Environment(os.Environ())
	out, err := command.CombinedOutput()
	if want := "12090 1\n13000 1\n"; err != nil || !strings.HasSuffix(string(out), want) {
		t.Errorf("%v: %s", err, out)
	}
}
