//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"testing"
)

func TestMemory(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	var addr uint64
	c.want(ErrNotInitialized, "cuMemAlloc_v2", pointer(&addr), 100)
	c.must("cuInit", 0)
	c.want(ErrInvalidContext, "cuMemAlloc_v2", pointer(&addr), 100)
	c.context()
	a, b := c.alloc(100), c.alloc(100)
	data, back := []byte("what is written is read"), make([]byte, 23)
	c.must("cuMemcpyHtoD_v2", a+3, pointer(&data[0]), 23)
	c.must("cuMemcpyDtoD_v2", b+7, a+3, 23)
	c.must("cuMemcpyDtoH_v2", pointer(&back[0]), b+7, 23)
	if !bytes.Equal(data, back) {
		t.Errorf("%q", back)
	}
	for name, r := range map[string]Result{
		"past the end":    c.call("cuMemcpyHtoD_v2", a+90, pointer(&data[0]), 23),
		"before":          c.call("cuMemcpyHtoD_v2", a-1, pointer(&data[0]), 23),
		"whole range":     c.call("cuMemcpyHtoD_v2", a, pointer(&data[0]), 1<<63),
		"host memory":     c.call("cuMemcpyHtoD_v2", a, 16, 23),
		"no device":       c.call("cuMemcpyDtoH_v2", pointer(&back[0]), 64, 23),
		"free the middle": c.call("cuMemFree_v2", a+1),
		"too large":       c.call("cuMemAlloc_v2", pointer(&addr), 1<<60) - 1, // out of memory
		"null pointer":    c.call("cuMemAlloc_v2", 0, 100),
	} {
		if r != ErrInvalidValue {
			t.Errorf("%s: %v", name, r)
		}
	}
	c.must("cuMemFree_v2", a)
	c.want(ErrInvalidValue, "cuMemFree_v2", a)
	c.want(ErrInvalidValue, "cuMemcpyHtoD_v2", a, pointer(&data[0]), 23)
	if again := c.alloc(100); again != a {
		t.Errorf("the place of freed memory is not used again")
	} else if c.must("cuMemcpyDtoH_v2", pointer(&back[0]), again, 23); !bytes.Equal(back, make([]byte, 23)) {
		t.Errorf("new memory holds %q", back)
	}
}

// Where a process must not be traced, its own kernel copies.
func TestMemoryUntraced(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	s.mu.Lock()
	for _, p := range s.processes {
		p.untraceable = true
	}
	s.mu.Unlock()
	a := c.alloc(1 << 20)
	data, back := make([]byte, 1<<20), make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * i >> 3)
	}
	c.must("cuMemcpyHtoD_v2", a, pointer(&data[0]), 1<<20)
	c.must("cuMemcpyDtoH_v2", pointer(&back[0]), a, 1<<20)
	if !bytes.Equal(data, back) {
		t.Error("other bytes")
	}
	c.want(ErrInvalidValue, "cuMemcpyHtoD_v2", a, 16, 100)
	c.deny = true
	c.want(ErrInvalidValue, "cuMemcpyHtoD_v2", a, pointer(&data[0]), 100)
}

func TestSets(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	a := c.alloc(64)
	c.must("cuMemsetD8_v2", a, 0xffffff01, 64)
	c.must("cuMemsetD16_v2", a+8, 0x0302, 2)
	c.must("cuMemsetD32_v2", a+16, 0x07060504, 3)
	c.must("cuMemsetD2D8_v2", a+32, 8, 9, 2, 3)
	back := make([]byte, 64)
	c.must("cuMemcpyDtoH_v2", pointer(&back[0]), a, 64)
	want := bytes.Repeat([]byte{1}, 64)
	copy(want[8:], []byte{2, 3, 2, 3})
	copy(want[16:], []byte{4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7})
	for row := range 3 {
		copy(want[32+8*row:], []byte{9, 9})
	}
	if !bytes.Equal(back, want) {
		t.Errorf("%v\nwant %v", back, want)
	}
	c.want(ErrInvalidValue, "cuMemsetD32_v2", a+2, 0, 1)
	c.want(ErrInvalidValue, "cuMemsetD32_v2", a, 0, 1<<62)
	c.want(ErrInvalidValue, "cuMemsetD8_v2", a, 0, 65)
}

func TestCopy2D(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	a := c.alloc(64)
	from := []byte("abcdefghijkl")
	// Rows of 3 bytes at byte 1 of host rows of 4, to rows of 16 at byte 2 of the second row.
	words := [16]uint64{1, 0, memoryHost, pointer(&from[0]), 0, 0, 4, 2, 1, memoryDevice, 0, a, 0, 16, 3, 3}
	c.must("cuMemcpy2D_v2", pointer(&words[0]))
	back := make([]byte, 64)
	c.must("cuMemcpyDtoH_v2", pointer(&back[0]), a, 64)
	want := make([]byte, 64)
	copy(want[18:], "bcd")
	copy(want[34:], "fgh")
	copy(want[50:], "jkl")
	if !bytes.Equal(back, want) {
		t.Errorf("%q", back)
	}
	words[9] = memoryArray // which 0 is not
	c.want(ErrInvalidHandle, "cuMemcpy2D_v2", pointer(&words[0]))
}

// Arrays take and give boxes of elements, and nothing outside of themselves.
func TestArray(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	const float, width, height, depth = 0x20, 4, 3, 2
	descriptor := [5]uint64{width, height, depth, float | 1<<32, 0}
	var array uint64
	c.must("cuArray3DCreate_v2", pointer(&array), pointer(&descriptor[0]))
	var from, back [width * height * depth]float32
	for i := range from {
		from[i] = float32(i)
	}
	box := func(toArray bool, x, y, z uint64, size ...uint64) [copyWords]uint64 {
		host := []uint64{4 * x, y, z, 0, memoryHost, pointer(&from[0]), 0, 0, 0, 4 * width, height}
		there := []uint64{4 * x, y, z, 0, memoryArray, 0, 0, array, 0, 0, 0}
		if !toArray {
			host[5], host, there = pointer(&back[0]), there, host
		}
		return [copyWords]uint64(append(append(host, there...), 4*size[0], size[1], size[2]))
	}
	whole, part, outside := box(true, 0, 0, 0, width, height, depth), box(false, 1, 1, 1, 2, 2, 1), box(false, 3, 0, 0, 2, 1, 1)
	c.must("cuMemcpy3D_v2", pointer(&whole[0]))
	c.must("cuMemcpy3D_v2", pointer(&part[0]))
	c.want(ErrInvalidValue, "cuMemcpy3D_v2", pointer(&outside[0]))
	for i, v := range back {
		x, y, z := i%width, i/width%height, i/width/height
		want := float32(0)
		if (x == 1 || x == 2) && y >= 1 && z == 1 {
			want = float32(i)
		}
		if v != want {
			t.Errorf("element %d is %g, want %g", i, v, want)
		}
	}
	var read [5]uint64
	c.must("cuArray3DGetDescriptor_v2", pointer(&read[0]), array)
	if read != descriptor {
		t.Errorf("%v", read)
	}
	c.must("cuArrayDestroy", array)
	c.want(ErrInvalidHandle, "cuMemcpy3D_v2", pointer(&whole[0]))
	line := [3]uint64{8, 0, 0x01 | 1<<32} // bytes
	c.must("cuArrayCreate_v2", pointer(&array), pointer(&line[0]))
	text := []byte("abcd")
	c.must("cuMemcpyHtoA_v2", array, 2, pointer(&text[0]), 4)
	bytesBack := make([]byte, 8)
	c.must("cuMemcpyAtoH_v2", pointer(&bytesBack[0]), array, 0, 8)
	if string(bytesBack) != "\x00\x00abcd\x00\x00" {
		t.Errorf("%q", bytesBack)
	}
	c.want(ErrInvalidValue, "cuMemcpyAtoH_v2", pointer(&bytesBack[0]), array, 5, 4)
	line[2] = 0x91 | 4<<32 // compressed blocks
	c.want(ErrNotSupported, "cuArrayCreate_v2", pointer(&array), pointer(&line[0]))
}

// Managed and pinned memory is the same memory for the program and the device.
func TestManagedMemory(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	var managed, pinned uint64
	c.must("cuMemAllocManaged", pointer(&managed), 4096, attachGlobal)
	c.must("cuMemHostAlloc", pointer(&pinned), 4096, 0)
	*at[uint32](managed) = 0x12345678
	c.must("cuMemcpyDtoD_v2", pinned+8, managed, 4)
	if got := *at[uint32](pinned + 8); got != 0x12345678 {
		t.Errorf("%#x", got)
	}
	var kind uint32
	c.must("cuPointerGetAttribute", pointer(&kind), pointerMemoryType, pinned)
	if kind != memoryHost {
		t.Errorf("type %d", kind)
	}
	c.must("cuMemFreeHost", pinned)
	c.want(ErrInvalidValue, "cuMemFree_v2", pinned)
	c.must("cuMemFree_v2", managed)
}

func TestContexts(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	primary := c.context()
	var own, current uint64
	c.must("cuCtxCreate_v2", pointer(&own), 0, 0)
	c.must("cuCtxGetCurrent", pointer(&current))
	if current != own || own == primary {
		t.Errorf("current %#x, made %#x", current, own)
	}
	c.thread = 2
	c.must("cuCtxGetCurrent", pointer(&current))
	if current != 0 {
		t.Error("a context is current to another thread")
	}
	c.want(ErrInvalidContext, "cuCtxSynchronize")
	c.thread = 1
	a := c.alloc(8)
	c.must("cuCtxDestroy_v2", own)
	c.must("cuCtxGetCurrent", pointer(&current))
	if current != primary {
		t.Error("the context before is not current")
	}
	c.want(ErrInvalidValue, "cuMemFree_v2", a)
	c.want(ErrInvalidContext, "cuCtxSetCurrent", own)
	c.want(ErrInvalidContext, "cuCtxDestroy_v2", 99)
}

func TestEntryPoints(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	for _, tt := range []struct {
		name    string
		version uint64
		want    string
	}{
		{"cuMemAlloc", 12000, "cuMemAlloc_v2"}, {"cuInit", 12000, "cuInit"}, {"cuCtxCreate", 4000, "cuCtxCreate_v2"}, {"cuCtxCreate", 12000, "cuCtxCreate_v3"}, {"cuCtxCreate", 13000, "cuCtxCreate_v4"},
		{"cuCtxSynchronize", 12090, "cuCtxSynchronize"}, {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"}, {"cuGetProcAddress", 11040, "cuGetProcAddress"},
	} {
		name := cString(tt.name)
		var addr uint64
		var status uint32 = 9
		c.must("cuGetProcAddress_v2", pointer(&name[0]), pointer(&addr), tt.version, 0, pointer(&status))
		want, err := s.images[driverLibrary].Function(pointer(&c.data[0]), c.table.numbers[tt.want])
		if err != nil || addr != want || status != entryFound {
			t.Errorf("%s of %d: %#x, want %#x", tt.name, tt.version, addr, want)
		}
	}
	name := cString("cuNoSuchThing")
	addr, status := uint64(1), uint32(9)
	c.must("cuGetProcAddress_v2", pointer(&name[0]), pointer(&addr), 12000, 0, pointer(&status))
	if addr != 0 || status != entryUnknown {
		t.Errorf("%#x, %d", addr, status)
	}
}

// The attributes are those of the model, and numpy-like clients divide by none that is 0.
func TestAttributes(t *testing.T) {
	for _, gpu := range []string{"v100", "t4", "a100", "rtx4090", "h100"} {
		s := start(t, gpu)
		c := newClient(t, s)
		c.must("cuInit", 0)
		attribute := func(n uint64) int {
			var v int32
			c.must("cuDeviceGetAttribute", pointer(&v), n, 0)
			return int(v)
		}
		m := s.options.GPU
		if attribute(75)*10+attribute(76) != m.Arch || attribute(16) != m.SMs.Int() || attribute(10) != 32 || attribute(39) != 32*m.Limits.Warps.Int() {
			t.Errorf("%s: compute capability %d.%d, %d SMs", gpu, attribute(75), attribute(76), attribute(16))
		}
		if attribute(22) != 131072 || attribute(57) != 65536 || attribute(72) != 2097120 {
			t.Errorf("%s: textures of %d, surfaces of %d, a pitch of %d", gpu, attribute(22), attribute(57), attribute(72))
		}
		var v int32
		c.want(ErrInvalidValue, "cuDeviceGetAttribute", pointer(&v), 0, 0)
		c.want(ErrInvalidDevice, "cuDeviceGetAttribute", pointer(&v), 1, 1)
	}
}

func TestPools(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	var pool, addr, used uint64
	c.must("cuDeviceGetDefaultMemPool", pointer(&pool), 0)
	c.must("cuMemAllocFromPoolAsync", pointer(&addr), 100, pool, 0)
	c.must("cuMemPoolGetAttribute", pool, poolUsed, pointer(&used))
	if used != 100 {
		t.Errorf("%d bytes are used", used)
	}
	threshold := uint64(5)
	c.must("cuMemPoolSetAttribute", pool, poolThreshold, pointer(&threshold))
	c.must("cuMemPoolGetAttribute", pool, poolThreshold, pointer(&used))
	if used != 5 {
		t.Errorf("threshold %d", used)
	}
	c.must("cuMemFreeAsync", addr, 0)
	c.must("cuMemPoolGetAttribute", pool, poolUsed, pointer(&used))
	if used != 0 {
		t.Errorf("%d bytes are used", used)
	}
	c.want(ErrInvalidValue, "cuMemPoolDestroy", pool)
}

// What NVIDIA documents for saxpy-like kernels: registers, threads, and blocks that fit.
func TestFunctionAttributes(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	f := c.function(saxpyFile, "saxpy")
	var v, grid, block int32
	c.must("cuFuncGetAttribute", pointer(&v), functionMaxThreads, f)
	if v != 1024 {
		t.Errorf("%d threads", v)
	}
	c.must("cuFuncSetAttribute", f, functionDynamic, 100<<10)
	c.must("cuFuncGetAttribute", pointer(&v), functionDynamic, f)
	if v != 100<<10 {
		t.Errorf("%d bytes", v)
	}
	c.want(ErrInvalidValue, "cuFuncSetAttribute", f, functionDynamic, 1<<20)
	c.must("cuOccupancyMaxActiveBlocksPerMultiprocessor", pointer(&v), f, 1024, 0)
	if v != 2 {
		t.Errorf("%d blocks of 1024 threads on an SM of 2048", v)
	}
	c.must("cuOccupancyMaxActiveBlocksPerMultiprocessor", pointer(&v), f, 128, 100<<10)
	if v != 1 {
		t.Errorf("%d blocks of 100 KiB on an SM with 164", v)
	}
	c.must("cuOccupancyMaxPotentialBlockSize", pointer(&grid), pointer(&block), f, 0, 0, 0)
	if block != 1024 || grid != 2*108 {
		t.Errorf("%d blocks of %d threads", grid, block)
	}
}

// A callback runs in the program; what it returns comes back.
func TestHostFunction(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	c.must("cuLaunchHostFunc", 0, 0x1234, 0)
	c.want(ErrInvalidValue, "cuLaunchHostFunc", 0, 0, 0)
	c.want(ErrInvalidHandle, "cuLaunchHostFunc", 0xdead, 0x1234, 0)
}

// Registered memory of the program is device memory for kernels and copies.
func TestRegisteredMemory(t *testing.T) {
	c := newClient(t, start(t, "a100"))
	c.context()
	host := make([]float32, 3000)
	for i := range host {
		host[i] = 1
	}
	size := uint64(4 * len(host))
	c.must("cuMemHostRegister_v2", pointer(&host[0]), size, 2)
	c.want(ErrHostMemoryAlreadyRegistered, "cuMemHostRegister_v2", pointer(&host[5]), 8, 0)
	var device uint64
	var kind uint32
	c.must("cuMemHostGetDevicePointer_v2", pointer(&device), pointer(&host[0]), 0)
	c.must("cuPointerGetAttribute", pointer(&kind), pointerMemoryType, pointer(&host[10]))
	if kind != memoryHost {
		t.Errorf("type %d", kind)
	}
	host[2000] = 5 // after it was registered
	args := saxpyArguments{n: 2500, a: 2, x: device, y: device}
	if r := c.launch(c.function(saxpyFile, "saxpy"), 10, 256, args.list()...); r != Success {
		t.Fatal(r)
	}
	if host[0] != 3 || host[2000] != 15 || host[2499] != 3 || host[2500] != 1 {
		t.Errorf("%g %g %g %g", host[0], host[2000], host[2499], host[2500])
	}
	c.must("cuMemsetD32_v2", device+4, 0, 1)
	if host[0] != 3 || host[1] != 0 {
		t.Errorf("%g %g", host[0], host[1])
	}
	c.must("cuMemHostUnregister", pointer(&host[0]))
	c.want(ErrHostMemoryNotRegistered, "cuMemHostUnregister", pointer(&host[0]))
	c.want(ErrInvalidValue, "cuMemsetD32_v2", device+4, 0, 1)
	c.want(ErrInvalidValue, "cuMemHostRegister_v2", 4096, 4096, 0)
}
