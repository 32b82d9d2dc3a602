package cuda

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unsafe"

	"gpa/cubin"
	"gpa/emu"
)

// tileClient loads the tile kernel of testdata and returns what to launch it with. In place of the kernel's code for the host, of which
// it sees to it that it is there, comes the test's own.
func tileClient(t *testing.T, s *Server) (c *testClient, function uint64, input, output uint64, list []unsafe.Pointer) {
	t.Helper()
	const rows, columns = 8, 256
	image, err := os.ReadFile("testdata/tile.sm_90.cubin")
	if err != nil {
		t.Fatal(err)
	}
	f, err := cubin.NewFile("tile", bytes.Clone(image))
	if err != nil {
		t.Fatal(err)
	}
	k := f.Kernels[0]
	c = newClient(t, s)
	c.context()
	name := cString(k.Name)
	var module uint64
	c.must("cuModuleLoadData", pointer(&module), pointer(&image[0]))
	c.must("cuModuleGetFunction", pointer(&function), module, pointer(&name[0]))
	input, output = c.floats(1, rows*columns), c.alloc(4*rows*columns)
	shape := []int32{rows, columns, columns, 1}
	for _, addr := range []*uint64{&input, &output} {
		list = append(list, unsafe.Pointer(addr))
		for i := range shape {
			list = append(list, unsafe.Pointer(&shape[i]))
		}
	}
	c.answers = func(function uint64, args []uint64) uint64 {
		if x := k.Tile; !bytes.Equal(unsafe.Slice(at[byte](function-x.HostEntry), len(x.HostCode)), x.HostCode) {
			t.Error("the code for the host is not there")
		}
		params := unsafe.Slice(at[byte](args[3]), k.ParamSize)
		for i, addr := range []uint64{input, output} {
			if p := k.Params[5*i]; le.Uint64(params[p.Offset:]) != addr {
				t.Errorf("argument %d is %#x", 5*i, le.Uint64(params[p.Offset:]))
			}
			m := emu.TensorMap{Address: addr, Type: emu.TensorF32, Sizes: []uint64{columns, rows}, Strides: []uint64{4 * columns}, Box: []uint32{columns, 1}, ElementStrides: []uint32{1, 1}}
			encoded := m.Encode()
			copy(params[k.Params[k.Tile.Arguments+i].Offset:], encoded[:])
		}
		return 0
	}
	return c, function, input, output, list
}

// A tile kernel is launched with blocks of one thread, has the threads that it is compiled for, and finds tensor maps behind its arguments.
func TestTileLaunch(t *testing.T) {
	s := start(t, "h100")
	c, f, _, output, list := tileClient(t, s)
	if r := c.launch(f, 8, 1, list...); r != Success {
		t.Fatal(r, s.Problems())
	}
	c.must("cuCtxSynchronize")
	for i, v := range c.read(output, 8*256) {
		row := i / 256
		if want := float32(1+i) / (256*float32(1+256*row) + 255*128); v < 0.9999*want || v > 1.0001*want {
			t.Fatalf("y[%d] is %g, want %g", i, v, want)
		}
	}
	if r := c.launch(f, 8, 2, list...); r != ErrInvalidValue {
		t.Errorf("blocks of two threads: %v", r)
	}
	var offset, size uint64
	c.must("cuFuncGetParamInfo", f, 9, pointer(&offset), pointer(&size))
	c.want(ErrInvalidValue, "cuFuncGetParamInfo", f, 10, pointer(&offset), pointer(&size))
}

// Where the code for the host does not make the maps, the launch says why.
func TestTileLaunchFails(t *testing.T) {
	for _, tt := range []struct {
		name, problem string
		change        func(*testClient)
	}{
		{"the code says so", "returned 7", func(c *testClient) { c.answers = nil }},
		{"no memory for it", "mmap", func(c *testClient) { c.deny = true }},
	} {
		s := start(t, "h100")
		c, f, _, _, list := tileClient(t, s)
		tt.change(c)
		if r := c.launch(f, 8, 1, list...); r != ErrOperatingSystem {
			t.Errorf("%s: %v", tt.name, r)
		}
		if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], tt.problem) {
			t.Errorf("%s: %q", tt.name, p)
		}
	}
}
