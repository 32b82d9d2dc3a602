package rewrite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	return files
}

// openLaunch reads a launch file and its module.
func openLaunch(name string) (*launch.File, *cubin.File, error) {
	dir := launch.OSDir(filepath.Dir(name))
	data, err := dir.ReadFile(filepath.Base(name))
	if err != nil {
		return nil, nil, err
	}
	f, err := launch.Parse(name, data, dir)
	if err != nil {
		return nil, nil, err
	}
	module, err := f.LoadModule(70)
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
	s, err := launch.NewSession(f, machine)
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
	for _, name := range launchFiles(t) {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			t.Parallel()
			f, module, err := openLaunch(name)
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
			before, err := execute(f, module, emu.Options{})
			if err != nil {
				t.Error(err)
			}
			var counts []string
			for _, c := range r.Changes {
				counts = append(counts, fmt.Sprintf("%s %+v %d joins (%d dropped) %d→%d", c.Function, c.Counts, c.Joins, c.Dropped, c.Before, c.After))
			}
			t.Logf("warp instructions %d → %d; %s", before, after, strings.Join(counts, "; "))
		})
	}
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

// TestNvdisasmReads runs NVIDIA's disassembler on restructured cubins where it is installed.
func TestNvdisasmReads(t *testing.T) {
	tool := os.Getenv("NVDISASM")
	if tool == "" {
		t.Skip("NVDISASM is not set")
	}
	for name, file := range corpus(t) {
		r, err := Restructure(file)
		if err != nil || len(r.Changes) == 0 {
			continue
		}
		at := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(at, r.File.Raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(tool, "-c", at).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %.300s", name, err, out)
		}
	}
}
