package launch

import (
	"context"
	"path/filepath"
	"testing"

	"gpa/emu"
	"gpa/emu/arch"
)

// corpus lists the launch files of all kernels of the project.
func corpus(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no kernels: %v", err)
	}
	return files
}

// open prepares a launch file on a V100.
func open(tb testing.TB, name string, options emu.Options) *Session {
	tb.Helper()
	dir := OSDir(filepath.Dir(name))
	data, err := dir.ReadFile(filepath.Base(name))
	if err != nil {
		tb.Fatal(err)
	}
	f, err := Parse(name, data, dir)
	if err != nil {
		tb.Fatal(err)
	}
	module, err := f.LoadModule()
	if err != nil {
		tb.Fatal(err)
	}
	model, err := arch.ByName("v100")
	if err != nil {
		tb.Fatal(err)
	}
	options.Heap = f.Heap
	machine, err := emu.New(model, module, options)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := NewSession(f, machine)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// runAll launches everything in a file and returns the warp instructions executed.
func runAll(tb testing.TB, s *Session) int64 {
	tb.Helper()
	var total int64
	for i := range s.File.Launches {
		for range s.File.Launches[i].Repeat {
			result, err := s.Run(context.Background(), i, nil)
			if err != nil {
				tb.Fatalf("launch %d: %v", i, err)
			}
			total += result.WarpInstructions
		}
	}
	return total
}

// TestCorpus runs every kernel of the project and compares what it leaves in memory with the independent references.
// go test ./emu/launch -run TestCorpus -v lists them.
func TestCorpus(t *testing.T) {
	for _, level := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
		for _, name := range corpus(t) {
			t.Run(level.String()+"/"+filepath.Base(filepath.Dir(name)), func(t *testing.T) {
				t.Parallel()
				s := open(t, name, emu.Options{Timing: level})
				if len(s.File.Expect) == 0 {
					t.Error("nothing is expected of it")
				}
				instructions := runAll(t, s)
				checks, err := s.Check()
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range checks {
					if t.Log(c.String()); !c.OK() {
						t.Fail()
					}
				}
				t.Logf("%d warp instructions", instructions)
			})
		}
	}
}
