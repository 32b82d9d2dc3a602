//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"time"
)

// newProcessClient connects as a process of its own. All connections come from this process: what the server has for it so far is put aside.
func newProcessClient(t testing.TB, s *Server) *testClient {
	t.Helper()
	s.mu.Lock()
	if p := s.processes[os.Getpid()]; p != nil {
		s.processes[-len(s.processes)] = p
		delete(s.processes, os.Getpid())
	}
	s.mu.Unlock()
	c := newClient(t, s)
	c.context()
	return c
}

// gone waits until the server has given back what it has for a client that has hung up.
func (c *testClient) gone(s *Server, d *deviceMemory, holders int) {
	c.t.Helper()
	for range 1000 {
		s.mu.Lock()
		n := d.holders
		s.mu.Unlock()
		if n == holders {
			return
		}
		time.Sleep(time.Millisecond)
	}
	c.t.Fatal("the memory is held still")
}

// withHandle are arguments with a handle behind the first.
func withHandle(h *shareHandle, args ...uint64) []uint64 {
	var words []uint64
	for i := range len(h) / 8 {
		words = append(words, binary.LittleEndian.Uint64(h[8*i:]))
	}
	return slices.Insert(args, 1, words...)
}

// memoryOf is the device memory of the one process whose number is the test's own.
func memoryOf(s *Server) *deviceMemory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.processes[os.Getpid()].device
}

// Memory that another process has opened is the same memory, for copies and for kernels.
func TestSharedMemory(t *testing.T) {
	s := start(t, "a100")
	one := newProcessClient(t, s)
	memory := one.alloc(1000)
	device := memoryOf(s)
	var handle, again shareHandle
	one.must("cuIpcGetMemHandle", pointer(&handle), memory+10)
	one.must("cuIpcGetMemHandle", pointer(&again), memory)
	if handle != again {
		t.Error("two handles of the same memory")
	}
	var addr, second uint64
	one.want(ErrInvalidContext, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&addr), 1)...)

	two := newProcessClient(t, s)
	two.alloc(100) // so that addresses are others
	two.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(new(shareHandle), pointer(&addr), 1)...)
	two.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&addr), 2)...)
	two.want(ErrInvalidValue, "cuIpcOpenEventHandle", withHandle(&handle, pointer(&addr))...)
	two.must("cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&addr), 1)...)
	two.must("cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&second), 1)...)
	var base, size uint64
	two.must("cuMemGetAddressRange_v2", pointer(&base), pointer(&size), addr+999)
	if addr == memory || addr != second || base != addr || size != 1000 {
		t.Errorf("memory at %#x of another process is open at %#x and %#x, %d bytes at %#x", memory, addr, second, size, base)
	}
	two.want(ErrInvalidValue, "cuMemFree_v2", addr)
	two.want(ErrInvalidValue, "cuIpcGetMemHandle", pointer(&again), addr)

	data, back := bytes.Repeat([]byte("shared."), 100), make([]byte, 700)
	one.must("cuMemcpyHtoD_v2", memory+1, pointer(&data[0]), 700)
	two.must("cuMemcpyDtoH_v2", pointer(&back[0]), addr+1, 700)
	if !bytes.Equal(data, back) {
		t.Errorf("the other process reads %q", back)
	}
	two.must("cuIpcCloseMemHandle", addr)
	two.must("cuMemsetD8_v2", addr+3, 'x', 2)
	one.must("cuMemcpyDtoH_v2", pointer(&back[0]), memory+1, 5)
	if string(back[:5]) != "shxxe" {
		t.Errorf("what the other process wrote reads %q", back[:5])
	}
	two.must("cuIpcCloseMemHandle", addr)
	two.want(ErrInvalidValue, "cuIpcCloseMemHandle", addr)
	two.want(ErrInvalidValue, "cuMemsetD8_v2", addr, 0, 1)
	two.gone(s, device, 1)

	one.must("cuMemFree_v2", memory)
	two.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&addr), 1)...)
}

// Kernels compute in memory that another process has opened.
func TestKernelInSharedMemory(t *testing.T) {
	s := start(t, "a100")
	one := newProcessClient(t, s)
	const n = 256
	y := one.floats(10, n)
	var handle shareHandle
	one.must("cuIpcGetMemHandle", pointer(&handle), y)
	two := newProcessClient(t, s)
	args := saxpyArguments{n: n, a: 2, x: two.floats(1, n)}
	two.must("cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&args.y), 0)...)
	if r := two.launch(two.function(saxpyFile, "saxpy"), 1, n, args.list()...); r != Success {
		t.Fatal(r)
	}
	two.must("cuCtxSynchronize")
	for i, v := range one.read(y, n) {
		if want := 2*float32(1+i) + float32(10+i); v != want {
			t.Fatalf("y[%d] is %g, want %g", i, v, want)
		}
	}
}

// What a process has opened outlives the process that it belongs to, and ends with the one that has opened it.
func TestSharedMemoryOutlives(t *testing.T) {
	s := start(t, "a100")
	one := newProcessClient(t, s)
	memory := one.alloc(64)
	one.must("cuMemsetD8_v2", memory, 'y', 64)
	device := memoryOf(s)
	var handle shareHandle
	one.must("cuIpcGetMemHandle", pointer(&handle), memory)
	two := newProcessClient(t, s)
	var addr, other uint64
	two.must("cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&addr), 1)...)
	one.conn.Close()
	two.gone(s, device, 1)
	back := make([]byte, 64)
	two.must("cuMemcpyDtoH_v2", pointer(&back[0]), addr, 64)
	if !bytes.Equal(back, bytes.Repeat([]byte{'y'}, 64)) {
		t.Errorf("%q", back)
	}
	three := newProcessClient(t, s)
	three.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&other), 1)...)
	two.conn.Close()
	three.gone(s, device, 0)
}

// Only what cuMemAlloc gave out can be shared.
func TestUnsharedMemory(t *testing.T) {
	s := start(t, "a100")
	c := newProcessClient(t, s)
	var handle shareHandle
	var managed, pooled uint64
	c.must("cuMemAllocManaged", pointer(&managed), 64, attachGlobal)
	c.must("cuMemAllocAsync", pointer(&pooled), 64, 0)
	for _, addr := range []uint64{managed, pooled, 4} {
		c.want(ErrInvalidValue, "cuIpcGetMemHandle", pointer(&handle), addr)
	}
}

// Events of one process can be recorded and waited for in another.
func TestSharedEvents(t *testing.T) {
	s := start(t, "a100")
	one := newProcessClient(t, s)
	var plain, event, opened uint64
	var handle shareHandle
	one.want(ErrInvalidValue, "cuEventCreate", pointer(&event), eventInterproc)
	one.must("cuEventCreate", pointer(&plain), eventNoTiming)
	one.must("cuEventCreate", pointer(&event), eventInterproc|eventNoTiming)
	one.want(ErrInvalidHandle, "cuIpcGetEventHandle", pointer(&handle), plain)
	one.must("cuIpcGetEventHandle", pointer(&handle), event)
	one.want(ErrInvalidContext, "cuIpcOpenEventHandle", withHandle(&handle, pointer(&opened))...)
	two := newProcessClient(t, s)
	two.must("cuIpcOpenEventHandle", withHandle(&handle, pointer(&opened))...)
	two.want(ErrInvalidValue, "cuIpcOpenMemHandle_v2", withHandle(&handle, pointer(&opened), 1)...)
	two.must("cuEventRecord", opened, 0)
	two.must("cuStreamWaitEvent", 0, opened, 0)
	one.must("cuEventDestroy_v2", event)
	two.must("cuEventQuery", opened)
	two.want(ErrInvalidValue, "cuIpcOpenEventHandle", withHandle(&handle, pointer(&opened))...)
}
