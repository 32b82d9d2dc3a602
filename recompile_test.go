package gpa_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gpa"
	"gpa/cubin/compile"
)

// rowsLaunch launches the kernel of cubin/testdata/triton, whose pointers go to rows of 1,024 elements.
const rowsLaunch = `module: rows.cubin
buffers:
  x: {type: f32, shape: [513, 1024], init: {uniform: [-1, 1], seed: 1}}
  scale: {type: f32, shape: [4096], init: {uniform: [0, 1], seed: 2}}
  out: {type: f32, shape: [512, 1024]}
  total: {type: f32, shape: [512]}
launches:
  - {kernel: rows, grid: [%d], block: [%d], shared: %d, args: [{buffer: x}, {buffer: scale}, {buffer: out}, {buffer: total}, {i32: %d}, {u64: 0}, {u64: 0}]}
`

// profiledRows profiles a launch of the kernel for blocks of so many warps, with a folder for its files.
func profiledRows(t *testing.T, folder string, warps, programs, n int) *gpa.Result {
	t.Helper()
	cubin := map[int]string{4: "rows.cubin", 8: "rows_8.cubin"}[warps]
	return profiledTriton(t, folder, cubin, "rows", fmt.Appendf(nil, rowsLaunch, programs, 32*warps, 4*warps, n))
}

// profiledTriton profiles a launch file with a kernel of Triton's, both of which it writes to a folder under a name.
func profiledTriton(t *testing.T, folder, cubin, name string, launches []byte) *gpa.Result {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("cubin", "testdata", "triton", cubin))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string][]byte{name + ".cubin": data, name + ".yaml": launches} {
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return profiled(t, filepath.Join(folder, name+".yaml"))
}

// TestProgramsOfTriton holds what is told of programs that are few, and of blocks that are larger than the data.
func TestProgramsOfTriton(t *testing.T) {
	for _, c := range []struct {
		programs, n     int
		optimizer, says string // "": neither is told
	}{
		{32, 1024, "block-increase", "32 programs for 108 SMs: 76 SMs have nothing to do. A thread of the kernel at rows.py:6 has 8 elements"},
		{512, 16, "divergence-reduction", "33 % of the elements of the blocks at rows.py:"},
		{512, 1024, "", ""},
	} {
		r := profiledRows(t, t.TempDir(), 4, c.programs, c.n)
		if err := r.Advise(gpa.AdviceOptions{}); err != nil {
			t.Fatal(err)
		}
		told := false
		for i := range r.Launches[0].Advice {
			a := &r.Launches[0].Advice[i]
			if a.Optimizer != "block-increase" && a.Optimizer != "divergence-reduction" {
				continue
			}
			told = told || a.Optimizer == c.optimizer
			if a.Optimizer != c.optimizer || !strings.Contains(strings.Join(a.Match.Suggestions, " "), c.says) {
				t.Errorf("%d programs, %d elements: %s: %q", c.programs, c.n, a.Optimizer, a.Match.Suggestions)
			}
		}
		if told != (c.optimizer != "") {
			t.Errorf("%d programs, %d elements: %q told: %v", c.programs, c.n, c.optimizer, told)
		}
	}
}

// roundsLaunch launches a kernel of rounds.py.
const roundsLaunch = `module: rounds.cubin
buffers:
  q: {type: f32, shape: [256, 128], init: {uniform: [-1, 1], seed: 1}}
  k: {type: f32, shape: [128, 128], init: {uniform: [-1, 1], seed: 2}}
  v: {type: f32, shape: [128, 128], init: {uniform: [-1, 1], seed: 3}}
  out: {type: f32, shape: [256, 128]}
launches:
  - {kernel: %s, grid: [256], block: [128], shared: %d, args: [{buffer: q}, {buffer: k}, {buffer: v}, {buffer: out}, {i32: 128}, {u64: 0}, {u64: 0}]}
`

// TestTriedItemsARound holds what is tried of a loop that takes one row a round against the kernel that takes sixteen, and that nothing of it is told
// where a round needs the sum of the one before.
func TestTriedItemsARound(t *testing.T) {
	results := make(map[string]*gpa.Result)
	for kernel, shared := range map[string]int{"keys": 16, "state": 16, "keys_16": 2048} {
		results[kernel] = profiledTriton(t, t.TempDir(), kernel+".cubin", "rounds", fmt.Appendf(nil, roundsLaunch, kernel, shared))
		if err := results[kernel].Try(t.Context(), gpa.TryOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	cycles := func(kernel string) float64 { return float64(results[kernel].Profile.Launches[0].Facts.Cycles) }
	first := &results["keys"].Launches[0].Advice[0]
	want := cycles("keys") / cycles("keys_16")
	t.Logf("%s: tried %.2f, compiled %.2f", first.Optimizer, first.Tried, want)
	if first.Optimizer != "loop-unrolling" || first.Tried < want/2 || first.Tried > want*1.1 {
		t.Errorf("%s is first: %.2fx when tried, %.2fx compiled", first.Optimizer, first.Tried, want)
	}
	for i := range results["state"].Launches[0].Advice {
		if a := &results["state"].Launches[0].Advice[i]; strings.Contains(strings.Join(a.Match.Suggestions, " "), "Take several a round") {
			t.Errorf("a recurrence: %q", a.Match.Suggestions)
		}
	}
}

// TestTriedParameters holds what is tried of a kernel of Triton's that is compiled again against that kernel, profiled by itself.
func TestTriedParameters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands for the interpreter")
	}
	folder := t.TempDir()
	cycles := make(map[int]float64)
	results := make(map[int]*gpa.Result)
	for _, warps := range []int{4, 8} {
		results[warps] = profiledRows(t, filepath.Join(folder, fmt.Sprint(warps)), warps, 512, 1024)
		cycles[warps] = float64(results[warps].Profile.Launches[0].Facts.Cycles)
	}

	// Compiled with eight warps it is the other kernel; any other number makes an error, and any other option the same code.
	python := filepath.Join(folder, "python3")
	script := `#!/bin/sh
options=$(sed 's/.*"options":\[{},//; s/\].*//')
i=0
put() { cp "` + folder + `/$1/rows.cubin" $i.cubin; echo "{\"warps\": $1, \"shared\": $(($1 * 4)), \"scratch\": 0}" >$i.json; i=$((i + 1)); }
put 4
for o in $(echo "$options" | tr -d '{}' | tr , ' '); do
  case $o in
  *num_warps*:8) put 8 ;;
  *num_warps*) echo '{"error": "no"}' >$i.json; i=$((i + 1)) ;;
  *) put 4 ;;
  esac
done
`
	if err := os.WriteFile(python, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, from := range []int{4, 8} {
		r := results[from]
		cache := filepath.Join(folder, "cache", fmt.Sprint(from))
		if err := os.MkdirAll(filepath.Join(cache, "rows"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(folder, fmt.Sprint(from), "rows.cubin"), filepath.Join(cache, "rows", "rows.cubin")); err != nil {
			t.Fatal(err)
		}
		if err := r.Try(t.Context(), gpa.TryOptions{All: true, Triton: &compile.Triton{Python: python, Cache: cache}}); err != nil {
			t.Fatal(err)
		}
		found := false
		for i := range r.Launches[0].Advice {
			a := &r.Launches[0].Advice[i]
			if a.Match.Change == nil || a.Match.Change.Compiled == nil {
				continue
			}
			t.Logf("from %d warps: %s (%s), tried %.3f, %s", from, a.Optimizer, a.Match.Variant, a.Tried, a.Untried)
			switch {
			case from == 8: // this Triton makes another kernel of it
				if a.Tried != 0 || !strings.Contains(a.Untried, "compiled again") {
					t.Errorf("%s: tried %.2f, %q", a.Match.Variant, a.Tried, a.Untried)
				}
				found = true
			case a.Match.Variant == "num_warps=8":
				found = true
				if want := cycles[4] / cycles[8]; math.Abs(a.Tried/want-1) > .001 {
					t.Errorf("%.4fx when tried, %.4fx by itself", a.Tried, want)
				}
			case a.Tried != 0:
				t.Errorf("%s: tried %.2f", a.Match.Variant, a.Tried)
			}
		}
		if !found {
			t.Errorf("from %d warps: there is no advice on parameters", from)
		}
	}
}
