//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"unsafe"

	"gpa/emu"
)

const saxpyFile = "basic/saxpy/saxpy.sm_80.cubin"

// saxpyArguments are what the tests launch saxpy with.
type saxpyArguments struct {
	n    int32
	a    float32
	x, y uint64
}

func (s *saxpyArguments) list() []unsafe.Pointer {
	return []unsafe.Pointer{unsafe.Pointer(&s.n), unsafe.Pointer(&s.a), unsafe.Pointer(&s.x), unsafe.Pointer(&s.y)}
}

// floats fills device memory with numbers from first on and returns its address.
func (c *testClient) floats(first float32, n int) uint64 {
	c.t.Helper()
	host := make([]float32, n)
	for i := range host {
		host[i] = first + float32(i)
	}
	addr := c.alloc(uint64(4 * n))
	c.must("cuMemcpyHtoD_v2", addr, pointer(&host[0]), uint64(4*n))
	return addr
}

// read copies numbers from the device.
func (c *testClient) read(addr uint64, n int) []float32 {
	c.t.Helper()
	host := make([]float32, n)
	c.must("cuMemcpyDtoH_v2", pointer(&host[0]), addr, uint64(4*n))
	return host
}

// A program of driver calls computes what it should.
func TestLaunch(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	const n = 1000
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: n, a: 2, x: c.floats(1, n), y: c.floats(10, n)}
	if r := c.launch(f, 4, 256, args.list()...); r != Success {
		t.Fatal(r)
	}
	c.must("cuCtxSynchronize")
	for i, v := range c.read(args.y, n) {
		if want := 2*float32(1+i) + float32(10+i); v != want {
			t.Fatalf("y[%d] is %g, want %g", i, v, want)
		}
	}
	if list := s.Unsupported(); len(list) > 0 {
		t.Errorf("not supported: %v", list)
	}
}

// The same launch by cuLaunchKernelEx with parameters that the program has packed itself.
func TestLaunchPacked(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const n = 64
	args := saxpyArguments{n: n, a: 3, x: c.floats(1, n), y: c.floats(0, n)}
	size := uint64(unsafe.Sizeof(args))
	extra := [6]uint64{launchPointer, pointer(&args), launchSize, pointer(&size), launchEnd}
	var config [configSize / 4]uint32
	copy(config[:], []uint32{1, 1, 1, n, 1, 1, 0})
	c.must("cuLaunchKernelEx", pointer(&config[0]), c.function(saxpyFile, "saxpy"), 0, pointer(&extra[0]))
	if got := c.read(args.y, n)[n-1]; got != 3*n+n-1 {
		t.Errorf("%g", got)
	}
}

// What is wrong with a launch is its result, and the context goes on.
func TestLaunchErrors(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: 1, x: c.alloc(4), y: c.alloc(4)}
	for _, tt := range []struct {
		name        string
		function    uint64
		grid, block uint64
		want        Result
	}{
		{"no blocks", f, 0, 32, ErrInvalidValue},
		{"too many threads", f, 1, 1025, ErrInvalidValue},
		{"no function", 12345, 1, 32, ErrInvalidHandle},
		{"right", f, 1, 32, Success},
	} {
		if r := c.launch(tt.function, tt.grid, tt.block, args.list()...); r != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, r, tt.want)
		}
	}
	c.want(ErrInvalidValue, "cuLaunchKernel", f, 1, 1, 1, 32, 1, 1, 0, 0, 16, 0)          // a bad pointer
	c.want(ErrInvalidValue, "cuLaunchKernel", f, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0)           // no parameters
	c.want(ErrInvalidValue, "cuLaunchKernel", f, 1, 1, 1, 32, 1, 1, 1<<20, 0, 0, 0)       // shared memory
	c.want(ErrInvalidHandle, "cuLaunchKernel", f, 1, 1, 1, 32, 1, 1, 0, 0xdeadbeef, 0, 0) // no such stream
}

// A fault is an error of the context until that is reset, and is explained.
func TestFault(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: 1000, x: c.alloc(4000), y: c.alloc(400)}
	if r := c.launch(f, 1, 128, args.list()...); r != Success {
		t.Fatalf("the launch itself: %v", r)
	}
	for _, name := range []string{"cuCtxSynchronize", "cuCtxSynchronize"} {
		c.want(ErrIllegalAddress, name)
	}
	var addr uint64
	c.want(ErrIllegalAddress, "cuMemAlloc_v2", pointer(&addr), 4)
	problems := s.Problems()
	if len(problems) != 1 || !strings.Contains(problems[0], "past the end of allocation 2 of 400 bytes") || !strings.Contains(problems[0], "saxpy") {
		t.Errorf("%q", problems)
	}
	c.must("cuDevicePrimaryCtxReset_v2", 0)
	c.must("cuMemAlloc_v2", pointer(&addr), 4)
}

// Kernels reach what the driver gives out, in units of 512 bytes, and nothing behind.
func TestGrain(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{n: 128, x: c.alloc(40), y: c.alloc(40)}
	if r := c.launch(f, 1, 128, args.list()...); r != Success {
		t.Fatal(r)
	}
	c.must("cuCtxSynchronize")
	args.n++
	c.launch(f, 1, 128, args.list()...)
	c.want(ErrIllegalAddress, "cuCtxSynchronize")
}

// The kinds of faults have results of their own.
func TestAssert(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	f := c.function("control/assert/assert.sm_80.cubin", "assert_within")
	in, out, n, limit := c.floats(5, 8), c.alloc(32), int32(8), int32(1)
	if r := c.launch(f, 1, 32, unsafe.Pointer(&in), unsafe.Pointer(&out), unsafe.Pointer(&n), unsafe.Pointer(&limit)); r != Success {
		t.Fatal(r)
	}
	c.want(ErrAssert, "cuCtxSynchronize")
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "assertion failed") {
		t.Errorf("%q", p)
	}
}

// Events tell the time of the emulated GPU: the same each time, more for more work.
func TestEvents(t *testing.T) {
	elapsed := func(n int32) float32 {
		c := newClient(t, start(t, "a100", func(o *Options) {
			o.Machine.Timing = emu.TimingFull
			o.Launch = func(ctx context.Context, l *Launch) (*emu.Result, error) { return l.Machine.Launch(ctx, l.Launch) }
		}))
		c.context()
		f := c.function(saxpyFile, "saxpy")
		args := saxpyArguments{n: n, x: c.floats(0, int(n)), y: c.floats(0, int(n))}
		var from, to uint64
		c.must("cuEventCreate", pointer(&from), 0)
		c.must("cuEventCreate", pointer(&to), 0)
		var ms float32
		c.want(ErrInvalidHandle, "cuEventElapsedTime", pointer(&ms), from, to)
		c.must("cuEventRecord", from, 0)
		if r := c.launch(f, 1, 64, args.list()...); r != Success {
			t.Fatal(r)
		}
		c.must("cuEventRecord", to, 0)
		c.must("cuEventElapsedTime", pointer(&ms), from, to)
		return ms
	}
	short, long := elapsed(64), elapsed(6400)
	if short <= 0 || long <= short {
		t.Errorf("%g ms for 64 numbers, %g for 6400", short, long)
	}
	if again := elapsed(6400); math.Float32bits(again) != math.Float32bits(long) {
		t.Errorf("%g and %g ms for the same", long, again)
	}
}

// Variables in constant memory are written by their addresses.
func TestConstantVariable(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	image, name := corpus(t, "stencil/convolution/convolution.sm_80.cubin"), cString("weights")
	var module, addr, size uint64
	c.must("cuModuleLoadData", pointer(&module), pointer(&image[0]))
	c.must("cuModuleGetGlobal_v2", pointer(&addr), pointer(&size), module, pointer(&name[0]))
	weights := make([]float32, size/4)
	for i := range weights {
		weights[i] = 0.5
	}
	c.must("cuMemcpyHtoD_v2", addr, pointer(&weights[0]), size)
	kernel := cString("convolution")
	var f uint64
	c.must("cuModuleGetFunction", pointer(&f), module, pointer(&kernel[0]))
	const width, height = 32, 32
	in, out := c.floats(0, width*height), c.floats(0, width*height)
	ones := make([]float32, width*height)
	for i := range ones {
		ones[i] = 1
	}
	c.must("cuMemcpyHtoD_v2", in, pointer(&ones[0]), uint64(4*len(ones)))
	w, h := int32(width), int32(height)
	params := []uint64{pointer(&in), pointer(&out), pointer(&w), pointer(&h)}
	c.must("cuLaunchKernel", f, 4, 4, 1, 8, 8, 1, 0, 0, pointer(&params[0]), 0)
	if got, want := c.read(out, width*height)[16*width+16], 0.5*float32(len(weights)); got != want {
		t.Errorf("%g in the middle, want %g", got, want)
	}
	// The same launch with other constants.
	c.must("cuMemsetD32_v2", addr, uint64(math.Float32bits(2)), size/4)
	c.must("cuLaunchKernel", f, 4, 4, 1, 8, 8, 1, 0, 0, pointer(&params[0]), 0)
	if got, want := c.read(out, width*height)[16*width+16], 2*float32(len(weights)); got != want {
		t.Errorf("%g in the middle, want %g", got, want)
	}
	c.must("cuModuleUnload", module)
	c.want(ErrInvalidValue, "cuMemcpyHtoD_v2", addr, pointer(&weights[0]), size)
}

// Code for another GPU is refused, with an explanation.
func TestWrongArchitecture(t *testing.T) {
	s := start(t, "v100")
	c := newClient(t, s)
	c.context()
	image := corpus(t, saxpyFile)
	var module uint64
	c.want(ErrNoBinaryForGPU, "cuModuleLoadData", pointer(&module), pointer(&image[0]))
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "sm_80") || !strings.Contains(p[0], "--arch") {
		t.Errorf("%q", p)
	}
	junk := cString("no module at all")
	c.want(ErrInvalidImage, "cuModuleLoadData", pointer(&module), pointer(&junk[0]))
}

// An empty launch, from client to client.
func BenchmarkLaunch(b *testing.B) {
	c := newClient(b, start(b, "a100"))
	c.context()
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{x: c.alloc(4), y: c.alloc(4)}
	for b.Loop() {
		if r := c.launch(f, 1, 32, args.list()...); r != Success {
			b.Fatal(r)
		}
	}
}

// The least call.
func BenchmarkCall(b *testing.B) {
	c := newClient(b, start(b, "a100"))
	c.context()
	for b.Loop() {
		c.must("cuCtxSynchronize")
	}
}

// Copies of 64 MiB between the program's memory and the device's, beside one of the same size within the program.
func BenchmarkCopy(b *testing.B) {
	const size = 64 << 20
	c := newClient(b, start(b, "a100"))
	c.context()
	host, device := make([]byte, size), c.alloc(size)
	other := bytes.Clone(host)
	for _, x := range []struct {
		name string
		copy func()
	}{
		{"HtoD", func() { c.must("cuMemcpyHtoD_v2", device, pointer(&host[0]), size) }},
		{"DtoH", func() { c.must("cuMemcpyDtoH_v2", pointer(&host[0]), device, size) }},
		{"copy", func() { copy(other, host) }},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				x.copy()
			}
		})
	}
}
