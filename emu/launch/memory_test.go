package launch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
)

// large has two buffers of 1.6 GB of which the launch reads and writes the first 128 KiB.
const large = `module: vecadd.sm_70.cubin
buffers:
  a: {type: f32, shape: [400000000]}
  b: {type: f32, shape: [32700], init: {uniform: [-1, 1], seed: 2}}
  c: {type: f32, shape: [400000000], init: {zero: true}, pointers: [{at: 1599999992, buffer: a, offset: 16}]}
  d: {type: f32, shape: [1048576], init: {fill: 1}}
launches:
  - {kernel: vecadd, grid: [128], block: [256], args: [{buffer: a}, {buffer: b}, {buffer: c}, {i32: 32700}]}
  - {kernel: vecadd, grid: [128], block: [256], args: [{buffer: d}, {buffer: b}, {buffer: d}, {i32: 32700}]}
`

func largeFile(t *testing.T) (*File, *cubin.File) {
	t.Helper()
	f, err := Parse("large.yaml", []byte(large), OSDir("../../kernels/basic/vecadd"))
	if err != nil {
		t.Fatal(err)
	}
	module, err := f.LoadModule(sass.SM70)
	if err != nil {
		t.Fatal(err)
	}
	return f, module
}

func largeMachine(t *testing.T, module *cubin.File, free func() int64) *emu.Machine {
	t.Helper()
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	machine, err := emu.New(gpu, module, emu.Options{HostMemory: free})
	if err != nil {
		t.Fatal(err)
	}
	return machine
}

// TestLargeBuffers holds that buffers of 3 GB take what is written of them, in two sessions, and that what one writes the other does
// not see.
func TestLargeBuffers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC is, garbage is not what counts
	f, module := largeFile(t)
	before := resident(t)
	one, err := NewSession(context.Background(), f, largeMachine(t, module, emu.FreeMemory))
	if err != nil {
		t.Fatal(err)
	}
	one.Keep()
	two, err := one.Like(context.Background(), largeMachine(t, module, emu.FreeMemory))
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Launches {
		if _, err := one.Run(context.Background(), i, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"c", "d"} {
		now, _ := one.read(one.buffers[name])
		was, _ := two.read(two.buffers[name])
		if bytes.Equal(now[:4096], was[:4096]) {
			t.Errorf("%s is the same in both sessions", name)
		}
	}
	for i := range f.Launches {
		if _, err := two.Run(context.Background(), i, nil); err != nil {
			t.Fatal(err)
		}
	}
	two.Machine.Merge(one.Machine.Contents())
	for _, name := range []string{"a", "b", "c", "d"} {
		now, _ := one.read(one.buffers[name])
		other, _ := two.read(two.buffers[name])
		if tail := len(now) - 4096; !bytes.Equal(now[:131072-4096], other[:131072-4096]) || !bytes.Equal(now[tail:], other[tail:]) {
			t.Errorf("%s differs after the same launches", name)
		}
		if &now[0] != &other[0] {
			t.Errorf("%s is there twice", name)
		}
	}
	if taken := resident(t) - before; taken > 64<<20 {
		t.Errorf("%d bytes are taken", taken)
	}
}

// resident returns the memory that the process has in use, bytes, 0 where the system does not tell.
func resident(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	var kilobytes int64
	_, line, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscanf(line, "%d kB", &kilobytes); err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// TestShortOfMemory holds that contents and stores that this computer has no room for end with one line.
func TestShortOfMemory(t *testing.T) {
	f, module := largeFile(t)
	free := int64(1 << 40)
	machine := largeMachine(t, module, func() int64 { return free })
	free = 100 << 20
	_, err := NewSession(context.Background(), f, machine)
	if err == nil || !strings.Contains(err.Error(), "buffers.b") || !strings.Contains(err.Error(), "this computer has 100 MiB left") {
		t.Errorf("contents: %v", err)
	}
	free = 1 << 40
	s, err := NewSession(context.Background(), f, largeMachine(t, module, func() int64 { return free }))
	if err != nil {
		t.Fatal(err)
	}
	free = 1 << 20
	if _, err := s.Run(context.Background(), 0, nil); err == nil || !strings.Contains(err.Error(), "too much memory: this computer has 1 MiB left") {
		t.Errorf("launch: %v", err)
	}
}
