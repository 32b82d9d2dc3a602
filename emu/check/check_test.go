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

	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/check"
	"gpa/emu/launch"
)

// bugs runs a kernel of testdata/bugs.
func bugs(t *testing.T, kernel string, grid, block int, args ...string) []*check.Finding {
	t.Helper()
	c := launch.Command{Module: "bugs.sm_70.cubin", Kernel: kernel, Grid: [3]int{grid, 1, 1}, Block: [3]int{block, 1, 1}, Args: args}
	file, err := c.File(launch.OSDir("testdata/bugs"))
	if err != nil {
		t.Fatal(err)
	}
	return checked(t, file)
}

// checked runs the launches of a file under a checker.
func checked(t *testing.T, file *launch.File) []*check.Finding {
	t.Helper()
	module, err := file.LoadModule(0)
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := arch.ByName(fmt.Sprintf("sm_%d", module.Arch))
	if err != nil {
		t.Fatal(err)
	}
	machine, err := emu.New(gpu, module, emu.Options{MaxInstructions: 5_000_000, Heap: file.Heap})
	if err != nil {
		t.Fatal(err)
	}
	s, err := launch.NewSession(file, machine)
	if err != nil {
		t.Fatal(err)
	}
	var c check.Checker
	for _, b := range s.Unwritten() {
		c.Uninitialised(b.Name, b.Addr, uint64(b.Size))
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
		{"accumulate_unwritten", 1, 32, []string{"i32[32]"},
			[]string{"uninitialised read; sums[threadIdx.x] += threadIdx.x; (0,0,0)/(0,0,0); 0x7f1000000000; 32"}},
		{"accumulate_unwritten", 1, 32, []string{"i32[32]:zero"}, nil},
		{"unwritten_shared", 1, 64, []string{zeros},
			[]string{"uninitialised read; out[threadIdx.x] = s[threadIdx.x ^ 1]; (0,0,0)/(4,0,0); 0x14; 1"}},
		{"unwritten_heap", 1, 64, []string{zeros},
			[]string{"uninitialised read; out[threadIdx.x] = p[0] + p[1]; (0,0,0)/(0,0,0); 0x7f8000000004; 64"}},
		{"overwritten_early", 1, 128, []string{"i32[128]"}, []string{
			"write-read race; out[threadIdx.x] = s[127 - threadIdx.x]; (0,0,0)/(0,0,0); 0x1fc; 64; s[threadIdx.x] = 2 * threadIdx.x; (127,0,0)",
			"read-write race; s[threadIdx.x] = 2 * threadIdx.x; (0,0,0)/(0,0,0); 0x0; 64; out[threadIdx.x] = s[127 - threadIdx.x]; (127,0,0)"}},
		{"divergent_barrier", 1, 64, []string{zeros},
			[]string{"divergent barrier; __syncthreads(); (0,0,0)/(1,0,0); -; 2; }; (0,0,0)"}},
		{"different_barriers", 1, 64, []string{zeros},
			[]string{"different barriers meet; __syncthreads(); (0,0,0)/(0,0,0); -; 1; __syncthreads(); (32,0,0)"}},
		{"barrier_for_more", 1, 64, []string{zeros},
			[]string{`barrier deadlock; asm volatile("bar.sync 1, 96;" ::: "memory"); (0,0,0)/(0,0,0); -; 1`}},
		{"tree", 2, 256, []string{"i32[512]:zero", "i32[2]"}, nil},
		{"warp_exchange", 1, 32, []string{zeros}, nil},
		{"fenced_flag", 1, 64, []string{zeros}, nil},
		{"producer_consumer", 1, 64, []string{zeros}, nil},
		{"bytes_of_words", 1, 128, []string{"u8[128]"}, nil},
		{"same_value", 1, 64, []string{zeros}, nil},
		{"early_exit", 1, 64, []string{zeros, "i32:40"}, nil},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			var got []string
			for _, f := range bugs(t, test.kernel, test.grid, test.block, test.args...) {
				got = append(got, describe(t, f))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(test.want, "\n  "))
			}
		})
	}
}

// describe puts a finding in one line, in the form of TestBugs.
func describe(t *testing.T, f *check.Finding) string {
	triple := func(v [3]int) string { return fmt.Sprintf("(%d,%d,%d)", v[0], v[1], v[2]) }
	addr := "-"
	if f.HasAddress {
		addr = fmt.Sprintf("%#x", f.Address)
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
		{"two_writers", 64, []string{zeros}, check.RaceWAW, [2]string{"last = threadIdx.x / 32", "last = threadIdx.x / 32"}},
		{"lanes_of_one_store", 64, []string{zeros}, check.RaceWAW, [2]string{"last = threadIdx.x", "last = threadIdx.x"}},
		{"parted_lanes", 32, []string{zeros, "i32:50"}, check.RaceRAW,
			[2]string{"sum = sum * 3 + s[threadIdx.x - 16]", "s[threadIdx.x] = i"}},
		{"unwritten_local", 64, []string{zeros, "i32:10"}, check.UninitialisedRead, [2]string{"out[threadIdx.x] = table[threadIdx.x & 31]"}},
		// The WARPSYNC is in a function of the compiler's, which has no lines.
		{"mask_without_self", 32, []string{"i32[32]:iota(1,1)", "u32:65280"}, check.BadSyncMask, [2]string{}},
	} {
		t.Run(test.kernel, func(t *testing.T) {
			found := bugs(t, test.kernel, 1, test.block, test.args...)
			for _, f := range found {
				if f.Kind == test.kind && source(t, &f.At) == test.lines[0] && source(t, f.Other) == test.lines[1] {
					return
				}
			}
			t.Errorf("not found among %d findings", len(found))
			for _, f := range found {
				t.Log(describe(t, f))
			}
		})
	}
}

// The kernels of the corpus have no errors, but that the lock of ticket_lock polls shared memory that another lane of its warp
// writes, and those that end in a fault on purpose.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	known := map[string]string{"ticket_lock": "race", "assert": "memory"}
	for _, name := range files {
		kernel := filepath.Base(filepath.Dir(name))
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			file, err := launch.Parse(name, data, launch.OSDir(filepath.Dir(name)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range checked(t, file) {
				if known[kernel] != f.Kind.Family() {
					t.Errorf("%s at pc %#x %s, thread %v, %s %s", f.Kind, f.At.PC, f.At.SASS, f.At.Thread, f.Where, f.Detail)
				}
			}
		})
	}
}
