package check_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/check"
	"gpa/emu/launch"
)

// architectures are those for which testdata/bugs has a cubin: without and with copies to shared memory and descriptors.
var architectures = []int{70, 80, 90}

// bugs runs a kernel of testdata/bugs.
func bugs(t *testing.T, architecture int, kernel string, grid, block int, args ...string) []*check.Finding {
	t.Helper()
	c := launch.Command{Module: fmt.Sprintf("bugs.sm_%d.cubin", architecture), Kernel: kernel, Grid: [3]int{grid, 1, 1}, Block: [3]int{block, 1, 1}, Args: args}
	file, err := c.File(launch.OSDir("testdata/bugs"))
	if err != nil {
		t.Fatal(err)
	}
	return checked(t, file, emu.Options{}, 0)
}

// checked runs the launches of a file under a checker, with some options, on an architecture, 0 for that of its module.
func checked(t *testing.T, file *launch.File, o emu.Options, architecture int) []*check.Finding {
	t.Helper()
	module, err := file.LoadModule(sass.Arch(architecture))
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := arch.ByName(fmt.Sprintf("sm_%d", module.Arch))
	if err != nil {
		t.Fatal(err)
	}
	o.MaxInstructions, o.Heap = 5_000_000, file.Heap
	machine, err := emu.New(gpu, module, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), file, machine)
	if err != nil {
		t.Fatal(err)
	}
	var c check.Checker
	for _, b := range s.Unwritten() {
		c.Uninitialised(b.Name, b.Addr, uint64(b.Size))
		for _, at := range b.Written {
			c.Initialised(at, 8)
		}
	}
	for i := range file.Launches {
		_, err := s.Trace(context.Background(), i, &c)
		var fault *emu.Fault
		if errors.As(err, &fault) {
			c.End(fault)
		} else if err != nil {
			t.Fatal(err)
		}
	}
	c.Leaks()
	return c.Findings()
}

// source is the text of a line of bugs.cu.
func source(t *testing.T, p *check.Place) string {
	t.Helper()
	if p == nil || len(p.Frames) == 0 || p.Frames[0].Line == 0 {
		return ""
	}
	data, err := os.ReadFile("testdata/bugs/bugs.cu")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	if p.Frames[0].Line > len(lines) {
		t.Fatalf("pc %#x has no line", p.PC)
	}
	return strings.TrimRight(strings.TrimSpace(lines[p.Frames[0].Line-1]), ";")
}

// copyLine is the line of bugs.cu that copies to shared memory.
const copyLine = `asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")`

// Each kernel has one error. It is found with the lines and the first thread, address and number of times that reading the
// source gives.
func TestBugs(t *testing.T) {
	const zeros = "i32[64]:zero"
	for _, test := range []struct {
		kernel      string
		grid, block int
		args        []string
		want        []string // kind; line; thread; address; count; other line; its thread
	}{
		{"past_the_end", 3, 32, []string{"i32[64]", "i32:64"},
			[]string{"out of bounds; out[i] = i; (2,0,0)/(0,0,0); 0x7f1000000100; 1"}},
		{"shared_past_the_end", 1, 64, []string{zeros, "i32:2"}, []string{
			"out of bounds; s[threadIdx.x + shift] = threadIdx.x; (0,0,0)/(62,0,0); 0x100; 2",
			"uninitialised read; out[threadIdx.x] = s[63 - threadIdx.x]; (0,0,0)/(62,0,0); 0x4; 2"}},
		{"misaligned", 1, 32, []string{"u8[200]:zero", "f32[32]"},
			[]string{"misaligned address; out[threadIdx.x] = *(float *)(bytes + 4 * threadIdx.x + (threadIdx.x == 7)); (0,0,0)/(7,0,0); 0x7f100000001d; 1"}},
		{"accumulate_unwritten", 1, 32, []string{"i32[32]:none"},
			[]string{"uninitialised read; sums[threadIdx.x] += threadIdx.x; (0,0,0)/(0,0,0); 0x7f1000000000; 32"}},
		{"accumulate_unwritten", 1, 32, []string{"i32[32]"}, nil},
		{"unwritten_shared", 1, 64, []string{zeros},
			[]string{"uninitialised read; out[threadIdx.x] = s[threadIdx.x ^ 1]; (0,0,0)/(4,0,0); 0x14; 1"}},
		{"unwritten_heap", 1, 64, []string{zeros},
			[]string{"uninitialised read; out[threadIdx.x] = p[0] + p[1]; (0,0,0)/(0,0,0); 0x7f8000000004; 64; int *p = (int *)malloc(8); (0,0,0)"}},
		{"copy_not_awaited", 1, 64, []string{zeros, zeros}, []string{
			"copy not waited for; out[threadIdx.x] = s[threadIdx.x]; (0,0,0)/(0,0,0); 0x0; 64; " + copyLine + "; (0,0,0)"}},
		{"copy_in_stages", 1, 64, []string{zeros, zeros}, nil},
		{"overwritten_early", 1, 128, []string{"i32[128]"}, []string{
			"write-read race; out[threadIdx.x] = s[127 - threadIdx.x]; (0,0,0)/(0,0,0); 0x1fc; 64; s[threadIdx.x] = 2 * threadIdx.x; (127,0,0)",
			"read-write race; s[threadIdx.x] = 2 * threadIdx.x; (0,0,0)/(0,0,0); 0x0; 64; out[threadIdx.x] = s[127 - threadIdx.x]; (127,0,0)"}},
		{"divergent_barrier", 1, 64, []string{zeros},
			[]string{"divergent barrier; __syncthreads(); (0,0,0)/(1,0,0); -; 2; }; (0,0,0)",
				"barrier without threads that exited; __syncthreads(); (0,0,0)/(1,0,0); -; 1; }; (0,0,0)"}},
		{"different_barriers", 1, 64, []string{zeros},
			[]string{"different barriers meet; __syncthreads(); (0,0,0)/(0,0,0); -; 1; __syncthreads(); (32,0,0)"}},
		{"barrier_apart", 1, 64, []string{"i32[64]:zero"}, nil},
		{"barrier_for_more", 1, 64, []string{zeros},
			[]string{`barrier deadlock; asm volatile("bar.sync 1, 96;" ::: "memory"); (0,0,0)/(0,0,0); -; 1`}},
		{"idle_lanes", 1, 32, []string{"i32[32]"},
			[]string{"shuffle from a missing lane; sum += __shfl_down_sync(mask, sum, distance); (0,0,0)/(0,0,0); -; 1; out[threadIdx.x] = sum; (0,0,0)"}},
		{"few_lanes", 1, 32, []string{"i32[32]"}, nil},
		{"tree", 2, 256, []string{"i32[512]:zero", "i32[2]"}, nil},
		{"warp_exchange", 1, 32, []string{zeros}, nil},
		{"fenced_flag", 1, 64, []string{zeros}, nil},
		{"producer_consumer", 1, 64, []string{zeros}, nil},
		{"bytes_of_words", 1, 128, []string{"u8[128]"}, nil},
		{"same_value", 1, 64, []string{zeros}, nil},
		{"early_exit", 1, 64, []string{zeros, "i32:40"},
			[]string{"barrier without threads that exited; __syncthreads(); (0,0,0)/(0,0,0); -; 1; if (threadIdx.x >= n) {; (40,0,0)"}},
	} {
		for _, a := range architectures {
			if strings.HasPrefix(test.kernel, "copy_") && a < 80 {
				continue
			}
			if test.kernel == "divergent_barrier" && a >= 90 {
				continue // what passes the barrier overwrites uniform registers of what waits, which has more errors then
			}
			t.Run(fmt.Sprintf("%s/sm_%d", test.kernel, a), func(t *testing.T) {
				var got []string
				for _, f := range bugs(t, a, test.kernel, test.grid, test.block, test.args...) {
					got = append(got, describe(t, a, f))
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("found\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
				}
			})
		}
	}
}

// describe puts a finding in one line, in the form of TestBugs. Addresses are those of sm_70: on sm_90 shared memory begins
// with what belongs to the system, and a buffer of the module's own lies before those of the launch.
func describe(t *testing.T, architecture int, f *check.Finding) string {
	triple := func(v [3]int) string { return fmt.Sprintf("(%d,%d,%d)", v[0], v[1], v[2]) }
	addr := "-"
	if f.HasAddress {
		at := f.Address
		switch {
		case architecture < 90:
		case at < 1<<20:
			at -= 0x400
		case at>>32 == 0x7f10:
			at -= 0x10200
		}
		addr = fmt.Sprintf("%#x", at)
	}
	s := fmt.Sprintf("%s; %s; %s/%s; %s; %d", f.Kind, source(t, &f.At), triple(f.At.Block), triple(f.At.Thread), addr, f.Count)
	if f.Other != nil {
		s += fmt.Sprintf("; %s; %s", source(t, f.Other), triple(f.Other.Thread))
	}
	return s
}

// What else is found depends on the order in which warps and lanes run, but these kinds at these lines must be among it.
func TestUnorderedBugs(t *testing.T) {
	const zeros = "i32[64]:zero"
	for _, test := range []struct {
		kernel string
		block  int
		args   []string
		kind   check.Kind
		lines  [2]string
	}{
		{"missing_barrier", 128, []string{"i32[128]"}, check.RaceRAW,
			[2]string{"out[threadIdx.x] = s[127 - threadIdx.x]", "s[threadIdx.x] = threadIdx.x"}},
		{"copy_not_synced", 64, []string{zeros, zeros}, check.RaceRAW, [2]string{"out[threadIdx.x] = s[63 - threadIdx.x]", copyLine}},
		{"two_writers", 64, []string{zeros}, check.RaceWAW, [2]string{"last = threadIdx.x / 32", "last = threadIdx.x / 32"}},
		{"lanes_of_one_store", 64, []string{zeros}, check.RaceWAW, [2]string{"last = threadIdx.x", "last = threadIdx.x"}},
		{"parted_lanes", 32, []string{zeros, "i32:50"}, check.RaceRAW,
			[2]string{"sum = sum * 3 + s[threadIdx.x - 16]", "s[threadIdx.x] = i"}},
		{"unwritten_local", 64, []string{zeros, "i32:10"}, check.UninitialisedRead, [2]string{"out[threadIdx.x] = table[threadIdx.x & 31]"}},
		// On sm_70 the WARPSYNC is in a function of the compiler's, which has no lines.
		{"mask_without_self", 32, []string{"i32[32]:iota(1,1)", "u32:65280"}, check.BadSyncMask, [2]string{"__syncwarp(mask)"}},
		{"divergent_barrier", 64, []string{zeros}, check.DivergentBarrier, [2]string{"__syncthreads()", "}"}},
	} {
		for _, a := range architectures {
			if strings.HasPrefix(test.kernel, "copy_") && a < 80 {
				continue
			}
			t.Run(fmt.Sprintf("%s/sm_%d", test.kernel, a), func(t *testing.T) {
				found := bugs(t, a, test.kernel, 1, test.block, test.args...)
				if slices.ContainsFunc(found, func(f *check.Finding) bool {
					line := source(t, &f.At)
					return f.Kind == test.kind && (line == test.lines[0] || line == "" && f.Kind == check.BadSyncMask) && source(t, f.Other) == test.lines[1]
				}) {
					return
				}
				t.Errorf("not found among %d findings", len(found))
				for _, f := range found {
					t.Log(describe(t, a, f))
				}
			})
		}
	}
}

// The kernels of the corpus have no errors, but that the lock of ticket_lock polls shared memory that another lane of its warp
// writes, that blocks of bfs read levels while others write them, which its result stands, and those that end in a fault on purpose. Each runs as it is launched, and on a later architecture.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	for i, name := range files {
		for _, a := range []int{0, 80 + 10*(i%2)} {
			if suite := filepath.Base(filepath.Dir(filepath.Dir(name))); a > 0 && (suite == "hopper" || suite == "blackwell") {
				continue // of its architecture alone
			}
			t.Run(fmt.Sprintf("%s/sm_%d", filepath.Base(filepath.Dir(name)), a), func(t *testing.T) {
				t.Parallel()
				checkClean(t, name, a)
			})
		}
	}
}

// checkClean runs a launch file on an architecture, 0 for its own, and reports what is found that is not known.
func checkClean(t *testing.T, name string, architecture int) {
	known := map[string]string{"ticket_lock": "race", "bfs": "race", "assert": "memory"}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := launch.Parse(name, data, launch.OSDir(filepath.Dir(name)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file.Module, fmt.Sprintf(".sm_%d.cubin", architecture)) {
		t.Skip("its own architecture, which it runs on anyway")
	}
	for _, f := range checked(t, file, emu.Options{}, architecture) {
		if known[filepath.Base(filepath.Dir(name))] != f.Kind.Family() {
			t.Errorf("%s at pc %#x %s, thread %v, %s %s", f.Kind, f.At.PC, f.At.SASS, f.At.Thread, f.Where, f.Detail)
		}
	}
}
