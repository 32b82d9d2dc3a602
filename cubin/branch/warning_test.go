package branch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/cfg"
)

// warned lists the warnings of a kernel, one a line: kind, line of the instruction, line of the branch.
func warned(t *testing.T, module *cubin.File, graphs []*cfg.Graph, k *cubin.Kernel) string {
	t.Helper()
	list, err := Warnings(module, graphs, k)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range list {
		at, b := module.Codes[w.Code], module.Codes[w.Branch.Code]
		lines = append(lines, fmt.Sprintf("%s %d %d", w.Kind, at.Line(at.Insts[w.Inst].PC).Line, b.Line(b.Insts[w.Branch.Inst].PC).Line))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// TestWarnings holds what the kernels of testdata/warnings.cu are warned of, and that those beside them are not.
func TestWarnings(t *testing.T) {
	want := map[string]string{
		"barrier_in_branch":    "barrier-under-divergent-control 10 10",
		"barrier_in_both":      "barrier-under-divergent-control 24 24",
		"barrier_in_rounds":    "barrier-under-divergent-control 34 37",
		"barrier_after_rounds": "barrier-under-divergent-control 48 48",
		"barrier_exception":    "warpsync-before-barrier 62 58",
		"spin_lock":            "spin-loop 72 72",
		"spin_exchange":        "spin-loop 81 81",
		"spin_turn":            "spin-loop 90 90",
	}
	for _, arch := range []int{70, 80, 90} {
		module, graphs := open(t, fmt.Sprintf("warnings.sm_%d.cubin", arch))
		for _, k := range module.Kernels {
			t.Run(fmt.Sprintf("%s sm_%d", k.Name, arch), func(t *testing.T) {
				if got := warned(t, module, graphs, k); got != want[k.Name] {
					t.Errorf("%q, want %q", got, want[k.Name])
				}
				if want[k.Name] == "" != strings.HasPrefix(k.Name, "fine_") {
					t.Error("its name says otherwise")
				}
			})
		}
	}
}

// TestCorpusWarnings: of the repository's kernels those have warnings that are about them.
func TestCorpusWarnings(t *testing.T) {
	want := map[string]string{
		"ticket_lock": "spin-loop",
	}
	names, err := filepath.Glob("../../kernels/*/*/*.cubin.gz")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cubins: %v", err)
	}
	for _, name := range names {
		module, graphs := openFile(t, name)
		for _, k := range module.Kernels {
			got := warned(t, module, graphs, k)
			if w := want[k.Name]; w == "" && got != "" || !strings.HasPrefix(got, w) {
				t.Errorf("%s: %s: %q, want %q", filepath.Base(name), k.Name, got, w)
			}
		}
	}
}
