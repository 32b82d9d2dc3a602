package rewrite

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// launchFiles returns the launch files of the repository's kernels.
func launchFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	if *whole {
		ladders, err := filepath.Glob("../../kernels/ladders/*/*.yaml")
		if err != nil || len(ladders) == 0 {
			t.Fatalf("no ladders: %v", err)
		}
		files = append(files, ladders...)
	}
	return files
}

var whole = flag.Bool("whole", false, "rewrite every kernel for all architectures, not for one or two of them, and the versions of ladders")

// architectures returns those that the i-th kernel is rewritten for: all, or one of them in turn; the kernels about control flow on
// sm_70 too.
func architectures(i int, name string) []int {
	all := []int{70, 75, 80, 86, 89, 90}
	switch one := all[i%len(all)]; {
	case *whole:
		return all
	case one != 70 && strings.Contains(name, "/divergence/"):
		return []int{70, one}
	default:
		return []int{one}
	}
}

// openLaunch reads a launch file and its module for an architecture.
func openLaunch(name string, sm int) (*launch.File, *cubin.File, error) {
	dir := launch.OSDir(filepath.Dir(name))
	data, err := dir.ReadFile(filepath.Base(name))
	if err != nil {
		return nil, nil, err
	}
	f, err := launch.Parse(name, data, dir)
	if err != nil {
		return nil, nil, err
	}
	module, err := f.LoadModule(sass.Arch(sm))
	return f, module, err
}

// execute runs a launch file with a module, checks the outputs and returns the number of warp instructions.
func execute(f *launch.File, module *cubin.File, options emu.Options) (int64, error) {
	model, err := arch.ByName(fmt.Sprintf("sm_%d", module.Arch))
	if err != nil {
		return 0, err
	}
	options.Heap = f.Heap
	machine, err := emu.New(model, module, options)
	if err != nil {
		return 0, err
	}
	s, err := launch.NewSession(context.Background(), f, machine)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for i := range f.Launches {
		for range f.Launches[i].Repeat {
			r, err := s.Run(context.Background(), i, nil)
			if err != nil {
				return 0, err
			}
			total += r.WarpInstructions
		}
	}
	checks, err := s.Check()
	for _, c := range checks {
		if !c.OK() {
			return 0, fmt.Errorf("%s", c.String())
		}
	}
	return total, err
}

// eachKernel runs every launch file whose module a pass changes, with the new module, and checks the outputs and the new
// control codes.
func eachKernel(t *testing.T, pass func(*cubin.File) (*Rewritten, error)) {
	for i, name := range launchFiles(t) {
		for _, arch := range architectures(i, name) {
			t.Run(fmt.Sprintf("%s sm_%d", kernelOf(name), arch), func(t *testing.T) {
				t.Parallel()
				oneKernel(t, name, arch, pass)
			})
		}
	}
}

// kernelOf is the name of a kernel's folder, or a ladder's with that of the version.
func kernelOf(name string) string {
	kernel := filepath.Base(filepath.Dir(name))
	if version := strings.TrimSuffix(filepath.Base(name), ".yaml"); version != "launch" {
		kernel += " " + version
	}
	return kernel
}

// oneKernel runs a launch file with its module changed. As it is, emu/launch runs it: TestCorpus has each kernel that is rewritten here on the same
// architecture, with timing.
func oneKernel(t *testing.T, name string, arch int, pass func(*cubin.File) (*Rewritten, error)) {
	f, module, err := openLaunch(name, arch)
	if err != nil {
		t.Skip(err)
	}
	r, err := pass(module)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, c := range r.Changes {
		if changed = changed || c.Err == nil; c.Err != nil {
			t.Logf("%s stays: %v", c.Function, c.Err)
		}
	}
	if !changed {
		return
	}
	found, err := Check(r.File)
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	after, err := execute(f, r.File, emu.Options{MaxInstructions: 1 << 26})
	if err != nil {
		t.Error(err)
	}
	var counts []string
	for _, c := range r.Changes {
		counts = append(counts, fmt.Sprintf("%s %+v %d joins (%d dropped) %d→%d", c.Function, c.Counts, c.Joins, c.Dropped, c.Before, c.After))
	}
	t.Logf("warp instructions %d; %s", after, strings.Join(counts, "; "))
}

func TestRestructureRuns(t *testing.T) { eachKernel(t, Restructure) }

func TestReorderRuns(t *testing.T) { eachKernel(t, Reorder) }

func TestReconvergeRuns(t *testing.T) { eachKernel(t, Reconverge) }

// TestRestructuredIsStructured looks at the control flow of the new code itself.
func TestRestructuredIsStructured(t *testing.T) {
	for name, file := range corpus(t) {
		r, err := Restructure(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		failed := make(map[string]bool)
		for _, c := range r.Changes {
			failed[c.Function] = c.Err != nil
		}
		p, err := newProgram(r.File)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range p.graphs {
			for _, f := range g.Funcs {
				if s := g.Shape(f).Structure(); !s.Structured() && !failed[f.Function.Demangled] {
					t.Errorf("%s: %s: %+v", name, f.Function.Name, s.Interactions)
				}
			}
		}
		for i, code := range r.File.Codes {
			for k, pc := range r.Origins[i] {
				if pc >= 0 && file.Codes[i].Line(uint64(pc)) != code.Line(uint64(k)*sass.InstSize) {
					t.Fatalf("%s: 0x%x from 0x%x: another line", name, k*sass.InstSize, pc)
				}
			}
		}
	}
}

// TestNvdisasmReads runs NVIDIA's disassembler on rewritten cubins where it is installed.
func TestNvdisasmReads(t *testing.T) {
	tool := os.Getenv("NVDISASM")
	if tool == "" {
		t.Skip("NVDISASM is not set")
	}
	passes := map[string]func(*cubin.File) (*Rewritten, error){"restructured": Restructure, "reconverged": Reconverge, "reordered": Reorder}
	files := corpus(t)
	for i, name := range slices.Sorted(maps.Keys(files)) {
		if i%16 != 0 && !*whole {
			continue
		}
		for kind, pass := range passes {
			r, err := pass(files[name])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(r.Changes) == 0 {
				continue
			}
			at := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(at, r.File.Raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(tool, "-c", at).CombinedOutput(); err != nil {
				t.Errorf("%s %s: %v: %.300s", kind, name, err, out)
			}
		}
	}
}
