package evaluation

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gpa"
	"gpa/advisor"
)

// table3 lists the rows of Table 3 of the GPA paper: the application and the optimization, and the optimizer that it is here.
var table3 = []struct{ row, optimizer string }{
	{"rodinia/backprop, Warp Balance", "warp-balance"},
	{"rodinia/backprop, Strength Reduction", "strength-reduction"},
	{"rodinia/bfs, Loop Unrolling", "loop-unrolling"},
	{"rodinia/b+tree, Code Reorder", "code-reordering"},
	{"rodinia/cfd, Fast Math", "fast-math"},
	{"rodinia/gaussian, Thread Increase", "thread-increase"},
	{"rodinia/heartwall, Loop Unrolling", "loop-unrolling"},
	{"rodinia/hotspot, Strength Reduction", "strength-reduction"},
	{"rodinia/huffman, Warp Balance", "warp-balance"},
	{"rodinia/kmeans, Loop Unrolling", "loop-unrolling"},
	{"rodinia/lavaMD, Loop Unrolling", "loop-unrolling"},
	{"rodinia/lud, Code Reorder", "code-reordering"},
	{"rodinia/myocyte, Fast Math", "fast-math"},
	{"rodinia/myocyte, Function Splitting", "function-splitting"},
	{"rodinia/nw, Warp Balance", "warp-balance"},
	{"rodinia/particlefilter, Block Increase", "block-increase"},
	{"rodinia/streamcluster, Block Increase", "block-increase"},
	{"rodinia/sradv1, Warp Balance", "warp-balance"},
	{"rodinia/pathfinder, Code Reorder", "code-reordering"},
	{"Quicksilver, Function Inlining", "function-inlining"},
	{"Quicksilver, Register Reuse", "register-reuse"},
	{"ExaTENSOR, Strength Reduction", "strength-reduction"},
	{"ExaTENSOR, Memory Transaction Reduction", "memory-transaction-reduction"},
	{"PeleC, Block Increase", "block-increase"},
	{"Minimod, Fast Math", "fast-math"},
	{"Minimod, Code Reorder", "code-reordering"},
}

// unpaired are the optimizers of layouts that the corpus has no kernel after the change for yet; emu/testdata/layouts.cu has the changes.
var unpaired = []string{"work-distribution", "register-tiling", "shared-memory-tiling", "thread-coarsening", "single-pass", "register-caching"}

// TestPairsCover holds that each row of Table 3 has a pair of its pattern, and each optimizer a pair and a kernel at which it is silent.
func TestPairsCover(t *testing.T) {
	files, err := FilesNamed("../../kernels/pairs", PairFile)
	if err != nil {
		t.Fatal(err)
	}
	advised, silent, rows := map[string]int{}, map[string]int{}, map[string]string{}
	for _, file := range files {
		p, err := ReadPair(file)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		advised[p.Optimizer]++
		silent[p.Silent]++
		if p.Row != "" && rows[p.Row] != "" {
			t.Errorf("%s: another pair stands for %s", file, p.Row)
		}
		rows[p.Row] = p.Optimizer
		if i := slices.IndexFunc(table3, func(r struct{ row, optimizer string }) bool { return r.row == p.Row }); p.Row != "" && i < 0 {
			t.Errorf("%s: Table 3 has no row %s", filepath.Base(filepath.Dir(file)), p.Row)
		}
	}
	for _, r := range table3 {
		if rows[r.row] != r.optimizer {
			t.Errorf("the pair of %s is one of %q, want %s", r.row, rows[r.row], r.optimizer)
		}
	}
	for _, o := range advisor.Optimizers() {
		// A loop with several exits that costs much is one whose threads part in many ways: of the corpus only suffix_tree, which has no
		// structured form that people would write.
		if advised[o.Name()] == 0 && o.Name() != "restructure" && !slices.Contains(unpaired, o.Name()) {
			t.Errorf("%s has no pair", o.Name())
		}
		if silent[o.Name()] == 0 {
			t.Errorf("%s has no kernel at which it must be silent", o.Name())
		}
	}
}

// TestPairOfSavedResults holds that a pair of results without memory is refused, as there are no outputs to compare.
func TestPairOfSavedResults(t *testing.T) {
	target, err := gpa.Load("vecadd", gpa.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := target.Profile(t.Context(), gpa.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := r.Save(&saved); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	pair := `{"before": "` + gpa.SavedFile + `", "after": "` + gpa.SavedFile + `", "optimizer": "fast-math"}`
	for name, data := range map[string][]byte{gpa.SavedFile: saved.Bytes(), PairFile: []byte(pair)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := new(Evaluator).Pairs(t.Context(), dir); !errors.Is(err, gpa.ErrNotRun) {
		t.Errorf("%v, want %v", err, gpa.ErrNotRun)
	}
}
