package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// open prepares a launch file of the corpus on a GPU whose buffers lie elsewhere than a launch file's, as those of a program do.
func open(t *testing.T, folder, gpu string) (*launch.Session, *arch.Model) {
	t.Helper()
	return openFile(t, folder, "launch.yaml", gpu)
}

func openFile(t *testing.T, folder, file, gpu string) (*launch.Session, *arch.Model) {
	t.Helper()
	model, err := arch.ByName(gpu)
	if err != nil {
		t.Fatal(err)
	}
	dir := launch.OSDir(filepath.Join("../../kernels", folder))
	data, err := dir.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := launch.Parse(folder, data, dir)
	if err != nil {
		t.Fatal(err)
	}
	module, err := f.LoadModule(80)
	if model.Arch == 90 {
		module, err = f.LoadModule(90)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := emu.New(model, module, emu.Options{Heap: f.Heap})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Alloc("ahead", 3<<20); err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), f, m)
	if err != nil {
		t.Fatal(err)
	}
	return s, model
}

// take captures the n-th launch of a session.
func take(t *testing.T, s *launch.Session, model *arch.Model, n int) (*Capture, error) {
	t.Helper()
	l, err := s.Launch(n)
	if err != nil {
		t.Fatal(err)
	}
	taking := &Taking{GPU: model, Machine: s.Machine, Launch: l, Size: func(uint64) uint64 { return 0 }}
	if err := taking.Begin(); err != nil {
		return nil, err
	}
	if _, err := s.Machine.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	return taking.Replay(nil, Check(context.Background(), emu.Options{}, nil))
}

// Captures do what the launch did: with plain buffers, addresses in memory and in structures, __constant__ and __device__ variables,
// dynamic shared memory, recursion, device-side malloc, tensor maps, textures and surfaces.
func TestReplay(t *testing.T) {
	for _, tt := range []struct {
		folder, gpu string
		wants       []string
	}{
		{"basic/saxpy", "a100", []string{`{buffer: "arg2_`, "expect:", "{u32: "}},
		{"graph/list_walk", "a100", []string{`pointers: {file: "../data/`}},
		{"stencil/convolution", "a100", []string{"symbols:\n  \"weights\""}},
		{"control/malloc", "a100", []string{"heap: "}},
		{"hopper/tma_tile", "h100", []string{"{bytes: "}},
		{"textures/layered", "a100", []string{"cube: true", "layers: 7", "filter: linear"}},
		{"textures/surface_2d", "a100", []string{"{surface: {buffer: "}},
	} {
		t.Run(tt.folder, func(t *testing.T) {
			s, model := open(t, tt.folder, tt.gpu)
			c, err := take(t, s, model, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.wants {
				if !strings.Contains(string(c.Text), want) {
					t.Errorf("no %q in\n%s", want, c.Text)
				}
			}
		})
	}
}

// What is equal is there once, zeros are nowhere, and the second launch finds what the first has left.
func TestContents(t *testing.T) {
	s, model := open(t, "basic/saxpy", "a100")
	first, err := take(t, s, model, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := take(t, s, model, 0)
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for name := range second.Files() {
		if _, ok := first.Files()[name]; ok {
			shared++
		}
	}
	if n := len(second.Files()); n != 4 || shared != 3 { // module, x, y before and after
		t.Errorf("%d files, %d of them those of the first", n, shared)
	}
	if strings.Contains(string(first.Text), "ahead") || strings.Count(string(first.Text), "type: u8") != 2 {
		t.Errorf("%s", first.Text)
	}
}

// On hardware, and so in programs, blocks reach the rest of the last unit of shared memory that they are given. A launch file grants it.
func TestWholeUnits(t *testing.T) {
	s, model := openFile(t, "ladders/reduction", "sequential.yaml", "a100")
	l, err := s.Launch(0)
	if err != nil {
		t.Fatal(err)
	}
	full := l.SharedDynamic
	l.SharedDynamic -= 16
	if _, err := s.Machine.Launch(context.Background(), l); err == nil {
		t.Error("the kernel does not need the last bytes")
	}
	l.WholeUnits = true
	taking := &Taking{GPU: model, Machine: s.Machine, Launch: l, Size: func(uint64) uint64 { return 0 }}
	if err := taking.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Machine.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	c, err := taking.Replay(nil, Check(context.Background(), emu.Options{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("shared: %d\n", full); !strings.Contains(string(c.Text), want) {
		t.Errorf("no %q in\n%s", want, c.Text)
	}
}

// A launch gives memory back what it held before.
func TestRestore(t *testing.T) {
	s, model := open(t, "basic/saxpy", "a100")
	l, err := s.Launch(0)
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Save("y")
	if err != nil {
		t.Fatal(err)
	}
	taking := &Taking{GPU: model, Machine: s.Machine, Launch: l, Size: func(uint64) uint64 { return 0 }}
	if err := taking.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Machine.Launch(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	changed, _ := s.Save("y")
	taking.Restore()
	if after, _ := s.Save("y"); string(after) != string(before) || string(changed) == string(before) {
		t.Error("memory is not as it was before")
	}
}
