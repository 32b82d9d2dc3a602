package gpa_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gpa"
	"gpa/advisor"
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
	}
	if err := results["keys"].Try(t.Context(), gpa.TryOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := results["state"].Advise(gpa.AdviceOptions{All: true}); err != nil { // a trial would tell no more
		t.Fatal(err)
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

// scalarsLaunch launches a kernel of scalars.py.
const scalarsLaunch = `module: scalars.cubin
buffers:
  x: {type: f32, shape: [55296], init: {uniform: [-1, 1], seed: 1}}
  out: {type: f32, shape: [55296]}
launches:
  - {kernel: %s, grid: [108], block: [128], shared: %d, args: [{buffer: x}, {buffer: out}, {i32: 55296}, {u64: 0}, {u64: 0}]}
`

// TestTriedScalars holds what is tried of a loop that takes one element a round against the kernel that takes them as a block, and that nothing of it is
// told where a round needs more of the one before than a sum, nor that the store of one thread is masked off.
func TestTriedScalars(t *testing.T) {
	results := make(map[string]*gpa.Result)
	for kernel, shared := range map[string]int{"running": 0, "filtered": 0, "running_block": 16} {
		results[kernel] = profiledTriton(t, t.TempDir(), kernel+".cubin", "scalars", fmt.Appendf(nil, scalarsLaunch, kernel, shared))
		var err error
		if kernel == "running" {
			err = results[kernel].Try(t.Context(), gpa.TryOptions{First: 2})
		} else {
			err = results[kernel].Advise(gpa.AdviceOptions{}) // a trial would tell no more
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cycles := func(kernel string) float64 { return float64(results[kernel].Profile.Launches[0].Facts.Cycles) }
	first := &results["running"].Launches[0].Advice[0]
	want := cycles("running") / cycles("running_block")
	t.Logf("%s: tried %.2f, compiled %.2f", first.Optimizer, first.Tried, want)
	if first.Optimizer != "work-distribution" || first.Tried < 4 || first.Tried > want {
		t.Errorf("%s is first: %.2fx when tried, %.2fx compiled", first.Optimizer, first.Tried, want)
	}
	for kernel, r := range results {
		for i := range r.Launches[0].Advice {
			a := &r.Launches[0].Advice[i]
			text := strings.Join(a.Match.Suggestions, " ")
			if kernel != "running" && strings.Contains(text, "takes one element") || strings.Contains(text, "masked off") {
				t.Errorf("%s: %s: %q", kernel, a.Optimizer, text)
			}
		}
	}
}

// columnsLaunch launches the kernel of columns.py for 512 rows in blocks of 32.
const columnsLaunch = `module: columns.cubin
buffers:
  x: {type: f32, shape: [512, 1024], init: {uniform: [-1, 1], seed: 1}}
  total: {type: f32, shape: [512]}
launches:
  - {kernel: columns, grid: [16], block: [128], shared: 128, args: [{buffer: x}, {buffer: total}, {i32: 512}, {i32: 1024}, {u64: 0}, {u64: 0}]}
expect:
  total: {file: total.npy}
`

// behind is what a process says of columns.cubin that has stayed behind of a program: three other block sizes, of which one comes with a grid that leaves
// rows out.
const behind = `[{"kernel": "columns", "image": "%x", "grid": [16, 1, 1], "types": ["*fp32", "*fp32", "i32", "i32"], "alternatives": [
	{"constants": {"BM": 64}, "was": {"BM": 32}, "grid": [4, 1, 1]}, {"constants": {"BM": 16}, "was": {"BM": 32}, "grid": [32, 1, 1]},
	{"constants": {"BN": 128}, "was": {"BN": 64}, "grid": [16, 1, 1]}]}]`

// TestTriedConstants holds what is tried of constants against the kernels that they give, by a process that answers with what Triton has made of them.
func TestTriedConstants(t *testing.T) {
	folder := filepath.Join("cubin", "testdata", "triton")
	image, err := os.ReadFile(filepath.Join(folder, "columns.cubin"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	launches := strings.Replace(columnsLaunch, "expect:\n  total: {file: total.npy}\n", "", 1)
	first := profiledTriton(t, dir, "columns.cubin", "columns", []byte(launches))
	total, err := first.Session().Save("total")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "total.npy"), total, 0o600); err != nil {
		t.Fatal(err)
	}
	r := profiledTriton(t, dir, "columns.cubin", "columns", []byte(columnsLaunch))

	hook, err := compile.HookTriton()
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	made := map[string]string{ // by what is asked for
		`{}`: "columns 4 128", `{"num_warps":8}`: "columns_w8 8 128", `{"constants":"BM=64"}`: "columns_64 4 256", `{"constants":"BM=16"}`: "columns_16 4 64",
		`{"num_warps":8,"constants":"BM=16"}`: "columns_16_w8 8 64", `{"constants":"BN=128"}`: "columns_n128 4 128",
	}
	asked := stayBehind(t, hook, fmt.Sprintf(behind, sha256.Sum256(image)), func(options string) (cubin string, warps, shared int) {
		fmt.Sscan(made[options], &cubin, &warps, &shared)
		return filepath.Join(folder, cubin+".cubin"), warps, shared
	})
	hook.Ended()
	if err := r.Try(t.Context(), gpa.TryOptions{All: true, Triton: &compile.Triton{Hook: hook}}); err != nil {
		t.Fatal(err)
	}
	hook.Close()
	options := <-asked
	tried := make(map[string]*advisor.Advice)
	for i := range r.Launches[0].Advice {
		if a := &r.Launches[0].Advice[i]; a.Match.Change.Compiles() {
			tried[a.Match.Change.Compiled.String()] = a
		}
	}
	is := func(cubin string, grid, warps, shared int) float64 {
		text := strings.NewReplacer("grid: [16]", fmt.Sprintf("grid: [%d]", grid), "block: [128]", fmt.Sprintf("block: [%d]", 32*warps), "shared: 128", fmt.Sprintf("shared: %d", shared)).Replace(launches)
		was := r.Profile.Launches[0].Facts.Cycles
		return float64(was) / float64(profiledTriton(t, t.TempDir(), cubin, "columns", []byte(text)).Profile.Launches[0].Facts.Cycles)
	}
	for _, c := range []struct {
		change, optimizer string
		speedup           float64 // 0: it leaves other outputs
	}{
		{"BM=16", "block-increase", is("columns_16.cubin", 32, 4, 64)},
		{"BM=16, num_warps=8", "block-increase", is("columns_16_w8.cubin", 32, 8, 64)}, // tried since each of the two gains
		{"num_warps=8", "thread-increase", is("columns_w8.cubin", 16, 8, 128)},
		{"BN=128", "loop-unrolling", is("columns_n128.cubin", 16, 4, 128)},
		{"BM=64", "thread-coarsening", 0},
	} {
		a := tried[c.change]
		if a == nil {
			t.Errorf("%s was not tried; asked for were %q", c.change, options)
			continue
		}
		t.Logf("%s: %.2fx, %.2fx as a launch of its own", c.change, a.Tried, c.speedup)
		if a.Optimizer != c.optimizer || math.Abs(a.Tried-c.speedup) > 1e-9 || c.speedup == 0 && a.Untried != "the outputs change with it" {
			t.Errorf("%s: %s %.4f, want %s %.4f (%s)", c.change, a.Optimizer, a.Tried, c.optimizer, c.speedup, a.Untried)
		}
	}
}

// stayBehind is a process that has stayed behind of a program: it says what it has, and answers with files of cubins. What it was asked for comes when
// it is let go.
func stayBehind(t *testing.T, hook *compile.TritonHook, says string, cubin func(options string) (name string, warps, shared int)) <-chan []string {
	t.Helper()
	var socket string
	for _, v := range hook.Environment(nil) {
		if name, ok := strings.CutPrefix(v, "GPA_TRITON="); ok {
			socket = name
		}
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan []string, 1)
	go func() {
		defer conn.Close()
		var list []string
		defer func() { all <- list }()
		fmt.Fprintln(conn, strings.ReplaceAll(says, "\n", " "))
		for lines := bufio.NewScanner(conn); lines.Scan(); fmt.Fprintln(conn, "{}") {
			var asked struct {
				Options []json.RawMessage
				Out     string
			}
			json.Unmarshal(lines.Bytes(), &asked)
			for i, o := range asked.Options {
				list = append(list, string(o))
				said := []byte(`{"error": "there is none"}`)
				name, warps, shared := cubin(string(o))
				if data, err := os.ReadFile(name); err == nil {
					os.WriteFile(filepath.Join(asked.Out, fmt.Sprint(i, ".cubin")), data, 0o600)
					said = fmt.Appendf(nil, `{"warps": %d, "shared": %d, "scratch": 0}`, warps, shared)
				}
				os.WriteFile(filepath.Join(asked.Out, fmt.Sprint(i, ".json")), said, 0o600)
			}
		}
	}()
	return all
}
