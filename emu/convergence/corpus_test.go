package convergence

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

var update = flag.Bool("update", false, "rewrite the tables of docs/control-flow.md")

// open reads a launch file of the repository's kernels and its sm_70 code.
func open(t *testing.T, name string) (*launch.File, *cubin.File) {
	t.Helper()
	dir := launch.OSDir(filepath.Dir(name))
	data, err := dir.ReadFile(filepath.Base(name))
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse(name, data, dir)
	if err != nil {
		t.Fatal(err)
	}
	module, err := file.LoadModule(70)
	if err != nil {
		t.Skip(err)
	}
	return file, module
}

// stuck lists the kernels that models cannot run to their end. The threads of ticket_lock spin in front of the one that
// holds the lock, wherever control flow alone decides who runs.
var stuck = map[string]map[string]Status{
	"ticket_lock": {"pdom": Livelock, "tf-stack": Livelock, "tf-sandy": Livelock, "struct": Livelock},
}

// TestCorpus runs every kernel under every model, restructured, and with barriers at the joins of thread frontiers: the
// outputs are those of the hardware's model, and no lane is lost to a branch that is said to be uniform. The tables that
// come of it are those of docs/control-flow.md.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kernels: %v", err)
	}
	gpu, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	subjects := make([][]Subject, len(files))
	t.Run("kernels", func(t *testing.T) {
		for i, name := range files {
			dir := filepath.Dir(name)
			kernel := filepath.Base(dir)
			t.Run(kernel, func(t *testing.T) {
				t.Parallel()
				file, module := open(t, name)
				list, err := Compare(context.Background(), file, module, gpu, Options{Models: TableRows()})
				if err != nil {
					t.Fatal(err)
				}
				for i := range list {
					checkRuns(t, &list[i], stuck[kernel])
				}
				subjects[i] = Subjects(filepath.Base(filepath.Dir(dir)), kernel, list)
			})
		}
	})
	if !t.Failed() {
		checkTables(t, slices.Concat(subjects...))
		checkGains(t, slices.Concat(subjects...))
	}
}

// checkGains holds what the papers promise, on the unstructured kernels with real data: thread frontiers take fewer warp
// instructions than post-dominators on nine of ten, and native barriers at their joins have half of what they gain over those of the
// compiler.
func checkGains(t *testing.T, subjects []Subject) {
	var kernels, fewer int
	var native, frontiers, placed int64
	for i := range subjects {
		s := &subjects[i]
		if s.Suite != "divergence" || !s.Unstructured {
			continue
		}
		v, p, f, b := s.Run("volta"), s.Run("pdom"), s.Run("tf-stack"), s.Run(Placed)
		if v == nil || p == nil || f == nil || b == nil || b.Status != OK {
			t.Errorf("%s: not run by all", s.title())
			continue
		}
		native, frontiers, placed = native+v.WarpInstructions, frontiers+f.WarpInstructions, placed+b.WarpInstructions
		if strings.HasPrefix(s.Kernel.Demangled, "figure_") {
			continue
		}
		kernels++
		if f.WarpInstructions < p.WarpInstructions {
			fewer++
		}
	}
	if kernels < 10 || 10*fewer < 9*kernels {
		t.Errorf("tf-stack has fewer warp instructions than pdom on %d of %d kernels", fewer, kernels)
	}
	if native-placed < (native-frontiers)/2 {
		t.Errorf("volta %d, tf-stack %d, %s %d warp instructions", native, frontiers, Placed, placed)
	}
}

// checkTables compares the tables with those of the documentation.
func checkTables(t *testing.T, subjects []Subject) {
	const name, mark = "../../docs/control-flow.md", "<!-- The rest is written by: go test ./emu/convergence -update -->\n"
	document, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, old, found := strings.Cut(string(document), mark)
	if !found {
		t.Fatalf("%s: no mark", name)
	}
	var tables strings.Builder
	if err := WriteTables(&tables, subjects); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(name, []byte(head+mark+tables.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(old, tables.String()); diff != "" {
		t.Errorf("%s is not up to date (-update writes it):\n%s", name, diff)
	}
}

func checkRuns(t *testing.T, l *Launch, stuck map[string]Status) {
	for i := range l.Runs {
		r := &l.Runs[i]
		want := OK
		if s, ok := stuck[r.Model]; ok {
			want = s
		}
		if r.Status != want {
			t.Errorf("%s under %s: %s, want %s: %s", l.Kernel.Demangled, r.Model, r.Status, want, r.Fault)
		}
		if r.Forced > 0 && r.Model == Placed && l.Unstructured {
			t.Errorf("%s under %s: %d barriers ended with lanes missing", l.Kernel.Demangled, r.Model, r.Forced)
		}
		if r.Status == OK && !r.Bound && !r.OutputsEqual {
			t.Errorf("%s under %s: other outputs", l.Kernel.Demangled, r.Model)
		}
	}
	if limit, ok := l.ExpansionLimit(); ok {
		if share, ok := l.DynamicExpansion(); ok && share > limit {
			t.Errorf("%s: dynamic code expansion %g, at most %g", l.Kernel.Demangled, share, limit)
		}
	}
	if l.Activity == nil {
		return
	}
	if r, s := &l.Runs[0], l.Activity.Total(); s.Total() != 32*r.WarpInstructions || s.Active != r.ThreadInstructions {
		t.Errorf("%s: slots %+v of %d warp instructions", l.Kernel.Demangled, s, r.WarpInstructions)
	}
	for _, u := range l.Activity.Branches {
		if u.Branch.Type == branch.Uniform && u.Lost > 0 {
			t.Errorf("%s: branch at %#x (%s) is uniform, but %d lanes are lost to it", l.Kernel.Demangled, u.Branch.PC, u.Branch.Origins, u.Lost)
		}
	}
}
