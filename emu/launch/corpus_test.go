package launch

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gpa/cubin/sass"
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

// architectures are those that the corpus is run on, each on its default GPU.
var architectures = []sass.Arch{sass.SM70, sass.SM75, sass.SM80, sass.SM86, sass.SM89, sass.SM90}

// parse reads a launch file.
func parse(tb testing.TB, name string) *File {
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
	return f
}

// open prepares a launch file on the default GPU of an architecture.
func open(tb testing.TB, name string, architecture sass.Arch, options emu.Options) *Session {
	tb.Helper()
	model, err := arch.ByName(fmt.Sprintf("sm_%d", architecture))
	if err != nil {
		tb.Fatal(err)
	}
	return openOn(tb, name, model, options)
}

// openOn prepares a launch file on a GPU.
func openOn(tb testing.TB, name string, model *arch.Model, options emu.Options) *Session {
	tb.Helper()
	f := parse(tb, name)
	module, err := f.LoadModule(sass.Arch(model.Arch))
	if err != nil {
		tb.Fatal(err)
	}
	options.Heap = f.Heap
	machine, err := emu.New(model, module, options)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := NewSession(context.Background(), f, machine)
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

// builtFor reports whether a kernel is built for an architecture: that of the cubin that its launch file names, or a
// later one.
func builtFor(f *File, architecture sass.Arch) bool {
	var first sass.Arch
	for _, part := range strings.Split(f.Module, ".") {
		if n, ok := strings.CutPrefix(part, "sm_"); ok {
			v, _ := strconv.Atoi(n)
			first = sass.Arch(v)
		}
	}
	return first <= architecture
}

// TestCorpus runs every kernel of the project on every architecture and compares what it leaves in memory with the
// independent references: without timing, and with timing on one architecture each, in turn. As the code for sm_75, 86 and 89 differs
// little from that of the data centres' GPUs before them, each kernel runs on one of those three. With -whole-corpus each runs on all,
// without and with timing. go test ./emu/launch -run TestCorpus -v lists them.
func TestCorpus(t *testing.T) {
	for a, architecture := range architectures {
		for _, level := range []emu.TimingLevel{emu.TimingNone, emu.TimingFull} {
			for n, name := range corpus(t) {
				if !*wholeCorpus && !takes(n, a, level) {
					continue
				}
				kernel := filepath.Base(filepath.Dir(name))
				t.Run(fmt.Sprintf("sm_%d/%s/%s", architecture, level, kernel), func(t *testing.T) {
					t.Parallel()
					if !builtFor(parse(t, name), architecture) {
						t.Skip("needs a later architecture")
					}
					n := checkKernel(t, open(t, name, architecture, emu.Options{Timing: level}))
					if architecture == sass.SM70 && level == emu.TimingNone {
						untimed.Store(name, n)
					}
				})
			}
		}
	}
}

// untimed are the warp instructions of launch files that TestCorpus has run on sm_70 without timing.
var untimed sync.Map

// takes reports whether kernel n runs on architecture a in every test.
func takes(n, a int, level emu.TimingLevel) bool {
	if level == emu.TimingFull {
		return n%len(architectures) == a
	}
	switch architectures[a] {
	case sass.SM75:
		return n%3 == 0
	case sass.SM86:
		return n%3 == 1
	case sass.SM89:
		return n%3 == 2
	}
	return true
}

// TestLaterCorpus runs the kernels that are built for sm_100 and sm_120 there, without and with timing.
func TestLaterCorpus(t *testing.T) {
	for _, architecture := range []sass.Arch{sass.SM100, sass.SM120} {
		cubins, err := filepath.Glob(fmt.Sprintf("../../kernels/*/*/*.sm_%d.cubin.gz", architecture))
		if err != nil || len(cubins) < 20 {
			t.Fatalf("%d cubins for sm_%d: %v", len(cubins), architecture, err)
		}
		for n, file := range cubins {
			name := filepath.Join(filepath.Dir(file), "launch.yaml")
			level := emu.TimingNone
			if n%4 == 0 || *wholeCorpus {
				level = emu.TimingFull
			}
			t.Run(fmt.Sprintf("sm_%d/%s", architecture, filepath.Base(filepath.Dir(file))), func(t *testing.T) {
				t.Parallel()
				checkKernel(t, open(t, name, architecture, emu.Options{Timing: level}))
			})
		}
	}
}

// checkKernel runs everything in a launch file and compares what is expected. It returns the warp instructions executed.
func checkKernel(t *testing.T, s *Session) int64 {
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
	return instructions
}
